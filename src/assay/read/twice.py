# SPDX-License-Identifier: Apache-2.0
"""Keys that an object has twice: decoders keep the last value and lose the others without a word.

What was decoded has as many keys as the text has colons behind a string, unless a key came twice.
Counting is quick; only lines with colons to spare are looked at again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from assay.core.errors import InputError
from assay.core.text import Texts

_SPACED = re.compile(rb'"[ \t\r\n]+:')


class _TwiceError(Exception):
    """Raised on meeting a key for the second time."""


def check_lines(texts: Texts, rows: Sequence[dict[str, Any]], name: str, first: int) -> None:
    """Raise InputError if an object of these lines has a key twice; `first` lines came before."""
    data, n_keys = texts.data[: int(texts.ends[-1])], sum(map(len, rows))
    if data.count(b":") <= n_keys:  # far the quickest to count, and enough for most files
        return
    colons = _colons(data)
    if colons <= n_keys or colons <= sum(map(_keys, rows)):
        return
    for index, row in enumerate(rows):
        check(texts.raw(index), row, name, first + index + 1)


def check(data: bytes, row: dict[str, Any], name: str, line: int | None) -> None:
    """Raise InputError if the object that `data` holds, or one inside it, has a key twice.

    >>> check(b'{"id": 1, "gold": ":-)"}', {"id": 1, "gold": ":-)"}, "gold.jsonl", 3)
    >>> check(b'{"id": 1, "id": 2}', {"id": 2}, "gold.jsonl", 3)
    Traceback (most recent call last):
    assay.core.errors.InputError: gold.jsonl, line 3: key 'id' twice in one object; remove one
    """
    if _colons(data) <= _keys(row):
        return
    try:
        # Numbers stay text: nothing is done with them, and they may be too long to convert.
        json.loads(data, object_pairs_hook=_unlike, parse_int=str, parse_float=str)
    except _TwiceError as error:
        key = str(error)
        raise InputError(
            f"key '{key if len(key) <= 30 else key[:30] + '...'}' twice in one object",
            path=name,
            line=line,
            hint="remove one",
        ) from None
    except RecursionError:
        raise InputError(
            "lists or objects nested too deeply", path=name, line=line, hint="write flat objects"
        ) from None


def _colons(data: bytes) -> int:
    """Colons behind a quotation mark: those behind keys, and a few inside of strings."""
    found = data.count(b'":')
    if any(spaced in data for spaced in (b" :", b"\t:", b"\r:", b"\n:")):
        found += len(_SPACED.findall(data))
    return found


def _keys(value: Any) -> int:
    """The keys of all objects in a decoded value; a loop, as it may be nested deeply."""
    found, waiting = 0, [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            found += len(one)
            one = one.values()
        waiting += [inner for inner in one if isinstance(inner, (dict, list))]
    return found


def _unlike(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _TwiceError(key)
        seen.add(key)

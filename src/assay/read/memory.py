# SPDX-License-Identifier: Apache-2.0
"""Records that are in memory already: strings, lists of strings, or mappings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from assay.core.batch import BLOCK
from assay.core.errors import InputError
from assay.core.records import Records
from assay.core.text import TextLists, Texts
from assay.read.fields import Shaper, described
from assay.read.naming import OURS, Naming
from assay.read.source import KEYS, Role


def memory(items: Iterable[Any], role: Role, naming: Naming = OURS) -> Iterator[Records]:
    """Records of strings, lists of strings, or mappings with the keys that JSON files have."""
    rest = iter(items)
    shaper = Shaper(role, role, naming)
    first = 0
    while block := list(islice(rest, BLOCK)):
        if set(map(type, block)) == {str}:
            yield Records(TextLists.single(Texts.of(block)), path=role, first=first)
        else:
            rows = [_row(item, role, first + i + 1, naming) for i, item in enumerate(block)]
            yield shaper.records(rows, first)
        first += len(block)
    if first == 0:
        raise InputError(f"there are no {role}", hint="give at least one")


def _row(item: Any, role: Role, number: int, naming: Naming) -> Mapping[str, Any]:
    if isinstance(item, Mapping):
        return item
    if isinstance(item, (str, list, tuple)):
        return {naming.of(KEYS[role]): item}
    raise InputError(
        f"{described(item)} where a string, a list of strings or a mapping must be",
        path=role,
        line=number,
        hint="give every record in one of these forms",
    )

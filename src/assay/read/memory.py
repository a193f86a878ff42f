# SPDX-License-Identifier: Apache-2.0
"""Records that are in memory already: strings, lists of strings, or mappings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from itertools import islice
from typing import Any

from assay.core.batch import BLOCK
from assay.core.errors import InputError, UsageError
from assay.core.records import Records
from assay.core.text import TextLists, Texts
from assay.read.fields import Shaper, described
from assay.read.naming import OURS, Naming
from assay.read.source import KEYS, Role


def memory(items: Iterable[Any], role: Role, naming: Naming = OURS) -> Iterator[Records]:
    """Records of strings, lists of strings, or mappings with the keys that JSON files have.

    A mapping by itself leads from ids to strings, or lists of strings.
    """
    if isinstance(items, Mapping):
        items = _by_id(items, role, naming)
    elif isinstance(items, Set):
        raise UsageError(f"{role} are a set, which has no order; give a list, or {{id: text}}")
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


def _by_id(items: Mapping[Any, Any], role: Role, naming: Naming) -> Iterator[Mapping[str, Any]]:
    value = naming.of(KEYS[role])
    if value in items:
        raise UsageError(
            f"{role} are one mapping with the key '{value}'; give a list of such mappings, one for "
            "each example, or a table (pandas, polars, Arrow)"
        )
    for number, (key, text) in enumerate(items.items(), start=1):
        if isinstance(text, Mapping):
            raise InputError(
                f"{described(text)} where a string or a list of strings must be",
                path=role,
                line=number,
                hint="write {id: text}, or give a list of mappings that hold their 'id'",
            )
        yield {naming.of("id"): key, value: text}


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

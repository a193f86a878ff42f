# SPDX-License-Identifier: Apache-2.0
"""The slices of an example: what follows from its type, sub-type and context distance."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

import numpy as np

from assay.core.columns import Coded
from assay.tasks.sparql.kinds import TYPES

Cell = tuple[str, str, str]


class Cells:
    """The columns of examples, each combination of the three being worked out once.

    With `one_type` context groups go by the names they have in SPICE's evaluation file; else the
    type is put before them.

    >>> cells = Cells({"ellipsis": ["a"]}, one_type=True)
    >>> found = cells.columns(["Clarification"] * 2, ["a", "b"], ["1", "none"])
    >>> found["sub_type"], found["context"], found["ellipsis"]
    (['Clarification_a', 'Clarification_b'], ['fscore_1', 'fscore_none'], ['yes', 'no'])
    """

    def __init__(self, phenomena: Mapping[str, Sequence[str]], *, one_type: bool) -> None:
        self._phenomena = {name: frozenset(listed) for name, listed in phenomena.items()}
        self._one_type = one_type
        self._tables: dict[tuple[str, str], defaultdict[str, int]] = {}
        """By type and distance: the number of each sub-type."""
        self._next = count().__next__
        self._names: dict[str, list[str]] = defaultdict(list)
        self.seen: list[Cell] = []
        """Type, sub-type and context group, in order of first appearance."""

    def columns(
        self, types: Sequence[str], descriptions: Sequence[str], distances: Sequence[str]
    ) -> dict[str, Sequence[str]]:
        """The columns of some examples."""
        n = len(types)
        numbers: Iterable[int]
        if n and types.count(types[0]) == distances.count(distances[0]) == n:
            numbers = map(self._table(types[0], distances[0]).__getitem__, descriptions)
        else:
            numbers = (
                self._table(kind, distance)[description]
                for kind, description, distance in zip(types, descriptions, distances, strict=True)
            )
        codes = np.fromiter(numbers, np.intp, n)
        if n and codes.max() >= len(self.seen):
            self._learn_new()
        return {column: Coded(names, codes) for column, names in self._names.items()}

    def _table(self, kind: str, distance: str) -> defaultdict[str, int]:
        found = self._tables.get((kind, distance))
        if found is None:
            found = self._tables[kind, distance] = defaultdict(self._next)
        return found

    def _learn_new(self) -> None:
        """Give names to the numbers that were given out since the last time, in their order."""
        known = len(self.seen)
        new = {
            number: (kind, description, distance)
            for (kind, distance), table in self._tables.items()
            for description, number in table.items()
            if number >= known
        }
        for number in sorted(new):
            self._learn(*new[number])

    def _learn(self, kind: str, description: str, distance: str) -> None:
        group = ("fscore_" if TYPES[kind] == "set" else "accuracy_") + distance
        self.seen.append((kind, description, group))
        values = {
            "question_type": kind,
            "sub_type": f"{kind}_{description}",
            "context": group if self._one_type else f"{kind}_{group}",
            "description": description,
            "distance": distance,
        }
        for name, listed in self._phenomena.items():
            values[name] = "yes" if description in listed else "no"
        for column, value in values.items():
            self._names[column].append(value)

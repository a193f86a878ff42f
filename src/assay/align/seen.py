# SPDX-License-Identifier: Apache-2.0
"""The ids of one side and where they were, so that a second occurrence is noticed."""

from __future__ import annotations

from bisect import bisect_right

from assay.core.document import Intake
from assay.core.errors import AlignError
from assay.core.records import Records


class Seen:
    """Every id of one side so far. Takes about a hundred bytes and the id itself for each."""

    def __init__(self, role: str, intake: Intake) -> None:
        self._role = role
        self._intake = intake
        self._numbers: dict[str, int] = {}
        self._starts: list[int] = []
        self._places: list[Records] = []

    def add(self, block: Records) -> list[str]:
        """The ids of a block; an AlignError if one of them is not new or there are none."""
        if block.ids is None:
            raise AlignError(
                f"the {self._role} have no ids",
                path=block.path_of(0),
                line=block.line_of(0),
                hint="give every record an id, or align by order",
            )
        ids = list(block.ids)
        start = len(self._numbers)
        self._starts.append(start)
        # Without the texts, which would all be held by that.
        self._places.append(
            Records((), path=block.path, first=block.first, lines=block.lines, paths=block.paths)
        )
        new = dict(zip(ids, range(start, start + len(ids)), strict=True))
        if len(new) < len(ids) or not self._numbers.keys().isdisjoint(new):
            raise self._duplicate(block, ids)
        self._numbers.update(new)
        return ids

    def place(self, id: str) -> str:
        """File and line of an id."""
        number = self._numbers[id]
        index = bisect_right(self._starts, number) - 1
        return self._places[index].place_of(number - self._starts[index])

    def _duplicate(self, block: Records, ids: list[str]) -> AlignError:
        known = set(self._numbers)
        here: dict[str, int] = {}
        twice = None
        for index, id in enumerate(ids):
            if id in known or id in here:
                self._intake.counts.duplicate += 1
                twice = index if twice is None else twice
            here.setdefault(id, index)
        assert twice is not None, "called when an id occurs again"
        id = ids[twice]
        earlier = self.place(id) if id in known else block.place_of(here[id])
        return AlignError(
            f"id '{id}' occurs a second time among the {self._role}, first in {earlier}",
            path=block.path_of(twice),
            line=block.line_of(twice),
            hint="give every record an id of its own, or remove one of the two",
        )

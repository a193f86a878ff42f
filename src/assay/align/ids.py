# SPDX-License-Identifier: Apache-2.0
"""The prediction with an id belongs to the gold with the same id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.align.columns import Merger
from assay.align.feed import Feed, joined_records, taken
from assay.align.near import near_miss
from assay.align.order import references
from assay.align.seen import Seen
from assay.core.batch import BLOCK, Batch
from assay.core.document import Intake
from assay.core.errors import AlignError
from assay.core.records import Records
from assay.core.task import Missing
from assay.core.text import TextLists

_GAP = -1
"""In place of a block's number: there is no prediction."""

_REMEMBERED = 1_000
"""So many ids without a prediction are compared with those without gold, to find what differs."""


def by_id(
    predictions: Iterator[Records],
    gold: Sequence[Iterator[Records]] | Iterator[Records],
    *,
    intake: Intake,
    missing: Missing = "error",
    empty: Any = "",
) -> Iterator[Batch]:
    """Batches of examples in the order of the gold, paired by id.

    Only predictions whose gold has not come yet are held, so that two files in the same order are
    joined with the memory of a block; the ids themselves are remembered, to find duplicates, which
    are refused. `missing` says what becomes of gold without a prediction: an error that names how
    many there are, an `empty` prediction that is marked as missing, or nothing (left out). A
    prediction without gold is an error too where `missing` is, and else counted and warned of.
    """
    pairs = _Join(predictions, references(gold), intake, missing, empty).pairs()
    if missing != "skip":  # blocks have the size of a batch already
        return _batches(pairs)
    whole = Feed((block for block, _ in pairs), "examples")
    return _batches((block, None) for block in iter(lambda: whole.take(BLOCK), None))


def _batches(pairs: Iterable[tuple[Records, NDArray[np.bool_] | None]]) -> Iterator[Batch]:
    first = 0
    for block, missing in pairs:
        assert block.also is not None, "a joined block carries both sides"
        yield Batch(block.also, block.values, block.ids, block.columns, missing, first)
        first += len(block)


class _Join:
    """The state of one join: predictions that wait for their gold, and the ids seen so far."""

    def __init__(
        self,
        predictions: Iterator[Records],
        gold: Iterator[Records],
        intake: Intake,
        missing: Missing,
        empty: Any,
    ) -> None:
        self._left = Feed(predictions, "predictions")
        self._right = Feed(gold, "gold")
        self._intake = intake
        self._policy = missing
        self._empty = empty
        self._seen_left = Seen("predictions", intake)
        self._seen_right = Seen("gold", intake)
        self._pending: dict[str, tuple[int, int]] = {}
        self._blocks: dict[int, Records] = {}
        self._waiting: dict[int, int] = {}
        self._merger = Merger(intake)
        self._lost: list[str] = []
        self._first_lost = ""
        self._is_text = True

    def pairs(self) -> Iterator[tuple[Records, NDArray[np.bool_] | None]]:
        """Gold blocks with their predictions as `also`, and which of these are missing."""
        counts = self._intake.counts
        while (gold := self._right.take(BLOCK)) is not None:
            counts.gold = self._right.n
            ids = self._seen_right.add(gold)
            places = self._places(ids)
            gaps = [i for i, place in enumerate(places) if place is None]
            counts.missing += len(gaps)
            counts.matched += len(ids) - len(gaps)
            self._note_lost(gold, ids, gaps)
            if self._policy == "error" and counts.missing:
                continue  # the error names how many there are, so the rest is only counted
            mask = None
            if gaps and self._policy == "skip":
                held = [i for i, place in enumerate(places) if place is not None]
                gold, places = taken(gold, held), [places[i] for i in held]
            elif gaps:
                mask = np.zeros(len(ids), dtype=np.bool_)
                mask[gaps] = True
            if len(gold):
                yield self._paired(gold, places), mask
        self._finish()

    def _places(self, ids: Sequence[str]) -> list[tuple[int, int] | None]:
        """Block and index of the prediction of each id, reading predictions until all are there."""
        pending = self._pending
        absent = [id for id in ids if id not in pending]
        while absent and self._pull():
            absent = [id for id in absent if id not in pending]
        return [pending.pop(id, None) for id in ids]

    def _pull(self) -> bool:
        block = self._left.take(BLOCK)
        if block is None:
            return False
        ids = self._seen_left.add(block)
        number = self._left.n  # grows with every block, so it names this one
        self._intake.counts.predictions = number
        self._pending.update((id, (number, i)) for i, id in enumerate(ids))
        self._blocks[number] = block
        self._waiting[number] = len(ids)
        self._is_text = isinstance(block.values, TextLists)
        return True

    def _paired(self, gold: Records, places: Sequence[tuple[int, int] | None]) -> Records:
        """The gold block, with the predictions at these places as the other side."""
        by_block: dict[int, list[int]] = {}  # where in the gold block each block is wanted
        for position, place in enumerate(places):
            by_block.setdefault(place[0] if place is not None else _GAP, []).append(position)
        parts = []
        for number, positions in by_block.items():
            if number == _GAP:
                parts.append(self._gap(len(positions)))
            else:
                parts.append(self._used(number, [places[p][1] for p in positions]))  # type: ignore[index]  # not a gap
        found = parts[0]
        if len(parts) > 1:
            order = np.concatenate([np.asarray(p) for p in by_block.values()])
            found = taken(joined_records(parts), np.argsort(order))
        columns = self._merger.merged(found.columns, gold.columns, besides=by_block.get(_GAP, ()))
        return replace(gold, columns=columns, also=found.values)

    def _used(self, number: int, indices: list[int]) -> Records:
        """Some predictions of a block; what is left of it is kept small."""
        block = self._blocks[number]
        self._waiting[number] -= len(indices)
        left = self._waiting[number]
        if left == 0:
            del self._blocks[number], self._waiting[number]
        elif left * 2 <= len(block):
            self._shrink(number, block)
        return block if indices == list(range(len(block))) else taken(block, indices)

    def _shrink(self, number: int, block: Records) -> None:
        """Let go of the text of predictions that have been used."""
        ids = block.ids or ()
        held = [i for i, id in enumerate(ids) if self._pending.get(id) == (number, i)]
        self._pending.update((ids[i], (number, new)) for new, i in enumerate(held))
        small = taken(block, held)
        if isinstance(small.values, TextLists):
            small = replace(
                small, values=TextLists(small.values.values.compact(), small.values.splits)
            )
        self._blocks[number] = replace(small, also=None)

    def _gap(self, n: int) -> Records:
        """Predictions for gold that has none."""
        return Records(TextLists.of([[""]] * n) if self._is_text else [self._empty] * n)

    def _note_lost(self, gold: Records, ids: Sequence[str], gaps: Sequence[int]) -> None:
        if gaps and not self._lost:
            self._first_lost = gold.place_of(gaps[0])
        if len(self._lost) < _REMEMBERED:
            self._lost.extend(ids[i] for i in gaps)

    def _finish(self) -> None:
        """Count the predictions nobody asked for, and say what is wrong."""
        while self._pull():
            pass
        counts = self._intake.counts
        counts.extra = counts.predictions - counts.matched
        if counts.missing and self._policy == "error":
            raise self._incomplete()
        if counts.extra and self._policy == "error":
            raise self._unasked()
        if self._policy == "skip" and not counts.matched:
            raise AlignError(
                f"{self._right.name} and {self._left.name} do not line up: none of {counts.gold:,} "
                "gold ids has a prediction, so nothing is left to score",
                hint=near_miss(self._lost, self._pending) or "are these files of the same data?",
            )
        if counts.extra:
            first = next(iter(self._pending))
            what = "prediction has" if counts.extra == 1 else "predictions have"
            then = "counts" if counts.extra == 1 else "count"
            self._intake.warnings.append(
                f"{counts.extra:,} {what} no gold and {then} for nothing, "
                f"first '{first}' ({self._seen_left.place(first)})"
            )
        if counts.missing:
            one = counts.missing == 1
            have = "has" if one else "have"
            if self._policy == "wrong":
                done = "counts as wrong" if one else "count as wrong"
            else:
                done = "is left out" if one else "are left out"
            self._intake.warnings.append(
                f"{counts.missing:,} of {counts.gold:,} examples {have} no prediction and {done}, "
                f"first '{self._lost[0]}' ({self._first_lost})"
            )

    def _incomplete(self) -> AlignError:
        counts = self._intake.counts
        have = "has" if counts.missing == 1 else "have"
        advice = "use --missing wrong to count them as wrong, or --missing skip to leave them out"
        near = near_miss(self._lost, self._pending)
        if near is not None:
            advice = f"{near}; make the ids the same, or {advice}"
        elif not counts.matched:
            advice = (
                f"no id occurs on both sides: are these files of the same data? If so, {advice}"
            )
        extra = f", {counts.extra:,} of the predictions no gold" if counts.extra else ""
        return AlignError(
            f"{self._right.name} and {self._left.name} do not line up: {counts.missing:,} of "
            f"{counts.gold:,} gold ids {have} no prediction, first '{self._lost[0]}' "
            f"({self._first_lost}){extra}",
            hint=advice,
        )

    def _unasked(self) -> AlignError:
        counts = self._intake.counts
        have = "has" if counts.extra == 1 else "have"
        first = next(iter(self._pending))
        return AlignError(
            f"{self._right.name} and {self._left.name} do not line up: {counts.extra:,} of "
            f"{counts.predictions:,} predictions {have} no gold, first '{first}' "
            f"({self._seen_left.place(first)})",
            hint="remove what is not in the gold, or use --missing skip to leave it out",
        )

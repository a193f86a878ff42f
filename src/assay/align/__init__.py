# SPDX-License-Identifier: Apache-2.0
"""Records of two sides become batches of examples: by order or by id, and never by guesswork.

Batches hold `core.batch.BLOCK` examples (the last may be shorter), in the order of the gold. What
was found out on the way (how many records each side has, how many met) is in the `Intake`, which is
complete when the batches have been consumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import Literal

from assay.align.ids import by_id
from assay.align.order import by_order
from assay.align.together import together
from assay.core.batch import Batch
from assay.core.document import Intake
from assay.core.errors import AlignError
from assay.core.records import Records
from assay.core.task import Missing

__all__ = ["Align", "by_id", "by_order", "examples", "together"]

Align = Literal["auto", "order", "id"]


def examples(
    predictions: Iterator[Records],
    gold: Sequence[Iterator[Records]] | Iterator[Records] | None = None,
    *,
    intake: Intake,
    missing: Missing = "error",
    align: Align = "auto",
) -> Iterator[Batch]:
    """Batches of examples: by id where both sides have ids, by order where neither has.

    Several gold iterators are several references. Without gold, the predictions must carry it.
    `align` forces one way or the other.
    """
    if gold is None:
        return together(predictions, intake=intake)
    sides = [gold] if isinstance(gold, Iterator) else list(gold)
    if align == "auto":
        left, predictions = _peeked(predictions)
        peeked = [_peeked(side) for side in sides]
        sides = [side for _, side in peeked]
        right = next((first for first, _ in peeked if first is not None), None)
        if left is not None and right is not None:
            align = _way(left, right)
    if align == "id":
        return by_id(predictions, sides, intake=intake, missing=missing)
    return by_order(predictions, sides, intake=intake)


def _peeked(records: Iterator[Records]) -> tuple[Records | None, Iterator[Records]]:
    first = next(records, None)
    return first, records if first is None else chain([first], records)


def _way(predictions: Records, gold: Records) -> Align:
    if (predictions.ids is None) == (gold.ids is None):
        return "order" if gold.ids is None else "id"
    with_ids, without = (predictions, gold) if gold.ids is None else (gold, predictions)
    raise AlignError(
        f"{with_ids.path} has ids and {without.path} has none",
        hint="give both sides ids, or use --align order to pair them line by line",
    )

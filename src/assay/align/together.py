# SPDX-License-Identifier: Apache-2.0
"""One file that carries predictions and gold needs no aligning, only counting."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.align.feed import Feed
from assay.align.seen import Seen
from assay.core.batch import BLOCK, Batch
from assay.core.document import Intake
from assay.core.errors import AlignError
from assay.core.records import Records
from assay.core.text import TextLists


def together(predictions: Iterator[Records], *, intake: Intake) -> Iterator[Batch]:
    """Batches of records that hold both sides; an AlignError where one has no gold."""
    feed = Feed(_with_gold(predictions), "predictions")
    seen = Seen("predictions", intake)
    counts = intake.counts
    while (block := feed.take(BLOCK)) is not None:
        if block.ids is not None:
            seen.add(block)
        assert block.also is not None, "blocks without gold were refused"
        batch = Batch(block.values, block.also, block.ids, block.columns, None, feed.n - len(block))
        counts.predictions = counts.gold = counts.matched = feed.n
        yield batch


def _with_gold(records: Iterator[Records]) -> Iterator[Records]:
    for block in records:
        index = 0 if block.also is None else None
        if isinstance(block.also, TextLists) and not bool(block.also.counts().all()):
            index = int(np.argmin(block.also.counts() > 0))
        if index is not None:
            raise AlignError(
                "a prediction and no 'gold'",
                path=block.path_of(index),
                line=block.line_of(index),
                hint="give a gold file, or a 'gold' in every record",
            )
        yield block

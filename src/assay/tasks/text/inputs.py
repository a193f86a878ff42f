# SPDX-License-Identifier: Apache-2.0
"""Opening and pairing the two sides of a text evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from assay import align, read
from assay.core.batch import Batch
from assay.core.document import Intake
from assay.core.task import Examples, Missing

BAND = 10


def open_examples(
    predictions: Any,
    gold: Any,
    missing: Missing,
    how: align.Align,
    input_format: read.Format | None,
    naming: read.Naming,
) -> Examples:
    """Aligned examples. A list of `Path` as gold is several references; without gold the
    predictions carry it."""
    intake = Intake()
    several = isinstance(gold, (list, tuple)) and gold and all(isinstance(g, Path) for g in gold)
    sources = list(gold) if several else [gold]
    records = partial(read.records, intake=intake, format=input_format, naming=naming)
    left = records(predictions, role="predictions")
    right = None
    if gold is not None:
        right = [records(g, role="gold") for g in sources]
    batches = align.examples(left, right, intake=intake, missing=missing, align=how)
    return Examples(batches, intake)


def length_bands(batch: Batch) -> Sequence[str]:
    """Words of the first reference in steps of ten: `0-9`, `10-19`, ...

    >>> length_bands(Batch(["x"], [["one two three"]]))
    ['0-9']
    """
    lengths = (len(text.split()) for text in batch.references().firsts())
    lows = (length // BAND * BAND for length in lengths)
    return [f"{low}-{low + BAND - 1}" for low in lows]

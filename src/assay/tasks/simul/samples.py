# SPDX-License-Identifier: Apache-2.0
"""Streams that matter to the metrics of the task, for contract tests."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.core.batch import Pair
from assay.core.metric import Metric, build
from assay.tasks.simul.registry import CLASSES
from assay.tasks.simul.streams import Emission

PAIRS = (
    # Some of it in time, the rest at the end of the source.
    Pair(
        Emission(
            "a b c d", [640.0, 1280.0, 2000.0, 2000.0], 2000.0, [700.0, 1400.0, 2200.0, 2200.0]
        ),
        "a b c",
    ),
    Pair(Emission("x", [500.0], 1000.0, [510.0], deleted=2.0, computing=10.0), "x y z"),
    # Nothing was written; nothing was there to be read; everything after the end.
    Pair(Emission("", [], 1500.0), "a b"),
    Pair(Emission("a b", [0.0, 0.0], 0.0, [3.0, 4.0]), "a b"),
    Pair(Emission("a b", [0.0, 10.0], 0.0, [3.0, 14.0]), ""),
    Pair(Emission("late", [900.0], 800.0), "late one"),
    # Words of a text, with and without the position of an end mark.
    Pair(Emission("a b c", [1.0, 2.0, 3.0], 3.0, source_type="text"), "a b c"),
    Pair(Emission("a b", [2.0, 4.0], 3.0, source_type="text", end=4.0), "a  b c"),
    # A segment of a long recording: times go beyond its end, the last beyond the recording's.
    Pair(
        Emission("u v w", [900.0, 2600.0, 5200.0], 2000.0, [950.0, 2700.0, 5400.0], to_end=5000.0),
        "u v",
    ),
    # Speech, with a pause before the last piece.
    Pair(Emission("", [400.0, 400.0, 2000.0], 2400.0, durations=[350.0, 250.0, 700.0]), "a b c"),
    Pair(Emission("", [600.0], 700.0, durations=[100.0]), "a"),
    Pair(Emission("gone", [100.0], 200.0), "gone", missing=True),
)

TEXTS = (
    "LAAL(unit=char)",
    "LAAL(counting=simuleval)",
    "AL@simuleval(length=prediction)",
    "ATD(types=log)",
    "ATD_CA(types=log)",
    "LongYAAL(unit=char,counting=simuleval)",
    "chrF(word_order=2)",
)
"""Metrics with parameters that change what is counted."""


def samples() -> Iterator[tuple[Metric, Sequence[Pair]]]:
    """Every metric of the task, and some with other parameters, each with all pairs."""
    for cls in CLASSES:
        yield cls(), PAIRS
    for text in TEXTS:
        yield build(text, CLASSES), PAIRS

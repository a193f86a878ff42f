# SPDX-License-Identifier: Apache-2.0
"""Latency of segments of a long recording, after the output has been divided among them.

A segment's times count from its start and may lie behind its end, because output is still written
while the next segment is spoken. LongYAAL is cut at the end of the recording only; the others are
the formulas of a stream by itself, on segments.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric
from assay.tasks.simul import latency
from assay.tasks.simul.lagging import (
    AgainstReference,
    AverageLagging,
    AverageProportion,
    DifferentiableLagging,
    LengthAdaptiveLagging,
    Timed,
    aware,
)
from assay.tasks.simul.metrics import lag
from assay.tasks.simul.ragged import Numbers
from assay.tasks.simul.streams import Streams


def _of_segments(found: Numbers, streams: Streams) -> Numbers:
    return np.where(streams.source > 0, found, np.nan)


@dataclass(frozen=True)
class LongYAAL(AgainstReference):
    """YAAL of segments: lagging over all units written before the end of the recording.

    Milliseconds; lower is better. Undefined for a segment that got no output before that end.
    Ranks the simultaneous track of IWSLT 2026.
    """

    name = "LongYAAL"
    scores = lag("LongYAAL")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """LongYAAL of each segment."""
        times = self.times(streams)
        length = np.maximum(self.reference_units(streams, batch), times.counts)
        limit = np.where(np.isnan(streams.to_end), np.inf, streams.to_end)
        found = latency.yet_another_lagging(times, streams.source, length, limit)
        return np.where(np.isnan(times.firsts()), np.nan, _of_segments(found, streams))


@dataclass(frozen=True)
class LongAL(AverageLagging):
    """AL of segments, in milliseconds; lower is better. Undefined for a segment without output."""

    name = "LongAL"
    scores = lag("LongAL")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """AL of each segment."""
        return _of_segments(super().values(streams, batch), streams)


@dataclass(frozen=True)
class LongLAAL(LengthAdaptiveLagging):
    """LAAL of segments, in milliseconds; lower is better. Undefined for one without output."""

    name = "LongLAAL"
    scores = lag("LongLAAL")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """LAAL of each segment."""
        return _of_segments(super().values(streams, batch), streams)


@dataclass(frozen=True)
class LongAP(AverageProportion):
    """AP of segments: source read per unit, as a share of the segment; lower is better."""

    name = "LongAP"
    scores = lag("LongAP")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """AP of each segment."""
        return _of_segments(super().values(streams, batch), streams)


@dataclass(frozen=True)
class LongDAL(DifferentiableLagging):
    """DAL of segments, in milliseconds; lower is better. Undefined for one without output."""

    name = "LongDAL"
    scores = lag("LongDAL")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """DAL of each segment."""
        return _of_segments(super().values(streams, batch), streams)


@dataclass(frozen=True)
class StreamLAAL(LengthAdaptiveLagging):
    """LAAL of segments that were found by minimum word error rate, in seconds; lower is better.

    Papi et al., 2024, as simulstream has it. Undefined for a segment without output.
    """

    name = "StreamLAAL"
    scores = lag("StreamLAAL")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """LAAL of each segment, in seconds."""
        return _of_segments(super().values(streams, batch) / 1000.0, streams)


PLAIN: tuple[type[Timed], ...] = (LongYAAL, LongAL, LongLAAL, LongAP, LongDAL, StreamLAAL)
CLASSES: tuple[type[Metric], ...] = (*PLAIN, *(aware(cls) for cls in PLAIN))

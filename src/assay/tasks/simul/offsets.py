# SPDX-License-Identifier: Apache-2.0
"""When output starts, ends and pauses: offsets, chunks, real-time factor, discontinuity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Score
from assay.core.names import unknown
from assay.tasks.simul.lagging import Timed, aware
from assay.tasks.simul.metrics import lag
from assay.tasks.simul.ragged import Mask, Numbers, Ragged
from assay.tasks.simul.streams import Streams

TYPES = ("known", "log")
"""What the types of source and output are taken from: what is known, or a log that has none."""


def is_spoken(streams: Streams) -> Mask:
    """Which streams speak: those with a duration for every piece of output."""
    return (streams.delays.counts > 0) & ~np.isnan(streams.durations.lasts())


def spoken_ends(times: Ragged, durations: Ragged) -> tuple[Numbers, Numbers]:
    """Start and end of every piece of spoken output: it waits for the one before to end.

    Times are added in the order of the pieces, so that a piece that had to wait begins exactly
    where the one before ends: the least rounding would count as a gap.
    """
    starts, ends = times.values.copy(), times.values + durations.values
    order = np.argsort(times.places, kind="stable")
    waves = np.split(order, np.cumsum(np.bincount(times.places))[:-1])
    for wave in waves[1:]:  # all first pieces, all second pieces, and so on
        starts[wave] = np.maximum(ends[wave - 1], starts[wave])
        ends[wave] = starts[wave] + durations.values[wave]
    return starts, ends


@dataclass(frozen=True)
class StartOffset(Timed):
    """How much source was read before the first unit was written; lower is better.

    Milliseconds of speech, or words. Undefined for a stream without output.
    """

    name = "StartOffset"
    scores = lag("StartOffset")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """The first time of each stream."""
        return self.times(streams).firsts()


@dataclass(frozen=True)
class EndOffset(Timed):
    """How long after the end of the source the last unit was written; below 0 is before it.

    Milliseconds of speech, or words; of spoken output, the end of the last piece counts. Lower is
    better. Undefined for a stream without output.
    """

    name = "EndOffset"
    scores = lag("EndOffset")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """The last time of each stream, less the length of the source."""
        return _last_times(self.times(streams), streams) - streams.source


@dataclass(frozen=True)
class RealTimeFactor(Timed):
    """When the output ends, as a multiple of the length of the source; lower is better.

    Undefined for a stream without output or without source. With `types=log` spoken output ends
    when its last piece begins, as SimulEval has it when it reads its logs.
    """

    types: str = "known"

    def __post_init__(self) -> None:
        if self.types not in TYPES:
            raise unknown("types", self.types, TYPES)

    name = "RTF"
    scores = (Score("RTF", higher_is_better=False, low=-np.inf, high=np.inf),)

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """The last time of each stream, divided by the length of the source."""
        times = self.times(streams)
        last = _last_times(times, streams) if self.types == "known" else times.lasts()
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(streams.source == 0, np.nan, last / streams.source)


def _last_times(times: Ragged, streams: Streams) -> Numbers:
    """When the last unit was written, or the last piece had been heard."""
    spoken = is_spoken(streams)
    if not spoken.any():
        return times.lasts()
    _, ends = spoken_ends(times, streams.durations)
    return np.where(spoken, times.like(ends).lasts(), times.lasts())


@dataclass(frozen=True)
class NumChunks(Timed):
    """How many units were written. Undefined for a stream without output."""

    name = "NumChunks"
    scores = (Score("NumChunks", higher_is_better=False, high=np.inf),)

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """Units of each stream."""
        counts = self.times(streams).counts
        return np.where(counts > 0, counts, np.nan)


class _Discontinuity(Timed):
    """Gaps between the pieces of spoken output."""

    def gaps(self, streams: Streams) -> tuple[Numbers, Numbers]:
        """Milliseconds and number of gaps of each stream that speaks; NaN for others."""
        starts, ends = spoken_ends(streams.delays, streams.durations)
        silence = starts - streams.delays.like(ends).previous(np.inf)
        is_gap = silence > 0
        spoken = is_spoken(streams)
        total = streams.delays.like(silence).sums(is_gap)
        number = streams.delays.like(is_gap.astype(np.float64)).sums()
        return np.where(spoken, total, np.nan), np.where(spoken, number, np.nan)


@dataclass(frozen=True)
class DiscontinuitySum(_Discontinuity):
    """Silence between pieces of spoken output, in milliseconds; lower is better.

    Undefined for written output.
    """

    name = "DiscontinuitySum"
    scores = (Score("DiscontinuitySum", higher_is_better=False, high=np.inf),)

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """All gaps of each stream together."""
        return self.gaps(streams)[0]


@dataclass(frozen=True)
class DiscontinuityAve(_Discontinuity):
    """Mean length of the gaps in spoken output, in milliseconds; lower is better.

    Undefined for written output, and for a stream without gaps.
    """

    name = "DiscontinuityAve"
    scores = (Score("DiscontinuityAve", higher_is_better=False, high=np.inf),)

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """The mean gap of each stream."""
        total, number = self.gaps(streams)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(number > 0, total / number, np.nan)


@dataclass(frozen=True)
class DiscontinuityNum(_Discontinuity):
    """How many gaps spoken output has; lower is better. Undefined for written output."""

    name = "DiscontinuityNum"
    scores = (Score("DiscontinuityNum", higher_is_better=False, high=np.inf),)

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """Gaps of each stream."""
        return self.gaps(streams)[1]


TIMED: tuple[type[Timed], ...] = (StartOffset, EndOffset, RealTimeFactor, NumChunks)
CLASSES: tuple[type[Metric], ...] = (
    *TIMED,
    *(aware(cls) for cls in TIMED),
    DiscontinuitySum,
    DiscontinuityAve,
    DiscontinuityNum,
)

# SPDX-License-Identifier: Apache-2.0
"""Latency metrics of the engine: each is the mean over the streams for which it is defined."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.tasks.simul import latency
from assay.tasks.simul.ragged import Numbers, Ragged
from assay.tasks.simul.streams import Streams, streams_of


class Latency(Metric):
    """What all latency metrics share: one value per stream, undefined for some, and their mean."""

    columns: ClassVar[tuple[str, ...]] = ("sum", "streams")
    perfect = False

    @abstractmethod
    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """The value of each stream, NaN where it is undefined."""

    def measure(self, batch: Batch) -> Rows:
        """The value and 1; 0 and 0 where there is none."""
        values = self.values(streams_of(batch), batch)
        defined = np.isfinite(values)
        return np.column_stack([np.where(defined, values, 0.0), defined.astype(np.float64)])

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The mean over the streams with a value."""
        return {self.scores[0].name: ratio(totals["sum"], totals["streams"])}


def lag(name: str) -> tuple[Score, ...]:
    """A score of milliseconds or words, the less the better; it may be negative."""
    return (Score(name, higher_is_better=False, low=-np.inf, high=np.inf),)


def with_end_marks(streams: Streams) -> tuple[Ragged, Numbers]:
    """Delays and source lengths as fairseq's server has them: the end mark is a unit of both sides.

    Streams of a log that has no end marks are taken as they are.
    """
    marked = ~np.isnan(streams.end)
    source = streams.source + (marked & streams.of_text)
    if not marked.any():
        return streams.delays, source
    delays = streams.delays
    counts = delays.counts + marked
    splits = np.append(0, np.cumsum(counts))
    values = np.empty(int(splits[-1]))
    last = np.zeros(len(values), dtype=bool)
    last[splits[1:][marked] - 1] = True
    values[last] = streams.end[marked]
    values[~last] = delays.values
    return Ragged(values, splits), source


@dataclass(frozen=True)
class _Fairseq(Latency):
    """Latency of fairseq's evaluation server, which counts the end mark as a unit."""

    formula: ClassVar[str]

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """The formula, on delays with end marks."""
        return latency.fairseq_latency(*with_end_marks(streams))[self.formula]


@dataclass(frozen=True)
class FairseqAL(_Fairseq):
    """Average lagging as in fairseq's evaluation server: against the length of the output.

    In words of the source, or milliseconds of speech; lower is better and less than 0 is possible
    where the output runs ahead. Undefined for a stream without output.
    """

    name = "AL@fairseq"
    scores = lag("AL@fairseq")
    formula = "AL"


@dataclass(frozen=True)
class FairseqAP(_Fairseq):
    """Average proportion as in fairseq's evaluation server: source read per unit, 0 to 1.

    Undefined for a stream without output or without source.
    """

    name = "AP@fairseq"
    scores = (Score("AP@fairseq", higher_is_better=False),)
    formula = "AP"


@dataclass(frozen=True)
class FairseqDAL(_Fairseq):
    """Differentiable average lagging as in fairseq's evaluation server.

    In words of the source, or milliseconds of speech; lower is better. Undefined for a stream
    without output.
    """

    name = "DAL@fairseq"
    scores = lag("DAL@fairseq")
    formula = "DAL"


FAIRSEQ: Sequence[type[Metric]] = (FairseqAL, FairseqAP, FairseqDAL)

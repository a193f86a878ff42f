# SPDX-License-Identifier: Apache-2.0
"""AL, LAAL, AP, DAL and YAAL of a stream by itself, as SimulEval and OmniSTEval have them.

Streams are held against the length of their reference, in the unit that was asked for; one without
a reference, or with an empty one, against the length of its output. Each metric has a
computation-aware form `_CA`, on times that include computation.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar, TypeVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Score
from assay.core.names import unknown
from assay.tasks.simul import latency, units
from assay.tasks.simul.metrics import Latency, lag
from assay.tasks.simul.ragged import Numbers, Ragged
from assay.tasks.simul.streams import Streams

LENGTHS = ("reference", "prediction")

T = TypeVar("T", bound=Latency)


def aware_name(name: str) -> str:
    """The name of the computation-aware form.

    >>> aware_name("LAAL"), aware_name("AL@simuleval")
    ('LAAL_CA', 'AL_CA@simuleval')
    """
    plain, at, variant = name.partition("@")
    return f"{plain}_CA{at}{variant}"


def aware(metric: type[T]) -> type[T]:
    """The computation-aware form of a metric, as a class of its own in the metric's module."""
    name = aware_name(metric.name)
    score = metric.scores[0]
    made = type(
        f"{metric.__name__}CA",
        (metric,),
        {
            "name": name,
            "scores": (Score(name, score.higher_is_better, score.low, score.high, score.unit),),
            "is_aware": True,
            "__doc__": f"{metric.name} of computation-aware times. "
            f"{metric.__doc__.partition(chr(10))[0] if metric.__doc__ else ''}",
            "__module__": metric.__module__,
        },
    )
    setattr(sys.modules[metric.__module__], made.__name__, made)  # where pickle looks for it
    return made


class Timed(Latency):
    """A metric of delays, or in its other form of computation-aware times."""

    is_aware: ClassVar[bool] = False

    def times(self, streams: Streams) -> Ragged:
        """The times of the units.

        In a log with end marks, words that were written after the source had ended have the
        position of its end mark, one behind the last word.
        """
        if self.is_aware:
            return streams.elapsed
        marked = streams.of_text & ~np.isnan(streams.end)
        if not marked.any():
            return streams.delays
        limit = np.where(marked, streams.source, np.inf)
        return streams.delays.like(np.minimum(streams.delays.values, streams.delays.spread(limit)))


@dataclass(frozen=True)
class AgainstReference(Timed):
    """A metric that holds the output against the length of the reference.

    `unit` is word, char or spm (then `model` is the SentencePiece model); `counting` says whether
    references are counted like outputs (`alike`) or as SimulEval does; `length=prediction` takes
    the length of the output in place of the reference's.
    """

    unit: str = "word"
    counting: str = "alike"
    length: str = "reference"
    model: str = ""

    def __post_init__(self) -> None:
        units.check(self.unit, self.counting)
        if self.length not in LENGTHS:
            raise unknown("length", self.length, LENGTHS)

    def reference_units(self, streams: Streams, batch: Batch) -> Numbers:
        """Units of each reference; those of the output where there is none."""
        own = streams.delays.counts.astype(np.float64)
        if self.length == "prediction":
            return own
        how = (self.unit, self.counting, self.model)
        found = streams.known.get(how)  # several metrics of a batch want the same
        if found is None:
            found = units.unit_counts(batch.references().firsts(), *how)
            streams.known[how] = found
        return np.where(found == 0, own, found) if self.counting == "alike" else found


@dataclass(frozen=True)
class AverageLagging(AgainstReference):
    """Average lagging: how far a unit lags behind an ideal output as long as the reference.

    Milliseconds of speech, or words of the source; lower is better, below 0 is ahead. Undefined for
    a stream without output or without source.
    """

    name = "AL@simuleval"
    scores = lag("AL@simuleval")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """AL of each stream."""
        return self.lagging(streams, self.reference_units(streams, batch))

    def lagging(self, streams: Streams, length: Numbers) -> Numbers:
        """AL against outputs of these lengths."""
        times = self.times(streams)
        found = latency.average_lagging(times, streams.source, length)
        # Where the first unit came after the end its time is the lag, and there is no pace to know.
        has_pace = (streams.source > 0) & (length > 0)
        return np.where(has_pace | (times.firsts() > streams.source), found, np.nan)


@dataclass(frozen=True)
class LengthAdaptiveLagging(AverageLagging):
    """Length-adaptive average lagging: AL against the longer of reference and output.

    An output that is too long gains nothing. Milliseconds of speech, or words of the source; lower
    is better. Undefined for a stream without output or without source.
    """

    name = "LAAL"
    scores = lag("LAAL")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """LAAL of each stream."""
        length = self.reference_units(streams, batch)
        return self.lagging(streams, np.maximum(length, streams.delays.counts))


@dataclass(frozen=True)
class AverageProportion(AgainstReference):
    """Average proportion: source read per unit of the reference, as a share of the source.

    1 is the whole source before every unit; more is possible where the output is longer than the
    reference. Lower is better. Undefined for a stream without output or without source.
    """

    name = "AP"
    scores = lag("AP")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """AP of each stream."""
        length = self.reference_units(streams, batch)
        return latency.average_proportion(self.times(streams), streams.source, length)


@dataclass(frozen=True)
class DifferentiableLagging(Timed):
    """Differentiable average lagging: AL over all units, each taking its share of the source.

    Milliseconds of speech, or words of the source; lower is better. Always held against the length
    of the output. Undefined for a stream without output or without source.
    """

    name = "DAL"
    scores = lag("DAL")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """DAL of each stream."""
        found = latency.differentiable_average_lagging(self.times(streams), streams.source)
        return np.where(streams.source == 0, np.nan, found)


@dataclass(frozen=True)
class YetAnotherLagging(AgainstReference):
    """YAAL: LAAL over the units that were written before the source had ended.

    Milliseconds of speech, or words of the source; lower is better. Undefined for a stream that
    wrote nothing before the end of its source.
    """

    name = "YAAL"
    scores = lag("YAAL")

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """YAAL of each stream."""
        times = self.times(streams)
        length = np.maximum(self.reference_units(streams, batch), times.counts)
        found = latency.yet_another_lagging(times, streams.source, length)
        return np.where(np.isnan(times.firsts()), np.nan, found)


PLAIN: tuple[type[Timed], ...] = (
    LengthAdaptiveLagging,
    AverageLagging,
    AverageProportion,
    DifferentiableLagging,
    YetAnotherLagging,
)
CLASSES: tuple[type[Metric], ...] = (*PLAIN, *(aware(cls) for cls in PLAIN))

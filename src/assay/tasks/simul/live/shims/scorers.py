# SPDX-License-Identifier: Apache-2.0
"""Latency scorers of SimulEval 1.1: those that a file brings along, and those it builds on."""

from __future__ import annotations

import math
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self

import numpy as np

from assay.tasks.simul.latency import (
    average_lagging,
    average_proportion,
    differentiable_average_lagging,
)
from assay.tasks.simul.live.shims.instances import Instance
from assay.tasks.simul.ragged import Numbers, Ragged
from assay.tasks.simul.simuleval import guessed_source
from assay.tasks.simul.streams import Emission

REGISTERED: dict[str, type] = {}
"""All scorers by name."""


class LatencyScorer:
    """Base of all scorers: `compute(instance)` gives one number per stream.

    A scorer that overrides `__call__` gets all streams at once, by index.
    """

    metric: str | None = None

    def __init__(self, computation_aware: bool = False, use_ref_len: bool = True) -> None:
        self.computation_aware = computation_aware
        self.use_ref_len = use_ref_len

    @property
    def timestamp_type(self) -> str:
        """Which times of an instance count."""
        return "elapsed" if self.computation_aware else "delays"

    @property
    def metric_name(self) -> str:
        """The name that the scorer is registered by."""
        own = (name for name, scorer in REGISTERED.items() if scorer is type(self))
        return next(own, type(self).__name__)

    def get_delays_lengths(self, ins: Any) -> tuple[list[float], float, int]:
        """The times that count, the length of the source, and that of the reference in units: of
        the output where there is no reference, or none is wanted."""
        times = getattr(ins, self.timestamp_type)
        own = not self.use_ref_len or ins.reference is None
        return times, ins.source_length, len(times) if own else ins.reference_length

    def compute(self, ins: Any) -> float:
        """The latency of one stream."""
        raise NotImplementedError(f"{type(self).__name__} has no compute")

    def __call__(self, instances: Mapping[int, Any]) -> float:
        """The mean over streams that have times."""
        found = []
        for each in instances.values():
            if getattr(each, self.timestamp_type, None):
                each.metrics[self.metric_name] = self.compute(each)
                found.append(each.metrics[self.metric_name])
        return sum(found) / len(found) if found else math.nan

    @staticmethod
    def add_args(parser: ArgumentParser) -> None:
        """Declare options of the scorer's own."""

    @classmethod
    def from_args(cls, args: Namespace) -> Self:
        """A scorer with these options."""
        return cls(
            computation_aware=args.computation_aware,
            use_ref_len=not args.no_use_ref_len,
        )


Formula = Callable[[Ragged, Numbers, Numbers], Numbers]


class Lagging(LatencyScorer):
    """A scorer whose formula takes times, the length of the source and units of the reference."""

    formula: ClassVar[Formula]

    def compute(self, ins: Any) -> float:
        """The formula; NaN where it has no value."""
        times, source, units = self.get_delays_lengths(ins)
        given = np.array([source], dtype=np.float64), np.array([units], dtype=np.float64)
        return float(type(self).formula(Ragged.of([times]), *given)[0])


class Known(LatencyScorer):
    """A scorer that is a metric of the task, which looks at more than that."""

    stands_for: ClassVar[str]

    def compute(self, ins: Any) -> float:
        """The metric of this stream; NaN where it has no value."""
        from assay.tasks.simul.registry import metric

        name = self.stands_for
        one = metric(f"{name}_CA" if self.computation_aware and name in WITH_TIMES else name)
        return one.score([(_emission(ins), "")])[one.scores[0].name]


def _emission(ins: Any) -> Emission:
    speaks = len(ins.intervals) == len(ins.delays) > 0
    about = {"source": ins.source, "source_length": ins.source_length}
    return Emission(
        "",
        list(ins.delays),
        ins.source_length,
        list(ins.elapsed),
        guessed_source(about),
        durations=[length for _, length in ins.intervals] if speaks else None,
    )


def register_latency_scorer(name: str) -> Callable[[type], type]:
    """Make a scorer known by name, in place of one that had it."""

    def register(scorer: type) -> type:
        REGISTERED[name] = scorer
        return scorer

    return register


def _longer(times: Ragged, source: Numbers, units: Numbers) -> Numbers:
    return average_lagging(times, source, np.maximum(units, times.counts))


def _own_length(times: Ragged, source: Numbers, units: Numbers) -> Numbers:
    return differentiable_average_lagging(times, source)


LAGGINGS: dict[str, Formula] = {
    "AL": average_lagging,
    "LAAL": _longer,
    "AP": average_proportion,
    "DAL": _own_length,
}
WITH_TIMES = ("ATD", "NumChunks", "StartOffset", "EndOffset", "RTF")
SPOKEN = ("DiscontinuitySum", "DiscontinuityAve", "DiscontinuityNum")


def _made(name: str, base: type, **about: Any) -> type:
    given = {**about, "__doc__": f"{name} of one stream.", "__module__": __name__}
    return register_latency_scorer(name)(type(f"{name}Scorer", (base,), given))


KNOWN = {
    f"{name}Scorer": made
    for name, made in [
        *((n, _made(n, Lagging, formula=staticmethod(f))) for n, f in LAGGINGS.items()),
        *((n, _made(n, Known, stands_for=n)) for n in (*WITH_TIMES, *SPOKEN)),
    ]
}
"""By the names that files import them by, to build on them."""

NAMES: dict[str, Any] = {
    "LatencyScorer": LatencyScorer,
    "register_latency_scorer": register_latency_scorer,
    "LATENCY_SCORERS_DICT": REGISTERED,
    "Instance": Instance,
    **KNOWN,
}
"""What the module of scorers holds."""

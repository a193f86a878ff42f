# SPDX-License-Identifier: Apache-2.0
"""Latency metrics that a file brings along, registered as for SimulEval 1.1.

A scorer has `compute(instance)`, one number per stream; or it overrides `__call__` and gets all
streams at once. The engine adds up numbers of streams: of such a scorer each stream is asked for by
itself, and where the mean of that is not what it says of all of them together, it is refused.
"""

from __future__ import annotations

import math
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.errors import AgentError, UsageError
from assay.core.metric import Metric
from assay.core.names import parse_metric, unknown
from assay.tasks.simul import units
from assay.tasks.simul.lagging import LENGTHS, Timed, aware_name
from assay.tasks.simul.live.shims import INSTANCES, SCORERS
from assay.tasks.simul.metrics import lag
from assay.tasks.simul.ragged import Numbers
from assay.tasks.simul.simuleval import instance_line
from assay.tasks.simul.spoken import spoken_line
from assay.tasks.simul.streams import Emission, Streams

TOLERANCE = 1e-9


@dataclass(frozen=True)
class AgentScorer(Timed):
    """A scorer that `file` registers; the mean over streams with output for which it has a value.

    Milliseconds of speech, or words of the source, as the scorer has it; lower is better. `unit`,
    `length` and `model` are handed on to the scorer and its instances.
    """

    file: str = ""
    unit: str = "word"
    length: str = "reference"
    model: str = ""

    registered: ClassVar[str]

    def __post_init__(self) -> None:
        units.check(self.unit, "simuleval")
        if self.length not in LENGTHS:
            raise unknown("length", self.length, LENGTHS)

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """What the scorer says of each stream; NaN where it says nothing, and without output."""
        found = np.full(len(streams), np.nan)
        scorer = self._scorer()
        held = list(self._instances(streams, batch))
        with redirect_stdout(sys.stderr):  # what a scorer prints is no result
            if _takes_all(type(scorer)):
                self._of_all(scorer, held, found)
            else:
                for i, one in held:
                    found[i] = self._asked(scorer.compute, one, f"stream '{one.index}'")
        return found

    def _of_all(self, scorer: Any, held: Sequence[tuple[int, Any]], found: Numbers) -> None:
        for i, one in held:
            found[i] = self._asked(scorer, {one.index: one}, f"stream '{one.index}'")
        defined = found[np.isfinite(found)]
        if len(defined) < 2:
            return
        mean, n = float(defined.mean()), len(held)
        together = self._asked(scorer, {one.index: one for _, one in held}, f"{n:,} streams")
        if not math.isclose(together, mean, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            raise UsageError(
                f"{self.file}: '{self.registered}' is no mean over streams: {together:g} of {n:,} "
                f"streams together, {mean:g} of each by itself; give it compute(self, instance), "
                "one number per stream"
            )

    def _asked(self, function: Callable[[Any], Any], given: Any, what: str) -> float:
        try:
            said = function(given)
            return math.nan if said is None else float(said)
        except Exception as error:  # whatever the file does wrong
            from assay.tasks.simul.live.agents.registry import line_in

            where = line_in(error, Path(self.file))
            raise AgentError(
                f"{self.file}{where}: the scorer '{self.registered}' failed on {what}: "
                f"{type(error).__name__}: {error}"
            ) from error

    def _scorer(self) -> Any:
        """The scorer, with its own options as they are by default."""
        made: Any = brought_scorers((self.file,)).get(self.registered, (None, None))[1]
        if made is None:
            raise UsageError(f"{self.file} registers no latency metric '{self.registered}'")
        parser = ArgumentParser(add_help=False)
        made.add_args(parser)
        given = {
            "computation_aware": self.is_aware,
            "no_use_ref_len": self.length == "prediction",
            "eval_latency_unit": self.unit,
            "eval_latency_spm_model": self.model or None,
        }
        own = {action.dest: action.default for action in parser._actions}
        return made.from_args(Namespace(**given, **own))

    def _instances(self, streams: Streams, batch: Batch) -> Iterator[tuple[int, Any]]:
        """Streams with times as scorers want them, each with its place."""
        make = import_module(INSTANCES).LogInstance
        texts = batch.references().firsts()
        for i in np.flatnonzero(~np.isnan(self.times(streams).firsts())).tolist():
            one = make(_told(streams[i], batch.id_of(i), texts[i]), self.unit)
            if self.unit == "spm":
                one.set_target_spm_model(units.processor(self.model))
            yield i, one

    def __reduce__(self) -> tuple[object, ...]:
        # Another process makes the class again.
        return _made_again, (self.registered, self.is_aware, self.parameters())


def _told(emission: Emission, id: str, reference: str) -> str:
    """The line of `instances.log` that SimulEval would have written."""
    if emission.durations is not None:
        return spoken_line(id, Path(), emission, reference or None, emission.source)
    return instance_line(id, emission, reference or None, emission.source)


def _takes_all(scorer: type) -> bool:
    """Whether a scorer has a way of its own to put streams together."""
    base: Any = import_module(SCORERS)
    return getattr(scorer, "__call__", None) is not base.LatencyScorer.__call__  # noqa: B004


def brought_scorers(files: Sequence[str]) -> dict[str, tuple[str, type]]:
    """The scorers that these files register, by name, each with its file; the last one counts."""
    from assay.tasks.simul.live.agents.registry import imported

    return {name: (file, made) for file in files for name, made in imported(file).scorers.items()}


@cache
def _class(name: str, *, is_aware: bool) -> type[AgentScorer]:
    key = aware_name(name) if is_aware else name
    about = {
        "name": key,
        "scores": lag(key),
        "registered": name,
        "is_aware": is_aware,
        "__doc__": f"{name}, of a file.",
        "__module__": __name__,
    }
    return type(f"{name}Scorer", (AgentScorer,), about)


def _made_again(name: str, is_aware: bool, params: dict[str, Any]) -> AgentScorer:
    return _class(name, is_aware=is_aware)(**params)


def scorer_classes(names: Iterable[str]) -> list[type[AgentScorer]]:
    """The metrics of these scorers, and their computation-aware forms."""
    return [_class(name, is_aware=aware) for name in names for aware in (False, True)]


def agent_metric(text: str) -> Metric | None:
    """The metric of a file whose text this is; None if it is no such metric."""
    name, params = parse_metric(text)
    if "file" not in params:
        return None
    made = _class(name.removesuffix("_CA"), is_aware=name.endswith("_CA"))
    return made.from_parameters(params)

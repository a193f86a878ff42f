# SPDX-License-Identifier: Apache-2.0
"""Quality and latency of several runs together: one verdict for each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Protocol

import numpy as np

from assay.aggregate.correct import holm
from assay.aggregate.paired import Paired, compare_systems
from assay.aggregate.verdict import ALPHA, verdict
from assay.core.comparison import Verdict
from assay.core.document import ResultDocument
from assay.core.errors import MismatchError, UsageError
from assay.core.metric import Metric, Rows
from assay.core.names import unknown
from assay.tasks.simul.outcome import tradeoff_keys

MARGIN = 1.0
"""Points of BLEU or chrF that do not matter, unless told otherwise."""


class Layout(Protocol):
    """Which columns of a run's rows belong to which metric."""

    def parts(self) -> Sequence[Any]:
        """Each metric with its entry and its columns."""


class Run(Protocol):
    """A run as `evaluate` gives it."""

    @property
    def document(self) -> ResultDocument:
        """What the run found."""

    @property
    def rows(self) -> Rows | None:
        """Its rows."""

    @property
    def layout(self) -> Any:
        """Which columns of the rows belong to which metric."""


@dataclass(frozen=True, slots=True)
class Axes:
    """The two scores that runs are compared by, and what belongs to them in each run."""

    quality: str
    latency: str
    metrics: tuple[Metric, Metric]
    names: tuple[str, str]
    rows: Sequence[Rows]


@dataclass(frozen=True, slots=True)
class Joint:
    """What was found for one pair: `system` against `baseline`."""

    system: str
    baseline: str
    verdict: str
    words: str
    quality: Paired
    latency: Paired


def axes_of(runs: Sequence[Run], quality: str | None, latency: str | None) -> Axes:
    """The scores by name, or those that the runs are usually drawn by."""
    if len(runs) < 1:
        raise UsageError("give at least one run folder")
    first = runs[0].document
    usual = tradeoff_keys(first) or {}
    up, across = quality or usual.get("quality"), latency or usual.get("latency")
    if up is None or across is None:
        raise UsageError(
            f"{first.system} has no quality or no latency; score it with both, or name them by "
            "--quality and --latency"
        )
    parts = [[_part(run, key) for key in (up, across)] for run in runs]
    (one, _, name_one), (two, _, name_two) = parts[0]
    held = [np.hstack([rows for _, rows, _ in of_run]) for of_run in parts]
    return Axes(up, across, (one, two), (name_one, name_two), held)


def _part(run: Run, key: str) -> tuple[Metric, Rows, str]:
    keys = []
    if run.rows is None:
        raise UsageError(f"{run.document.system} has no rows; score it with --save")
    for metric, entry, where in run.layout.parts():
        for score in entry.scores:
            if score.key == key:
                return metric, np.asarray(run.rows[:, where]), score.name
            keys.append(score.key)
    raise unknown(f"score of {run.document.system}", key, keys)


def check_pairable(runs: Sequence[Run]) -> None:
    """Refuse runs that were not scored on the same references."""
    first = runs[0].document
    for run in runs[1:]:
        if run.document.gold_sha256 != first.gold_sha256:
            raise MismatchError(
                f"{first.system} and {run.document.system} were scored on other streams or "
                "references; score both on the same test set"
            )


def joint_verdicts(
    runs: Sequence[Run],
    *,
    quality: str | None = None,
    latency: str | None = None,
    margin: float = MARGIN,
    latency_margin: float | None = None,
    alpha: float = ALPHA,
    **settings: Any,
) -> list[Joint]:
    """One verdict for every pair of runs; the earlier one is the baseline.

    p-values are corrected by Holm over the pairs, on each axis by itself.
    """
    for option, given in (("--margin", margin), ("--latency-margin", latency_margin)):
        if given is not None and not given > 0:
            raise UsageError(f"{option} {given} must be above 0")
    check_pairable(runs)
    axes = axes_of(runs, quality, latency)
    pairs = [(b, a) for a, b in combinations(range(len(runs)), 2)]
    found = compare_systems(axes.metrics, axes.rows, pairs, **settings)
    each = [(by[0][axes.names[0]], by[1][axes.names[1]]) for by in found]
    adjusted = [holm([pair[axis].p for pair in each]) for axis in (0, 1)]
    margins = (margin, latency_margin)
    judged = []
    for i, ((a, b), pair) in enumerate(zip(pairs, each, strict=True)):
        words = [
            verdict(
                one.difference,
                one.interval.bounds,
                float(adjusted[axis][i]),
                higher_is_better=_higher(axes, axis),
                alpha=alpha,
                margin=margins[axis],
            )
            for axis, one in enumerate(pair)
        ]
        said, why = joint_verdict(words[0], words[1], margin, axes.quality)
        judged.append(Joint(runs[a].document.system, runs[b].document.system, said, why, *pair))
    return judged


def _higher(axes: Axes, axis: int) -> bool:
    metric, name = axes.metrics[axis], axes.names[axis]
    return next(s.higher_is_better for s in metric.scores if s.name == name)


def joint_verdict(quality: Verdict, latency: Verdict, margin: float, name: str) -> tuple[str, str]:
    """The verdict on both axes, and what it rests on.

    >>> joint_verdict("equivalent", "better", 1.0, "BLEU")
    ('better', 'same quality within 1 BLEU, lower latency')
    >>> joint_verdict("better", "worse", 1.0, "BLEU")
    ('trade-off', 'higher quality, higher latency')
    """
    words = {
        "better": "higher quality",
        "worse": "lower quality",
        "equivalent": f"same quality within {margin:g} {name}",
        "undecided": "quality not decided",
    }
    times = {
        "better": "lower latency",
        "worse": "higher latency",
        "equivalent": "same latency within the margin",
        "undecided": "latency not decided",
    }
    why = f"{words[quality]}, {times[latency]}"
    both = {quality, latency}
    if "undecided" in both:
        return "undecided", why
    if both == {"better", "worse"}:
        return "trade-off", why
    if both == {"equivalent"}:
        return "equivalent", why
    return ("better" if "better" in both else "worse"), why


def verdict_lines(found: Sequence[Joint]) -> Iterator[str]:
    """One line per pair, told from the better system; data stay as computed."""
    opposite = {"higher": "lower", "lower": "higher"}
    for one in found:
        system, baseline, said, words = one.system, one.baseline, one.verdict, one.words
        is_turned = said == "worse"
        if is_turned:
            system, baseline, said = baseline, system, "better"
            words = " ".join(opposite.get(word, word) for word in words.split(" "))
        quality, latency = (_signed(axis, is_turned) for axis in (one.quality, one.latency))
        yield f"{said}: {system} against {baseline}: {words} (quality {quality}, latency {latency})"


def _signed(one: Paired, is_turned: bool) -> str:
    low, high = one.interval.bounds
    numbers = (-one.difference, -high, -low) if is_turned else (one.difference, low, high)
    # A zero has no sign: what was computed as -0.0 reads like any other.
    difference, low, high = (number + 0.0 for number in numbers)
    return f"{difference:+.2f} [{low:+.2f}, {high:+.2f}]"


def as_data(found: Sequence[Joint]) -> list[dict[str, Any]]:
    """Plain data for JSON."""
    return [
        {
            "system": one.system,
            "baseline": one.baseline,
            "verdict": one.verdict,
            "words": one.words,
            "quality": _axis(one.quality),
            "latency": _axis(one.latency),
        }
        for one in found
    ]


def _axis(one: Paired) -> dict[str, Any]:
    return {
        "system": one.system_score,
        "baseline": one.baseline_score,
        "difference": one.difference,
        "interval": list(one.interval.bounds),
        "p": one.p,
        "test": one.test,
    }

# SPDX-License-Identifier: Apache-2.0
"""Which runs on one gold are held together, so that a single odd one does not part all others."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from assay.core.task import Task
from assay.pipeline.result import Result


def leading(runs: Sequence[Result], task: Task, metric: str | None) -> str | None:
    """The key of the score that leads: the one asked for, the task's choice, or the first.

    The last two are scores that all of the runs have, if there is any.
    """
    if metric is not None and any(metric in run.document.scores for run in runs):
        return metric
    document = runs[0].document
    shared = [k for k in document.scores if all(k in run.document.scores for run in runs)]
    choice = task.main_score(document)
    return choice if choice in shared else next(iter(shared or document.scores), None)


def comparable(
    runs: Sequence[Result], task: Task, metric: str | None, *, ranked: bool = False
) -> list[list[Result]]:
    """The runs in parts that share a metric, the part of the leading score first.

    Runs that all share a metric stay together, unless some lack the score that was asked for.
    `ranked` asks for a score also where none was named: the one that leads in most of the runs.
    """
    rest, parts = list(runs), []
    while rest:
        shared = _shared(rest, task, metric, ranked)
        inside = [shared is None or shared in _signatures(run) for run in rest]
        parts.append([run for run, is_in in zip(rest, inside, strict=True) if is_in])
        rest = [run for run, is_in in zip(rest, inside, strict=True) if not is_in]
    return parts


def _shared(runs: Sequence[Result], task: Task, metric: str | None, ranked: bool) -> str | None:
    """The signature of the metric that the next part has in common; None for all of the runs."""
    if metric is not None and (found := _by_key(runs, metric)):
        return found
    if ranked:
        keys = Counter(key for run in runs if (key := leading([run], task, None)) is not None)
        return _by_key(runs, keys.most_common(1)[0][0]) if keys else None
    counts = Counter(s for run in runs for s in _signatures(run))
    if not counts or max(counts.values()) == len(runs):
        return None
    return counts.most_common(1)[0][0]


def _by_key(runs: Sequence[Result], key: str) -> str | None:
    """The metric of a score as most of the runs have it."""
    found = Counter(
        entry.signature
        for run in runs
        for entry in run.document.metrics
        if any(score.key == key for score in entry.scores)
    )
    return found.most_common(1)[0][0] if found else None


def _signatures(run: Result) -> list[str]:
    return [entry.signature for entry in run.document.metrics]

# SPDX-License-Identifier: Apache-2.0
"""Runs that may be compared: the same task, the same gold in the same order, the same metrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from pathlib import Path

import numpy as np

from assay import tasks
from assay.core.errors import MismatchError, UsageError
from assay.core.metric import Rows
from assay.core.names import unknown
from assay.core.task import Task
from assay.pipeline.measuring import Layout
from assay.pipeline.result import Result
from assay.pipeline.runs import load_run
from assay.pipeline.slicing import Grouping, with_stored_columns
from assay.pipeline.stored import StoredExample

SHOWN = 60


@dataclass(frozen=True)
class Paired:
    """Several runs side by side, reduced to the metrics they share; row i is the same example.

    Examples that gold does not have come last: all that any run has, by id. `extra` holds one of
    each; a run that lacks it has a row of zeros there.
    """

    runs: tuple[Result, ...]
    layout: Layout
    rows: tuple[Rows, ...]
    warnings: tuple[str, ...]
    extra: Mapping[str, StoredExample] = field(default_factory=dict)

    def examples(self, run: int, columns: Sequence[str] = ()) -> Iterator[StoredExample]:
        """The examples of one run, in the order of the rows, with these columns at least."""
        held = self._padded_examples(run) if self.extra else self.runs[run].iter_examples()
        if not columns:
            return held
        return (with_stored_columns(self.task, example, columns) for example in held)

    @property
    def task(self) -> Task:
        """What they are runs of."""
        return tasks.load(self.runs[0].document.task)

    def _padded_examples(self, run: int) -> Iterator[StoredExample]:
        held = self.runs[run].iter_examples()
        yield from islice(held, len(self.rows[run]) - len(self.extra))
        own = {example.id: example for example in held}
        for name, example in self.extra.items():
            absent = StoredExample(name, None, example.gold, example.slices, missing=True)
            yield own.get(name, absent)

    def grouping(self, column: str) -> Grouping:
        """A column of the examples, coded."""
        grouping = Grouping(column)
        for example in self.examples(0, [column]):
            grouping.add([example.slices[column]])
        return grouping


def paired(given: Sequence[Result | str | Path], metrics: Sequence[str] = ()) -> Paired:
    """Load runs and make sure that they can be compared, naming the first thing that differs."""
    if len(given) < 2:
        raise UsageError("a comparison needs at least two runs")
    runs = _named([r if isinstance(r, Result) else load_run(r) for r in given])
    first = runs[0]
    for other in runs[1:]:
        if other.document.task != first.document.task:
            raise MismatchError(
                f"{first.system} is a run of task {first.document.task}, "
                f"{other.system} of {other.document.task}; only runs of one task can be compared"
            )
        if other.document.gold_sha256 != first.document.gold_sha256:
            raise MismatchError(_first_difference(first, other))
    shared, warnings = _shared_metrics(runs, metrics)
    rows = tuple(_columns_of(run, shared) for run in runs)
    extra = _extra_examples(runs)
    if extra:
        rows = tuple(_padded(run, own, extra) for run, own in zip(runs, rows, strict=True))
    return Paired(tuple(runs), Layout.of(shared.metrics), rows, tuple(warnings), extra)


def _extra_examples(runs: Sequence[Result]) -> dict[str, StoredExample]:
    """Examples that gold does not have, of all runs, each id once."""
    return {example.id: example for run in runs for example in _own_extra(run)}


def _own_extra(run: Result) -> Iterator[StoredExample]:
    n, extra = run.document.statistics["n"], run.document.statistics.get("extra", 0)
    return islice(run.iter_examples(), n - extra, None) if extra else iter(())


def _padded(run: Result, rows: Rows, extra: Mapping[str, StoredExample]) -> Rows:
    """Rows of the gold examples, then of every extra one; zeros, which add nothing, if absent."""
    place = {name: i for i, name in enumerate(extra)}
    n_gold = len(rows) - run.document.statistics.get("extra", 0)
    tail = np.zeros((len(extra), rows.shape[1]))
    for i, example in enumerate(_own_extra(run)):
        tail[place[example.id]] += rows[n_gold + i]
    return np.concatenate([rows[:n_gold], tail])


def _named(runs: list[Result]) -> list[Result]:
    """Systems of one name are told apart by their folder, or by their place."""
    names = [run.system for run in runs]
    fixed: list[Result] = []
    for i, run in enumerate(runs):
        if names.count(run.system) > 1:
            place = str(run.folder) if run.folder is not None else f"{run.system} ({i + 1})"
            if any(r.system == place for r in fixed):
                place = f"{place} ({i + 1})"
            run = replace(run, document=replace(run.document, system=place))
        fixed.append(run)
    return fixed


def _first_difference(a: Result, b: Result) -> str:
    """What differs between the gold of two runs, in words."""
    start = f"{a.system} and {b.system} were scored against different gold"
    missing = StoredExample("", None, None)
    pairs = zip_longest(a.iter_examples(), b.iter_examples(), fillvalue=missing)
    for number, (left, right) in enumerate(pairs, start=1):
        if left is missing or right is missing:
            return (
                f"{start}: {a.document.statistics['n']:,} and {b.document.statistics['n']:,} "
                "examples; score both on the same examples"
            )
        if left.id != right.id:
            return (
                f"{start}: example {number:,} is '{left.id}' in one and '{right.id}' in the other"
            )
        if left.gold != right.gold:
            return (
                f"{start}: example {number:,} ('{left.id}') has gold {_short(left.gold)} in one "
                f"and {_short(right.gold)} in the other"
            )
    return f"{start}; score both again against one gold file"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"


def _shared_metrics(runs: Sequence[Result], wanted: Sequence[str]) -> tuple[Layout, list[str]]:
    """The metrics that every run has, in the order of the first.

    Runs are matched by the signatures they were stored with, whatever parameters a metric has
    gained since.
    """
    signatures = [{e.signature for e in run.layout.entries} for run in runs]
    in_all = set.intersection(*signatures)
    parts = zip(runs[0].layout.metrics, runs[0].layout.entries, strict=True)
    kept = {m: e.signature for m, e in parts if e.signature in in_all}
    if not kept:
        listed = "; ".join(
            f"{run.system}: {', '.join(e.text for e in run.layout.entries)}" for run in runs
        )
        raise MismatchError(f"the runs share no metric ({listed}); score them alike")
    dropped = [
        f"{run.system} alone has {entry.text}, which is left out"
        for run in runs
        for entry in run.layout.entries
        if entry.signature not in in_all
    ]
    if wanted:
        names = {key for m in kept for key in (m.text, m.name, *(s.name for s in m.scores))}
        for name in wanted:
            if name not in names:
                raise unknown("metric of these runs", name, names)
        kept = {
            m: signature
            for m, signature in kept.items()
            if {m.text, m.name, *(s.name for s in m.scores)} & set(wanted)
        }
    layout = Layout.of(list(kept))
    entries = tuple(
        replace(entry, signature=kept[metric])
        for metric, entry in zip(layout.metrics, layout.entries, strict=True)
    )
    return replace(layout, entries=entries), dropped


def _columns_of(run: Result, shared: Layout) -> Rows:
    if run.rows is None:
        raise UsageError(f"{run.system} was evaluated without keeping rows; use keep=True or save")
    wanted = [entry.signature for entry in shared.entries]
    if wanted == [entry.signature for entry in run.layout.entries]:
        return run.rows
    by_signature = {entry.signature: where for _, entry, where in run.layout.parts()}
    return np.concatenate([run.rows[:, by_signature[s]] for s in wanted], axis=1)

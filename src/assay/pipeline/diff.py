# SPDX-License-Identifier: Apache-2.0
"""`diff`: what became of each example between two runs."""

from __future__ import annotations

import heapq
import math
import platform
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import assay
from assay import tasks
from assay.core.diffs import CHANGES, Change, ChangeCounts, DiffDocument, ExampleChange
from assay.core.errors import UsageError
from assay.core.metric import Rows
from assay.core.names import several, unknown
from assay.core.signature import format_signature
from assay.core.task import Task
from assay.pipeline.choosing import chosen_scores
from assay.pipeline.pairing import Paired, paired
from assay.pipeline.result import Result
from assay.pipeline.stored import StoredExample

LIMIT = 10
DIFFERING: tuple[Change, ...] = ("fixed", "broken", "changed")

# Two scores that are equal on paper can differ in their last digits.
_TIE = 1e-12
_FIRST: dict[Change, int] = {"broken": 0, "fixed": 1, "changed": 2, "same": 3}


@dataclass(frozen=True)
class Diff:
    """What `diff` found; shows as counts and examples in a terminal and in a notebook."""

    document: DiffDocument

    @property
    def counts(self) -> ChangeCounts:
        """How many examples were fixed, broken, changed or stayed the same."""
        return self.document.counts

    @property
    def examples(self) -> Sequence[ExampleChange]:
        """The examples asked for, the largest change first."""
        return self.document.examples

    def to_dict(self) -> dict[str, object]:
        """The document as plain data."""
        return self.document.as_dict()

    def to_json(self) -> str:
        """The document as JSON."""
        from assay.report.json import to_json

        return to_json(self.document)

    def to_text(self, format: str = "table", digits: int | None = None) -> str:
        """The document as a table, Markdown or CSV."""
        from assay.report.diff import render_diff

        return render_diff(self.document, format, digits)

    def __str__(self) -> str:
        from assay.report.terminal import remarked

        return remarked(self.to_text(), self.document.warnings)

    def _repr_html_(self) -> str:
        from assay.report.diff import diff_html

        return diff_html(self.document)


def diff(
    baseline: Result | str | Path,
    system: Result | str | Path,
    *,
    metric: str | None = None,
    slices: str | Sequence[str] = (),
    only: Sequence[Change] = (),
    limit: int | None = LIMIT,
    min_change: float = 0.0,
) -> Diff:
    """Hold two runs against each other, example by example, by one score (default: the first).

    An example is `fixed` if its own score is better in `system`, `broken` if it is worse, by more
    than `min_change`; else `changed` if its prediction differs (or a score is defined on one side
    only) and `same` if not. For a right/wrong score such as exact match, fixed is wrong before and
    right now. `only` are the kinds of examples to list (default: all but the same), `limit` is how
    many (None: all), the largest change of score first, and of equal ones the broken first.

    >>> from assay.pipeline.evaluate import evaluate
    >>> gold = ["a", "b", "c", "d"]
    >>> before = evaluate("text", ["a", "x", "c", "x"], gold, metrics=["exact"], system="before")
    >>> after = evaluate("text", ["x", "b", "c", "y"], gold, metrics=["exact"], system="after")
    >>> diff(before, after).counts
    ChangeCounts(fixed=1, broken=1, changed=1, same=1)
    """
    slices = several(slices)
    for kind in only:
        if kind not in CHANGES:
            raise unknown("kind of change", kind, CHANGES)
    if limit is not None and limit < 0:
        raise UsageError(f"--limit {limit} must not be negative; 0 lists all")
    if not min_change >= 0:
        raise UsageError(f"--min-change {min_change} must be 0 or more")
    side_by_side = paired([baseline, system])
    chosen = chosen_scores(side_by_side.layout, [metric] if metric is not None else [])[0]
    if chosen.score.proportion is not None and min_change >= 1:
        raise UsageError(f"--min-change {min_change} hides every change: {chosen.key} is 0 or 1")
    scores = [side_by_side.layout.per_example(rows)[chosen.key] for rows in side_by_side.rows]
    tally = _Tally(slices, set(only or DIFFERING))
    computed = [column for column in slices if column in side_by_side.task.derives]
    changes = _changes(side_by_side, scores, chosen.shown.higher_is_better, min_change, computed)
    listed = _ordered(tally.selected(changes), limit)
    before, after = (run.document for run in side_by_side.runs)
    listed = [_readable(example, tasks.load(before.task)) for example in listed]
    entries = {e.signature: e for e in before.metrics}, {e.signature: e for e in after.metrics}
    place = list(chosen.metric.scores).index(chosen.score)
    own = [e[chosen.entry.signature].scores[place].key for e in entries]
    document = DiffDocument(
        task=before.task,
        baseline=before.system,
        system=after.system,
        score=chosen.shown,
        right_wrong=chosen.score.proportion is not None,
        baseline_score=before.scores[own[0]],
        system_score=after.scores[own[1]],
        counts=tally.counts,
        slices=tally.slices,
        min_change=min_change,
        only=tuple(kind for kind in CHANGES if kind in tally.wanted),
        limit=limit,
        selected=tally.n_selected,
        examples=tuple(listed),
        signature=format_signature(
            f"diff:{chosen.entry.signature}",
            {
                "score": chosen.key,
                "n": tally.counts.n,
                "min-change": min_change or None,
                "version": assay.__version__,
            },
        ),
        # What other metrics the runs have does not matter to a diff by one score.
        warnings=(),
        made={"assay": assay.__version__, "python": platform.python_version()},
    )
    return Diff(document)


def kind_of(
    before: float, after: float, *, higher_is_better: bool, differs: bool, min_change: float = 0.0
) -> tuple[Change, float]:
    """What became of an example, and by how much it is better now (NaN where undefined).

    >>> kind_of(0.0, 1.0, higher_is_better=True, differs=True)
    ('fixed', 1.0)
    >>> kind_of(20.0, 30.0, higher_is_better=False, differs=True)
    ('broken', -10.0)
    """
    one_sided = math.isnan(before) != math.isnan(after)
    gain = after - before if higher_is_better else before - after
    least = max(min_change, _TIE * max(abs(before), abs(after)))
    if gain > least:
        return "fixed", gain
    if gain < -least:
        return "broken", gain
    return "changed" if differs or one_sided else "same", gain


class _Tally:
    """Counts all changes that pass through, and lets those through that are wanted."""

    def __init__(self, columns: Sequence[str], wanted: set[Change]) -> None:
        self.counts = ChangeCounts()
        self.slices: dict[str, dict[str, ChangeCounts]] = {column: {} for column in columns}
        self.wanted = wanted
        self.n_selected = 0

    def selected(self, changes: Iterable[ExampleChange]) -> Iterator[ExampleChange]:
        for example in changes:
            self.counts.add(example.change)
            for column, by_value in self.slices.items():
                if column not in example.slices:
                    raise unknown("column", column, example.slices)
                by_value.setdefault(example.slices[column], ChangeCounts()).add(example.change)
            if example.change in self.wanted:
                self.n_selected += 1
                yield example


def _changes(
    side_by_side: Paired,
    scores: Sequence[Rows],
    higher_is_better: bool,
    min_change: float,
    columns: Sequence[str],
) -> Iterator[ExampleChange]:
    first, second = (side_by_side.examples(run, columns) for run in range(2))
    before, after = (np.asarray(s, dtype=float).tolist() for s in scores)
    for left, right, was, now in zip(first, second, before, after, strict=True):
        old, new = _prediction(left), _prediction(right)
        kind, gain = kind_of(
            was,
            now,
            higher_is_better=higher_is_better,
            differs=old != new,
            min_change=min_change,
        )
        slices = {**right.slices, **left.slices}
        yield ExampleChange(left.id, kind, was, now, gain, old, new, left.gold, slices)


def _readable(example: ExampleChange, task: Task) -> ExampleChange:
    """Predictions and gold as the task shows them to readers."""
    held = (example.baseline_prediction, example.system_prediction)
    old, new = (None if value is None else task.shown(value) for value in held)
    return replace(
        example, baseline_prediction=old, system_prediction=new, gold=task.shown(example.gold)
    )


def _prediction(example: StoredExample) -> object:
    return None if example.missing else example.prediction


def _ordered(examples: Iterable[ExampleChange], limit: int | None) -> list[ExampleChange]:
    """The largest change first; holds no more than it gives back. Ties stay in order."""
    if limit is None:
        return sorted(examples, key=_rank)
    found = heapq.nsmallest(limit, examples, key=_rank)
    # nsmallest does not touch its input for 0, and the counts are made on the way.
    for _ in examples if limit == 0 else ():
        pass
    return found


def _rank(example: ExampleChange) -> tuple[float, int]:
    size = 0.0 if math.isnan(example.gain) else abs(example.gain)
    # Rounding must not decide the order of examples that changed alike.
    return -round(size, 9), _FIRST[example.change]

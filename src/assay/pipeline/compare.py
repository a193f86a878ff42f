# SPDX-License-Identifier: Apache-2.0
"""`compare`: which of several systems is better, by how much, how sure, and by which test."""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import assay
from assay.aggregate.asked import check_resampling, few_resamples, few_trials
from assay.aggregate.correct import benjamini_hochberg, holm
from assay.aggregate.interval import cluster_warning, sliced_cluster_warning
from assay.aggregate.macro import OverSlices
from assay.aggregate.paired import TRIALS, Test, compare_systems
from assay.aggregate.paired import Paired as PairedScores
from assay.aggregate.totals import Codes
from assay.aggregate.verdict import ALPHA, verdict
from assay.core.comparison import ComparisonDocument, Difference
from assay.core.document import ResultDocument
from assay.core.errors import UsageError
from assay.core.metric import Rows
from assay.core.names import several, unknown
from assay.core.signature import format_signature
from assay.pipeline.choosing import chosen_scores
from assay.pipeline.limits import Margin, Margins, check_margins, parse_margins
from assay.pipeline.measuring import Layout
from assay.pipeline.pairing import Paired, paired
from assay.pipeline.result import Result

MACRO = "macro average"
"""What stands in place of a slice column where the part of a difference is a mean over slices."""


@dataclass(frozen=True)
class Comparison:
    """What `compare` found; shows as tables in a terminal and in a notebook."""

    document: ComparisonDocument

    @property
    def differences(self) -> Sequence[Difference]:
        """Every pair of systems by every score."""
        return self.document.differences

    def to_dict(self) -> dict[str, object]:
        """The document as plain data."""
        return self.document.as_dict()

    def to_json(self) -> str:
        """The document as JSON."""
        from assay.report.json import to_json

        return to_json(self.document)

    def to_text(self, format: str = "table", digits: int | None = None) -> str:
        """The document as tables, Markdown, LaTeX or CSV."""
        from assay.report.comparison import render_comparison

        return render_comparison(self.document, format, digits)

    def __str__(self) -> str:
        from assay.report.terminal import remarked

        return remarked(self.to_text(), self.document.warnings)

    def _repr_html_(self) -> str:
        from assay.report.html import comparison_html

        return comparison_html(self.document)


@dataclass(frozen=True)
class _Settings:
    ci: float
    resamples: int
    trials: int
    seed: int
    alpha: float
    margins: Margins
    test: Test


def compare(
    *runs: Result | str | Path,
    metrics: str | Sequence[str] = (),
    slices: str | Sequence[str] = (),
    macros: str | Sequence[str] = (),
    cluster: str | None = None,
    ci: float = 0.95,
    resamples: int = 1000,
    trials: int = TRIALS,
    seed: int = 12345,
    alpha: float = ALPHA,
    margin: Margin | None = None,
    test: Test = "auto",
) -> Comparison:
    """Compare systems on the same gold, pair by pair.

    Runs are results of `evaluate` or run folders. The earlier run of a pair is the baseline.
    `cluster` defaults to the column the runs were clustered by. p-values are corrected by Holm
    over the pairs of systems, and by Benjamini-Hochberg over the values of a slice column. `macros`
    are means over slices: those that the runs declare, or over all slices of a column. `margin` is
    the difference below which systems are equivalent, in the units of the scores; a mapping gives
    each score its own.

    >>> from assay.pipeline.evaluate import evaluate
    >>> gold = ["a", "b", "c", "d"]
    >>> worse = evaluate("text", ["a", "x", "x", "x"], gold, metrics=["exact"], system="A")
    >>> better = evaluate("text", gold, gold, metrics=["exact"], system="B")
    >>> found = compare(worse, better).differences[0]
    >>> found.difference, found.verdict
    (0.75, 'undecided')
    """
    margins = parse_margins(margin)
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha {alpha} must lie between 0 and 1")
    if not 0 < ci < 1:
        raise UsageError(f"--ci {ci} must lie between 0 and 1 (0.95 for 95 %)")
    check_resampling(resamples, seed, trials=trials)
    metrics, slices, macros = several(metrics), several(slices), several(macros)
    side_by_side = _narrowed(paired(runs, metrics), metrics)
    check_margins(margins, chosen_scores(side_by_side.layout))
    settings = _Settings(ci, resamples, trials, seed, alpha, margins, test)
    by = cluster or _common_cluster(side_by_side)
    codes = side_by_side.grouping(by).codes if by is not None else None
    warnings = [*side_by_side.warnings, *remarks_of(side_by_side.runs)]
    if codes is not None and (few := cluster_warning(codes)) is not None:
        warnings.append(few)
    pairs = [(b, a) for a, b in combinations(range(len(runs)), 2)]
    whole = _differences(side_by_side, side_by_side.rows, pairs, settings, codes, None, warnings)
    warnings += _too_few(whole, settings, len(pairs))
    differences = _corrected(whole, lambda d: d.key, holm, "holm", settings, side_by_side)
    sliced: list[Difference] = []
    for column in slices:
        grouping = side_by_side.grouping(column)
        members = [np.flatnonzero(grouping.codes == code) for code in range(len(grouping.values))]
        few = sliced_cluster_warning(column, codes, members) if codes is not None else None
        warnings += [few] if few is not None else []
        found: list[Difference] = []
        for value, where in zip(grouping.values, members, strict=True):
            rows = [r[where] for r in side_by_side.rows]
            inner = codes[where] if codes is not None else None
            found += _differences(side_by_side, rows, pairs, settings, inner, (column, value))
        sliced += _corrected(
            found,
            lambda d: (d.key, d.system, d.baseline),
            benjamini_hochberg,
            "benjamini-hochberg",
            settings,
            side_by_side,
        )
    averaged: list[Difference] = []
    for name in macros:
        averaged += _macro_differences(side_by_side, name, pairs, settings, codes)
    sliced += _corrected(
        averaged,
        lambda d: (d.key, d.system, d.baseline),
        benjamini_hochberg,
        "benjamini-hochberg",
        settings,
        side_by_side,
    )
    return Comparison(_document(side_by_side, differences, sliced, settings, by, warnings))


def remarks_of(runs: Sequence[Result]) -> list[str]:
    """What the runs themselves warn of in their scores, with the name of the system."""
    return [
        f"{run.document.system}: {remark}"
        for run in runs
        for remark in run.document.extra.get("remarks", ())
    ]


def _too_few(found: Sequence[Difference], settings: _Settings, n_pairs: int) -> list[str]:
    """What resamples and trials cannot show, where they were made."""
    remarks = []
    if any(d.interval_method.endswith("bootstrap") for d in found):
        remarks.append(few_resamples(settings.resamples, settings.ci))
    if any(not d.test.startswith("mcnemar") for d in found):
        remarks.append(few_trials(settings.trials, settings.alpha, n_pairs))
    return [remark for remark in remarks if remark is not None]


def _narrowed(side_by_side: Paired, wanted: Sequence[str]) -> Paired:
    """Only the scores that were named, for a metric may have many; a metric's name means all."""
    layout = side_by_side.layout
    names = {name for m in layout.metrics for name in (m.text, m.name)}
    if not wanted or not set(wanted) - names:
        return side_by_side
    keys = {c.key for c in chosen_scores(layout, [name for name in wanted if name not in names])}
    entries = tuple(
        replace(entry, scores=tuple(s for s in entry.scores if s.key in keys))
        if not {metric.text, metric.name} & set(wanted)
        else entry
        for metric, entry in zip(layout.metrics, layout.entries, strict=True)
    )
    return replace(side_by_side, layout=Layout(layout.metrics, entries))


def _common_cluster(side_by_side: Paired) -> str | None:
    columns = {run.document.statistics.get("cluster") for run in side_by_side.runs}
    return columns.pop() if len(columns) == 1 else None


def _differences(
    side_by_side: Paired,
    rows: Sequence[Rows],
    pairs: Sequence[tuple[int, int]],
    settings: _Settings,
    codes: Codes | None,
    part: tuple[str, str] | None,
    warnings: list[str] | None = None,
) -> list[Difference]:
    layout, runs = side_by_side.layout, side_by_side.runs
    found = compare_systems(
        layout.metrics,
        rows,
        pairs,
        level=settings.ci,
        resamples=settings.resamples,
        trials=settings.trials,
        seed=settings.seed,
        clusters=codes,
        test=settings.test,
    )
    if warnings is not None:
        said = [
            remark
            for by_metric in found
            for entry, by_name in zip(layout.entries, by_metric, strict=True)
            for score in entry.scores
            for remark in _left_out(score.key, by_name[score.name], settings)
        ]
        if said:  # of many the worst stands for all
            warnings.append(max(said)[1])
    return [
        Difference(
            key=score.key,
            system=runs[a].system,
            baseline=runs[b].system,
            system_score=one.system_score,
            baseline_score=one.baseline_score,
            difference=one.difference,
            interval=one.interval.bounds,
            p=one.p,
            p_adjusted=one.p,
            test=one.test,
            correction="none",
            verdict="undecided",
            n=len(rows[0]),
            slice=part,
            mcnemar=one.mcnemar,
            interval_method=one.interval.method,
        )
        for (a, b), by_metric in zip(pairs, found, strict=True)
        for entry, by_name in zip(layout.entries, by_metric, strict=True)
        for score in entry.scores
        for one in [by_name[score.name]]
    ]


def _left_out(key: str, one: PairedScores, settings: _Settings) -> Iterator[tuple[float, str]]:
    """In what share of resamples and of trials a score was undefined, and what is said of it."""
    for often, of, what, rest in (
        (one.interval.undefined, settings.resamples, "resamples", "the interval of its difference"),
        (one.undefined, settings.trials, "trials", "its p-value"),
    ):
        # A difference that is undefined itself has an empty cell, which says so.
        if often and not math.isnan(one.difference):
            yield (
                often / of,
                f"{key} is undefined in {often:,} of {of:,} {what}; {rest} is made of the others",
            )


def _macro_differences(
    side_by_side: Paired,
    name: str,
    pairs: Sequence[tuple[int, int]],
    settings: _Settings,
    codes: Codes | None,
) -> list[Difference]:
    """Differences between means over slices; metrics that do not add up have none."""
    column, weights = _slices_of(side_by_side, name)
    grouping = side_by_side.grouping(column)
    heavy = np.array([weights.get(v, 0.0) if weights else 1.0 for v in grouping.values])
    chosen = np.flatnonzero(heavy)
    dense = np.full(len(heavy), -1, dtype=np.intp)
    dense[chosen] = np.arange(len(chosen))
    own = dense[grouping.codes]
    inside = np.flatnonzero(own >= 0)
    parts = [part for part in side_by_side.layout.parts() if part[0].merge == "sum"]
    over = [OverSlices(metric, len(chosen), heavy[chosen]) for metric, _, _ in parts]
    rows = [
        np.concatenate(
            [
                one.widened(run[inside][:, where], own[inside])
                for one, (_, _, where) in zip(over, parts, strict=True)
            ],
            axis=1,
        )
        for run in side_by_side.rows
    ]
    wide = replace(side_by_side, layout=Layout(tuple(over), tuple(entry for _, entry, _ in parts)))
    inner = codes[inside] if codes is not None else None
    return _differences(wide, rows, pairs, settings, inner, (MACRO, name))


def _slices_of(side_by_side: Paired, name: str) -> tuple[str, Mapping[str, float] | None]:
    """The column that a mean is over, and the weights of its slices if not all count the same."""
    declared: Mapping[str, Any] = side_by_side.runs[0].document.statistics.get("macros", {})
    if name in declared:
        if not declared[name]["weights"]:
            raise UsageError(f"no example is in a slice of {name}: there is nothing to average")
        return declared[name]["column"], declared[name]["weights"]
    first = next(side_by_side.examples(0), None)
    columns = first.slices if first is not None else {}
    if name not in columns:
        raise unknown("macro average", name, [*declared, *columns])
    return name, None


def _corrected(
    found: Sequence[Difference],
    family: Callable[[Difference], object],
    correct: Callable[[Sequence[float]], Any],
    name: str,
    settings: _Settings,
    side_by_side: Paired,
) -> list[Difference]:
    """Adjust p-values within each family, and say the verdict."""
    members: dict[object, list[int]] = {}
    for i, difference in enumerate(found):
        members.setdefault(family(difference), []).append(i)
    better = {s.key: s.higher_is_better for e in side_by_side.layout.entries for s in e.scores}
    out = list(found)
    for where in members.values():
        adjusted = correct([found[i].p for i in where])
        for i, p in zip(where, adjusted, strict=True):
            d = found[i]
            out[i] = replace(
                d,
                p_adjusted=float(p),
                correction=name if len(where) > 1 else "none",
                verdict=verdict(
                    d.difference,
                    d.interval,
                    float(p),
                    higher_is_better=better[d.key],
                    alpha=settings.alpha,
                    margin=settings.margins.of(d.key),
                ),
            )
    return out


def _document(
    side_by_side: Paired,
    differences: Sequence[Difference],
    sliced: Sequence[Difference],
    settings: _Settings,
    cluster: str | None,
    warnings: Sequence[str],
) -> ComparisonDocument:
    n = len(side_by_side.rows[0])
    statistics: Mapping[str, Any] = {
        "n": n,
        "ci": settings.ci,
        "resamples": settings.resamples,
        "trials": settings.trials,
        "seed": settings.seed,
        "alpha": settings.alpha,
        "margin": settings.margins.stated([c.key for c in chosen_scores(side_by_side.layout)]),
        "test": settings.test,
        "cluster": cluster,
    }
    task = side_by_side.runs[0].document.task
    keys = ("n", "ci", "resamples", "trials", "seed", "alpha", "margin", "cluster")
    return ComparisonDocument(
        task=task,
        systems=tuple(_reduced(run.document, side_by_side) for run in side_by_side.runs),
        differences=tuple(differences),
        slices=tuple(sliced),
        statistics=statistics,
        signature=format_signature(
            f"compare:{task}",
            {**{k: _in_words(statistics[k]) for k in keys}, "version": assay.__version__},
        ),
        warnings=tuple(warnings),
        made={"assay": assay.__version__, "python": platform.python_version()},
    )


def _in_words(value: Any) -> Any:
    """A value as signatures have it: margins by score are `bleu=0.5,exact=0.01`."""
    if isinstance(value, Mapping):
        return ",".join(f"{key}={margin:g}" for key, margin in value.items())
    return value


def _reduced(document: ResultDocument, side_by_side: Paired) -> ResultDocument:
    """A system's own result, with the shared metrics only and under the shared keys."""
    own = {e.signature: e for e in document.metrics}
    scores: dict[str, float] = {}
    intervals: dict[str, tuple[float, float]] = {}
    for entry in side_by_side.layout.entries:
        keys = {s.name: s.key for s in own[entry.signature].scores}
        for shared in entry.scores:
            scores[shared.key] = document.scores[keys[shared.name]]
            if keys[shared.name] in document.intervals:
                intervals[shared.key] = document.intervals[keys[shared.name]]
    return replace(
        document, metrics=side_by_side.layout.entries, scores=scores, intervals=intervals
    )

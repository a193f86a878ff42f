# SPDX-License-Identifier: Apache-2.0
"""`compare`: which of several systems is better, by how much, how sure, and by which test."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import assay
from assay.aggregate.asked import TRIALS, check_resampling, few_resamples, few_trials
from assay.aggregate.correct import benjamini_hochberg, holm
from assay.aggregate.interval import cluster_warning, sliced_cluster_warning
from assay.aggregate.paired import Test
from assay.aggregate.verdict import ALPHA
from assay.core.comparison import ComparisonDocument, Difference
from assay.core.document import ResultDocument
from assay.core.errors import UsageError
from assay.core.names import several
from assay.core.signature import format_signature
from assay.pipeline.choosing import chosen_scores
from assay.pipeline.differences import Settings, corrected, differences_of, macro_differences
from assay.pipeline.limits import Margin, check_margins, parse_margins
from assay.pipeline.measuring import Layout
from assay.pipeline.pairing import Paired, paired
from assay.pipeline.result import Result


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
    settings = Settings(ci, resamples, trials, seed, alpha, margins, test)
    by = cluster or _common_cluster(side_by_side)
    codes = side_by_side.grouping(by).codes if by is not None else None
    warnings = [*side_by_side.warnings, *remarks_of(side_by_side.runs)]
    if codes is not None and (few := cluster_warning(codes)) is not None:
        warnings.append(few)
    pairs = [(b, a) for a, b in combinations(range(len(runs)), 2)]
    whole = differences_of(side_by_side, side_by_side.rows, pairs, settings, codes, None, warnings)
    warnings += _too_few(whole, settings, len(pairs))
    differences = corrected(whole, lambda d: d.key, holm, "holm", settings, side_by_side)
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
            found += differences_of(side_by_side, rows, pairs, settings, inner, (column, value))
        sliced += corrected(
            found,
            lambda d: (d.key, d.system, d.baseline),
            benjamini_hochberg,
            "benjamini-hochberg",
            settings,
            side_by_side,
        )
    averaged: list[Difference] = []
    for name in macros:
        averaged += macro_differences(side_by_side, name, pairs, settings, codes)
    sliced += corrected(
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


def _too_few(found: Sequence[Difference], settings: Settings, n_pairs: int) -> list[str]:
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


def _document(
    side_by_side: Paired,
    differences: Sequence[Difference],
    sliced: Sequence[Difference],
    settings: Settings,
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

# SPDX-License-Identifier: Apache-2.0
"""Which charts fit a result or a comparison, and what they say; `extras` has what tasks add."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from assay.core.comparison import ComparisonDocument, Difference
from assay.core.document import ResultDocument, ScoreEntry
from assay.report.charts import (
    Chart,
    ChartRow,
    SliceRow,
    dot_chart,
    interval_chart,
    slice_chart,
)
from assay.report.charts.slices import MOST_ROWS as MOST_SLICES
from assay.report.entries import interval_words, label, score_digits
from assay.report.extras import Regions, drawn_entries, extra_pictures, tradeoff_pictures
from assay.report.orient import oriented, turned
from assay.report.sections import best_first
from assay.report.sentences import listed
from assay.report.terminal import cut

MOST_ROWS = 12
"""Scores in one chart; the table has them all."""
MOST_PAIRS = 15
MOST_SCORES = 3
"""Scores by which many pairs of systems are drawn."""
MOST_COLUMNS = 3
"""Slice columns that are drawn."""
LONGEST_NAME = 32

_KINDS = {"better": "good", "worse": "bad", "equivalent": "plain", "undecided": "quiet"}


def result_pictures(document: ResultDocument, digits: int | None = None) -> list[Chart]:
    """All charts of one system."""
    entries = drawn_entries([document])
    places = score_digits(entries, [document], digits)
    return [
        *_scores([document], entries, places),
        *_slices([document], entries, places),
        *extra_pictures([document]),
    ]


def detail_pictures(
    documents: Sequence[ResultDocument], regions: Regions | None = None
) -> list[Chart]:
    """What goes beyond scores and differences: slices, trade-offs, curves and the like."""
    entries = drawn_entries(documents)
    places = score_digits(entries, documents, None)
    return [
        *tradeoff_pictures(documents, regions or {}),
        *_slices(documents, entries, places),
        *extra_pictures(documents),
    ]


def comparison_pictures(
    document: ComparisonDocument, digits: int | None = None, regions: Regions | None = None
) -> list[Chart]:
    """All charts of several systems: what answers the question first.

    That is quality against latency where a task has both, and else the differences.
    """
    entries = drawn_entries(document.systems)
    places = score_digits(entries, document.systems, digits)
    return [
        *tradeoff_pictures(document.systems, regions or {}),
        *_differences(document, entries, places),
        *_scores(document.systems, entries, places),
        *_slices(document.systems, entries, places),
        *extra_pictures(document.systems),
    ]


def _scores(
    documents: Sequence[ResultDocument], entries: Sequence[ScoreEntry], places: Mapping[str, int]
) -> Iterator[Chart]:
    """Scores on one scale share a chart, a row each."""
    systems = [d.system for d in documents]
    called = interval_words(documents[0].statistics)
    scales = _by_scale(entries, places)
    for (unit, digits), found in scales.items():
        group = [e for e in found if any(e.key in d.intervals for d in documents)]
        rows = [
            SliceRow(
                label(e, direction=True),
                None,
                tuple(d.scores.get(e.key, math.nan) for d in documents),
                tuple(d.intervals.get(e.key) for d in documents),
            )
            for e in group[:MOST_ROWS]
        ]
        if rows:
            what = "Scores" if len(scales) == 1 else listed([e.key for e in group[:MOST_ROWS]])
            whose = f"{what} of {listed(systems) if len(systems) < 4 else 'all systems'}"
            few = f", the first {MOST_ROWS} of {len(group)}" if len(group) > MOST_ROWS else ""
            yield dot_chart(
                rows,
                systems,
                f"{whose}, with {called}s{few}",
                digits=digits,
                interval=called,
                axis=f"score ({unit})" if unit else "score",
                heading="score",
            )


def _by_scale(
    entries: Iterable[ScoreEntry], places: Mapping[str, int]
) -> dict[tuple[str, int], list[ScoreEntry]]:
    scales: dict[tuple[str, int], list[ScoreEntry]] = {}
    for entry in entries:
        scales.setdefault((entry.unit, places[entry.key]), []).append(entry)
    return scales


def _differences(
    document: ComparisonDocument, entries: Sequence[ScoreEntry], places: Mapping[str, int]
) -> Iterator[Chart]:
    document = oriented(document)
    pairs = dict.fromkeys((d.system, d.baseline) for d in document.differences)
    called = interval_words(document.statistics)
    if len(pairs) == 1:
        for (unit, digits), group in _by_scale(entries, places).items():
            found = [(e, d) for e in group for d in document.of(e.key)]
            rows = [_difference_row(label(e, direction=True), d) for e, d in found[:MOST_ROWS]]
            few = f" (the first {MOST_ROWS} are drawn)" if len(found) > MOST_ROWS else ""
            if any(not math.isnan(row.value) for row in rows):
                system, baseline = next(iter(pairs))
                yield interval_chart(
                    rows,
                    f"{system} minus {baseline}: {_verdicts([d for _, d in found])}{few}",
                    digits=digits,
                    interval=called,
                    axis=f"difference ({unit})" if unit else "difference",
                    reference=0.0,
                    signed=True,
                )
        return
    for entry in entries[:MOST_SCORES]:
        best = _best(document.systems, entry, next(iter(pairs), ("", ""))[0])
        rows = [_against(best, d) for d in document.of(entry.key) if best in (d.system, d.baseline)]
        if any(not math.isnan(row.value) for row in rows):
            lower = "" if entry.higher_is_better else " (lower is better)"
            few = f", {MOST_PAIRS} of {len(rows)}" if len(rows) > MOST_PAIRS else ""
            yield interval_chart(
                rows[:MOST_PAIRS],
                f"{best}, best by {entry.key}{lower}, minus each other system{few}",
                digits=places[entry.key],
                interval=called,
                axis=f"difference in {label(entry)}",
                reference=0.0,
                signed=True,
            )


def _best(systems: Sequence[ResultDocument], entry: ScoreEntry, leading: str) -> str:
    """The best system by this score; of several that share it the one that the words are about."""
    first = best_first(systems, entry)[0]
    value = first.scores.get(entry.key)
    shared = any(s.system == leading and s.scores.get(entry.key) == value for s in systems)
    return leading if shared else first.system


def _against(best: str, d: Difference) -> ChartRow:
    """The difference as seen from the best system by this score."""
    seen = d if d.system == best else turned(d)
    return _difference_row(f"− {seen.baseline}", seen)


def _difference_row(name: str, d: Difference) -> ChartRow:
    return ChartRow(name, d.difference, d.interval, _KINDS[d.verdict])


def _verdicts(differences: Sequence[Difference]) -> str:
    """What the scores say, by verdict."""
    by_verdict: dict[str, list[str]] = {}
    for d in differences:
        by_verdict.setdefault(d.verdict, []).append(d.key)
    words = {v: v for v in ("better", "worse", "equivalent")} | {"undecided": "not decided"}
    return "; ".join(
        f"{text} by {listed(keys) if len(keys) < 6 else f'{len(keys)} scores'}"
        for v, text in words.items()
        if (keys := by_verdict.get(v))
    )


def _slices(
    documents: Sequence[ResultDocument], entries: Sequence[ScoreEntry], places: Mapping[str, int]
) -> Iterator[Chart]:
    """Each slice column by the first score that the slices have."""
    called = interval_words(documents[0].statistics)
    for column in list(documents[0].slices)[:MOST_COLUMNS]:
        parts = [d.slices.get(column, {}) for d in documents]
        entry = next(
            (e for e in entries if any(e.key in s.scores for p in parts for s in p.values())), None
        )
        if entry is None:
            continue
        values = dict.fromkeys(value for part in parts for value in part)
        rows = [
            SliceRow(
                value or "(empty)",
                next(p[value].n for p in parts if value in p),
                tuple(_slice_score(p, value, entry.key) for p in parts),
                tuple(p[value].intervals.get(entry.key) if value in p else None for p in parts),
            )
            for value in values
        ]
        alone = documents[0].scores.get(entry.key, math.nan) if len(documents) == 1 else math.nan
        few = f" (the {MOST_SLICES} largest are drawn)" if len(rows) > MOST_SLICES else ""
        yield slice_chart(
            rows,
            [d.system for d in documents],
            _slice_title(rows, [d.system for d in documents], entry, column) + few,
            digits=places[entry.key],
            interval=called,
            axis=label(entry, direction=True),
            reference=None if math.isnan(alone) else alone,
        )


def _slice_score(part: Mapping[str, Any], value: str, key: str) -> float:
    return float(part[value].scores.get(key, math.nan)) if value in part else math.nan


def _slice_title(
    rows: Sequence[SliceRow], systems: Sequence[str], entry: ScoreEntry, column: str
) -> str:
    """Where a single system is best and worst, or who leads on how many slices."""
    title = f"{entry.key} by {column}"
    sign = 1.0 if entry.higher_is_better else -1.0
    if len(systems) > 1:
        leads = [_leader([sign * v for v in row.values]) for row in rows]
        counts = [sum(leader == i for leader in leads) for i in range(len(systems))]
        most = max(range(len(systems)), key=lambda i: counts[i])
        if counts.count(counts[most]) > 1:
            return title
        return f"{title}: {systems[most]} leads on {counts[most]} of {len(rows)}"
    known = [row for row in rows if not math.isnan(row.values[0])]
    ordered = sorted(known, key=lambda row: -sign * row.values[0])
    if len(known) < 2 or ordered[0].values == ordered[-1].values:
        return title
    best, worst = (cut(row.label, LONGEST_NAME) for row in (ordered[0], ordered[-1]))
    return f"{title}: best on {best}, worst on {worst}"


def _leader(values: Sequence[float]) -> int | None:
    """The place of the single highest value of several; None for a tie or nothing to beat."""
    known = [v for v in values if not math.isnan(v)]
    if len(known) < 2 or sum(v == max(known) for v in known) > 1:
        return None
    return values.index(max(known))

# SPDX-License-Identifier: Apache-2.0
"""The comparison of systems as tables: scores with marks, differences, McNemar counts, slices."""

from __future__ import annotations

import math
import string
from collections.abc import Mapping, Sequence
from dataclasses import replace

from assay.core.comparison import ComparisonDocument, Difference
from assay.core.document import ResultDocument, ScoreEntry
from assay.report.entries import interval_words, label, score_digits, score_entries
from assay.report.numbers import format_count, format_interval, format_number, format_p
from assay.report.orient import oriented
from assay.report.result import score_cell
from assay.report.sentences import (
    correction_name,
    correction_words,
    lead,
    resolution,
    words_of_test,
)
from assay.report.tables import (
    Block,
    Cell,
    Column,
    Table,
    Tone,
    Words,
    cells,
    left,
    render_blocks,
    right,
)

MOST_COLUMNS = 8
"""Scores up to which systems are rows; with more of them scores are rows and systems columns."""

_TONE: Mapping[str, Tone] = {"better": "good", "worse": "bad", "equivalent": "", "undecided": ""}


def render_comparison(
    document: ComparisonDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """The comparison as `table`, `markdown`, `latex` or `csv`; options as for `render_result`.

    CSV holds the differences, one row for each pair of systems, score and slice, as computed; the
    other forms tell each pair from the better system.
    """
    if format == "csv":
        from assay.report.csv import comparison_csv

        return comparison_csv(document)
    blocks = comparison_blocks(document, digits)
    return render_blocks(blocks, format, colour=colour, width=width)


def comparison_blocks(document: ComparisonDocument, digits: int | None = None) -> list[Block]:
    """The comparison in the neutral form that the renderers share: the answer in words first."""
    document = oriented(document)
    entries = score_entries(*document.systems)
    places = score_digits(entries, document.systems, digits)
    by_key = {e.key: e for e in entries}
    blocks: list[Block] = [Words(text) for text in lead(document, by_key, places)]
    blocks.append(_systems(document, entries, places))
    if document.differences:
        blocks.append(_differences(document, by_key, places))
    if any(d.mcnemar for d in document.differences):
        blocks.append(_mcnemar(document))
    blocks.extend(_slices(document, by_key, places))
    if document.signature:
        blocks.append(Words(document.signature, "signature"))
    return blocks


def system_letters(n: int) -> list[str]:
    """A mark for each of `n` systems: letters, or numbers where letters run out.

    >>> system_letters(3)
    ['a', 'b', 'c']
    """
    if n <= len(string.ascii_lowercase):
        return list(string.ascii_lowercase[:n])
    return [f"{i}," for i in range(1, n + 1)]


def beaten(document: ComparisonDocument, key: str) -> dict[str, set[str]]:
    """By system, those that it is better than by this score, after correction."""
    found: dict[str, set[str]] = {}
    for d in document.of(key):
        if d.verdict == "better":
            found.setdefault(d.system, set()).add(d.baseline)
        elif d.verdict == "worse":
            found.setdefault(d.baseline, set()).add(d.system)
    return found


def best_systems(entry: ScoreEntry, systems: Sequence[ResultDocument]) -> set[str]:
    """The systems with the best value; none where fewer than two differ or are defined."""
    values = {s.system: s.scores.get(entry.key, math.nan) for s in systems}
    known = {name: value for name, value in values.items() if not math.isnan(value)}
    if len(set(known.values())) < 2:
        return set()
    best = max(known.values()) if entry.higher_is_better else min(known.values())
    return {name for name, value in known.items() if value == best}


def _systems(
    document: ComparisonDocument, entries: Sequence[ScoreEntry], places: Mapping[str, int]
) -> Table:
    names = [s.system for s in document.systems]
    letters = dict(zip(names, system_letters(len(names)), strict=True))
    columns: list[tuple[Cell, ...]] = []
    for entry in entries:
        best, wins = best_systems(entry, document.systems), beaten(document, entry.key)
        column = []
        for system in document.systems:
            value = system.scores.get(entry.key, math.nan)
            cell = score_cell(value, system.intervals.get(entry.key), places[entry.key])
            lost = wins.get(system.system, set())
            marks = "".join(letters[name] for name in names if name in lost).rstrip(",")
            column.append(replace(cell, marks=marks, best=system.system in best))
        columns.append(tuple(column))
    marked = [letters[name].rstrip(",") for name in names]
    titles = [label(e, direction=True) for e in entries]
    across = len(entries) > max(MOST_COLUMNS, len(names))
    if across:
        headings = (*left("score"), *right(*map(" ".join, zip(marked, names, strict=True))))
        rows = tuple((Cell(t), *column) for t, column in zip(titles, columns, strict=True))
    else:
        headings = (*left("", "system"), *right(*titles))
        rows = tuple(
            (Cell(mark), Cell(name), *(column[i] for column in columns))
            for i, (mark, name) in enumerate(zip(marked, names, strict=True))
        )
    n = document.statistics.get("n")
    size = f", {format_count(n)} examples" if isinstance(n, int) else ""
    title = f"{document.task}: {len(names)} systems{size}"
    notes = _marks_notes(document, columns, entries, "row" if across else "column")
    return Table(title, headings, rows, tuple(notes))


def _marks_notes(
    document: ComparisonDocument,
    columns: Sequence[Sequence[Cell]],
    entries: Sequence[ScoreEntry],
    of: str,
) -> list[str]:
    notes = []
    if any(cell.aside for column in columns for cell in column):
        notes.append(f"In brackets: {interval_words(document.statistics)}.")
    if any(cell.best for column in columns for cell in column):
        notes.append(f"Best of each {of} marked.")
    if any(cell.marks for column in columns for cell in column):
        corrected = {correction_name(d.correction) for d in document.differences} - {""}
        multiple = len(document.systems) > 2 and corrected
        after = f" after correction ({', '.join(sorted(corrected))})" if multiple else ""
        notes.append(f"Raised letters: significantly better than that system{after}.")
    if any(not e.higher_is_better for e in entries):
        notes.append("↓ lower is better.")
    return [" ".join(notes)] if notes else []


def _differences(
    document: ComparisonDocument, entries: Mapping[str, ScoreEntry], places: Mapping[str, int]
) -> Table:
    shown = document.differences
    sizes = {d.key: len(document.of(d.key)) for d in shown}
    corrections = {correction_words(d.correction, sizes[d.key], "pairs") for d in shown} - {""}
    title, columns, pairs = _pair_columns("differences", shown)
    rows = [
        (*pair, *_named(d, entries[d.key]), *_numbers(document, d, places[d.key], shown))
        for d, pair in zip(shown, pairs, strict=True)
    ]
    headings = (*columns, *left("score", "verdict"), *_number_columns(document, shown))
    return Table(title, headings, tuple(rows), _test_notes(shown, corrections))


def _slices(
    document: ComparisonDocument, entries: Mapping[str, ScoreEntry], places: Mapping[str, int]
) -> list[Table]:
    tables = []
    for column in dict.fromkeys(d.slice[0] for d in document.slices if d.slice):
        shown = [d for d in document.slices if d.slice and d.slice[0] == column]
        # One family is all slices of one score and pair, as the corrections are made.
        family = [d for d in shown if _family(d) == _family(shown[0])]
        shown.sort(key=lambda d: -d.n)  # stable: pairs and scores stay together within a slice
        words = {correction_words(d.correction, len(family), "slices") for d in shown} - {""}
        title, columns, pairs = _pair_columns(f"by {column}", shown)
        rows = [
            (
                Cell(d.slice[1] if d.slice else ""),
                *pair,
                *_named(d, entries[d.key]),
                Cell(format_count(d.n)),
                *_numbers(document, d, places[d.key], shown),
            )
            for d, pair in zip(shown, pairs, strict=True)
        ]
        headings = (
            *(*left(column), *columns, *left("score", "verdict"), *right("n")),
            *_number_columns(document, shown),
        )
        tables.append(Table(title, headings, tuple(rows), _test_notes(shown, words)))
    return tables


def _family(d: Difference) -> tuple[str, str, str]:
    return d.key, d.system, d.baseline


def _pair_columns(
    title: str, shown: Sequence[Difference]
) -> tuple[str, tuple[Column, ...], list[tuple[Cell, ...]]]:
    """Columns for the two systems of each row; of a single pair the title tells."""
    pairs = {(d.system, d.baseline) for d in shown}
    if len(pairs) == 1:
        system, baseline = pairs.pop()
        return f"{title}: {system} minus {baseline}", (), [()] * len(shown)
    return title, left("system", "minus"), [cells(d.system, d.baseline) for d in shown]


def _is_corrected(shown: Sequence[Difference]) -> bool:
    return any(correction_name(d.correction) for d in shown)


def _number_columns(
    document: ComparisonDocument, shown: Sequence[Difference]
) -> tuple[Column, ...]:
    adjusted = ["adjusted p"] if _is_corrected(shown) else []
    called = interval_words(document.statistics)
    return right("difference", called, "p", *adjusted)


def _numbers(
    document: ComparisonDocument, d: Difference, digits: int, shown: Sequence[Difference]
) -> tuple[Cell, ...]:
    statistics = document.statistics
    adjusted = format_p(d.p_adjusted, resolution(d, d.p_adjusted, statistics))
    return (
        Cell(format_number(d.difference, digits, signed=True)),
        Cell(format_interval(d.interval, digits, signed=True)),
        Cell(format_p(d.p, resolution(d, d.p, statistics))),
        *([Cell(adjusted)] if _is_corrected(shown) else []),
    )


def _named(d: Difference, entry: ScoreEntry) -> tuple[Cell, ...]:
    """Score and verdict: at the left, so that a table cut in parts repeats them."""
    return Cell(label(entry, direction=True)), Cell(d.verdict, tone=_TONE[d.verdict])


def _test_notes(shown: Sequence[Difference], corrections: set[str]) -> tuple[str, ...]:
    """Which test was made for which scores, and how p-values were adjusted."""
    scores: dict[str, list[str]] = {}
    for d in shown:
        keys = scores.setdefault(words_of_test(d.test), [])
        if d.key not in keys:
            keys.append(d.key)
    if len(scores) == 1:
        parts = [f"Test: {next(iter(scores))}."]
    else:
        # Of many scores nearly all are tested alike: it is the others that one wants to know.
        usual = max(scores, key=lambda test: len(scores[test]), default="")
        brief = len(scores.get(usual, ())) > MOST_COLUMNS
        named = ", ".join(
            test if brief and test == usual else f"{test} ({', '.join(keys)})"
            for test, keys in scores.items()
        )
        parts = [f"Tests: {named}."] if named else []
    if corrections:
        parts.append(f"Adjusted: {', '.join(sorted(corrections))}.")
    return (" ".join(parts),) if parts else ()


def _mcnemar(document: ComparisonDocument) -> Table:
    shown = [d for d in document.differences if d.mcnemar]
    _, columns, pairs = _pair_columns("", shown)
    names = ("only system", "only other")
    if not columns:
        names = (f"only {shown[0].system}", f"only {shown[0].baseline}")
    rows = []
    for d, pair in zip(shown, pairs, strict=True):
        assert d.mcnemar is not None, "only those with counts are shown"
        counts = (format_count(d.mcnemar.only_system), format_count(d.mcnemar.only_baseline))
        ps = (format_p(d.mcnemar.p_exact), format_p(d.mcnemar.p_mid))
        rows.append((*pair, *cells(d.key, *counts, *ps)))
    headings = (*columns, *left("score"), *right(*names, "exact p", "mid-p"))
    title = "McNemar: examples that exactly one of the two got right"
    return Table(title, headings, tuple(rows))

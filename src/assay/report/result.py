# SPDX-License-Identifier: Apache-2.0
"""The result of one system as tables: scores with intervals, counts, slices, signature."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields

from assay.core.document import Counts, ResultDocument, ScoreEntry, SliceEntry
from assay.report.entries import interval_words, label, score_digits, score_entries
from assay.report.numbers import format_count, format_interval, format_number
from assay.report.tables import Block, Cell, Table, Words, cells, left, render_blocks, right


def render_result(
    document: ResultDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """The result as `table`, `markdown`, `latex` or `csv`.

    `digits` are those after the point; None gives 4 to shares and 2 to everything else. CSV has
    full precision whatever `digits` says. Warnings are left to the caller. `colour` and `width`
    (of the terminal; None for as wide as needed) are for the table form.
    """
    if format == "csv":
        from assay.report.csv import result_csv

        return result_csv(document)
    return render_blocks(result_blocks(document, digits), format, colour=colour, width=width)


def result_blocks(document: ResultDocument, digits: int | None = None) -> list[Block]:
    """The result in the neutral form that the renderers share."""
    entries = score_entries(document)
    places = score_digits(entries, [document], digits)
    return [
        _scores(document, entries, places),
        Words(counts_line(document.counts)),
        *slice_tables(document, entries, places),
        *(Words(text, "signature") for text in signatures(document)),
    ]


def signatures(document: ResultDocument) -> list[str]:
    """One signature per metric, from which its numbers can be computed again."""
    return [document.signature_of(m.scores[0].key) for m in document.metrics if m.scores] or [
        document.signature
    ]


def counts_line(counts: Counts) -> str:
    """How many examples there were, in one line.

    >>> counts_line(Counts(gold=1204, predictions=1203, matched=1203, missing=1))
    'gold 1,204, predictions 1,203, matched 1,203, missing 1, extra 0, duplicate 0'
    """
    return ", ".join(f"{f.name} {format_count(getattr(counts, f.name))}" for f in fields(counts))


def slice_tables(
    document: ResultDocument, entries: Sequence[ScoreEntry], places: Mapping[str, int]
) -> list[Table]:
    """One table for each slice column, the largest slices first, the macro average last."""
    tables = []
    for column in dict.fromkeys([*document.slices, *document.macros]):
        by_value = document.slices.get(column, {})
        shown = [e for e in entries if _has(e.key, [*by_value.values()], document.macros, column)]
        ordered = sorted(by_value.items(), key=lambda item: -item[1].n)
        rows = [_slice_row(value, entry, shown, places) for value, entry in ordered]
        if column in document.macros:
            macro = document.macros[column]
            # Its n counts slices, not examples, so it does not belong into the column.
            name = f"macro average of {format_count(macro.n)}"
            row = _slice_row(name, macro, shown, places)
            rows.append((row[0], Cell(), *row[2:]))
        columns = (*left(column), *right("n", *(label(e) for e in shown)))
        tables.append(Table(f"by {column}", columns, tuple(rows)))
    return tables


def score_cell(value: float, interval: tuple[float, float] | None, digits: int) -> Cell:
    """A score with its interval as an aside; empty where the score is undefined."""
    if math.isnan(value):
        return Cell()
    return Cell(format_number(value, digits), aside=format_interval(interval, digits))


def _scores(
    document: ResultDocument, entries: Sequence[ScoreEntry], places: Mapping[str, int]
) -> Table:
    rows = []
    for entry in entries:
        value, digits = document.scores[entry.key], places[entry.key]
        interval = format_interval(document.intervals.get(entry.key), digits)
        rows.append(cells(label(entry, direction=True), format_number(value, digits), interval))
    columns = (*left("score"), *right("value", interval_words(document.statistics)))
    if not any(row[2].text for row in rows):
        columns, rows = columns[:2], [row[:2] for row in rows]
    title = f"{document.task}: {document.system}" if document.system else document.task
    return Table(title, columns, tuple(rows), direction_note(entries))


def direction_note(entries: Sequence[ScoreEntry]) -> tuple[str, ...]:
    """What the arrow in headings means, where there is one."""
    return ("↓ lower is better.",) if any(not e.higher_is_better for e in entries) else ()


def _has(
    key: str, slices: Sequence[SliceEntry], macros: Mapping[str, SliceEntry], column: str
) -> bool:
    return any(key in s.scores for s in [*slices, *(macros[c] for c in macros if c == column)])


def _slice_row(
    value: str, entry: SliceEntry, shown: Sequence[ScoreEntry], places: Mapping[str, int]
) -> tuple[Cell, ...]:
    scores = (
        score_cell(entry.scores.get(e.key, math.nan), entry.intervals.get(e.key), places[e.key])
        for e in shown
    )
    return (Cell(value), Cell(format_count(entry.n)), *scores)

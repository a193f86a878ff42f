# SPDX-License-Identifier: Apache-2.0
"""Several systems that were scored by one command: a line each, a column for every score."""

from __future__ import annotations

import math

from assay.core.document import ResultsDocument
from assay.report.entries import interval_words, label, score_digits, score_entries
from assay.report.numbers import format_count
from assay.report.result import direction_note, score_cell
from assay.report.tables import Block, Cell, Table, Words, left, render_blocks, right


def render_systems(
    document: ResultsDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """The results as `table`, `markdown`, `latex` or `csv`; options as for `render_result`."""
    if format == "csv":
        from assay.report.csv import result_csv

        return "".join(
            f"{result_csv(one)}" if i == 0 else result_csv(one).partition("\n")[2]
            for i, one in enumerate(document.results)
        )
    return render_blocks(_blocks(document, digits), format, colour=colour, width=width)


def _blocks(document: ResultsDocument, digits: int | None) -> list[Block]:
    systems = document.results
    entries = score_entries(*systems)
    places = score_digits(entries, systems, digits)
    rows = []
    for one in systems:
        cells = [
            score_cell(one.scores.get(e.key, math.nan), one.intervals.get(e.key), places[e.key])
            for e in entries
        ]
        n = format_count(int(one.statistics["n"]))
        rows.append((Cell(one.system), Cell(n), *cells))
    headings = (*left("system"), *right("n", *(label(e, direction=True) for e in entries)))
    notes = list(direction_note(entries))
    if any(one.intervals for one in systems):
        notes.append(f"In brackets: {interval_words(systems[0].statistics)}.")
    task = systems[0].task
    return [
        Table(f"{task}: {len(systems)} systems", headings, tuple(rows), tuple(notes)),
        Words(systems[0].signature, "signature"),
    ]

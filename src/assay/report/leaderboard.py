# SPDX-License-Identifier: Apache-2.0
"""A leaderboard as tables and as a document: one table for each gold, the best system first."""

from __future__ import annotations

import csv
import io
import math
from dataclasses import replace

from assay.core.boards import BoardDocument, BoardGroup, BoardRun
from assay.core.document import ResultDocument
from assay.report.comparison import beaten, best_systems, system_letters
from assay.report.entries import interval_words, label, score_digits, score_entries, scored_examples
from assay.report.headline import headline
from assay.report.measured import warnings
from assay.report.numbers import format_count
from assay.report.result import score_cell
from assay.report.sections import ReportDocument, Section
from assay.report.tables import Block, Cell, Table, Words, left, render_blocks, right

MOST_SCORES = 6
"""Columns of scores; the page and JSON have them all."""


def board(document: ReportDocument) -> BoardDocument:
    """The report of a leaderboard as plain data."""
    return BoardDocument(
        tuple(_group(section) for section in document.sections),
        document.remarks,
        {"assay": document.version, "command": document.command or None},
    )


def render_leaderboard(
    document: ReportDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """The leaderboard as `table`, `markdown`, `latex` or `csv`; options as for `render_result`."""
    if format == "csv":
        return _csv(board(document))
    blocks = [b for section in document.sections for b in _blocks(section, digits)]
    return render_blocks(blocks, format, colour=colour, width=width)


def _blocks(section: Section, digits: int | None) -> list[Block]:
    systems = section.systems
    entries = score_entries(*systems)
    places = score_digits(entries, systems, digits)
    ranks = _ranks(section)
    letters = system_letters(len(systems))
    shown = entries[:MOST_SCORES]
    columns = []
    for entry in shown:
        wins = beaten(section.comparison, entry.key) if section.comparison is not None else {}
        best = best_systems(entry, systems)
        cells = []
        for system in systems:
            value = system.scores.get(entry.key, math.nan)
            cell = score_cell(value, system.intervals.get(entry.key), places[entry.key])
            lost = wins.get(system.system, set())
            marks = "".join(
                letter for letter, s in zip(letters, systems, strict=True) if s.system in lost
            )
            cells.append(replace(cell, marks=marks.rstrip(","), best=system.system in best))
        columns.append(cells)
    rows = tuple(
        (
            Cell("" if ranks[i] is None else str(ranks[i])),
            *(Cell(letters[i].rstrip(",")), Cell(system.system)),
            *(column[i] for column in columns),
            *([Cell(section.folders[i])] if section.folders else []),
        )
        for i, system in enumerate(systems)
    )
    headings = (
        *right("rank"),
        *left("", "system"),
        *right(*(label(e, direction=True) for e in shown)),
        *(left("run") if section.folders else ()),
    )
    said = headline(section)
    n = format_count(scored_examples(systems[0]))
    gold = (systems[0].gold_sha256 or "unknown")[:8]
    many = f"{len(systems)} systems" if len(systems) > 1 else "1 system"
    return [
        Words(f"{replace(section, part='').name}, gold {gold}: {many}, {n} examples", "heading"),
        Words(said.text),
        Table("", headings, rows, _notes(section, columns, len(entries))),
    ]


def _notes(section: Section, columns: list[list[Cell]], n_scores: int) -> tuple[str, ...]:
    parts = []
    if any(cell.aside for column in columns for cell in column):
        parts.append(f"In brackets: {interval_words(section.systems[0].statistics)}.")
    if any(cell.marks for column in columns for cell in column):
        parts.append("Raised letters: significantly better than that system.")
    if n_scores > len(columns):
        parts.append(f"{len(columns)} of {n_scores} scores; the page and --json have them all.")
    if any(not e.higher_is_better for e in score_entries(*section.systems)[: len(columns)]):
        parts.append("↓ lower is better.")
    return (" ".join(parts),) if parts else ()


def _ranks(section: Section) -> list[int | None]:
    """The place of each system by the leading score; equal values share one."""
    entries = score_entries(*section.systems)
    if not entries:
        return [None] * len(section.systems)
    entry = entries[0]
    sign = 1.0 if entry.higher_is_better else -1.0
    values = [sign * s.scores.get(entry.key, math.nan) for s in section.systems]
    known = [v for v in values if not math.isnan(v)]
    return [None if math.isnan(v) else 1 + sum(w > v for w in known) for v in values]


def _group(section: Section) -> BoardGroup:
    first: ResultDocument = section.systems[0]
    entries = score_entries(*section.systems)
    leading = entries[0].key if entries else None
    wins = {}
    if section.comparison is not None and leading is not None:
        wins = beaten(section.comparison, leading)
    runs = tuple(
        BoardRun(
            rank,
            system.system,
            section.folders[i] if section.folders else None,
            system.scores,
            system.intervals,
            tuple(sorted(wins.get(system.system, ()))),
        )
        for i, (system, rank) in enumerate(zip(section.systems, _ranks(section), strict=True))
    )
    compared = section.comparison.signature if section.comparison is not None else ""
    return BoardGroup(
        section.task,
        first.gold_sha256,
        scored_examples(first),
        leading,
        headline(section).text,
        runs,
        compared or first.signature,
        tuple(warnings(section)),
    )


def _csv(document: BoardDocument) -> str:
    """One row per run and score, full precision."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["task", "gold_sha256", "rank", "system", "run", "score", "value", "low", "high"]
    )
    for group in document.groups:
        for run in group.runs:
            for key, value in run.scores.items():
                low, high = run.intervals.get(key, (math.nan, math.nan))
                numbers = ["" if math.isnan(v) else repr(float(v)) for v in (value, low, high)]
                rank = "" if run.rank is None else run.rank
                writer.writerow(
                    [
                        *(group.task, group.gold_sha256, rank, _plain(run.system)),
                        *(_plain(run.folder or ""), key, *numbers),
                    ]
                )
    return out.getvalue()


def _plain(text: str) -> str:
    """Not a formula in a spreadsheet."""
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text

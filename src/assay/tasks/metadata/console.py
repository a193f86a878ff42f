# SPDX-License-Identifier: Apache-2.0
"""The result on the console: the documented table, and below it what the old program lacks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.document import ResultDocument
from assay.report.entries import score_digits, score_entries
from assay.report.numbers import format_count
from assay.report.result import counts_line, score_cell, signatures, slice_tables
from assay.report.tables import Block, Cell, Table, Words, left, render_blocks, right
from assay.report.terminal import cut, spelled
from assay.tasks.metadata.files import DETAILS
from assay.tasks.metadata.reference import half_up

LONGEST = 60
"""Characters of a value or an id that a table shows; abstracts are values too."""


def documented(document: ResultDocument, output: str | None, *, compat: bool) -> str:
    """The table as the old program prints it."""
    lines = []
    if compat:
        skipped = document.extra.get("skipped", ())
        lines += [f"No truth file named {spelled(name)}. Skipping" for name in skipped]
    lines += ["", "Metric\tPrecision\tRecall"]
    for name, pair in _pairs(document).items():
        # The name of a field comes from a file's name or a JSON key; it must not steer a terminal.
        lines.append("\t".join([spelled(name), *(half_up(_number(value)) for value in pair)]))
    if output is not None:
        lines += ["", f"Details written to {Path(output) / DETAILS}"]
    return "\n".join(lines)


def field_names(document: ResultDocument) -> list[str]:
    """The fields of a document, in its order."""
    return [key.removesuffix(".micro_f1") for key in document.scores if key.endswith(".micro_f1")]


def tables(document: ResultDocument, digits: int | None) -> list[Table]:
    """F1, micro averages and counts by field, with intervals; confidences; errors."""
    places = 3 if digits is None else digits
    found = [
        _field_table(document, "mean over papers", "", "macro", "papers", places),
        _field_table(document, "over all values", "micro_", "micro", "values", places),
    ]
    found += curve_tables(document.extra.get("curves", {}), places)
    return found + error_tables(document.extra)


def _field_table(
    document: ResultDocument, title: str, prefix: str, over: str, counted: str, places: int
) -> Table:
    names, support = field_names(document), document.extra.get("support", {})
    rows = [
        (
            Cell(name),
            *_cells(document, f"{name}.{prefix}", places),
            *(_count(support.get(name, {}).get(f"{s}_{counted}")) for s in ("gold", "predicted")),
        )
        for name in names
    ]
    if len(names) > 1:
        rows.append((Cell("all fields"), *_cells(document, f"{over}_", places), Cell(), Cell()))
    titles = ("precision", "recall", "F1", f"gold {counted}", f"predicted {counted}")
    return Table(title, (*left("field"), *right(*titles)), tuple(rows))


def words(document: ResultDocument, digits: int | None) -> list[Words]:
    """What stands below the tables."""
    key = "papers_right"
    share = score_cell(
        document.scores[key], document.intervals.get(key), 3 if digits is None else digits
    )
    said = f"papers with every field right: {share.text} {share.aside}".rstrip()
    return [
        Words(said if share.text else "no paper has gold values"),
        Words(counts_line(document.counts)),
        *(Words(text, "signature") for text in signatures(document)),
    ]


def render(document: ResultDocument, digits: int | None, output: str | None, compat: bool) -> str:
    """Everything for the console."""
    first = documented(document, output, compat=compat)
    if compat:
        return first
    shown = [e for e in score_entries(document) if _is_main(e.key)]
    slices = slice_tables(document, shown, score_digits(shown, [document], digits))
    below: list[Block] = [*tables(document, digits), *slices, *words(document, digits)]
    return f"{first}\n\n{render_blocks(below, 'table').rstrip()}"


def _is_main(key: str) -> bool:
    """Whether a slice table shows this score: it has no room for all."""
    return key in ("macro_f1", "papers_right") or key.endswith(".f1")


def curve_tables(curves: Mapping[str, Mapping[str, Any]], places: int) -> list[Table]:
    """What the confidences are worth, one row per field."""
    rows = []
    for name, curve in curves.items():
        best = curve["best"] or {}
        rows.append(
            tuple(
                Cell(text)
                for text in (
                    name,
                    half_up(_number(curve["average_precision"]), places),
                    half_up(_number(best.get("f1")), places),
                    "" if best.get("threshold") is None else f"{best['threshold']:g}",
                    *(
                        half_up(_number(at["precision"]), places)
                        for at in curve["precision_at_recall"]
                    ),
                )
            )
        )
    if not rows:
        return []
    wanted = [at["recall"] for at in next(iter(curves.values()))["precision_at_recall"]]
    titles = ("average precision", "best F1", "at confidence", *(f"P at R {w:g}" for w in wanted))
    return [Table("confidence", (*left("field"), *right(*titles)), tuple(rows))]


def error_tables(extra: Mapping[str, Any], most: int = 5) -> list[Table]:
    """The most frequent errors and the worst papers."""
    found: list[Table] = []
    errors = [{**e, "times": format_count(e["n"])} for e in extra.get("errors", ())]
    if errors:
        rows = tuple(
            tuple(
                Cell(cut(e[part] or "", LONGEST))
                for part in ("field", "prediction", "gold", "why", "times")
            )
            for e in errors[:most]
        )
        columns = (*left("field", "predicted", "gold", "why"), *right("times"))
        looked, wrong = (extra.get("errors_in", {}).get(k, 0) for k in ("looked_at", "papers"))
        part = f", of the first {format_count(looked)} papers with errors" if looked < wrong else ""
        found.append(Table(f"most frequent errors{part}", columns, rows))
    worst = extra.get("worst", ())
    if worst:
        rows = tuple(
            (
                Cell(cut(w["id"], LONGEST)),
                Cell(half_up(_number(w["f1"]))),
                Cell(format_count(w["wrong"])),
            )
            for w in worst[:most]
        )
        found.append(Table("worst papers", (*left("id"), *right("F1", "errors")), rows))
    return found


def _pairs(document: ResultDocument) -> Mapping[str, Sequence[Any]]:
    """Precision and recall by field: as in `PR.txt` where that was made, else the scores."""
    own = document.extra.get("pr")
    if own:
        found: Mapping[str, Sequence[Any]] = own
        return found
    scores = document.scores
    return {n: (scores[f"{n}.precision"], scores[f"{n}.recall"]) for n in field_names(document)}


def _cells(document: ResultDocument, prefix: str, places: int) -> list[Cell]:
    keys = [f"{prefix}{score}" for score in ("precision", "recall", "f1")]
    return [score_cell(document.scores[k], document.intervals.get(k), places) for k in keys]


def _count(count: int | None) -> Cell:
    return Cell(format_count(count)) if count is not None else Cell()


def _number(value: float | None) -> float:
    return math.nan if value is None else value

# SPDX-License-Identifier: Apache-2.0
"""Documents as tidy CSV: one row for each number, full precision, undefined as an empty field."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Sequence

from assay.core.comparison import ComparisonDocument, Difference
from assay.core.diffs import DiffDocument
from assay.core.document import ResultDocument, SliceEntry
from assay.core.gates import Check, GateDocument
from assay.report.entries import score_entries, scored_examples, signature_of
from assay.report.words import texts_of

RESULT_COLUMNS = (
    *("system", "slice_column", "slice", "score", "value", "low", "high", "n", "signature"),
)
COMPARISON_COLUMNS = (
    *("system", "baseline", "slice_column", "slice", "score", "system_score", "baseline_score"),
    *("difference", "low", "high", "p", "p_adjusted", "test", "correction", "verdict", "n"),
    "signature",
)
DIFF_COLUMNS = (
    *("id", "change", "score", "baseline_score", "system_score", "gain"),
    *("gold", "baseline_prediction", "system_prediction"),
)
GATE_COLUMNS = (
    *("rule", "slice_column", "slice", "score", "limit", "status", "reason", "system_score"),
    *("baseline_score", "difference", "low", "high", "p", "p_adjusted", "test", "correction"),
    *("verdict", "n", "signature"),
)
Field = str | float | int


def result_csv(document: ResultDocument) -> str:
    """One row per score, first of the whole and then of each slice and macro average."""
    return _written(RESULT_COLUMNS, _result_rows(document))


def comparison_csv(document: ComparisonDocument) -> str:
    """One row per pair of systems and score, first of the whole and then of each slice."""
    rows = (_difference(d, document.signature) for d in (*document.differences, *document.slices))
    return _written(COMPARISON_COLUMNS, rows)


def diff_csv(document: DiffDocument) -> str:
    """One row per example; of several texts one per line of a field. Slices are columns behind."""
    columns = list(dict.fromkeys(c for e in document.examples for c in e.slices))
    rows: Iterator[list[Field]] = (
        [
            *(e.id, e.change, document.score.key, e.baseline_score, e.system_score, e.gain),
            *("\n".join(texts_of(v)) for v in (e.gold, e.baseline_prediction, e.system_prediction)),
            *(e.slices.get(column, "") for column in columns),
        ]
        for e in document.examples
    )
    return _written([*DIFF_COLUMNS, *columns], rows)


def gate_csv(document: GateDocument) -> str:
    """One row per check."""
    return _written(GATE_COLUMNS, (_check(c, document.signature) for c in document.checks))


def guarded(text: str) -> str:
    """The text with an apostrophe before it where a spreadsheet would run it as a formula.

    >>> guarded("=1+1"), guarded("plain")
    ("'=1+1", 'plain')
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r", "\n")) else text


def _result_rows(document: ResultDocument) -> Iterator[list[Field]]:
    whole = SliceEntry(scored_examples(document), document.scores, document.intervals)
    parts = [("", "", whole)]
    for column, by_value in document.slices.items():
        ordered = sorted(by_value.items(), key=lambda item: -item[1].n)
        parts += [(column, value, entry) for value, entry in ordered]
    parts += [(column, "(macro average)", entry) for column, entry in document.macros.items()]
    for column, value, entry in parts:
        for score in score_entries(document):
            if score.key in entry.scores:
                low, high = entry.intervals.get(score.key, (math.nan, math.nan))
                yield [
                    *(document.system, column, value, score.key, entry.scores[score.key]),
                    *(low, high, entry.n, signature_of(document, score.key)),
                ]


def _difference(d: Difference, signature: str) -> list[Field]:
    column, value = d.slice or ("", "")
    return [
        *(d.system, d.baseline, column, value, d.key, d.system_score, d.baseline_score),
        *(d.difference, *d.interval, d.p, d.p_adjusted, d.test, d.correction, d.verdict, d.n),
        signature,
    ]


def _check(c: Check, signature: str) -> list[Field]:
    column, value = c.slice or ("", "")
    start: list[Field] = [c.rule, column, value, c.key, c.limit, c.status, c.reason, c.score]
    d = c.difference
    if d is None:
        return [*start, *[""] * 9, c.n, signature]
    return [
        *start,
        *(d.baseline_score, d.difference, *d.interval, d.p, d.p_adjusted, d.test, d.correction),
        *(d.verdict, c.n, signature),
    ]


def _written(columns: Sequence[str], rows: Iterable[Sequence[Field]]) -> str:
    # A writer quotes what its own line end holds: with a plain line feed a carriage return within
    # a text would stay bare, and break the row for whoever reads it.
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\r\n")
    lines = []
    for row in (columns, *([_field(value) for value in row] for row in rows)):
        writer.writerow(row)
        lines.append(buffer.getvalue().removesuffix("\r\n"))
        buffer.seek(0)
        buffer.truncate()
    return "\n".join([*lines, ""])


def _field(value: Field) -> str:
    if isinstance(value, str):
        return guarded(value)
    if isinstance(value, float):
        return "" if math.isnan(value) else repr(float(value))  # a numpy float prints its type
    return str(value)

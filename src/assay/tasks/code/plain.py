# SPDX-License-Identifier: Apache-2.0
"""The plain output: the lines that the PLUR evaluator prints, and a first line with a summary."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from assay.core.document import ResultDocument
from assay.tasks.code.datasets import Dataset, Form
from assay.tasks.code.settings import Settings

DIGITS = 5

_REPAIR_FIELDS = (
    "total_buggy",
    "true_positive",
    "true",
    "localized",
    "localized_and_repaired",
    "raw_total",
    "raw_total_buggy",
    "raw_true_positive",
    "raw_true",
    "raw_localized",
    "raw_localized_and_repaired",
    "total_syntax_errors",
    "total_localized_but_not_repaired",
    "sequence_accuracy",
)
_COUNTS = {
    "total_buggy",
    "raw_total",
    "raw_total_buggy",
    "total_syntax_errors",
    "total_localized_but_not_repaired",
}


def whole_text(
    document: ResultDocument, settings: Settings, digits: int | None = None, details: bool = False
) -> str:
    """PLUR's lines, those of metrics that were asked for, slices as tables, details if wanted."""
    places = DIGITS if digits is None else digits
    found = [*_FORMS[settings.dataset.family.form](document, settings, places)]
    found += _asked(document, settings.dataset, places)
    if document.slices:
        found += ["", _slices(document, settings.dataset, digits)]
    if details and (text := details_text(document.extra)):
        found += ["", text]
    return "\n".join(found)


def _slices(document: ResultDocument, dataset: Dataset, digits: int | None) -> str:
    """Tables of the scores that the lines above them show."""
    from assay.report.entries import score_digits, score_entries
    from assay.report.result import slice_tables
    from assay.report.tables import render_blocks

    shown = {*dataset.family.shown, *_asked_keys(document, dataset)}
    entries = [entry for entry in score_entries(document) if entry.key in shown]
    tables = slice_tables(document, entries, score_digits(entries, [document], digits))
    return render_blocks(tables, "table").rstrip("\n")


def _as_lines(document: ResultDocument, settings: Settings, places: int) -> list[str]:
    family, scores = settings.dataset.family, document.scores
    found = []
    if family.summary and not settings.compat:
        names = zip(("Precision", "Recall", "F1-score"), family.summary, strict=True)
        found.append(", ".join(f"{name}: {scores[key]!r}" for name, key in names))
    found.append(f"total: {document.statistics['n']}")
    for key in family.shown:
        found += [_line(key, scores[key], places), *_bounds(document, key, places)]
    return found


def _bounds(document: ResultDocument, key: str, places: int) -> Iterator[str]:
    """The lines of a score's interval: PLUR's at several levels, or one of ours."""
    by_level = document.extra.get("plur_intervals")
    if by_level is not None:
        for side in ("lower", "upper"):
            yield f"{key}_{side}_ci: [{_numbers(by_level[side][key], places)}]"
    elif document.statistics["interval"] in ("bootstrap", "poisson"):
        bounds = document.intervals.get(key)
        if bounds is not None:
            yield f"{key}_ci: [{_numbers(bounds, places)}]"


def _numbers(values: Sequence[float], places: int) -> str:
    return ", ".join(f"{value:.{places}f}" for value in values)


def _as_classes(document: ResultDocument, settings: Settings, places: int) -> list[str]:
    scores = document.scores
    return _record(
        document,
        settings,
        places,
        {
            "total": document.statistics["n"],
            "accuracy": scores["accuracy"],
            "per_class_accuracies": dict(document.extra["per_class_accuracies"]),
            "mean_per_class_accuracy": scores["mean_per_class_accuracy"],
        },
    )


def _as_repairs(document: ResultDocument, settings: Settings, places: int) -> list[str]:
    raw = {"raw_total": settings.raw_total, "raw_total_buggy": settings.raw_total_buggy}
    held = {**document.scores, **{key: total or math.nan for key, total in raw.items()}}
    fields: dict[str, Any] = {"total": document.statistics["n"]}
    for key in _REPAIR_FIELDS:
        value = held[key]
        fields[key] = None if math.isnan(value) else int(value) if key in _COUNTS else value
    return _record(document, settings, places, fields)


def _record(
    document: ResultDocument, settings: Settings, places: int, fields: Mapping[str, Any]
) -> list[str]:
    """All on one line, and below it the intervals, which the original does not have for these."""
    found = [f"_AllResults({', '.join(f'{key}={value!r}' for key, value in fields.items())})"]
    for key in settings.dataset.family.shown:
        found += _bounds(document, key, places)
    return found


_FORMS: Mapping[Form, Callable[[ResultDocument, Settings, int], list[str]]] = {
    "lines": _as_lines,
    "classes": _as_classes,
    "repairs": _as_repairs,
}


def _asked_keys(document: ResultDocument, dataset: Dataset) -> list[str]:
    """Scores of the metrics that were asked for beyond the data set's own."""
    asked = document.metrics[len(dataset.family.metrics) :]
    return [score.key for entry in asked for score in entry.scores]


def _asked(document: ResultDocument, dataset: Dataset, digits: int) -> Iterator[str]:
    for key in _asked_keys(document, dataset):
        yield _line(key, document.scores[key], digits)
        yield from _bounds(document, key, digits)


def _line(key: str, value: float, digits: int) -> str:
    return f"{key}: {value:.{digits}f}"


def details_text(extra: Mapping[str, Any]) -> str:
    """Confusion matrix and top-k curve of a document, as tables.

    >>> print(details_text({"top_k": [0.5, 0.75]}))
    top-k    share
    1      0.50000
    2      0.75000
    """
    tables = []
    if "top_k" in extra:
        rows = [[str(k), f"{v:.{DIGITS}f}"] for k, v in enumerate(extra["top_k"], start=1)]
        tables.append(_table([["top-k", "share"], *rows]))
    if "confusion" in extra:
        tables.append(_confusion(extra["confusion"]))
    return "\n\n".join(tables)


def _confusion(matrix: Mapping[str, Mapping[str, int]]) -> str:
    """Gold classes as rows, predicted ones as columns numbered like the rows."""
    columns = list(dict.fromkeys([*matrix, *(p for row in matrix.values() for p in row)]))
    names = [f"{i} {name}" for i, name in enumerate(columns, start=1)]
    head = ["gold \\ predicted", *(str(i) for i in range(1, len(columns) + 1))]
    rows = [
        [names[columns.index(gold)], *(str(row.get(column, 0)) for column in columns)]
        for gold, row in matrix.items()
    ]
    others = [[name] for name, column in zip(names, columns, strict=True) if column not in matrix]
    return _table([head, *rows, *others])


def _table(rows: Sequence[Sequence[str]]) -> str:
    wide = max(map(len, rows))
    filled = [[*row, *[""] * (wide - len(row))] for row in rows]
    widths = [max(map(len, column)) for column in zip(*filled, strict=True)]
    return "\n".join(
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        ).rstrip()
        for row in filled
    )

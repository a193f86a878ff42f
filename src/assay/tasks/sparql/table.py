# SPDX-License-Identifier: Apache-2.0
"""What is printed: SPICE's boxed table, then scores with intervals and why queries failed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.core.document import ResultDocument
from assay.tasks.sparql.evaluation_file import FAR, NEAR
from assay.tasks.sparql.execution import FAILURE_RATES
from assay.tasks.sparql.kinds import TYPES

DIGITS = 4


def render(
    document: ResultDocument,
    *,
    digits: int | None = None,
    compat: str | None = None,
    **_: Any,
) -> str:
    """One block per question type; without `compat` also the scores with their intervals."""
    places = DIGITS if digits is None else digits
    evaluation: Mapping[str, Any] = document.extra.get("evaluation", {})
    held = {name: entries for name, entries in evaluation.items() if name in entries}
    many = len(evaluation) > 1
    lines: list[str] = []
    if not many:
        lines += list(evaluation)
    lines += [f"NA actions: {_unanswered(document)}"]
    lines += [f"Total samples: {document.statistics.get('n', 0)}"]
    for name, entries in held.items():
        lines += _boxed(name, entries, document, places, many)
        lines += [
            f"{c}: {entries[c]['em']:.{places}f}"
            for c in (NEAR, FAR)
            if c in entries and (compat is not None or entries[c]["instances"])
        ]
    if compat is not None:
        lines += [
            f"{name}: {value['em']:.{places}f}"
            for name, value in document.extra.get("summary", {}).items()
        ]
        lines += _failures(document)
    else:
        lines += _phenomena_box(document, places)
        lines += ["", _additions(document, digits)]
    return "\n".join(lines).rstrip("\n")


def _unanswered(document: ResultDocument) -> int:
    return sum(document.extra.get("unanswered", {}).values())


def _boxed(
    name: str, entries: Mapping[str, Any], document: ResultDocument, places: int, many: bool
) -> list[str]:
    answered = "precision" in entries[name] or "accuracy" in entries[name]
    if TYPES[name] != "set":
        columns = ["accuracy", "em"] if answered else ["em"]
    elif answered:
        columns = ["precision", "recall", "f1score", "em", "macro-f1score"]
    else:
        columns = ["em"]
    titles = {
        "accuracy": "Accuracy",
        "em": "EM",
        "precision": "Precision",
        "recall": "Recall",
        "f1score": "F1 Score",
        "macro-f1score": "Macro F1 Score",
    }
    head = ["Type", "#Instances", *(titles[c] for c in columns)]
    with_mismatch = "precision" in columns
    if with_mismatch:
        head.append("Missmatch")  # SPICE's spelling
    rows = []
    for key, entry in entries.items():
        if key in (NEAR, FAR) or "instances" not in entry or not set(columns) <= entry.keys():
            continue
        if key in _phenomena(document):
            continue
        row = [key, f"{entry['instances']:g}", *(f"{entry[c]:.{places}f}" for c in columns)]
        if with_mismatch:
            row.append(f"{_mismatches(key, name, document, many):g}")
        rows.append(row)
    return box(head, rows)


def _phenomena(document: ResultDocument) -> set[str]:
    return {name for name in document.macros if name not in document.slices}


def _phenomena_box(document: ResultDocument, places: int) -> list[str]:
    """Exact match by phenomenon: the mean over sub-types or distances, and over questions."""
    rows = []
    level = document.statistics.get("ci", 0)
    by_question: Mapping[str, Any] = document.extra.get("micro", {})
    for name in sorted(_phenomena(document)):
        macro = document.macros[name]
        if not macro.n:
            continue
        low, high = macro.intervals.get("em", (math.nan, math.nan))
        between = "" if math.isnan(low) else f"{low:.{places}f} to {high:.{places}f}"
        micro = by_question[f"{name}_micro"]
        rows.append(
            [
                name,
                f"{macro.n}",
                f"{macro.scores['em']:.{places}f}",
                *([between] if level else []),
                f"{micro['instances']}",
                f"{micro['em']:.{places}f}",
            ]
        )
    if not rows:
        return []
    shown = [f"{100 * level:g} % interval"] if level else []
    return box(["Phenomenon", "#Groups", "EM", *shown, "#Instances", "EM by question"], rows)


def _mismatches(key: str, name: str, document: ResultDocument, many: bool) -> float:
    slices = document.slices
    for column, value in (
        ("question_type", key),
        ("sub_type", key),
        ("context", f"{name}_{key}" if many else key),
    ):
        part = slices.get(column, {}).get(value)
        if part is not None and "mismatch" in part.scores:
            return round(part.n * part.scores["mismatch"])
    return 0.0


def box(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table in a frame, cells centred.

    >>> print("\\n".join(box(["Type", "EM"], [["a", "0.5"]])))
    +------+-----+
    | Type |  EM |
    +------+-----+
    |  a   | 0.5 |
    +------+-----+
    """
    widths = [max(len(row[i]) for row in [head, *rows]) for i in range(len(head))]
    rule = "+" + "+".join("-" * (w + 2) for w in widths) + "+"

    def line(cells: Sequence[str]) -> str:
        return (
            "|" + "|".join(f" {_centred(c, w)} " for c, w in zip(cells, widths, strict=True)) + "|"
        )

    return [rule, line(head), rule, *(line(row) for row in rows), rule]


def _centred(text: str, width: int) -> str:
    # The odd space goes to the left where the text has an even width, else to the right.
    space = width - len(text)
    left = space // 2 + (space % 2 if len(text) % 2 == 0 else 0)
    return " " * left + text + " " * (space - left)


def _additions(document: ResultDocument, digits: int | None) -> str:
    from assay.report.result import render_result

    # A failure class that did not occur is in the document, and would fill the table here.
    shown = {k: v for k, v in document.scores.items() if v != 0 or k not in FAILURE_RATES}
    metrics = tuple(
        replace(entry, scores=tuple(s for s in entry.scores if s.key in shown))
        for entry in document.metrics
    )
    slim = replace(document, slices={}, macros={}, metrics=metrics, scores=shown)
    lines = [render_result(slim, "table", digits)]
    lines += [f"{line}\n" for line in _failures(document)]
    gold = document.extra.get("gold check")
    if gold:
        lines.append(
            f"gold check: {gold['different']:,} of {gold['checked']:,} gold queries do not return "
            f"the gold answers, {gold['failed']:,} fail\n"
        )
    return "\n".join(lines)


def _failures(document: ResultDocument) -> list[str]:
    """Why there are questions without an answer, if there are any."""
    by_class: Mapping[str, int] = document.extra.get("unanswered", {})
    listed = ", ".join(f"{name} {n:,}" for name, n in by_class.items())
    return [f"without an answer: {listed}"] if listed else []

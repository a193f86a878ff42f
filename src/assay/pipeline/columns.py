# SPDX-License-Identifier: Apache-2.0
"""Agreement from a table that people made themselves: one row per item, one column per judge.

Columns are judges (`A`, `B`), or a question and a judge (`command_A`, `correct command A`). `item`,
`id`, `description` and the like are no judges, nor is `final`. `y` is yes, an empty cell is no
verdict, anything else is no.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from assay.core.errors import InputError
from assay.judge.agreement import agreement, judges_named
from assay.judge.answers import YES_NO, JudgeFacts
from assay.judge.coefficients import NOTHING, Weights
from assay.judge.documents import AgreementDocument, Disagreement
from assay.judge.sheets import reader_of
from assay.judge.verdict import answer_of

_NOT_JUDGES = ("item", "id", "description", "prediction", "template", "model", "error category")


def agreements_of_columns(
    path: Path,
    *,
    weights: Weights = "nominal",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 12345,
    between: Sequence[str] = (),
) -> AgreementDocument:
    """How far the judges of a CSV file agree, question by question; `between` names some judges,
    default all."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
        rows = list(reader_of(text, _separator(text.partition("\n")[0])))
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"not CSV in UTF-8 ({error})", path=path) from None
    if not rows:
        raise InputError("is empty", path=path, hint="its first line must name the judges")
    columns = _judge_columns(rows[0], path)
    names = judges_named(between, {judge for judges in columns.values() for judge in judges})
    if names:
        columns = {
            question: {judge: at for judge, at in judges.items() if judge in names}
            for question, judges in columns.items()
        }
    if not any(len(judges) > 1 for judges in columns.values()):
        raise InputError(
            f"there are no two columns of judges on one question (columns: {', '.join(rows[0])})",
            path=path,
            hint="name them A and B, or command_A and command_B",
        )
    body = [row for row in rows[1:] if any(row)]
    for row in body:
        if any(row[len(rows[0]) :]):
            raise InputError(
                f"a row has {len(row)} cells where the header names {len(rows[0])} "
                f"({', '.join(row)[:60]})",
                path=path,
                hint="put quotes around cells that hold a comma",
            )
    found = {}
    listed: list[Disagreement] = []
    said: dict[str, list[str]] = {}
    for question, judges in columns.items():
        if len(judges) < 2:
            continue
        ratings = np.full((len(body), len(judges)), NOTHING, dtype=np.int64)
        for i, row in enumerate(body):
            answers: dict[str, str] = {}
            for j, (judge, at) in enumerate(judges.items()):
                cell = row[at] if at < len(row) else ""
                if cell.strip():
                    answer = answer_of(cell)[0]
                    ratings[i, j] = YES_NO.index(answer)
                    answers[judge] = answer
                    said.setdefault(judge, []).append(answer)
            if len(set(answers.values())) > 1:
                final = _final(list(answers.values()))
                listed.append(
                    Disagreement(_name(rows[0], row, i), question, "", answers, {}, final)
                )
        found[question] = agreement(
            ratings,
            list(judges),
            YES_NO,
            question=question,
            weights=weights,
            level=level,
            resamples=resamples,
            seed=seed,
        )
    facts = tuple(
        JudgeFacts(judge, a.count("yes"), a.count("no"), 0, 0, 0, 0, 0, 0, 0.0)
        for judge, a in said.items()
    )
    return AgreementDocument(
        "",
        found,
        facts,
        tuple(listed),
        sum(d.final is None for d in listed),
        statistics={
            "ci": level,
            "resamples": resamples,
            "seed": seed,
            "weights": weights,
            "between": sorted(names) or None,
        },
    )


def _name(header: list[str], row: list[str], place: int) -> str:
    """The item as the table calls it, else the number of its row."""
    for at, title in enumerate(header):
        if title.strip().lower() in ("item", "id") and at < len(row) and row[at]:
            return row[at]
    return str(place + 1)


def _final(answers: list[str]) -> str | None:
    """What the first two say if they agree, else what the third says."""
    if answers[0] == answers[1]:
        return answers[0]
    return answers[2] if len(answers) > 2 else None


def _separator(header: str) -> str:
    """Comma, or what some spreadsheets write in its place."""
    return next((sign for sign in ",;\t" if sign in header), ",")


def _judge_columns(header: list[str], path: Path) -> dict[str, dict[str, int]]:
    """Columns by question and judge."""
    found: dict[str, dict[str, int]] = {}
    for at, title in enumerate(header):
        name = title.strip()
        if not name or name.lower() in _NOT_JUDGES:
            continue
        apart = name.rsplit(" " if name.startswith("correct ") else "_", 1)
        question, judge = apart if len(apart) == 2 else ("correct", name)
        question = question.removeprefix("correct ") or "correct"
        if judge.lower() in ("final", "template", "command"):
            continue
        judges = found.setdefault(question, {})
        if judge in judges:
            raise InputError(
                f"the column '{name}' is there twice",
                path=path,
                line=1,
                hint="name each judge once",
            )
        judges[judge] = at
    return found

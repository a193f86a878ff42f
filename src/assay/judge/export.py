# SPDX-License-Identifier: Apache-2.0
"""Verdicts for other programs: a sheet with the old columns, or one JSON object per item."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from assay.core.judging import Item, Question
from assay.judge.answers import answer_on
from assay.judge.queue import place_of
from assay.judge.sheets import COLUMNS, quoted_row
from assay.judge.store import Store
from assay.judge.verdict import Verdict, answer_of


def to_sheet(items: Sequence[Item], questions: Sequence[Question], store: Store) -> Iterator[str]:
    """Lines of a sheet: the final answer of each item, then what every judge said.

    A task that asks one question has its answers in the column `correct command`.
    """
    places = {place_of(item, question) for item in items for question in questions}
    judges = sorted(judge for judge, said in store.judges.items() if places & said.keys())
    columns = [*COLUMNS]
    for judge in judges:
        columns += [f"correct template {judge}", f"correct command {judge}"]
    yield ",".join(_plain(column) for column in columns) + "\n"
    for item in items:
        said = [_final_cell(store, item, q, questions) for q in questions]
        own = [[_cell(store.judges[j].get(place_of(item, q))) for q in questions] for j in judges]
        if not any(said) and not any(any(each) for each in own):
            continue
        cells = [item.description, item.prediction, item.structure or "", *_two(said)]
        for each in own:
            cells += _two(each)
        yield quoted_row(cells)


def to_lines(items: Sequence[Item], questions: Sequence[Question], store: Store) -> Iterator[str]:
    """One JSON object per item: what is final, and every verdict with its reason."""
    for item in items:
        final: dict[str, bool | None] = {}
        verdicts: list[dict[str, Any]] = []
        for question in questions:
            final[question.name] = answer_on(store, item, question, questions)
            sheet = store.sheets.get(place_of(item, question))
            said = [
                *([sheet] if sheet is not None else []),
                *store.of_judges(place_of(item, question)),
            ]
            verdicts += [
                {
                    "question": v.question,
                    "judge": v.judge,
                    "answer": v.answer,
                    "reason": v.reason,
                    "time": v.time or None,
                }
                for v in said
            ]
        data = {
            "id": item.id,
            "key": item.key,
            "prompt": item.prompt,
            "prediction": item.prediction,
            "structure": item.structure,
            "references": list(item.references),
            "matched": sorted(item.matched),
            "final": final,
            "verdicts": verdicts,
        }
        yield json.dumps(data, ensure_ascii=False) + "\n"


def _two(cells: list[str]) -> list[str]:
    return cells[:2] if len(cells) > 1 else ["", *cells]


def _cell(verdict: Verdict | None) -> str:
    if verdict is None or verdict.answer not in ("yes", "no"):
        return ""
    if verdict.is_yes:
        return "y"
    # A reason that would be read as a yes is better lost than its no.
    return "n" if answer_of(verdict.reason)[0] == "yes" else verdict.reason or "n"


def _final_cell(store: Store, item: Item, question: Question, questions: Sequence[Question]) -> str:
    found = store.find(*place_of(item, question))
    if found is not None:
        return _cell(found)
    # What agrees with gold by rule has no verdict; only what follows from one is written.
    if question.name not in item.matched and answer_on(store, item, question, questions) is False:
        return "n"
    return ""


def _plain(name: str) -> str:
    return name if not set(name) & set(',"\n') else quoted_row([name]).rstrip("\n")

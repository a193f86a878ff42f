# SPDX-License-Identifier: Apache-2.0
"""Where two systems go wrong: together, or each on its own, and for which reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from assay.core.errors import UsageError
from assay.judge.answers import answer_on
from assay.judge.documents import ErrorsDocument
from assay.judge.queue import place_of
from assay.judge.store import Store
from assay.pipeline.worklist import Worklist

Overlap = dict[str, int]


def errors_of_runs(work: Worklist, store: Store) -> ErrorsDocument:
    """What people say about the first predictions of two systems, example by example."""
    if len(work.systems) != 2:
        raise UsageError(
            "--errors is about two systems; give two runs (a table with a column model: assay "
            "commands errors FILE)"
        )
    overlap: dict[str, Overlap] = {}
    for question in work.questions:
        counts = _empty()
        for example in work.examples:
            first, second = (system.by_example.get(example, ())[:1] for system in work.systems)
            answers = [
                answer_on(store, side[0], question, work.questions) if side else False
                for side in (first, second)
            ]
            if None not in answers:
                counts[_cell(*map(bool, answers))] += 1
        overlap[question.name] = counts
    categories = {}
    for system in work.systems:
        firsts = [items[0] for items in system.by_example.values() if items]
        said = (
            verdict
            for item in firsts
            for question in work.questions
            if (verdict := store.find(*place_of(item, question))) is not None
        )
        categories[system.name] = _counted(v.reason for v in said if v.answer == "no")
    return ErrorsDocument(work.task, tuple(s.name for s in work.systems), overlap, categories)


def _empty() -> Overlap:
    return {"yy": 0, "yn": 0, "ny": 0, "nn": 0}


def _cell(first: bool, second: bool) -> str:
    return ("y" if first else "n") + ("y" if second else "n")


def _counted(reasons: Iterable[str]) -> tuple[tuple[str, int], ...]:
    """Most frequent first, of equal ones the one that was met first; empty ones do not count."""
    return tuple(Counter(filter(None, (reason.strip() for reason in reasons))).most_common())

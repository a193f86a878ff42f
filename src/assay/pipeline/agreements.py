# SPDX-License-Identifier: Apache-2.0
"""How far judges agree about the items of some runs, and what is left to settle."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.errors import UsageError
from assay.core.judging import Item
from assay.judge.agreement import agreement, judges_named
from assay.judge.answers import judge_facts, rated, reason_counts
from assay.judge.coefficients import Weights
from assay.judge.documents import AgreementDocument, Disagreement
from assay.judge.queue import place_of
from assay.judge.store import Store, final_verdict
from assay.pipeline.worklist import Worklist


def agreements(
    work: Worklist,
    store: Store,
    *,
    weights: Weights = "nominal",
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 12345,
    between: Sequence[str] = (),
) -> AgreementDocument:
    """How far the judges agree on these items, question by question; `between` names some judges,
    default all."""
    names = judges_named(between, store.history)
    questions = {}
    for question in work.questions:
        found = rated(
            store, question.name, places=work.places, with_unsure=weights != "nominal"
        ).between(names)
        if len(found.judges) >= 2:
            questions[question.name] = agreement(
                found.ratings,
                found.judges,
                found.categories,
                question=question.name,
                weights=weights,
                level=level,
                resamples=resamples,
                seed=seed,
            )
    if not questions:
        raise UsageError(
            "agreement needs at least two judges with verdicts on these items; let a second person "
            "judge with --judge NAME"
        )
    differing = [c for c in store.disagreements() if c.place in work.places]
    ids = {place_of(item, q): item.id for item in work.items for q in work.questions}
    listed = []
    for conflict in differing:
        final = final_verdict(conflict.verdicts)
        listed.append(
            Disagreement(
                ids[conflict.place],
                conflict.place[0],
                conflict.place[2],
                {v.judge: v.answer for v in conflict.verdicts},
                {v.judge: v.reason for v in conflict.verdicts if v.reason},
                None if final is None else final.answer,
            )
        )
    return AgreementDocument(
        work.task,
        questions,
        tuple(judge_facts(store, places=work.places)),
        tuple(listed),
        len(unsettled_items(work, store)),
        reason_counts(store, places=work.places),
        {
            "ci": level,
            "resamples": resamples,
            "seed": seed,
            "weights": weights,
            "between": sorted(names) or None,
        },
    )


def unsettled_items(work: Worklist, store: Store) -> list[Item]:
    """The items on which somebody has to decide: judges differ, or are unsure."""
    open_places = {conflict.place for conflict in store.unsettled()}
    return [
        item
        for item in work.items
        if any(place_of(item, question) in open_places for question in work.questions)
    ]


def said_by_others(work: Worklist, store: Store, item: Item) -> list[tuple[str, str]]:
    """What each judge says about an item, question by question, with the reason."""
    several = len(work.questions) > 1
    return [
        (
            verdict.judge,
            f"{question.name + ': ' if several else ''}{verdict.answer}"
            f"{f' ({verdict.reason})' if verdict.reason else ''}",
        )
        for question in work.questions
        for verdict in store.of_judges(place_of(item, question))
    ]

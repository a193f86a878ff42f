# SPDX-License-Identifier: Apache-2.0
"""Predicted queries as people judge them."""

from __future__ import annotations

import msgspec

from assay.core.judging import CORRECT, Item, Kept, item_key
from assay.tasks.sparql.pairs import Gold, Prediction, is_exact, returned


def items(example: Kept) -> list[Item]:
    """The predicted query as an item; none where there is no query.

    People judge the query, so that one is judged once however often it is run. What it returned,
    and what is right, are notes.
    """
    prediction = msgspec.convert(example.prediction, Prediction | None)
    gold = msgspec.convert(example.gold, Gold)
    if prediction is None or prediction.query is None:
        return []
    right = returned(gold.answers)
    references = (gold.query,) if gold.query is not None else ()
    notes = [f"gold returns: {right}"]
    if prediction.answers is not None or prediction.failure is not None:
        notes.append(f"prediction returns: {returned(prediction.answers, prediction.failure)}")
    kind = example.slices.get("description") or example.slices.get("question_type")
    return [
        Item(
            id=example.id,
            key=item_key(example.id, references or (right,)),
            prediction=prediction.query,
            references=references,
            prompt=gold.asked or "",
            example=example.id,
            matched=frozenset({CORRECT.name} if is_exact(prediction, gold) else ()),
            notes=(*((f"kind of question: {kind}",) if kind else ()), *notes),
            slices=example.slices,
        )
    ]

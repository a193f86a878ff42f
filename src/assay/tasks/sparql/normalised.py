# SPDX-License-Identifier: Apache-2.0
"""Exact match of queries rather than of texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.tasks.sparql.pairs import Gold, Prediction, is_exact


@lru_cache(maxsize=4_096)
def _form(text: str) -> str:
    from assay.tasks.sparql.canonical import canonical

    return canonical(text)


def is_same(prediction: Prediction, gold: Gold) -> bool:
    """Whether both queries are the same query, however they are written."""
    if is_exact(prediction, gold):
        return True
    text = prediction.compared
    if text is None or gold.query is None:
        return False
    return _form(text) == _form(gold.query)


@dataclass(frozen=True)
class NormalisedQuery(Metric):
    """Share of questions whose predicted query is the gold query, however it is written.

    Names of variables, prefixes and short forms, braces that change nothing, the order of triples,
    joined groups, UNION branches, VALUES rows and filters do not matter; DISTINCT, LIMIT, ORDER,
    what is counted, and which patterns are there do. From 0 to 1, higher is better, never below
    `em`.

    >>> gold = Gold("set", "SELECT ?x { wd:Q1 wdt:P2 ?x }", [])
    >>> NormalisedQuery().score([(Prediction("select ?y where { wd: q1 wdt: p2 ?y . }"), gold)])
    {'em_normalised': 1.0}
    """

    name: ClassVar[str] = "em_normalised"
    columns: ClassVar[tuple[str, ...]] = ("n", "same")
    scores: ClassVar[tuple[Score, ...]] = (Score("em_normalised", proportion=("same", "n")),)

    def measure(self, batch: Batch) -> Rows:
        """1 and whether the queries are the same, per example."""
        rows = np.ones((len(batch), 2))
        rows[:, 1] = [is_same(p, g) for p, g in zip(batch.predictions, batch.gold, strict=True)]
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Same queries over questions."""
        return {"em_normalised": ratio(totals.same, totals.n)}

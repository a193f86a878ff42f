# SPDX-License-Identifier: Apache-2.0
"""The metrics of SPICE: exact match of queries, pooled and averaged F1 of answers, accuracy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from operator import eq
from typing import Any, ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, f_score, ratio
from assay.tasks.sparql.pairs import Gold, Prediction, count_of

REFERENCE_LIMIT = 1_000
"""Answers above which SPICE's script keeps only the right ones of a set that is not right."""

_NOTHING: frozenset[str] = frozenset()

_SINGLE = 6
"""The first column about questions that are right or wrong as a whole."""


def _exact(predictions: Iterable[Any], golds: Iterable[Any]) -> list[bool]:
    """`is_exact` of each pair; most need no more than a look."""
    given = [p.query if p.failure is None else p.compared for p in predictions]
    right = [g.query for g in golds]
    return [
        a is not None and b is not None and (a == b or a.lower() == b.lower())
        for a, b in zip(given, right, strict=True)
    ]


@dataclass(frozen=True)
class ExactQuery(Metric):
    """Share of questions whose predicted query is the gold query, letter case aside.

    From 0 to 1, higher is better; a missing prediction is wrong, and so is every prediction
    where gold has no query. Spaces, names of variables and the order of triples all matter.
    Source: Perez-Beltrachini et al. (2023), "Semantic parsing for conversational question
    answering over knowledge graphs", and the script that comes with it.

    >>> gold = Gold("set", "SELECT ?x", [])
    >>> ExactQuery().score([(Prediction("select ?x"), gold), (Prediction(None), gold)])
    {'em': 0.5}
    """

    name: ClassVar[str] = "em"
    columns: ClassVar[tuple[str, ...]] = ("n", "exact")
    scores: ClassVar[tuple[Score, ...]] = (Score("em", proportion=("exact", "n")),)

    def measure(self, batch: Batch) -> Rows:
        """1 and whether the query is exact, per example."""
        rows = np.ones((len(batch), 2))
        rows[:, 1] = _exact(batch.predictions, batch.gold)
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Exact matches over questions."""
        return {"em": ratio(totals.exact, totals.n)}


@dataclass(frozen=True)
class Answers(Metric):
    """Answers of the predicted query against the gold answers, as SPICE scores them.

    Questions for sets: `precision`, `recall` and `f1` from hits pooled over questions, and
    `macro_f1`, the mean of each question's own F1 (0 where either side is empty). Questions for
    yes or no, or a number: `accuracy`. All from 0 to 1, higher is better, undefined where no
    question of that kind, or nothing to divide by, is there. `mismatch` is the share of set
    questions with an exact query and other answers than gold: a sign that gold and graph differ.

    `limit` bounds how many answers of a set are counted: a larger set counts as that many, or as
    its hits if these are more. 0 is no limit. `compat` is what SPICE's script does instead: a set
    that is wrong and larger than the limit is cut down to its hits.

    >>> gold = Gold("set", None, ["Q1", "Q2"])
    >>> found = Answers().score([(Prediction("q", ["Q1"]), gold)])
    >>> found["precision"], found["recall"], round(found["f1"], 3)
    (1.0, 0.5, 0.667)
    """

    limit: int = 0
    compat: bool = False

    name: ClassVar[str] = "answers"
    columns: ClassVar[tuple[str, ...]] = (
        *("hits", "wrong", "missed", "f1_sum", "n_sets", "mismatched"),
        *("right", "n_single", "numbers", "n_counts"),
    )
    scores: ClassVar[tuple[Score, ...]] = (
        Score("precision"),
        Score("recall"),
        Score("f1"),
        Score("macro_f1"),
        Score("accuracy", proportion=("right", "n_single")),
        Score("mismatch", higher_is_better=False, proportion=("mismatched", "n_sets")),
        Score("real_numbers", proportion=("numbers", "n_counts")),
    )
    perfect: ClassVar[bool] = False  # two empty sets have F1 0 here

    def measure(self, batch: Batch) -> Rows:
        """Hits, errors and sums per example."""
        rows = np.zeros((len(batch), len(self.columns)))
        sets = [g.kind == "set" for g in batch.gold]
        if all(sets):
            self._measure_sets(batch.predictions, batch.gold, rows)
            return rows
        where = np.flatnonzero(sets).tolist()
        part = np.zeros((len(where), len(self.columns)))
        self._measure_sets(
            [batch.predictions[i] for i in where], [batch.gold[i] for i in where], part
        )
        rows[where] = part
        for i in np.flatnonzero(~np.array(sets)).tolist():
            rows[i, _SINGLE:] = self._single(batch.predictions[i], batch.gold[i])
        return rows

    def _single(self, prediction: Prediction, gold: Gold) -> tuple[float, float, float, float]:
        """The last columns of a question that is right or wrong as a whole."""
        answers, right = prediction.answers, gold.answers
        if gold.kind == "boolean":
            return (isinstance(answers, bool) and answers == right, 1, 0, 0)
        if gold.kind == "count":
            number = count_of(answers)
            real = isinstance(answers, list) and len(answers) == 1 and answers[0].isnumeric()
            return (number is not None and number == right, 1, real, 1)
        wanted = right if isinstance(right, list) else []
        hits, predicted, size = (float(n[0]) for n in self._compared([answers], [wanted]))
        return (hits == predicted == size, 1, 0, 0)

    def _measure_sets(self, predictions: Sequence[Any], golds: Sequence[Any], rows: Rows) -> None:
        """Fill the first columns, column by column: in a batch most examples are alike."""
        right = [g.answers for g in golds]
        found = [p.answers for p in predictions]
        same = np.fromiter(map(eq, found, right), np.bool_, len(right))
        n_gold = np.fromiter(map(len, right), np.float64, len(right))
        # A list of one is not made a set, and where both lists are equal nothing is compared.
        several, differ = same & (n_gold > 1), ~same
        n_gold[several] = list(map(len, map(set, compress(right, several.tolist()))))
        hits, predicted = n_gold.copy(), n_gold.copy()
        mask = differ.tolist()
        hits[differ], predicted[differ], n_gold[differ] = self._compared(
            compress(found, mask), compress(right, mask)
        )
        wrong = (hits != predicted) | (hits != n_gold)
        mask = wrong.tolist()
        rows[wrong, 5] = _exact(compress(predictions, mask), compress(golds, mask))
        p, r = ratio(hits, predicted), ratio(hits, n_gold)
        rows[:, 0], rows[:, 1], rows[:, 2] = hits, predicted - hits, n_gold - hits
        rows[:, 3] = np.where(hits > 0, ratio(2 * p * r, p + r), 0.0)
        rows[:, 4] = 1

    def _compared(self, found: Iterable[Any], right: Iterable[list[str]]) -> tuple[Rows, ...]:
        """Hits, sizes of predicted sets (no list is no answer) and of gold sets."""
        counts: tuple[list[int], ...] = ([], [], [])
        for answers, wanted in zip(found, right, strict=True):
            predicted = set(answers) if isinstance(answers, list) else _NOTHING
            gold = set(wanted)  # given up at once: quicker than many sets side by side
            counts[0].append(len(predicted & gold))
            counts[1].append(len(predicted))
            counts[2].append(len(gold))
        hits, sizes, n_gold = np.array(counts, dtype=np.float64)
        if self.compat:
            large = sizes > (self.limit or REFERENCE_LIMIT)
            sizes = np.where(large & ((hits != sizes) | (hits != n_gold)), hits, sizes)
        elif self.limit:
            sizes = np.maximum(hits, np.minimum(sizes, self.limit))
        return hits, sizes, n_gold

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Pooled precision and recall, and means over questions."""
        precision = ratio(totals.hits, totals.hits + totals.wrong)
        recall = ratio(totals.hits, totals.hits + totals.missed)
        return {
            "precision": precision,
            "recall": recall,
            "f1": f_score(precision, recall),
            "macro_f1": ratio(totals.f1_sum, totals.n_sets),
            "accuracy": ratio(totals.right, totals.n_single),
            "mismatch": ratio(totals.mismatched, totals.n_sets),
            "real_numbers": ratio(totals.numbers, totals.n_counts),
        }

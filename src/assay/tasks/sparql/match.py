# SPDX-License-Identifier: Apache-2.0
"""The metrics of SPICE: exact match of queries, pooled and averaged F1 of answers, accuracy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, f_score, ratio
from assay.tasks.sparql.columns import Golds, Predictions
from assay.tasks.sparql.pairs import Measured, count_of, number_of

REFERENCE_LIMIT = 1_000
"""Answers above which SPICE's script keeps only the right ones of a set that is not right."""

_NOTHING: frozenset[str] = frozenset()

_SINGLE = 6
"""The first column about questions that are right or wrong as a whole."""


@dataclass(frozen=True)
class ExactQuery(Metric):
    """Share of questions whose predicted query is the gold query, letter case aside.

    From 0 to 1, higher is better; a missing prediction is wrong, and so is every prediction
    where gold has no query. Spaces, names of variables and the order of triples all matter.
    Source: Perez-Beltrachini et al. (2023), "Semantic parsing for conversational question
    answering over knowledge graphs", and the script that comes with it.

    >>> from assay.tasks.sparql.pairs import Gold, Prediction
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
        given, right = Predictions.of(batch.predictions), Golds.of(batch.gold)
        rows[:, 1] = given.exact(right.queries)
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

    >>> from assay.tasks.sparql.pairs import Gold, Prediction
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
        given, gold = Predictions.of(batch.predictions), Golds.of(batch.gold)
        exact = given.exact(gold.queries)
        found, right = given.answers, gold.answers
        if gold.kinds.count("set") == len(gold):
            self._measure_sets(found, right, exact, rows)
            return rows
        where = [i for i, kind in enumerate(gold.kinds) if kind == "set"]
        part = np.zeros((len(where), len(self.columns)))
        self._measure_sets([found[i] for i in where], [right[i] for i in where], exact[where], part)
        rows[where] = part
        for i, kind in enumerate(gold.kinds):
            if kind != "set":
                rows[i, _SINGLE:] = self._single(found[i], kind, right[i])
        return rows

    def _single(self, found: Any, kind: Measured, right: Any) -> tuple[float, float, float, float]:
        """The last columns of a question that is right or wrong as a whole."""
        if kind == "boolean":
            return (isinstance(found, bool) and found == right, 1, 0, 0)
        if kind == "count":
            number = count_of(found)
            real = isinstance(found, list) and len(found) == 1 and number_of(found[0]) is not None
            return (number is not None and number == right, 1, real, 1)
        hits, predicted, size = (float(counts[0]) for counts in self._compared([found], [right]))
        return (hits == predicted == size, 1, 0, 0)

    def _measure_sets(
        self, found: Sequence[Any], right: Sequence[Any], exact: NDArray[np.bool_], rows: Rows
    ) -> None:
        """Fill the first columns, for questions that all ask for sets."""
        hits, predicted, n_gold = self._compared(found, right)
        p, r = hits / np.maximum(predicted, 1), hits / np.maximum(n_gold, 1)
        rows[:, 0], rows[:, 1], rows[:, 2] = hits, predicted - hits, n_gold - hits
        np.divide(2 * p * r, p + r, out=rows[:, 3], where=hits > 0)  # else it stays 0
        rows[:, 4] = 1
        rows[:, 5] = ((hits != predicted) | (hits != n_gold)) & exact

    def _compared(
        self, found: Sequence[Any], right: Sequence[list[str]]
    ) -> tuple[Rows, Rows, Rows]:
        """Hits, sizes of predicted sets (no list is no answer), and of gold sets."""
        hits: list[int] = []
        sizes: list[int] = []
        wanted: list[int] = []
        for answers, gold in zip(found, right, strict=True):
            if answers == gold:  # most often, and most often with one answer: no set is needed
                n = len(gold) if len(gold) < 2 else len(set(gold))
                hits.append(n)
                sizes.append(n)
                wanted.append(n)
            else:
                predicted = set(answers) if isinstance(answers, list) else _NOTHING
                distinct = set(gold)
                hits.append(len(predicted & distinct))
                sizes.append(len(predicted))
                wanted.append(len(distinct))
        n = len(hits)
        n_hits, n_found, n_gold = (np.fromiter(c, np.float64, n) for c in (hits, sizes, wanted))
        if self.compat or self.limit:
            n_found = self._limited(n_hits, n_found, n_gold)
        return n_hits, n_found, n_gold

    def _limited(self, hits: Rows, sizes: Rows, wanted: Rows) -> Rows:
        """Sizes of predicted sets with the limit on answers applied."""
        if self.compat:
            large = sizes > (self.limit or REFERENCE_LIMIT)
            return np.where(large & ((hits != sizes) | (hits != wanted)), hits, sizes)
        return np.maximum(hits, np.minimum(sizes, self.limit))

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

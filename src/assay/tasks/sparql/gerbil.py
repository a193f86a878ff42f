# SPDX-License-Identifier: Apache-2.0
"""Answer sets as GERBIL and QALD score them, and two plainer measures on the same sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.tasks.sparql.dialect import is_count
from assay.tasks.sparql.pairs import Gold, Prediction, answer_set


def answer_sets(prediction: Prediction, gold: Gold) -> tuple[frozenset[str], frozenset[str]]:
    """Both answers as sets. A gold query that counts asks for a number, whatever the question type
    says: a clarification may lead up to a count.

    >>> gold = Gold("set", "SELECT (COUNT(*) AS ?n) WHERE { ?x ?y ?z }", ["Q1", "Q2"])
    >>> found, right = answer_sets(Prediction("...", ["2"]), gold)
    >>> found == right
    True
    """
    if gold.kind == "set" and gold.query and is_count(gold.query):
        wanted = len(set(gold.answers)) if isinstance(gold.answers, list) else 0
        return answer_set(prediction.answers, "count"), answer_set(wanted, "count")
    return answer_set(prediction.answers, gold.kind), answer_set(gold.answers, gold.kind)


@dataclass(frozen=True)
class Gerbil(Metric):
    """Precision, recall and F1 of answer sets by the rules of GERBIL's question answering.

    Numbers and truth values are sets of one. A question without hits has 1 for all three if both
    sets are empty, else 0. `gerbil_micro_*` applies the rule to counts over all questions,
    `gerbil_macro_*` are means over questions, and `qald_*` is the macro variant in which not
    answering costs no precision; its F1 is the harmonic mean of the two means, undefined where
    both are 0. `answer_accuracy` is the share of questions whose sets are equal, `jaccard` the
    mean of intersection over union. All from 0 to 1, higher is better.
    Source: Usbeck et al. (2019), "Benchmarking question answering systems", Semantic Web 10(2).

    >>> gold = Gold("set", None, ["Q1", "Q2"])
    >>> found = Gerbil().score([(Prediction("q", ["Q1"]), gold), (Prediction("q", []), gold)])
    >>> found["gerbil_macro_precision"], found["qald_precision"], found["qald_recall"]
    (0.5, 1.0, 0.25)
    """

    name: ClassVar[str] = "gerbil"
    columns: ClassVar[tuple[str, ...]] = (
        *("n", "hits", "predicted", "gold", "precision", "recall", "f1"),
        *("qald_precision", "qald_recall", "equal", "jaccard"),
    )
    scores: ClassVar[tuple[Score, ...]] = (
        *(Score(f"gerbil_micro_{name}") for name in ("precision", "recall", "f1")),
        *(Score(f"gerbil_macro_{name}") for name in ("precision", "recall", "f1")),
        *(Score(f"qald_{name}") for name in ("precision", "recall", "f1")),
        Score("answer_accuracy", proportion=("equal", "n")),
        Score("jaccard"),
    )

    def measure(self, batch: Batch) -> Rows:
        """Counts and the question's own values, per example."""
        rows = [self._row(p, g) for p, g in zip(batch.predictions, batch.gold, strict=True)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.columns))

    @staticmethod
    def _row(prediction: Prediction, gold: Gold) -> tuple[float, ...]:
        found, right = answer_sets(prediction, gold)
        hits, predicted, wanted = len(found & right), len(found), len(right)
        if hits == 0:
            empty = float(predicted == wanted == 0)
            abstained = 1.0 if predicted == 0 else 0.0
            return (1, 0, predicted, wanted, empty, empty, empty, abstained, empty, empty, empty)
        p, r = hits / predicted, hits / wanted
        f1 = 2 * p * r / (p + r)
        equal = float(hits == predicted == wanted)
        jaccard = hits / (predicted + wanted - hits)
        return (1, hits, predicted, wanted, p, r, f1, p, r, equal, jaccard)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The rule on summed counts, and means over questions."""
        nothing = np.where((totals.predicted == 0) & (totals.gold == 0), 1.0, 0.0)
        nothing = np.where(totals.n > 0, nothing, np.nan)
        some = totals.hits > 0
        micro_p = np.where(some, ratio(totals.hits, totals.predicted), nothing)
        micro_r = np.where(some, ratio(totals.hits, totals.gold), nothing)
        micro_f = np.where(
            some, 2 * totals.hits / np.maximum(totals.predicted + totals.gold, 1), nothing
        )
        qald_p = ratio(totals.qald_precision, totals.n)
        qald_r = ratio(totals.qald_recall, totals.n)
        return {
            "gerbil_micro_precision": micro_p,
            "gerbil_micro_recall": micro_r,
            "gerbil_micro_f1": micro_f,
            "gerbil_macro_precision": ratio(totals.precision, totals.n),
            "gerbil_macro_recall": ratio(totals.recall, totals.n),
            "gerbil_macro_f1": ratio(totals.f1, totals.n),
            "qald_precision": qald_p,
            "qald_recall": qald_r,
            "qald_f1": ratio(2 * qald_p * qald_r, qald_p + qald_r),
            "answer_accuracy": ratio(totals.equal, totals.n),
            "jaccard": ratio(totals.jaccard, totals.n),
        }

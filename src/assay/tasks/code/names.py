# SPDX-License-Identifier: Apache-2.0
"""Method names as tokens: precision, recall and F1, pooled over the corpus or averaged over names.

What a rule counts is declared in `RULES`; `overlap.overlap_of` is the definition of one pair.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value
from assay.core.names import unknown
from assay.core.text import TextLists
from assay.tasks.code.beams import candidates, first_best, gold_texts, owners, same_text
from assay.tasks.code.overlap import Rule, overlaps, unanswered
from assay.tasks.code.shares import share, trio

POOLED_RULES = {
    "plur": Rule(drop_predicted=("<OOV>", "<pad>")),
    "code2seq-original": Rule(
        drop_predicted=("<UNK>", "<PAD>", "</S>"), drop_gold=("<UNK>", "<PAD>", "</S>"), whole=True
    ),
}

AVERAGED_RULES = {
    "plur": Rule(fold=True, predicted_set=True),
    # The official scorer sees lists of tokens, in which an empty name has none.
    "ogb-official": Rule(predicted_set=True, gold_set=True, drop_predicted=("",), drop_gold=("",)),
}


def _missing(batch: Batch) -> list[int]:
    return np.flatnonzero(batch.missing).tolist() if batch.missing is not None else []


@dataclass(frozen=True)
class PooledNames(Metric):
    """Of all predicted name tokens, how many are right; of all gold tokens, how many were found.

    Counted over the whole corpus, so long names weigh more. 0 to 1, higher is better; 0 where
    nothing was predicted or nothing is gold. A repeated right token counts each time. `plur`
    leaves `<OOV>` and `<pad>` out of the prediction, not out of the gold; `code2seq-original` is
    the rule of the code2seq project: `<UNK>`, `<PAD>` and `</S>` are left out on both sides, and a
    name that is right once spaces are left out is right in all tokens. Source: PLUR (Chen et al.
    2021), code2seq (Alon et al. 2019). Of several candidates the first counts.

    >>> PooledNames().score([("get name <OOV>", "get size"), ("set", "set up now")])["f1_score"]
    0.5
    """

    name: ClassVar[str] = "names_pooled"
    columns = ("true_positives", "false_positives", "false_negatives")
    scores: ClassVar[tuple[Score, ...]] = (Score("precision"), Score("recall"), Score("f1_score"))
    perfect: ClassVar[bool] = False  # a gold name may hold tokens that predictions are rid of

    rules: str = "plur"

    def __post_init__(self) -> None:
        if self.rules not in POOLED_RULES:
            raise unknown("rules of names_pooled", self.rules, POOLED_RULES)

    def measure(self, batch: Batch) -> Rows:
        """Counts of each name."""
        gold = gold_texts(batch)
        each = np.arange(len(gold), dtype=np.int64)
        rule = POOLED_RULES[self.rules]
        counted = overlaps(candidates(batch).firsts(), gold, each, rule)
        rows = np.stack(counted, axis=1).astype(np.float64)
        for i in _missing(batch):
            rows[i] = unanswered(gold[i], rule)
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Precision, recall and F1 of the summed counts."""
        found = trio(totals.true_positives, totals.false_positives, totals.false_negatives)
        return found._asdict()


@dataclass(frozen=True)
class AveragedNames(Metric):
    """Precision, recall, F1 and exact match of the best candidate of each name, averaged.

    0 to 1, higher is better; a name without a right token adds 0. The best candidate is the first
    with the highest F1. `plur`: lower-cased tokens, predicted ones as a set, gold ones as a list,
    every candidate looked at; `ogb-official`: sets on both sides, case kept, first candidate only.
    `exact_match_percentage` is, despite its name, a share from 0 to 1: the chosen candidate is the
    gold text, case included. `pooled_*` are the counts of the chosen candidates summed up first.
    Source: PLUR (Chen et al. 2021), OGB (Hu et al. 2020).

    >>> AveragedNames().score([(["size", "Get"], "get name")])["f1_score"]
    0.6666666666666666
    """

    name: ClassVar[str] = "names_averaged"
    columns = (
        "n",
        "precision",
        "recall",
        "f1_score",
        "exact",
        "true_positives",
        "false_positives",
        "false_negatives",
    )
    scores: ClassVar[tuple[Score, ...]] = (
        Score("precision"),
        Score("recall"),
        Score("f1_score"),
        Score("exact_match_percentage", proportion=("exact", "n")),
        Score("pooled_precision"),
        Score("pooled_recall"),
        Score("pooled_f1_score"),
    )

    rules: str = "plur"

    def __post_init__(self) -> None:
        if self.rules not in AVERAGED_RULES:
            raise unknown("rules of names_averaged", self.rules, AVERAGED_RULES)

    def measure(self, batch: Batch) -> Rows:
        """Scores and counts of the chosen candidate of each name."""
        gold, beams = gold_texts(batch), candidates(batch)
        if self.rules == "ogb-official":
            beams = TextLists.single(beams.firsts())
        texts, owner = beams.values, owners(beams)
        counted = overlaps(texts, gold, owner, AVERAGED_RULES[self.rules])
        scored = trio(*counted)
        chosen = first_best(scored.f1_score, beams)
        rows = np.empty((len(gold), len(self.columns)))
        rows[:, 0] = 1
        for column, values in enumerate((*scored, *counted)):
            rows[:, column + 1 + (column > 2)] = values[chosen]
        # Only where all tokens agree can the texts be the same.
        alike = np.flatnonzero((counted[1][chosen] == 0) & (counted[2][chosen] == 0))
        rows[:, 4] = 0
        rows[alike, 4] = same_text(texts.take(chosen[alike]), gold.take(alike))
        for i in _missing(batch):
            rows[i, 1:] = 0, 0, 0, 0, *unanswered(gold[i], AVERAGED_RULES[self.rules])
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Means over names, and the scores of the summed counts."""
        pooled = trio(totals.true_positives, totals.false_positives, totals.false_negatives)
        return {
            "precision": share(totals.precision, totals.n),
            "recall": share(totals.recall, totals.n),
            "f1_score": share(totals.f1_score, totals.n),
            "exact_match_percentage": share(totals.exact, totals.n),
            **{f"pooled_{name}": value for name, value in pooled._asdict().items()},
        }

# SPDX-License-Identifier: Apache-2.0
"""Token precision, recall and F1.

Tokens are what white space separates (as Python's `str.split` does, in any script). Their order
does not matter, their number does: a token is right as often as both prediction and gold have it.

    precision = right / predicted      recall = right / gold      F1 = 2 right / (predicted + gold)

- `average=micro` adds the counts over the corpus and divides once: long texts weigh more. This is
  the F1 of code2seq and its successors. `average=macro` divides for each example and takes the mean
  over those where the value is defined: each example weighs the same. This is the F1 of SQuAD.
- Undefined: precision when nothing is predicted, recall when nothing is gold, micro F1 when there
  is neither in the whole corpus. An empty prediction of some gold has F1 0. An empty prediction
  where the gold is empty is right: its F1 is 1 in a macro average (as in SQuAD 2.0), and it leaves
  the sums of a micro average as they are.
- Of several references the one with the best F1 is taken, of equal ones the first. An example
  without references has an empty one.
- A missing prediction is an empty one that is never right: it takes the first reference that is
  not empty, and where all are empty it counts as one predicted token that is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from assay.core.answers import bare_answer
from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.core.names import unknown
from assay.core.references import candidates, first_lowest
from assay.core.text import Texts
from assay.metrics.overlap.tokens import Overlap, overlaps

Average = Literal["micro", "macro"]
Normalize = Literal["none", "squad"]

Count = NDArray[np.int64] | NDArray[np.float64]

_SCORES = ("token_precision", "token_recall", "token_f1")
_COUNTS = ("right", "predicted", "gold")
_MEANS = tuple(f"{score}_{part}" for score in _SCORES for part in ("sum", "count"))


@dataclass(frozen=True)
class TokenF1(Metric):
    """How many predicted tokens are right, how many gold tokens were found, and both in one.

    From 0 to 1, higher is better. `lowercase` compares in lower case; `average` is micro (sums of
    counts, then one division) or macro (mean over examples). `normalize=squad` compares without
    case, ASCII punctuation and English articles (Rajpurkar et al. 2016); `squad_f1` is short for
    the macro average of it.

    >>> TokenF1().score([("the cat sat", "a cat sat down"), ("yes", "no")])
    {'token_precision': 0.5, 'token_recall': 0.4, 'token_f1': 0.4444444444444444}
    >>> TokenF1(average="macro").score([("the cat sat", "a cat sat down"), ("yes", "no")])
    {'token_precision': 0.3333333333333333, 'token_recall': 0.25, 'token_f1': 0.2857142857142857}
    """

    lowercase: bool = False
    average: Average = "micro"
    normalize: Normalize = "none"

    name: ClassVar[str] = "token_f1"
    scores: ClassVar[tuple[Score, ...]] = tuple(Score(name) for name in _SCORES)
    aliases: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "squad_f1": {"average": "macro", "normalize": "squad"}
    }

    def __post_init__(self) -> None:
        if self.average not in get_args(Average):
            raise unknown("average of token_f1", self.average, get_args(Average))
        if self.normalize not in get_args(Normalize):
            raise unknown("normalize of token_f1", self.normalize, get_args(Normalize))

    @property
    def columns(self) -> tuple[str, ...]:
        """Counts for a micro average, sums and counts of values for a macro average."""
        return _COUNTS if self.average == "micro" else _MEANS

    def measure(self, batch: Batch) -> Rows:
        """Counts, or values, of each example against its best reference."""
        pairs = candidates(batch)
        predictions, gold = self._normal(pairs.predictions), self._normal(pairs.references)
        found = overlaps(predictions, gold)
        if batch.missing is not None:
            # Said nothing where nothing is to be said, but only because there was no answer.
            unanswered = batch.missing[pairs.owner] & (found.predicted + found.gold == 0)
            found = found._replace(predicted=np.where(unanswered, 1, found.predicted))
            worse = np.where(unanswered, 1.0, 0.0)  # any other reference comes before an empty one
        else:
            worse = np.zeros(len(pairs.owner))
        best = first_lowest(worse - _f1(found), pairs.splits)
        chosen = Overlap(*(counts[best] for counts in found))
        if self.average == "micro":
            return np.column_stack(chosen).astype(np.float64)
        values = _values(*chosen)
        values[2] = _f1(chosen)
        defined = ~np.isnan(values)
        rows = np.empty((len(batch), len(_MEANS)))
        rows[:, ::2] = np.where(defined, values, 0).T
        rows[:, 1::2] = defined.T
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Divide the counts, or take the means."""
        if self.average == "macro":
            return {s: ratio(totals[f"{s}_sum"], totals[f"{s}_count"]) for s in _SCORES}
        values = _values(*(totals[column] for column in _COUNTS))
        return dict(zip(_SCORES, values, strict=True))

    def _normal(self, texts: Texts) -> Texts:
        if self.normalize == "squad":
            return Texts.of(map(bare_answer, texts))
        if not self.lowercase:
            return texts
        packed = texts.compact()
        if packed.data.isascii():
            return Texts(packed.data.lower(), packed.starts, packed.ends)
        return Texts.of(text.lower() for text in texts)


def _values(right: Count, predicted: Count, gold: Count) -> Value:
    """Precision, recall and F1, one under the other."""
    return np.stack(
        [ratio(right, predicted), ratio(right, gold), ratio(2 * right, predicted + gold)]
    )


def _f1(found: Overlap) -> Value:
    """F1 of each example: right where there is nothing to say and nothing is said."""
    f1 = _values(*found)[2]
    return np.where(np.isnan(f1), 1.0, f1)

# SPDX-License-Identifier: Apache-2.0
"""Classes: share of right ones, over all examples and averaged over the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch, Pair
from assay.core.metric import Metric, PairMetric, Rows, Score, Totals, Value
from assay.core.names import unknown
from assay.tasks.code.beams import candidates, gold_texts
from assay.tasks.code.datasets import LABELS, MARKER
from assay.tasks.code.shares import share

OTHER = -1
"""The code of a prediction that is no class."""

_NO_GOLD = -2
"""The code of gold that is no class: nothing is right against it."""

_PLACES = 64
"""Room for the place of the marker in a code; labels are shorter."""


def first_text(prediction: object) -> str:
    """The prediction of a pair as text: of several candidates the first."""
    if isinstance(prediction, str):
        return prediction
    texts = list(prediction)  # type: ignore[call-overload]  # a pair holds a text or several
    return str(texts[0]) if texts else ""


@lru_cache(maxsize=4096)
def class_code(text: str, labels: str) -> int:
    """A number for a class text, one for each label and place of the marker; `OTHER` if it is none.

    The marker may stand anywhere in a label, and each place makes a class of its own.

    >>> class_code("CLASS_Correct", "docstring"), class_code("CorrCLASS_ect", "docstring")
    (0, 4)
    """
    place = text.find(MARKER)
    label = text.replace(MARKER, "", 1)
    if place < 0 or label not in LABELS[labels]:
        return OTHER
    return LABELS[labels].index(label) * _PLACES + place


@dataclass(frozen=True)
class ClassAccuracy(PairMetric):
    """Share of examples whose predicted class is the gold class, white space around it left out.

    0 to 1, higher is better; 0 if there are no examples. Source: CuBERT (Kanade et al. 2020) as
    scored by PLUR (Chen et al. 2021). Of several candidates the first counts.

    >>> ClassAccuracy().score([("CLASS_Correct ", "CLASS_Correct"), ("?", "CLASS_Correct")])
    {'accuracy': 0.5}
    """

    name: ClassVar[str] = "class_accuracy"
    columns = ("right", "n")
    scores: ClassVar[tuple[Score, ...]] = (Score("accuracy", proportion=("right", "n")),)

    def measure_pair(self, pair: Pair) -> Sequence[float]:
        """1 if right, out of 1."""
        right = first_text(pair.prediction).strip() == first_text(pair.gold).strip()
        return right and not pair.missing, 1

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Right examples out of all."""
        return {"accuracy": share(totals.right, totals.n)}


@dataclass(frozen=True)
class ClassMeans(Metric):
    """Accuracy of each class, averaged over the classes that occur in the gold, all alike.

    0 to 1, higher is better; 0 if there are no examples. A prediction that is no class is wrong.
    Rows hold the codes of both classes. Source: CuBERT (Kanade et al. 2020) as scored by PLUR (Chen
    et al. 2021).

    >>> ClassMeans("docstring").score(
    ...     [("CLASS_Correct", "CLASS_Correct"), ("?", "CLASS_Correct"), ("?", "CLASS_Incorrect")]
    ... )
    {'mean_per_class_accuracy': 0.25}
    """

    name: ClassVar[str] = "class_means"
    columns = ("gold", "predicted")
    merge: ClassVar = "concat"
    scores: ClassVar[tuple[Score, ...]] = (Score("mean_per_class_accuracy"),)

    labels: str = "exception"

    def __post_init__(self) -> None:
        if self.labels not in LABELS:
            raise unknown("labels", self.labels, LABELS)

    def measure(self, batch: Batch) -> Rows:
        """The codes of gold and predicted class."""
        sides = (gold_texts(batch), candidates(batch).firsts())
        codes = [[class_code(text.strip(), self.labels) for text in side] for side in sides]
        rows = np.array(codes, dtype=np.float64).T.reshape(len(batch), 2)
        rows[rows[:, 0] == OTHER, 0] = _NO_GOLD
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The mean over the classes of the gold."""
        return {"mean_per_class_accuracy": np.asarray(_mean_share(totals.values))}

    def per_example(self, rows: Rows) -> Mapping[str, Value]:
        """Of one example: whether it is right."""
        return {"mean_per_class_accuracy": (rows[:, 0] == rows[:, 1]).astype(np.float64)}


def _mean_share(rows: Rows) -> float:
    """The mean over the gold classes of the share of right ones."""
    if not len(rows):
        return 0.0
    gold = rows[:, 0].astype(np.int64) - _NO_GOLD
    seen = np.bincount(gold)
    right = np.bincount(gold, rows[:, 0] == rows[:, 1])
    first = np.full(len(seen), len(gold))
    first[gold[::-1]] = np.arange(len(gold) - 1, -1, -1)
    # Added up one by one as the classes first appear, so that the last printed digit is the same.
    order = np.argsort(first)[: np.count_nonzero(seen)]
    return float(np.cumsum(right[order] / seen[order])[-1] / len(order))

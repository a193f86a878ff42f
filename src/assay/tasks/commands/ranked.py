# SPDX-License-Identifier: Apache-2.0
"""Metrics that give each prediction a number: of the first one, and the best of the first k."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from assay.core.batch import Pair
from assay.core.errors import UsageError
from assay.core.metric import PairMetric, Score, Totals, Value, ratio
from assay.tasks.commands.accuracy import candidates


@dataclass(frozen=True)
class RankedMetric(PairMetric):
    """The mean of the first prediction's number, and of the best among the first `k`.

    A description without prediction has 0.
    """

    k: int = 3

    columns = ("first", "best", "examples")
    what: ClassVar[str]

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k={self.k} of {self.name} must be at least 1")

    @property
    def scores(self) -> tuple[Score, ...]:  # type: ignore[override]  # named after k
        """Two scores, named after the rank."""
        return tuple(Score(name) for name in dict.fromkeys(self._names()))

    def _names(self) -> tuple[str, str]:
        return f"top1_{self.what}", f"top{self.k}_{self.what}"

    @abstractmethod
    def value(self, prediction: str, references: Sequence[str]) -> float:
        """The number of one prediction, from 0 to 1."""

    def measure_pair(self, pair: Pair) -> tuple[float, float, float]:
        texts = candidates(pair)[: self.k]
        values = [self.value(text, list(pair.references)) for text in texts]
        return (values[0], max(values), 1.0) if values else (0.0, 0.0, 1.0)

    def finalise(self, totals: Totals) -> dict[str, Value]:
        first, best = self._names()
        return {
            first: ratio(totals.first, totals.examples),
            best: ratio(totals.best, totals.examples),
        }

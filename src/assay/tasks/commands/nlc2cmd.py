# SPDX-License-Identifier: Apache-2.0
"""The accuracy score of the NLC2CMD challenge: utilities and flags, weighed by confidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from typing import ClassVar, get_args

import numpy as np

from assay.core.batch import Batch
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.core.names import unknown
from assay.tasks.commands.accuracy import candidates
from assay.tasks.commands.forms import Mode, form
from assay.tasks.commands.parts import Used, utilities_used

CONFIDENCES = "confidences"


@dataclass(frozen=True)
class Nlc2Cmd(Metric):
    """How well utilities and flags of up to `k` predictions fit, each weighed by its confidence.

    From -1 to 1, more is better. Utilities are compared position by position: a wrong one costs 1,
    a right one earns 1/2 to 1 for its flags, less if there are flags too many or too few, down to
    losing it all. Arguments do not count. An example gets the best of its predictions, or the mean
    if none is above 0, and -1 without any. Without confidences in the file all are 1.

    The final version of the challenge's formula (NeurIPS 2020), in which a flag score is (twice the
    common flags minus all flags) over the larger number of flags. Commands are read as the
    challenge's parser reads them (`parser=nl2bash`): one that it refuses has no utilities.
    `parser=strict` reads redirections, lists and loops too.

    >>> metric = Nlc2Cmd()
    >>> metric.score([(["find . -type f | tail -n 5"], ["find . -type f -ctime -3 | tail -n 5"])])
    {'nlc2cmd': 0.75}
    """

    k: int = 5
    parser: str = "nl2bash"

    name: ClassVar[str] = "nlc2cmd"
    scores: ClassVar[tuple[Score, ...]] = (Score("nlc2cmd", low=-1.0),)
    columns = ("score", "examples")
    perfect: ClassVar[bool] = False  # a command that cannot be parsed has no utilities

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"k={self.k} of nlc2cmd must be at least 1")
        if self.parser not in get_args(Mode):
            raise unknown("parser", self.parser, get_args(Mode))

    def measure(self, batch: Batch) -> Rows:
        """The score of each example."""
        given = batch.columns.get(CONFIDENCES, [""] * len(batch))
        rows = np.ones((len(batch), 2))
        for row, pair, text in zip(rows, batch.pairs(), given, strict=True):
            predictions = candidates(pair)
            confidences = [float(value) for value in text.split()] or [1.0] * len(predictions)
            kept = [(p, c) for p, c in zip(predictions, confidences, strict=True) if p.strip()]
            row[0] = self._example(kept[: self.k], list(pair.references))
        return rows

    def _example(self, predictions: Sequence[tuple[str, float]], gold: Sequence[str]) -> float:
        values = [
            confidence * command_score(_used(text, self.parser), _used(prediction, self.parser))
            for text in gold
            for prediction, confidence in predictions
        ]
        if not values:
            return -1.0
        best = max(values)
        return best if best > 0 else sum(values) / len(values)

    def finalise(self, totals: Totals) -> dict[str, Value]:
        return {"nlc2cmd": ratio(totals.score, totals.examples)}


def command_score(gold: Sequence[Used], predicted: Sequence[Used]) -> float:
    """The score of one command, at confidence 1; 0 where neither has a utility."""
    pairs = list(zip_longest(gold, predicted))
    return sum(_utility_score(*pair) for pair in pairs) / len(pairs) if pairs else 0.0


def _utility_score(gold: Used | None, predicted: Used | None) -> float:
    if gold is None or predicted is None or gold.name.lower() != predicted.name.lower():
        return -1.0
    return (1 + _flag_score(gold.flags, predicted.flags)) / 2


def _flag_score(gold: frozenset[str], predicted: frozenset[str]) -> float:
    if not gold and not predicted:
        return 1.0
    common, every = len(gold & predicted), len(gold | predicted)
    return (2 * common - every) / max(1, len(gold), len(predicted))


@lru_cache(maxsize=1 << 14)
def _used(text: str, parser: str) -> list[Used]:
    return utilities_used(form(text, parser).body)

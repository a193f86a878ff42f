# SPDX-License-Identifier: Apache-2.0
"""Accuracy of commands and of their templates among the first predictions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from assay.core.batch import Batch, Pair
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.core.names import unknown
from assay.tasks.commands.forms import Mode
from assay.tasks.commands.verdicts import RIGHT, UNKNOWN, Known, from_letters, matched

TEMPLATE_LETTERS = "template_verdicts"
COMMAND_LETTERS = "command_verdicts"


@dataclass(frozen=True)
class CommandAccuracy(Metric):
    """Share of descriptions for which the first prediction, or one of the first `k`, is right.

    A command is right if a person said so, or, where nobody has said anything, if it matches a gold
    command; a template is right if the utilities and flags are, whatever the values. What nobody
    has judged and does not match counts as wrong, so that the score is a lower bound. 0 to 1, more
    is better, undefined without descriptions. Source: Lin et al. 2018, NL2Bash.

    >>> metric = CommandAccuracy()
    >>> scores = metric.score([(["ls -a x", "ls -al y"], ["ls -a -l y"])])
    >>> scores["top1_command_accuracy"], scores["top3_command_accuracy"]
    (0.0, 1.0)
    """

    k: int = 3
    match: str = "strict"

    name: ClassVar[str] = "accuracy"
    columns = ("command_1", "command_k", "template_1", "template_k", "examples")
    uses_verdicts: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"--top-k {self.k} must be at least 1")
        if self.match not in get_args(Mode):
            raise unknown("way to match", self.match, get_args(Mode))

    @property
    def scores(self) -> tuple[Score, ...]:  # type: ignore[override]  # named after k
        """Two scores for commands, two for templates."""
        found = {
            name: Score(name, proportion=(column, "examples"))
            for name, column in zip(self._names(), self.columns, strict=False)
        }
        return tuple(found.values())

    def _names(self) -> list[str]:
        return [
            f"top{rank}_{what}_accuracy" for what in ("command", "template") for rank in (1, self.k)
        ]

    def measure(self, batch: Batch) -> Rows:
        """From what is known of each prediction; by rule alone where a batch knows nothing."""
        rows = np.zeros((len(batch), len(self.columns)))
        rows[:, -1] = 1.0
        for row, known in zip(rows, self._known(batch), strict=True):
            for column, right in ((0, command_right), (2, template_right)):
                hits = [right(k) for k in known[: self.k]]
                row[column] = bool(hits) and hits[0]
                row[column + 1] = any(hits)
        return rows

    def _known(self, batch: Batch) -> list[list[Known]]:
        templates = batch.columns.get(TEMPLATE_LETTERS)
        commands = batch.columns.get(COMMAND_LETTERS)
        if templates is not None and commands is not None:
            return [from_letters(*both) for both in zip(templates, commands, strict=True)]
        mode: Mode = self.match  # type: ignore[assignment]  # checked above
        return [
            [matched(text, pair.references, mode) for text in candidates(pair)[: self.k]]
            for pair in batch.pairs()
        ]

    def finalise(self, totals: Totals) -> dict[str, Value]:
        return {
            name: ratio(totals[column], totals.examples)
            for name, column in zip(self._names(), self.columns, strict=False)
        }


def candidates(pair: Pair) -> Sequence[str]:
    """The predictions of a pair, best first."""
    return [pair.prediction] if isinstance(pair.prediction, str) else list(pair.prediction)


def template_right(known: Known) -> bool:
    """Whether the template counts as right."""
    return known.template in RIGHT


def command_right(known: Known) -> bool:
    """Whether the command counts as right."""
    return known.command in RIGHT


def template_possible(known: Known) -> bool:
    """Whether the template may still turn out right."""
    return known.template in RIGHT or known.template == UNKNOWN


def command_possible(known: Known) -> bool:
    """Whether the command may still turn out right: not after a no to its template."""
    return known.command in RIGHT or (known.command == UNKNOWN and known.template != "n")

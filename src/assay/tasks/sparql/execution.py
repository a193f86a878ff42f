# SPDX-License-Identifier: Apache-2.0
"""Whether predicted queries run at all, and why not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.tasks.sparql.pairs import FAILURES

FAILURE_RATES = {failure.replace(" ", "_") + "_rate": failure for failure in FAILURES}
"""Failure classes by the name of their score."""


@dataclass(frozen=True)
class Execution(Metric):
    """Share of questions whose predicted query gave an answer, and of each reason for none.

    `executable`: the query ran and its result could be read. `empty`: of these, the share that
    returned no row. The other scores are the shares of the failure classes. From 0 to 1;
    undefined where there is no question.

    >>> from assay.tasks.sparql.pairs import Gold, Prediction
    >>> gold = Gold("set", None, ["Q1"])
    >>> pairs = [(Prediction("q", []), gold), (Prediction("q", None, "syntax"), gold)]
    >>> found = Execution().score(pairs)
    >>> found["executable"], found["empty"], found["syntax_rate"]
    (0.5, 1.0, 0.5)
    """

    name: ClassVar[str] = "execution"
    columns: ClassVar[tuple[str, ...]] = ("n", "ran", "empty", *FAILURES)
    scores: ClassVar[tuple[Score, ...]] = (
        Score("executable", proportion=("ran", "n")),
        Score("empty", higher_is_better=False, proportion=("empty", "ran")),
        *(Score(n, higher_is_better=False, proportion=(f, "n")) for n, f in FAILURE_RATES.items()),
    )
    perfect: ClassVar[bool] = False  # gold answers may be empty

    def measure(self, batch: Batch) -> Rows:
        """One mark per example: ran, or the reason why not."""
        at = {failure: 3 + i for i, failure in enumerate(FAILURES)}
        rows = np.zeros((len(batch), len(self.columns)))
        rows[:, 0] = 1
        for i, prediction in enumerate(batch.predictions):
            if prediction.failure is None:
                rows[i, 1] = 1
                rows[i, 2] = prediction.answers == []
            else:
                rows[i, at[prediction.failure]] = 1
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Shares of all questions; empty ones of those that ran."""
        found = {
            "executable": ratio(totals.ran, totals.n),
            "empty": ratio(totals["empty"], totals.ran),
        }
        found.update(
            {name: ratio(totals[failure], totals.n) for name, failure in FAILURE_RATES.items()}
        )
        return found

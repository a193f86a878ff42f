# SPDX-License-Identifier: Apache-2.0
"""Is one system better than another: evidence that may be looked at after every verdict.

A usual test may be looked at once. This one multiplies evidence as in a fair bet: if the systems
are equally good it reaches 1/alpha, ever, with probability at most alpha, however often one looks
and whenever one stops.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

ALPHA = 0.05


def log_evidence(wins: int, losses: int) -> float:
    """Logarithm of the evidence against "both are equally good", from the items that differ.

    B(w + 1/2, l + 1/2) / B(1/2, 1/2) * 2^(w + l): what a bettor who knows nothing (Jeffreys' prior)
    would have won on fair coins.

    >>> round(math.exp(log_evidence(1, 0)), 9), round(math.exp(log_evidence(10, 0)), 2)
    (1.0, 180.43)
    """
    n = wins + losses
    beta = math.lgamma(wins + 0.5) + math.lgamma(losses + 0.5) - math.lgamma(n + 1)
    return beta - math.log(math.pi) + n * math.log(2)


@dataclass(slots=True)
class Evidence:
    """The running comparison: items on which exactly one system is right, and which one it was.

    >>> running = Evidence()
    >>> running.add_all([(True, False)] * 9 + [(True, True), (True, False)])
    >>> running.wins, running.ties, running.decision
    (10, 1, 'better')
    """

    wins: int = 0
    losses: int = 0
    ties: int = 0
    alpha: float = ALPHA
    largest: float = 0.0
    """Logarithm of the largest evidence so far; what was decided once stays decided."""
    decision: Literal["better", "worse", "undecided"] = "undecided"

    def add(self, first_right: bool, second_right: bool) -> None:
        """Take in the verdicts on one item."""
        if first_right == second_right:
            self.ties += 1
            return
        self.wins += first_right
        self.losses += second_right
        now = log_evidence(self.wins, self.losses)
        if now > self.largest:
            self.largest = now
        if self.decision == "undecided" and now >= -math.log(self.alpha):
            self.decision = "better" if self.wins > self.losses else "worse"

    def add_all(self, verdicts: Iterable[tuple[bool, bool]]) -> None:
        """Take in the verdicts on several items, in the order they were given."""
        for first, second in verdicts:
            self.add(first, second)

    @property
    def value(self) -> float:
        """The evidence now; 1 is none, above 1/alpha is enough."""
        return math.exp(min(700.0, log_evidence(self.wins, self.losses)))

    @property
    def p(self) -> float:
        """A p-value that holds at any time."""
        return min(1.0, math.exp(-self.largest))

    @property
    def decided(self) -> bool:
        """Whether more verdicts are needed."""
        return self.decision != "undecided"

    @property
    def items(self) -> int:
        """How many items were judged on both sides."""
        return self.wins + self.losses + self.ties

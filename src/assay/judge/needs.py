# SPDX-License-Identifier: Apache-2.0
"""What is still wanted of one judge, while they and others are at work."""

from __future__ import annotations

from typing import Literal

from assay.core.judging import Item, Question
from assay.judge.deciding import Deciding, Prediction, View
from assay.judge.others import Others
from assay.judge.queue import place_of
from assay.judge.store import Place
from assay.judge.verdict import Verdict

Which = Literal["all", "first", "only"]
"""What to ask: everything, what can still change a score first, or that and nothing else."""

Urgency = Literal["now", "later", "never"]


class Needs:
    """Which items a judge need not answer any more, and which can still change a score.

    An item need not be answered where an overlap asks for so many judges and as many others have
    decided it meanwhile, and, with `which` "only", where no score can change by it.
    """

    def __init__(
        self,
        view: View,
        deciding: Deciding,
        last: Question,
        *,
        which: Which = "all",
        others: Others | None = None,
    ) -> None:
        self.which = which
        self._view = view
        self._deciding = deciding
        self._last = last
        self._others = others
        self._said: set[Place] = set()
        self.look()

    def tell(self, verdict: Verdict) -> None:
        """What the judge has just said."""
        self._view.store.take(self._view.judge, verdict)
        self._said.add(verdict.place)

    def look(self) -> None:
        """Take note of what others have said meanwhile."""
        if self._others is not None:
            for judge, verdict in self._others.news():
                self._view.store.take(judge, verdict)
                self._said.add(verdict.place)

    def changed(self) -> tuple[set[Place], set[Prediction]]:
        """What something was said about since this was asked last, and the predictions for which
        it may matter beyond that."""
        places, self._said = self._said, set()
        return places, set().union(*(self._deciding.update(place) for place in places))

    def can_change(self, item: Item) -> bool:
        """Whether a verdict on the item can still change a score."""
        return item in self._deciding

    def urgency(self, item: Item) -> Urgency:
        """Whether an item that the judge has not answered is to be asked about."""
        if self._view.is_covered(place_of(item, self._last)):
            return "never"
        if self.which == "all" or self.can_change(item):
            return "now"
        return "later" if self.which == "first" else "never"

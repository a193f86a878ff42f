# SPDX-License-Identifier: Apache-2.0
"""Which predictions can still change a score.

A score asks whether one of a system's first k predictions for an example is right. Once one of them
is, verdicts on the others change nothing in it; while none is, each that nobody has judged may
still be the one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from assay.core.judging import Item, Question
from assay.judge.answers import answer_on
from assay.judge.queue import place_of
from assay.judge.store import Place, Store, final_verdict
from assay.judge.verdict import DECIDED, Verdict

Prediction = tuple[str, str]
"""Key and text: what a judge is shown once, whichever systems predicted it."""


def prediction_of(item: Item) -> Prediction:
    """What stands for an item, whichever system made it."""
    return item.key, item.prediction


class Measure(NamedTuple):
    """A score: the share of examples for which one of the first `top` predictions is right."""

    question: Question
    top: int


class View:
    """What counts as answered while one judge is at work.

    Sheets count, and so does what settles a disagreement. Of what others say as judges like
    oneself nothing does, because everybody is to answer on their own; with an `overlap` it counts
    where so many of them have decided. Whoever settles disagreements sees all.
    """

    def __init__(
        self, store: Store, judge: str, *, overlap: int | None = None, adjudicates: bool = False
    ) -> None:
        self.store = store
        self.judge = judge
        self.overlap = overlap
        self.adjudicates = adjudicates

    def find(self, question: str, key: str, text: str) -> Verdict | None:
        """The verdict that counts, if there is one."""
        place = (question, key, text)
        said = self.store.of_judges(place)
        if not self.adjudicates and not self._settled(said) and not self.is_covered(place):
            said = [verdict for verdict in said if verdict.judge == self.judge]
        return final_verdict(said) or self.store.sheets.get(place)

    def is_covered(self, place: Place) -> bool:
        """Whether as many others as the overlap asks for have decided."""
        if self.overlap is None:
            return False
        others = (v for v in self.store.of_judges(place) if v.judge != self.judge)
        return sum(v.answer in DECIDED for v in others) >= self.overlap

    def _settled(self, said: Iterable[Verdict]) -> bool:
        return any(v.purpose == "adjudication" and v.answer in DECIDED for v in said)


class Deciding:
    """The predictions that can still change a score, kept up to date verdict by verdict.

    `lists` are the predictions of one system for one example each, best first.
    """

    def __init__(
        self,
        lists: Iterable[Sequence[Item]],
        measures: Sequence[Measure],
        questions: Sequence[Question],
        view: View,
    ) -> None:
        self._measures = list(measures)
        self._questions = list(questions)
        self._view = view
        self._lists = [list(items) for items in lists]
        self._where: dict[Place, list[int]] = {}
        for number, items in enumerate(self._lists):
            for place in {place_of(item, q) for item in items for q in self._questions}:
                self._where.setdefault(place, []).append(number)
        self._open = [self._undecided(items) for items in self._lists]
        self._counts = Counter(prediction for found in self._open for prediction in found)

    def __contains__(self, item: Item) -> bool:
        """Whether a verdict on the item can still change a score."""
        return self._counts[prediction_of(item)] > 0

    def update(self, place: Place) -> set[Prediction]:
        """Take note that something was said; the predictions for which that may matter."""
        changed: set[Prediction] = set()
        for number in self._where.get(place, ()):
            before, now = self._open[number], self._undecided(self._lists[number])
            self._open[number] = now
            self._counts.subtract(before)
            self._counts.update(now)
            changed |= before ^ now
        return changed

    def _undecided(self, items: Sequence[Item]) -> frozenset[Prediction]:
        found: set[Prediction] = set()
        for question, top in self._measures:
            first = items[:top]
            answers = [answer_on(self._view, item, question, self._questions) for item in first]
            if True not in answers:
                found.update(
                    prediction_of(item)
                    for item, answer in zip(first, answers, strict=True)
                    if answer is None
                )
        return frozenset(found)

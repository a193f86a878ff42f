# SPDX-License-Identifier: Apache-2.0
"""What all verdicts together say: about one item, as a matrix for agreement, about the judges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from assay.core.judging import Item, Question
from assay.judge.coefficients import NOTHING, Ratings
from assay.judge.queue import CONTROL_YES, place_of
from assay.judge.store import Place, Store, in_force
from assay.judge.verdict import Verdict

FASTEST = 0.5
"""Seconds; answers that come faster than that come from a pipe."""
YES_NO = ("no", "yes")
WITH_UNSURE = ("no", "unsure", "yes")


class Finds(Protocol):
    """Whatever verdicts are looked up in: a store, or what one judge may know of it."""

    def find(self, question: str, key: str, text: str) -> Verdict | None:
        """The verdict that counts, if there is one."""


def answer_on(
    store: Finds, item: Item, question: Question, questions: Sequence[Question]
) -> bool | None:
    """Whether the prediction is right: a verdict if there is one, else the rule; None is unknown.

    A verdict counts even against an automatic match. A no to a question that this one needs is a
    no here too.
    """
    found = store.find(*place_of(item, question))
    if found is not None:
        return found.is_yes
    if question.name in item.matched:
        return True
    needed = next((q for q in questions if q.name == question.needs), None)
    if needed is not None and answer_on(store, item, needed, questions) is False:
        return False
    return None


def value_of(
    store: Finds, items: Iterable[Item], question: Question, questions: Sequence[Question]
) -> float:
    """1 if any of the items is right, 0 if all are wrong (or there is none), NaN if unknown."""
    answers = [answer_on(store, item, question, questions) for item in items]
    if any(answers):
        return 1.0
    return math.nan if None in answers else 0.0


@dataclass(frozen=True, slots=True)
class Rated:
    """The verdicts of all judges on one question: `ratings[i, j]` is judge j on place i."""

    judges: tuple[str, ...]
    places: tuple[Place, ...]
    categories: tuple[str, ...]
    ratings: Ratings

    def between(self, judges: Collection[str]) -> Rated:
        """The verdicts of these judges alone; of all where none is named."""
        if not judges:
            return self
        kept = [j for j, judge in enumerate(self.judges) if judge in judges]
        names = tuple(self.judges[j] for j in kept)
        return replace(self, judges=names, ratings=self.ratings[:, kept])


def rated(
    store: Store,
    question: str,
    *,
    places: Collection[Place] | None = None,
    with_unsure: bool = False,
) -> Rated:
    """What each judge said on their own; whoever settles a disagreement is not one of them."""
    categories = WITH_UNSURE if with_unsure else YES_NO
    said = {
        judge: in_force(v for v in history if v.purpose != "adjudication")
        for judge, history in sorted(store.history.items())
    }
    said = {
        judge: {
            place: verdict
            for place, verdict in verdicts.items()
            if place[0] == question
            and verdict.answer in categories
            and (places is None or place in places)
        }
        for judge, verdicts in said.items()
    }
    judges = tuple(judge for judge, verdicts in said.items() if verdicts)
    rows = list(dict.fromkeys(place for judge in judges for place in said[judge]))
    ratings = np.full((len(rows), len(judges)), NOTHING, dtype=np.int64)
    where = {place: i for i, place in enumerate(rows)}
    for j, judge in enumerate(judges):
        for place, verdict in said[judge].items():
            ratings[where[place], j] = categories.index(verdict.answer)
    return Rated(judges, tuple(rows), categories, ratings)


@dataclass(frozen=True, slots=True)
class JudgeFacts:
    """One judge in numbers. `repeats` are items that were asked about a second time, of which
    `steady` got the same answers as before; `controls` are items whose answer is known, of which
    `right` were answered as they should be."""

    judge: str
    yes: int
    no: int
    unsure: int
    skipped: int
    repeats: int
    steady: int
    controls: int
    right: int
    seconds: float

    @property
    def seconds_each(self) -> float:
        """Time per answer; NaN where none was given, or faster than people read."""
        given = self.yes + self.no + self.unsure
        each = self.seconds / given if given else 0.0
        return each if each >= FASTEST else math.nan


def judge_facts(store: Store, *, places: Collection[Place] | None = None) -> list[JudgeFacts]:
    """All judges who have said something, about `places` if these are given, by name."""
    keys = None if places is None else {key for _, key, _ in places}
    found = []
    for judge, history in sorted(store.history.items()):
        about = [verdict for verdict in history if keys is None or verdict.key in keys]
        if about:
            found.append(_facts(judge, about, places))
    return found


def _facts(judge: str, history: Sequence[Verdict], places: Collection[Place] | None) -> JudgeFacts:
    said = in_force(history)
    counted = [v.answer for p, v in said.items() if places is None or p in places]
    repeats = [
        [(v.answer, said[v.place].answer) for v in answers if v.place in said]
        for answers in _by_item(v for v in history if v.purpose == "repeat")
    ]
    known = [pairs for pairs in repeats if pairs]
    controls = _by_item(v for v in history if v.purpose == "control")
    return JudgeFacts(
        judge,
        counted.count("yes"),
        counted.count("no"),
        counted.count("unsure"),
        counted.count("skip"),
        len(known),
        sum(all(now == before for now, before in pairs) for pairs in known),
        len(controls),
        sum(_as_it_should(answers) for answers in controls),
        math.fsum(v.seconds or 0.0 for v in history),
    )


def _by_item(verdicts: Iterable[Verdict]) -> list[list[Verdict]]:
    """For each item that was answered, the last answers to its questions."""
    last: dict[tuple[str, str], dict[Place, Verdict]] = {}
    for verdict in verdicts:
        last.setdefault((verdict.id, verdict.prediction), {})[verdict.place] = verdict
    answers = ("yes", "no", "unsure")
    given = [[v for v in item.values() if v.answer in answers] for item in last.values()]
    return [each for each in given if each]


def _as_it_should(answers: Sequence[Verdict]) -> bool:
    """Whether a control was seen through. What is wrong may still have the right structure."""
    if answers[0].id.startswith(CONTROL_YES):
        return all(verdict.answer == "yes" for verdict in answers)
    return any(verdict.answer == "no" for verdict in answers)


def reason_counts(
    store: Store, *, places: Collection[Place] | None = None
) -> tuple[tuple[str, int], ...]:
    """The reasons given for a no, most frequent first, of equal ones in the order of letters."""
    counts = Counter(
        verdict.reason
        for said in store.judges.values()
        for place, verdict in said.items()
        if verdict.answer == "no" and verdict.reason and (places is None or place in places)
    )
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0])))

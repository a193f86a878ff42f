# SPDX-License-Identifier: Apache-2.0
"""How far a judge is with each entry of a queue, and which one comes next."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from assay.core.judging import Question
from assay.judge.deciding import Prediction, prediction_of
from assay.judge.memory import Memory, Slot
from assay.judge.needs import Needs
from assay.judge.queue import Entry, asks, place_of
from assay.judge.store import Place
from assay.judge.verdict import Verdict

State = Literal["open", "later", "skipped", "spared", "unsure", "done"]
"""Spared is what the judge has not answered and need not answer any more."""

Effect = Literal["deciding", "idle", "none"]
"""Whether a verdict on what is left can still change a score; none is what is not left, or a check
of the judge."""

LEFT: tuple[State, ...] = ("open", "later", "skipped")
"""What is still to be answered, in the order in which it is asked."""


def slot(entry: Entry, question: Question) -> Slot:
    """What an answer to a question about an entry is about."""
    return entry.purpose, place_of(entry.item, question)


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a judge is. `seconds_left` is an estimate from the pace so far.

    `skipped`, `deciding` and `idle` are among the items that are left: a verdict can still change a
    score, or it cannot; checks of the judge are neither. `spared` need no answer any more.
    """

    total: int
    done: int
    skipped: int
    unsure: int
    spared: int
    deciding: int
    idle: int
    seconds_per_item: float

    @property
    def left(self) -> int:
        """Items that are still to be answered, skipped ones included."""
        return self.total - self.done - self.spared

    @property
    def seconds_left(self) -> float:
        """How long the rest will take at this pace."""
        return self.left * self.seconds_per_item


class Agenda:
    """The entries of a queue, each with its state, kept up to date answer by answer.

    `settled` is what needs no answer whoever is asked. Queues are long and answers are about few
    items, so states are computed again only where something was said.
    """

    def __init__(
        self,
        entries: Sequence[Entry],
        questions: Sequence[Question],
        settled: Mapping[Place, Verdict],
    ) -> None:
        self.entries = list(entries)
        self.questions = list(questions)
        self._settled = settled
        self._where: dict[Slot, list[int]] = {}
        # Of what is said about an item, a repeat of it may depend; a control stands for itself.
        self._at: dict[Place, list[int]] = {}
        self._of: dict[Prediction, list[int]] = {}
        for index, entry in enumerate(self.entries):
            for question in self.questions:
                self._where.setdefault(slot(entry, question), []).append(index)
                if entry.purpose != "control":
                    self._at.setdefault(place_of(entry.item, question), []).append(index)
            if entry.purpose != "control":
                self._of.setdefault(prediction_of(entry.item), []).append(index)

    @property
    def slots(self) -> frozenset[Slot]:
        """All that an answer can be about."""
        return frozenset(self._where)

    def begin(self, memory: Memory, needs: Needs | None) -> None:
        """Take note of what was said in earlier sessions."""
        self._memory = memory
        self._needs = needs
        self._told = 0
        self._tell()
        self._states = [self._state(entry) for entry in self.entries]
        self._effects = [self._effect(index) for index in range(len(self.entries))]
        self._counts = Counter[str](self._states)
        self._counts.update(self._effects)
        memory.touched.clear()

    def update(self) -> None:
        """Take note of what has been said since."""
        touched = {index for each in self._memory.touched for index in self._where[each]}
        self._memory.touched.clear()
        touched |= self._tell()
        for index in touched:
            self._counts.subtract((self._states[index], self._effects[index]))
            self._states[index] = self._state(self.entries[index])
            self._effects[index] = self._effect(index)
            self._counts.update((self._states[index], self._effects[index]))

    def progress(self, seconds_per_item: float) -> Progress:
        """How far the judge is at this pace."""
        counts = self._counts
        return Progress(
            len(self.entries),
            counts["done"] + counts["unsure"],
            counts["skipped"],
            counts["unsure"],
            counts["spared"],
            counts["deciding"],
            counts["idle"],
            seconds_per_item,
        )

    def is_left(self, index: int) -> bool:
        """Whether an entry is still to be answered."""
        return self._states[index] in LEFT

    def next(self, after: int) -> int | None:
        """The next entry to ask about: from `after` on and round again, what was skipped last.

        The entry at `after` itself comes back only where nothing else is left.
        """
        for state in LEFT:
            if self._counts[state]:
                found = (i for i in self._round(after) if self._states[i] == state)
                if state != "skipped":
                    return next(found)
                return next((i for i in found if i != after), after)
        return None

    def _round(self, after: int) -> Iterator[int]:
        yield from range(after + 1, len(self.entries))
        yield from range(after + 1)

    # -- questions --------------------------------------------------------------------------------

    def asks(self, entry: Entry, question: Question) -> bool:
        """Whether a person has to answer this at all."""
        return asks(entry.item, question, self.questions, {} if entry.purpose else self._settled)

    def first_question(self, entry: Entry) -> int:
        """The number of the first question that is asked about an entry."""
        asked = (n for n, q in enumerate(self.questions) if self.asks(entry, q))
        return next(asked, len(self.questions) - 1)

    def open_question(self, entry: Entry) -> int | None:
        """The number of the first question without an answer."""
        for number, question in enumerate(self.questions):
            if not self.asks(entry, question):
                continue
            said = self._memory.said.get(slot(entry, question))
            if said is None and self._rules_out(entry, question):
                continue  # a crash came between a no and what follows from it
            if said is None or said.answer == "skip":
                return number
        return None

    def implied(self, question: Question) -> list[Question]:
        """Questions that are not asked after a no to this one."""
        found, names = [], {question.name}
        for other in self.questions:
            if other.needs in names:
                names.add(other.name)
                found.append(other)
        return found

    def find(self, verdict: Verdict, purpose_and_place: Slot) -> int | None:
        """The entry that a verdict is about, by its id if there are several."""
        found = self._where.get(purpose_and_place, [])
        named = (i for i in found if self.entries[i].item.id == verdict.id)
        return next(named, found[0] if found else None)

    def _rules_out(self, entry: Entry, question: Question) -> bool:
        needed = next((q for q in self.questions if q.name == question.needs), None)
        said = None if needed is None else self._memory.said.get(slot(entry, needed))
        return said is not None and said.answer in ("no", "unsure")

    # -- states -----------------------------------------------------------------------------------

    def _state(self, entry: Entry) -> State:
        number = self.open_question(entry)
        if number is None:
            last = self._memory.said.get(slot(entry, self.questions[-1]))
            return "unsure" if last is not None and last.answer == "unsure" else "done"
        urgency = self._urgency(entry)
        if urgency == "never":
            return "spared"
        if self._memory.said.get(slot(entry, self.questions[number])) is not None:
            return "skipped"
        return "open" if urgency == "now" else "later"

    def _urgency(self, entry: Entry) -> str:
        if self._needs is None or entry.purpose == "control":
            return "now"
        first = self.questions[self.first_question(entry)]
        if entry.purpose == "repeat" and ("", place_of(entry.item, first)) in self._memory.said:
            return "now"
        return self._needs.urgency(entry.item)

    def _effect(self, index: int) -> Effect:
        entry = self.entries[index]
        if entry.purpose or self._needs is None or not self.is_left(index):
            return "none"
        return "deciding" if self._needs.can_change(entry.item) else "idle"

    def _tell(self) -> set[int]:
        """Pass on what was said; the entries whose state may be another one now."""
        if self._needs is None:
            return set()
        verdicts = self._memory.log.verdicts
        for verdict in verdicts[self._told :]:
            self._needs.tell(verdict)
        self._told = len(verdicts)
        self._needs.look()
        places, predictions = self._needs.changed()
        found = {index for place in places for index in self._at.get(place, ())}
        return found | {i for prediction in predictions for i in self._of.get(prediction, ())}

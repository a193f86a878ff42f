# SPDX-License-Identifier: Apache-2.0
"""One judge at work: the item at hand, answers, undo and redo, skip and back, progress.

A session holds no state that a kill could lose: what was answered, skipped or taken back is in the
judge's log, and a new session over the same queue goes on where the last one stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median
from typing import Literal

from assay.core.judging import Question
from assay.judge.log import VerdictLog
from assay.judge.memory import Memory, Slot, slot_of
from assay.judge.queue import Entry, asks, place_of
from assay.judge.store import Place
from assay.judge.verdict import Answer, Purpose, Verdict, verdict_on

LONGEST_PAUSE = 120.0
"""Seconds; whoever takes longer was away, and that says nothing about the time still needed."""
USUAL_SECONDS = 15.0

State = Literal["open", "skipped", "unsure", "done"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is on the table: an entry, the question about it, and what was answered before."""

    index: int
    entry: Entry
    question: Question
    before: Verdict | None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a judge is. `seconds_left` is an estimate from the pace so far."""

    total: int
    done: int
    skipped: int
    unsure: int
    seconds_per_item: float

    @property
    def left(self) -> int:
        """Items without an answer, skipped ones included."""
        return self.total - self.done

    @property
    def seconds_left(self) -> float:
        """How long the rest will take at this pace."""
        return self.left * self.seconds_per_item


def utc_now() -> datetime:
    """The time, as verdicts carry it."""
    return datetime.now(UTC)


class Session:
    """A judge, a queue and a log.

    `settled` is what needs no answer whoever is asked: verdicts of sheets.
    """

    def __init__(
        self,
        log: VerdictLog,
        entries: Sequence[Entry],
        questions: Sequence[Question],
        *,
        settled: Mapping[Place, Verdict] | None = None,
        sample: str | None = None,
        adjudicates: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.log = log
        self.entries = list(entries)
        self.questions = list(questions)
        self.sample = sample
        self.adjudicates = adjudicates
        self._settled = settled or {}
        self._now = now
        self._where: dict[Slot, list[int]] = {}
        for index, entry in enumerate(self.entries):
            for question in self.questions:
                self._where.setdefault(self._slot(entry, question), []).append(index)
        self._memory = Memory(log, self._where.keys(), adjudicates=adjudicates, now=now)
        self._states = [self._state(entry) for entry in self.entries]
        self._counts = Counter(self._states)
        self._at: int | None = None
        self._question = 0
        self._visited: list[int] = []
        self._shown = self._now()
        self._go_on(-1)

    # -- what is asked ----------------------------------------------------------------------------

    @property
    def asked(self) -> Asked | None:
        """The item and question at hand; None when all is answered."""
        if self._at is None:
            return None
        entry, question = self.entries[self._at], self.questions[self._question]
        return Asked(self._at, entry, question, self._memory.said.get(self._slot(entry, question)))

    def answer_to(self, entry: Entry, question: Question) -> Verdict | None:
        """What this judge has said."""
        return self._memory.said.get(self._slot(entry, question))

    def is_done(self, entry: Entry) -> bool:
        """Whether nothing is left to ask about an entry; a skipped one is not done."""
        return self._next_question(entry) is None

    # -- answers ----------------------------------------------------------------------------------

    def answer(self, answer: Answer, reason: str = "") -> None:
        """Answer the question at hand; on disk when this returns."""
        asked = self.asked
        if asked is None:
            return
        seconds = min((self._now() - self._shown).total_seconds(), LONGEST_PAUSE)
        action = [self._verdict(asked.entry, asked.question, answer, reason, seconds)]
        for other in self._implied(asked.question):
            slot = self._slot(asked.entry, other)
            if answer in ("no", "unsure"):
                action.append(self._verdict(asked.entry, other, answer, ""))
            elif slot in self._memory.said:  # said before as a consequence; it has to be asked now
                action.append(self._verdict(asked.entry, other, "withdrawn", ""))
        self._memory.write(action)
        following = self._question + 1
        more = answer == "yes" and following < len(self.questions)
        if more and self._asks(asked.entry, self.questions[following]):
            self._show(asked.index, following)
        else:
            self._go_on(asked.index)

    def skip(self) -> None:
        """Leave the item for later; it comes again when all others are done."""
        asked = self.asked
        if asked is None:
            return
        self._memory.write([self._verdict(asked.entry, asked.question, "skip", "")])
        self._go_on(asked.index)

    def undo(self) -> bool:
        """Take back the last answer or skip and ask again; whether there was one."""
        taken_back = self._memory.undo()
        if taken_back is None:
            return False
        at = self._find(taken_back)
        if at is not None:
            if at in self._visited:  # back from here leads to what was seen before it
                last = len(self._visited) - 1 - self._visited[::-1].index(at)
                del self._visited[last:]
            self._at = None
            self._show(at, self._number(taken_back.question))
        return True

    def redo(self) -> bool:
        """Give the answer again that was taken back last; whether there was one."""
        given = self._memory.redo()
        if given is None:
            return False
        at = self._find(given)
        self._go_on(at if at is not None else -1)
        return True

    def back(self) -> bool:
        """Show the item before this one again, answered or not; whether there is one."""
        while self._visited:
            at = self._visited.pop()
            if at != self._at:
                self._at, self._question = at, self._first_question(self.entries[at])
                self._shown = self._now()
                return True
        return False

    def next(self) -> None:
        """Leave the item as it is and go on to the next open one."""
        if self._at is not None:
            self._go_on(self._at)

    def show(self, index: int) -> None:
        """Go to any entry, to answer it or to change the answer."""
        entry = self.entries[index]
        following = self._next_question(entry)
        self._show(index, self._first_question(entry) if following is None else following)

    # -- progress ---------------------------------------------------------------------------------

    @property
    def progress(self) -> Progress:
        """How far this judge is."""
        self._recount()
        done = self._counts["done"] + self._counts["unsure"]
        skipped, unsure = self._counts["skipped"], self._counts["unsure"]
        return Progress(len(self.entries), done, skipped, unsure, self._pace())

    @property
    def can_undo(self) -> bool:
        """Whether there is an answer to take back."""
        return self._memory.can_undo

    @property
    def can_redo(self) -> bool:
        """Whether there is an answer that was taken back."""
        return self._memory.can_redo

    def _pace(self) -> float:
        times: dict[str, float] = {}
        for verdict in self.log.verdicts[-200:]:
            if verdict.seconds is not None and verdict.answer != "withdrawn":
                times[verdict.id] = times.get(verdict.id, 0.0) + verdict.seconds
        return median(times.values()) if times else USUAL_SECONDS

    # -- inside -----------------------------------------------------------------------------------

    def _state(self, entry: Entry) -> State:
        number = self._next_question(entry)
        if number is not None:
            said = self._memory.said.get(self._slot(entry, self.questions[number]))
            return "open" if said is None else "skipped"
        last = self._memory.said.get(self._slot(entry, self.questions[-1]))
        return "unsure" if last is not None and last.answer == "unsure" else "done"

    def _recount(self) -> None:
        """Take note of what was answered; queues are long, and answers are about few items."""
        for slot in self._memory.touched:
            for index in self._where[slot]:
                state = self._state(self.entries[index])
                self._counts[self._states[index]] -= 1
                self._counts[state] += 1
                self._states[index] = state
        self._memory.touched.clear()

    def _slot(self, entry: Entry, question: Question) -> Slot:
        return entry.purpose, place_of(entry.item, question)

    def _asks(self, entry: Entry, question: Question) -> bool:
        """Whether a person has to answer this at all."""
        return asks(entry.item, question, self.questions, {} if entry.purpose else self._settled)

    def _next_question(self, entry: Entry) -> int | None:
        """The first question without an answer."""
        for number, question in enumerate(self.questions):
            if not self._asks(entry, question):
                continue
            said = self._memory.said.get(self._slot(entry, question))
            if said is None and self._rules_out(entry, question):
                continue  # a crash came between a no and what follows from it
            if said is None or said.answer == "skip":
                return number
        return None

    def _rules_out(self, entry: Entry, question: Question) -> bool:
        needed = next((q for q in self.questions if q.name == question.needs), None)
        said = None if needed is None else self._memory.said.get(self._slot(entry, needed))
        return said is not None and said.answer in ("no", "unsure")

    def _first_question(self, entry: Entry) -> int:
        asked = (n for n, q in enumerate(self.questions) if self._asks(entry, q))
        return next(asked, len(self.questions) - 1)

    def _implied(self, question: Question) -> list[Question]:
        """Questions that are not asked after a no to this one."""
        found, names = [], {question.name}
        for other in self.questions:
            if other.needs in names:
                names.add(other.name)
                found.append(other)
        return found

    def _go_on(self, after: int) -> None:
        """To the next open entry behind `after`, then from the start, then to what was skipped."""
        self._recount()
        n = len(self.entries)
        order = [range(after + 1, n), range(0, after + 1)]
        at = next((i for part in order for i in part if self._states[i] == "open"), None)
        if at is None and self._counts["skipped"]:
            skipped = (i for part in order for i in part if self._states[i] == "skipped")
            at = next((i for i in skipped if i != after), after)
        if at is None:
            if self._at is not None:
                self._visited.append(self._at)
            self._at = None
            return
        question = self._next_question(self.entries[at])
        assert question is not None, "an open entry has an open question"
        self._show(at, question)

    def _show(self, index: int, question: int) -> None:
        if self._at is not None and self._at != index:
            self._visited.append(self._at)
        self._at, self._question = index, question
        self._shown = self._now()

    def _verdict(
        self,
        entry: Entry,
        question: Question,
        answer: Answer,
        reason: str,
        seconds: float | None = None,
    ) -> Verdict:
        purpose: Purpose = entry.purpose or ("adjudication" if self.adjudicates else "")
        return verdict_on(
            entry.item,
            question,
            answer,
            judge=self.log.judge,
            time="",
            reason=reason,
            purpose=purpose,
            sample=self.sample,
            seconds=None if seconds is None else round(seconds, 1),
        )

    def _find(self, verdict: Verdict) -> int | None:
        slot = slot_of(verdict)
        number = self._number(verdict.question)
        question = self.questions[number]
        for index, entry in enumerate(self.entries):
            if self._slot(entry, question) == slot and entry.item.id == verdict.id:
                return index
        return next(
            (i for i, e in enumerate(self.entries) if self._slot(e, question) == slot), None
        )

    def _number(self, name: str) -> int:
        return next(n for n, question in enumerate(self.questions) if question.name == name)

# SPDX-License-Identifier: Apache-2.0
"""One judge at work: the item at hand, answers, undo and redo, skip and back, progress.

A session holds no state that a kill could lose: what was answered, skipped or taken back is in the
judge's log, and a new session over the same queue goes on where the last one stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import median

from assay.core.judging import Question
from assay.judge.agenda import Agenda, Progress, slot
from assay.judge.log import VerdictLog
from assay.judge.memory import Memory, slot_of
from assay.judge.needs import Needs
from assay.judge.queue import Entry
from assay.judge.store import Place
from assay.judge.verdict import Answer, Purpose, Verdict, verdict_on

LONGEST_PAUSE = 120.0
"""Seconds; whoever takes longer was away, and that says nothing about the time still needed."""
USUAL_SECONDS = 15.0


@dataclass(frozen=True, slots=True)
class Asked:
    """What is on the table: an entry, the question about it, and what was answered before."""

    index: int
    entry: Entry
    question: Question
    before: Verdict | None


def utc_now() -> datetime:
    """The time, as verdicts carry it."""
    return datetime.now(UTC)


class Session:
    """A judge, a queue and a log.

    `settled` is what needs no answer whoever is asked: verdicts of sheets. `needs` says what need
    not be answered any more, and which items can still change a score.
    """

    def __init__(
        self,
        log: VerdictLog,
        entries: Sequence[Entry],
        questions: Sequence[Question],
        *,
        settled: Mapping[Place, Verdict] | None = None,
        needs: Needs | None = None,
        sample: str | None = None,
        adjudicates: bool = False,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self.log = log
        self.sample = sample
        self.adjudicates = adjudicates
        self._now = now
        self._agenda = Agenda(entries, questions, settled or {})
        self._memory = Memory(log, self._agenda.slots, adjudicates=adjudicates, now=now)
        self._agenda.begin(self._memory, needs)
        self._at: int | None = None
        self._question = 0
        self._visited: list[int] = []
        self._shown = self._now()
        self._go_on(-1)

    @property
    def entries(self) -> list[Entry]:
        """The queue."""
        return self._agenda.entries

    @property
    def questions(self) -> list[Question]:
        """What is asked about each entry."""
        return self._agenda.questions

    # -- what is asked ----------------------------------------------------------------------------

    @property
    def asked(self) -> Asked | None:
        """The item and question at hand; None when all is answered."""
        if self._at is None:
            return None
        entry, question = self.entries[self._at], self.questions[self._question]
        return Asked(self._at, entry, question, self._memory.said.get(slot(entry, question)))

    def answer_to(self, entry: Entry, question: Question) -> Verdict | None:
        """What this judge has said."""
        return self._memory.said.get(slot(entry, question))

    def is_done(self, entry: Entry) -> bool:
        """Whether nothing is left to ask about an entry; a skipped one is not done."""
        return self._agenda.open_question(entry) is None

    # -- answers ----------------------------------------------------------------------------------

    def answer(self, answer: Answer, reason: str = "") -> None:
        """Answer the question at hand; on disk when this returns."""
        asked = self.asked
        if asked is None:
            return
        seconds = min((self._now() - self._shown).total_seconds(), LONGEST_PAUSE)
        action = [self._verdict(asked.entry, asked.question, answer, reason, seconds)]
        for other in self._agenda.implied(asked.question):
            if answer in ("no", "unsure"):
                action.append(self._verdict(asked.entry, other, answer, ""))
            elif slot(asked.entry, other) in self._memory.said:
                # Said before as a consequence; it has to be asked now.
                action.append(self._verdict(asked.entry, other, "withdrawn", ""))
        self._memory.write(action)
        self._agenda.update()
        following = self._agenda.open_question(asked.entry)
        stays = answer == "yes" and self._agenda.is_left(asked.index)
        if stays and following is not None and following > self._question:
            self._show(asked.index, following)
        else:
            self._go_on(asked.index)

    def skip(self, reason: str = "") -> None:
        """Leave the item for later; it comes again, with the reason, when all others are done."""
        asked = self.asked
        if asked is None:
            return
        self._memory.write([self._verdict(asked.entry, asked.question, "skip", reason)])
        self._agenda.update()
        self._go_on(asked.index)

    def undo(self) -> bool:
        """Take back the last answer or skip and ask again; whether there was one."""
        taken_back = self._memory.undo()
        if taken_back is None:
            return False
        self._agenda.update()
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
        self._agenda.update()
        at = self._find(given)
        self._go_on(at if at is not None else -1)
        return True

    def back(self) -> bool:
        """Show the item before this one again, answered or not; whether there is one."""
        while self._visited:
            at = self._visited.pop()
            if at != self._at:
                self._at, self._question = at, self._agenda.first_question(self.entries[at])
                self._shown = self._now()
                return True
        return False

    def look(self) -> None:
        """Take note of what others have said; go on if something is to be answered again."""
        self._agenda.update()
        if self._at is None:
            self._go_on(-1)

    def next(self) -> None:
        """Leave the item as it is and go on to the next open one."""
        if self._at is not None:
            self._agenda.update()
            self._go_on(self._at)

    def show(self, index: int) -> None:
        """Go to any entry, to answer it or to change the answer."""
        entry = self.entries[index]
        following = self._agenda.open_question(entry)
        self._show(index, self._agenda.first_question(entry) if following is None else following)

    # -- progress ---------------------------------------------------------------------------------

    @property
    def progress(self) -> Progress:
        """How far this judge is."""
        return self._agenda.progress(self._pace())

    @property
    def can_go_back(self) -> bool:
        """Whether an item was shown before this one."""
        return any(at != self._at for at in self._visited)

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

    def _go_on(self, after: int) -> None:
        """To the next entry behind `after` that is to be answered."""
        at = self._agenda.next(after)
        if at is None:
            if self._at is not None:
                self._visited.append(self._at)
            self._at = None
            return
        question = self._agenda.open_question(self.entries[at])
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
        return self._agenda.find(verdict, slot_of(verdict))

    def _number(self, name: str) -> int:
        return next(n for n, question in enumerate(self.questions) if question.name == name)

# SPDX-License-Identifier: Apache-2.0
"""What one judge has said about a queue, and what of it can be taken back and given again.

An answer is an action: one verdict, or several that follow from it and share its time. Nothing is
ever erased from the log. Undoing appends what was true before, with the time of the action that it
undoes, so that a later session knows what is left to undo.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from datetime import datetime, timedelta

import msgspec

from assay.judge.log import VerdictLog
from assay.judge.store import Place
from assay.judge.verdict import Purpose, Verdict

Slot = tuple[Purpose, Place]
"""What an answer is about; a control or a repeat is apart from the item itself."""


def slot_of(verdict: Verdict) -> Slot:
    """What a verdict is about."""
    purpose: Purpose = verdict.purpose if verdict.purpose in ("control", "repeat") else ""
    return purpose, verdict.place


class Memory:
    """Answers in force, and stacks of actions to undo and to redo.

    `touched` collects what answers were about, for those who keep count. Of the log only what is
    about `slots` counts. What one says to settle a disagreement, and what one says as one judge
    among others, are two things.
    """

    def __init__(
        self,
        log: VerdictLog,
        slots: Collection[Slot],
        *,
        adjudicates: bool,
        now: Callable[[], datetime],
    ) -> None:
        self.log = log
        self.said: dict[Slot, Verdict] = {}
        self.touched: set[Slot] = set()
        self._now = now
        self._done: list[list[Verdict]] = []
        self._undone: list[list[Verdict]] = []
        self._undone_at = ""
        for verdict in log.verdicts:
            if slot_of(verdict) not in slots:
                continue
            if adjudicates != (verdict.purpose == "adjudication"):
                continue
            self._replay(verdict)

    @property
    def can_undo(self) -> bool:
        """Whether there is an answer to take back."""
        return bool(self._done)

    @property
    def can_redo(self) -> bool:
        """Whether there is an answer that was taken back."""
        return bool(self._undone)

    def write(self, action: list[Verdict]) -> None:
        """Give an answer; what was taken back before cannot be given again after it."""
        self._write(action)
        self._undone.clear()

    def undo(self) -> Verdict | None:
        """Take back the last action; what it was about."""
        if not self._done:
            return None
        action = self._done[-1]
        stamp, undoes = self._stamp(), action[0].time
        restored = [
            msgspec.structs.replace(self._before(verdict), time=stamp, undoes=undoes)
            for verdict in action
        ]
        self._append(restored)
        self._undone.append(self._done.pop())
        return action[0]

    def redo(self) -> Verdict | None:
        """Give the answer again that was taken back last; what it was about."""
        if not self._undone:
            return None
        action = self._undone[-1]
        self._write(action)
        self._undone.pop()
        return action[0]

    def _write(self, action: list[Verdict]) -> None:
        stamp = self._stamp()
        written = [msgspec.structs.replace(verdict, time=stamp) for verdict in action]
        self._append(written)
        self._done.append(written)

    def _append(self, verdicts: list[Verdict]) -> None:
        """What cannot be written has not been said."""
        self.log.append(*verdicts)
        for verdict in verdicts:
            self._take(verdict)

    def _take(self, verdict: Verdict) -> None:
        self.touched.add(slot_of(verdict))
        if verdict.answer == "withdrawn":
            self.said.pop(slot_of(verdict), None)
        else:
            self.said[slot_of(verdict)] = verdict

    def _replay(self, verdict: Verdict) -> None:
        self._take(verdict)
        if verdict.undoes is not None:
            self._forget(verdict.undoes, verdict.time)
        elif self._done and _is_same_action(self._done[-1][0], verdict):
            self._done[-1].append(verdict)
        else:
            self._done.append([verdict])

    def _forget(self, undone: str, at: str) -> None:
        """Of actions of the same time, which other programs may write, the last one is undone."""
        if at == self._undone_at:
            return  # a further record of the same undoing
        self._undone_at = at
        times = [action[0].time for action in self._done]
        if undone in times:
            del self._done[len(times) - 1 - times[::-1].index(undone)]

    def _before(self, verdict: Verdict) -> Verdict:
        """What was true before the last action: an answer that has not been taken back, or none."""
        slot = slot_of(verdict)
        said = (each for action in reversed(self._done[:-1]) for each in reversed(action))
        earlier = next((each for each in said if slot_of(each) == slot), None)
        if earlier is None or earlier.answer == "withdrawn":
            return msgspec.structs.replace(verdict, answer="withdrawn", reason="")
        return earlier

    def _stamp(self) -> str:
        """A time that no earlier verdict of this judge has."""
        stamp = self._now().isoformat(timespec="microseconds").replace("+00:00", "Z")
        last = self.log.verdicts[-1].time if self.log.verdicts else ""
        if stamp.removesuffix("Z") > last.removesuffix("Z"):
            return stamp
        after = datetime.fromisoformat(last) + timedelta(microseconds=1)
        return after.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _is_same_action(first: Verdict, verdict: Verdict) -> bool:
    """Whether a verdict was written together with another one: about one item, at one moment."""
    return (first.time, first.id) == (verdict.time, verdict.id)

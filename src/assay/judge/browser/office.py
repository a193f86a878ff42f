# SPDX-License-Identifier: Apache-2.0
"""Who sits where: one log and one session per judge, opened when they come in."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple, Protocol

from assay.core.judging import Item, Question
from assay.judge.documents import AgreementDocument
from assay.judge.log import VerdictLog, log_path
from assay.judge.session import Session
from assay.judge.store import Store
from assay.judge.verdict import judge_name

Room = Literal["judge", "adjudicate"]

# As long as fits on a narrow phone.
_FLAG = re.compile(r"(?<!\S)(-\S{1,23})(?!\S)")


class Piece(Protocol):
    """A part of a text: the same on both sides, or on one only."""

    @property
    def kind(self) -> str:
        """`same`, `deleted` or `inserted`."""

    @property
    def text(self) -> str:
        """The text itself."""


class Looks(NamedTuple):
    """How texts become HTML: `safe` escapes, `diff` gives the pieces of gold and prediction."""

    safe: Callable[[str], str]
    diff: Callable[[str, str], tuple[Sequence[Piece], Sequence[Piece]]]

    def judged(self, text: str) -> str:
        """What is judged, or gold, as HTML. Flags are kept whole: a browser would end lines behind
        their dashes."""
        pieces = _FLAG.split(text)
        pieces[::2] = map(self.safe, pieces[::2])
        pieces[1::2] = (f"<span class='flag'>{self.safe(flag)}</span>" for flag in pieces[1::2])
        return "".join(pieces)


@dataclass(frozen=True)
class Brief:
    """What is judged and how; the same for all judges.

    `open_log` opens the log of a judge, `open_session` makes their session from it. `store` reads
    all verdicts again. `asked_first` says it where not everything is asked, or not in any order.
    `running` says how a comparison stands, where there is one. `room` is where judges come in.
    """

    title: str
    folder: Path
    questions: Sequence[Question]
    items: Sequence[Item]
    guidelines: str
    keys: dict[str, str]
    reasons: Sequence[str]
    looks: Looks
    open_log: Callable[[str], VerdictLog]
    open_session: Callable[[VerdictLog, Room], Session]
    store: Callable[[], Store]
    agreement: Callable[[], AgreementDocument]
    export: Callable[[str], str]
    asked_first: str = ""
    running: Callable[[VerdictLog], tuple[str, bool]] | None = None
    room: Room = "judge"


@dataclass
class Seat:
    """One judge: the log, locked while the server runs, and a session for each room."""

    log: VerdictLog
    sessions: dict[Room, Session] = field(default_factory=dict)


class Office:
    """All judges of a server."""

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self._seats: dict[str, Seat] = {}

    def knows(self, name: str) -> bool:
        """Whether a judge has come in, now or before the server started."""
        judge = judge_name(name)
        return judge in self._seats or log_path(self.brief.folder, judge).exists()

    def session(self, name: str, room: Room) -> Session:
        """The session of a judge, opened if need be; raises where the name is in use elsewhere."""
        judge = judge_name(name)
        seat = self._seats.get(judge)
        if seat is not None and not seat.log.is_current:
            seat.log.close()  # git has brought another one; what is in it counts from now on
            seat = None
        if seat is None:
            seat = self._seats[judge] = Seat(self.brief.open_log(judge))
        found = seat.sessions.get(room)
        # Disagreements come up while others judge: who settles them gets the new ones, too.
        if found is None or (room == "adjudicate" and found.asked is None):
            found = seat.sessions[room] = self.brief.open_session(seat.log, room)
        else:
            found.look()
        return found

    def log(self, name: str) -> VerdictLog:
        """The log of a judge who has come in."""
        return self._seats[judge_name(name)].log

    def present(self) -> dict[str, Session]:
        """The judges who have come in since the server started."""
        return {
            judge: seat.sessions[self.brief.room]
            for judge, seat in sorted(self._seats.items())
            if self.brief.room in seat.sessions
        }

    def close(self) -> None:
        """Let others judge under these names."""
        for seat in self._seats.values():
            seat.log.close()
        self._seats.clear()

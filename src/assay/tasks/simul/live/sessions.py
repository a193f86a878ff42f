# SPDX-License-Identifier: Apache-2.0
"""The sessions of a server: one per client that names itself, and one for all that do not.

With an output folder the default session keeps its log and files there, any other in a folder of
its name below `sessions`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from assay.core.errors import InputError, UsageError
from assay.tasks.simul.events import Event, EventLog, Header, read_events
from assay.tasks.simul.live.corpus import Corpus
from assay.tasks.simul.live.session import Session

DEFAULT = "default"
LIMIT = 1_000
"""Sessions of one server; each holds a state per sentence."""

LOG = "events.jsonl"
OLD_LOG = "requests.jsonl"
"""The log under the old rule, in which end marks are words: not one that is scored as it is."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


def is_name(name: str) -> bool:
    """Whether a session may have this name, which is also that of a folder.

    >>> is_name("wait-3.run1"), is_name("../x"), is_name("")
    (True, False, False)
    """
    return _NAME.fullmatch(name) is not None


@dataclass(slots=True)
class Client:
    """A session with its log and folder; `middle` once it has spoken SimulEval 1.0's dialect."""

    session: Session
    folder: Path | None = None
    log: LateLog | None = None
    middle: bool = False
    writing: Lock = field(default_factory=Lock)

    def close(self) -> None:
        """Close the log."""
        if self.log is not None:
            self.log.shut()


class LateLog:
    """An event log that is made when the first sentence is opened: many a session has none.

    A log that is there already, and is not to be resumed, is kept under another name.
    """

    def __init__(self, path: Path, header: Header, *, resume: bool) -> None:
        self._path = path
        self._header = header
        self._log: EventLog | None = None
        self._resume = resume

    def begin(self) -> EventLog:
        """The log, made now if need be."""
        if self._log is None:
            if not self._resume:
                keep_aside(self._path)
            self._log = EventLog(self._path, self._header, resume=self._resume)
        return self._log

    def open(self, id: str, **about: Any) -> None:
        """A sentence begins."""
        self.begin().open(id, **about)

    def step(self, id: str, event: Event) -> None:
        """A step of a sentence."""
        self.begin().step(id, event)

    def close(self, id: str, *, at: float | None) -> None:
        """A sentence has ended."""
        self.begin().close(id, at=at)

    def shut(self) -> None:
        """No more lines."""
        if self._log is not None:
            self._log.shut()


@dataclass
class Sessions:
    """All sessions of a server."""

    corpus: Corpus
    output: Path | None = None
    old: bool = False
    clients: dict[str, Client] = field(default_factory=dict)

    def get(self, name: str = DEFAULT) -> Client | None:
        """The session of this name, new if need be; None where there are too many."""
        found = self.clients.get(name)
        if found is None:
            if len(self.clients) >= LIMIT:
                return None
            found = self.clients[name] = self._client(name, resume=False)
        return found

    def reset(self, name: str = DEFAULT) -> None:
        """Forget everything of a session; the log of what was done is kept beside the new one."""
        old = self.clients.get(name)
        if old is not None and (old.session.exchanges or old.session.strays):
            old.close()
            new = self.clients[name] = self._client(name, resume=False)
            new.middle = old.middle
            if new.log is not None:
                new.log.begin()  # a log of what is forgotten must not be resumed

    def resume(self) -> int:
        """Take up all sessions whose logs are in the output folder; sentences begun in them."""
        if self.output is None:
            raise UsageError("there is nothing to resume without --output")
        count = 0
        for name in [DEFAULT, *sorted(p.name for p in self.output.glob("sessions/*"))]:
            if is_name(name) and (self._folder(name) / self.log_name).exists():
                client = self.clients[name] = self._client(name, resume=True)
                count += len(client.session.exchanges)
        return count

    @property
    def log_name(self) -> str:
        """The name of the logs."""
        return OLD_LOG if self.old else LOG

    def close(self) -> None:
        """Close all logs."""
        for client in self.clients.values():
            client.close()

    def _folder(self, name: str) -> Path:
        assert self.output is not None
        return self.output if name == DEFAULT else self.output / "sessions" / name

    def _client(self, name: str, *, resume: bool) -> Client:
        if self.output is None:
            return Client(Session(self.corpus, old=self.old))
        folder = self._folder(name)
        path = folder / self.log_name
        streams = [] if not resume else read_events(path)[1]
        log = LateLog(path, Header(self.corpus.kind, "text", "word"), resume=resume)
        session = Session(self.corpus, log, old=self.old)
        for stream in streams:
            check_stream(self.corpus, stream.id, stream.reference, path)
        session.restore(streams)
        return Client(session, folder, log)


def keep_aside(path: Path) -> Path:
    """Rename a log that is there already, so that a new one can begin in its place."""
    aside = path.with_suffix(".previous.jsonl")
    if path.exists():
        path.replace(aside)
    return aside


def check_stream(corpus: Corpus, id: str, reference: str | None, path: Path) -> None:
    """Refuse a log of another corpus."""
    known = id.isdigit() and int(id) < len(corpus)
    if not known or reference != corpus.sentences[int(id)].reference:
        raise InputError(
            f"sentence {id} of this log is not that of the corpus",
            path=path,
            hint="give the files it was made with, or another output folder",
        )

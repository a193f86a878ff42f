# SPDX-License-Identifier: Apache-2.0
"""The event log of live runs: what was read, computed, written and taken back, step by step.

One JSON object per line. The first line says what the log is; each stream has an `open` line, one
line per step, and a `close` line:

    {"assay": "simul.events/1", "source_type": "text", "target_type": "text", "unit": "word"}
    {"id": "0", "open": {"source_length": 7, "reference": "...", "source": "..."}}
    {"id": "0", "at": 2, "start": 0.0, "end": 0.1, "read": 3}
    {"id": "0", "at": 3, "start": 0.1, "end": 12.5, "emit": ["a", "word"]}
    {"id": "0", "at": 4, "start": 12.5, "end": 14.0, "emit": ["x"], "delete": 1}
    {"id": "0", "close": {"at": 7}}

`at` is how much source had been read when the step was computed: words, or milliseconds of audio.
`start` and `end` are the wall clock in milliseconds since the stream began. `emit` are new units;
`delete` says how many units at the end of what was written are taken back first. `read` is where
the source stands after a step that asked for more of it. The `at` of a
`close` line is the position at which the end mark was sent; without one no end mark was sent.

Where the output is spoken, a step has the length of what it said in milliseconds, and its rate, in
place of `emit`; the audio itself lies beside the log in `wavs`:

    {"id": "0", "at": 1500, "start": 40.0, "end": 44.5, "duration": 320.0, "rate": 16000}

Lines of several streams may alternate. A line is appended whole, so a run that is killed loses at
most the line under way; a stream that is not closed did not finish and is run again on resuming,
where a second `open` line starts it anew. Delays, times, text and all scores follow from the log.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, NamedTuple, Self

import msgspec

from assay.core.errors import InputError, OutputError, UsageError
from assay.tasks.simul.streams import Emission

FORMAT = "simul.events/1"

HOLD = 1 << 16
"""Bytes of lines that are held back at most."""

SYNC_SECONDS = 1.0
"""How often the disk is waited for."""

_encode = msgspec.json.Encoder().encode

Unit = Literal["word", "char", "spm"]
CaTimes = Literal["queue", "simuleval", "chunk"]


class Header(msgspec.Struct, frozen=True, omit_defaults=False):
    """What all streams of a log have in common."""

    source_type: Literal["text", "speech"] = "text"
    target_type: Literal["text", "speech"] = "text"
    unit: Unit = "word"


class Event(NamedTuple):
    """One step: `delete` units at the end are taken back, then `emit` is appended.

    A step that spoke has a `duration` in milliseconds and a `rate` of samples per second instead:
    it is one unit, without text.
    """

    at: float
    start: float = 0.0
    end: float = 0.0
    emit: Sequence[str] = ()
    delete: int = 0
    read: float | None = None
    duration: float | None = None
    rate: int | None = None


@dataclass(slots=True)
class Stream:
    """One stream of a log. `end` is the position of the end mark; None if none was sent.

    `held` is how many units stand at the end.
    """

    id: str
    source_length: float | None = None
    reference: str | None = None
    source: Any = None
    events: list[Event] = field(default_factory=list)
    end: float | None = None
    finished: bool = False
    held: int = 0

    def units(self) -> list[tuple[str, int]]:
        """The units that stand at the end, each with the number of the step that wrote it."""
        held: list[tuple[str, int]] = []
        for number, event in enumerate(self.events):
            if event.delete:
                del held[len(held) - event.delete :]
            held.extend((unit, number) for unit in event.emit)
            if event.duration is not None:
                held.append(("", number))
        return held

    @property
    def delays(self) -> list[float]:
        """How much source had been read when each unit of the final text was written."""
        return [self.events[step].at for _, step in self.units()]

    @property
    def durations(self) -> list[float] | None:
        """How long each piece of spoken output lasts, in milliseconds; None if it is written."""
        found = [self.events[step].duration for _, step in self.units()]
        spoken = [length for length in found if length is not None]
        return spoken if found and len(spoken) == len(found) else None

    @property
    def deleted(self) -> int:
        """How many units were taken back."""
        return sum(event.delete for event in self.events)

    @property
    def computing(self) -> float:
        """Milliseconds of computation."""
        return sum(event.end - event.start for event in self.events)

    def text(self, unit: Unit = "word") -> str:
        """The final text."""
        return join_units([unit_text for unit_text, _ in self.units()], unit)

    def elapsed(self, how: CaTimes = "queue") -> list[float]:
        """Computation-aware times of the units, in milliseconds, for a source that is audio.

        `queue`: a step begins when its audio is there and the step before is done. `simuleval`: the
        position plus all time that has passed on the wall clock. `chunk`: the position plus the
        computation of that step alone.
        """
        done = self.step_times(how)
        return [done[step] for _, step in self.units()]

    def step_times(self, how: CaTimes = "queue") -> list[float]:
        """The computation-aware time of each step."""
        done: list[float] = []
        for event in self.events:
            took = event.end - event.start
            if how == "simuleval":
                done.append(event.at + event.end)
            elif how == "chunk":
                done.append(event.at + took)
            else:
                done.append(max(event.at, done[-1] if done else 0.0) + took)
        return done

    def emission(self, header: Header, how: CaTimes = "queue") -> Emission:
        """The stream as it is scored."""
        is_text = header.source_type == "text"
        text = self.text(header.unit) if header.target_type == "text" else ""
        furthest = max((e.at for e in self.events), default=0.0)
        return Emission(
            text,
            self.delays,
            furthest if self.source_length is None else self.source_length,
            [] if is_text else self.elapsed(how),
            header.source_type,
            self.end,
            durations=self.durations if header.target_type == "speech" else None,
            deleted=float(self.deleted),
            computing=self.computing,
        )


def join_units(units: Iterable[str], unit: Unit) -> str:
    """Units as text: words with blanks between, characters as they are, pieces by their marks.

    >>> join_units(["▁Gu", "ten", "▁Tag"], "spm")
    'Guten Tag'
    """
    if unit == "word":
        return " ".join(units)
    joined = "".join(units)
    return joined.replace("▁", " ").strip() if unit == "spm" else joined


class EventLog:
    """Appends to the log of a live run, from any number of threads or processes.

    A log that is there already is continued if `resume` is set, and refused otherwise; `finished`
    are the ids of the streams in it that are closed. What a crash left of a last line is cut off.

    A line is with the operating system before the call returns, so that it outlives this process;
    the disk has it a second later at most. With `held` the lines of a stream are kept back until
    it is closed, which is all that counts where the agent would die with this process.
    """

    def __init__(
        self, path: str | Path, header: Header, *, resume: bool = False, held: bool = False
    ) -> None:
        self.path = Path(path)
        self.header = header
        self.finished: set[str] = set()
        self._lock = threading.Lock()
        self._hold = HOLD if held else 0
        self._held = bytearray()
        self._synced = 0.0
        there = self.path.exists() and self.path.stat().st_size > 0
        if there and not resume:
            raise OutputError(
                f"{self.path} holds a run already; resume it, or choose another folder"
            )
        if there:
            found, streams = read_events(self.path)
            if found != header:
                raise UsageError(
                    f"{self.path} is a log of {found.source_type} to {found.target_type} by "
                    f"{found.unit}, not of {header.source_type} to {header.target_type} by "
                    f"{header.unit}; choose another folder"
                )
            self.finished = {stream.id for stream in streams if stream.finished}
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
        except OSError as error:
            raise OutputError(
                f"{self.path} cannot be written ({error.strerror}); choose another folder"
            ) from error
        self._begin()

    def _begin(self) -> None:
        with _alone(self._file):  # another process may begin the same log
            size = os.fstat(self._file).st_size
            if size == 0:
                self._append({"assay": FORMAT, **msgspec.to_builtins(self.header)})
            else:
                _cut_torn_line(self._file, size)

    def open(
        self,
        id: str,
        *,
        source_length: float | None = None,
        reference: str | None = None,
        source: Any = None,
    ) -> None:
        """A stream begins; one of the same id that did not finish is forgotten."""
        given = {"source_length": source_length, "reference": reference, "source": source}
        about = {name: value for name, value in given.items() if value is not None}
        self._append({"id": id, "open": about}, hold=True)

    def step(self, id: str, event: Event) -> None:
        """A step of a stream."""
        self._append(_Step(id, *event), hold=True)

    def close(
        self, id: str, *, at: float | None = None, source_length: float | None = None
    ) -> None:
        """A stream has finished; `at` is the position of its end mark."""
        given = {"at": at, "source_length": source_length}
        self._append({"id": id, "close": {k: v for k, v in given.items() if v is not None}})
        if time.monotonic() - self._synced > SYNC_SECONDS:
            self._synced = time.monotonic()
            os.fsync(self._file)
        self.finished.add(id)

    def shut(self) -> None:
        """No more lines."""
        if self._file >= 0:
            self._append(None)
            os.fsync(self._file)
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.shut()

    def _append(self, line: Any, *, hold: bool = False) -> None:
        data = b"" if line is None else _encode(line) + b"\n"
        with self._lock:
            self._held += data
            if hold and len(self._held) < self._hold:
                return
            data = bytes(self._held)
            self._held.clear()
            try:
                written = os.write(self._file, data)
                if written < len(data):  # a disk that is full takes a part
                    raise OSError(None, "no space left on the device")
            except OSError as error:
                raise OutputError(
                    f"{self.path} cannot be written ({error.strerror}); make room and resume"
                ) from error


@contextmanager
def _alone(file: int) -> Iterator[None]:
    """Keep other processes out, where the system can."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    fcntl.flock(file, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _cut_torn_line(file: int, size: int) -> None:
    """Cut off what stands behind the last line feed."""
    step = 1 << 16
    position = size
    while position > 0:
        start = max(0, position - step)
        piece = os.pread(file, position - start, start)
        end = piece.rfind(b"\n")
        if end >= 0:
            position = start + end + 1
            break
        position = start
    if position < size:
        os.ftruncate(file, position)


class _Step(msgspec.Struct, gc=False, omit_defaults=True):
    """A line of a step; in the order of `Event`."""

    id: str
    at: float
    start: float
    end: float
    emit: Sequence[str] = ()
    delete: int = 0
    read: float | None = None
    duration: float | None = None
    rate: int | None = None


def step_line(event: Event) -> dict[str, Any]:
    """A step as it stands in a log, without the id of its stream."""
    found: dict[str, Any] = msgspec.to_builtins(_Step("", *event))
    del found["id"]
    return found


class _Line(msgspec.Struct, gc=False):
    id: str | int | None = None
    open: dict[str, Any] | None = None
    close: dict[str, Any] | None = None
    at: float | None = None
    start: float = 0.0
    end: float = 0.0
    emit: list[str] = []
    delete: int = 0
    read: float | None = None
    duration: float | None = None
    rate: int | None = None


class _First(msgspec.Struct, gc=False):
    assay: str
    source_type: Literal["text", "speech"] = "text"
    target_type: Literal["text", "speech"] = "text"
    unit: Unit = "word"


_decoder = msgspec.json.Decoder(_Line)
_first = msgspec.json.Decoder(_First)


def is_event_log(head: bytes) -> bool:
    """Whether a file that begins with `head` is an event log."""
    try:
        return _first.decode(head.partition(b"\n")[0]).assay == FORMAT
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return False


def read_events(path: str | Path) -> tuple[Header, list[Stream]]:
    """The header of a log and its streams, in the order in which they were first opened."""
    file = Path(path)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=file) from None
    return parse_events(data, str(file))


def parse_events(data: bytes, name: str) -> tuple[Header, list[Stream]]:
    """`read_events` for bytes; a last line without a line feed is one that a crash cut off."""
    lines = data.split(b"\n")
    lines.pop()
    if not lines or not is_event_log(lines[0]):
        raise InputError(
            f"is not an event log ({FORMAT})", path=name, hint="give the log of a live run"
        )
    first = _first.decode(lines[0])
    header = Header(first.source_type, first.target_type, first.unit)
    streams: dict[str, Stream] = {}
    for number, line in enumerate(lines[1:], start=2):
        try:
            _take(_decoder.decode(line), streams)
        except (msgspec.MsgspecError, ValueError) as error:
            raise InputError(
                str(error), path=name, line=number, hint="the log is damaged"
            ) from None
    return header, list(streams.values())


def _take(line: _Line, streams: dict[str, Stream]) -> None:
    if line.id is None:
        raise ValueError("no id")
    id = str(line.id)
    if line.open is not None:
        about = line.open
        length = about.get("source_length")
        streams[id] = Stream(
            id,
            None if length is None else float(length),
            about.get("reference"),
            about.get("source"),
        )
        return
    if id not in streams:
        raise ValueError(f"stream '{id}' was not opened")
    stream = streams[id]
    if line.close is not None:
        stream.finished = True
        end, length = line.close.get("at"), line.close.get("source_length")
        stream.end = None if end is None else float(end)
        if length is not None:
            stream.source_length = float(length)
    elif line.at is not None:
        if not 0 <= line.delete <= stream.held:
            raise ValueError(f"deletes {line.delete} units where there are {stream.held}")
        if line.duration is not None and (line.emit or not line.duration >= 0):
            raise ValueError("a step that spoke has a duration of 0 or more, and emits no text")
        stream.held += len(line.emit) + (line.duration is not None) - line.delete
        told = (tuple(line.emit), line.delete, line.read, line.duration, line.rate)
        stream.events.append(Event(line.at, line.start, line.end, *told))
    else:
        raise ValueError("neither open, close nor a step")

# SPDX-License-Identifier: Apache-2.0
"""A log of any kind as steps: what was written and taken back, how much had been read, and when.

Event logs and simulstream's hold the steps themselves, revisions among them. Of other logs they
are made of the units and their times: those of one step were written at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path

from assay.core.document import Intake
from assay.core.errors import UsageError
from assay.tasks.simul.events import Event, Header, Stream, Unit
from assay.tasks.simul.formats import detokenizer_of, file_of, finished_events, talks_of
from assay.tasks.simul.log import Block, Log
from assay.tasks.simul.settings import Settings
from assay.tasks.simul.simuleval import name_of
from assay.tasks.simul.simulstream import Talk
from assay.tasks.simul.streams import Emission


def steps_of(block: Block, log: Log, settings: Settings) -> tuple[Header, list[Stream]]:
    """The streams of a log, whose emissions are in `block`, step by step.

    Segments of a recording have no steps of their own in its log.
    """
    if log.kind in ("events", "simulstream") and not log.longform:
        header, told = _logged_steps(log, settings)
        by_id = {stream.id: stream for stream in told}
        streams = [by_id[id] for id in block.ids]
    else:
        unit = "word" if log.target_type == "speech" else _unit(block.streams)
        header = Header(log.source_type, log.target_type, unit)  # type: ignore[arg-type]
        streams = [
            _stream(id, emission, unit)
            for id, emission in zip(block.ids, block.streams, strict=True)
        ]
    if block.references is not None:
        for stream, reference in zip(streams, block.references, strict=True):
            stream.reference = reference
    return header, streams


def _logged_steps(log: Log, settings: Settings) -> tuple[Header, list[Stream]]:
    path, intake = Path(log.path), Intake()
    if log.kind == "events":
        return finished_events(file_of(path), intake)
    header = Header("speech", "text", detokenizer_of(settings, intake))
    return header, [_told(talk) for talk in talks_of(path, settings, intake)]


def _told(talk: Talk) -> Stream:
    """A step begins when its audio is there and the step before is done."""
    events: list[Event] = []
    done = 0.0
    for at, took, deleted, new in talk.steps:
        start = max(at, done)
        done = start + took
        events.append(Event(at, start, done, tuple(new), deleted))
    return Stream(talk.name, talk.audio, events=events, finished=True)


def _stream(id: str, emission: Emission, unit: Unit) -> Stream:
    """SimulEval's times hold all time on the clock since the stream began: a step of computation
    lasts from that of the unit before to its own."""
    stream = Stream(id, emission.source_length, end=emission.end, finished=True)
    if emission.source is not None:
        stream.source = name_of(emission.source)
    if emission.durations is not None:
        pieces = zip(emission.delays, emission.durations, strict=True)
        stream.events = [Event(at, duration=duration) for at, duration in pieces]
        return stream
    times: Sequence[float] = emission.elapsed or emission.delays
    rows = list(zip(emission.delays, times, units_of(emission, unit), strict=True))
    clock = 0.0
    for (at, time), members in groupby(rows, key=lambda row: (row[0], row[1])):
        passed = max(0.0, time - at)
        units = [one for _, _, one in members]
        stream.events.append(Event(at, min(clock, passed), passed, units))
        clock = passed
    return stream


def _unit(emissions: Sequence[Emission]) -> Unit:
    """What delays belong to, in all streams of a log alike."""
    units: tuple[Unit, ...] = ("word", "char")
    found = [u for u in units if all(_parts(e, u) is not None for e in emissions)]
    if found:
        return found[0]
    odd = next(e for e in emissions if _parts(e, "word") is None)
    raise UsageError(
        f"'{odd.text[:40]}' has {len(odd.text.split())} words, but {len(odd.delays)} delays: "
        "which unit a delay belongs to is not known"
    )


def units_of(emission: Emission, unit: Unit) -> list[str]:
    """The units that delays belong to."""
    found = _parts(emission, unit)
    assert found is not None, "the unit is that of all streams"
    return found


def _parts(emission: Emission, unit: Unit) -> list[str] | None:
    """Words, or characters: a blank without a delay of its own goes with the one behind it."""
    n = len(emission.delays)
    if unit == "word":
        words = emission.text.split()
        return words if len(words) == n else None
    if len(emission.text) == n:
        return list(emission.text)
    letters: list[str] = []
    blank = ""
    for letter in emission.text.strip():
        if letter.isspace():
            blank += letter
        else:
            letters.append(blank + letter)
            blank = ""
    return letters if len(letters) == n else None

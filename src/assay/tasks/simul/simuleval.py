# SPDX-License-Identifier: Apache-2.0
"""The files of SimulEval: `instances.log` and `config.yaml` are read, all four are written."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.text import Texts
from assay.tasks.simul.files import json_blocks, lines_of
from assay.tasks.simul.log import Block, Output
from assay.tasks.simul.ragged import Ragged
from assay.tasks.simul.softsegmenter import emissions_fixed
from assay.tasks.simul.streams import Emission, Streams, matching

INSTANCES, CONFIG = "instances.log", "config.yaml"
TYPES = ("text", "speech")

EXAMPLE = (
    '{"index": 0, "prediction": "...", "delays": [...], "elapsed": [...], "reference": "...", '
    '"source_length": 1000}'
)


class Instance(msgspec.Struct, gc=False):
    """A line of `instances.log`; what scoring does not need is not looked at."""

    index: int | str
    prediction: str | None = ""
    delays: list[float] | None = None
    elapsed: msgspec.Raw = msgspec.Raw(b"")
    reference: str | None = None
    source_length: float | None = None
    durations: list[float] | None = None
    intervals: msgspec.Raw = msgspec.Raw(b"")
    source: msgspec.Raw = msgspec.Raw(b"")


_NONE = (b"", b"[]", b"null")

_times = msgspec.json.Decoder(list[float] | None)


@dataclass(frozen=True, slots=True)
class RawTimes:
    """Times as they stand in the file, read when they are wanted: they are half of it."""

    held: Sequence[msgspec.Raw]
    lines: Sequence[int]
    path: Path

    def read(self) -> list[list[float]]:
        """The times of each stream."""
        found = []
        for raw, line in zip(self.held, self.lines, strict=True):
            data = bytes(raw)
            try:
                found.append((_times.decode(data) if data else None) or [])
            except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
                said = str(error)
                raise InputError(
                    f"elapsed: {said[:1].lower()}{said[1:]}",
                    path=self.path,
                    line=line,
                    hint=f"write {EXAMPLE}",
                ) from None
        return found

    def part(self, start: int, stop: int) -> RawTimes:
        """Those of streams `start` to `stop`."""
        return RawTimes(self.held[start:stop], self.lines[start:stop], self.path)


class _Named(msgspec.Struct, gc=False):
    """A line of a log of whole recordings, which are known by their source."""

    prediction: str | None = ""
    delays: list[float] | None = None
    elapsed: list[float] | None = None
    source: str | list[str] | None = None

    @property
    def recording(self) -> str:
        """The name of the recording: the first line of what describes it."""
        return name_of(self.source)


def name_of(source: Any) -> str:
    """What a source is known by: itself, or the first of the lines that describe a recording.

    >>> name_of(["talk.wav", "samplerate: 16000 Hz"])
    'talk.wav'
    """
    held = source[0] if isinstance(source, list) and source else source
    return held.strip() if isinstance(held, str) else ""


def read_outputs(path: Path, intake: Intake) -> list[Output]:
    """The outputs for whole recordings; their lengths follow from the segments."""
    return [
        Output(
            one.recording,
            Emission(one.prediction or "", one.delays or [], 0.0, one.elapsed or []),
            line,
        )
        for objects, first in json_blocks(path, _Named, intake, EXAMPLE)
        for line, one in enumerate(objects, start=first + 1)
    ]


def read_config(path: Path, intake: Intake) -> dict[str, str]:
    """The `key: value` lines of a `config.yaml`."""
    found: dict[str, str] = {}
    for number, line in enumerate(lines_of(path, intake), start=1):
        text = line.partition(" #")[0].strip()
        if not text or text.startswith("#") or text == "---":
            continue
        key, colon, value = text.partition(":")
        if not colon:
            raise InputError(
                "not a line of the form key: value",
                path=path,
                line=number,
                hint="write source_type: speech and target_type: text",
            )
        found[key.strip()] = value.strip().strip("'\"")
    for key in ("source_type", "target_type"):
        if key in found and found[key] not in TYPES:
            raise InputError(
                f"{key} is '{found[key]}'", path=path, hint="it must be text or speech"
            )
    return found


def guessed_source(first: Mapping[str, Any]) -> str:
    """What the source is, by the first line of a log without a `config.yaml`.

    Speech has the description of a file, text the words, as many as the source is long.
    """
    source = first.get("source")
    if isinstance(source, str) and len(source.split()) == first.get("source_length"):
        return "text"
    return "speech"


@dataclass(frozen=True, slots=True)
class Reading:
    """How an `instances.log` is understood.

    Logs of text say that every word took no time at all, which SimulEval believes when it reads
    them, and it takes the end of spoken output from `intervals` alone: `as_simuleval` does so too.
    `fix_times` takes out
    what its computation-aware times add up. `with_sources` keeps the sources too.
    """

    source_type: str = "speech"
    target_type: str = "text"
    as_simuleval: bool = False
    fix_times: bool = False
    with_sources: bool = False


def read_instances(path: Path, reading: Reading, intake: Intake) -> Iterator[Block]:
    """The streams of an `instances.log`."""
    n, bare, first_bare = 0, 0, 0
    for objects, first in json_blocks(path, Instance, intake, EXAMPLE):
        lines = range(first + 1, first + len(objects) + 1)
        n += len(objects)
        without = [line for one, line in zip(objects, lines, strict=True) if one.reference is None]
        bare, first_bare = bare + len(without), first_bare or next(iter(without), 0)
        block = _block(objects, lines, path, reading)
        del objects
        yield block
    if 0 < bare < n:
        intake.warnings.append(
            f"{path}: {bare:,} of {n:,} streams have no reference, which counts as an empty one "
            f"(first: line {first_bare:,})"
        )


def _block(held: list[Instance], lines: range, path: Path, reading: Reading) -> Block:
    n = len(held)
    lengths = [i.source_length for i in held]
    if None in lengths:
        raise InputError(
            "no source_length", path=path, line=lines[lengths.index(None)], hint=f"write {EXAMPLE}"
        )
    source = np.array(lengths, dtype=np.float64)
    if (source < 0).any():
        at = int(np.argmax(source < 0))
        raise InputError(
            f"source_length is {lengths[at]}",
            path=path,
            line=lines[at],
            hint="a source lasts 0 or more words or milliseconds",
        )
    delays = Ragged.of([i.delays or () for i in held])
    spoken = reading.target_type == "speech"
    is_text = reading.source_type == "text"
    timed = not is_text or reading.as_simuleval
    nothing = delays.like(np.full(len(delays.values), np.nan))
    undefined = np.full(n, np.nan)
    late: Ragged | RawTimes = nothing
    if timed:
        late = RawTimes([i.elapsed for i in held], lines, path)
    if timed and reading.fix_times:
        late = _without_the_past(delays, RawTimes([i.elapsed for i in held], lines, path))
    streams = Streams(
        texts=Texts.of([""] * n if spoken else [i.prediction or "" for i in held]),
        delays=delays,
        source=source,
        late=late,
        of_text=np.full(n, is_text),
        end=undefined,
        to_end=undefined,
        durations=_durations(delays, held, lines, path, reading) if spoken else nothing,
        deleted=undefined,
        computing=undefined,
        sources=[_decoded(i.source) for i in held] if reading.with_sources else None,
    )
    references = [i.reference for i in held]
    return Block(
        [str(i.index) for i in held],
        streams,
        None if all(r is None for r in references) else [r or "" for r in references],
        lines=lines,
    )


def _durations(
    delays: Ragged, held: Sequence[Instance], lines: range, path: Path, reading: Reading
) -> Ragged:
    """How long each piece of spoken output lasts."""
    for one, n, line in zip(held, delays.counts.tolist(), lines, strict=True):
        if len(one.durations or ()) != n:
            raise InputError(
                f"{n} delays, but {len(one.durations or ())} durations",
                path=path,
                line=line,
                hint="every piece of spoken output has both",
            )
    known = [not reading.as_simuleval or bytes(i.intervals) not in _NONE for i in held]
    found = [i.durations or () if is_known else () for i, is_known in zip(held, known, strict=True)]
    return matching(delays, found)


def _decoded(raw: msgspec.Raw) -> Any:
    data = bytes(raw)
    return msgspec.json.decode(data) if data else None


def _without_the_past(delays: Ragged, times: RawTimes) -> Ragged:
    found = matching(delays, times.read())
    lists = [emissions_fixed(delays[i].tolist(), found[i].tolist()) for i in range(len(delays))]
    return delays.like(Ragged.of(lists).values)


# -- writing ------------------------------------------------------------------------------------


def instance_line(
    number: str, emission: Emission, reference: str | None, source: Any = None
) -> str:
    """A line of `instances.log`, keys in SimulEval's order."""
    is_text = emission.source_type == "text"
    if isinstance(source, str) and not is_text:
        source = [source]
    elapsed = [0] * len(emission.delays) if is_text and not emission.elapsed else emission.elapsed
    return json.dumps(
        {
            "index": int(number) if number.isdecimal() else number,
            "prediction": emission.text,
            "delays": [_whole(d) for d in emission.delays] if is_text else emission.delays,
            "elapsed": elapsed,
            "prediction_length": len(emission.delays),
            "reference": reference,
            "source": source,
            "source_length": _whole(emission.source_length) if is_text else emission.source_length,
        }
    )


def config_text(source_type: str, target_type: str) -> str:
    """`config.yaml`."""
    return f"source_type: {source_type}\ntarget_type: {target_type}\n"


def scores_table(scores: Mapping[str, float]) -> str:
    """`scores.tsv`: names, then values with three decimals; an undefined one is empty."""
    return _tsv([list(scores), [_shown(v) for v in scores.values()]])


def metrics_table(ids: Sequence[str], columns: Mapping[str, Sequence[float]]) -> str:
    """`metrics.tsv`: one row per instance, one column per latency metric."""
    rows = zip(*columns.values(), strict=True) if columns else ([] for _ in ids)
    lines = [["index", *columns]]
    lines += [[i, *map(_shown, row)] for i, row in zip(ids, rows, strict=True)]
    return _tsv(lines)


def _tsv(rows: Sequence[Sequence[str]]) -> str:
    return "".join("\t".join(row) + "\n" for row in rows)


def _shown(value: float) -> str:
    return "" if math.isnan(value) else str(round(float(value), 3))


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number

# SPDX-License-Identifier: Apache-2.0
"""Which format a log has: found by what it holds, not by its name."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from assay.core.document import InputFile, Intake
from assay.core.errors import AlignError, InputError, UsageError
from assay.core.task import Missing
from assay.tasks.simul.events import FORMAT, Header, Stream, read_events
from assay.tasks.simul.fairseq import DELAY, is_fairseq, read_fairseq
from assay.tasks.simul.files import first_objects, lines_of
from assay.tasks.simul.log import Block, Kind, Log, Output
from assay.tasks.simul.oddities import Oddities, odd_times
from assay.tasks.simul.recordings import LongOptions, resegmented_block
from assay.tasks.simul.resegmented import FILE as RESEGMENTED
from assay.tasks.simul.resegmented import read_resegmented
from assay.tasks.simul.segments import read_recordings
from assay.tasks.simul.settings import Settings
from assay.tasks.simul.simuleval import (
    CONFIG,
    INSTANCES,
    Reading,
    guessed_source,
    read_config,
    read_instances,
    read_outputs,
)
from assay.tasks.simul.simulstream import Detokenizer, Talk, is_simulstream, read_talks
from assay.tasks.simul.streams import Emission, by_character

EVENTS = "events.jsonl"
SIMULSTREAM = "metrics.jsonl"
FILES = (EVENTS, INSTANCES, SIMULSTREAM, RESEGMENTED)
"""What is looked for in a folder, besides fairseq's `text` and `delay`."""


def is_log(path: Path) -> bool:
    """Whether this folder holds the log of a system."""
    return is_fairseq(path) or any((path / name).is_file() for name in FILES)


def is_known(head: Sequence[dict[str, Any]]) -> bool:
    """Whether a file that begins with these objects is a log."""
    if not head:
        return False
    first = head[0]
    return (
        first.get("assay") == FORMAT
        or "src_len" in first
        or "emission_cu" in first
        or ("delays" in first and "prediction" in first)
        or is_simulstream(head)
    )


def logs_below(folder: Any) -> dict[str, str] | None:
    """The logs of a folder that is no log itself: its folders, and files that are logs."""
    path = Path(folder) if isinstance(folder, (str, Path)) else None
    if path is None or not path.is_dir() or is_log(path):
        return None
    found = {}
    for one in sorted(path.iterdir()):
        if one.name.startswith("."):
            continue
        if one.is_dir() and is_log(one):
            found[one.name] = str(one)
        elif one.is_file() and one.suffix in (".jsonl", ".log") and is_known(first_objects(one)):
            found[one.stem] = str(one)
    return found or None


def open_log(
    path: Path,
    settings: Settings,
    intake: Intake,
    missing: Missing,
    references: Sequence[str] | None = None,
) -> Log:
    """The log of this file or folder."""
    if str(path) == "-":
        raise UsageError("a log is not read from standard input; name its file or folder")
    if not path.exists():
        raise InputError("no such file or folder", path=path, hint="give a log, or its folder")
    if settings.segments is not None:
        return _longform(path, settings, intake, missing, references)
    if is_fairseq(path) and not (path / EVENTS).is_file():  # a live run writes both
        source = settings.source_type or "text"
        blocks = read_fairseq(path, source, intake)
        return Log("fairseq", str(path), source, "text", blocks)
    file = file_of(path)
    head = first_objects(file)
    if not head:
        raise InputError(
            "is no log: it does not begin with a JSON object",
            path=file,
            hint="give an event log, SimulEval's instances.log, a simulstream or OmniSTEval "
            f"JSONL, or the folder with fairseq's text and {DELAY}",
        )
    if head[0].get("assay") == FORMAT:
        return _event_log(file, settings, intake)
    if "src_len" in head[0]:
        source = settings.source_type or "text"
        blocks = read_fairseq(file, source, intake)
        return Log("fairseq", str(file), source, "text", blocks)
    if "emission_cu" in head[0]:
        blocks = read_resegmented(file, intake)
        return Log("resegmented", str(file), "speech", "text", blocks, longform=True)
    if "delays" in head[0] and "prediction" in head[0]:
        return _simuleval(file, head[0], settings, intake)
    if is_simulstream(head):
        return _simulstream(file, settings, intake)
    raise InputError(
        f"is no log that is known here: its first line has {_keys(head[0])}",
        path=file,
        hint="give an event log, SimulEval's instances.log, or a simulstream or OmniSTEval JSONL",
    )


def _longform(
    path: Path,
    settings: Settings,
    intake: Intake,
    missing: Missing,
    references: Sequence[str] | None,
) -> Log:
    """The outputs of whole recordings, divided among their segments."""
    assert settings.segments is not None, "asked for by --segments"
    if references is None:
        raise UsageError("--segments needs the references too: give them with --gold FILE")
    recordings = read_recordings(
        Path(settings.segments), references, intake, from_first=settings.offset_delays
    )
    file = file_of(path)
    outputs, kind = _outputs(file, settings, intake, [r.name for r in recordings])
    if kind != "simulstream":
        intake.warnings.extend(f"{file}: {line}" for line in _odd(outputs))
    options = LongOptions(
        settings.resegment, settings.unit == "char", settings.lang, settings.fix_emission_ca
    )

    def blocks() -> Iterator[Block]:
        yield resegmented_block(outputs, recordings, options, missing, file, intake)

    return Log(kind, str(file), "speech", "text", blocks(), by_number=False, longform=True)


def _odd(outputs: Sequence[Output]) -> list[str]:
    """What is odd about the times of whole outputs; their units are counted when they are
    divided."""
    odd = Oddities()
    lines = [o.line for o in outputs if o.line is not None]
    block = Block.of([o.name for o in outputs], [o.emission for o in outputs])
    block.lines = lines if len(lines) == len(outputs) else None
    odd.add(block, odd_times(block.streams))
    return odd.lines()


def _outputs(
    file: Path, settings: Settings, intake: Intake, names: Sequence[str]
) -> tuple[list[Output], Kind]:
    head = first_objects(file)
    if not head:  # plain text: one line per recording, in order
        lines = lines_of(file, intake)
        if len(lines) != len(names):
            raise AlignError(
                f"{len(lines):,} lines of text, but {len(names):,} recordings",
                path=file,
                hint="give one line per recording, or a log",
            )
        found = zip(names, lines, strict=True)
        return [Output(n, Emission(t, [], 0.0), i) for i, (n, t) in enumerate(found, 1)], "longform"
    if head[0].get("assay") == FORMAT:
        header, streams = finished_events(file, intake)
        how = settings.event_times
        return [
            Output(s.source if isinstance(s.source, str) else s.id, s.emission(header, how))
            for s in streams
        ], "events"
    if is_simulstream(head):
        talks = talks_of(file, settings, intake)
        return [Output(t.name, t.emission()) for t in talks], "simulstream"
    return read_outputs(file, intake), "simuleval"


def talks_of(path: Path, settings: Settings, intake: Intake) -> list[Talk]:
    """The streams of a simulstream log."""
    detokenizer = detokenizer_of(settings, intake)
    unit = "char" if settings.unit == "char" else "word"
    times = settings.ca_times or "chunk"

    def make(name: str) -> Talk:
        return Talk(name, detokenizer, unit, times)

    return read_talks(path, make, intake)


def detokenizer_of(settings: Settings, intake: Intake) -> Detokenizer:
    """How the tokens of a simulstream log become text."""
    if settings.eval_config is None:
        return settings.detokenizer  # type: ignore[return-value]
    path = Path(settings.eval_config)
    config = read_config(path, intake)
    kind, unit = config.get("detokenizer_type", "simuleval"), config.get("latency_unit", "word")
    if kind != "simuleval" or unit not in ("word", "char", "spm"):
        raise InputError(
            f"detokenizer_type {kind} with latency_unit {unit} needs the model's own tokeniser",
            path=path,
            hint="write tokens as words or SentencePiece pieces, and use detokenizer_type: "
            "simuleval",
        )
    return unit  # type: ignore[return-value]


def _simulstream(path: Path, settings: Settings, intake: Intake) -> Log:
    talks = talks_of(path, settings, intake)

    def blocks() -> Iterator[Block]:
        if talks:
            yield Block.of([t.name for t in talks], [t.emission() for t in talks])

    return Log("simulstream", str(path), "speech", "text", blocks(), by_number=False)


def _keys(first: dict[str, Any]) -> str:
    return ", ".join(repr(key) for key in list(first)[:5]) or "no keys"


def file_of(path: Path) -> Path:
    """The file of a log that is given as a file or as its folder."""
    return _file_in(path) if path.is_dir() else path


def _file_in(folder: Path) -> Path:
    for name in FILES:
        if (folder / name).is_file():
            return folder / name
    raise InputError(
        "holds no log",
        path=folder,
        hint=f"give a folder with {', '.join(FILES)}, or with text and {DELAY}",
    )


def _simuleval(path: Path, first: dict[str, Any], settings: Settings, intake: Intake) -> Log:
    config = path.parent / CONFIG
    types = read_config(config, intake) if config.is_file() else {}
    source = settings.source_type or types.get("source_type") or guessed_source(first)
    target = types.get("target_type", "text")
    if target == "speech" and "durations" not in first:
        # SimulEval's --score-only writes this into the config.yaml of any log.
        target = "text"
        intake.warnings.append(f"{config} says target_type: speech, but the log holds text")
    reading = Reading(
        source,
        target,
        settings.compat == "simuleval",
        settings.fix_emission_ca,
        settings.with_sources,
    )
    blocks = read_instances(path, reading, intake)
    return Log("simuleval", str(path), source, target, blocks)


def finished_events(path: Path, intake: Intake) -> tuple[Header, list[Stream]]:
    """The streams of an event log that finished; what did not is told."""
    header, streams = read_events(path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    intake.inputs.append(InputFile("predictions", str(path), digest))
    unfinished = [s.id for s in streams if not s.finished]
    if unfinished:
        intake.warnings.append(
            f"{path}: {len(unfinished):,} streams did not finish and are left out "
            f"(first: '{unfinished[0]}')"
        )
    return header, [s for s in streams if s.finished]


def emission_of(stream: Stream, header: Header, settings: Settings) -> Emission:
    """A stream of an event log as these settings score it."""
    found = stream.emission(header, settings.event_times)
    if header.unit == "spm" and settings.unit != "spm" and header.target_type == "text":
        found = _by_text(found, stream, settings)
    if settings.unit == "char" and header.unit == "word" and header.target_type == "text":
        found = by_character(found)
    return replace(found, source=stream.source) if settings.with_sources else found


def _by_text(emission: Emission, stream: Stream, settings: Settings) -> Emission:
    """Words or characters of a stream of pieces: each has the time at which it got its form."""
    talk = Talk(stream.id, "spm", "char" if settings.unit == "char" else "word")
    times = stream.step_times(settings.event_times)
    for event, aware in zip(stream.events, times, strict=True):
        deleted = talk.tokens[len(talk.tokens) - event.delete :]
        talk.step(event.at, event.end - event.start, deleted, event.emit, aware)
    found = talk.emission()
    return replace(
        emission,
        text=found.text,
        delays=found.delays,
        elapsed=found.elapsed if emission.elapsed else [],
        deleted=found.deleted,
    )


def _event_log(path: Path, settings: Settings, intake: Intake) -> Log:
    header, done = finished_events(path, intake)

    def blocks() -> Iterator[Block]:
        if done:
            given = [s.reference for s in done]
            own = None if all(r is None for r in given) else [r or "" for r in given]
            found = [emission_of(s, header, settings) for s in done]
            yield Block.of([s.id for s in done], found, own)

    return Log(
        "events",
        str(path),
        header.source_type,
        header.target_type,
        blocks(),
        by_number=all(s.id.isdecimal() for s in done),
        unit=header.unit,
    )

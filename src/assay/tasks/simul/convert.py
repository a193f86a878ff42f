# SPDX-License-Identifier: Apache-2.0
"""`assay simul convert`: a log in another format.

Formats hold different things: fairseq's has no references and no computation, simulstream's no
references, OmniSTEval's only speech. What the other format cannot hold is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from assay.core.document import Intake
from assay.core.errors import UsageError
from assay.core.files import sparing, write_texts
from assay.tasks.simul import events, fairseq, resegmented, simuleval
from assay.tasks.simul.events import Header, Stream
from assay.tasks.simul.files import head_of, lines_of
from assay.tasks.simul.formats import EVENTS, SIMULSTREAM, open_log
from assay.tasks.simul.log import Block, Log
from assay.tasks.simul.settings import Settings
from assay.tasks.simul.spoken import spoken_line
from assay.tasks.simul.steps import steps_of


def convert(log: str, to: str, output: str, gold: str | None = None, **options: Any) -> str:
    """Read a log of any kind and write it as another; gives back what was written."""
    intake = Intake()
    references = None if gold is None else lines_of(Path(gold), intake, "gold")
    # SimulEval's times are all time on the clock, whatever an event log is scored by.
    options["ca_times"] = options.get("ca_times") or _usual_times(Path(log), to)
    settings = Settings.of({**options, "output": output})
    opened = open_log(Path(log), settings, intake, "error", references)
    from assay.tasks.simul.inputs import joined, with_references

    if opened.target_type == "speech" and to not in ("simuleval", "events"):
        raise UsageError(f"the output is speech, which {to} has no place for; use --to simuleval")
    if references is not None and not opened.longform:
        opened.blocks = with_references(opened, opened.blocks, references, "error", intake)
    block = joined(list(opened.blocks))
    if to in _STEPS:
        contents = _STEPS[to](*steps_of(block, opened, settings))
    else:
        contents = _WRITERS[to](block, opened)
    files = {Path(output) / name: content for name, content in contents.items()}
    with sparing(file.path for file in intake.inputs):
        write_texts(files)
    return "\n".join(map(str, files))


def _usual_times(log: Path, to: str) -> str | None:
    if to not in ("simuleval", "omnisteval") or not log.exists():
        return None
    file = log / EVENTS if log.is_dir() else log
    return "simuleval" if file.is_file() and events.is_event_log(head_of(file)) else None


def _fairseq(block: Block, log: Log) -> dict[str, str]:
    lines = [fairseq.delay_line(*fairseq.delays_of(e)) for e in block.streams]
    return {
        fairseq.TEXT: "".join(f"{e.text}\n" for e in block.streams),
        fairseq.DELAY: "".join(f"{line}\n" for line in lines),
    }


def _simuleval(block: Block, log: Log) -> dict[str, str]:
    held = block.references if block.references is not None else [None] * len(block)
    place = Path(log.path)
    folder = place if place.is_dir() else place.parent
    lines = [
        simuleval.instance_line(i, e, r, e.source)
        if log.target_type == "text"
        else spoken_line(i, folder, e, r, e.source)
        for i, e, r in zip(block.ids, block.streams, held, strict=True)
    ]
    return {
        simuleval.INSTANCES: "".join(f"{line}\n" for line in lines),
        simuleval.CONFIG: simuleval.config_text(log.source_type, log.target_type),
    }


def _simulstream(header: Header, streams: Sequence[Stream]) -> dict[str, str]:
    """Words are marked as SentencePiece marks them; characters and pieces are what they are."""
    mark = "▁" if header.unit == "word" else ""
    lines: list[dict[str, Any]] = []
    for number, stream in enumerate(streams):
        lines.append({"id": number, "metadata": {"wav_name": f"{stream.id}.wav"}})
        tokens: list[str] = []
        audio = 0.0
        for event in stream.events:
            kept = len(tokens) - event.delete
            new = [f"{mark}{unit}" for unit in event.emit]
            lines.append(_step(number, event.at, event.end - event.start, new, tokens[kept:]))
            tokens[kept:] = new
            audio = event.at
        if stream.source_length is not None and audio < stream.source_length:
            lines.append(_step(number, stream.source_length, 0.0, [], []))
    return {SIMULSTREAM: "".join(f"{json.dumps(line)}\n" for line in lines)}


def _step(
    number: int, at: float, took: float, new: Sequence[str], deleted: Sequence[str]
) -> dict[str, Any]:
    return {
        "id": number,
        "total_audio_processed": at / 1000,
        "computation_time": took / 1000,
        "generated_tokens": new,
        "deleted_tokens": deleted,
    }


def _omnisteval(block: Block, log: Log) -> dict[str, str]:
    if log.longform:
        names = block.columns.get("recording", block.ids)
        held = block.references if block.references is not None else [""] * len(block)
        text = resegmented.resegmented_text(block.ids, names, list(block.streams), held)
        return {resegmented.FILE: text}
    held_ = block.references if block.references is not None else [None] * len(block)
    lines = []
    for i, e, r in zip(block.ids, block.streams, held_, strict=True):
        line = json.loads(simuleval.instance_line(i, e, r))
        if log.source_type == "text" or e.source is None:
            line["source"] = [i]
        lines.append(json.dumps(line, ensure_ascii=False))
    return {simuleval.INSTANCES: "".join(f"{line}\n" for line in lines)}


def _events(header: Header, streams: Sequence[Stream]) -> dict[str, str]:
    lines: list[dict[str, Any]] = [{"assay": events.FORMAT, **msgspec.to_builtins(header)}]
    for stream in streams:
        about = {
            "source_length": stream.source_length,
            "reference": stream.reference,
            "source": stream.source,
        }
        known = {name: value for name, value in about.items() if value is not None}
        lines.append({"id": stream.id, "open": known})
        lines += [{"id": stream.id, **events.step_line(event)} for event in stream.events]
        lines.append({"id": stream.id, "close": {} if stream.end is None else {"at": stream.end}})
    return {EVENTS: "".join(f"{msgspec.json.encode(line).decode()}\n" for line in lines)}


_WRITERS: dict[str, Callable[[Block, Log], dict[str, str]]] = {
    "fairseq": _fairseq,
    "simuleval": _simuleval,
    "omnisteval": _omnisteval,
}
_STEPS: dict[str, Callable[[Header, Sequence[Stream]], dict[str, str]]] = {
    "simulstream": _simulstream,
    "events": _events,
}

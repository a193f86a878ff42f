# SPDX-License-Identifier: Apache-2.0
"""`assay simul convert`: a log in another format.

Formats hold different things: fairseq's has no references and no computation, simulstream's no
references, OmniSTEval's only speech. What the other format cannot hold is left out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec

from assay.core.document import Intake
from assay.core.errors import UsageError
from assay.core.files import sparing, write_texts
from assay.tasks.simul import events, fairseq, resegmented, simuleval
from assay.tasks.simul.files import lines_of
from assay.tasks.simul.formats import EVENTS, open_log
from assay.tasks.simul.log import Block, Log
from assay.tasks.simul.settings import Settings
from assay.tasks.simul.spoken import spoken_line
from assay.tasks.simul.streams import Emission

METRICS = "metrics.jsonl"


def convert(log: str, to: str, output: str, gold: str | None = None, **options: Any) -> str:
    """Read a log of any kind and write it as another; gives back what was written."""
    intake = Intake()
    references = None if gold is None else lines_of(Path(gold), intake, "gold")
    settings = Settings.of({**options, "output": output})
    opened = open_log(Path(log), settings, intake, "error", references)
    from assay.tasks.simul.inputs import joined

    if opened.target_type == "speech" and to not in ("simuleval", "events"):
        raise UsageError(f"the output is speech, which {to} has no place for; use --to simuleval")
    block = joined(list(opened.blocks))
    if references is not None and not opened.longform:
        if len(references) != len(block):
            raise UsageError(
                f"{len(block):,} streams, but {len(references):,} references in {gold}"
            )
        block = Block(block.ids, block.streams, references, block.columns)
    contents = _WRITERS[to](block, opened)
    files = {Path(output) / name: content for name, content in contents.items()}
    with sparing(file.path for file in intake.inputs):
        write_texts(files)
    return "\n".join(map(str, files))


def _units(emission: Emission) -> list[str]:
    """The units that delays belong to; words if there are as many, else characters."""
    words = emission.text.split()
    if len(words) == len(emission.delays):
        return words
    letters = [c for c in emission.text if c != " "]
    if len(letters) == len(emission.delays):
        return letters
    raise UsageError(
        f"'{emission.text[:40]}' has {len(words)} words, but {len(emission.delays)} delays: "
        "which unit a delay belongs to is not known"
    )


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


def _simulstream(block: Block, log: Log) -> dict[str, str]:
    """Steps are runs of units that were written at the same time."""
    lines = []
    for number, (name, emission) in enumerate(zip(block.ids, block.streams, strict=True)):
        wav = {"id": number, "metadata": {"wav_name": f"{name}.wav"}}
        lines.append(json.dumps(wav))
        for delay, elapsed, units in _steps(emission):
            lines.append(json.dumps(_step(number, delay, elapsed, [f"▁{u}" for u in units])))
        if not emission.delays or emission.delays[-1] < emission.source_length:
            lines.append(json.dumps(_step(number, emission.source_length, None, [])))
    return {METRICS: "".join(f"{line}\n" for line in lines)}


def _step(number: int, at: float, elapsed: float | None, tokens: list[str]) -> dict[str, Any]:
    took = 0.0 if elapsed is None else max(0.0, elapsed - at)
    return {
        "id": number,
        "total_audio_processed": at / 1000,
        "computation_time": took / 1000,
        "generated_tokens": tokens,
        "deleted_tokens": [],
    }


def _steps(emission: Emission) -> list[tuple[float, float | None, list[str]]]:
    times: Sequence[float | None] = emission.elapsed or [None] * len(emission.delays)
    rows = list(zip(emission.delays, times, _units(emission), strict=True))
    return [
        (delay, elapsed, [unit for _, _, unit in members])
        for (delay, elapsed), members in groupby(rows, key=lambda row: (row[0], row[1]))
    ]


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


def _events(block: Block, log: Log) -> dict[str, str]:
    unit = "word"
    types = {"source_type": log.source_type, "target_type": log.target_type}
    header = {"assay": events.FORMAT, **types}
    lines: list[dict[str, Any]] = []
    held = block.references if block.references is not None else [None] * len(block)
    for name, emission, reference in zip(block.ids, block.streams, held, strict=True):
        about: dict[str, Any] = {"source_length": emission.source_length}
        if reference is not None:
            about["reference"] = reference
        if emission.source is not None:
            about["source"] = simuleval.name_of(emission.source)
        lines.append({"id": name, "open": about})
        if log.target_type == "speech":
            pieces = zip(emission.delays, emission.durations or [], strict=True)
            lines += [
                {"id": name, "at": at, "start": at, "end": at, "duration": duration}
                for at, duration in pieces
            ]
        steps = [] if log.target_type == "speech" else _steps(emission)
        if any(" " not in emission.text and len(u) > 1 for _, _, u in steps):
            unit = "char"
        for delay, elapsed, units in steps:
            took = 0.0 if elapsed is None else max(0.0, elapsed - delay)
            step = {"id": name, "at": delay, "start": delay, "end": delay + took, "emit": units}
            lines.append(step)
        lines.append({"id": name, "close": {} if emission.end is None else {"at": emission.end}})
    encoded = [msgspec.json.encode(line).decode() for line in [{**header, "unit": unit}, *lines]]
    return {EVENTS: "".join(f"{line}\n" for line in encoded)}


_WRITERS: dict[str, Callable[[Block, Log], dict[str, str]]] = {
    "fairseq": _fairseq,
    "simuleval": _simuleval,
    "simulstream": _simulstream,
    "omnisteval": _omnisteval,
    "events": _events,
}

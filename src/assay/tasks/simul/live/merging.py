# SPDX-License-Identifier: Apache-2.0
"""Joining the logs of shards into one, and scoring the whole."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.core.errors import InputError, UsageError
from assay.core.files import atomic_file
from assay.tasks.simul.events import EventLog, Header, Stream, read_events
from assay.tasks.simul.live.outputs import measured, write_instances, write_scores
from assay.tasks.simul.live.results import Tally, scores, write
from assay.tasks.simul.live.sessions import LOG
from assay.tasks.simul.settings import Settings
from assay.tasks.simul.spoken import wav_name


def merge(
    folders: Sequence[str], output: str, tokenizer: str, measures: Settings | None = None
) -> tuple[dict[str, float | None], list[str]]:
    """Write the log and the files of all folders to `output`; the scores, and what is to be said.

    A sentence that is in several logs must be the same in all. One that did not finish is left out.
    Audio of spoken output is copied. `measures` says how to measure in place of fairseq's server.
    """
    if not folders:
        raise UsageError("what is to be merged? name the output folders of the shards")
    header: Header | None = None
    found: dict[str, tuple[Stream, Path]] = {}
    unfinished: set[str] = set()
    for place in folders:
        path = _log_of(place)
        own, streams = read_events(path)
        if header is not None and own != header:
            raise InputError("is a log of another kind than the first", path=path)
        header = own
        for stream in streams:
            if not stream.finished:
                unfinished.add(stream.id)
            elif stream.id in found and not _is_same(found[stream.id][0], stream):
                raise InputError(
                    f"sentence {stream.id} is in {found[stream.id][1]} too, with another result",
                    path=path,
                    hint="merge shards of one run",
                )
            else:
                found[stream.id] = (stream, path)
    assert header is not None
    chosen = [found[id][0] for id in sorted(found, key=_order)]
    if not chosen:
        raise UsageError("no sentence is finished in any of these logs")
    folder = Path(output)
    if header.target_type == "speech":
        for stream in chosen:
            _copy_audio(stream, found[stream.id][1].parent, folder)
    _write_log(folder / LOG, header, chosen)
    write_instances(folder, header, chosen)
    if header.target_type == "speech" or measures is not None:
        settings = replace(measures or Settings(), source_type=header.source_type)
        result = measured(header, chosen, settings)
        write_scores(folder, result)
    else:
        whole = _tally(chosen, header)
        result = scores(whole, tokenizer)
        write(folder, whole, result)
    return result, _notes(chosen, unfinished.difference(found))


def _copy_audio(stream: Stream, origin: Path, folder: Path) -> None:
    name = wav_name(stream.id)
    if not stream.delays or (origin / name).absolute() == (folder / name).absolute():
        return
    if not (origin / name).is_file():
        raise InputError(
            f"has no {name}, and its log says that sentence {stream.id} was spoken",
            path=origin,
            hint="run the shard again with --resume",
        )
    with atomic_file(folder / name) as aside:
        shutil.copyfile(origin / name, aside)


def _log_of(folder: str) -> Path:
    path = Path(folder)
    path = path / LOG if path.is_dir() else path
    if not path.is_file():
        raise InputError("has no event log", path=folder, hint=f"a run with --output writes {LOG}")
    return path


def _is_same(one: Stream, other: Stream) -> bool:
    pairs = [
        (s.text(), s.delays, s.durations, s.end, s.reference, s.source_length) for s in (one, other)
    ]
    return pairs[0] == pairs[1]


def _order(id: str) -> tuple[int, str]:
    return (int(id), "") if id.isdecimal() else (1 << 60, id)


def _write_log(path: Path, header: Header, streams: Sequence[Stream]) -> None:
    with atomic_file(path) as aside, EventLog(aside, header) as log:
        for stream in streams:
            log.open(
                stream.id,
                source_length=stream.source_length,
                reference=stream.reference,
                source=stream.source,
            )
            for event in stream.events:
                log.step(stream.id, event)
            log.close(stream.id, at=stream.end)


def _tally(streams: Sequence[Stream], header: Header) -> Tally:
    end_mark = 1 if header.source_type == "text" else 0
    whole = Tally([int(s.id) if s.id.isdecimal() else n for n, s in enumerate(streams)])
    for stream in streams:
        end: list[Any] = [] if stream.end is None else [stream.end]
        whole.texts.append(stream.text(header.unit))
        whole.references.append(stream.reference or "")
        whole.delays.append([*stream.delays, *end])
        whole.lengths.append((stream.source_length or 0) + end_mark)
    return whole


def _notes(streams: Sequence[Stream], unfinished: set[str]) -> list[str]:
    notes = []
    if unfinished:
        some = ", ".join(sorted(unfinished, key=_order)[:10])
        notes.append(f"{len(unfinished):,} sentences are not finished and left out ({some})")
    numbers = {int(s.id) for s in streams if s.id.isdecimal()}
    gaps = sorted(set(range(max(numbers, default=-1) + 1)) - numbers)
    if gaps:
        some = ", ".join(map(str, gaps[:10]))
        notes.append(
            f"{len(gaps):,} sentences are in none of the logs ({some}): is a shard missing?"
        )
    return notes

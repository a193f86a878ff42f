# SPDX-License-Identifier: Apache-2.0
"""Joining the logs of shards into one, and scoring the whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import InputError, UsageError
from assay.core.files import atomic_file
from assay.tasks.simul.events import EventLog, Header, Stream, read_events
from assay.tasks.simul.live.results import Tally, scores, write
from assay.tasks.simul.live.sessions import LOG


def merge(
    folders: Sequence[str], output: str, tokenizer: str
) -> tuple[dict[str, float | None], list[str]]:
    """Write the log and the files of all folders to `output`; the scores, and what is to be said.

    A sentence that is in several logs must be the same in all. One that did not finish is left out.
    """
    if not folders:
        raise UsageError("what is to be merged? name the output folders of the shards")
    header: Header | None = None
    found: dict[str, tuple[Stream, Path]] = {}
    unfinished: set[str] = set()
    for folder in folders:
        path = _log_of(folder)
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
    _write_log(Path(output) / LOG, header, chosen)
    whole = _tally(chosen, header)
    result = scores(whole, tokenizer)
    write(Path(output), whole, result)
    return result, _notes(chosen, unfinished.difference(found))


def _log_of(folder: str) -> Path:
    path = Path(folder)
    path = path / LOG if path.is_dir() else path
    if not path.is_file():
        raise InputError("has no event log", path=folder, hint=f"a run with --output writes {LOG}")
    return path


def _is_same(one: Stream, other: Stream) -> bool:
    return (one.text(), one.delays, one.end, one.reference, one.source_length) == (
        other.text(),
        other.delays,
        other.end,
        other.reference,
        other.source_length,
    )


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

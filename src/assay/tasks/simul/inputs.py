# SPDX-License-Identifier: Apache-2.0
"""From a log of any known kind, and references if it has none, to examples."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.batch import BLOCK, Batch
from assay.core.document import Intake
from assay.core.errors import AlignError, InputError, UsageError
from assay.core.task import Examples, Missing
from assay.core.text import TextLists, Texts
from assay.tasks.simul.files import lines_of
from assay.tasks.simul.formats import open_log
from assay.tasks.simul.log import Block, Log
from assay.tasks.simul.oddities import Oddities, odd_counts, odd_times
from assay.tasks.simul.ragged import Mask
from assay.tasks.simul.registry import chosen_metrics
from assay.tasks.simul.resegmented import FILE
from assay.tasks.simul.settings import Settings
from assay.tasks.simul.streams import Emission, Streams, within_source
from assay.tasks.simul.transcripts import with_transcripts
from assay.tasks.simul.units import unit_counts

STAIRCASES = 3
"""Streams whose delays go into the document."""


def open_examples(predictions: Any, gold: Any, missing: Missing, **options: Any) -> Examples:
    """Recognise the log, read its beginning to see what it holds, and pair it with references."""
    settings = Settings.of(options)
    intake = Intake()
    references = None if gold is None else _references(gold, intake)
    if isinstance(predictions, (str, Path)):
        path = Path(predictions)
        log = open_log(path, settings, intake, missing, references)
    else:
        path = Path("memory")
        log = _in_memory(predictions, settings)
    first = next(log.blocks, None)
    if first is None:
        raise InputError("the log holds no streams", path=log.path, hint="check the run")
    log.blocks = chain([first], log.blocks)
    if settings.transcripts is not None:
        log.blocks = with_transcripts(log, settings.transcripts, intake)
    own = first.references is not None
    if references is not None and not log.longform:
        log.blocks = with_references(log, log.blocks, references, missing, intake)
    elif not own and not log.longform:
        intake.warnings.append(
            f"{log.path} has no references: streams are held against the length of their output"
        )
    intake.warnings.extend(log.notes)
    intake.extra["log"] = {
        "kind": log.kind,
        "source_type": log.source_type,
        "target_type": log.target_type,
        "longform": log.longform,
    }
    has_references = own or references is not None
    return Examples(
        _batches(log, intake, settings),
        intake,
        marks=_marks(log, settings),
        system=_system(path),
        choose=partial(chosen_metrics, log=log, settings=settings, has_references=has_references),
    )


BAND, BAND_MS = 10, 2_000


def derived(column: str, batch: Batch) -> list[str] | None:
    """Bands of the reference's words, or of the source's length."""
    if column == "length":
        words = unit_counts(batch.references().firsts(), "word").astype(int) // BAND * BAND
        return [f"{low}-{low + BAND - 1}" for low in words.tolist()]
    if column != "source_length":
        return None
    streams = Streams.of(batch.predictions)
    found = []
    for length, is_text in zip(streams.source.tolist(), streams.of_text.tolist(), strict=True):
        if math.isnan(length):
            found.append("unknown")
        elif is_text:
            low = int(length) // BAND * BAND
            found.append(f"{low}-{low + BAND - 1} words")
        else:
            low = int(length) // BAND_MS * BAND_MS // 1000
            found.append(f"{low}-{low + BAND_MS // 1000} s")
    return found


def _system(path: Path) -> str | None:
    """Files that have the same name for every system are known by their folder."""
    usual = path.name in ("instances.log", "events.jsonl", "metrics.jsonl", "delay", FILE)
    return path.parent.name or None if usual else None


def _marks(log: Log, settings: Settings) -> dict[str, object]:
    """What numbers depend on besides the parameters of metrics."""
    divided = settings.segments is not None
    return {
        "log": log.kind,
        "resegment": settings.resegment if divided else None,
        "lang": settings.lang if divided else None,
        "ca": settings.ca_name(log) if settings.computation_aware else None,
    }


def _references(gold: Any, intake: Intake) -> list[str]:
    if isinstance(gold, (str, Path)):
        return lines_of(Path(gold), intake, "gold")
    held = list(gold)
    if held and all(isinstance(one, Path) for one in held):
        if len(held) != 1:
            raise UsageError("give one file of references")
        return lines_of(held[0], intake, "gold")
    return [str(one) for one in held]


def _in_memory(records: Any, settings: Settings) -> Log:
    """Streams held in memory: mappings with the keys of SimulEval's log."""
    if not isinstance(records, Iterable):
        raise UsageError("give the path of a log, or mappings with prediction and delays")
    ids, emissions, own = [], [], []
    kind = settings.source_type or "speech"
    for number, one in enumerate(records):
        if not isinstance(one, Mapping) or "delays" not in one or "source_length" not in one:
            raise UsageError(
                f"record {number} is no mapping with prediction, delays and source_length"
            )
        ids.append(str(one.get("index", number)))
        own.append(one.get("reference"))
        delays = [float(d) for d in one["delays"]]
        elapsed = [float(d) for d in one.get("elapsed") or ()]
        source = one.get("source") if settings.with_sources else None
        text, length = str(one.get("prediction") or ""), float(one["source_length"])
        emissions.append(Emission(text, delays, length, elapsed, kind, source=source))
    references = None if all(r is None for r in own) else [str(r or "") for r in own]
    return Log("simuleval", "memory", kind, "text", iter([Block.of(ids, emissions, references)]))


def with_references(
    log: Log,
    blocks: Iterator[Block],
    references: Sequence[str],
    missing: Missing,
    intake: Intake,
) -> Iterator[Block]:
    """Streams with the references of their numbers, in the order of the references.

    Where the ids of a log are no numbers, streams and references are paired by their order.
    """
    whole = joined(list(blocks))
    places = _places(whole, references, log)
    order = np.argsort(places, kind="stable") if log.by_number else np.arange(len(places))
    there = set(places)
    absent = [i for i in range(len(references)) if i not in there]
    intake.counts.missing = len(absent)
    if absent and missing == "error":
        raise AlignError(
            f"{len(absent):,} of {len(references):,} references have no stream "
            f"(first: line {absent[0] + 1:,})",
            path=log.path,
            hint="use --missing wrong to count them as empty output, or --missing skip",
        )
    if absent and missing == "wrong":
        yield from _filled(whole, places, references, log)
        return
    streams = [whole.streams[int(i)] for i in order] if not _sorted(order) else whole.streams
    yield Block(
        [whole.ids[int(i)] for i in order],
        Streams.of(streams),
        [references[places[int(i)]] for i in order],
        {name: [column[int(i)] for i in order] for name, column in whole.columns.items()},
        None if whole.lines is None else [whole.lines[int(i)] for i in order],
    )


def _sorted(order: Any) -> bool:
    return bool((np.diff(order) > 0).all())


def _filled(
    whole: Block, places: Sequence[int], references: Sequence[str], log: Log
) -> Iterator[Block]:
    """A stream for every reference; those that are not in the log have written nothing."""
    by_place = {place: i for i, place in enumerate(places)}
    ids, emissions = [], []
    for place in range(len(references)):
        at = by_place.get(place)
        ids.append(str(place) if at is None else whole.ids[at])
        nothing = Emission("", [], float("nan"), source_type=log.source_type)
        emissions.append(nothing if at is None else whole.streams[at])
    yield Block.of(ids, emissions, references)


def _places(whole: Block, references: Sequence[str], log: Log) -> list[int]:
    """The number of the reference of each stream."""
    if not log.by_number:
        if len(whole) > len(references):
            raise AlignError(
                f"{len(whole):,} streams, but {len(references):,} references",
                path=log.path,
                hint="give the references of this test set, one line per stream",
            )
        return list(range(len(whole)))
    places = []
    for i, number in enumerate(whole.ids):
        line = whole.lines[i] if whole.lines is not None else None
        if not number.isdecimal() or int(number) >= len(references):
            raise AlignError(
                f"index {number} has no reference: there are {len(references):,}",
                path=log.path,
                line=line,
                hint="give the references of this test set, one line per stream",
            )
        places.append(int(number))
    return places


def joined(blocks: Sequence[Block]) -> Block:
    """Several blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    references = None
    if all(b.references is not None for b in blocks):
        references = [r for b in blocks for r in b.references or ()]
    return Block(
        [i for b in blocks for i in b.ids],
        Streams.of([e for b in blocks for e in b.streams]),
        references,
        {name: [v for b in blocks for v in b.columns[name]] for name in blocks[0].columns},
        [line for b in blocks for line in b.lines or ()] or None,
    )


def _batches(log: Log, intake: Intake, settings: Settings) -> Iterator[Batch]:
    """Batches of the size that engines want; ids must not repeat."""
    seen: set[str] = set()
    first = 0
    silent = 0
    odd = Oddities()
    for block in log.blocks:
        _check_ids(block, seen, log)
        for start in range(0, len(block), BLOCK):
            part = block.part(start, min(start + BLOCK, len(block)))
            held = part.references if part.references is not None else [""] * len(part)
            odd.add(part, _odd(part, log, settings))
            silent += int((part.streams.delays.counts == 0).sum())
            _keep_staircases(part, log, intake)
            yield Batch(
                part.streams,
                TextLists.single(_without_line_ends(Texts.of(held))),
                part.ids,
                part.columns,
                first=first,
            )
            first += len(part)
    intake.warnings.extend(f"{log.path}: {line}" for line in odd.lines())
    counts = intake.counts
    counts.gold = first
    counts.predictions = counts.matched = first - counts.missing
    if silent:
        intake.warnings.append(
            f"{silent:,} of {first:,} streams have no output: they count for quality, and have no "
            "latency"
        )


def _without_line_ends(texts: Texts) -> Texts:
    """SimulEval keeps the line feed behind the reference of text."""
    last = np.frombuffer(texts.data, dtype=np.uint8).take(texts.ends - 1)
    if not ((last == 10) & (texts.ends > texts.starts)).any():
        return texts
    return Texts.of(text.rstrip("\n") for text in texts)


def _odd(block: Block, log: Log, settings: Settings) -> dict[str, Mask]:
    """What makes the numbers of a log doubtful.

    Times of segments count from the start of the segment, and simulstream's are those of words that
    got their form again and again: both may fall and be below 0.
    """
    if log.longform or log.kind not in ("fairseq", "simuleval", "events"):
        return {}
    times = odd_times(block.streams)
    if log.target_type == "speech":
        return times
    return {**times, **odd_counts(block.streams, settings.unit_of(log))}


def _keep_staircases(block: Block, log: Log, intake: Intake) -> None:
    """Delays of the first streams that wrote several units, for pictures."""
    held: list[dict[str, Any]] = intake.extra.setdefault("staircases", [])
    streams = block.streams
    for i in range(len(block)):
        if len(held) == STAIRCASES:
            return
        is_marked = bool(streams.of_text[i]) and not math.isnan(streams.end[i])
        length = float(streams.source[i])
        delays = within_source(streams.delays[i].tolist(), length, is_marked=is_marked)
        if len(delays) > 2:
            words = streams.texts[i].split()
            held.append(
                {
                    "id": block.ids[i],
                    "delays": delays,
                    "source_length": length,
                    "units": words if len(words) == len(delays) else [],
                    "unit": "words" if streams.of_text[i] else "ms",
                }
            )


def _check_ids(block: Block, seen: set[str], log: Log) -> None:
    own = set(block.ids)
    if len(own) == len(block) and seen.isdisjoint(own):
        seen |= own
        return
    for i, one in enumerate(block.ids):
        if one in seen:
            raise InputError(
                f"index {one} appears twice",
                path=log.path,
                line=block.lines[i] if block.lines is not None else None,
                hint="remove the line that does not count",
            )
        seen.add(one)

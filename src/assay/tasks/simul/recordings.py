# SPDX-License-Identifier: Apache-2.0
"""Long form: the output of whole recordings, divided among reference segments."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from assay.core.document import Intake
from assay.core.errors import AlignError, InputError, UsageError
from assay.core.task import Missing
from assay.tasks.simul.log import Block, Output
from assay.tasks.simul.segments import Recording, Segment, found_under
from assay.tasks.simul.softsegmenter import Split, emissions_fixed, segmented
from assay.tasks.simul.streams import Emission

WITHOUT_WORDS = ("zh", "ja")
"""Languages whose words are not taken apart for alignment."""


@dataclass(frozen=True, slots=True)
class LongOptions:
    """How output is divided."""

    resegment: str = "softsegmenter"
    by_character: bool = False
    lang: str | None = None
    fix_times: bool = False


def resegmented_block(
    outputs: Sequence[Output],
    recordings: Sequence[Recording],
    options: LongOptions,
    missing: Missing,
    path: Path,
    intake: Intake,
) -> Block:
    """All segments of all recordings, in the order of the list of segments."""
    by_name = _matched(outputs, recordings, missing, path, intake)
    split = _splitter(options)
    places: dict[int, tuple[Segment, Emission]] = {}
    for recording in recordings:
        output = by_name.get(recording.name)
        if output is None:
            if missing == "skip":
                continue
            output = Output(recording.name, Emission("", [], 0.0))
        found = _divided(output, recording, options, split, path)
        for place, segment, emission in zip(
            recording.places, recording.segments, found, strict=True
        ):
            places[place] = (segment, emission)
    order = sorted(places)
    return Block.of(
        [str(place) for place in order],
        [places[place][1] for place in order],
        [places[place][0].reference for place in order],
        {"recording": [places[place][0].recording for place in order]},
    )


def _matched(
    outputs: Sequence[Output],
    recordings: Sequence[Recording],
    missing: Missing,
    path: Path,
    intake: Intake,
) -> dict[str, Output]:
    names = [recording.name for recording in recordings]
    by_name: dict[str, Output] = {}
    extra = []
    for output in outputs:
        found = found_under(output.name, names)
        if found is None and len(names) == len(outputs) == 1 and not output.name:
            found = names[0]
        if found is None:
            extra.append(output.name)
        elif found in by_name:
            raise InputError(
                f"two outputs for recording {found}",
                path=path,
                line=output.line,
                hint="keep the one that counts",
            )
        else:
            by_name[found] = output
    absent = [name for name in names if name not in by_name]
    intake.counts.extra = len(extra)
    if extra:
        intake.warnings.append(
            f"{path}: {len(extra):,} outputs belong to no recording of the segments "
            f"(first: '{extra[0]}')"
        )
    if absent and missing == "error":
        raise AlignError(
            f"no output for {len(absent):,} of {len(names):,} recordings (first: '{absent[0]}')",
            path=path,
            hint="use --missing wrong to count them as empty output, or --missing skip",
        )
    return by_name


def _divided(
    output: Output, recording: Recording, options: LongOptions, split: Split | None, path: Path
) -> list[Emission]:
    emission = output.emission
    units = _units(emission, options, output, path)
    references = [
        list(s.reference.replace(" ", "")) if options.by_character else s.reference.split()
        for s in recording.segments
    ]
    if options.resegment == "mweralign":
        homes = _by_word_errors(units, recording, options)
    else:
        homes = segmented(
            [unit.strip() or unit for unit in units] if options.by_character else units,
            references,
            by_character=options.by_character,
            split=split,
        )
    delays, elapsed = emission.delays, emission.elapsed
    if options.fix_times and elapsed:
        elapsed = emissions_fixed(delays, elapsed)
    mine: list[list[int]] = [[] for _ in recording.segments]
    for unit, home in enumerate(homes):
        mine[home].append(unit)
    joint = "" if options.by_character else " "
    end = recording.end
    return [
        Emission(
            joint.join(units[i] for i in chosen),
            [delays[i] - segment.offset for i in chosen] if delays else [],
            segment.duration,
            [elapsed[i] - segment.offset for i in chosen] if elapsed else [],
            to_end=end - segment.offset,
        )
        for segment, chosen in zip(recording.segments, mine, strict=True)
    ]


def _units(emission: Emission, options: LongOptions, output: Output, path: Path) -> list[str]:
    """Words, or characters; as many as there are times."""
    units = list(emission.text) if options.by_character else emission.text.split()
    n = len(emission.delays)
    if n in (0, len(units)):
        return units
    if options.by_character:
        # Where blanks have no times of their own, they go with the character before.
        joined: list[str] = []
        for unit in units:
            if unit == " " and joined:
                joined[-1] += unit
            else:
                joined.append(unit)
        if len(joined) == n:
            return joined
    kind = "characters" if options.by_character else "words"
    hint = "" if options.by_character else "; --char-level for languages without blanks"
    raise InputError(
        f"the output for '{output.name}' has {len(units):,} {kind}, but {n:,} delays",
        path=path,
        line=output.line,
        hint=f"every unit needs its delay{hint}",
    )


def _splitter(options: LongOptions) -> Split | None:
    """How words are taken apart for alignment: by the Moses tokeniser of the language."""
    if options.lang is None or options.lang in WITHOUT_WORDS or options.by_character:
        return None
    try:
        from sacremoses import MosesTokenizer
    except ImportError:
        raise UsageError(
            "--lang needs the package sacremoses; install it: pip install 'assay[longform]'"
        ) from None
    tokeniser = MosesTokenizer(lang=options.lang)
    known: dict[str, list[str]] = {}

    def split(word: str) -> list[str]:
        found = known.get(word)
        if found is None:
            found = tokeniser.tokenize(word, escape=False, aggressive_dash_splits=True)
            known[word] = found
        return found

    return split


def _by_word_errors(units: Sequence[str], recording: Recording, options: LongOptions) -> list[int]:
    """Segments such that the word error rate is least, found by the package mweralign."""
    try:
        from mweralign import align_texts
    except ImportError:
        raise UsageError(
            "--resegment mweralign needs the package mweralign (GPL-3.0); install it: "
            "pip install mweralign"
        ) from None
    if not units:
        return []
    filled = [i for i, s in enumerate(recording.segments) if s.reference.strip()]
    if not filled:
        return [0] * len(units)
    if options.by_character:
        lines = [" ".join(recording.segments[i].reference.replace(" ", "")) for i in filled]
        text = " ".join(unit.strip() or "▁" for unit in units)
    else:
        lines = [" ".join(recording.segments[i].reference.split()) for i in filled]
        text = " ".join(units)
    with _quiet_stderr():
        found = align_texts("\n".join(lines), text).split("\n")
    homes: list[int] = []
    for place, line in zip(filled, found, strict=False):
        homes += [place] * len(line.split())
    homes += [filled[-1]] * (len(units) - len(homes))
    return homes[: len(units)]


@contextmanager
def _quiet_stderr() -> Iterator[None]:
    """The library writes notes to the file descriptor of standard error."""
    saved = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)
        os.close(nowhere)

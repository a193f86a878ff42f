# SPDX-License-Identifier: Apache-2.0
"""Spoken output as text: what a speech recogniser understood of it, one line per stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.core.document import Intake
from assay.core.errors import AlignError, UsageError
from assay.core.text import Texts
from assay.tasks.simul.files import lines_of
from assay.tasks.simul.log import Block, Log


def with_transcripts(log: Log, path: str, intake: Intake) -> Iterator[Block]:
    """The blocks of a log with the lines of a file as their texts.

    Streams with numbers find the line of their number, from 0; others go by their order.
    """
    if log.target_type != "speech":
        raise UsageError("--transcripts is for spoken output; this log holds text")
    return _transcribed(log.blocks, lines_of(Path(path), intake), path, by_number=log.by_number)


def _transcribed(
    blocks: Iterator[Block], held: list[str], path: str, *, by_number: bool
) -> Iterator[Block]:
    seen = 0
    for block in blocks:
        numbered = by_number and all(i.isdecimal() for i in block.ids)
        places = [int(i) if numbered else seen + n for n, i in enumerate(block.ids)]
        seen += len(block)
        if places and max(places) >= len(held):
            raise AlignError(
                f"{len(held):,} lines, and none for stream {block.ids[places.index(max(places))]}",
                path=path,
                hint="give one line per stream, empty where nothing was understood",
            )
        texts = Texts.of(held[place] for place in places)
        yield replace(block, streams=replace(block.streams, texts=texts))

# SPDX-License-Identifier: Apache-2.0
"""What looks wrong in the streams of a log: said when it is scored, and by `assay doctor`."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from assay.core.text import Texts
from assay.tasks.simul.log import Block
from assay.tasks.simul.ragged import Counts, Mask
from assay.tasks.simul.streams import Streams
from assay.tasks.simul.units import unit_counts


class Oddities:
    """Streams by what is odd about them: how many, and the first of them."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[int, str]] = {}

    def add(self, block: Block, odd: Mapping[str, Mask]) -> None:
        """Streams of a block that are odd, by what is odd."""
        for what, where in odd.items():
            if where.any():
                count, first = self._found.get(what, (0, ""))
                at = int(np.argmax(where))
                line = f", line {block.lines[at]:,}" if block.lines is not None else ""
                self._found[what] = count + int(where.sum()), first or f"'{block.ids[at]}'{line}"

    def lines(self) -> list[str]:
        """One line for each kind."""
        return [
            f"{count:,} stream{'s' * (count > 1)} {what} (first: {first})"
            for what, (count, first) in self._found.items()
        ]


def odd_times(streams: Streams) -> dict[str, Mask]:
    """Delays that no system can have: every unit is written after the one before it, and after the
    source has begun."""
    delays = streams.delays
    falls = delays.values < delays.previous(-np.inf)
    negative = delays.values < 0
    return {
        "with delays that fall": _of_streams(streams, falls) | (streams.end < delays.lasts()),
        "with delays below 0": _of_streams(streams, negative),
    }


def odd_counts(streams: Streams, unit: str) -> dict[str, Mask]:
    """Streams with another number of delays than units of their text, where there is a text.

    Blanks between words may have delays of their own or not where units are characters.
    """
    if unit == "spm":
        return {}
    counts = streams.delays.counts
    has_text = streams.texts.ends > streams.texts.starts
    by_word = has_text & (counts != unit_counts(streams.texts, "word"))
    if unit == "word" and not by_word.any():
        return {}
    by_character = has_text & ~_are_characters(counts, streams.texts)
    if unit == "char":
        return {"with another number of delays than characters": by_character}
    return {
        "with another number of delays than words": by_word & by_character,
        "with a delay for each character, not for each word; --eval-latency-unit char counts "
        "references so too": by_word & ~by_character,
    }


def _are_characters(counts: Counts, texts: Texts) -> Mask:
    bare = unit_counts(texts, "char")
    spaced = np.array([len(text) for text in texts], dtype=np.int64)
    found: Mask = (counts == bare) | (counts == spaced)
    return found


def _of_streams(streams: Streams, units: Mask) -> Mask:
    """The streams that have such a unit."""
    found = np.zeros(len(streams), dtype=bool)
    if units.any():
        found[streams.delays.owners[units]] = True
    return found

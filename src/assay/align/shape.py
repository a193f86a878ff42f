# SPDX-License-Identifier: Apache-2.0
"""What makes line counts differ: blank lines at the end, line breaks that only some tools see."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.core.text import TextLists

# What str.splitlines breaks at and line feeds alone do not.
_ASCII_BREAKS = {
    b"\x0b": "U+000B",
    b"\x0c": "U+000C",
    b"\r": "a lone CR",
    b"\x1c": "U+001C",
    b"\x1d": "U+001D",
    b"\x1e": "U+001E",
}
_WIDE_BREAKS = {b"\xc2\x85": "U+0085", b"\xe2\x80\xa8": "U+2028", b"\xe2\x80\xa9": "U+2029"}
_BREAKS = {**_ASCII_BREAKS, **_WIDE_BREAKS}


class Shape:
    """Counts over one side: line breaks inside records, and empty records at the end.

    Of several texts per record the first is looked at.
    """

    def __init__(self) -> None:
        self.breaks: Counter[str] = Counter()
        self.n_blank_end = 0

    def add(self, values: Sequence[Any]) -> None:
        """Look at the next block."""
        if not isinstance(values, TextLists) or not len(values):
            return
        texts = values.firsts()
        low, high = int(texts.starts[0]), int(texts.ends[-1])
        if high > int(texts.starts[-1]):
            self.n_blank_end = 0
        else:
            filled = np.flatnonzero(texts.ends > texts.starts)
            if not len(filled):
                self.n_blank_end += len(texts)
                return
            self.n_blank_end = len(texts) - 1 - int(filled[-1])
            low, high = int(texts.starts[filled[0]]), int(texts.ends[filled[-1]])
        # Only the part of the buffer that is ours: blocks may share one.
        view = np.frombuffer(texts.data, dtype=np.uint8)[low:high]
        plain = texts.data.isascii()
        if plain and np.count_nonzero(view < 0x20) == np.count_nonzero(view == 10):
            return  # two quick looks instead of one for each kind of break
        data = texts.data[low:high]
        for mark, name in (_ASCII_BREAKS if plain else _BREAKS).items():
            if mark in data:
                self.breaks[name] += data.count(mark)


def explained(
    name_a: str, n_a: int, shape_a: Shape, name_b: str, n_b: int, shape_b: Shape
) -> str | None:
    """Why the counts differ, if something explains the difference exactly."""
    if n_a < n_b:
        name_a, n_a, shape_a, name_b, n_b, shape_b = name_b, n_b, shape_b, name_a, n_a, shape_a
    more = n_a - n_b
    if shape_a.n_blank_end - shape_b.n_blank_end == more:
        if more == 1:
            return f"{name_a} has a blank line too many at its end: remove it"
        return f"{name_a} has {more:,} blank lines too many at its end: remove them"
    if shape_b.breaks.total() == more:
        kinds = ", ".join(sorted(shape_b.breaks))
        noun = "line break" if more == 1 else "line breaks"
        return (
            f"{name_b} holds {more:,} {noun} other than line feeds ({kinds}), at which {name_a} "
            "seems to have been split: replace by spaces before splitting"
        )
    return None

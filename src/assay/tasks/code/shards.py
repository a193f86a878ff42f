# SPDX-License-Identifier: Apache-2.0
"""What a side's files look like: line breaks, byte order marks, and shards that do not match."""

from __future__ import annotations

import os
import re

import numpy as np

from assay.core.text import Texts

_MARK = b"\xef\xbb\xbf"
_NAMES = {0x0D: "a lone CR", 0x85: "U+0085", 0xA8: "U+2028", 0xA9: "U+2029"}


class Side:
    """One side's files, as far as they have been read."""

    def __init__(self, role: str) -> None:
        self.role = role
        self.files: list[str] = []
        self.counts: dict[str, int] = {}
        self.marked: list[str] = []
        self.n_odd = 0
        self.first_odd: str | None = None

    @property
    def name(self) -> str:
        """The file, or the first file and how many others."""
        if not self.files:
            return self.role
        others = len(self.files) - 1
        return f"{self.files[0]} and {others} more" if others else self.files[0]

    def add(self, path: str, texts: Texts, first: int) -> None:
        """Look at the next lines of a file."""
        self.counts[path] = self.counts.get(path, 0) + len(texts)
        if first == 0 and texts.data.startswith(_MARK):
            self.marked.append(path)
        view = np.frombuffer(texts.data, dtype=np.uint8)
        ends = view[texts.ends]
        odd = np.flatnonzero(ends != 10)
        if not len(odd):
            return
        after = view[np.minimum(texts.ends[odd] + 1, len(view) - 1)]
        odd = odd[~((ends[odd] == 13) & (after == 10))]
        if len(odd) and self.first_odd is None:
            at = int(texts.ends[odd[0]])
            self.first_odd = (
                f"{path}, line {first + int(odd[0]) + 1:,} ends in {_named(texts.data, at)}"
            )
        self.n_odd += len(odd)

    def warnings(self) -> list[str]:
        """What to tell about the files of this side."""
        found = [
            f"{path}: the byte order mark was kept, and is part of the first token"
            for path in self.marked
        ]
        if self.n_odd:
            lines = "line ends" if self.n_odd == 1 else "lines end"
            found.append(
                f"{self.name}: {self.n_odd:,} {lines} in a break other than a line feed, first: "
                f"{self.first_odd}; use --line-breaks lf if that is part of the text"
            )
        return found


def _named(data: bytes, at: int) -> str:
    code = data[at]
    if code >= 0x80:
        code = data[at + 1] if code == 0xC2 else data[at + 2]
    return _NAMES.get(code, f"U+{code:04X}")


def shard_warnings(left: Side, right: Side) -> list[str]:
    """What to tell about two sides in several files each, which are read in order of code points.

    >>> a, b = Side("predictions"), Side("gold")
    >>> a.files, b.files = ["p-10", "p-2"], ["t-02", "t-10"]
    >>> shard_warnings(a, b)[0][:64]
    'the shards of predictions and gold sort differently: p-10 is rea'
    """
    if max(len(left.files), len(right.files)) < 2:
        return []
    if len(left.files) != len(right.files):
        return [f"{len(left.files):,} files of predictions but {len(right.files):,} of gold"]
    for a, b in zip(left.files, right.files, strict=True):
        if _numbers(a) != _numbers(b) and sorted(map(_numbers, left.files)) == sorted(
            map(_numbers, right.files)
        ):
            return [
                f"the shards of predictions and gold sort differently: {a} is read beside {b}; "
                "give both sides the same numbers, with leading zeros"
            ]
    for a, b in zip(left.files, right.files, strict=True):
        n_a, n_b = left.counts.get(a, 0), right.counts.get(b, 0)
        if n_a != n_b:
            return [
                f"{a} has {n_a:,} lines and {b}, which is read beside it, has {n_b:,}; "
                "are these shards of the same data?"
            ]
    return []


def _numbers(path: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"[0-9]+", os.path.basename(path))))

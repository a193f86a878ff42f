# SPDX-License-Identifier: Apache-2.0
"""SoftSegmenter: divides the output for a long recording among its reference segments.

The words of output and references are aligned so that similar ones meet, in order; nothing is paid
for words that meet nobody. Each word of the output goes to the segment of the reference word that
it met, or of the nearest one before or behind that it resembles more.

The table has a row per reference word and a column per output word. Of each cell only two bits are
kept, and a row is computed at once: every cell is the largest of a match, of the cell above, and of
all cells to its left.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.tasks.simul.ragged import Counts, Mask, Numbers

PUNCTUATION = frozenset(".!?,;:-()。！？，；：—（）ー")

Split = Callable[[str], Sequence[str]]
"""A word to the pieces it is aligned by; the first decides where the word goes."""

_CACHE = 64 << 20
"""Bytes of similarities that are kept for words that come again."""


@dataclass(frozen=True, slots=True)
class Pieces:
    """Pieces of words in order, and the word of each; `is_main` marks the first of a word."""

    texts: Sequence[str]
    owner: Counts
    is_main: Mask


def normalised(text: str) -> str:
    """How words are compared: compatible forms alike, in lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def pieces_of(words: Sequence[str], split: Split | None = None) -> Pieces:
    """The pieces of words."""
    texts: list[str] = []
    owner: list[int] = []
    main: list[bool] = []
    for number, word in enumerate(words):
        parts = [normalised(p) for p in split(word)] if split is not None else []
        parts = parts or [normalised(word)]
        texts += parts
        owner += [number] * len(parts)
        main += [True] + [False] * (len(parts) - 1)
    return Pieces(texts, np.array(owner, dtype=np.int64), np.array(main, dtype=bool))


def segmented(
    output: Sequence[str],
    references: Sequence[Sequence[str]],
    *,
    by_character: bool = False,
    split: Split | None = None,
) -> list[int]:
    """The segment of each word of the output; `references` are the words of each segment.

    >>> segmented("so this is one and two".split(), ["this is one".split(), "and two".split()])
    [0, 0, 0, 0, 1, 1]
    """
    words = [word.lower() for segment in references for word in segment]
    home = [number for number, segment in enumerate(references) for _ in segment]
    if not output:
        return []
    if not words:
        return [0] * len(output)
    hypothesis, reference = pieces_of(output, split), pieces_of(words, split)
    table = Similarity(reference.texts, hypothesis.texts, by_character)
    met = aligned(table)
    place = _placed(met, table)
    segment = np.asarray(home, dtype=np.int64)[reference.owner[place]]
    homes: list[int] = segment[hypothesis.is_main].tolist()
    return homes


class Similarity:
    """How alike reference pieces (rows) and output pieces (columns) are.

    Words are as alike as their sets of characters: shared ones over all. Characters are equal or
    not. A punctuation mark meets only punctuation marks.
    """

    def __init__(self, rows: Sequence[str], columns: Sequence[str], by_character: bool) -> None:
        self.by_character = by_character
        self._rows, self._row_ids = _numbered(rows)
        self._columns, self.column_ids = _numbered(columns)
        self.shape = (len(rows), len(columns))
        alphabet = {c: i for i, c in enumerate(sorted({c for w in self._columns for c in w}))}
        self._alphabet = alphabet
        self._letters = np.zeros((len(self._columns), len(alphabet)), dtype=np.float32)
        for number, word in enumerate(self._columns):
            self._letters[number, [alphabet[c] for c in set(word)]] = 1.0
        self._sizes = np.array([len(set(w)) for w in self._columns], dtype=np.float64)
        self._marks = np.array([w in PUNCTUATION for w in self._columns])
        self._known: dict[int, Numbers] = {}
        self._room = max(1, _CACHE // (8 * max(1, len(self._columns))))

    def to_vocabulary(self, row: int) -> Numbers:
        """How alike row `row` is to each distinct output piece."""
        number = int(self._row_ids[row])
        found = self._known.get(number)
        if found is None:
            found = self._computed(self._rows[number])
            if len(self._known) < self._room:
                self._known[number] = found
        return found

    def one(self, row: int, column: int) -> float:
        """How alike one row and one column are."""
        return float(self.to_vocabulary(row)[self.column_ids[column]])

    def _computed(self, word: str) -> Numbers:
        if self.by_character:
            found = np.array([float(word == other) for other in self._columns])
        else:
            letters = set(word)
            mine = np.zeros(len(self._alphabet), dtype=np.float32)
            mine[[self._alphabet[c] for c in letters if c in self._alphabet]] = 1.0
            shared = (self._letters @ mine).astype(np.float64)
            found = shared / np.maximum(len(letters) + self._sizes - shared, 1.0)
        return np.where(self._marks != (word in PUNCTUATION), -np.inf, found)


def aligned(table: Similarity) -> Counts:
    """For each column, the row that it met; -1 - r where it met none and r rows were passed."""
    n_rows, n_columns = table.shape
    width = (n_columns + 7) // 8
    is_match = np.empty((n_rows, width), dtype=np.uint8)
    is_above = np.empty((n_rows, width), dtype=np.uint8)
    best = np.zeros(n_columns + 1)
    columns = table.column_ids
    candidate = np.empty(n_columns)
    match = np.empty(n_columns)
    for row in range(n_rows):
        np.take(table.to_vocabulary(row), columns, out=match)
        match += best[:-1]
        above = best[1:]
        np.maximum(match, above, out=candidate)
        np.maximum(candidate, 0.0, out=candidate)  # the border to the left
        np.maximum.accumulate(candidate, out=candidate)
        is_match[row] = np.packbits(match == candidate)
        is_above[row] = np.packbits(above == candidate)
        best[1:] = candidate
    return _traced(is_match, is_above, n_rows, n_columns)


def _traced(
    is_match: NDArray[np.uint8], is_above: NDArray[np.uint8], n_rows: int, n_columns: int
) -> Counts:
    """Back from the corner: a match if that is as good as anything, else skip a row, a column."""
    met = np.empty(n_columns, dtype=np.int64)
    row, column = n_rows, n_columns
    while column > 0:
        if row == 0:
            met[:column] = -1
            break
        byte, bit = divmod(column - 1, 8)
        mask = 128 >> bit
        if is_match[row - 1, byte] & mask:
            row, column = row - 1, column - 1
            met[column] = row
        elif is_above[row - 1, byte] & mask:
            row -= 1
        else:
            column -= 1
            met[column] = -1 - row
    return met


def _placed(met: Counts, table: Similarity) -> Counts:
    """The row that each column belongs to: the one it met, or the more alike of its neighbours.

    The neighbours of a column that met nobody are the last row passed before it and the next row
    in line. If it prefers the next, all unmatched columns up to that row follow it.
    """
    n_rows = table.shape[0]
    placed = met.copy()
    column, n_columns = 0, len(met)
    while column < n_columns:
        if met[column] >= 0:
            column += 1
            continue
        passed = -1 - int(met[column])
        stop = column  # columns that met nobody, with no row between them
        while stop < n_columns and met[stop] == met[column]:
            stop += 1
        last, following = passed - 1, passed
        while column < stop:
            before = table.one(last, column) if last >= 0 else -np.inf
            behind = table.one(following, column) if following < n_rows else -np.inf
            if behind > before or last < 0:
                placed[column:stop] = min(following, n_rows - 1)
                break
            placed[column] = last
            column += 1
        column = stop
    return placed


def _numbered(texts: Sequence[str]) -> tuple[list[str], Counts]:
    numbers: dict[str, int] = {}
    ids = np.array([numbers.setdefault(text, len(numbers)) for text in texts], dtype=np.int64)
    return list(numbers), ids


def emissions_fixed(delays: Sequence[float], elapsed: Sequence[float]) -> list[float]:
    """Computation-aware times without the time that was spent before each unit.

    SimulEval adds all time on the clock since the recording began, so that times of a long
    recording run away. Only what was added since the unit before is kept, on top of its delay.
    """
    fixed: list[float] = []
    for i, time in enumerate(elapsed):
        if i == 0:
            fixed.append(time)
        else:
            fixed.append(max(time - elapsed[i - 1] + delays[i - 1], fixed[-1]))
    return fixed

# SPDX-License-Identifier: Apache-2.0
"""Which values of two columns of lists are equal, for many papers at once and byte for byte.

Texts are compared eight bytes at a time, as numbers. No hash decides: two values are equal only if
all their bytes are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.text import Positions, TextLists, Texts

Flags = NDArray[np.bool_]
Words = NDArray[np.uint64]

PAIRS = 1 << 18
"""Pairs of values that are laid out at once; longer lists are compared as Python sets."""


_MASKS: Words = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_BLOCK = 1 << 16


class Words8:
    """Eight bytes from any position of a column's buffer, as one number; zeros behind its end."""

    def __init__(self, data: bytes) -> None:
        if len(data) < 8:
            data = data + bytes(8)
        # Overlapping and unaligned: element i begins at byte i.
        self.words: Words = np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))

    def at(self, positions: Positions, lengths: Positions) -> Words:
        """The bytes at `positions`, `lengths` of them (8 or more means 8), the rest zero."""
        masks = _MASKS.take(np.minimum(lengths, 8))
        last = len(self.words) - 1
        if len(positions) and int(positions.max()) > last:
            inside = np.minimum(positions, last)
            # Behind the end only nothing can be asked for, and shifting by 64 or more is undefined.
            shift = np.minimum((positions - inside) * 8, 63).astype(np.uint64)
            found: Words = (self.words[inside] >> shift) & masks
            return found
        found = self.words[positions]
        found &= masks
        return found


def equal(left: Texts, right: Texts) -> Flags:
    """Whether text i of one column is text i of the other.

    >>> equal(Texts.of(["a", "Müller", ""]), Texts.of(["b", "Müller", ""])).tolist()
    [False, True, True]
    """
    lengths = left.ends - left.starts
    same: Flags = lengths == right.ends - right.starts
    at = np.flatnonzero(same & (lengths > 0))
    words = Words8(left.data), Words8(right.data)
    offset = 0
    while len(at):
        rest = lengths[at] - offset
        ours = words[0].at(left.starts[at] + offset, rest)
        theirs = words[1].at(right.starts[at] + offset, rest)
        agree = ours == theirs
        same[at[~agree]] = False
        at = at[agree & (rest > 8)]
        offset += 8
    return same


def fingerprints(texts: Texts) -> Words:
    """A number per text; equal texts have equal numbers, others nearly never.

    >>> marks = fingerprints(Texts.of(["Ada", "Bob", "Ada"]))
    >>> bool(marks[0] == marks[2]), bool(marks[0] == marks[1])
    (True, False)
    """
    marks = np.empty(len(texts), dtype=np.uint64)
    words = Words8(texts.data)
    for start in range(0, len(texts), _BLOCK):
        block = slice(start, start + _BLOCK)
        marks[block] = _fingerprints(words, texts.starts[block], texts.ends[block])
    return marks


def _fingerprints(words: Words8, starts: Positions, ends: Positions) -> Words:
    rest = ends - starts
    marks = rest.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    at = np.flatnonzero(rest)
    while len(at):
        mixed = (marks[at] ^ words.at(starts[at], rest[at])) * np.uint64(0xD6E8FEB86659FD93)
        marks[at] = mixed ^ (mixed >> np.uint64(32))
        starts, rest = starts + 8, rest - 8
        at = at[rest[at] > 0]
    return marks


class Marks(NamedTuple):
    """The first and last eight bytes of each text and its length: for texts of up to 16 bytes all
    there is, for longer ones enough to rule nearly all others out."""

    heads: Words
    tails: Words
    lengths: Positions

    @classmethod
    def of(cls, texts: Texts) -> Marks:
        """The marks of a column."""
        words = Words8(texts.data)
        lengths = texts.ends - texts.starts
        ends = texts.ends - np.minimum(lengths, 8)
        return cls(words.at(texts.starts, lengths), words.at(ends, lengths), lengths)


class Found(NamedTuple):
    """What is known of each value: is it on the other side, did its list have it before."""

    predicted: Flags
    predicted_again: Flags
    gold_again: Flags


def compare(predictions: TextLists, gold: TextLists, owners: Positions) -> Found:
    """Compare the values of list i of `predictions` with those of list `owners[i]` of `gold`.

    >>> found = compare(TextLists.of([["A", "A", "X"]]), TextLists.of([["A", "B"]]), np.array([0]))
    >>> found.predicted.tolist(), found.predicted_again.tolist(), found.gold_again.tolist()
    ([True, True, False], [False, True, False], [False, False])
    """
    values, gold_values = predictions.values, gold.values
    marks, gold_marks = Marks.of(values), Marks.of(gold_values)
    hits = np.zeros(len(values), dtype=bool)
    n_gold = gold.counts()
    for start, stop in _stretches(predictions.counts() * n_gold[owners]):
        if stop - start == 1 and _pairs_of(predictions, gold, owners, start) > PAIRS:
            held = set(gold[int(owners[start])])
            first, last = int(predictions.splits[start]), int(predictions.splits[start + 1])
            hits[first:last] = [text in held for text in values[first:last]]
            continue
        lists = np.arange(start, stop)
        counts = predictions.counts()[lists]
        ours = np.arange(int(predictions.splits[start]), int(predictions.splits[stop]))
        owner = np.repeat(owners[lists], counts)
        one, other = _lay_out(ours, gold.splits[owner], n_gold[owner])
        _mark(hits, one, other, marks, gold_marks, values, gold_values)
    return Found(hits, repeats(predictions, marks), repeats(gold, gold_marks))


def repeats(lists: TextLists, marks: Marks | None = None) -> Flags:
    """Which values their own list already held further left.

    >>> repeats(TextLists.of([["a", "b", "a"], ["b"]])).tolist()
    [False, False, True, False]
    """
    values, counts = lists.values, lists.counts()
    again = np.zeros(len(values), dtype=bool)
    if marks is None:
        marks = Marks.of(values)
    for start, stop in _stretches(counts * (counts - 1) // 2):
        if stop - start == 1 and int(counts[start]) ** 2 // 2 > PAIRS:
            seen: set[str] = set()
            first = int(lists.splits[start])
            for i, text in enumerate(lists[start]):
                again[first + i] = text in seen
                seen.add(text)
            continue
        ours = np.arange(int(lists.splits[start]), int(lists.splits[stop]))
        begin = np.repeat(lists.splits[start:stop], counts[start:stop])
        one, other = _lay_out(ours, begin, ours - begin)
        _mark(again, one, other, marks, marks, values, values)
    return again


def _pairs_of(predictions: TextLists, gold: TextLists, owners: Positions, i: int) -> int:
    owner = int(owners[i])
    n_gold = int(gold.splits[owner + 1] - gold.splits[owner])
    return int(predictions.splits[i + 1] - predictions.splits[i]) * n_gold


def _stretches(pairs: Positions) -> list[tuple[int, int]]:
    """Cut the lists into runs of about `PAIRS` pairs; a list with more is a run by itself."""
    total = np.cumsum(pairs)
    cuts, start = [], 0
    while start < len(pairs):
        before = int(total[start - 1]) if start else 0
        stop = int(np.searchsorted(total, before + PAIRS, side="right"))
        stop = max(stop, start + 1)
        cuts.append((start, stop))
        start = stop
    return cuts


def _lay_out(ours: Positions, begin: Positions, count: Positions) -> tuple[Positions, Positions]:
    """Every pair of `ours[i]` with `begin[i]`, `begin[i] + 1`, ... (`count[i]` of them)."""
    one = np.repeat(ours, count)
    ends = np.cumsum(count)
    other = np.arange(len(one)) + np.repeat(begin - (ends - count), count)
    return one, other


def _mark(
    flags: Flags,
    one: Positions,
    other: Positions,
    marks: Marks,
    other_marks: Marks,
    texts: Texts,
    other_texts: Texts,
) -> None:
    """Set the flag of `one[i]` where its text is that of `other[i]`."""
    for ours, theirs in zip(marks, other_marks, strict=True):
        near = np.flatnonzero(ours[one] == theirs[other])
        one, other = one[near], other[near]
    long = marks.lengths[one] > 16
    flags[one[~long]] = True
    one, other = one[long], other[long]
    same = equal(_middle(texts.take(one)), _middle(other_texts.take(other)))
    flags[one[same]] = True


def _middle(texts: Texts) -> Texts:
    """What lies between the first and the last eight bytes."""
    return Texts(texts.data, texts.starts + 8, texts.ends - 8)

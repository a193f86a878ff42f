# SPDX-License-Identifier: Apache-2.0
"""Tokens of many lines at once: where they lie, and two numbers that stand for each.

A line is split at single spaces and nothing else; empty tokens count, so every line has at least
one. The first number of a token (its head) is its first eight bytes, the second (its tail) the next
eight; of a token of more than 16 bytes the tail is a hash whose top byte is 0xFF, which no UTF-8
text contains. `Tokens.exact` says whether equal numbers really mean equal tokens here, so that a
kernel that compares numbers can say that it compared tokens.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.core.text import Positions, Texts

Numbers = NDArray[np.uint64]

WORD = 8
"""Bytes that one number can hold."""

TAIL = 2 * WORD
"""Bytes behind the last token, so that whole words can be loaded from any token."""

MASKS = np.array([(1 << 8 * n) - 1 for n in range(WORD + 1)], dtype=np.uint64)
"""The first n bytes of a word."""

_ALL = np.uint64(0xFFFFFFFFFFFFFFFF)
_SPACE = 32
_FACTOR = np.uint64(0x9E3779B97F4A7C15)
_LONG = np.uint64(0xFF << 56)
_HASH_WORDS = 8
"""Tokens beyond this many words are hashed one by one, by hashlib."""

_SLOT_BITS = 12
_SLOT_STEP = 8


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of some texts, text after text.

    Token t is `data[starts[t]:ends[t]]`, its first number is `heads[t]`; those of text i begin at
    `first[i]` and are `counts[i]`. `long` are the tokens of more than eight bytes, and `tails`
    their second numbers. `data` goes on for `TAIL` bytes after the last token. If not `exact`, two
    different tokens may have the same numbers.
    """

    data: bytes
    starts: Positions
    ends: Positions
    first: Positions
    counts: Positions
    heads: Numbers
    long: Positions
    tails: Numbers
    exact: bool

    def __len__(self) -> int:
        return len(self.starts)

    def bytes_of(self, index: int) -> bytes:
        """Token number `index` as UTF-8 bytes."""
        return self.data[int(self.starts[index]) : int(self.ends[index])]

    def single(self) -> Numbers | None:
        """One number per token, the head where a token has no more than eight bytes.

        Equal where tokens are, and only there; None if that cannot be shown quickly.
        """
        if not self.exact or not len(self.long):
            return self.heads if self.exact else None
        heads, tails = self.heads[self.long], self.tails
        hashes = _mixed(heads * _FACTOR, tails) | _LONG

        def same(a: Positions, b: Positions) -> bool:
            return bool((heads[a] == heads[b]).all()) and bool((tails[a] == tails[b]).all())

        if not _agree(hashes, same):
            return None
        mixed = self.heads.copy()
        mixed[self.long] = hashes
        return mixed

    def ids(self) -> Numbers:
        """One number per token, equal where tokens are, and only there, whatever they hold."""
        found = self.single()
        if found is not None:
            return found
        known: dict[bytes, int] = {}
        listed = [known.setdefault(self.bytes_of(i), len(known)) for i in range(len(self))]
        return np.array(listed, dtype=np.uint64)


def split(*columns: Texts) -> Tokens:
    """Tokens of each text of all columns, one column after the other.

    >>> found = split(Texts.of(["get name", ""]), Texts.of(["a  b"]))
    >>> [found.bytes_of(i) for i in range(len(found))], found.counts.tolist()
    ([b'get', b'name', b'', b'a', b'', b'b'], [2, 1, 3])
    """
    data, starts, ends = _packed(columns)
    view = np.frombuffer(data, dtype=np.uint8)
    borders = view == _SPACE
    gaps = starts[1:] - ends[:-1]
    if len(gaps) and int(gaps.max()) > 1:
        for step in (1, 2):  # a break of two or three bytes: nothing in it is part of a text
            borders[ends[:-1][gaps > step] + step] = False
    borders[ends] = True
    token_ends = np.flatnonzero(borders)
    last = np.flatnonzero(view[token_ends] != _SPACE)
    first = np.zeros_like(last)
    first[1:] = last[:-1] + 1
    token_starts = np.empty_like(token_ends)
    token_starts[1:] = token_ends[:-1] + 1
    token_starts[first] = starts
    return _numbered(data, token_starts, token_ends, first, last - first + 1)


def _packed(columns: tuple[Texts, ...]) -> tuple[bytes, Positions, Positions]:
    """All texts in one run of bytes, one to three bytes between two of them, and a tail."""
    pieces, starts, ends, shift = [], [], [], 0
    for column in columns:
        if not len(column):
            continue
        if not _is_broken(column):
            column = column.compact()
        low, high = int(column.starts[0]), int(column.ends[-1])
        pieces.append(column.data[low:high])
        starts.append(column.starts + (shift - low))
        ends.append(column.ends + (shift - low))
        shift += high - low + 1
    pieces.append(bytes(TAIL))
    none = np.zeros(0, dtype=np.int64)
    return b"\n".join(pieces), np.concatenate([none, *starts]), np.concatenate([none, *ends])


def _is_broken(column: Texts) -> bool:
    """Whether texts follow one another with one to three bytes between, and no space after any."""
    gaps = column.starts[1:] - column.ends[:-1]
    if len(gaps) and (int(gaps.min()) < 1 or int(gaps.max()) > 3):
        return False
    view = np.frombuffer(column.data, dtype=np.uint8)
    return not bool((view[column.ends[:-1]] == _SPACE).any())


def words(data: bytes) -> Callable[[Positions], Numbers]:
    """A function that loads the eight bytes from each of some places on, none of them at the end.

    Two loads at multiples of eight and a shift are much quicker than one from anywhere.
    """
    whole = np.frombuffer(data, dtype="<u8", count=len(data) // WORD)

    def load(places: Positions) -> Numbers:
        at = places >> 3
        shift = (places & 7).view(np.uint64) << np.uint64(3)
        found: Numbers = whole.take(at, mode="clip")
        found >>= shift
        np.subtract(np.uint64(64), shift, out=shift)
        at += 1
        found |= whole.take(at, mode="clip") << shift  # a shift by 64 leaves nothing
        return found

    return load


def _numbered(
    data: bytes, starts: Positions, ends: Positions, first: Positions, counts: Positions
) -> Tokens:
    # Eight bytes per token, then what lies behind the token is masked out.
    load = words(data)
    lengths = ends - starts
    heads = load(starts)
    masks = (lengths << 3).view(np.uint64)
    np.left_shift(_ALL, masks, out=masks)  # a shift by 64 and more leaves nothing
    heads &= np.invert(masks, out=masks)
    # A NUL at the end of a token cannot be told from what is masked out; the tail alone has NULs.
    exact = data.find(b"\0") >= len(data) - TAIL
    long = np.flatnonzero(lengths > WORD)
    tails, agreed = _Rest(data, load, starts[long] + WORD, lengths[long] - WORD).numbers()
    return Tokens(data, starts, ends, first, counts, heads, long, tails, exact and agreed)


class _Rest:
    """What follows the first eight bytes of some tokens."""

    def __init__(
        self,
        data: bytes,
        load: Callable[[Positions], Numbers],
        starts: Positions,
        lengths: Positions,
    ) -> None:
        self._data, self._load = data, load
        self._starts, self._lengths = starts, lengths

    def numbers(self) -> tuple[Numbers, bool]:
        """One number for each, and whether equal ones mean equal bytes."""
        found = self._word(0, np.arange(len(self._starts)))
        long = np.flatnonzero(self._lengths > WORD)
        if not len(long):
            return found, True
        found[long] = hashes = self._hashes(found[long], long)
        return found, _agree(hashes, lambda a, b: self._same(long[a], long[b]))

    def _word(self, index: int, chosen: Positions) -> Numbers:
        """Bytes from `8 * index` on of the chosen ones, none from behind their ends."""
        found = self._load(self._starts[chosen] + WORD * index)
        found &= MASKS.take(self._lengths[chosen] - WORD * index, mode="clip")
        return found

    def _whole(self, index: int) -> bytes:
        start = int(self._starts[index])
        return self._data[start : start + int(self._lengths[index])]

    def _hashes(self, firsts: Numbers, chosen: Positions) -> Numbers:
        """A number with the top byte 0xFF for each, made from all its bytes."""
        found = firsts * _FACTOR
        index, open_ = 1, np.arange(len(found))
        while len(open_) and index < _HASH_WORDS:
            found[open_] = _mixed(found[open_], self._word(index, chosen[open_]))
            index += 1
            open_ = open_[self._lengths[chosen[open_]] > WORD * index]
        for place in open_.tolist():
            digest = hashlib.blake2b(self._whole(int(chosen[place])), digest_size=WORD).digest()
            found[place] = int.from_bytes(digest, "little")
        return found ^ (found >> np.uint64(32)) | _LONG

    def _same(self, left: Positions, right: Positions) -> bool:
        if bool((self._lengths[left] != self._lengths[right]).any()):
            return False
        index = 0
        while len(left) and index < _HASH_WORDS:
            if bool((self._word(index, left) != self._word(index, right)).any()):
                return False
            index += 1
            more = self._lengths[left] > WORD * index
            left, right = left[more], right[more]
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return all(self._whole(a) == self._whole(b) for a, b in pairs)


def _mixed(found: Numbers, more: Numbers) -> Numbers:
    """A hash continued by another word."""
    mixed: Numbers = found ^ (found >> np.uint64(29))
    mixed += more
    mixed *= _FACTOR
    mixed ^= mixed >> np.uint64(32)
    return mixed


def _agree(hashes: Numbers, same: Callable[[Positions, Positions], bool]) -> bool:
    """Whether equal hashes mean the same, as far as that can be shown quickly.

    Some bits of the hash choose a slot, and what holds the slot stands for all with its hash; what
    meets another hash in its slot tries again with other bits.
    """
    slots = np.empty(1 << max(_SLOT_BITS, len(hashes).bit_length() + 1), dtype=np.int64)
    rest = np.arange(len(hashes))
    for shift in range(0, 40, _SLOT_STEP):
        slot = (hashes[rest] >> np.uint64(shift) & np.uint64(len(slots) - 1)).view(np.int64)
        slots[slot] = rest
        holder = slots[slot]
        alike = hashes[holder] == hashes[rest]
        others = np.flatnonzero(alike & (holder != rest))
        if not same(rest[others], holder[others]):
            return False
        rest = rest[~alike]
        if not len(rest):
            return True
    return False

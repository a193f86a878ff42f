# SPDX-License-Identifier: Apache-2.0
"""Counting the tokens that two texts share, for many pairs of texts at once.

A token is a place in a buffer of bytes. Tokens of a pair are brought together by sorting their
hashes, and then compared byte by byte: a hash only says where to look. Pairs in which two
different tokens have the same hash are counted one token at a time.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.text import Positions, Texts

BLOCK = 4_096
"""Pairs per block, so that a block's arrays stay in the cache. At most 2**12: see `_keys`."""

Words = NDArray[np.uint64]

# What str.split() splits at: in ASCII, and beyond.
_IS_SPACE = np.zeros(256, dtype=bool)
_IS_SPACE[[9, 10, 11, 12, 13, 28, 29, 30, 31, 32]] = True
_WIDE_SPACE = re.compile("[\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]")

# Masks that keep the first 0 to 8 bytes of a little-endian word.
_KEEP: Words = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
_HASHED_BYTES = 64


class Overlap(NamedTuple):
    """Per pair: tokens that both sides have (as often as both have them), and of each side."""

    shared: Positions
    predicted: Positions
    gold: Positions


class _Tokens(NamedTuple):
    data: bytes
    starts: Positions
    lengths: Positions
    counts: Positions  # per text


def overlaps(predictions: Texts, gold: Texts) -> Overlap:
    """How many tokens prediction i and gold i share, with repetitions.

    >>> [n.tolist() for n in overlaps(Texts.of(["a b b", "x"]), Texts.of(["b b a b", ""]))]
    [[3, 0], [3, 1], [4, 0]]
    """
    parts = [
        _block(predictions[at : at + BLOCK], gold[at : at + BLOCK])
        for at in range(0, len(gold), BLOCK)
    ]
    if not parts:
        none = np.zeros(0, dtype=np.int64)
        return Overlap(none, none, none)
    return Overlap(*map(np.concatenate, zip(*parts, strict=True)))


def _block(predictions: Texts, gold: Texts) -> Overlap:
    n = len(gold)
    left, right = _tokenise(predictions), _tokenise(gold)
    data = left.data + right.data + b"\0" * 8  # room to load eight bytes at the last token
    starts = np.concatenate([left.starts, right.starts + len(left.data)])
    lengths = np.concatenate([left.lengths, right.lengths])
    pairs = np.arange(n)
    owner = np.concatenate([np.repeat(pairs, left.counts), np.repeat(pairs, right.counts)])
    shared = np.zeros(n, dtype=np.int64)
    if len(starts):
        load = np.ndarray((len(data) - 7,), dtype="<u8", buffer=data, strides=(1,))
        first = load[starts] & _KEEP[np.minimum(lengths, 8)]
        keys = _keys(owner, _hashes(load, first, starts, lengths), len(left.starts))
        order = np.argsort(keys)
        found = keys[order]
        is_new = np.empty(len(found), dtype=bool)
        is_new[0] = True
        np.not_equal(found[1:] >> np.uint64(1), found[:-1] >> np.uint64(1), out=is_new[1:])
        group = np.flatnonzero(is_new)
        sizes = np.diff(group, append=len(found))
        in_gold = np.add.reduceat((found & np.uint64(1)).astype(np.int64), group)
        both = np.minimum(in_gold, sizes - in_gold)
        shared += np.bincount(owner[order[group]], weights=both, minlength=n).astype(np.int64)
        again = np.flatnonzero(~is_new)
        one, other = order[again - 1], order[again]
        differ = _differ(data, load, first, starts, lengths, one, other)
        for i in np.unique(owner[one[differ]]).tolist():
            shared[i] = sum((Counter(predictions[i].split()) & Counter(gold[i].split())).values())
    return Overlap(shared, left.counts, right.counts)


def _tokenise(texts: Texts) -> _Tokens:
    packed = texts.compact()
    if not packed.data.isascii() and _WIDE_SPACE.search(
        packed.data.decode("utf-8", "surrogatepass")
    ):
        packed = Texts.of(_WIDE_SPACE.sub(" ", text) for text in texts)
    is_space = _IS_SPACE[np.frombuffer(packed.data, dtype=np.uint8)]
    # Each text ends with a line feed, so that no token reaches into the next one.
    edges = np.flatnonzero(np.diff(is_space, prepend=True))
    starts, ends = edges[::2], edges[1::2]
    bounds = np.searchsorted(starts, np.append(packed.starts, len(packed.data)))
    return _Tokens(packed.data, starts, ends - starts, np.diff(bounds))


def _hashes(load: Words, first: Words, starts: Positions, lengths: Positions) -> Words:
    """A hash of the length and the first bytes of each token."""
    hashes = (first ^ lengths.astype(np.uint64)) * _MIX
    long = np.flatnonzero(lengths > 8)
    for at in range(8, _HASHED_BYTES, 8):
        long = long[lengths[long] > at]
        if not len(long):
            break
        word = load[starts[long] + at] & _KEEP[np.minimum(lengths[long] - at, 8)]
        mixed = hashes[long]
        hashes[long] = ((mixed ^ (mixed >> np.uint64(29))) + word) * _MIX
    return hashes


def _keys(owner: Positions, hashes: Words, n_predicted: int) -> Words:
    """What tokens are sorted by: 12 bits of pair, 51 bits of hash, 1 bit of side."""
    keys = (owner.astype(np.uint64) << np.uint64(52)) | (hashes >> np.uint64(13) << np.uint64(1))
    keys[n_predicted:] |= np.uint64(1)
    return keys


def _differ(
    data: bytes,
    load: Words,
    first: Words,
    starts: Positions,
    lengths: Positions,
    one: Positions,
    other: Positions,
) -> NDArray[np.bool_]:
    """Which of these pairs of tokens, of the same hash, are not the same bytes."""
    differ: NDArray[np.bool_] = (first[one] != first[other]) | (lengths[one] != lengths[other])
    long = np.flatnonzero((lengths[one] > 8) & ~differ)
    a, b, length = starts[one[long]], starts[other[long]], lengths[one[long]]
    differ[long] = load[a + length - 8] != load[b + length - 8]
    # The first and the last eight bytes are all there is of a token of sixteen.
    for k in np.flatnonzero(length > 16).tolist():
        i, j, middle = int(a[k]) + 8, int(b[k]) + 8, int(length[k]) - 16
        differ[long[k]] |= data[i : i + middle] != data[j : j + middle]
    return differ

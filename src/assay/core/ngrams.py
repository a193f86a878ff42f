# SPDX-License-Identifier: Apache-2.0
"""How many n-grams of a prediction are found in its references, for many examples at once.

`matches_of_one` is the definition, `matches` the same for a column of examples.

One sort serves all orders. Every position of every text becomes one integer: example, the next
`order` tokens, and which text it came from. Sorted, equal n-grams are neighbours, whatever their
order: a shorter n-gram is a prefix of a longer one, so runs of equal ones only merge.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Counts = NDArray[np.int64]
Keys = NDArray[np.uint64]

_WORD = 64
_BLOCK_EXAMPLES = 256
_BLOCK_TOKENS = 1 << 16
_PADS = 2  # what stands behind the end of a prediction (0) and of a reference (1): never equal
_TABLE_SHARE = 8  # a table of numbers may be this many times longer than what is numbered
_MOST = np.uint64(2**_WORD - 1)


class Tokens(NamedTuple):
    """A column of token sequences: text i is `ids[splits[i]:splits[i + 1]]`.

    Two tokens are the same if, and only if, their ids are equal: any unsigned integers do, small
    ones are quicker. Ids of predictions and of references must come from the same numbering.
    """

    ids: NDArray[np.unsignedinteger]
    splits: Counts

    @property
    def lengths(self) -> Counts:
        """How many tokens each text has."""
        return np.diff(self.splits)

    def part(self, start: int, stop: int) -> Tokens:
        """Texts `start` to `stop`."""
        splits = self.splits[start : stop + 1]
        return Tokens(self.ids[int(splits[0]) : int(splits[-1])], splits - splits[0])

    def take(self, texts: Counts) -> Tokens:
        """The texts at these positions, in this order."""
        lengths = self.lengths[texts]
        splits = borders(lengths)
        shift = np.repeat(self.splits[texts] - splits[:-1], lengths)
        return Tokens(self.ids[np.arange(int(splits[-1])) + shift], splits)


def borders(lengths: Counts) -> Counts:
    """Where each of several consecutive pieces starts, and where the last one ends."""
    splits = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=splits[1:])
    return splits


def blocks(sizes: Counts, limit: int, most: int) -> Iterator[tuple[int, int]]:
    """Cut consecutive pieces into blocks of at most `most`, together no larger than `limit`.

    A piece that is larger than the limit is a block of its own.

    >>> list(blocks(np.array([3, 3, 9, 1, 1, 1]), limit=6, most=2))
    [(0, 2), (2, 3), (3, 5), (5, 6)]
    """
    splits = borders(sizes)
    start = 0
    while start < len(sizes):
        fits = int(np.searchsorted(splits, splits[start] + limit, side="right")) - 1
        stop = min(max(fits, start + 1), start + most)
        yield start, min(stop, len(sizes))
        start = stop


def totals(lengths: Counts, order: int) -> Counts:
    """How many n-grams texts of these lengths have: one column per order.

    >>> totals(np.array([5, 1]), order=3).tolist()
    [[5, 4, 3], [1, 0, 0]]
    """
    return np.asarray(np.maximum(lengths[:, None] - np.arange(order), 0))


def matches_of_one(
    prediction: Sequence[Hashable], references: Sequence[Sequence[Hashable]], order: int
) -> list[int]:
    """N-grams of the prediction found in the references, for 1 to `order`: the definition.

    An n-gram that the prediction repeats counts as often as the reference that has it most often.

    >>> matches_of_one("a b a a".split(), ["a b".split(), "a c a".split()], order=2)
    [3, 1]
    """
    found = []
    for n in range(1, order + 1):
        most: Counter[tuple[Hashable, ...]] = Counter()
        for reference in references:
            most |= _counted(reference, n)
        found.append((_counted(prediction, n) & most).total())
    return found


def _counted(tokens: Sequence[Hashable], n: int) -> Counter[tuple[Hashable, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def matches(
    predictions: Tokens, references: Tokens, order: int, lists: Counts | None = None
) -> Counts:
    """`matches_of_one` of every example: one row per prediction, one column per order.

    The references of prediction i are texts `lists[i]` to `lists[i + 1]`; without `lists` there is
    one reference per prediction.

    >>> ids = np.array([1, 2, 1, 1], dtype=np.uint64)
    >>> prediction = Tokens(ids, np.array([0, 4]))
    >>> references = Tokens(np.array([1, 2, 1, 3, 1], dtype=np.uint64), np.array([0, 2, 5]))
    >>> matches(prediction, references, order=2, lists=np.array([0, 2])).tolist()
    [[3, 1]]
    """
    n = len(predictions.splits) - 1
    if lists is None:
        lists = np.arange(n + 1, dtype=np.int64)
    found = np.zeros((n, order), dtype=np.int64)
    sizes = predictions.lengths + np.diff(references.splits[lists])
    for start, stop in blocks(sizes, _BLOCK_TOKENS, _BLOCK_EXAMPLES):
        low, high = int(lists[start]), int(lists[stop])
        block = _Block.of(
            predictions.part(start, stop), references.part(low, high), lists[start : stop + 1] - low
        )
        found[start:stop] = block.matches(order)
    return found


class _Block(NamedTuple):
    """Some examples, all texts one after the other: predictions first, then references."""

    ids: Keys
    lengths: Counts  # of each text
    example: Counts  # to which each text belongs
    side: Counts  # 0 for a prediction, k for the k-th reference of its example
    n: int

    @classmethod
    def of(cls, predictions: Tokens, references: Tokens, lists: Counts) -> _Block:
        n, counts = len(lists) - 1, np.diff(lists)
        own = np.arange(n, dtype=np.int64)
        numbered = np.arange(len(references.splits) - 1) - np.repeat(lists[:-1], counts) + 1
        return cls(
            np.concatenate([predictions.ids, references.ids]).astype(np.uint64, copy=False),
            np.concatenate([predictions.lengths, references.lengths]),
            np.concatenate([own, np.repeat(own, counts)]),
            np.concatenate([np.zeros(n, dtype=np.int64), numbered]),
            n,
        )

    def matches(self, order: int) -> Counts:
        if len(self.ids) == 0:
            return np.zeros((self.n, order), dtype=np.int64)
        sides = int(self.side.max())
        room = _WORD - sides.bit_length() - (self.n - 1).bit_length()
        for ids in self._numberings():
            bits = (int(ids.max()) + _PADS).bit_length()
            if bits * order <= room:
                return self._by_sort(ids, order, bits, sides)
        if self.n > 1:  # one example with very many tokens must not slow down its neighbours
            middle = self.n // 2
            halves = (self._half(0, middle), self._half(middle, self.n))
            return np.concatenate([half.matches(order) for half in halves])
        return self._by_rank(order, sides)

    def _numberings(self) -> Iterator[Keys]:
        """The tokens as they came, numbered within the block, numbered within each example."""
        yield self.ids
        ranks, n_ranks = ranked(self.ids)
        yield ranks
        example = np.repeat(self.example, self.lengths).astype(np.uint64)
        within, _ = ranked(example * np.uint64(n_ranks) + ranks)
        first = np.full(self.n, _MOST)
        np.minimum.at(first, example, within)
        yield within - first[example]

    def _half(self, start: int, stop: int) -> _Block:
        texts = np.flatnonzero((self.example >= start) & (self.example < stop))
        tokens = Tokens(self.ids, borders(self.lengths)).take(texts)
        example = self.example[texts] - start
        return _Block(tokens.ids, tokens.lengths, example, self.side[texts], stop - start)

    def _by_sort(self, ids: Keys, order: int, bits: int, sides: int) -> Counts:
        keys = self._packed(ids, order, bits, sides.bit_length())
        keys.sort()
        n_keys, side_bits = len(keys), sides.bit_length()
        # The highest bit in which two neighbours differ says at which orders a new run starts.
        change = np.empty(n_keys + 1, dtype=np.uint64)
        change[0] = change[-1] = _MOST
        np.bitwise_xor(keys[1:], keys[:-1], out=change[1:-1])
        before = _seen_before(keys, sides, side_bits)
        edges = borders(np.bincount(self.example, self.lengths, self.n).astype(np.int64))
        found = np.empty((self.n, order), dtype=np.int64)
        starts: Counts | None = None
        for n in range(order, 0, -1):
            new = change >= np.uint64(1 << (side_bits + (order - n) * bits))
            if starts is None:
                starts = np.flatnonzero(new)
                before = [b[starts] for b in before]
            else:
                starts = starts[new]
                before = [b[new] for b in before]
            change = change[starts] if n == order else change[new]
            most = np.diff(before[0])
            rest = np.diff(starts) - most
            for b in before[1:]:
                count = np.diff(b)
                rest -= count
                np.maximum(most, count, out=most)
            summed = borders(np.minimum(rest, most))
            found[:, n - 1] = np.diff(summed[np.searchsorted(starts, edges)])
        return found

    def _packed(self, ids: Keys, order: int, bits: int, side_bits: int) -> Keys:
        """One key per position: example, `order` tokens, side, from the highest bit down."""
        head = (self.example << (order * bits + side_bits) | self.side).astype(np.uint64)
        keys = np.repeat(head, self.lengths)
        own = ids + np.uint64(_PADS)
        for k in range(min(order, len(keys))):
            shift = np.uint64(side_bits + (order - 1 - k) * bits)
            keys[: len(keys) - k] |= own[k:] << shift
        # Near its end a text has fewer tokens: what was read there belongs to the next text.
        ends = np.cumsum(self.lengths)
        is_reference = self.side > 0
        for left in range(1, order):
            long_enough = self.lengths >= left
            low = (1 << (order - left) * bits) - 1 << side_bits
            keys[ends[long_enough] - left] &= np.uint64(~low & 2**_WORD - 1)
            pad = 1 << (side_bits + (order - left - 1) * bits)
            keys[ends[long_enough & is_reference] - left] |= np.uint64(pad)
        return keys

    def _by_rank(self, order: int, sides: int) -> Counts:
        """The same for any number of tokens: an n-gram is a known (n-1)-gram and one token."""
        example = np.repeat(self.example, self.lengths)
        side = np.repeat(self.side, self.lengths)
        left = np.repeat(np.cumsum(self.lengths), self.lengths) - np.arange(len(self.ids))
        tokens, n_tokens = ranked(self.ids)
        tokens, n_tokens = ranked(example.astype(np.uint64) * np.uint64(n_tokens) + tokens)
        found = np.zeros((self.n, order), dtype=np.int64)
        where, grams, n_grams = np.arange(len(self.ids)), tokens, n_tokens
        for n in range(1, order + 1):
            if n > 1:
                keep = left[where] >= n
                where, grams = where[keep], grams[keep]
                if len(where) == 0:
                    break
                grams, n_grams = ranked(grams * np.uint64(n_tokens) + tokens[where + n - 1])
            number = grams.astype(np.int64)
            counted = [
                np.bincount(number[side[where] == s], minlength=n_grams) for s in range(sides + 1)
            ]
            most = np.max(counted[1:], axis=0) if sides else np.zeros(n_grams, dtype=np.int64)
            owner = np.empty(n_grams, dtype=np.int64)
            owner[number] = example[where]
            np.add.at(found[:, n - 1], owner, np.minimum(counted[0], most))
        return found


def _seen_before(keys: Keys, sides: int, side_bits: int) -> list[Counts]:
    """For each reference, how many of the keys before each position are its own."""
    if sides <= 1:
        return [borders((keys & np.uint64(sides)).view(np.int64))]
    side = keys & np.uint64((1 << side_bits) - 1)
    return [borders((side == np.uint64(s)).astype(np.int64)) for s in range(1, sides + 1)]


def ranked(keys: Keys) -> tuple[Keys, int]:
    """Number equal keys alike, from 0 without gaps; also how many different ones there are.

    >>> ranked(np.array([70, 9, 70], dtype=np.uint64))
    (array([1, 0, 1], dtype=uint64), 2)
    """
    if len(keys) == 0:
        return keys, 0
    most = int(keys.max())
    if most < _TABLE_SHARE * len(keys):  # code points, numbers: a table is quicker than a sort
        present = np.zeros(most + 1, dtype=bool)
        present[keys] = True
        numbers = np.cumsum(present).astype(np.uint64)
        return numbers[keys] - np.uint64(1), int(numbers[-1])
    order = np.argsort(keys)
    in_order = keys[order]
    steps = np.zeros(len(keys), dtype=np.uint64)
    np.cumsum(in_order[1:] != in_order[:-1], out=steps[1:])
    ranks = np.empty_like(steps)
    ranks[order] = steps
    return ranks, int(steps[-1]) + 1

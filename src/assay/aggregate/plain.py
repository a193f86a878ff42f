# SPDX-License-Identifier: Apache-2.0
"""The bootstrap in plain Python: for a few rows of counts, and to check the matrices by.

Nothing here needs numpy, which takes longer to load than a hundred rows take to resample. What is
drawn is what `numpy.random.default_rng` draws, whose generator is PCG64 (O'Neill 2014, "PCG: A
family of simple fast space-efficient statistically good algorithms for random number
generation"); tests hold the two streams, and the totals, to the same numbers.
"""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import islice

from assay.aggregate.asked import RESAMPLES, SEED

MOST_ROWS = 200
"""Beyond these, matrices are the quicker ones, loading numpy included."""

_32, _64, _128 = ((1 << bits) - 1 for bits in (32, 64, 128))
_MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645


def resampled_totals(
    rows: Sequence[Sequence[int]], *, resamples: int = RESAMPLES, seed: int = SEED
) -> Iterator[array[int]] | None:
    """The totals of each resample, as `bootstrap_totals` gives them; None where that must be asked.

    Rows, at least two, are counts. They travel as one long number each, a column every 64 bits, so
    that one addition adds all columns.

    >>> [totals.tolist() for totals in resampled_totals([[1, 1], [0, 1]], resamples=3, seed=1)]
    [[1, 2], [0, 2], [2, 2]]
    """
    n = len(rows)
    drawn = positions(n, n * resamples, seed)
    if drawn is None:
        return None
    packed = [int.from_bytes(array("Q", row).tobytes(), "little") for row in rows]
    chosen = map(packed.__getitem__, drawn)
    size = 8 * len(rows[0])
    return (array("Q", sum(islice(chosen, n)).to_bytes(size, "little")) for _ in range(resamples))


def positions(n: int, count: int, seed: int) -> Sequence[int] | None:
    """What `numpy.random.default_rng(seed).integers(0, n, count)` draws, for a small `n` above 1.

    None where one of the draws might have to be repeated, so that all positions are equally likely.
    """
    if sys.byteorder != "little":  # the lower half of a word is drawn first
        return None
    words = array("Q", islice(_words(seed), (count + 1) // 2))
    halves = array("I", words.tobytes())[:count]
    # A half h becomes the position h * n >> 32, all of them in one multiplication.
    products = int.from_bytes(array("Q", halves).tobytes(), "little") * n
    parts = array("I", products.to_bytes(8 * count, "little"))
    return parts[1::2] if min(parts[0::2]) >= n else None


def _words(seed: int) -> Iterator[int]:
    """The words of 64 bits that come out of PCG64: XSL-RR of a state of 128 bits."""
    seeds = _spread(seed, 8)
    first, second, third, fourth = (seeds[i] | seeds[i + 1] << 32 for i in range(0, 8, 2))
    step = (third << 64 | fourth) << 1 & _128 | 1
    state = ((first << 64 | second) + step) * _MULTIPLIER + step & _128
    while True:
        state = state * _MULTIPLIER + step & _128
        mixed, turn = (state >> 64 ^ state) & _64, state >> 122
        yield (mixed >> turn | mixed << 64 - turn) & _64


def _spread(seed: int, count: int) -> list[int]:
    """A seed as so many words of 32 bits, as `numpy.random.SeedSequence` spreads it.

    >>> _spread(12345, 2)
    [2688385916, 3048105090]
    """
    entropy = [seed >> at & _32 for at in range(0, max(1, seed.bit_length()), 32)]
    hashed = _hash(0x43B0D7E5, 0x931E8875)
    pool = [hashed(entropy[i] if i < len(entropy) else 0) for i in range(4)]
    for source in range(4):
        for target in range(4):
            if target != source:
                pool[target] = _mixed(pool[target], hashed(pool[source]))
    for word in entropy[4:]:
        pool = [_mixed(held, hashed(word)) for held in pool]
    hashed = _hash(0x8B51F9DD, 0x58F38DED)
    return [hashed(pool[i % 4]) for i in range(count)]


def _hash(constant: int, multiplier: int) -> Callable[[int], int]:
    """A function whose answer depends on how often it was asked."""

    def hashed(word: int) -> int:
        nonlocal constant
        word ^= constant
        constant = constant * multiplier & _32
        word = word * constant & _32
        return word ^ word >> 16

    return hashed


def _mixed(one: int, other: int) -> int:
    word = (one * 0xCA01F9DD - other * 0x4973F715) & _32
    return word ^ word >> 16

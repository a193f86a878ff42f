# SPDX-License-Identifier: Apache-2.0
"""Counting edits: the greedy search of tercom, for many pairs at once.

As long as a move of a phrase lowers the edit distance, the move that lowers it most is made; of
equal ones that of the longest phrase, then the earliest phrase, then the earliest target. The
edits are the moves made and the edits that are left. After `MOST_TRIED` moves tried, the search
ends without making the one it would have made next.

What makes it quick:

- Moves keep the words, so the distance never falls below max(lengths) - words in common. Where it
  is at most 1 above, no move can lower the number of edits, and the search has ended.
- All pairs of a block take their rounds together: their tables, their alignments, their candidate
  moves are arrays. Distances of candidates are computed by rapidfuzz, on strings of one character
  per word.
- Pairs so different that the beam matters, or so long that their tables would be large, are
  searched one by one within the beam; and there only candidates that are near enough without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.metrics.ter.shifts import Shifts, candidates, shifted
from assay.metrics.ter.tables import BEAM, NEAR, Beam, Ids, Ints, aligned

MOST_TRIED = 1_000

CELLS = 1 << 18
"""Table cells per block, so that a block's arrays stay in the cache."""

Words = Sequence[str]


class _Pairs(NamedTuple):
    """Words as numbers from 1, the same within a pair for the same word; rows end in zeros."""

    predicted: Ids
    gold: Ids
    n_predicted: Ints
    n_gold: Ints


def edits(predicted: Sequence[Words], gold: Sequence[Words]) -> Ints:
    """How many edits turn each prediction into its gold.

    >>> edits(["a b c d".split()], ["d a b x".split()]).tolist()
    [2]
    """
    lengths = np.array([(len(p), len(g)) for p, g in zip(predicted, gold, strict=True)])
    found = np.zeros(len(lengths), dtype=np.int64)
    for block in _blocks(lengths.reshape(-1, 2)):
        places = block.tolist()
        found[block] = _search(_numbered([predicted[k] for k in places], [gold[k] for k in places]))
    return found


def _blocks(lengths: Ints) -> Iterator[Ints]:
    """Positions of pairs of about the same size, few enough for their tables to fit."""
    order = np.lexsort((lengths[:, 0], lengths[:, 1]))
    start, height, width = 0, 0, 0
    for k, (n, m) in enumerate((lengths[order] + 1).tolist()):
        height, width = max(height, n), max(width, m)
        if k > start and (k + 1 - start) * height * width > CELLS:
            yield order[start:k]
            start, height, width = k, n, m
    if len(order):
        yield order[start:]


def _numbered(predicted: list[Words], gold: list[Words]) -> _Pairs:
    n = np.array([len(words) for words in predicted])
    m = np.array([len(words) for words in gold])
    said: list[int] = []
    right: list[int] = []
    for p, g in zip(predicted, gold, strict=True):
        number = {word: k for k, word in enumerate(dict.fromkeys([*p, *g]), 1)}
        said += map(number.__getitem__, p)
        right += map(number.__getitem__, g)
        if len(number) > sys.maxunicode:
            raise InputError(
                f"one example has more than {sys.maxunicode:,} different words",
                hint="split it into shorter examples",
            )
    return _Pairs(_filled(said, n), _filled(right, m), n, m)


def _filled(numbers: list[int], lengths: Ints) -> Ids:
    width = max(1, int(lengths.max()))
    rows = np.zeros((len(lengths), width), dtype=np.uint32)
    rows[np.arange(width) < lengths[:, None]] = numbers
    return rows


def _search(pairs: _Pairs) -> Ints:
    """The edits of each pair of a block."""
    difference = np.abs(pairs.n_predicted - pairs.n_gold)
    gold = np.array([*_strings(pairs.gold), None], dtype=object)[:-1]
    distance = _distances(pairs.predicted, gold)
    lowest = np.maximum(pairs.n_predicted, pairs.n_gold) - _in_common(pairs.predicted, pairs.gold)
    found = distance.copy()
    # A gold text this short lies within the beam as a whole.
    is_far = (distance + difference >= NEAR) & (pairs.n_gold >= BEAM)
    is_long = (pairs.n_predicted + 1) * (pairs.n_gold + 1) > CELLS
    is_open = distance - lowest >= 2
    for k in np.flatnonzero(is_far | (is_long & is_open)).tolist():
        n, m = int(pairs.n_predicted[k]), int(pairs.n_gold[k])
        found[k] = _search_beam(pairs.predicted[k, :n], pairs.gold[k, :m], int(lowest[k]))
    _search_tables(pairs, gold, np.flatnonzero(is_open & ~is_far & ~is_long), lowest, found)
    return found


def _search_tables(
    pairs: _Pairs, gold: NDArray[np.object_], searched: Ints, lowest: Ints, found: Ints
) -> None:
    """Lower `found`, the distances without moves, to the edits of the pairs `searched`."""
    distance = found.copy()
    moves = np.zeros_like(found)
    tried = np.zeros_like(found)
    while len(searched):
        predicted, n = pairs.predicted[searched], pairs.n_predicted[searched]
        numbers = pairs.gold[searched]
        alignment = aligned(predicted, numbers, n, pairs.n_gold[searched])
        shifts, count = candidates(predicted, numbers, alignment, MOST_TRIED - tried[searched])
        tried[searched] += count
        gains = np.zeros(len(shifts.pair), dtype=np.int64)
        for part in _parts(len(gains), predicted.shape[1]):
            some = shifts.where(part)
            who = searched[some.pair]
            gains[part] = distance[who] - _distances(shifted(predicted, n, some), gold[who])
        best = _best(shifts, gains)
        made = shifts.where(best)
        searched = searched[made.pair]
        pairs.predicted[searched] = shifted(predicted, n, made)
        moves[searched] += 1
        distance[searched] -= gains[best]
        found[searched] = moves[searched] + distance[searched]
        searched = searched[distance[searched] - lowest[searched] >= 2]


def _search_beam(predicted: Ids, gold: Ids, lowest: int) -> int:
    """The edits of one pair, with every distance as the beam gives it."""
    n = np.array([len(predicted)])
    beam = Beam(gold, len(predicted))
    right = np.array(_strings(gold[None]), dtype=object)
    moves = tried = 0
    while True:
        distance, alignment = beam.align(predicted)
        if distance - lowest < 2:
            return moves + distance
        shifts, count = candidates(
            predicted[None], gold[None], alignment, np.array([MOST_TRIED - tried])
        )
        tried += int(count[0])
        gains = np.zeros(len(shifts.pair), dtype=np.int64)
        for part in _parts(len(gains), len(predicted)):
            some = shifts.where(part)
            after = shifted(predicted[None], n, some)
            # The beam never makes a distance smaller: the others are out of the race.
            near = np.flatnonzero(_distances(after, right[some.pair]) < distance)
            gains[part.start + near] = distance - beam.distances(after[near])
        best = _best(shifts, gains)
        if not len(best):
            return moves + distance
        predicted = shifted(predicted[None], n, shifts.where(best))[0]
        moves += 1


def _parts(n: int, width: int) -> Iterator[slice]:
    step = max(1, CELLS // width)
    return (slice(at, min(n, at + step)) for at in range(0, n, step))


def _best(shifts: Shifts, gains: Ints) -> Ints:
    """The move to make of each pair for which a move gains anything."""
    useful = np.flatnonzero(gains > 0)
    pair, start, length, target = shifts.where(useful)
    order = np.lexsort((target, start, -length, -gains[useful], pair))
    _, first = np.unique(pair[order], return_index=True)
    return useful[order[first]]


def _strings(ids: Ids) -> list[str]:
    """Rows as strings, one character per word; the zeros at the end are left out."""
    texts: list[str] = np.ascontiguousarray(ids).view(f"U{ids.shape[1]}").ravel().tolist()
    return texts


def _distances(predicted: Ids, gold: NDArray[np.object_]) -> Ints:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    if not len(predicted):
        return np.zeros(0, dtype=np.int64)
    found = cpdist(_strings(predicted), gold.tolist(), scorer=Levenshtein.distance, dtype=np.int64)
    return np.asarray(found, dtype=np.int64)


def _in_common(predicted: Ids, gold: Ids) -> Ints:
    """Words that prediction and gold share, as often as both have them."""
    numbers = int(max(predicted.max(), gold.max())) + 1
    at = np.arange(len(gold))[:, None] * numbers
    counts = [
        np.bincount((at + ids).ravel(), minlength=len(gold) * numbers).reshape(-1, numbers)[:, 1:]
        for ids in (predicted, gold)
    ]
    common: Ints = np.minimum(*counts).sum(axis=1)
    return common

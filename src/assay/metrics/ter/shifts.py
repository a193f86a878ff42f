# SPDX-License-Identifier: Apache-2.0
"""Moves of phrases that tercom tries: equal phrases that are aligned to something else."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from assay.metrics.ter.tables import Alignment, Bools, Ids, Ints

LONGEST = 10
"""Words of the longest phrase that is moved."""

FARTHEST = 50
"""The largest difference between the positions of a phrase in prediction and gold."""


class Shifts(NamedTuple):
    """Moves, element by element: of pair `pair`, `length` words from `start` to before `target`."""

    pair: Ints
    start: Ints
    length: Ints
    target: Ints

    def where(self, chosen: Bools | Ints | slice) -> Shifts:
        """Some of them."""
        return Shifts(*(part[chosen] for part in self))


def candidates(predicted: Ids, gold: Ids, alignment: Alignment, room: Ints) -> tuple[Shifts, Ints]:
    """The moves to try, and how many they are for each pair.

    A phrase is moved if it is equal in both, has a wrong word on either side, and its place in the
    gold is not aligned into the phrase itself. It is tried before its place, and behind the place
    of each of its words, as the alignment has them. A move counts as often as it is found, by way
    of several places in the gold.

    Pairs with `room` or more moves get none: their number is at least `room`, not always exact.
    """
    pairs, n = predicted.shape
    width = gold.shape[1] + 1
    # One zero more on each side, so that a phrase cannot grow over the end.
    said, right = (np.pad(ids, ((0, 0), (0, 1))).ravel() for ids in (predicted, gold))
    wrong_said, wrong_right = map(_counts, (alignment.is_wrong_predicted, alignment.is_wrong_gold))
    targets = alignment.targets.ravel()
    pair, start, place = _equal_words(predicted, gold)
    # From here on start and place are positions in the flat arrays.
    start, place = start + pair * (n + 1), place + pair * width
    tried = np.zeros(pairs, dtype=np.int64)
    found: list[Shifts] = []
    for length in range(1, LONGEST + 1):
        if not len(pair):
            break
        home = targets[place + 1] - 1 + pair * (n + 1)
        use = np.flatnonzero(
            (wrong_said[start + length] > wrong_said[start])
            & (wrong_right[place + length] > wrong_right[place])
            & ((home < start) | (home >= start + length))
        )
        if len(use):
            around = targets[place[use][:, None] + np.arange(length + 1)]
            is_new = np.ones(around.shape, dtype=bool)
            np.not_equal(around[:, 1:], around[:, :-1], out=is_new[:, 1:])
            which = use[np.nonzero(is_new)[0]]
            who = pair[which]
            where = start[which] - who * (n + 1)
            found.append(Shifts(who, where, np.full(len(who), length), around[is_new]))
            tried += np.bincount(who, minlength=pairs)
        word = said[start + length]
        grows = (word == right[place + length]) & (word != 0) & (tried < room)[pair]
        pair, start, place = pair[grows], start[grows], place[grows]
    if not found:
        none = np.zeros(0, dtype=np.int64)
        return Shifts(none, none, none, none), tried
    shifts = Shifts(*map(np.concatenate, zip(*found, strict=True)))
    return shifts.where((tried < room)[shifts.pair]), tried


def _equal_words(predicted: Ids, gold: Ids) -> tuple[Ints, Ints, Ints]:
    """Pair, position in the prediction and position in the gold of words that are equal."""
    step = 2 * FARTHEST
    parts = []
    for at in range(0, predicted.shape[1], step):
        low = max(0, at - FARTHEST)
        said, right = predicted[:, at : at + step], gold[:, low : at + step + FARTHEST]
        equal = (said[:, :, None] == right[:, None, :]) & (said != 0)[:, :, None]
        pair, i, j = np.nonzero(equal)
        i, j = i + at, j + low
        near = np.abs(i - j) <= FARTHEST
        parts.append((pair[near], i[near], j[near]))
    pair, i, j = map(np.concatenate, zip(*parts, strict=True))
    return pair, i, j


def _counts(marks: Bools) -> Ints:
    """How many marks there are before each position, in one flat array for all pairs."""
    counts = np.zeros((len(marks), marks.shape[1] + 1), dtype=np.int64)
    np.cumsum(marks, axis=1, out=counts[:, 1:])
    return counts.ravel()


def shifted(predicted: Ids, n_predicted: Ints, shifts: Shifts) -> Ids:
    """The predictions after each of these moves.

    A move turns the words between the phrase and its target round: [a b c D E] -> [D E a b c].
    """
    pair, start, length, target = shifts
    # A target inside the phrase moves it on by as many words as it reaches in.
    inside = np.minimum(target + length, n_predicted[pair])
    end = np.where(target > start + length, target, inside)
    is_back = target < start
    first = np.where(is_back, target, start)[:, None].astype(np.int32)
    last = np.where(is_back, start + length, end)[:, None].astype(np.int32)
    by = np.where(is_back, start - target, length)[:, None].astype(np.int32)
    at = np.arange(predicted.shape[1], dtype=np.int32)
    source = at + by
    source -= np.where(source >= last, last - first, 0)
    source = np.where((at >= first) & (at < last), source, at)
    moved: Ids = predicted[pair[:, None], source]
    return moved

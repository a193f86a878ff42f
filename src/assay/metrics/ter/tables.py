# SPDX-License-Identifier: Apache-2.0
"""Aligning sequences of words by edit distance, with the preferences of tercom.

Sequences are rows of positive integers, filled up with zeros. Where several operations cost the
same, a pair of words is kept or replaced rather than a predicted word dropped, and that rather
than a gold word added. This decides the alignment, and with it which phrases are tried elsewhere.

The search has a beam: of row i only cells near the straight line from corner to corner are looked
at. `aligned` leaves the beam out, `Beam` has it. While distance + difference in length is below
`NEAR` they agree: a path of cost d strays from the line by at most (d + difference) / 2.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BEAM = 25
NEAR = 46

Ids = NDArray[np.uint32]
Ints = NDArray[np.int64]
Cells = NDArray[np.int32]
Bools = NDArray[np.bool_]

# What the cheapest way into a cell does: use both words, drop a predicted one, add a gold one.
BOTH, DROP, ADD, STOP = range(4)
_STEP_PREDICTED = np.array([1, 1, 0, 0])
_STEP_GOLD = np.array([1, 0, 1, 0])


class Alignment(NamedTuple):
    """How predictions and gold lie against each other, one row per pair.

    `targets[:, j + 1]` is the position in the prediction just behind what gold word j is aligned
    to, and `targets[:, 0]` is 0: where a phrase can be moved to. The other two mark words that are
    not aligned to an equal word.
    """

    targets: Ints
    is_wrong_predicted: Bools
    is_wrong_gold: Bools


def aligned(predicted: Ids, gold: Ids, n_predicted: Ints, n_gold: Ints) -> Alignment:
    """Align many pairs at once, each in its whole table."""
    pairs, longest = predicted.shape
    width = gold.shape[1] + 1
    columns = np.arange(width, dtype=np.int32)
    moves = np.empty((longest + 1, pairs, width), dtype=np.int8)
    moves[0] = ADD
    moves[0, :, 0] = STOP
    row = np.tile(columns, (pairs, 1))
    for i in range(longest):
        dropped = row + 1
        both = row[:, :-1] + (gold != predicted[:, i, None])
        best = dropped.copy()
        np.minimum(both, dropped[:, 1:], out=best[:, 1:])
        # An added gold word costs 1 per column: a running minimum along the diagonal.
        row = np.minimum.accumulate(best - columns, axis=1) + columns
        move = np.where(row == dropped, DROP, ADD).astype(np.int8)
        move[:, 1:][row[:, 1:] == both] = BOTH
        moves[i + 1] = move
    return _traced(moves, predicted, gold, n_predicted, n_gold)


def _traced(
    moves: NDArray[np.int8], predicted: Ids, gold: Ids, n_predicted: Ints, n_gold: Ints
) -> Alignment:
    """Walk all pairs back from the last cell to the first, one step at a time."""
    pairs, width = moves.shape[1:]
    flat = moves.ravel()
    here = np.arange(pairs) * width
    i, j = n_predicted.copy(), n_gold.copy()
    path: list[tuple[Ints, Ints, NDArray[np.int8]]] = []
    for _ in range(int((n_predicted + n_gold).max())):
        move = flat[i * (pairs * width) + here + j]
        path.append((i, j, move))
        i = i - _STEP_PREDICTED[move]
        j = j - _STEP_GOLD[move]
    at_predicted, at_gold, made = (np.array(part) for part in zip(*path, strict=True))
    pair = np.broadcast_to(np.arange(pairs), made.shape)
    targets = np.zeros((pairs, width), dtype=np.int64)
    wrong_predicted = np.zeros(predicted.shape, dtype=bool)
    wrong_gold = np.zeros(gold.shape, dtype=bool)
    dropped, added = made == DROP, made == ADD
    both = made == BOTH
    seen = both | added
    targets[pair[seen], at_gold[seen]] = at_predicted[seen]
    wrong_predicted[pair[dropped], at_predicted[dropped] - 1] = True
    wrong_gold[pair[added], at_gold[added] - 1] = True
    who, p, g = pair[both], at_predicted[both] - 1, at_gold[both] - 1
    differ = predicted[who, p] != gold[who, g]
    wrong_predicted[who[differ], p[differ]] = True
    wrong_gold[who[differ], g[differ]] = True
    return Alignment(targets, wrong_predicted, wrong_gold)


class Beam:
    """Edit distance to one gold text, for predictions of one length, within the beam.

    The beam is part of the definition: where it cuts the best path off, the distance is the best
    that is left inside.
    """

    def __init__(self, gold: Ids, n_predicted: int) -> None:
        n_gold = len(gold)
        self.gold = gold
        ratio = n_gold / n_predicted if n_predicted else 1.0
        reach = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
        centres = [math.floor(i * ratio) for i in range(n_predicted + 1)]
        self.low = [max(0, c - reach) for c in centres]
        self.high = [min(n_gold + 1, c + reach) for c in centres]
        self.high[-1] = n_gold + 1
        # The first row is known everywhere.
        self.low[0], self.high[0] = 0, n_gold + 1

    def distances(self, predicted: Ids) -> Ints:
        """The distance of each of these predictions."""
        row = self._first(len(predicted))
        for i in range(1, len(self.low)):
            row, _, _ = self._next(i, row, predicted[:, i - 1])
        return row[:, -1].astype(np.int64)

    def align(self, predicted: Ids) -> tuple[int, Alignment]:
        """Distance and alignment of one prediction."""
        row = self._first(1)
        moves: list[list[int]] = []
        for i in range(1, len(self.low)):
            row, both, dropped = self._next(i, row, predicted[None, i - 1])
            move = np.where(row == both, BOTH, np.where(row == dropped, DROP, ADD))[0]
            moves.append(move.tolist())
        i, j = len(predicted), len(self.gold)
        targets = np.zeros((1, j + 1), dtype=np.int64)
        wrong_predicted, wrong_gold = np.zeros((1, i), dtype=bool), np.zeros((1, j), dtype=bool)
        while i > 0 or j > 0:
            made = moves[i - 1][j - self.low[i]] if i > 0 else ADD
            if made != DROP:
                targets[0, j] = i
            if made != ADD:
                wrong_predicted[0, i - 1] = made == DROP or predicted[i - 1] != self.gold[j - 1]
            if made != DROP:
                wrong_gold[0, j - 1] = made == ADD or predicted[i - 1] != self.gold[j - 1]
            i -= made != ADD
            j -= made != DROP
        return int(row[0, -1]), Alignment(targets, wrong_predicted, wrong_gold)

    def _first(self, n: int) -> Cells:
        return np.tile(np.arange(len(self.gold) + 1, dtype=np.int32), (n, 1))

    def _next(self, i: int, row: Cells, words: Ids) -> tuple[Cells, Cells, Cells]:
        """Row i of the tables, its costs by using both words, and by dropping the predicted."""
        low, high, before, end = self.low[i], self.high[i], self.low[i - 1], self.high[i - 1]
        width = high - low
        known = np.full((len(row), width + 1), _FAR, dtype=np.int32)  # columns low - 1 to high - 1
        first, last = max(low - 1, before), min(high, end)
        known[:, first - low + 1 : last - low + 1] = row[:, first - before : last - before]
        both = np.full((len(row), width), _FAR, dtype=np.int32)
        skip = 1 if low == 0 else 0  # column 0 has no gold word
        gold = self.gold[low + skip - 1 : high - 1]
        both[:, skip:] = known[:, skip:-1] + (gold != words[:, None])
        dropped = known[:, 1:] + 1
        columns = np.arange(width, dtype=np.int32)
        row = np.minimum.accumulate(np.minimum(both, dropped) - columns, axis=1) + columns
        return row, both, dropped


_FAR = 1 << 29  # dearer than any path, and still far from the largest number when some are added

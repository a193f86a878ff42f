# SPDX-License-Identifier: Apache-2.0
"""Several references per example: laying them out flat, and choosing one of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch
from assay.core.text import Positions, TextLists, Texts


class Candidates(NamedTuple):
    """Every prediction beside every one of its references.

    Element k of `predictions` and `references` belong together and to example `owner[k]`;
    those of example i are `splits[i]` to `splits[i + 1]`, at least one.
    """

    predictions: Texts
    references: Texts
    owner: Positions
    splits: Positions


def candidates(batch: Batch) -> Candidates:
    """Pair each prediction with each of its references; no reference at all is an empty one.

    >>> c = candidates(Batch(["a", "b", "c"], [["x", "y"], [], ["z"]]))
    >>> list(c.predictions), list(c.references), c.owner.tolist()
    (['a', 'a', 'b', 'c'], ['x', 'y', '', 'z'], [0, 0, 1, 2])
    """
    references = batch.references()[0 : len(batch)]
    counts = references.counts()
    if not bool(counts.all()):
        references = TextLists.of(list(texts) or [""] for texts in references)
        counts = references.counts()
    predictions = batch.texts()
    owner = np.repeat(np.arange(len(counts)), counts)
    if len(owner) != len(predictions):
        predictions = predictions.take(owner)
    return Candidates(predictions, references.values, owner, references.splits)


def first_lowest(values: NDArray[np.float64], splits: Positions) -> Positions:
    """The position of the lowest value of each part, of equal ones the first.

    >>> first_lowest(np.array([3.0, 1.0, 1.0, 7.0]), np.array([0, 3, 4]))
    array([1, 3])
    """
    counts = np.diff(splits)
    if bool((counts == 1).all()):
        return splits[:-1]
    best = np.minimum.reduceat(values, splits[:-1])
    at = np.flatnonzero(values == np.repeat(best, counts))
    return at[np.searchsorted(at, splits[:-1])]

# SPDX-License-Identifier: Apache-2.0
"""Candidates and gold of a batch as columns of text, and choosing the best candidate of each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch
from assay.core.text import Positions, TextLists, Texts
from assay.tasks.code.tokens import MASKS, TAIL, WORD, Numbers, words

_BY_WORD = 256
"""Texts beyond this many bytes are compared one by one from there on."""


def candidates(batch: Batch) -> TextLists:
    """The candidates of each example, best first; an example without any has one empty candidate.

    >>> [list(c) for c in candidates(Batch(["a", ["b", "c"], []], ["x", "y", "z"]))]
    [['a'], ['b', 'c'], ['']]
    """
    given = batch.predictions
    if isinstance(given, Texts):
        return TextLists.single(given)
    if isinstance(given, TextLists) and (given.each_one or bool((given.counts() > 0).all())):
        return given
    return TextLists.of([p] if isinstance(p, str) else list(p) or [""] for p in given)


def gold_texts(batch: Batch) -> Texts:
    """The gold text of each example."""
    given = batch.gold
    if isinstance(given, Texts):
        return given
    if isinstance(given, TextLists):
        return given.firsts()
    return Texts.of(g if isinstance(g, str) else g[0] if g else "" for g in given)


def owners(lists: TextLists) -> Positions:
    """To which example each candidate belongs."""
    return np.repeat(np.arange(len(lists), dtype=np.int64), lists.counts())


def first_best(values: NDArray[np.float64], lists: TextLists) -> Positions:
    """Of each example the candidate with the highest value, the first of equal ones.

    >>> first_best(np.array([1.0, 0.5, 2.0, 2.0]), TextLists.of([["a"], ["b", "c", "d"]]))
    array([0, 2])
    """
    if len(values) == len(lists):
        return np.arange(len(values), dtype=np.int64)
    if len(lists) == 0:
        return np.zeros(0, dtype=np.int64)
    highest = np.maximum.reduceat(values, lists.splits[:-1])
    owner = owners(lists)
    best = np.flatnonzero(values == highest[owner])
    first = np.ones(len(best), dtype=np.bool_)
    first[1:] = owner[best[1:]] != owner[best[:-1]]
    return best[first]


def same_text(left: Texts, right: Texts) -> NDArray[np.bool_]:
    """Whether text i of one column is text i of the other.

    >>> same_text(Texts.of(["a", "b", ""]), Texts.of(["a", "bb", ""]))
    array([ True, False,  True])
    """
    lengths = left.ends - left.starts
    found: NDArray[np.bool_] = lengths == right.ends - right.starts
    open_ = np.flatnonzero(found)
    loads = [_loads(column, open_) for column in (left, right)]
    done = 0
    while len(open_) and done < _BY_WORD:
        rest = lengths[open_] - done
        masks = MASKS.take(rest, mode="clip")
        differ = ((loads[0](open_, done) ^ loads[1](open_, done)) & masks) != 0
        found[open_[differ]] = False
        done += WORD
        open_ = open_[~differ & (rest > WORD)]
    for i in open_.tolist():
        found[i] = left.raw(i) == right.raw(i)
    return found


def _loads(texts: Texts, wanted: Positions) -> Callable[[Positions, int], Numbers]:
    """A function that gives eight bytes, from an offset on, of some of the wanted texts."""
    starts, ends = texts.starts, texts.ends
    low = int(starts[wanted].min()) if len(wanted) else 0
    high = int(ends[wanted].max()) if len(wanted) else 0
    load = words(texts.data[low:high] + bytes(TAIL))
    return lambda chosen, offset: load(starts[chosen] + (offset - low))

# SPDX-License-Identifier: Apache-2.0
"""The chrF metric: what is counted, and how the counts become a score."""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Score, Totals, Value
from assay.core.ngrams import Counts, Tokens, matches, totals
from assay.core.text import Texts
from assay.core.tokens import (
    characters,
    framed,
    lines,
    numbered,
    plainly_spaced,
    spans,
    text_blocks,
)

_EPSILON = 1e-16

_IS_PUNCTUATION = np.zeros(256, dtype=bool)
_IS_PUNCTUATION[list(string.punctuation.encode())] = True


LONGEST = 100
"""The longest n-grams one may ask for: each order costs three columns and a pass over the text."""


@dataclass(frozen=True)
class Chrf(Metric):
    """chrF: F-score of character n-grams; with `word_order=2` chrF++, which looks at words too.

    From 0 to 100, higher is better: the mean precision and the mean recall of the n-grams of 1 to
    `char_order` characters (and 1 to `word_order` words) over the whole corpus, joined to an
    F-score in which recall weighs `beta` times as much. Orders that predictions or references are
    too short for do not count; 0 where none is left, never undefined. Of several references the
    one with the highest score of its own counts, of equals the first.

    White space is no character unless `whitespace`. `eps_smoothing` takes the mean of the F-scores
    of all orders instead, with 1e-16 for an empty one, as NLTK and Moses do.

    Popović, 2015 and 2017; equal to sacrebleu 2.6 (Post, 2018).

    >>> Chrf().score([("the cat sat on the mat", "the cat sat on a mat")])
    {'chrf': 72.0848317308462}
    """

    char_order: int = 6
    word_order: int = 0
    beta: float = 2.0
    lowercase: bool = False
    whitespace: bool = False
    eps_smoothing: bool = False

    name: ClassVar[str] = "chrf"
    scores: ClassVar[tuple[Score, ...]] = (Score("chrf", high=100.0, unit="%"),)
    aliases: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "chrf++": {"word_order": "2"},
        "chrfpp": {"word_order": "2"},
    }
    # A corpus without a single character scores 0, even against itself.
    perfect: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.char_order < 1:
            raise UsageError(f"char_order={self.char_order} of chrf must be at least 1")
        if self.word_order < 0:
            raise UsageError(f"word_order={self.word_order} of chrf must not be negative")
        longest = max(self.char_order, self.word_order)
        if longest > LONGEST:
            raise UsageError(f"order {longest:,} of chrf must be at most {LONGEST}")
        # The square of beta is the weight of recall; past this there is nothing else left.
        if not 0 <= self.beta < 1e6:
            raise UsageError(f"beta={self.beta} of chrf must be at least 0, and below 1,000,000")

    @property
    def columns(self) -> tuple[str, ...]:
        """For each order the n-grams of the prediction, of the reference, and of both."""
        orders = [f"char_{n}" for n in range(1, self.char_order + 1)]
        orders += [f"word_{n}" for n in range(1, self.word_order + 1)]
        return tuple(f"{kind}_{o}" for o in orders for kind in ("predicted", "gold", "matched"))

    def measure(self, batch: Batch) -> Rows:
        """Count the n-grams of each example, a block of some hundred at a time."""
        rows = np.empty((len(batch), len(self.columns)))
        for start, stop, texts, lists in text_blocks(batch, lowercase=self.lowercase):
            rows[start:stop] = self._rows(texts, lists)
        return rows

    def _rows(self, texts: Texts, lists: Counts) -> Rows:
        counted = [_counted(characters(texts, spaces=self.whitespace), lists, self.char_order)]
        if self.word_order:
            counted.append(_counted(_words(texts), lists, self.word_order))
        each = np.concatenate(counted, axis=1).astype(np.float64)
        if bool((np.diff(lists) == 1).all()):
            return each
        return self._best(each, lists)

    def _best(self, each: Rows, lists: Counts) -> Rows:
        """Of the rows of each example, one per reference, the first with the highest score."""
        value = self.finalise(Totals(self.columns, each))["chrf"]
        counts = np.diff(lists)
        best = np.zeros((len(counts), each.shape[1]))
        highest = np.full(len(counts), -1.0)
        for k in range(int(counts.max(initial=0))):
            has = np.flatnonzero(counts > k)
            own = lists[has] + k
            higher = value[own] > highest[has]
            best[has[higher]] = each[own[higher]]
            highest[has[higher]] = value[own[higher]]
        return best

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """F-score of mean precision and mean recall."""
        values = totals.values
        predicted, gold, matched = values[..., 0::3], values[..., 1::3], values[..., 2::3]
        weight = self.beta**2
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.eps_smoothing:
                precision = np.where(predicted > 0, matched / predicted, _EPSILON)
                recall = np.where(gold > 0, matched / gold, _EPSILON)
                bottom = weight * precision + recall
                each = np.where(bottom > 0, (1 + weight) * precision * recall / bottom, _EPSILON)
                return {"chrf": 100 * _summed(each) / each.shape[-1]}
            both = (predicted > 0) & (gold > 0)
            orders = np.maximum(both.sum(axis=-1), 1)
            precision = _summed(np.where(both, matched / predicted, 0.0)) / orders
            recall = _summed(np.where(both, matched / gold, 0.0)) / orders
            value = (1 + weight) * precision * recall / (weight * precision + recall)
        return {"chrf": np.where(precision + recall > 0, 100 * value, 0.0)}


def _summed(values: Value) -> Value:
    """Sum over the last dimension from left to right, so that equal scores stay equal bits."""
    total = values[..., 0].copy()
    for k in range(1, values.shape[-1]):
        total += values[..., k]
    return total


def _counted(tokens: Tokens, lists: Counts, order: int) -> Counts:
    """Predicted, gold and matched n-grams of each order, one row per reference.

    An order that the reference is too short for counts nothing of the prediction either.
    """
    n, counts = len(lists) - 1, np.diff(lists)
    predicted, gold = tokens.part(0, n), tokens.part(n, len(tokens.splits) - 1)
    if not bool((counts == 1).all()):
        predicted = predicted.take(np.repeat(np.arange(n), counts))
    n_gold = totals(gold.lengths, order)
    n_predicted = np.where(n_gold > 0, totals(predicted.lengths, order), 0)
    found = matches(predicted, gold, order)
    return np.stack([n_predicted, n_gold, found], axis=2).reshape(len(found), 3 * order)


def _words(texts: Texts) -> Tokens:
    """Words between white space; of a punctuation mark at either end one is a word of its own."""
    data, view = framed(plainly_spaced(lines(texts)))
    starts, ends = spans(view)
    longer = ends - starts > 1
    last = longer & _IS_PUNCTUATION[view[ends - 1]]
    first = longer & ~last & _IS_PUNCTUATION[view[starts]]
    cuts = np.concatenate([ends[last] - 1, starts[first] + 1])
    starts, ends = np.concatenate([starts, cuts]), np.concatenate([ends, cuts])
    starts.sort()
    ends.sort()
    return numbered(data, starts, ends, len(texts))

# SPDX-License-Identifier: Apache-2.0
"""The BLEU metric: what is counted, and how the counts become a score."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Score, Totals, Value
from assay.core.names import unknown
from assay.core.ngrams import Counts, matches, totals
from assay.core.text import Texts
from assay.core.tokens import text_blocks
from assay.metrics.bleu.tokenisers import tokeniser

LONGEST = 100
"""The longest n-grams one may ask for: each order costs two columns and a pass over the text."""

_SMOOTHINGS: dict[str, float] = {"exp": 0.0, "floor": 0.1, "add-k": 1.0, "none": 0.0}


@dataclass(frozen=True)
class Bleu(Metric):
    """BLEU: the share of word n-grams that are in a reference, for short outputs made smaller.

    From 0 to 100, higher is better: the geometric mean of the precisions of 1 to `max_order` words
    over the whole corpus, times the brevity penalty. 0 where nothing matches, or nothing was
    predicted; never undefined. Of several references an n-gram may be in any, and the one whose
    length is nearest counts for brevity. An example without references has an empty one.

    `tokenize` is one of sacrebleu's: 13a, none, intl, char, zh, or with further packages ja-mecab,
    ko-mecab, spm, flores101, flores200, spBLEU-1K. `smooth` says what becomes of an order without
    matches: `exp` halves its precision again each time, `floor` puts `smooth_value` (0.1) for the
    count, `add-k` adds it (1) to all counts but the first, `none` leaves 0. With `effective_order`
    orders that are longer than every prediction do not count; the score of a single example is
    always made so.

    Papineni et al., 2002; equal to sacrebleu 2.6 (Post, 2018).

    >>> Bleu().score([("the cat sat on the mat", "the cat sat on a mat")])
    {'bleu': 53.7284965911771}
    """

    tokenize: str = "13a"
    lowercase: bool = False
    smooth: str = "exp"
    smooth_value: float | None = None
    max_order: int = 4
    effective_order: bool = False

    name: ClassVar[str] = "bleu"
    scores: ClassVar[tuple[Score, ...]] = (Score("bleu", high=100.0, unit="%"),)
    # A corpus of texts shorter than `max_order` scores 0, even against itself.
    perfect: ClassVar[bool] = False

    def __post_init__(self) -> None:
        tokeniser(self.tokenize)
        if self.smooth not in _SMOOTHINGS:
            raise unknown("smoothing of bleu", self.smooth, _SMOOTHINGS)
        if self.max_order < 1:
            raise UsageError(f"max_order={self.max_order} of bleu must be at least 1")
        if self.max_order > LONGEST:
            raise UsageError(f"max_order={self.max_order:,} of bleu must be at most {LONGEST}")
        if self.smooth_value is not None and not 0 <= self.smooth_value < math.inf:
            raise UsageError(
                f"smooth_value={self.smooth_value} of bleu must be finite and not negative"
            )

    @property
    def columns(self) -> tuple[str, ...]:
        """Lengths in tokens, then for each order the n-grams found and the n-grams predicted."""
        orders = range(1, self.max_order + 1)
        return (
            "predicted_tokens",
            "gold_tokens",
            *(f"matched_{n}" for n in orders),
            *(f"predicted_{n}" for n in orders),
        )

    def measure(self, batch: Batch) -> Rows:
        """Count the n-grams of each example, a block of some hundred at a time."""
        rows = np.empty((len(batch), len(self.columns)))
        for start, stop, texts, lists in text_blocks(batch, lowercase=self.lowercase):
            rows[start:stop] = self._rows(texts, lists)
        return rows

    def _rows(self, texts: Texts, lists: Counts) -> Counts:
        n, order = len(lists) - 1, self.max_order
        tokens = tokeniser(self.tokenize)(texts)
        predicted, gold = tokens.part(0, n), tokens.part(n, len(texts))
        lengths = predicted.lengths
        nearest = _nearest_length(lengths, gold.lengths, lists)
        matched = matches(predicted, gold, order, lists)
        return np.column_stack([lengths, nearest, matched, totals(lengths, order)])

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Geometric mean of the smoothed precisions, times the brevity penalty."""
        precisions, counted = self._precisions(totals)
        with np.errstate(divide="ignore"):
            logs = np.where(counted, np.log(precisions), 0.0)
            mean = logs.sum(axis=-1) / np.maximum(counted.sum(axis=-1), 1)
        found = totals.values[..., 2 : 2 + self.max_order].any(axis=-1)
        score = 100 * self.brevity_penalty(totals) * np.exp(mean)
        return {"bleu": np.where(found, score, 0.0)}

    def per_example(self, rows: Rows) -> Mapping[str, Value]:
        """BLEU of each example by itself, always with `effective_order`."""
        return replace(self, effective_order=True).finalise(Totals(self.columns, rows))

    def brevity_penalty(self, totals: Totals) -> Value:
        """What a corpus shorter than its references keeps of its score: from 0 to 1."""
        with np.errstate(divide="ignore", invalid="ignore"):
            penalty = np.exp(1 - totals.gold_tokens / totals.predicted_tokens)
        return np.where(totals.predicted_tokens < totals.gold_tokens, penalty, 1.0)

    def precisions(self, totals: Totals) -> Value:
        """Smoothed precision of each order, in percent, in the last dimension."""
        return 100 * self._precisions(totals)[0]

    def _precisions(self, totals: Totals) -> tuple[Value, NDArray[np.bool_]]:
        """Smoothed precisions as shares, so that a perfect score is 100 to the last bit, and which
        orders the score is made of."""
        order = self.max_order
        matched = totals.values[..., 2 : 2 + order].copy()
        total = totals.values[..., 2 + order :].copy()
        value = _SMOOTHINGS[self.smooth] if self.smooth_value is None else self.smooth_value
        if self.smooth == "add-k":
            matched[..., 1:] += value
            total[..., 1:] += value
        # Where an order has no n-grams, longer ones have none either.
        exists = np.logical_and.accumulate(total != 0, axis=-1)
        empty = exists & (matched == 0)
        if self.smooth == "exp":
            matched = np.where(empty, 0.5 ** np.cumsum(empty, axis=-1), matched)
        elif self.smooth == "floor":
            matched = np.where(empty, value, matched)
        with np.errstate(divide="ignore", invalid="ignore"):
            precisions = np.where(exists, matched / total, 0.0)
        return precisions, exists if self.effective_order else np.ones_like(exists)


def _nearest_length(lengths: Counts, gold: Counts, lists: Counts) -> Counts:
    """Length of the reference that is nearest in length, of two the shorter; 0 if there is none."""
    counts = np.diff(lists)
    if bool((counts == 1).all()):
        return gold
    best = np.zeros(len(lengths), dtype=np.int64)
    gap = np.full(len(lengths), np.iinfo(np.int64).max)
    for k in range(int(counts.max(initial=0))):
        has = np.flatnonzero(counts > k)
        length = gold[lists[has] + k]
        distance = np.abs(length - lengths[has])
        nearer = (distance < gap[has]) | ((distance == gap[has]) & (length < best[has]))
        best[has[nearer]], gap[has[nearer]] = length[nearer], distance[nearer]
    return best

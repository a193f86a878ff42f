# SPDX-License-Identifier: Apache-2.0
"""How many tokens in a row a suggestion has right: what an editor could have completed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import ClassVar, NamedTuple

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value
from assay.core.text import Positions, Texts
from assay.tasks.code.beams import candidates, first_best, gold_texts, owners
from assay.tasks.code.shares import share
from assay.tasks.code.tokens import split


class Run(NamedTuple):
    """Tokens in a row that are right: expected number, and the most."""

    expected: float
    longest: int


class Runs(NamedTuple):
    """The same for many pairs."""

    expected: Value
    longest: Value


def run_of(prediction: str, gold: str) -> Run:
    """Runs of equal tokens at equal positions, of one pair: the definition.

    >>> run_of("a b x d", "a b c d")
    Run(expected=1.0, longest=2)
    """
    left, right = prediction.split(" "), gold.split(" ")
    total = max(len(left), len(right))
    same = (a == b for a, b in zip(left, right, strict=False))
    lengths = [sum(1 for _ in run) for right_here, run in groupby(same) if right_here]
    # In this order of operations and summed from the left: candidates are chosen by the result.
    expected = 0.0
    for length in lengths:
        expected += length / total * (length + 1) / 2
    return Run(expected, max(lengths, default=0))


def runs(texts: Texts, gold: Texts, owner: Positions) -> Runs:
    """`run_of` of each candidate and the gold of its owner, `gold[owner[c]]`."""
    tokens = split(texts, gold)
    n = len(texts)
    numbers = tokens.single()
    if numbers is None:
        each = [run_of(texts[c], gold[int(owner[c])]) for c in range(n)]
        return Runs(
            np.array([run.expected for run in each], dtype=np.float64),
            np.array([run.longest for run in each], dtype=np.float64),
        )
    left, right = tokens.counts[:n], tokens.counts[n:][owner]
    both = np.minimum(left, right)
    ends = np.cumsum(both)
    pair = np.repeat(np.arange(n, dtype=np.int64), both)
    place = np.arange(int(ends[-1]) if n else 0) - np.repeat(ends - both, both)
    wanted = numbers[tokens.first[n:][owner[pair]] + place]
    same = numbers[tokens.first[:n][pair] + place] == wanted
    # A run starts at a right token that has no right token of the same pair before it.
    begins, stops = same.copy(), same.copy()
    begins[1:] &= ~same[:-1] | (place[1:] == 0)
    stops[:-1] &= ~same[1:] | (place[1:] == 0)
    starts = np.flatnonzero(begins)
    lengths = (np.flatnonzero(stops) - starts + 1).astype(np.float64)
    of = pair[starts]
    total = np.maximum(left, right)[of]
    # bincount adds in order, which is from the left in each pair.
    expected: Value = np.zeros(n)
    expected += np.bincount(of, lengths / total * (lengths + 1) / 2, minlength=n)
    longest = np.zeros(n)
    np.maximum.at(longest, of, lengths)
    return Runs(expected, longest)


@dataclass(frozen=True)
class SuccessiveTokens(Metric):
    """How many right tokens in a row follow a random place of the line, and the longest such run.

    Tokens are compared position by position. The expected number is, over all positions of the
    longer of the two lines, the mean of how far the run of right tokens goes on from there; from 0
    up to half the number of tokens and a half. Of several candidates the first with the highest
    expected number counts, for both scores. Higher is better; an empty line is one empty token.
    Source: retrieve-and-edit (Hashimoto et al. 2018) as scored by PLUR (Chen et al. 2021).

    >>> SuccessiveTokens().score([("a b x d", "a b c d")])["average_max_successive_tokens"]
    2.0
    """

    name: ClassVar[str] = "successive_tokens"
    columns = ("n", "expected", "longest")
    scores: ClassVar[tuple[Score, ...]] = (
        Score("average_expected_successive_tokens", high=np.inf),
        Score("average_max_successive_tokens", high=np.inf),
    )
    perfect: ClassVar[bool] = False  # the best value depends on how long the gold is

    def measure(self, batch: Batch) -> Rows:
        """Expected number and longest run of the chosen candidate."""
        beams = candidates(batch)
        found = runs(beams.values, gold_texts(batch), owners(beams))
        chosen = first_best(found.expected, beams)
        rows = np.stack(
            [np.ones(len(batch)), found.expected[chosen], found.longest[chosen]], axis=1
        )
        if batch.missing is not None:
            rows[batch.missing, 1:] = 0
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Means over lines."""
        return {
            "average_expected_successive_tokens": share(totals.expected, totals.n),
            "average_max_successive_tokens": share(totals.longest, totals.n),
        }

# SPDX-License-Identifier: Apache-2.0
"""How many tokens of a prediction are in the gold, and the other way round, for many lines at once.

`overlap_of` is the definition, for one pair of token lists; `overlaps` gives the same counts for a
whole batch, comparing token numbers position by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.text import Positions, Texts
from assay.tasks.code.tokens import Numbers, split

Counts = NDArray[np.int64]
Few = NDArray[np.uint8]

LIMITS = (3, 6, 16)
"""Lines are compared together with others of up to this many tokens; longer ones one by one."""

_GROUP = np.searchsorted(LIMITS, np.arange(LIMITS[-1] + 2)).astype(np.uint8)
"""Which limit a number of tokens belongs to; the last group is beyond all of them."""

# No UTF-8 text contains these bytes, so no token has such a number.
_NO_PREDICTION = np.uint64(0xFE << 56)
_NO_GOLD = np.uint64(0xFD << 56)


@dataclass(frozen=True, slots=True)
class Rule:
    """How token lists are made comparable.

    `fold` lower-cases every token by itself. `drop_predicted` and `drop_gold` are left out before
    anything is counted. `predicted_set` and `gold_set` count a repeated token once. `whole` counts
    a prediction that is the gold once spaces are left out as right in all tokens.
    """

    fold: bool = False
    drop_predicted: tuple[str, ...] = ()
    drop_gold: tuple[str, ...] = ()
    predicted_set: bool = False
    gold_set: bool = False
    whole: bool = False


class Overlap(NamedTuple):
    """Tokens predicted and gold, predicted only, gold only."""

    true_positives: int
    false_positives: int
    false_negatives: int


class Overlaps(NamedTuple):
    """The same for many pairs."""

    true_positives: Counts
    false_positives: Counts
    false_negatives: Counts


def overlap_of(prediction: str, gold: str, rule: Rule) -> Overlap:
    """The three counts of one pair.

    >>> overlap_of("get get size", "get name", Rule())
    Overlap(true_positives=2, false_positives=1, false_negatives=1)
    >>> overlap_of("get get size", "get name", Rule(predicted_set=True))
    Overlap(true_positives=1, false_positives=1, false_negatives=1)
    """
    predicted = _prepared(prediction, rule.fold, rule.drop_predicted)
    wanted = _prepared(gold, rule.fold, rule.drop_gold)
    if rule.whole and "".join(predicted) == "".join(wanted):
        return Overlap(len(wanted), 0, 0)
    if rule.predicted_set:
        predicted = list(dict.fromkeys(predicted))
    if rule.gold_set:
        wanted = list(dict.fromkeys(wanted))
    hits = sum(token in wanted for token in predicted)
    missed = sum(token not in predicted for token in wanted)
    return Overlap(hits, len(predicted) - hits, missed)


def unanswered(gold: str, rule: Rule) -> Overlap:
    """The counts where there is no prediction at all: one empty token that is never right.

    >>> unanswered("get name", Rule()), unanswered("", Rule())
    (Overlap(true_positives=0, false_positives=1, false_negatives=2), \
Overlap(true_positives=0, false_positives=1, false_negatives=1))
    """
    wanted = _prepared(gold, rule.fold, rule.drop_gold)
    return Overlap(0, 1, len(set(wanted)) if rule.gold_set else len(wanted))


def overlaps(candidates: Texts, gold: Texts, owners: Positions, rule: Rule) -> Overlaps:
    """The three counts of each candidate against the gold of its owner, `gold[owners[c]]`."""
    folded = (folded_texts(candidates), folded_texts(gold)) if rule.fold else (candidates, gold)
    tokens = split(*folded)
    n = len(candidates)
    numbers = None if rule.whole else tokens.single()
    found = np.zeros((3, n), dtype=np.int64)
    by_definition = np.arange(n)
    if numbers is not None:
        lines = _Lines(numbers, tokens.first, np.minimum(tokens.counts, 255).astype(np.uint8))
        dropped = _held(numbers, rule.drop_predicted), _held(numbers, rule.drop_gold)
        longest = np.maximum(tokens.counts[:n], tokens.counts[n:][owners])
        groups = _GROUP.take(longest, mode="clip")
        for group in range(len(LIMITS)):
            chosen = np.flatnonzero(groups == group)
            if len(chosen):
                counted = _compared(lines, chosen, n + owners[chosen], rule, dropped)
                for column, values in zip(found, counted, strict=True):
                    column[chosen] = values
        by_definition = np.flatnonzero(groups == len(LIMITS))
    for c in by_definition.tolist():
        found[:, c] = overlap_of(candidates[c], gold[int(owners[c])], rule)
    return Overlaps(*found)


def folded_texts(texts: Texts) -> Texts:
    """Each token lower-cased by itself, as `str.lower` does it.

    By itself, because a sigma at the end of a word has a form of its own.

    >>> list(folded_texts(Texts.of(["Get ÀÉ", "ΣΟΦΟΣ Σ"])))
    ['get àé', 'σοφος σ']
    """
    lowered = Texts(texts.data.lower(), texts.starts, texts.ends)  # ASCII letters only
    if texts.data.isascii():
        return lowered
    high = np.frombuffer(texts.data, dtype=np.uint8) >= 0x80
    before = np.zeros(len(high) + 1, dtype=np.int64)
    np.cumsum(high, out=before[1:])
    others = before[texts.ends] > before[texts.starts]
    if not bool(others.any()):
        return lowered
    plain = list(lowered)
    for i in np.flatnonzero(others).tolist():
        plain[i] = " ".join(token.lower() for token in texts[i].split(" "))
    return Texts.of(plain)


def _prepared(text: str, fold: bool, dropped: tuple[str, ...]) -> list[str]:
    tokens = text.split(" ")
    if fold:
        tokens = [token.lower() for token in tokens]
    return [token for token in tokens if token not in dropped]


class _Lines(NamedTuple):
    """Numbers of the tokens of some texts: `counts[i]` for text i, from `first[i]` on.

    Counts are single bytes: there are only some tokens on a line that is compared by them.
    """

    numbers: Numbers
    first: Positions
    counts: Few


def _held(numbers: Numbers, dropped: tuple[str, ...]) -> list[np.uint64]:
    """The numbers of those of some short tokens that occur: their bytes."""
    found = [np.uint64(int.from_bytes(token.encode(), "little")) for token in dropped]
    return [number for number in found if bool((numbers == number).any())]


def _compared(
    lines: _Lines,
    left: Positions,
    right: Positions,
    rule: Rule,
    dropped: tuple[list[np.uint64], list[np.uint64]],
) -> tuple[Few, Few, Few]:
    """Counts of short lines, text left[i] against text right[i]: all positions with all others."""
    predicted = _side(lines, left, dropped[0], rule.predicted_set, _NO_PREDICTION)
    wanted = _side(lines, right, dropped[1], rule.gold_set, _NO_GOLD)
    same = (wanted.numbers[None] == predicted.numbers[:, None]).view(np.uint8)
    hits = np.add.reduce(np.bitwise_or.reduce(same, axis=1), axis=0, dtype=np.uint8)
    found = np.add.reduce(np.bitwise_or.reduce(same, axis=0), axis=0, dtype=np.uint8)
    return hits, predicted.counts - hits, wanted.counts - found


def _along(mask: NDArray[np.bool_]) -> Few:
    """How many are set at each text, over all positions."""
    found: Few = np.add.reduce(mask.view(np.uint8), axis=0, dtype=np.uint8)
    return found


class _Side(NamedTuple):
    """Token numbers of some texts by position (positions x texts), and how many tokens count."""

    numbers: Numbers
    counts: Few


def _side(
    lines: _Lines, texts: Positions, dropped: Sequence[np.uint64], as_set: bool, nothing: np.uint64
) -> _Side:
    """One side of a comparison.

    The number of what does not count is `nothing`: positions behind the end, dropped tokens, and
    the later ones of equal tokens where the side is a set.
    """
    counts = lines.counts[texts]
    positions = np.arange(counts.max(), dtype=np.uint8)[:, None]
    numbers = lines.numbers.take(lines.first[texts] + positions, mode="clip")
    np.putmask(numbers, counts <= positions, nothing)
    for number in dropped:
        same = numbers == number
        counts = counts - _along(same)
        np.putmask(numbers, same, nothing)
    if as_set:
        for position in range(1, len(numbers)):
            row = numbers[position]
            same = numbers[:position] == row
            again = np.bitwise_or.reduce(same, axis=0) & (row != nothing)
            counts = counts - again
            np.putmask(row, again, nothing)
    return _Side(numbers, counts)

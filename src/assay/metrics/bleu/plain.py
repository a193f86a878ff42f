# SPDX-License-Identifier: Apache-2.0
"""BLEU in plain Python, one text after the other: for a few lines, and to check the kernel by.

Nothing here needs numpy, which takes longer to load than a hundred lines take to score. It knows
the default parameters alone; `Bleu` knows them all, and tests hold the two to the same counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from assay.core.document import ScoreEntry

LARGEST = 1 << 17
"""Bytes of a file; beyond some thousand lines the kernel is the quicker one, numpy included."""

ORDER = 4
SCORE = ScoreEntry("bleu", "bleu", True, "%")
SIGNATURE = (
    "bleu(tokenize=13a,lowercase=false,smooth=exp,smooth_value=none,max_order=4,"
    "effective_order=false)"
)

_SEPARATED = (
    (re.compile(r"([!-&(-+/:-@[-`{-~])"), r" \1 "),  # always a word of its own
    (re.compile(r"([^0-9])([.,])"), r"\1 \2 "),  # unless behind a digit
    (re.compile(r"([.,])([^0-9])"), r" \1 \2"),  # unless before a digit
    (re.compile(r"([0-9])(-)"), r"\1 \2 "),  # only behind a digit
)
_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))


def words(text: str) -> list[str]:
    """The words of one line by the rules of NIST's mteval-v13a.

    >>> words("It's 1,000.5 (at 9-5), &quot;so&quot;.")
    ["It's", '1,000.5', '(', 'at', '9', '-', '5', ')', ',', '"', 'so', '"', '.']
    """
    text = text.replace("<skipped>", "")
    if "&" in text:
        for entity, character in _ENTITIES:
            text = text.replace(entity, character)
    found: list[str] = []
    for piece in text.split():  # no rule looks past white space
        if piece.isalnum():
            found.append(piece)
            continue
        piece = f" {piece} "
        for pattern, apart in _SEPARATED:
            piece = pattern.sub(apart, piece)
        found += piece.split()
    return found


def row(prediction: str, references: Sequence[str]) -> list[int]:
    """What `Bleu.measure` counts of one example: lengths, matches and n-grams by order.

    >>> row("the cat sat", ["the cat ran"])
    [3, 3, 2, 1, 0, 0, 3, 2, 1, 0]
    """
    predicted = words(prediction)
    gold = [words(text) for text in references]
    length = len(predicted)
    nearest = min((abs(len(g) - length), len(g)) for g in gold)[1]
    matched = [_matches(predicted, gold, n) for n in range(1, ORDER + 1)]
    return [length, nearest, *matched, *(max(0, length - n) for n in range(ORDER))]


def score(rows: Iterable[Sequence[int]]) -> float:
    """The score of a corpus of these rows.

    >>> round(score([row("the cat sat on the mat", ["the cat sat on a mat"])]), 10)
    53.7284965912
    """
    return finalise([sum(column) for column in zip(*rows, strict=True)])


def finalise(totals: Sequence[int]) -> float:
    """The score, as `Bleu.finalise` makes it of the sum of all rows."""
    length, nearest, *counts = totals
    matched, total = counts[:ORDER], counts[ORDER:]
    if not any(matched) or not all(total):
        return 0.0
    halved, logs = 1.0, 0.0
    for hits, n in zip(matched, total, strict=True):
        if not hits:
            halved /= 2
        logs += math.log((hits or halved) / n)
    penalty = math.exp(1 - nearest / length) if length < nearest else 1.0
    return 100 * penalty * math.exp(logs / ORDER)


def _matches(predicted: list[str], gold: Iterable[list[str]], n: int) -> int:
    """How many n-grams of the prediction a reference has, as often as that one has it."""
    counts = _ngrams(predicted, n)
    most: dict[tuple[str, ...], int] = {}
    for reference in gold:
        for ngram, count in _ngrams(reference, n).items():
            if ngram in counts and count > most.get(ngram, 0):
                most[ngram] = count
    return sum(min(count, counts[ngram]) for ngram, count in most.items())


def _ngrams(tokens: list[str], n: int) -> dict[tuple[str, ...], int]:
    counts: dict[tuple[str, ...], int] = {}
    for ngram in zip(*(tokens[k:] for k in range(n)), strict=False):
        counts[ngram] = counts.get(ngram, 0) + 1
    return counts

# SPDX-License-Identifier: Apache-2.0
"""chrF in plain Python, one text after the other: for a few lines, and to check the kernel by.

Nothing here needs numpy, which takes longer to load than a hundred lines take to score. It knows
the default parameters alone; `Chrf` knows them all, and tests hold the two to the same counts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from assay.core.document import ScoreEntry

LARGEST = 1 << 15
"""Bytes of a file; beyond some hundred lines the kernel is the quicker one, numpy included."""

ORDER = 6
WEIGHT = 4.0
"""Of recall: the square of beta."""

SCORE = ScoreEntry("chrf", "chrf", True, "%")
SIGNATURE = (
    "chrf(char_order=6,word_order=0,beta=2.0,lowercase=false,whitespace=false,eps_smoothing=false)"
)


def row(prediction: str, references: Sequence[str]) -> list[int]:
    """What `Chrf.measure` counts of one example: predicted, gold and matched n-grams by order.

    >>> row("ab c", ["abd"])
    [3, 3, 2, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    """
    predicted = _ngrams(prediction)
    rows = [_against(predicted, _ngrams(reference)) for reference in references]
    return max(rows, key=lambda counts: score([counts]))  # of equals the first


def score(rows: Iterable[Sequence[int]]) -> float:
    """The score of a corpus of these rows.

    >>> round(score([row("the cat sat on the mat", ["the cat sat on a mat"])]), 10)
    72.0848317308
    """
    return finalise([sum(column) for column in zip(*rows, strict=True)])


def finalise(totals: Sequence[int]) -> float:
    """The score, as `Chrf.finalise` makes it of the sum of all rows."""
    triples = zip(totals[0::3], totals[1::3], totals[2::3], strict=True)
    both = [(p, g, m) for p, g, m in triples if p and g]
    precision = sum((m / p for p, _, m in both), 0.0) / max(1, len(both))
    recall = sum((m / g for _, g, m in both), 0.0) / max(1, len(both))
    if not precision + recall:
        return 0.0
    return 100 * ((1 + WEIGHT) * precision * recall / (WEIGHT * precision + recall))


def _ngrams(text: str) -> list[Counter[str]]:
    """How often each n-gram is in the text without white space, by order."""
    characters = "".join(text.split())
    return [
        Counter(characters[i : i + n] for i in range(len(characters) - n + 1))
        for n in range(1, ORDER + 1)
    ]


def _against(predicted: Sequence[Counter[str]], gold: Sequence[Counter[str]]) -> list[int]:
    counts: list[int] = []
    for ours, theirs in zip(predicted, gold, strict=True):
        in_gold = theirs.total()
        in_prediction = ours.total() if in_gold else 0  # a gold too short for it counts nothing
        matched = sum(min(n, theirs[ngram]) for ngram, n in ours.items() if ngram in theirs)
        counts += [in_prediction, in_gold, matched]
    return counts

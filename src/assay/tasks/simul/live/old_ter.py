# SPDX-License-Identifier: Apache-2.0
"""TER as fairseq's server had it, for `--compat fairseq`. It is not tercom's, nor sacrebleu's.

Words are compared as they are. A block of the translation that stands elsewhere in the reference is
moved as long as that lowers the word edit distance; a move counts as one edit.
"""

from __future__ import annotations

from collections.abc import Sequence


def mean_ter(texts: Sequence[str], references: Sequence[str]) -> float | None:
    """The mean of the sentences' TER, a fraction; None where a reference is empty.

    >>> mean_ter(["b c a"], ["a b c"])  # one move, three words
    0.3333333333333333
    """
    total = 0.0
    for text, reference in zip(texts, references, strict=True):
        words, wanted = text.split(), reference.split()
        if not wanted:
            return None
        total += _edits(words, wanted) / len(wanted)
    return total / len(texts) if texts else None


def _edits(words: list[str], wanted: list[str]) -> int:
    """Moves and edits of one sentence."""
    from rapidfuzz.distance import Levenshtein

    moves, left = 0, Levenshtein.distance(words, wanted)
    while True:
        best, chosen = left, None
        for moved in _moved(words, wanted):
            found = Levenshtein.distance(moved, wanted)
            # Of equal ones the last that was tried is kept; one that does not help is not.
            if found < left and found <= best:
                best, chosen = found, moved
        if chosen is None:
            return moves + left
        words, left = chosen, best
        moves += 1


def _moved(words: list[str], wanted: list[str]) -> list[list[str]]:
    """The translation after each possible move, in the order in which they are tried."""
    found = []
    for i, word in enumerate(words):
        for j, other in enumerate(wanted):
            if i == j or word != other:
                continue
            length = 1
            while (
                i + length < len(words)
                and j + length < len(wanted)
                and words[i + length] == wanted[j + length]
            ):
                length += 1
            rest = words[:i] + words[i + length :]
            found.append(rest[:j] + words[i : i + length] + rest[j:])
    return found

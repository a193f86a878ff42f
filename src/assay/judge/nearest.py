# SPDX-License-Identifier: Apache-2.0
"""The gold text that a prediction is nearest to."""

from __future__ import annotations

from collections.abc import Sequence

LONGEST = 20_000


def nearest(prediction: str, references: Sequence[str]) -> int | None:
    """The place of the reference with the fewest edits, of equal ones the first; None if none.

    >>> nearest("ls -la", ["find .", "ls -l", "ls -al"])
    1
    """
    if not references:
        return None
    from rapidfuzz.distance import Levenshtein

    def distance(place: int) -> float:
        return Levenshtein.normalized_distance(prediction[:LONGEST], references[place][:LONGEST])

    return min(range(len(references)), key=distance)

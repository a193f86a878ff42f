# SPDX-License-Identifier: Apache-2.0
"""Columns that examples can be sliced by without being in the files."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence

from assay.core.batch import Batch
from assay.tasks.code.beams import candidates, gold_texts
from assay.tasks.code.hits import KINDS

_FROM = (1, 2, 3, 4, 6, 11, 21, 51)
"""Where the bands of lengths begin."""


def _length(text: str) -> str:
    n = text.count(" ") + 1
    band = bisect_right(_FROM, n) - 1
    low = _FROM[band]
    if band + 1 == len(_FROM):
        return f"{low}+"
    high = _FROM[band + 1] - 1
    return str(low) if low == high else f"{low}-{high}"


def _first_token(text: str) -> str:
    return text.partition(" ")[0]


def _transformation(text: str) -> str:
    first = _first_token(text)
    return first if first.encode() in KINDS else "other"


_OF_GOLD: Mapping[str, Callable[[str], str]] = {
    "class": str.strip,
    "length": _length,
    "target_length": _length,
    "first_token": _first_token,
    "transformation": _transformation,
}


def derived(column: str, batch: Batch) -> Sequence[str] | None:
    """The column of this name for a batch; None if it is not one of these.

    `class` is the gold text, `length` (or `target_length`) its number of tokens, `first_token` its
    first token, `transformation` the kind of edit, `candidates` the number of candidates.

    >>> derived("length", Batch(["x"] * 3, ["get", "a b c d e", " ".join("x" * 60)]))
    ['1', '4-5', '51+']
    """
    name = column.replace("-", "_")
    if name == "candidates":
        return [str(count) for count in candidates(batch).counts().tolist()]
    of_gold = _OF_GOLD.get(name)
    return None if of_gold is None else [of_gold(text) for text in gold_texts(batch)]

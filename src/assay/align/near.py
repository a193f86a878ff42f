# SPDX-License-Identifier: Apache-2.0
"""Ids that a person would call the same."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

_DIFFERENCES: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("white space around it", str.strip),
    ("Unicode normalisation", lambda id: unicodedata.normalize("NFC", id)),
    ("upper and lower case", str.casefold),
    ("leading zeros", lambda id: re.sub(r"(?<!\d)0+(?=\d)", "", id)),
    (
        "white space, normalisation and case",
        lambda id: unicodedata.normalize("NFKC", "".join(id.split())).casefold(),
    ),
)


def near_miss(lost: Iterable[str], extra: Iterable[str]) -> str | None:
    """How an id without prediction resembles a prediction without gold, if one does.

    >>> near_miss(["q1", "q2"], ["q3", "q2 "])
    "'q2' and the prediction's 'q2 ' differ only by white space around it"
    """
    wanted, given = list(lost), list(extra)
    for what, folded in _DIFFERENCES:
        by_folded = {folded(id): id for id in given}
        for id in wanted:
            other = by_folded.get(folded(id))
            if other is not None:
                return f"{id!r} and the prediction's {other!r} differ only by {what}"
    return None

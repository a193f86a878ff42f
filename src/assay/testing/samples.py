# SPDX-License-Identifier: Apache-2.0
"""Examples for contract tests: what hypothesis draws where a metric does not say otherwise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from assay.core.batch import Pair

# Few words, so that predictions are often partly right; several scripts, all kinds of space, what
# tokenisers treat in a special way, and tokens longer than the words of a machine.
_WORDS = (
    *("a", "b", "the", "The", "cat", "cat.", "1,000.5", "well-known", "don't", "&amp;", "..."),
    *(
        "é",
        "e\u0301",
        "мама",
        "北京大学",
        "カタカナ",
        "한국어",
        "हिन्दी",
        "مرحبا",
        "😀",
        "İ",
        "\x00",
    ),
    *("x" * 9, "x" * 17, "x" * 70 + "y"),
)
_SPACES = (" ", " ", " ", " ", "  ", "\t", "\u00a0", "\u3000", "\x1c", "")
_PIECES = [word + space for word in _WORDS for space in _SPACES]


# Made once: it takes longer to make a strategy than to draw from it.
_TEXTS = st.lists(st.sampled_from(_PIECES), max_size=9).map("".join)
_REFERENCES = st.one_of(_TEXTS, st.lists(_TEXTS, min_size=1, max_size=3))
_PLACES = st.lists(st.integers(0, 99), max_size=10)
_PLACE = st.integers(0, 2)


def texts() -> SearchStrategy[str]:
    """Short texts that share words; every one in ten is empty or nothing but space."""
    return _TEXTS


def references() -> SearchStrategy[str | list[str]]:
    """Gold: one text, or a list of one to three."""
    return _REFERENCES


@st.composite
def _text_pairs(draw: st.DrawFn) -> Pair:
    gold = draw(_REFERENCES)
    kind = draw(_PLACE)
    if kind == 0:
        return Pair(draw(_TEXTS), gold)
    right = gold if isinstance(gold, str) else gold[draw(_PLACE) % len(gold)]
    if kind == 1:
        return Pair(right, gold)
    words = right.split(" ")
    return Pair(" ".join(words[k % len(words)] for k in draw(_PLACES)), gold)


_PAIRS = _text_pairs()


def text_pairs() -> SearchStrategy[Pair]:
    """A text against its references: unrelated, or the gold, or some of its words."""
    return _PAIRS


def answered(pair: Pair) -> Pair:
    """The pair with its gold as prediction, in the shape that the prediction had.

    >>> answered(Pair("no", ["yes", "yeah"])), answered(Pair(["no"], "yes"))
    (Pair(prediction='yes', gold=['yes', 'yeah'], missing=False), \
Pair(prediction=['yes'], gold='yes', missing=False))
    """
    gold = pair.gold
    if _is_list(gold) and not _is_list(pair.prediction):
        return Pair(gold[0], gold)
    if _is_list(pair.prediction) and not _is_list(gold):
        return Pair([gold], gold)
    return Pair(gold, gold)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)

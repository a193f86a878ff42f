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


def texts() -> SearchStrategy[str]:
    """Short texts that share words; every one in ten is empty or nothing but space."""
    words = st.lists(st.tuples(st.sampled_from(_WORDS), st.sampled_from(_SPACES)), max_size=9)
    return words.map(lambda held: "".join(word + space for word, space in held))


def references() -> SearchStrategy[str | list[str]]:
    """Gold: one text, or a list of one to three."""
    return st.one_of(texts(), st.lists(texts(), min_size=1, max_size=3))


def text_pairs() -> SearchStrategy[Pair]:
    """A text against its references: unrelated, or the gold with some of its words."""

    def near(gold: str | list[str]) -> SearchStrategy[Pair]:
        right = st.sampled_from([gold] if isinstance(gold, str) else gold)
        return st.builds(Pair, st.one_of(texts(), right, right.flatmap(_some_words)), st.just(gold))

    return references().flatmap(near)


def _some_words(text: str) -> SearchStrategy[str]:
    words = text.split(" ")
    return st.lists(st.sampled_from(words), max_size=len(words)).map(" ".join)


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

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core import tokens
from assay.core.batch import Batch
from assay.core.ngrams import Keys
from assay.core.text import Texts
from assay.core.tokens import (
    SPACES,
    characters,
    framed,
    lines,
    lowered,
    mixed_in,
    numbered,
    plainly_spaced,
    spans,
    text_blocks,
)


def split(texts: list[str]) -> list[list[int]]:
    """The numbers of the words of each text."""
    data, view = framed(plainly_spaced(lines(Texts.of(texts))))
    found = numbered(data, *spans(view), len(texts))
    return [found.part(i, i + 1).ids.tolist() for i in range(len(texts))]


def same(texts: list[str]) -> list[list[int]]:
    """Words numbered by a dictionary, in order of first appearance."""
    known: dict[str, int] = {}
    return [[known.setdefault(w, len(known)) for w in text.split()] for text in texts]


def renumbered(found: list[list[int]]) -> list[list[int]]:
    known: dict[int, int] = {}
    return [[known.setdefault(i, len(known)) for i in text] for text in found]


def test_spaces_are_those_of_python() -> None:
    assert list(SPACES) == [c for c in range(sys.maxunicode + 1) if chr(c).isspace()]


@pytest.mark.parametrize("code", SPACES)
def test_every_space_separates(code: int) -> None:
    text = f"“a{chr(code)}b” ж{chr(code)}"
    assert renumbered(split([text])) == same([text])


# Lengths around every border: exact, hashed, looked up.
words = st.one_of(
    st.text("ab", min_size=1, max_size=4),
    st.sampled_from([7, 8, 9, 15, 16, 17, 24, 25, 63, 64, 65, 72, 200]).flatmap(
        lambda n: st.integers(0, n - 1).map(lambda at: "x" * at + "y" + "x" * (n - 1 - at))
    ),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=12),
)
texts = st.lists(words, max_size=12).map(" ".join)


@given(st.lists(texts, max_size=5))
def test_words_have_the_same_number_if_and_only_if_they_are_the_same(column: list[str]) -> None:
    assert renumbered(split(column)) == same(column)


def test_one_different_byte_is_enough_wherever_it_is() -> None:
    for size in (8, 9, 16, 17, 23, 24, 25, 40, 64, 65, 90):
        column = [" ".join("x" * at + "y" + "x" * (size - 1 - at) for at in range(size))] * 2
        assert renumbered(split(column)) == [list(range(size))] * 2


SAME_HASH = [
    ("other first bytes", "Xbcdefgh-and-more-of-it", "abcdefgh-and-more-of-it"),
    ("other last bytes", "abcdefgh-and-more-of-it", "abcdefgh-and-more-of-iX"),
    ("other length", "x" * 20, "x" * 21),
    ("eight bytes", "abcdefgh", "abcdefgX"),
    ("only the middle of 17", "abcdefgh-12345678", "abcdefghX12345678"),
    ("only the middle of 24", "abcdefgh--------12345678", "abcdefgh---X----12345678"),
    ("only the middle of 64", "x" * 64, "x" * 50 + "y" + "x" * 13),
    ("beyond what is hashed", "x" * 65, "x" * 32 + "y" + "x" * 32),
]


@pytest.mark.parametrize(("name", "one", "other"), SAME_HASH, ids=[c[0] for c in SAME_HASH])
def test_words_with_the_same_hash_are_told_apart(
    name: str, one: str, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    column = [f"{one} {other} {one}", f"{other} short"]
    expected = same(column)

    def constant(head: Keys, *rest: object) -> Keys:
        return np.zeros_like(head)

    monkeypatch.setattr(tokens, "_hashes", constant)
    assert renumbered(split(column)) == expected


def test_a_constructed_collision_is_told_apart() -> None:
    """Two words of letters and digits with the same hash, found by solving for the last 8 bytes.

    The last step adds the last word to a value that depends on the rest; choosing that word as
    the difference of two such values makes the sums, and so the hashes, equal.
    """
    rng = np.random.default_rng(7)
    signs = np.frombuffer(
        b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", np.uint8
    )
    heads = rng.choice(signs, (1_000_000, 8))
    tail = np.frombuffer(b"collides", dtype="<u8")
    size = np.full(len(heads), 16, dtype=np.uint64)
    before = mixed_in(heads.view("<u8").ravel(), size) * tokens._MIX_HEAD
    before ^= before >> np.uint64(32)
    tails = np.ascontiguousarray(tail + before[0] - before).view(np.uint8).reshape(-1, 8)
    fitting = np.flatnonzero(np.isin(tails, signs).all(axis=1))
    assert len(fitting) > 1, "the first is its own partner"
    pair = [(heads[i].tobytes() + tails[i].tobytes()).decode() for i in fitting[:2].tolist()]
    assert pair[0] != pair[1]
    head, last = (
        np.frombuffer("".join(w[k : k + 8] for w in pair).encode(), "<u8") for k in (0, 8)
    )
    hashes = mixed_in(mixed_in(head, size[:2]), last)
    assert hashes[0] == hashes[1], "really a collision"
    column = [f"{pair[0]} {pair[1]}", f"{pair[1]} other {pair[0]}"]
    assert renumbered(split(column)) == same(column)


def test_more_different_words_than_sixteen_bits_count() -> None:
    text = " ".join(f"word{k}" for k in range(70_000))
    assert renumbered(split([text, text])) == same([text, text])


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=20), max_size=5))
def test_characters_are_code_points(column: list[str]) -> None:
    kept, bare = characters(Texts.of(column), spaces=True), characters(Texts.of(column))
    for i, text in enumerate(column):
        assert kept.part(i, i + 1).ids.tolist() == [ord(c) for c in text]
        assert bare.part(i, i + 1).ids.tolist() == [ord(c) for c in "".join(text.split())]


@given(st.lists(st.text(max_size=10), max_size=5))
def test_lower_case_is_that_of_python(column: list[str]) -> None:
    assert list(lowered(Texts.of(column))) == [text.lower() for text in column]


def test_blocks_hold_every_text_of_their_examples() -> None:
    n = 700
    batch = Batch(
        [f"P{i}" for i in range(n)],
        [[f"G{i}.{k}" for k in range(i % 4)] for i in range(n)],
    )
    seen: list[tuple[str, list[str]]] = []
    for block in text_blocks(batch, lowercase=True):
        size = block.stop - block.start
        held, lists = list(block.texts), (block.lists + size).tolist()
        seen += [(held[i], held[lists[i] : lists[i + 1]]) for i in range(size)]
    assert seen == [(f"p{i}", [f"g{i}.{k}" for k in range(i % 4)]) for i in range(n)]

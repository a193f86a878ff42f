# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import InputError
from assay.core.letters import Letters, spell_pairs

words = st.lists(st.text("ab", max_size=3), max_size=8)


@given(words, words)
def test_strings_are_equal_where_words_are(one: list[str], other: list[str]) -> None:
    (a,), (b,) = spell_pairs([one], [other])
    assert len(a) == len(one)
    assert [x == y for x in a for y in b] == [x == y for x in one for y in other]


def test_words_are_forgotten_when_the_next_example_might_not_fit() -> None:
    letters = Letters()
    letters.spell(str(i) for i in range(1_000))
    letters.make_room(10)
    assert len(letters) == 1_000
    letters.make_room(sys.maxunicode)
    assert len(letters) == 0


def test_more_words_than_characters_is_an_error_that_says_so() -> None:
    letters = Letters((str(i), "x") for i in range(sys.maxunicode + 1))
    assert letters["0"] == "x"
    with pytest.raises(InputError, match=r"1,114,111 different words; split"):
        letters.spell(["one more"])

# SPDX-License-Identifier: Apache-2.0
"""Keys of descriptions, and the stemmer beneath them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk.stem.snowball import EnglishStemmer

from assay.tasks.commands.keys import description_key
from assay.tasks.commands.stem import _STEP_2, _STEP_3, _STEP_4, stem

KEYS = [
    # description                                           key
    ("", ""),
    ("Find all the files", "find all file"),
    ("To list files (case insensitive).", "list file"),
    ("find files/directories named 'a b'", "find file and directori name 'a b'"),
    ("Print ``hello'' twice, then stop;", 'print "hello" twice stop'),
    ("my server`s files", "server 's file"),
    ("set permission u+x,g=rw on f.txt", "set permiss u+x,g=rw on f.txt"),
    ("a (b (c) d) e (f", "a d ) e ( f"),
    ("set u=rwX and go+t,, on f", "set u=rw x and go+t on f"),
    ("show the first twenty-four lines", "show first 24 line"),
    ("show one line and two words", "show one line and 2 word"),
    ("files bigger than 100M", "file bigger than 100m"),
    ("in ${HOME}, please", "in \\$HOME pleas"),
    ("it's \"Very Big\"", "it 's \"Very Big\""),
    ("regular/normal files in /tmp", "regular file in /tmp"),
    ("show name/path, names/paths and names/path", "show name or path name or path and names/path"),
    ('replace "a,  b"', 'replac "a b"'),  # all white space behind the sign goes with it
]  # fmt: skip


@pytest.mark.parametrize(("description", "key"), KEYS)
def test_key(description: str, key: str) -> None:
    assert description_key(description) == key


@given(st.text(max_size=80))
def test_any_text_has_a_key(text: str) -> None:
    key = description_key(text)
    assert key == key.strip()


endings = [s for s, *_ in (*_STEP_2, *_STEP_3)] + list(_STEP_4)
endings += ["s", "ed", "ing", "ingly", "edly", "eed", "eedly", "y", "ly", "'s", "s'", "ies", "ied", "e", ""]  # fmt: skip
words = st.builds(
    lambda start, one, two: start + one + two,
    st.text(alphabet="aeiouybcdfglmnrstvwxY'", min_size=0, max_size=6),
    st.sampled_from(endings),
    st.sampled_from(endings),
)


@given(
    st.one_of(words, st.sampled_from(["skies", "dying", "generously", "communities", "proceeded"]))
)
def test_stems_are_those_of_nltk(word: str) -> None:
    assert stem(word) == EnglishStemmer().stem(word)

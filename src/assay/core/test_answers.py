# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.answers import bare_answer

CASES = [
    # name                          answer                bare
    ("case", "Paris", "paris"),
    ("article", "the Eiffel Tower", "eiffel tower"),
    ("article inside", "one of the a an best", "one of best"),
    ("no article within a word", "theatre an-other", "theatre another"),
    ("articles only", "The", ""),
    ("punctuation leaves no space", "U.S.A. well-known", "usa wellknown"),
    ("other punctuation stays", "«oui» — non…", "«oui» — non…"),
    ("white space", " a\u00a0big \t dog\n", "big dog"),
    ("other scripts", "Лев Толстой, 1869", "лев толстой 1869"),
    ("han", "北京。", "北京。"),
    ("empty", "", ""),
]


@pytest.mark.parametrize(("name", "answer", "bare"), CASES, ids=[c[0] for c in CASES])
def test_bare_answer(name: str, answer: str, bare: str) -> None:
    assert bare_answer(answer) == bare


@given(st.text(st.sampled_from("aAthe .-é\u00a0语"), max_size=12))
def test_nothing_is_left_to_remove(text: str) -> None:
    assert bare_answer(bare_answer(text)) == bare_answer(text)

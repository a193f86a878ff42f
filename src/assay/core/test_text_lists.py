# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle

import pytest

from assay.core.text import TextLists, Texts

CASES = [
    # name               lists                  one each
    ("none",             [],                    True),
    ("one each",         [["a"], ["b"]],        True),
    ("an empty one",     [["a"], []],           False),
    ("two in one",       [["a", "b"], ["c"]],   False),
    ("as many as lists", [["a", "b"], []],      False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "lists", "wanted"), CASES, ids=[case[0] for case in CASES])
def test_whether_every_list_holds_one_text(name: str, lists: list[list[str]], wanted: bool) -> None:
    column = TextLists.of(lists)
    assert column.each_one == wanted
    assert pickle.loads(pickle.dumps(column)).each_one == wanted
    assert list(column.firsts()) == [texts[0] if texts else "" for texts in lists]


def test_a_part_of_a_column_is_asked_for_itself() -> None:
    column = TextLists.of([["a", "b"], ["c"], ["d"]])
    assert not column.each_one
    assert column[1:].each_one
    assert TextLists.single(Texts.of(["a", "b"]))[1:].each_one

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.aggregate.totals import Codebook
from assay.core.columns import Coded, Late


def test_a_coded_column_reads_like_its_list() -> None:
    column = Coded(["a", "b", "never met"], np.array([1, 0, 1]))
    assert list(column) == ["b", "a", "b"]
    assert (column[1], column[-1], column[:2], len(column)) == ("a", "b", ["b", "a"], 3)
    assert column == ["b", "a", "b"]
    assert column != ["b", "a"]
    assert "never met" not in column
    assert list(pickle.loads(pickle.dumps(column))) == ["b", "a", "b"]


def test_a_late_column_is_made_once_and_only_when_looked_at() -> None:
    made = []

    def make() -> list[str]:
        made.append(1)
        return ["x", "y"]

    column = Late(2, make)
    assert len(column) == 2
    assert made == []
    assert [*column, *column] == ["x", "y", "x", "y"]
    assert made == [1]


def test_a_late_column_travels_to_another_process() -> None:
    column = pickle.loads(pickle.dumps(Late(2, partial(list, "ab"))))
    assert column == ["a", "b"]


def test_labels_are_no_keys() -> None:
    with pytest.raises(TypeError):
        hash(Coded(["a"], np.array([0])))


@given(st.lists(st.lists(st.integers(0, 5), max_size=9), max_size=4))
def test_a_coded_column_gets_the_numbers_of_its_list(parts: list[list[int]]) -> None:
    names = ["c", "a", "b", "a", "e", "d"]  # two numbers may stand for one name
    quick, plain = Codebook(), Codebook()
    for part in parts:
        found = quick.encode(Coded(names, np.array(part, dtype=np.intp)))
        assert found.tolist() == plain.encode([names[i] for i in part]).tolist()
    assert quick.names == plain.names

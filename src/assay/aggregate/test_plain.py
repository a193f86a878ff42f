# SPDX-License-Identifier: Apache-2.0
"""The plain bootstrap against numpy's generator, and against the matrices."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.aggregate.plain import positions, resampled_totals
from assay.aggregate.resample import bootstrap_totals

SEEDS = st.one_of(st.integers(0, 9), st.integers(0, 2**40), st.integers(0, 2**200))
ROWS = st.integers(1, 4).flatmap(
    lambda columns: st.lists(
        st.lists(st.integers(0, 2**31), min_size=columns, max_size=columns),
        min_size=2,
        max_size=40,
    )
)


@given(n=st.integers(2, 300), count=st.integers(1, 999), seed=SEEDS)
def test_positions_are_those_of_numpy(n: int, count: int, seed: int) -> None:
    drawn = positions(n, count, seed)
    if drawn is not None:  # one in thousands cannot be said
        assert list(drawn) == np.random.default_rng(seed).integers(0, n, count).tolist()


@pytest.mark.parametrize("seed", range(5))
def test_nearly_all_can_be_said(seed: int) -> None:
    assert positions(100, 1_000, seed) is not None


def test_what_might_have_to_be_drawn_again_is_not_said() -> None:
    assert positions(1_000_003, 10_000, 1) is None


@given(rows=ROWS, resamples=st.integers(1, 60), seed=SEEDS)
def test_totals_are_those_of_the_matrices(rows: list[list[int]], resamples: int, seed: int) -> None:
    drawn = resampled_totals(rows, resamples=resamples, seed=seed)
    if drawn is not None:
        matrix = np.array(rows, dtype=np.float64)
        expected = bootstrap_totals(matrix, resamples=resamples, seed=seed)
        assert [list(totals) for totals in drawn] == expected.tolist()

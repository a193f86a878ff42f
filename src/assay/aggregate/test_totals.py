# SPDX-License-Identifier: Apache-2.0
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assay.aggregate import totals
from assay.aggregate.test_metrics import Mean, Median, MicroF1
from assay.aggregate.totals import (
    Codebook,
    SliceSums,
    Sums,
    cluster_members,
    cluster_rows,
    defined_mean,
    macro_scores,
    scores_of,
    slice_totals,
    split_columns,
    total,
)
from assay.core.batch import CHUNK
from assay.core.metric import Rows

matrices = hnp.arrays(
    np.float64,
    st.tuples(st.integers(0, 40), st.integers(1, 3)),
    elements=st.floats(-1e6, 1e6, allow_subnormal=False),
)


def by_definition(rows: Rows, chunk: int) -> Rows:
    """Row after row inside a chunk, then chunk after chunk."""
    sums = np.zeros(rows.shape[1])
    for start in range(0, len(rows), chunk):
        part = np.zeros(rows.shape[1])
        for row in rows[start : start + chunk]:
            part = part + row
        sums = sums + part
    return sums


@given(rows=matrices, chunk=st.integers(1, 12), waiting=st.integers(1, 50), data=st.data())
def test_sums_do_not_depend_on_where_blocks_are_cut(
    rows: Rows, chunk: int, waiting: int, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(rows)), max_size=5)))
    with patch.object(totals, "CHUNK", chunk), patch.object(totals, "WAITING", waiting):
        sums = Sums(rows.shape[1])
        for start, stop in zip([0, *cuts], [*cuts, len(rows)], strict=True):
            sums.add(rows[start:stop])
        whole = total(rows)
        assert sums.values.tobytes() == whole.tobytes() == by_definition(rows, chunk).tobytes()
        assert sums.n == len(rows)


def test_chunks_of_the_real_size_and_any_memory_order() -> None:
    rows = np.random.default_rng(1).normal(size=(CHUNK + 5_000, 2))
    parts = np.cumsum(rows[:CHUNK], axis=0)[-1] + np.cumsum(rows[CHUNK:], axis=0)[-1]
    assert total(rows).tobytes() == parts.tobytes()
    assert total(np.asfortranarray(rows)).tobytes() == parts.tobytes()


@given(rows=matrices, chunk=st.integers(1, 12))
def test_a_slice_that_holds_everything_equals_the_whole(rows: Rows, chunk: int) -> None:
    with patch.object(totals, "CHUNK", chunk):
        table = slice_totals(rows, np.full(len(rows), 1, dtype=np.intp), n_slices=3)
        assert table[1].tobytes() == total(rows).tobytes()
    assert not table[[0, 2]].any()


@given(rows=matrices, data=st.data())
def test_slices_are_the_sums_of_their_rows(rows: Rows, data: st.DataObject) -> None:
    codes = data.draw(hnp.arrays(np.intp, len(rows), elements=st.integers(0, 4)))
    sums = SliceSums(rows.shape[1])
    half = len(rows) // 2
    sums.add(rows[:half], codes[:half])
    sums.add(rows[half:], codes[half:])
    for s, (values, count) in enumerate(zip(sums.table, sums.counts, strict=True)):
        assert values == pytest.approx(rows[codes == s].sum(axis=0), abs=1e-6)
        assert count == (codes == s).sum()


def test_clusters_are_dense_and_in_order_of_code() -> None:
    rows = np.array([[1.0], [2.0], [4.0], [8.0]])
    codes = np.array([9, 2, 9, 5])
    assert cluster_rows(rows, codes).ravel().tolist() == [2.0, 8.0, 5.0]
    assert [m.tolist() for m in cluster_members(codes)] == [[1], [3], [0, 2]]
    assert cluster_members(np.zeros(0, dtype=np.intp)) == []
    assert cluster_rows(np.zeros((0, 2)), np.zeros(0, dtype=np.intp)).shape == (0, 2)


def test_a_codebook_goes_on_numbering() -> None:
    book = Codebook()
    assert book.encode(["x", "y", "x"]).tolist() == [0, 1, 0]
    assert book.encode([]).tolist() == []
    assert book.encode(["z", "y"]).tolist() == [2, 1]
    assert book.names == ("x", "y", "z")


def test_columns_of_several_metrics_lie_side_by_side() -> None:
    rows = np.arange(12.0).reshape(2, 6)
    mean, median, f1 = split_columns([Mean(), Median(), MicroF1()], rows)
    assert mean.tolist() == [[0, 1], [6, 7]]
    assert median.tolist() == [[2], [8]]
    assert f1.tolist() == [[3, 4, 5], [9, 10, 11]]
    assert split_columns([], np.zeros((3, 0))) == []


def test_scores_of_both_kinds_of_metric() -> None:
    assert scores_of(Mean(), np.array([[1.0, 1.0], [0.0, 0.0], [3.0, 1.0]])) == {"mean": 2.0}
    assert scores_of(Median(), np.array([[1.0], [9.0], [2.0]])) == {"median": 2.0}


def test_a_macro_average_leaves_out_undefined_slices() -> None:
    # Means of 1/1, undefined, 3/2: (1 + 1.5) / 2.
    table = np.array([[1.0, 1.0], [0.0, 0.0], [3.0, 2.0]])
    assert macro_scores(Mean(), table)["mean"] == 1.25
    many = macro_scores(Mean(), np.stack([table, np.zeros((3, 2))]))["mean"]
    assert many == pytest.approx([1.25, np.nan], nan_ok=True)
    assert np.isnan(defined_mean(np.zeros(0)))

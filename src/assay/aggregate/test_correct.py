# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.aggregate.correct import benjamini_hochberg, holm

nan = math.nan
METHODS = [(holm, "holm"), (benjamini_hochberg, "fdr_bh")]
families = st.lists(st.floats(0, 1), min_size=1, max_size=30)


@pytest.mark.parametrize(("correct", "name"), METHODS)
@given(p=families)
def test_adjusted_values_are_those_of_statsmodels(correct, name, p) -> None:  # type: ignore[no-untyped-def]  # hypothesis fills these in
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    expected = multitest.multipletests(p, method=name)[1]
    assert correct(p) == pytest.approx(expected, rel=1e-12, abs=1e-300)


@pytest.mark.parametrize(
    ("name", "p", "by_holm", "by_bh"),
    [
        ("nothing", [], [], []),
        ("a family of one stays as it is", [0.04], [0.04], [0.04]),
        # Holm: 4 x 0.01, then 3 x 0.02 and 2 x 0.03 = 0.06, and nothing below what came before.
        # Benjamini-Hochberg: 4/1 x 0.01 = 4/2 x 0.02 = 4/3 x 0.03 = 4/4 x 0.04.
        ("four in a row", [0.04, 0.01, 0.03, 0.02], [0.06, 0.04, 0.06, 0.06], [0.04] * 4),
        ("never above one", [0.9, 0.8], [1.0, 1.0], [0.9, 0.9]),
        ("ties", [0.02, 0.02], [0.04, 0.04], [0.02, 0.02]),
        ("what was not tested does not count", [nan, 0.01, nan, 0.03], [nan, 0.02, nan, 0.03], [nan, 0.02, nan, 0.03]),
        ("nothing tested at all", [nan, nan], [nan, nan], [nan, nan]),
    ],
)  # fmt: skip
def test_by_hand(name: str, p: list[float], by_holm: list[float], by_bh: list[float]) -> None:
    assert holm(p) == pytest.approx(by_holm, nan_ok=True)
    assert benjamini_hochberg(p) == pytest.approx(by_bh, nan_ok=True)


@given(p=families, data=st.data())
def test_order_is_kept_and_nothing_gets_smaller(p: list[float], data: st.DataObject) -> None:
    strict, lenient = holm(p), benjamini_hochberg(p)
    assert (np.array(p) <= lenient).all()
    # The two multiply by different factors, so they may round differently in the last bit.
    assert (lenient <= strict + 1e-15).all()
    order = data.draw(st.permutations(range(len(p))))
    shuffled = np.array(p)[order]
    assert holm(shuffled).tolist() == strict[order].tolist()
    assert benjamini_hochberg(shuffled).tolist() == lenient[order].tolist()


def test_the_given_values_are_left_alone() -> None:
    p = np.array([0.03, 0.01])
    holm(p)
    benjamini_hochberg(p)
    assert p.tolist() == [0.03, 0.01]

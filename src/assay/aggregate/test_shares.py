# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.aggregate.interval import wilson_interval
from assay.aggregate.shares import (
    Counted,
    counted,
    difference_interval,
    mcnemar,
    mcnemar_p,
    tango_interval,
)
from assay.aggregate.test_metrics import Accuracy, ErrorPercent, MicroF1, accuracy_rows

# -- counts ----------------------------------------------------------------------------------


def test_what_only_one_got_right_is_counted() -> None:
    a, b = accuracy_rows([1, 1, 0, 0, 1]), accuracy_rows([1, 0, 1, 0, 0])
    (score,) = Accuracy.scores
    assert counted(Accuracy(), score, a, b) == Counted(won=2, lost=1, n=5)
    without = [np.concatenate([rows, np.zeros((3, 2))]) for rows in (a, b)]  # measured for neither
    assert counted(Accuracy(), score, *without) == Counted(won=2, lost=1, n=5)
    other = b.copy()
    other[0] = 0  # not measured for one of the two: there are no pairs to count
    assert counted(Accuracy(), score, a, other) is None
    assert counted(Accuracy(), score, np.zeros((2, 2)), np.zeros((2, 2))) is None
    assert counted(MicroF1(), MicroF1.scores[0], np.ones((2, 3)), np.ones((2, 3))) is None


# -- McNemar ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("won", "lost"),
    [(0, 0), (1, 0), (0, 1), (3, 3), (8, 2), (2, 8), (30, 14), (400, 330), (5_000, 5_200), (50_700, 50_000)],
)  # fmt: skip
def test_mcnemar_is_that_of_statsmodels_and_scipy(won: int, lost: int) -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    stats = pytest.importorskip("scipy.stats")
    found = mcnemar(won, lost)
    exact = tables.mcnemar([[7, won], [lost, 9]], exact=True).pvalue if won + lost else 1.0
    # Fagerland et al.: the exact p less the chance of the observed split, or, for an even split,
    # one less half of it.
    at = stats.binom(won + lost, 0.5).pmf(won)
    mid = 1 - at / 2 if won == lost else exact - at
    assert found.p_exact == pytest.approx(exact, rel=1e-8)
    assert found.p_mid == pytest.approx(mid if won + lost else 1.0, rel=1e-8)


def test_mcnemar_by_hand() -> None:
    # 5 of 5: 2 x (1/2)**5 = 1/16, and half of that; 1 of 4: 2 x (1 + 4) / 16, less 4/16.
    assert (mcnemar(5, 0).p_exact, mcnemar(5, 0).p_mid) == (1 / 16, 1 / 32)
    assert (mcnemar(1, 3).p_exact, mcnemar(1, 3).p_mid) == (10 / 16, 6 / 16)


def test_exact_below_25_discordant_pairs_and_mid_p_from_there_on() -> None:
    few, enough = mcnemar(20, 4), mcnemar(20, 5)
    assert mcnemar_p(few) == (few.p_exact, "mcnemar exact")
    assert mcnemar_p(enough) == (enough.p_mid, "mcnemar mid-p")


# -- the interval of the difference ----------------------------------------------------------


def test_tango_as_published() -> None:
    # Airway hyper-responsiveness of 21 children before and after: 1 and 7 changed; -0.517 to -0.026.
    assert tango_interval(1, 7, 21).bounds == pytest.approx((-0.517, -0.026), abs=5e-4)


TABLES = [(1, 7, 21), (0, 0, 20), (5, 0, 5), (0, 3, 100), (12, 8, 100), (400, 330, 5_000)]


@pytest.mark.parametrize(("won", "lost", "n"), TABLES)
@pytest.mark.parametrize("level", [0.9, 0.95, 0.99])
def test_the_bounds_are_where_a_score_test_just_rejects(
    won: int, lost: int, n: int, level: float
) -> None:
    stats = pytest.importorskip("scipy.stats")
    optimize = pytest.importorskip("scipy.optimize")
    z = stats.norm.ppf((1 + level) / 2)

    def deviation(difference: float) -> float:
        """The score statistic, its nuisance parameter found by searching for the likeliest."""

        def unlikeliness(losing: float) -> float:
            chances = (losing + difference, losing, 1 - 2 * losing - difference)
            counts = (won, lost, n - won - lost)
            # 0 * log(0) is 0.
            return -math.fsum(
                k * math.log(max(p, 1e-300)) for k, p in zip(counts, chances, strict=True) if k
            )

        ends = (max(0.0, -difference), (1 - difference) / 2)
        found = optimize.minimize_scalar(
            unlikeliness, bounds=ends, method="bounded", options={"xatol": 1e-12}
        )
        losing = min([found.x, *ends], key=unlikeliness)
        variance = n * (2 * losing + difference - difference**2)
        return (won - lost - n * difference) / math.sqrt(variance)

    low, high = tango_interval(won, lost, n, level=level).bounds
    if low > -1:
        assert deviation(low) == pytest.approx(z, rel=1e-4)
    if high < 1:
        assert deviation(high) == pytest.approx(-z, rel=1e-4)


@pytest.mark.parametrize("n", [1, 5, 20, 1_000])
def test_without_a_difference_it_has_the_width_of_wilson(n: int) -> None:
    low, high = tango_interval(0, 0, n).bounds
    nothing = wilson_interval(0, n).high
    assert (low, high) == pytest.approx((-nothing, nothing), rel=1e-9)


@given(counts=st.tuples(st.integers(0, 60), st.integers(0, 60), st.integers(0, 60)))
def test_tango_is_even_bounded_and_agrees_with_the_plain_test(counts: tuple[int, int, int]) -> None:
    won, lost, others = counts
    n = won + lost + others
    low, high = tango_interval(won, lost, n).bounds
    if n == 0:
        assert math.isnan(low)
        assert math.isnan(high)
        return
    assert -1 <= low <= (won - lost) / n <= high <= 1
    assert tango_interval(lost, won, n).bounds == pytest.approx((-high, -low), abs=1e-12)
    # 0 lies outside where McNemar's chi-squared, (won - lost)^2 / (won + lost), is above 3.8415.
    chi = (won - lost) ** 2 / max(won + lost, 1)
    if abs(chi - 3.8415) > 1e-3:
        assert (low > 0 or high < 0) == (chi > 3.8415)
    wider = tango_interval(won, lost, n, level=0.99)
    assert wider.low <= low
    assert high <= wider.high


def test_in_percent_it_is_a_hundred_times_as_wide() -> None:
    found = difference_interval(Counted(3, 9, 50), ErrorPercent.scores[0])
    bounds = tango_interval(3, 9, 50).bounds
    assert found.bounds == pytest.approx((100 * bounds[0], 100 * bounds[1]))

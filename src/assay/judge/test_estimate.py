# SPDX-License-Identifier: Apache-2.0
"""From judged items to the whole set: by hand, by another library, and by simulation."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import combinations
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.core.errors import UsageError
from assay.judge.estimate import Estimate, estimate, estimate_difference, powered_mean

Z = NormalDist().inv_cdf(0.975)


def bits(text: str) -> NDArray[np.float64]:
    return np.array([float(c) for c in text])


# Made by ppi-python 0.2.3 (`ppi_mean_pointestimate`, `ppi_mean_ci`, alpha 0.05).
PPI_PYTHON = [
    # judged, automatic (the sample first, then the rest), estimate, interval
    (
        "00011010011111000000",
        "01011010011111000000010110100010100111011000001000001101110000011011000100110001",
        0.377774936061381,
        (0.24435714053283952, 0.5111927315899225),
    ),
    (
        "1001111110111111000100010111111111111101",
        "110110101111011110010001001111111101110101101100001101010010011101010010101111101110111110110"
        "111001111011101101110001000111101100011010000010100011110111010111001000110110110010111000111"
        "111111011101110111111011011010111011011110000110110100",
        0.6959903719552337,
        (0.5744573217575223, 0.8175234221529452),
    ),
    (
        "000000000011010111111011001101",
        "011001011001010110100100110101100001100110101101110000111001",
        0.4666666666666667,
        (0.2881452937543473, 0.6451880395789861),
    ),
]


@pytest.mark.parametrize(("judged", "automatic", "value", "interval"), PPI_PYTHON)
def test_same_as_ppi_python(
    judged: str, automatic: str, value: float, interval: tuple[float, float]
) -> None:
    y, f = bits(judged), bits(automatic)
    n = len(y)
    found = powered_mean(y, f[:n], f[n:])
    assert found.value == pytest.approx(value, abs=1e-12)
    assert (found.value - Z * found.se, found.value + Z * found.se) == pytest.approx(interval)
    padded = np.concatenate([y, np.full(len(f) - n, np.nan)])
    whole = estimate(padded, f, drawn=np.arange(len(f)) < n)
    assert whole.value == pytest.approx(value, abs=1e-12)
    assert whole.future == pytest.approx(interval, abs=1e-12)
    assert whole.finite[1] - whole.finite[0] < whole.future[1] - whole.future[0]


def test_known_verdicts_are_a_stratum_of_their_own_by_hand() -> None:
    # 4 known (3 yes), 6 others of which 3 are judged (2 yes); the automatic score says nothing.
    y = np.array([1, 1, 1, 0, 1, 1, 0, np.nan, np.nan, np.nan])
    drawn = np.array([0, 0, 0, 0, 1, 1, 1, 0, 0, 0], dtype=bool)
    known = np.arange(10) < 4
    found = estimate(y, np.zeros(10), drawn=drawn, known=known)
    assert found.value == pytest.approx(0.4 * 0.75 + 0.6 * 2 / 3)
    # Finite: only the 6 others are uncertain; variance 2/9, 3 drawn of 6.
    reach = Z * 0.6 * math.sqrt((1 - 3 / 6) * (2 / 9) / 3)
    assert found.finite == pytest.approx((found.value - reach, min(1.0, found.value + reach)))
    # Future: within the known 0.75*0.25, between the strata, and the mean of 3 of the others.
    between = 0.4 * (0.75 - 0.7) ** 2 + 0.6 * (2 / 3 - 0.7) ** 2
    variance = (0.4 * 0.1875 + between) / 10 + 0.36 * (2 / 9) / 3
    assert found.future[0] == pytest.approx(found.value - Z * math.sqrt(variance))
    assert (found.known, found.rest, found.sampled, found.units) == (4, 6, 3, 10)


def test_everything_known_leaves_nothing_to_estimate() -> None:
    y = np.array([1.0, 1, 0, 1])
    found = estimate(y, np.zeros(4), drawn=np.zeros(4), known=np.ones(4))
    assert found.method == "census"
    assert (found.value, found.finite) == (0.75, (0.75, 0.75))
    assert found.future[0] < 0.75 < found.future[1]
    drawn_all = estimate(y, np.zeros(4), drawn=np.ones(4))
    assert drawn_all.value == 0.75
    assert drawn_all.finite == pytest.approx((0.75, 0.75))


def test_equal_verdicts_do_not_look_certain() -> None:
    y = np.full(1000, np.nan)
    y[:50] = 1.0
    found = estimate(y, np.ones(1000), drawn=np.arange(1000) < 50)
    assert found.method == "wilson"
    assert 0.9 < found.future[0] < 0.95  # Wilson for 50 of 50: 0.929
    assert found.finite[0] > found.future[0]
    assert found.finite[1] == 1.0


def test_a_score_that_agreed_with_people_throughout_does_not_look_certain() -> None:
    """20 of 30 judged, the score right on all: up to 16 % of the other 10 may still differ."""
    automatic = np.array([1.0, 0.0, 0.0] * 10)
    drawn = np.arange(30) < 20
    found = estimate(np.where(drawn, automatic, np.nan), automatic, drawn=drawn)
    apart = 1.959963984540054**2 / (20 + 1.959963984540054**2)  # Wilson's bound of 0 in 20
    assert found.finite[0] <= 1 / 3 - apart / 3 + 1e-12
    assert found.finite[1] >= 1 / 3 + apart / 3 - 1e-12
    assert found.future[0] < found.finite[0]
    assert found.future[1] > found.finite[1]


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=8), st.integers(2, 3))
def test_over_all_possible_draws_a_fixed_weight_is_unbiased(
    items: list[tuple[bool, bool]], n: int
) -> None:
    """The estimate is the sample mean corrected by the score's mean over all: exact on average."""
    y = np.array([float(a) for a, _ in items])
    f = np.array([float(b) for _, b in items])
    weight = 0.4
    means, squares = [], []
    for chosen in combinations(range(len(y)), n):
        where = list(chosen)
        value = weight * f.mean() + (y[where] - weight * f[where]).mean()
        means.append(value)
        squares.append((value - y.mean()) ** 2)
    assert np.mean(means) == pytest.approx(y.mean())
    spread = np.var(y - weight * f, ddof=1)
    assert np.mean(squares) == pytest.approx((1 - n / len(y)) * spread / n)


numbers = st.floats(-2, 2, allow_nan=False).map(lambda x: round(x, 3))
scored = st.tuples(st.sampled_from([0.0, 1.0]) | numbers, st.sampled_from([0.0, 1.0]) | numbers)


@given(st.lists(scored, min_size=1, max_size=7), st.lists(numbers, max_size=7))
def test_the_formulas_written_out(sample: list[tuple[float, float]], others: list[float]) -> None:
    """A second method, term by term and without arrays; all equal, one item, no others included."""

    def mean(values: list[float]) -> float:
        return math.fsum(values) / len(values)

    def spread(values: list[float], less: int = 0) -> float:
        middle = mean(values)
        return math.fsum((v - middle) ** 2 for v in values) / (len(values) - less)

    y, f = [a for a, _ in sample], [b for _, b in sample]
    n, m = len(y), len(others)
    found = powered_mean(np.array(y), np.array(f), np.array(others))
    if m == 0:
        assert found.value == pytest.approx(mean(y), abs=1e-12)
        assert (found.se_finite, found.weight) == (0.0, 0.0)
        assert found.se == pytest.approx(math.sqrt(spread(y) / n), abs=1e-9)
        return
    covariance = mean([(a - mean(y)) * (b - mean(f)) for a, b in sample])
    pooled = spread(f + others, less=1)
    weight = covariance / ((1 + n / m) * pooled) if pooled > 1e-12 else 0.0
    weight = min(1.0, max(0.0, weight))
    assert found.weight == pytest.approx(weight, abs=1e-9)
    rest = [a - weight * b for a, b in sample]
    assert found.value == pytest.approx(weight * mean(others) + mean(rest), abs=1e-9)
    se = math.sqrt(weight**2 * spread(others) / m + spread(rest) / n)
    assert found.se == pytest.approx(se, abs=1e-7)
    # Of these very items: nothing but the draw is random, and what is drawn is a share n/(n+m).
    over_all = weight * (n + m) / m
    finite = (1 - n / (n + m)) * spread([a - over_all * b for a, b in sample]) / n
    assert found.se_finite == pytest.approx(math.sqrt(finite), abs=1e-7)


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=8), st.data())
def test_the_error_in_a_finite_set_is_that_of_all_possible_draws(
    items: list[tuple[bool, bool]], data: st.DataObject
) -> None:
    """With a weight that is fixed beforehand. The estimate is then the sample's mean of what the
    score leaves over, plus what the score says of all; all draws together have this variance."""
    y = np.array([float(a) for a, _ in items])
    f = np.array([float(b) for _, b in items])
    total = len(items)
    n = data.draw(st.integers(2, total - 1))
    m = total - n
    for weight in (0.0, 0.4, 1.0):
        over_all = weight * total / m
        values = []
        for chosen in combinations(range(total), n):
            where = np.isin(np.arange(total), chosen)
            value = weight * f[~where].mean() + (y[where] - weight * f[where]).mean()
            as_leftover = (y[where] - over_all * f[where]).mean() + over_all * f.mean()
            assert value == pytest.approx(as_leftover, abs=1e-9)
            values.append(value)
        assert np.mean(values) == pytest.approx(y.mean(), abs=1e-9)
        leftover = y - over_all * f
        variance = (1 - n / total) * np.var(leftover, ddof=1) / n
        assert np.var(values) == pytest.approx(variance, abs=1e-9)


@pytest.mark.parametrize(
    ("judged", "drawn", "problem"),
    [
        ([1.0, 0, np.nan, np.nan], [0, 0, 0, 0], "none of the judged items was drawn at random"),
        ([1.0, np.nan, np.nan, np.nan], [1, 1, 0, 0], "1 of the 2 sampled items have no final"),
    ],
)
def test_refuses_what_was_not_drawn_or_is_not_finished(
    judged: list[float], drawn: list[int], problem: str
) -> None:
    with pytest.raises(UsageError, match=problem):
        estimate(judged, np.zeros(4), drawn=drawn)


def test_an_undefined_score_is_named() -> None:
    with pytest.raises(UsageError, match="undefined for 1 items; choose another one"):
        estimate([1.0, 0.0], [np.nan, 1.0], drawn=[1, 1])
    with pytest.raises(UsageError, match="no items"):
        estimate([], [], drawn=[])


def test_items_on_which_systems_agree_need_no_judge() -> None:
    # 10 items, 6 the same; of the other 4, 2 are judged: +1 and 0.
    same = np.arange(10) < 6
    first = np.array([np.nan] * 6 + [1, 1, np.nan, np.nan])
    second = np.array([np.nan] * 6 + [0, 1, np.nan, np.nan])
    drawn = np.array([0] * 6 + [1, 1, 0, 0], dtype=bool)
    nothing = np.zeros(10)
    found = estimate_difference(first, second, nothing, nothing, same=same, drawn=drawn)
    assert found.value == pytest.approx(0.4 * 0.5)
    assert (found.known, found.rest, found.sampled) == (6, 4, 2)


@pytest.mark.parametrize(
    ("name", "wins", "losses", "expected"),
    [
        # of 20 judged examples; Wilson's bound after 0 of 20 is 0.161
        ("all ties", 0, 0, (-0.1611, 0.1611)),
        ("all won", 20, 0, (1 - 2 * 0.1611, 1.0)),
        ("all lost", 0, 20, (-1.0, -1 + 2 * 0.1611)),
        ("three won", 3, 0, (0.15 - 0.1565, 0.15 + 0.1565)),  # z sqrt(0.15 * 0.85 / 20)
        ("three lost", 0, 3, (-0.15 - 0.1565, -0.15 + 0.1565)),
    ],
)
def test_a_difference_may_have_either_sign(
    name: str, wins: int, losses: int, expected: tuple[float, float]
) -> None:
    first, second = np.zeros(200), np.zeros(200)
    first[:wins], second[:losses] = 1.0, 1.0
    drawn = np.arange(200) < 20
    first[~drawn] = second[~drawn] = np.nan
    nothing = np.zeros(200)
    found = estimate_difference(first, second, nothing, nothing, same=nothing, drawn=drawn)
    assert found.future == pytest.approx(expected, abs=1e-4)
    assert found.value == (wins - losses) / 20
    assert found.future[0] <= found.finite[0] <= found.value <= found.finite[1] <= found.future[1]
    every = np.zeros(20, dtype=bool)
    known = estimate_difference(
        first[:20], second[:20], nothing[:20], nothing[:20], same=every, drawn=every, known=~every
    )
    assert known.method == "census"
    assert known.future == pytest.approx(expected, abs=1e-4)


def test_differences_that_a_score_foresaw_throughout_do_not_look_certain() -> None:
    """20 of 30 judged, won, lost and tied as the score says: 16 % of the others may be otherwise,
    by at most 2."""
    first, second = np.array([1.0, 0.0, 0.0] * 10), np.array([0.0, 1.0, 0.0] * 10)
    drawn = np.arange(30) < 20
    found = estimate_difference(
        np.where(drawn, first, np.nan),
        np.where(drawn, second, np.nan),
        first,
        second,
        same=np.zeros(30),
        drawn=drawn,
    )
    apart = 2 * Z**2 / (20 + Z**2)
    assert found.finite == pytest.approx((-apart / 3, apart / 3))
    assert found.future[0] < found.finite[0]


# -- coverage -------------------------------------------------------------------------------------

Study = Callable[[np.random.Generator], tuple[Estimate, float, float]]


def plain_study(agree: float, p: float = 0.4, n: int = 100, m: int = 5000) -> Study:
    def study(rng: np.random.Generator) -> tuple[Estimate, float, float]:
        y = (rng.random(n + m) < p).astype(float)
        f = np.where(rng.random(n + m) < agree, y, 1 - y)
        seen = np.where(np.arange(n + m) < n, y, np.nan)  # items are in random order already
        return estimate(seen, f, drawn=~np.isnan(seen)), float(y.mean()), p

    return study


def census_study(rng: np.random.Generator) -> tuple[Estimate, float, float]:
    """Half of the items have been judged before, and those are easier than the rest."""
    n = 600
    known = rng.random(n) < 0.5
    y = (rng.random(n) < np.where(known, 0.8, 0.4)).astype(float)
    f = np.where(rng.random(n) < 0.85, y, 1 - y)
    rest = rng.permutation(np.flatnonzero(~known))[:100]
    drawn = np.zeros(n, dtype=bool)
    drawn[rest] = True
    found = estimate(np.where(known | drawn, y, np.nan), f, drawn=drawn, known=known)
    return found, float(y.mean()), 0.6


def difference_study(rng: np.random.Generator) -> tuple[Estimate, float, float]:
    """Two systems that predict the same for 70 % of the items."""
    n = 1000
    same = rng.random(n) < 0.7
    a = (rng.random(n) < 0.6).astype(float)
    b = np.where(same, a, (rng.random(n) < 0.45).astype(float))
    fa = np.where(rng.random(n) < 0.9, a, 1 - a)
    fb = np.where(same, fa, np.where(rng.random(n) < 0.9, b, 1 - b))
    drawn = np.zeros(n, dtype=bool)
    drawn[rng.permutation(np.flatnonzero(~same))[:100]] = True
    found = estimate_difference(
        np.where(drawn, a, np.nan), np.where(drawn, b, np.nan), fa, fb, same=same, drawn=drawn
    )
    return found, float((a - b).mean()), 0.3 * 0.15


STUDIES: list[tuple[str, Study]] = [
    ("people and score agree on 80 %", plain_study(0.8)),
    ("90 %", plain_study(0.9)),
    ("95 %", plain_study(0.95)),
    ("not at all", plain_study(0.5)),
    ("a third of the set is judged", plain_study(0.9, n=200, m=400)),
    ("some was judged before", census_study),
    ("only where two systems differ", difference_study),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "study"), STUDIES, ids=[name for name, _ in STUDIES])
def test_intervals_of_95_percent_hold_the_truth_in_93_to_97(name: str, study: Study) -> None:
    rng = np.random.default_rng(11)
    runs = 2000
    finite = future = 0
    for _ in range(runs):
        found, of_set, of_kind = study(rng)
        finite += found.finite[0] <= of_set <= found.finite[1]
        future += found.future[0] <= of_kind <= found.future[1]
    assert 0.93 <= finite / runs <= 0.97, (finite / runs, future / runs)
    assert 0.93 <= future / runs <= 0.97, (finite / runs, future / runs)


@pytest.mark.slow
def test_intervals_from_few_verdicts_of_one_kind_are_as_short_as_is_said_of_them() -> None:
    """The warning of `assay judge --estimate`: below ten of the rarer kind, about 90 in 100."""
    rng = np.random.default_rng(4)
    study = plain_study(0.8, p=0.95, n=100, m=449)
    held = few = 0
    for _ in range(2000):
        found, _, of_kind = study(rng)
        if 0 < found.rarer < 10:
            few += 1
            held += found.future[0] <= of_kind <= found.future[1]
    assert few > 1800
    assert 0.86 <= held / few <= 0.93, held / few


@pytest.mark.slow
def test_a_good_score_is_worth_many_verdicts() -> None:
    rng = np.random.default_rng(3)
    worth = {
        agree: np.mean([plain_study(agree)(rng)[0].worth for _ in range(300)])
        for agree in (0.5, 0.8, 0.9, 0.95)
    }
    assert worth[0.5] == pytest.approx(100, rel=0.06)
    assert worth[0.8] == pytest.approx(160, rel=0.15)
    assert worth[0.9] == pytest.approx(280, rel=0.15)
    assert worth[0.95] > 400

# SPDX-License-Identifier: Apache-2.0
import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.aggregate.interval import (
    Interval,
    cluster_warning,
    percentile_interval,
    resampled_intervals,
    score_intervals,
    share_intervals,
    wilson_interval,
)
from assay.aggregate.percentile import _quantile, _student
from assay.aggregate.resample import PoissonSums, bootstrap_totals
from assay.aggregate.test_metrics import (
    Accuracy,
    ErrorPercent,
    Mean,
    Median,
    MicroF1,
    accuracy_rows,
    f1_rows,
)
from assay.core.metric import Score, Totals

nan = math.nan


# -- Wilson ----------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    ("hits", "n"), [(0, 1), (1, 1), (0, 20), (3, 7), (19, 20), (500, 1_000), (1, 10**6)]
)
def test_wilson_is_that_of_statsmodels(hits: int, n: int, level: float) -> None:
    proportion = pytest.importorskip("statsmodels.stats.proportion")
    expected = proportion.proportion_confint(hits, n, alpha=1 - level, method="wilson")
    assert wilson_interval(hits, n, level=level).bounds == pytest.approx(expected, abs=1e-12)


@given(n=st.integers(1, 10_000), data=st.data())
def test_wilson_stays_in_range_around_the_share_and_is_symmetric(
    n: int, data: st.DataObject
) -> None:
    hits = data.draw(st.integers(0, n))
    found = wilson_interval(hits, n)
    assert 0 <= found.low <= hits / n <= found.high <= 1
    mirrored = wilson_interval(n - hits, n)
    assert found.bounds == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-12)


def test_a_share_of_nothing_has_no_interval() -> None:
    found = wilson_interval(0, 0)
    assert math.isnan(found.low)
    assert math.isnan(found.high)


def test_shares_get_wilson_in_their_own_scale() -> None:
    # 3 of 4, once as a share and once as an error rate of 1 in 4 in percent.
    plain = share_intervals(Accuracy(), np.array([3.0, 4.0]))["accuracy"]
    error = share_intervals(ErrorPercent(), np.array([1.0, 4.0]))["error"]
    assert plain.bounds == wilson_interval(3, 4).bounds
    assert error.bounds == pytest.approx((100 - 100 * plain.high, 100 - 100 * plain.low), abs=1e-12)
    assert share_intervals(MicroF1(), np.array([1.0, 2.0, 2.0])) == {}


class NetRight(Accuracy):
    """From -1, all wrong, to 1, all right."""

    name = "net-right"
    scores = (Score("net", low=-1.0, proportion=("right", "n")),)


def test_a_share_on_another_scale_has_its_interval_there() -> None:
    (found,) = share_intervals(NetRight(), np.array([3.0, 4.0])).values()
    plain = wilson_interval(3, 4)
    assert found.bounds == pytest.approx((2 * plain.low - 1, 2 * plain.high - 1), abs=1e-12)


# -- percentiles of resamples ----------------------------------------------------------------


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize("degrees", [9, 19, 99, 999])
def test_student_is_that_of_scipy(degrees: int, level: float) -> None:
    stats = pytest.importorskip("scipy.stats")
    expected = stats.t(degrees).ppf((1 + level) / 2)
    assert _student(level, degrees) == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("n", [10, 30, 100, 1_000])
def test_bounds_are_the_quantiles_that_student_asks_for(n: int) -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(n).normal(size=1_999)
    tail = stats.norm.cdf(-stats.t(n - 1).ppf(0.975) * math.sqrt(n / (n - 1)))
    # Of 1,999 values the k-th smallest stands at k / 2,000; between two it is a straight line.
    expected = stats.mstats.mquantiles(values, [tail, 1 - tail], alphap=0, betap=0)
    assert percentile_interval(values, n=n).bounds == pytest.approx(expected.tolist(), abs=5e-3)


def test_with_many_examples_bounds_are_the_plain_percentiles() -> None:
    # 1 to 999 in any order: 2.5 % and 97.5 % of 1,000 stand at 25 and 975.
    values = np.random.default_rng(1).permutation(np.arange(1.0, 1_000.0))
    assert percentile_interval(values, n=10**9).bounds == pytest.approx((25, 975), abs=1e-4)
    assert percentile_interval(values, n=10**9, level=0.5).bounds == pytest.approx(
        (250, 750), abs=1e-4
    )


def test_bounds_are_those_of_scipy_s_bootstrap_with_the_same_resamples() -> None:
    stats = pytest.importorskip("scipy.stats")
    values = np.random.default_rng(3).exponential(size=400)
    rows = np.stack([values, np.ones(400)], axis=1)
    chosen = np.random.default_rng(8).integers(0, 400, (5_000, 400))
    drawn = SimpleNamespace(bootstrap_distribution=values[chosen].mean(axis=1))
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=0, method="percentile", bootstrap_result=drawn
    ).confidence_interval
    (found,) = score_intervals([Mean()], rows, resamples=5_000, seed=8)
    width = theirs.high - theirs.low
    # scipy does not widen for small samples: at n = 400 that is less than 1 % of the width.
    assert found["mean"].bounds == pytest.approx((theirs.low, theirs.high), abs=0.01 * width)
    assert found["mean"].low <= theirs.low
    assert found["mean"].high >= theirs.high


def test_few_examples_make_wider_intervals_than_many() -> None:
    values = np.random.default_rng(2).normal(size=4_000)
    widths = [
        i.high - i.low for i in (percentile_interval(values, n=n) for n in (5, 10, 30, 1_000))
    ]
    assert widths == sorted(widths, reverse=True)


@pytest.mark.parametrize(
    ("name", "values", "n", "low", "high", "undefined"),
    [
        ("no example", [nan, nan], 0, nan, nan, 2),
        ("one example varies in no way we can see", [0.5, 0.5], 1, nan, nan, 0),
        ("undefined in every resample", [nan, nan, nan], 9, nan, nan, 3),
        ("undefined in some, which are left out", [nan, 2.0, nan, 2.0], 9, 2.0, 2.0, 2),
        ("always the same", [1.0, 1.0, 1.0], 9, 1.0, 1.0, 0),
    ],
)
def test_undefined(
    name: str, values: list[float], n: int, low: float, high: float, undefined: int
) -> None:
    found = percentile_interval(np.array(values), n=n)
    assert found.bounds == pytest.approx((low, high), nan_ok=True)
    assert found.undefined == undefined


# -- intervals of scores ---------------------------------------------------------------------


def test_each_score_gets_the_interval_that_fits() -> None:
    rng = np.random.default_rng(6)
    right = rng.integers(0, 2, 80).astype(float)
    rows = np.column_stack([right, np.ones(80), f1_rows(rng, 80), rng.normal(size=80)])
    metrics = [Accuracy(), MicroF1(), Median()]
    accuracy, f1, median = score_intervals(metrics, rows, resamples=200)
    assert accuracy["accuracy"] == wilson_interval(right.sum(), 80)
    assert {i.method for i in [*f1.values(), *median.values()]} == {"bootstrap"}
    totals = bootstrap_totals(rows[:, 2:5], resamples=200)
    again = resampled_intervals(MicroF1().finalise(Totals(MicroF1().columns, totals)), n=80)
    assert f1 == again


def test_clusters_rule_out_wilson_and_are_what_is_counted() -> None:
    rows = accuracy_rows([1, 1, 1, 0, 0, 0] * 20)
    clusters = np.repeat(np.arange(40), 3)
    (found,) = score_intervals([Accuracy()], rows, clusters=clusters)
    assert found["accuracy"].method == "cluster bootstrap"
    # Examples of a cluster are all alike here, so 40 clusters say as much as 40 examples would.
    (alike,) = score_intervals([Accuracy()], accuracy_rows([1, 0] * 20), method="bootstrap")
    assert found["accuracy"].bounds == alike["accuracy"].bounds
    (apart,) = score_intervals([Accuracy()], rows, method="bootstrap")
    ratio = _width(found["accuracy"]) / _width(apart["accuracy"])
    assert ratio == pytest.approx(math.sqrt(3), rel=0.15)


@pytest.mark.parametrize("metric", [Accuracy(), MicroF1(), Mean(), Median()], ids=str)
def test_clusters_of_one_example_change_nothing(metric: Accuracy | MicroF1 | Mean | Median) -> None:
    rows = f1_rows(np.random.default_rng(9), 50)[:, : len(metric.columns)]
    rows[:, 0] = np.minimum(rows[:, 0], rows[:, -1])
    (plain,) = score_intervals([metric], rows, resamples=100, method="bootstrap")
    (single,) = score_intervals([metric], rows, resamples=100, clusters=np.arange(50))
    assert [i.bounds for i in plain.values()] == [i.bounds for i in single.values()]


def test_a_score_that_some_resamples_leave_undefined_says_how_many() -> None:
    # The mean is defined for one example of five: (4/5)**5 = 33 % of the resamples miss it.
    rows = np.zeros((5, 2))
    rows[0] = (3.0, 1.0)
    (found,) = score_intervals([Mean()], rows, resamples=1_000)
    assert found["mean"].bounds == (3.0, 3.0)
    assert found["mean"].undefined == pytest.approx(328, abs=60)


def test_no_examples_no_metrics() -> None:
    (found,) = score_intervals([MicroF1()], np.zeros((0, 3)), resamples=10)
    assert all(math.isnan(i.low) and math.isnan(i.high) for i in found.values())
    assert score_intervals([], np.zeros((4, 0))) == []


def test_poisson_weights_give_nearly_the_interval_of_drawn_resamples() -> None:
    rows = f1_rows(np.random.default_rng(12), 500)
    sums = PoissonSums(3, resamples=4_000, seed=2)
    sums.add(rows, first=0)
    streamed = resampled_intervals(
        MicroF1().finalise(Totals(MicroF1().columns, sums.totals)),
        n=500,
        method="poisson bootstrap",
    )
    (drawn,) = score_intervals([MicroF1()], rows, resamples=4_000, seed=3)
    for name, interval in drawn.items():
        # A 2.5 % quantile of 4,000 values is good to about 3 % of the width.
        assert streamed[name].bounds == pytest.approx(interval.bounds, abs=0.1 * _width(interval))
        assert streamed[name].method == "poisson bootstrap"


def _width(interval: Interval) -> float:
    return interval.high - interval.low


@pytest.mark.parametrize(
    ("n", "warning"),
    [(1, "only 1 cluster: "), (19, "only 19 clusters: "), (20, None)],
)
def test_few_clusters_are_called_few(n: int, warning: str | None) -> None:
    found = cluster_warning(np.repeat(np.arange(n), 50))
    assert found is None if warning is None else str(found).startswith(warning)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
    st.floats(0, 1) | st.sampled_from([0.0, 0.025, 0.5, 0.975, 1.0]),
)
def test_the_ends_of_an_interval_are_weibull_quantiles_of_numpy(
    values: list[float], share: float
) -> None:
    expected = np.quantile(values, share, method="weibull")
    assert _quantile(np.sort(values), share) == expected

# SPDX-License-Identifier: Apache-2.0
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.aggregate import plan as planning
from assay.aggregate.plan import Plan, Scores, Shares, pilot, pilot_deviation
from assay.aggregate.resample import bootstrap_scores
from assay.aggregate.shares import mcnemar, mcnemar_p
from assay.aggregate.test_metrics import (
    Accuracy,
    Bleu,
    ErrorPercent,
    Mean,
    Median,
    MicroF1,
    accuracy_rows,
    bleu_rows,
    f1_rows,
    sentences,
)
from assay.core.errors import UsageError
from assay.core.metric import Rows, Score


class Unbounded(Mean):
    """A mean of values that have no upper end."""

    scores = (Score("mean", low=0.0, high=math.inf),)


def mean_rows(values: Rows) -> Rows:
    return np.stack([values, np.ones(len(values))], axis=1)


# -- chances ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("n", "effect"), [(40, 0.5), (200, 0.2), (1_000, 0.08)])
def test_scores_are_planned_as_by_statsmodels(n: int, effect: float) -> None:
    power = pytest.importorskip("statsmodels.stats.power")
    # Its z-test also counts wins of the wrong system, which are next to none.
    expected = power.normal_power(effect, n, 0.05)
    assert Scores(deviation=2.0).chance(n, 2.0 * effect) == pytest.approx(expected, abs=1e-4)


def test_scores_by_hand() -> None:
    # (1.959964 + 0.841621) ** 2 = 7.848880; times (0.5 / 0.1) ** 2 = 196.2.
    assert Scores(0.5).needed(0.1) == 197
    # 2.801585 x 0.5 / sqrt(100).
    assert Scores(0.5).detectable(100) == pytest.approx(0.14007926)


def by_counting(n: int, difference: float, discordance: float, alpha: float) -> float:
    """The chance over every possible table, with scipy's multinomial."""
    stats = pytest.importorskip("scipy.stats")
    win, lose = (discordance + difference) / 2, (discordance - difference) / 2
    tables = stats.multinomial(n, [win, lose, 1 - discordance])
    return math.fsum(
        tables.pmf([b, c, n - b - c])
        for b in range(n + 1)
        for c in range(min(b, n - b) + 1)
        if b > c and mcnemar_p(mcnemar(b, c))[0] <= alpha
    )


@pytest.mark.parametrize(
    ("n", "difference", "discordance", "alpha"),
    [(30, 0.2, 0.3, 0.05), (60, 0.3, 0.5, 0.05), (50, 0.1, 0.1, 0.05), (60, 0.6, 1.0, 0.01), (10, 0.1, 0.2, 0.05)],
)  # fmt: skip
def test_shares_are_counted_out(
    n: int, difference: float, discordance: float, alpha: float
) -> None:
    expected = by_counting(n, difference, discordance, alpha)
    assert Shares(discordance, alpha).chance(n, difference) == pytest.approx(expected, abs=1e-10)


@pytest.mark.parametrize(("difference", "discordance"), [(0.04, 0.2), (0.03, 0.1), (0.2, 0.9)])
def test_counting_and_the_formula_meet(difference: float, discordance: float) -> None:
    n = math.floor(planning.COUNTED / discordance)
    plan = Shares(discordance)
    counted = plan.chance(n, difference)
    formula = plan.chance(n + math.ceil(1 / discordance), difference)
    assert counted == pytest.approx(formula, abs=0.015)


PLANS = st.one_of(
    st.floats(0.01, 10).map(Scores),
    st.floats(0.05, 1).map(Shares),
)


@settings(max_examples=25)
@given(plan=PLANS, share=st.floats(0.2, 0.9), power=st.floats(0.3, 0.95))
def test_the_three_answers_agree(plan: Plan, share: float, power: float) -> None:
    largest = plan.discordance if isinstance(plan, Shares) else 1.0
    difference = share * largest
    n = plan.needed(difference, power)
    assert plan.chance(n, difference) >= power - 1e-9
    assert plan.chance(n, -difference) == plan.chance(n, difference)
    least = plan.detectable(n, power)
    assert least <= difference * (1 + 1e-5)
    assert plan.chance(n, least) >= power - 1e-9


def test_what_too_few_examples_can_show() -> None:
    # With five discordant pairs all falling one way the exact p is 1/16: nothing is ever found.
    assert Shares(1.0).chance(5, 1.0) == 0.0
    assert Shares(1.0).chance(6, 1.0) == 1.0
    assert math.isnan(Shares(1.0).detectable(5))


@pytest.mark.parametrize(
    ("name", "ask", "part"),
    [
        ("difference of nothing", lambda: Scores(1.0).needed(0.0), "difference of 0"),
        ("undefined difference", lambda: Scores(1.0).needed(math.nan), "nan must be a number"),
        ("endless difference", lambda: Shares(0.1).needed(math.inf), "inf must be a number"),
        ("more difference than there can be", lambda: Scores(1.0, reach=2.0).chance(9, 3.0), "more than 2 apart"),
        ("no spread", lambda: Scores(0.0), "systems that differ"),
        ("alpha out of range", lambda: Scores(1.0, alpha=1.5), "--alpha 1.5"),
        ("power out of range", lambda: Shares(0.2).needed(0.1, power=1.0), "--power 1"),
        ("discordance out of range", lambda: Shares(1.2), "discordance 1.2"),
        ("no discordance", lambda: Shares(0.0), "discordance 0"),
        ("more difference than discordance", lambda: Shares(0.1).chance(9, 0.2), "needs a discordance"),
        ("one example", lambda: Shares(0.1).detectable(1), "at least two examples"),
    ],
)  # fmt: skip
def test_what_cannot_be_planned(name: str, ask, part: str) -> None:  # type: ignore[no-untyped-def]  # a lambda of any kind
    with pytest.raises(UsageError, match=part):
        ask()


def test_what_no_two_systems_can_differ_by_is_not_found() -> None:
    assert Scores(30.0).detectable(2) > 50
    assert math.isnan(Scores(30.0, reach=50.0).detectable(2))
    assert Scores(30.0, reach=50.0).detectable(200) == Scores(30.0).detectable(200)


# -- pilots ----------------------------------------------------------------------------------


def test_scores_without_an_upper_end_are_planned_for_too() -> None:
    a, b = np.random.default_rng(2).normal(50, 10, size=(2, 60))
    # How many edits, as word error rate counts them: from 0 to as many as anybody makes.
    found = pilot(Unbounded(), "mean", mean_rows(a), mean_rows(b))
    assert isinstance(found, Scores)
    assert found.needed(1.0) == Scores((a - b).std(ddof=1)).needed(1.0)
    with pytest.raises(UsageError, match="do not differ"):
        pilot(Unbounded(), "mean", mean_rows(a), mean_rows(a + 1e-12))


def test_the_deviation_of_a_mean_is_that_of_its_differences() -> None:
    a, b = np.random.default_rng(1).normal(size=(2, 40))
    found = pilot_deviation(Mean(), mean_rows(a), mean_rows(b))
    assert found["mean"] == pytest.approx((a - b).std(ddof=1), rel=1e-9)


def test_examples_that_are_undefined_for_both_take_no_part_but_cost_places() -> None:
    # Half of the examples are undefined, so twice as many are needed: the deviation of the
    # defined ones times sqrt(2).
    a, b = np.random.default_rng(2).normal(size=(2, 500))
    rows = [np.concatenate([mean_rows(v), np.zeros((500, 2))]) for v in (a, b)]
    found = pilot_deviation(Mean(), rows[0], rows[1])["mean"]
    assert found == pytest.approx(math.sqrt(2) * (a - b).std(ddof=1), rel=0.01)


def test_the_deviation_of_corpus_scores_is_that_of_the_paired_bootstrap() -> None:
    gold, first, second = sentences(400, 3)
    rng = np.random.default_rng(4)
    for metric, rows in (
        (Bleu(), [bleu_rows(first, gold), bleu_rows(second, gold)]),
        (MicroF1(), [f1_rows(rng, 400), f1_rows(rng, 400)]),
    ):
        found = pilot_deviation(metric, *rows)
        resampled = bootstrap_scores([metric], rows, resamples=4_000)
        for name, deviation in found.items():
            spread = (resampled[0][0][name] - resampled[1][0][name]).std()
            # The spread of 4,000 resamples is good to about 1.1 %.
            assert deviation / math.sqrt(400) == pytest.approx(spread, rel=0.06)


def test_a_metric_that_cannot_be_summed_is_resampled() -> None:
    values = np.random.default_rng(5).normal(size=(2, 900, 1))
    found = pilot_deviation(Median(), *values)["median"]
    # The median of n normal values has variance pi / 2n; the difference of two, twice that.
    assert found == pytest.approx(math.sqrt(math.pi), rel=0.2)


def test_clusters_that_are_alike_inside_cost_their_size() -> None:
    a, b = np.random.default_rng(6).normal(size=(2, 100))
    clusters = np.repeat(np.arange(100), 4)
    rows = [mean_rows(np.repeat(v, 4)) for v in (a, b)]
    apart = pilot_deviation(Mean(), *rows)["mean"]
    whole = pilot_deviation(Mean(), *rows, clusters=clusters)["mean"]
    # Four equal examples say as much as one: four times as many are needed.
    assert whole / apart == pytest.approx(2, rel=0.01)
    single = pilot_deviation(Mean(), *rows, clusters=np.arange(400))["mean"]
    assert single == pytest.approx(apart)


def test_the_pilot_chooses_the_plan() -> None:
    a, b = accuracy_rows([1, 1, 0, 0, 1]), accuracy_rows([1, 0, 1, 0, 1])
    assert pilot(Accuracy(), "accuracy", a, b, alpha=0.01) == Shares(0.4, 0.01)
    clustered = pilot(Accuracy(), "accuracy", a, b, clusters=np.array([0, 0, 1, 1, 2]))
    assert isinstance(clustered, Scores)
    # In percent: differences 0, 100, -100, 0, 0 have the variance 2 x 100**2 / 4.
    percent = pilot(ErrorPercent(), "error", a, b)
    assert isinstance(percent, Scores)
    assert percent.deviation == pytest.approx(math.sqrt(5_000))


def test_a_share_of_some_examples_needs_more_of_all() -> None:
    # Every third example is measured. 0.04 of discordance 0.2 takes 977 of those (as if all were),
    # and so about three times as many of all, with the same chance.
    right, other = np.random.default_rng(7).integers(0, 2, (2, 90))
    rows = [accuracy_rows(r.tolist()) for r in (right, other)]
    for one in rows:
        one[np.arange(90) % 3 > 0] = 0
    found = pilot(Accuracy(), "accuracy", *rows)
    assert isinstance(found, Shares)
    assert found.measured == pytest.approx(1 / 3)
    assert found.discordance == (right != other)[::3].mean()
    some, all_ = Shares(0.2, measured=1 / 3), Shares(0.2)
    assert some.needed(0.04) == pytest.approx(3 * all_.needed(0.04), rel=0.01)
    assert some.detectable(3_000) == pytest.approx(all_.detectable(1_000), rel=0.01)
    # While pairs are counted out: the chance over every number of measured examples.
    stats = pytest.importorskip("scipy.stats")
    each = [stats.binom.pmf(k, 60, 1 / 3) * all_.chance(k, 0.15) for k in range(2, 61)]
    assert some.chance(60, 0.15) == pytest.approx(math.fsum(each), abs=1e-9)


@pytest.mark.parametrize(
    ("name", "rows", "part"),
    [
        ("alike", accuracy_rows([1, 0, 1]), "do not differ by accuracy"),
        ("nothing measured", np.zeros((3, 2)), "undefined on the pilot"),
        ("no examples", np.zeros((0, 2)), "undefined on the pilot"),
    ],
)
def test_pilots_that_say_nothing(name: str, rows: Rows, part: str) -> None:
    with pytest.raises(UsageError, match=part):
        pilot(Accuracy(), "accuracy", rows, rows.copy())
    if name == "alike":
        with pytest.raises(UsageError, match="do not differ"):
            pilot(Mean(), "mean", rows, rows.copy())

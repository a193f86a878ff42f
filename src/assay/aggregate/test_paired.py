# SPDX-License-Identifier: Apache-2.0
import math
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assay import metrics as registered
from assay.aggregate import paired
from assay.aggregate.interval import percentile_interval
from assay.aggregate.paired import (
    Paired,
    compare_systems,
    randomisation_test,
)
from assay.aggregate.resample import bootstrap_scores
from assay.aggregate.shares import mcnemar, tango_interval
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
from assay.aggregate.totals import scores_of
from assay.aggregate.verdict import verdict
from assay.core.batch import Batch
from assay.core.metric import Metric, Rows

nan = math.nan


# -- approximate randomisation ---------------------------------------------------------------


def by_definition(metric: Metric, a: Rows, b: Rows, trials: int, seed: int, name: str) -> float:
    """Swap, score, count: one example at a time, with the coins that the test tosses."""
    differ = np.flatnonzero((a != b).any(axis=1))
    real = abs(scores_of(metric, a)[name] - scores_of(metric, b)[name])
    as_large = 0
    for (coins,) in paired._swaps(len(differ), trials, seed):
        ours, theirs = a.copy(), b.copy()
        for i, coin in zip(differ, coins, strict=True):
            if coin:
                ours[i], theirs[i] = b[i], a[i]
        found = abs(scores_of(metric, ours)[name] - scores_of(metric, theirs)[name])
        as_large += found >= real - 1e-9
    return (as_large + 1) / (trials + 1)


@pytest.mark.parametrize("seed", range(4))
def test_p_is_the_share_of_swaps_as_large_as_the_real_difference(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = f1_rows(rng, 12), f1_rows(rng, 12)
    b[:4] = a[:4]
    (found,) = randomisation_test([MicroF1()], a, b, trials=60, seed=seed)
    for name in ("precision", "recall", "f1"):
        assert found[name].p == by_definition(MicroF1(), a, b, 60, seed, name)


def test_all_swaps_of_a_small_set_give_scipy_s_permutation_test() -> None:
    stats = pytest.importorskip("scipy.stats")
    a, b = np.random.default_rng(4).normal([[0.9], [0.0]], 1.0, (2, 10))
    exact = stats.permutation_test(
        (a, b), lambda x, y: x.mean() - y.mean(), permutation_type="samples"
    )
    rows = [np.stack([values, np.ones(10)], axis=1) for values in (a, b)]
    (found,) = randomisation_test([Mean()], *rows, trials=20_000)
    # The p-value of scipy goes through all 2**10 swaps; ours is a sample of them.
    assert found["mean"].p == pytest.approx(exact.pvalue, abs=4 * math.sqrt(0.25 / 20_000))


def test_for_right_or_wrong_it_agrees_with_mcnemar() -> None:
    right = np.array([1] * 30 + [0] * 14 + [1] * 40)
    other = np.array([0] * 30 + [1] * 14 + [1] * 40)
    rows = [accuracy_rows(r.tolist()) for r in (right, other)]
    (found,) = randomisation_test([Accuracy()], *rows, trials=20_000)
    assert found["accuracy"].p == pytest.approx(mcnemar(30, 14).p_exact, abs=0.005)


@settings(max_examples=30)
@given(cells=st.integers(1, 300), n=st.integers(1, 70), seed=st.integers(0, 2**32))
def test_blocks_of_any_size_toss_the_same_coins(cells: int, n: int, seed: int) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.integers(0, 9, (2, n, 2)).astype(np.float64)
    whole = paired._swapped_totals(a, b, 23, seed, None)
    with patch.object(paired, "CELLS", cells):
        cut = paired._swapped_totals(a, b, 23, seed, None)
    assert [t.tobytes() for t in cut] == [t.tobytes() for t in whole]
    assert (whole[0] + whole[1] == (a + b).sum(axis=0)).all()


def test_coins_are_fair_and_independent() -> None:
    coins = np.concatenate(list(paired._swaps(101, 4_000, 1, 64)))
    assert coins.shape == (4_000, 101)
    # Each mean has a deviation of 0.5 / sqrt(4000) = 0.008, each correlation one of 0.016.
    assert np.abs(coins.mean(axis=0) - 0.5).max() < 5 * 0.008
    assert np.abs(np.corrcoef(coins.T) - np.eye(101)).max() < 5 * 0.016
    assert next(paired._swaps(0, 1, 1)).shape == (1, 0)


def test_clusters_are_swapped_whole() -> None:
    # Six clusters of ten examples each, A ahead in all of them: of the 64 ways to swap, two are as
    # uneven as the real one, so p is near 1/32, however many examples there are.
    a, b = accuracy_rows([1] * 60), accuracy_rows([0] * 60)
    clusters = np.repeat(np.arange(6), 10)
    (apart,) = randomisation_test([Accuracy()], a, b, trials=5_000)
    (whole,) = randomisation_test([Accuracy()], a, b, trials=5_000, clusters=clusters)
    assert apart["accuracy"].p == 1 / 5_001
    assert whole["accuracy"].p == pytest.approx(1 / 32, abs=0.01)
    values = np.random.default_rng(3).normal(size=(2, 60, 1))
    (median,) = randomisation_test([Median()], *values, trials=200, clusters=np.arange(60))
    (same,) = randomisation_test([Median()], *values, trials=200)
    assert median == same


def test_ties_count_although_sums_round() -> None:
    # 0.1 + 0.2 + 0.3 depends on the order of adding; every swap of equal pairs is a tie.
    a = np.array([[0.1, 1.0], [0.2, 1.0], [0.3, 1.0], [0.7, 1.0]])
    b = a[[3, 2, 1, 0]]
    (found,) = randomisation_test([Mean()], a, b, trials=500)
    assert found["mean"].p == 1.0


@pytest.mark.parametrize("metric", [MicroF1(), Mean()], ids=str)
def test_undefined_differences_have_no_p(metric: Metric) -> None:
    zeros = np.zeros((5, len(metric.columns)))
    ones = np.ones((5, len(metric.columns)))
    (nothing,) = randomisation_test([metric], ones, zeros, trials=50)
    assert all(math.isnan(r.p) for r in nothing.values())
    (empty,) = randomisation_test([metric], zeros[:0], zeros[:0], trials=50)
    assert all(math.isnan(r.p) for r in empty.values())


def test_trials_that_leave_a_score_undefined_are_left_out_and_counted() -> None:
    # Each system has one defined example; unless both or neither are swapped, one has none.
    a, b = np.array([[4.0, 1.0], [0.0, 0.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])
    (found,) = randomisation_test([Mean()], a, b, trials=2_000)
    assert found["mean"].undefined == pytest.approx(1_000, abs=120)
    assert found["mean"].p == 1.0


# -- against sacrebleu -----------------------------------------------------------------------


@pytest.fixture(scope="module")
def translations() -> tuple[list[str], list[str], list[str]]:
    return sentences(300, 11)


def sacrebleu_p(texts: tuple[list[str], list[str], list[str]], kind: str, samples: int) -> float:
    significance = pytest.importorskip("sacrebleu.significance")
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU()
    gold, first, second = texts
    named = [("first", first), ("second", second)]
    test = significance.PairedTest(named, {"BLEU": bleu}, [gold], kind, n_samples=samples)
    return float(test()[1]["BLEU"][1].p_value)


def test_randomisation_agrees_with_sacrebleu(
    translations: tuple[list[str], list[str], list[str]],
) -> None:
    gold, first, second = translations
    theirs = sacrebleu_p(translations, "ar", 10_000)
    a, b = bleu_rows(first, gold), bleu_rows(second, gold)
    (found,) = randomisation_test([Bleu()], b, a, trials=10_000)
    # Other coins: both are samples of the same p near 0.07, each good to 0.0025.
    assert found["bleu"].p == pytest.approx(theirs, abs=0.012)
    assert 0.05 < theirs < 0.1


def test_paired_bootstrap_agrees_with_sacrebleu(
    translations: tuple[list[str], list[str], list[str]],
) -> None:
    gold, first, second = translations
    theirs = sacrebleu_p(translations, "bs", 2_000)
    rows = [bleu_rows(first, gold), bleu_rows(second, gold)]
    resampled = bootstrap_scores([Bleu()], rows, resamples=2_000)
    differences = resampled[1][0]["bleu"] - resampled[0][0]["bleu"]
    real = scores_of(Bleu(), rows[1])["bleu"] - scores_of(Bleu(), rows[0])["bleu"]
    # Its rule: sizes of differences, shifted to mean 0, that exceed the real one. Where nearly all
    # differences have one sign, only one tail can, and p is about half of a two-sided one.
    sizes = np.abs(differences)
    p = (int((sizes - sizes.mean() > abs(real)).sum()) + 1) / 2_001
    assert p == pytest.approx(theirs, abs=1.5 / 2_001)  # it compares in single precision
    ((by_metric,),) = compare_systems([Bleu()], rows, [(1, 0)], resamples=2_000)
    assert by_metric["bleu"].interval == percentile_interval(
        differences, n=300, method="paired bootstrap"
    )


# -- whole comparisons -----------------------------------------------------------------------


def test_each_score_gets_the_test_that_fits() -> None:
    rng = np.random.default_rng(2)
    a, b = (np.column_stack([rng.integers(0, 2, 90), np.ones(90), f1_rows(rng, 90)]) for _ in "ab")
    metrics = [Accuracy(), MicroF1()]
    ((accuracy, f1),) = compare_systems(metrics, [a, b], [(0, 1)], trials=200, resamples=200)
    assert accuracy["accuracy"].test == "mcnemar mid-p"
    assert accuracy["accuracy"].mcnemar is not None
    assert accuracy["accuracy"].p == accuracy["accuracy"].mcnemar.p_mid
    won, lost = (a[:, 0] > b[:, 0]).sum(), (a[:, 0] < b[:, 0]).sum()
    assert accuracy["accuracy"].interval == tango_interval(int(won), int(lost), 90)
    assert {one.test for one in f1.values()} == {"approximate randomisation"}
    assert f1["f1"].interval.method == "paired bootstrap"
    ((alone,),) = compare_systems(
        [MicroF1()], [a[:, 2:], b[:, 2:]], [(0, 1)], trials=200, resamples=200
    )
    assert alone == f1  # resamples do not depend on what else is compared
    assert f1["f1"].mcnemar is None
    clusters = np.repeat(np.arange(30), 3)
    ((accuracy, _),) = compare_systems(
        metrics, [a, b], [(0, 1)], trials=200, resamples=200, clusters=clusters
    )
    assert accuracy["accuracy"].test == "approximate randomisation by cluster"
    assert accuracy["accuracy"].mcnemar is None
    assert accuracy["accuracy"].interval.method == "paired cluster bootstrap"
    ((asked, _),) = compare_systems(
        metrics, [a, b], [(0, 1)], trials=200, resamples=200, test="randomisation"
    )
    assert asked["accuracy"].test == "approximate randomisation"
    assert asked["accuracy"].interval.method == "paired bootstrap"
    assert asked["accuracy"].mcnemar is not None  # still shown beside it


def test_from_the_other_side_only_the_sign_changes() -> None:
    rng = np.random.default_rng(5)
    systems = [f1_rows(rng, 60) for _ in range(3)]
    found = compare_systems([MicroF1()], systems, [(0, 1), (1, 0), (2, 1)], trials=300)
    for name in ("precision", "recall", "f1"):
        one, other = found[0][0][name], found[1][0][name]
        assert one.difference == -other.difference
        assert one.p == other.p
        assert one.interval.bounds == pytest.approx((-other.interval.high, -other.interval.low))
        alone = compare_systems([MicroF1()], [systems[2], systems[1]], [(0, 1)], trials=300)
        assert found[2][0][name] == alone[0][0][name]


def test_a_metric_where_lower_is_better_is_its_mirror_image() -> None:
    right = np.random.default_rng(1).integers(0, 2, (2, 70))
    a, b = (accuracy_rows(r.tolist()) for r in right)
    wrong = [accuracy_rows((1 - r).tolist()) for r in right]
    ((up,),) = compare_systems([Accuracy()], [a, b], [(0, 1)])
    ((down,),) = compare_systems([ErrorPercent()], wrong, [(0, 1)])
    assert down["error"].difference == pytest.approx(-100 * up["accuracy"].difference)
    assert down["error"].p == up["accuracy"].p
    assert down["error"].interval.bounds == pytest.approx(
        tuple(-100 * bound for bound in reversed(up["accuracy"].interval.bounds))
    )


# -- a system against itself is never better -------------------------------------------------


def assert_nothing_found(found: Paired, metric: Metric, name: str) -> None:
    higher = next(s.higher_is_better for s in metric.scores if s.name == name)
    word = verdict(found.difference, found.interval.bounds, found.p, higher_is_better=higher)
    assert word == "undecided"
    if math.isnan(found.difference):
        assert math.isnan(found.p)
        return
    assert found.difference == 0
    assert found.p == 1.0
    if found.test.startswith("mcnemar"):
        # As wide as so many examples leave it, and even.
        assert found.interval.method == "tango"
        assert 0 < found.interval.high == pytest.approx(-found.interval.low)
    elif not math.isnan(found.interval.low):
        assert found.interval.bounds == (0.0, 0.0)
        equal = verdict(0.0, found.interval.bounds, found.p, margin=1e-9)
        assert equal == "equivalent"


words = st.lists(st.sampled_from(["a", "bb", "the", "cat", "sat", "no.", "é", "猫"]), max_size=8)
texts = words.map(" ".join)
pairs = st.lists(st.tuples(texts, texts), max_size=12)


@pytest.mark.parametrize("cls", registered.builtin(), ids=lambda cls: cls.name)
@settings(max_examples=15)
@given(data=pairs, clustered=st.booleans(), seed=st.integers(0, 1_000))
def test_a_system_against_itself_is_never_better(
    cls: type[Metric], data: list[tuple[str, str]], clustered: bool, seed: int
) -> None:
    metric = cls()
    rows = metric.measure(Batch([p for p, _ in data], [g for _, g in data]))
    clusters = np.arange(len(data)) // 2 if clustered else None
    ((found,),) = compare_systems(
        [metric],
        [rows, rows.copy()],
        [(0, 1)],
        resamples=20,
        trials=20,
        seed=seed,
        clusters=clusters,
    )
    for name, one in found.items():
        assert_nothing_found(one, metric, name)


@pytest.mark.parametrize(
    "metric", [Accuracy(), ErrorPercent(), MicroF1(), Mean(), Median(), Bleu()], ids=str
)
@settings(max_examples=15)
@given(data=st.data())
def test_any_rows_against_themselves(metric: Metric, data: st.DataObject) -> None:
    # Parts and wholes: hits never exceed what they are a share of.
    width = len(metric.columns)
    rows = data.draw(
        hnp.arrays(
            np.float64, st.tuples(st.integers(0, 20), st.just(width)), elements=st.integers(0, 1)
        )
    )
    rows = np.minimum.accumulate(rows[:, ::-1], axis=1)[:, ::-1].copy()
    ((found,),) = compare_systems([metric], [rows, rows], [(0, 1)], resamples=20, trials=20)
    for name, one in found.items():
        assert_nothing_found(one, metric, name)

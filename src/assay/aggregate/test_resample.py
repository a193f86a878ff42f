# SPDX-License-Identifier: Apache-2.0
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from assay.aggregate import resample
from assay.aggregate.product import EXACT
from assay.aggregate.resample import (
    PoissonSums,
    bootstrap_macro,
    bootstrap_scores,
    bootstrap_slice_totals,
    bootstrap_totals,
    draws,
)
from assay.aggregate.test_metrics import (
    Bleu,
    Mean,
    Median,
    MicroF1,
    accuracy_rows,
    bleu_rows,
    f1_rows,
    sentences,
)
from assay.aggregate.totals import Codes, slice_totals
from assay.core.metric import Rows, Totals, Value

small_counts = hnp.arrays(
    np.float64, st.tuples(st.integers(1, 30), st.integers(1, 3)), elements=st.integers(0, 50)
)
seeds = st.integers(0, 2**32)


def by_definition(rows: Rows, resamples: int, seed: int) -> Rows:
    chosen = np.random.default_rng(seed).integers(0, len(rows), (resamples, len(rows)))
    return np.asarray(rows[chosen].sum(axis=1))


@given(rows=small_counts, seed=seeds, cells=st.integers(1, 200), at_once=st.integers(1, 100))
def test_totals_are_those_of_the_rows_drawn_whatever_the_block_size(
    rows: Rows, seed: int, cells: int, at_once: int
) -> None:
    with patch.object(resample, "CELLS", cells), patch.object(resample, "DRAWS", at_once):
        found = bootstrap_totals(rows, resamples=7, seed=seed)
    assert found.tobytes() == by_definition(rows, 7, seed).tobytes()


@given(n=st.integers(1, 50), seed=seeds)
def test_weights_sum_to_n(n: int, seed: int) -> None:
    assert (bootstrap_totals(np.ones((n, 1)), resamples=9, seed=seed) == n).all()
    assert sum(len(block) for block in draws(n, 9, seed)) == 9


def test_values_that_are_no_whole_numbers() -> None:
    rows = np.random.default_rng(5).normal(size=(200, 3))
    found = bootstrap_totals(rows, resamples=20, seed=3)
    assert found == pytest.approx(by_definition(rows, 20, 3), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("name", "high"),
    [("in float32", 30), ("some resamples too large for float32", 16_300), ("too large", 10**6)],
)
def test_single_precision_is_used_only_where_it_is_exact(name: str, high: int) -> None:
    rows = np.random.default_rng(2).integers(0, high, (2_000, 3)).astype(np.float64) + 1
    if name.startswith("some"):
        assert rows.sum(axis=0).max() < EXACT < by_definition(rows, 50, 4).max()
    assert bootstrap_totals(rows, resamples=50, seed=4).tobytes() == (
        by_definition(rows, 50, 4).tobytes()
    )


def test_no_examples_at_all() -> None:
    assert bootstrap_totals(np.zeros((0, 2)), resamples=3).tolist() == [[0, 0]] * 3
    assert bootstrap_totals(np.zeros((4, 0)), resamples=3).shape == (3, 0)
    ((f1, median),) = bootstrap_scores([MicroF1(), Median()], [np.zeros((0, 4))], resamples=3)
    assert np.isnan(f1["f1"]).all()
    assert np.isnan(median["median"]).all()
    assert bootstrap_slice_totals(np.zeros((0, 2)), np.zeros(0, np.intp), 2, resamples=3).sum() == 0


def test_resamples_coincide_with_sacrebleu() -> None:
    significance = pytest.importorskip("sacrebleu.significance")
    metrics = pytest.importorskip("sacrebleu.metrics")
    gold, system, _ = sentences(120, 7)
    rows = bleu_rows(system, gold)
    seed, theirs = significance._bootstrap_resample(rows.tolist(), metrics.BLEU(), n_samples=200)
    ((ours,),) = bootstrap_scores([Bleu()], [rows], resamples=200, seed=int(seed))
    # sacrebleu sums and divides in single precision.
    assert ours["bleu"] == pytest.approx([score.score for score in theirs], rel=1e-6)


def test_paired_resamples_coincide_with_sacrebleu() -> None:
    significance = pytest.importorskip("sacrebleu.significance")
    metrics = pytest.importorskip("sacrebleu.metrics")
    gold, first, second = sentences(120, 8)
    test = significance.PairedTest(
        [("first", first), ("second", second)],
        {"BLEU": metrics.BLEU()},
        references=[gold],
        test_type="bs",
        n_samples=300,
    )
    _, results = test()
    rows = [bleu_rows(first, gold), bleu_rows(second, gold)]
    found = bootstrap_scores([Bleu()], rows, resamples=300, seed=12345)
    for ours, theirs in zip(found, results["BLEU"], strict=True):
        assert ours[0]["bleu"].mean() == pytest.approx(theirs.mean, rel=1e-6)


def test_systems_and_metrics_share_their_resamples() -> None:
    rng = np.random.default_rng(11)
    values = rng.normal(size=(2, 50, 1))
    systems = [np.concatenate([f1_rows(rng, 50), v, v, np.ones((50, 1))], axis=1) for v in values]
    metrics = [MicroF1(), Median(), Mean()]
    together = bootstrap_scores(metrics, systems, resamples=30, seed=1)
    for s, rows in enumerate(systems):
        for m, part in enumerate((rows[:, :3], rows[:, 3:4], rows[:, 4:])):
            ((alone,),) = bootstrap_scores([metrics[m]], [part], resamples=30, seed=1)
            for name, expected in alone.items():
                assert together[s][m][name] == pytest.approx(expected, rel=1e-12)
    chosen = np.random.default_rng(1).integers(0, 50, (30, 50))
    assert together[0][1]["median"].tolist() == np.median(values[0, :, 0][chosen], axis=1).tolist()


def test_clusters_of_one_example_change_nothing() -> None:
    rows = f1_rows(np.random.default_rng(3), 40)
    ((plain,),) = bootstrap_scores([MicroF1()], [rows], resamples=25)
    ((single,),) = bootstrap_scores([MicroF1()], [rows], resamples=25, clusters=np.arange(40))
    assert plain["f1"].tobytes() == single["f1"].tobytes()


def test_whole_clusters_are_drawn() -> None:
    # Clusters {1, 1}, {5} and {9, 9, 9}: a resample draws three of them.
    values = np.array([1.0, 1, 5, 9, 9, 9])
    clusters = np.array([0, 0, 1, 2, 2, 2])
    rows = np.stack([values, np.ones(6), values], axis=1)
    ((mean, median),) = bootstrap_scores(
        [Mean(), Median()], [rows], resamples=40, seed=2, clusters=clusters
    )
    held = [values[clusters == c] for c in range(3)]
    for r, chosen in enumerate(np.random.default_rng(2).integers(0, 3, (40, 3))):
        drawn = np.concatenate([held[c] for c in chosen])
        assert mean["mean"][r] == pytest.approx(drawn.mean(), rel=1e-12)
        assert median["median"][r] == np.median(drawn)


@given(rows=small_counts, data=st.data())
def test_slices_of_a_resample_add_up_to_it(rows: Rows, data: st.DataObject) -> None:
    codes = data.draw(hnp.arrays(np.intp, len(rows), elements=st.integers(0, 3)))
    table = bootstrap_slice_totals(rows, codes, 4, resamples=6, seed=9)
    assert table.shape == (6, 4, rows.shape[1])
    assert (table.sum(axis=1) == bootstrap_totals(rows, resamples=6, seed=9)).all()
    chosen = np.random.default_rng(9).integers(0, len(rows), (6, len(rows)))
    assert (table[2] == slice_totals(rows[chosen[2]], codes[chosen[2]], 4)).all()


def test_macro_averages_are_resampled_like_anything_else() -> None:
    rng = np.random.default_rng(4)
    rows, codes = f1_rows(rng, 60), rng.integers(0, 3, 60)
    found = bootstrap_macro(MicroF1(), rows, codes, 3, resamples=20, seed=5)
    one = bootstrap_macro(MicroF1(), rows, np.zeros(60, np.intp), 1, resamples=20, seed=5)
    ((whole,),) = bootstrap_scores([MicroF1()], [rows], resamples=20, seed=5)
    assert one["f1"] == pytest.approx(whole["f1"], rel=1e-12)
    for r, chosen in enumerate(np.random.default_rng(5).integers(0, 60, (20, 60))):
        table = slice_totals(rows[chosen], codes[chosen], 3)
        expected = MicroF1().finalise(Totals(MicroF1().columns, table))["recall"].mean()
        assert found["recall"][r] == pytest.approx(expected, rel=1e-12)
    alike = bootstrap_macro(MicroF1(), rows, codes, 3, resamples=20, seed=5, clusters=np.arange(60))
    assert alike["f1"] == pytest.approx(found["f1"], rel=1e-12)


# -- Poisson weights -------------------------------------------------------------------------


def test_the_weight_table_is_a_poisson_distribution_of_mean_one() -> None:
    stats = pytest.importorskip("scipy.stats")
    table = resample._POISSON
    assert len(table) == 1 << 16
    assert table.mean() == 1.0
    assert table.var() == pytest.approx(1.0, abs=1e-3)
    shares = np.bincount(table.astype(int)) / len(table)
    assert shares == pytest.approx(stats.poisson(1).pmf(np.arange(len(shares))), abs=2 / len(table))


@settings(max_examples=25)
@given(data=st.data(), seed=seeds)
def test_poisson_sums_do_not_depend_on_who_took_in_what(data: st.DataObject, seed: int) -> None:
    n = data.draw(st.integers(1, 3_000))
    rows = np.random.default_rng(n).integers(0, 9, (n, 2)).astype(np.float64)
    whole = PoissonSums(2, resamples=5, seed=seed)
    whole.add(rows, first=0)
    cut = data.draw(st.integers(0, n))
    last, before = PoissonSums(2, resamples=5, seed=seed), PoissonSums(2, resamples=5, seed=seed)
    last.add(rows[cut:], first=cut)
    before.add(rows[:cut], first=0)
    last.merge(before)
    assert whole.totals.tobytes() == last.totals.tobytes()


def test_poisson_weights_go_with_the_cluster_wherever_it_stands() -> None:
    names = ["a", "b", "a", "c", "b", "a"]
    rows = np.arange(6.0)[:, None]
    whole = PoissonSums(1, resamples=50)
    whole.add(rows, first=0, clusters=names)
    parts = PoissonSums(1, resamples=50)
    for i in reversed(range(6)):
        parts.add(rows[i : i + 1], first=0, clusters=names[i : i + 1])
    assert whole.totals.tobytes() == parts.totals.tobytes()
    # A cluster has one weight: the totals of its three examples are three times those of one.
    one, three = PoissonSums(1, resamples=50), PoissonSums(1, resamples=50)
    one.add(np.ones((1, 1)), first=0, clusters=["a"])
    three.add(np.ones((3, 1)), first=0, clusters=["a"] * 3)
    assert (three.totals == 3 * one.totals).all()
    assert len(np.unique(one.totals)) > 1


def test_poisson_resamples_spread_like_drawn_ones() -> None:
    rows = accuracy_rows([1, 0, 0, 1, 1, 0, 1, 1] * 100)
    sums = PoissonSums(2, resamples=4_000)
    sums.add(rows, first=0)
    shares = sums.totals[:, 0] / sums.totals[:, 1]
    drawn = bootstrap_totals(rows, resamples=4_000)[:, 0] / 800
    # The standard error of an estimated deviation is about 1 / sqrt(2 * 4000) = 1.1 % of it.
    assert shares.std() == pytest.approx(drawn.std(), rel=0.06)
    assert shares.mean() == pytest.approx(0.625, abs=4 * drawn.std() / np.sqrt(4_000))


class ZeroForNothing(Mean):
    """As BLEU has it: no words, score 0."""

    def finalise(self, totals: Totals) -> dict[str, Value]:
        return {name: np.nan_to_num(value) for name, value in super().finalise(totals).items()}


@pytest.mark.parametrize("clusters", [None, np.array([0, 0, 1, 1])])
def test_a_slice_that_a_resample_leaves_empty_does_not_count_as_zero(
    clusters: Codes | None,
) -> None:
    rows, codes = np.ones((4, 2)), np.array([0, 0, 1, 1])
    found = bootstrap_macro(
        ZeroForNothing(), rows, codes, 2, resamples=200, seed=1, clusters=clusters
    )
    assert found["mean"].tolist() == [1.0] * 200

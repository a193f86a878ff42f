# SPDX-License-Identifier: Apache-2.0
"""Agreement coefficients, by hand, by other libraries, and on published verdicts."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.judge.agreement import agreement
from assay.judge.coefficients import NOTHING, Ratings, Weights, cohen, disagreement_weights

ORACLES = Path(__file__).resolve().parents[4] / "shared" / "oracles" / "commands"
YES_NO = ("no", "yes")
JUDGES = ("anna", "bert", "carl", "dora")


def measured(ratings: object, k: int = 2, **options: object) -> dict[str, float]:
    matrix = np.array(ratings, dtype=np.int64)
    categories = [f"c{i}" for i in range(k)]
    found = agreement(matrix, JUDGES[: matrix.shape[1]], categories, resamples=20, **options)  # type: ignore[arg-type]
    return {c.name: c.value for c in found.coefficients}


def test_two_judges_by_hand() -> None:
    # 10 items: both yes 4, both no 3, anna alone yes 2, bert alone yes 1.
    ratings = [[1, 1]] * 4 + [[0, 0]] * 3 + [[1, 0]] * 2 + [[0, 1]]
    found = measured(ratings)
    assert found["percent"] == pytest.approx(0.7)
    # Cohen: chance 0.6*0.5 + 0.4*0.5 = 0.5; (0.7 - 0.5) / 0.5
    assert found["cohen"] == pytest.approx(0.4)
    # Fleiss: shares of all verdicts 0.55 and 0.45; chance 0.505; (0.7 - 0.505) / 0.495
    assert found["fleiss"] == pytest.approx(0.195 / 0.495)
    # Krippendorff: 20 values, 11 and 9; (19*14 - (11*10 + 9*8)) / (20*19 - 182)
    assert found["krippendorff"] == pytest.approx((19 * 14 - 182) / (380 - 182))
    # Gwet: chance 2 * 0.55 * 0.45 = 0.495; (0.7 - 0.495) / 0.505
    assert found["gwet"] == pytest.approx(0.205 / 0.505)


def test_a_verdict_that_is_missing_is_no_disagreement() -> None:
    # Krippendorff's alpha counts the three items with two values: coincidences yes/yes 2, no/no 2,
    # yes/no 1 each way; margins 3 and 3 of 6: ((6-1)*4 - (3*2 + 3*2)) / (6*5 - 12)
    ratings = [[1, 1, NOTHING], [0, NOTHING, 0], [NOTHING, 1, 0], [1, NOTHING, NOTHING]]
    found = measured(ratings)
    assert found["krippendorff"] == pytest.approx((5 * 4 - 12) / 18)
    assert found["percent"] == pytest.approx(2 / 3)
    assert math.isnan(found["fleiss"])  # no item has all three
    said = agreement(np.array(ratings), JUDGES[:3], YES_NO, resamples=20)
    assert said["fleiss"].why == "no item has a verdict of every judge"


def test_all_equal_is_not_defined_and_says_so() -> None:
    found = agreement(np.ones((5, 2), dtype=np.int64), ("a", "b"), YES_NO)
    assert found["percent"].value == 1.0
    assert found["gwet"].value == 1.0
    for name in ("cohen", "fleiss", "krippendorff"):
        assert math.isnan(found[name].value)
        assert found[name].why == "not defined: all verdicts are equal"
        assert all(map(math.isnan, found[name].interval))


def test_nothing_in_common_is_not_defined() -> None:
    found = agreement(np.array([[1, NOTHING], [NOTHING, 0]]), ("a", "b"), YES_NO)
    assert all(math.isnan(c.value) and c.why for c in found.coefficients)
    assert (found.items, found.rated_twice) == (2, 0)
    empty = agreement(np.zeros((0, 2), dtype=np.int64), ("a", "b"), YES_NO)
    assert all(math.isnan(c.value) for c in empty.coefficients)


def test_one_judge_is_not_enough() -> None:
    with pytest.raises(UsageError, match="at least two judges"):
        agreement(np.ones((3, 1), dtype=np.int64), ("a",), YES_NO)


ratings_of_two = st.lists(st.tuples(*[st.integers(0, 2)] * 2), min_size=2, max_size=40)


@given(ratings_of_two, st.sampled_from(["nominal", "linear", "quadratic"]))
def test_cohen_is_that_of_scikit_learn(rated: list[tuple[int, int]], weights: Weights) -> None:
    from sklearn.metrics import cohen_kappa_score

    matrix = np.array(rated)
    table = np.zeros((3, 3))
    np.add.at(table, (matrix[:, 0], matrix[:, 1]), 1)
    ours = float(cohen(table, disagreement_weights(3, weights)))
    if len(set(matrix.ravel().tolist())) == 1:
        assert math.isnan(ours)
        return
    theirs = cohen_kappa_score(
        matrix[:, 0],
        matrix[:, 1],
        labels=[0, 1, 2],
        weights=None if weights == "nominal" else weights,
    )
    assert ours == pytest.approx(theirs, abs=1e-9, nan_ok=True)
    name = "cohen" if weights == "nominal" else f"cohen_{weights}"
    assert measured(rated, 3, weights=weights)[name] == pytest.approx(ours, nan_ok=True)


@given(st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=40))
def test_fleiss_is_that_of_statsmodels(rated: list[tuple[int, int, int]]) -> None:
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    matrix = np.array(rated)
    if len(set(matrix.ravel().tolist())) == 1:
        assert math.isnan(measured(rated, 3)["fleiss"])
        return
    theirs = fleiss_kappa(aggregate_raters(matrix, n_cat=3)[0])
    assert measured(rated, 3)["fleiss"] == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=40)
@given(st.lists(st.lists(st.integers(NOTHING, 2), min_size=4, max_size=4), min_size=3, max_size=30))
def test_krippendorff_is_that_of_nltk(rated: list[list[int]]) -> None:
    from nltk.metrics.agreement import AnnotationTask

    ours = measured(rated, 3)["krippendorff"]
    usable = [row for row in rated if sum(v != NOTHING for v in row) >= 2]
    if len({v for row in usable for v in row if v != NOTHING}) < 2:
        assert math.isnan(ours)
        return
    task = AnnotationTask(
        [(f"j{j}", f"i{i}", v) for i, row in enumerate(usable) for j, v in enumerate(row) if v >= 0]
    )
    assert ours == pytest.approx(task.alpha(), abs=1e-9)


@given(st.lists(st.lists(st.integers(NOTHING, 2), min_size=3, max_size=3), min_size=2, max_size=30))
def test_gwet_by_its_definition(rated: list[list[int]]) -> None:
    """A second method: sums written out item by item, as in Gwet (2008)."""
    given = [[v for v in row if v != NOTHING] for row in rated]
    given = [row for row in given if row]
    twice = [row for row in given if len(row) > 1]
    ours = measured(rated, 3)["gwet"]
    if not twice:
        assert math.isnan(ours)
        return
    pairs = [[a == b for i, a in enumerate(r) for j, b in enumerate(r) if i != j] for r in twice]
    observed = sum(sum(p) / len(p) for p in pairs) / len(pairs)
    share = [sum(row.count(c) / len(row) for row in given) / len(given) for c in range(3)]
    chance = sum(s * (1 - s) for s in share) / 2
    assert ours == pytest.approx((observed - chance) / (1 - chance), abs=1e-9)


@given(st.lists(st.lists(st.integers(NOTHING, 2), min_size=3, max_size=3), min_size=1, max_size=15))
def test_all_coefficients_by_their_definitions(rated: list[list[int]]) -> None:
    """A second method, verdicts missing: every pair of judges and of values is looked at."""
    ours = measured(rated, 3)
    said = [[v for v in row if v != NOTHING] for row in rated]
    twice = [row for row in said if len(row) > 1]

    def unequal(row: list[int]) -> list[int]:
        return [int(a != b) for i, a in enumerate(row) for j, b in enumerate(row) if i != j]

    shares = [1 - sum(unequal(row)) / len(unequal(row)) for row in twice]
    percent = sum(shares) / len(shares) if shares else math.nan
    assert ours["percent"] == pytest.approx(percent, abs=1e-9, nan_ok=True)

    # Krippendorff (2011): what is observed within items against all pairs of values.
    values = [v for row in twice for v in row]
    observed = sum(sum(unequal(row)) / (len(row) - 1) for row in twice) / max(1, len(values))
    by_chance = sum(unequal(values)) / max(1, len(values) * (len(values) - 1))
    alpha = 1 - observed / by_chance if by_chance else math.nan
    assert ours["krippendorff"] == pytest.approx(alpha, abs=1e-9, nan_ok=True)

    # Fleiss (1971), of the items that have all verdicts.
    full = [row for row in said if len(row) == 3]
    used = [sum(row.count(c) for row in full) / (3 * len(full)) for c in range(3)] if full else []
    expected = sum(share**2 for share in used)
    agreeing = [1 - sum(unequal(row)) / 6 for row in full]
    fleiss = math.nan
    if full and expected < 1 - 1e-12:
        fleiss = (sum(agreeing) / len(full) - expected) / (1 - expected)
    assert ours["fleiss"] == pytest.approx(fleiss, abs=1e-9, nan_ok=True)

    # Cohen (1960) for each pair of judges; Light's kappa is the mean of those that are defined.
    kappas = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        both = [(row[a], row[b]) for row in rated if NOTHING not in (row[a], row[b])]
        chance = sum(sum(x == c for x, _ in both) * sum(y == c for _, y in both) for c in range(3))
        if both and chance < len(both) ** 2:
            p_e = chance / len(both) ** 2
            kappas.append((sum(x == y for x, y in both) / len(both) - p_e) / (1 - p_e))
    light = sum(kappas) / len(kappas) if kappas else math.nan
    assert ours["cohen"] == pytest.approx(light, abs=1e-9, nan_ok=True)


def test_an_interval_that_cannot_be_or_is_less_sure_says_so() -> None:
    one = agreement(np.array([[1, 0, 1]]), ("a", "b", "c"), YES_NO)
    assert one["percent"].value == pytest.approx(1 / 3)
    assert math.isnan(one["percent"].interval[0])
    assert one["percent"].why == "too few items for an interval"
    # Five of five: Wilson's lower bound is 5 / (5 + 1.96^2), and nothing else can be told.
    same = agreement(np.array([[1, 1, 1]] * 3 + [[0, 0, 0]] * 2), ("a", "b", "c"), YES_NO)
    assert same["percent"].interval == pytest.approx((5 / (5 + 1.959963984540054**2), 1.0))
    for name in ("cohen", "fleiss", "krippendorff", "gwet"):
        assert same[name].value == pytest.approx(1.0)
        assert math.isnan(same[name].interval[0])
        assert same[name].why == "no disagreement was seen; see the share's interval"
    # Ten of twelve items are yes for both: (10/12)^12 = 0.112 of the resamples hold nothing else.
    some = [[1, 1]] * 10 + [[0, 0], [1, 0]]
    rare = agreement(np.array(some), ("a", "b"), YES_NO, resamples=4000)
    assert rare["percent"].why == ""
    share = int(rare["cohen"].why.split(" %")[0].rpartition(" ")[2])
    assert share == pytest.approx(11, abs=2)
    assert "which the interval leaves out" in rare["cohen"].why


def test_items_that_are_all_alike_tell_nothing_of_others() -> None:
    """Two who never agree, five times: every resample says the same, and is sure of nothing."""
    found = agreement(np.array([[0, 1]] * 5), ("a", "b"), YES_NO)
    assert found["percent"].interval[1] > 0.4
    for name, value in (("cohen", 0.0), ("fleiss", -1.0), ("krippendorff", -0.8), ("gwet", -1.0)):
        assert found[name].value == pytest.approx(value)
        assert math.isnan(found[name].interval[0])
        assert found[name].why == "no interval: all items are alike, so that resamples are, too"


def test_more_than_two_judges_have_the_mean_kappa_of_pairs() -> None:
    rng = np.random.default_rng(1)
    matrix = rng.integers(0, 2, (50, 3))
    found = agreement(matrix, ("a", "b", "c"), YES_NO)
    assert len(found.pairs) == 3
    assert found["cohen"].value == pytest.approx(np.mean([p.cohen for p in found.pairs]))
    assert found.pairs[0].table.keys() == {"no/no", "no/yes", "yes/no", "yes/yes"}


# -- published verdicts ---------------------------------------------------------------------------


def codes(column: list[str]) -> list[int]:
    return [NOTHING if cell == "" else int(cell == "y") for cell in column]


@pytest.mark.parametrize("question", ["command", "template"])
def test_published_agreement(question: str) -> None:
    case = ORACLES / "agreement-dev"
    if not case.is_dir():
        pytest.skip(f"{case} is not there: the verdicts of others are not kept in this project")
    expected = json.loads((case / "expected.json").read_text())["expected"][question]
    with (case / "annotators.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    columns = {c: codes([row[f"{question}_{c}"] for row in rows]) for c in ("A", "B", "C")}
    two = agreement(np.array([columns["A"], columns["B"]]).T, ("A", "B"), YES_NO)
    assert two.items == expected["items"]
    assert two["percent"].value == pytest.approx(expected["raw_agreement_AB"], abs=1e-9)
    assert two["cohen"].value == pytest.approx(expected["cohen_kappa_AB"], abs=1e-9)
    assert two["fleiss"].value == pytest.approx(expected["fleiss_kappa_AB"], abs=1e-9)
    alpha = expected["krippendorff_alpha_nominal_AB"]
    assert two["krippendorff"].value == pytest.approx(alpha, abs=1e-9)
    assert round(two["gwet"].value, 5) == expected["gwet_ac1_AB_rounded5"]
    table = {
        k.replace("yes", "y").replace("no", "n").replace("/", ""): v
        for k, v in two.pairs[0].table.items()
    }
    assert table == expected["table_AB"]
    for coefficient in two.coefficients:
        low, high = coefficient.interval
        assert low < coefficient.value < high
        assert high - low < 0.1
    three = agreement(np.array(list(columns.values())).T, ("A", "B", "C"), YES_NO)
    alpha = expected["krippendorff_alpha_nominal_ABC_missing"]
    assert three["krippendorff"].value == pytest.approx(alpha, abs=1e-9)


@pytest.mark.slow
def test_intervals_hold_the_true_value_as_often_as_they_say() -> None:
    """Two judges who each get the truth right with probability 0.85; 150 items; 400 studies."""
    rng = np.random.default_rng(5)

    def study(n: int) -> Ratings:
        truth = rng.random((n, 1)) < 0.6
        return np.where(rng.random((n, 2)) < 0.85, truth, ~truth).astype(np.int64)

    true = {
        c.name: c.value
        for c in agreement(study(1_000_000), ("a", "b"), YES_NO, resamples=2).coefficients
    }
    inside = dict.fromkeys(true, 0)
    studies = 400
    for seed in range(studies):
        found = agreement(study(150), ("a", "b"), YES_NO, resamples=400, seed=seed)
        for c in found.coefficients:
            inside[c.name] += c.interval[0] <= true[c.name] <= c.interval[1]
    # 95 % of 400 within three standard errors.
    assert all(0.917 <= hits / studies <= 0.983 for hits in inside.values()), inside

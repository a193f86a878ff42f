# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import metrics
from assay.core.batch import Batch, Pair
from assay.core.errors import UsageError
from assay.core.metric import Totals
from assay.metrics.chrf import Chrf

CASES = [
    # name, options, prediction, references, then predicted, gold, matched of each order
    ("right", {}, "abc", ["abc"], [3, 3, 3, 2, 2, 2]),
    ("one letter replaced", {}, "abc", ["abd"], [3, 3, 2, 2, 2, 1]),
    ("repeats count as often as gold has them", {}, "aaa", ["aab"], [3, 3, 2, 2, 2, 1]),
    ("white space is no character", {}, "a b", ["ab"], [2, 2, 2, 1, 1, 1]),
    ("unless it is wanted", {"whitespace": True}, "a b", ["ab"], [3, 2, 2, 2, 1, 0]),
    ("case counts", {}, "AB", ["ab"], [2, 2, 0, 1, 1, 0]),
    ("unless it must not", {"lowercase": True}, "AB", ["ab"], [2, 2, 2, 1, 1, 1]),
    ("gold too short for an order", {}, "ab", ["a"], [2, 1, 1, 0, 0, 0]),
    ("prediction too short for an order", {}, "a", ["ab"], [1, 2, 1, 0, 1, 0]),
    ("the best of several references", {}, "abc", ["xyz", "abd", "abx"], [3, 3, 2, 2, 2, 1]),
    ("nothing predicted", {}, "", ["ab"], [0, 2, 0, 0, 1, 0]),
    ("no gold", {}, "ab", [""], [0, 0, 0, 0, 0, 0]),
    ("no reference at all", {}, "ab", [], [0, 0, 0, 0, 0, 0]),
    ("beyond the basic plane", {}, "😀a😀", ["😀a"], [3, 2, 2, 2, 1, 1]),
    # Words: prediction "Yes" "," "sir", gold "Yes" "sir" ".".
    ("words", {"word_order": 2}, "Yes, sir", ["Yes sir."], [7, 7, 6, 6, 6, 4, 3, 3, 2, 2, 2, 0]),
    # Only one mark is cut off: "(" "a)" would be the other way round.
    ("marks at both ends", {"word_order": 1}, "(a)", ["(a )"], [3, 3, 3, 2, 2, 2, 2, 3, 1]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "options", "prediction", "references", "row"), CASES, ids=[c[0] for c in CASES]
)
def test_rows(
    name: str, options: dict[str, Any], prediction: str, references: list[str], row: list[int]
) -> None:
    rows = Chrf(char_order=2, **options).measure(Batch([prediction], [references]))
    assert rows.tolist() == [row]


def test_score_by_hand() -> None:
    # Precision and recall: (2/3 + 1/2) / 2 = 7/12 each, so F is that for any beta.
    for beta in (1, 2, 3):
        found = Chrf(char_order=2, beta=beta).score([("abc", "abd")])["chrf"]
        assert found == pytest.approx(100 * 7 / 12, rel=1e-12)


def test_recall_weighs_more_by_hand() -> None:
    # "ab" against "abcd": precision 1, recall 2/4. F2 = 5 x 1 x 0.5 / (4 x 1 + 0.5) = 5/9.
    assert Chrf(char_order=1).score([("ab", "abcd")])["chrf"] == pytest.approx(100 * 5 / 9)


def test_eps_smoothing_by_hand() -> None:
    # Order 1 gives F = 1, order 2 has no n-grams at all and counts as (nearly) 0.
    metric = Chrf(char_order=2, eps_smoothing=True)
    assert metric.score([("a", "a")])["chrf"] == pytest.approx(50.0)
    assert Chrf(char_order=2).score([("a", "a")])["chrf"] == 100


def test_a_missing_prediction_is_an_empty_one() -> None:
    given = [Pair("abcdefg", "abcdefg"), Pair("", "xyz", missing=True)]
    assert Chrf().score(given) == Chrf().score([("abcdefg", "abcdefg"), ("", "xyz")])
    assert 0 < Chrf().score(given)["chrf"] < 100


def test_no_examples_score_nothing() -> None:
    assert Chrf().measure(Batch([], [])).shape == (0, 18)
    assert Chrf().score([]) == {"chrf": 0.0}


def test_resamples_are_scored_at_once() -> None:
    for metric in (Chrf(), Chrf(eps_smoothing=True)):
        rows = metric.measure(Batch(["the cat", "a"], [["the mat"], ["b"]]))
        many = np.stack([rows.sum(axis=0), rows[0], rows[1], 0 * rows[0]])
        at_once = metric.finalise(Totals(metric.columns, many))["chrf"]
        alone = [float(metric.finalise(Totals(metric.columns, row))["chrf"]) for row in many]
        assert at_once.tolist() == alone


visible = st.text(st.characters(categories=["L", "N", "P", "S"]), min_size=1, max_size=15)


@given(st.lists(visible, min_size=1, max_size=5), st.sampled_from([0, 2]))
def test_gold_as_prediction_is_perfect(gold: list[str], word_order: int) -> None:
    metric = Chrf(word_order=word_order)
    rows = metric.measure(Batch(gold, [["something else", g] for g in gold]))
    assert metric.finalise(Totals(metric.columns, rows.sum(axis=0)))["chrf"] == 100
    assert (metric.per_example(rows)["chrf"] == 100).all()


pairs_of_text = st.tuples(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=3))


@given(st.lists(pairs_of_text, max_size=6), st.data())
def test_rows_depend_on_their_example_alone(
    pairs: list[tuple[str, list[str]]], data: st.DataObject
) -> None:
    metric = Chrf(word_order=2)
    rows = metric.measure(Batch([p for p, _ in pairs], [g for _, g in pairs]))
    order = data.draw(st.permutations(range(len(pairs))))
    moved = metric.measure(Batch([pairs[i][0] for i in order], [pairs[i][1] for i in order]))
    assert moved.tolist() == rows[list(order)].tolist()
    for i, (prediction, gold) in enumerate(pairs):
        assert metric.measure(Batch([prediction], [gold])).tolist() == [rows[i].tolist()]


def test_more_characters_than_packing_can_number() -> None:
    # Six of more than 1,024 different characters do not fit into one integer beside the rest.
    many = "".join(chr(0x4E00 + k) for k in range(20_000))
    rows = Chrf().measure(Batch(["ab", many, "cd"], ["ab", many[:-1], "ce"]))
    expected = [[n, n - 1, n - 1] for n in range(20_000, 19_994, -1)]
    assert rows[1].tolist() == [float(x) for order in expected for x in order]
    assert rows[0, :6].tolist() == [2, 2, 2, 1, 1, 1]
    assert rows[2, :6].tolist() == [2, 2, 1, 1, 1, 0]


def test_a_huge_line_among_small_ones() -> None:
    size = 300_000
    rows = Chrf().measure(Batch(["ab", "ab" * size, "cd"], ["ab", "ab" * size, "ce"]))
    assert rows[1].tolist() == [float(2 * size - k) for k in range(6) for _ in range(3)]
    assert rows[2, :6].tolist() == [2, 2, 1, 1, 1, 0]


def test_names_texts_and_pickle() -> None:
    assert metrics.load("chrf++") == metrics.load("chrFpp") == Chrf(word_order=2)
    assert metrics.load("chrf++").text == "chrf(word_order=2)"
    metric = Chrf(char_order=4, beta=3.0, whitespace=True)
    assert metrics.load(metric.text) == metric
    assert pickle.loads(pickle.dumps(metric)) == metric


WRONG = [
    ("chrf(char_order=0)", "char_order=0 of chrf must be at least 1"),
    ("chrf(word_order=-1)", "word_order=-1 of chrf must not be negative"),
    ("chrf(char_order=99999999)", "order 99,999,999 of chrf must be at most 100"),
    ("chrf(word_order=101)", "order 101 of chrf must be at most 100"),
    ("chrf(beta=-1)", "beta=-1.0 of chrf must be at least 0, and below 1,000,000"),
    ("chrf(beta=inf)", "beta=inf of chrf must be at least 0, and below 1,000,000"),
    ("chrf(beta=1e200)", "beta=1e+200 of chrf must be at least 0, and below"),
    ("chrf(beta=2,beta=3)", "beta twice in 'chrf(beta=2,beta=3)'; give it once"),
    ("chrf(beta=x)", "beta=x of chrf must be a number"),
    ("chrff", "unknown metric 'chrff'; did you mean 'chrf'?"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong_parameters_are_named(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        metrics.load(text)
    assert str(error.value).startswith(message)

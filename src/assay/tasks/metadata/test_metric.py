# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import isnan, nan
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.tasks.metadata import TASK
from assay.tasks.metadata.match import Match
from assay.tasks.metadata.metric import FieldMetric, join_names, split_names
from assay.tasks.metadata.reference import half_up, java_number

CASES = [
    # name                   predicted     gold          set           multiset      reference
    ("all right", "AB", "AB", (1.0, 1.0), (1.0, 1.0), (1.0, 1.0)),
    ("half right", "AX", "AB", (0.5, 0.5), (0.5, 0.5), (0.5, 0.5)),
    ("nothing predicted", "", "AB", (nan, 0.0), (nan, 0.0), (nan, 0.0)),
    ("nothing to find", "AB", "", (0.0, nan), (0.0, nan), (0.0, nan)),
    ("neither", "", "", (nan, nan), (nan, nan), (nan, nan)),
    # One gold A, predicted twice: every repeat is a hit by the old counting, 2 / 1.
    ("a repeat predicted", "AA", "A", (1.0, 1.0), (0.5, 1.0), (1.0, 2.0)),
    ("a repeat in gold", "A", "AAB", (1.0, 0.5), (1.0, 1 / 3), (1.0, 1 / 3)),
    ("repeats on both sides", "AAB", "AAC", (0.5, 0.5), (2 / 3, 2 / 3), (2 / 3, 2 / 3)),
]


@pytest.mark.parametrize("counting", ["set", "multiset", "reference"])
@pytest.mark.parametrize("case", CASES, ids=[c[0] for c in CASES])
def test_precision_and_recall_of_one_paper(case: Any, counting: str) -> None:
    _, ours, theirs, *wanted = case
    precision, recall = wanted[["set", "multiset", "reference"].index(counting)]
    metric = FieldMetric("x", counting)
    found = metric.score([({"x": list(ours)}, {"x": list(theirs)})])
    assert found["x.precision"] == pytest.approx(precision, nan_ok=True)
    assert found["x.recall"] == pytest.approx(recall, nan_ok=True)


def test_means_over_papers_and_over_values() -> None:
    # Paper 1: 1 of 1 right, 1 of 2 found. Paper 2: 1 of 3 right, 1 of 1 found. Paper 3: 0 of 1.
    pairs = [("A", "AB"), ("AXY", "A"), ("", "Z")]
    found = FieldMetric("x").score([({"x": list(p)}, {"x": list(g)}) for p, g in pairs])
    assert found["x.precision"] == pytest.approx((1 + 1 / 3) / 2)
    assert found["x.recall"] == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert found["x.micro_precision"] == pytest.approx(2 / 4)
    assert found["x.micro_recall"] == pytest.approx(2 / 4)
    assert found["papers_right"] == 0.0


def test_over_fields() -> None:
    metric = FieldMetric("a+b")
    found = metric.score(
        [({"a": ["1"], "b": ["2"]}, {"a": ["1"], "b": ["3"]}), ({"a": ["4"]}, {"a": ["4"]})]
    )
    assert found["macro_f1"] == pytest.approx((1.0 + 0.0) / 2)
    assert found["micro_precision"] == pytest.approx(2 / 3)
    assert found["papers_right"] == pytest.approx(1 / 2)


papers = st.fixed_dictionaries({}, optional={"x": st.lists(st.sampled_from("ABC"), max_size=4)})


def plain(pairs: list[tuple[Any, Any]], counting: str) -> tuple[float, float]:
    """The definition, paper by paper."""
    precisions, recalls = [], []
    for prediction, gold in pairs:
        ours, theirs = prediction.get("x", []), gold.get("x", [])
        if counting == "set":
            ours, theirs = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
        hits = sum(p in theirs for p in ours)
        if counting == "multiset":
            hits = sum(min(ours.count(v), theirs.count(v)) for v in set(ours))
        if ours:
            precisions.append(hits / len(ours))
        if theirs:
            recalls.append(hits / len(theirs))
    return tuple(sum(v) / len(v) if v else nan for v in (precisions, recalls))  # type: ignore[return-value]  # two of them


@pytest.mark.parametrize("counting", ["set", "multiset", "reference"])
@given(pairs=st.lists(st.tuples(papers, papers), max_size=6))
def test_the_kernel_equals_the_definition(counting: str, pairs: list[tuple[Any, Any]]) -> None:
    found = FieldMetric("x", counting).score(pairs)
    precision, recall = plain(pairs, counting)
    assert found["x.precision"] == pytest.approx(precision, nan_ok=True)
    assert found["x.recall"] == pytest.approx(recall, nan_ok=True)


@given(st.lists(st.text(max_size=6), min_size=1, max_size=4, unique=True))
def test_any_field_names_parse_back(names: list[str]) -> None:
    assert split_names(join_names(names)) == tuple(names)
    metric = FieldMetric(join_names(names), "multiset")
    assert TASK.metric(metric.text) == metric


RULES = [
    # rule                              predicted              gold                     hits, predicted, gold
    ("exact", ["A", "b"], ["A", "B"], (1, 2, 2)),
    ("title", ["On Lists!"], ["on lists"], (1, 1, 1)),
    ("lastname", ["A. Lee", "Wu, Bo"], ["Ann Lee", "B. Wu"], (2, 2, 2)),
    ("lastname-initial", ["A. Lee", "C. Wu"], ["Ann Lee", "Bo Wu"], (1, 2, 2)),
    ("soft", ["Semi supervised, a Survey"], ["Semi-Supervised: A Survey"], (1, 1, 1)),
    ("strict", [" ON  Lists"], ["on lists"], (1, 1, 1)),
    ("strict", ["x"], ["y"], (0, 1, 1)),
    ("strict", [], ["y"], (0, 0, 1)),
    ("levenshtein", ["abcdX"], ["abcde"], (1, 1, 1)),
    ("levenshtein@0.9", ["abcdX"], ["abcde"], (0, 1, 1)),
    ("ratcliff_obershelp", ["a" * 19 + "b"], ["a" * 20], (1, 1, 1)),
    ("list:exact", ["A", "B"], ["B", "A"], (0, 1, 1)),
    ("ulist:exact", ["A", "B"], ["B", "A"], (1, 1, 1)),
    ("ulist:exact", ["A", "A", "B"], ["B", "A"], (0, 1, 1)),
    ("set:exact", ["A", "A", "B"], ["B", "A"], (1, 1, 1)),
    ("first:lastname", ["A. Lee", "Q"], ["Ann Lee", "Bo Wu"], (1, 1, 1)),
    ("string:exact", ["A", "B"], ["A B"], (1, 1, 1)),
    # A longest common subsequence: B and C in order, A out of it.
    ("partial_list:exact", ["B", "C", "A"], ["A", "B", "C"], (2, 3, 3)),
    ("partial_ulist:exact", ["A", "A", "B"], ["A", "B", "C"], (2, 3, 3)),
    ("partial_set:exact", ["A", "A", "B"], ["A", "B", "C"], (2, 2, 3)),
    # abcdX is like both gold values, abcdY like the first only: pairing both takes the second for X.
    ("partial_ulist:levenshtein", ["abcdX", "abcdY"], ["abcdY", "abcdX"], (2, 2, 2)),
]


@pytest.mark.parametrize(("rule", "ours", "theirs", "wanted"), RULES)
def test_rules(rule: str, ours: list[str], theirs: list[str], wanted: tuple[int, int, int]) -> None:
    assert Match.parse(rule).tally(ours, theirs, "set") == wanted


def test_one_to_one_pairing_finds_the_most_pairs() -> None:
    rule = Match.parse("partial_ulist:levenshtein@0.5")
    # "ab" is like both, "ax" only like "ab": the greedy choice would leave one alone.
    assert rule.pairing(["ab", "ax"], ["ab", "cb"]) == [1, 0]


def test_a_chain_of_moves_longer_than_any_recursion() -> None:
    # Each takes its right neighbour first; the last one wants what is taken, so that all move.
    n = 5_000
    near = [[i + 1, i] for i in range(n)] + [[n]]
    taken: dict[int, int] = {}
    partner: dict[int, int] = {}
    for i in range(n + 1):
        Match._place(i, near, taken, partner)
    assert partner == {i: i for i in range(n + 1)}


@pytest.mark.parametrize(
    ("given_as", "rule"),
    [
        ("Ratcliff-Obershelp", "string:ratcliff_obershelp"),
        ("partial-ulist:lastname_initial", "partial_ulist:lastname-initial"),
        ("last-name", "values:lastname"),
        ("Partial_Set", "partial_set:exact"),
    ],
)
def test_rules_may_be_spelled_with_hyphens_or_underscores(given_as: str, rule: str) -> None:
    assert str(Match.parse(given_as)) == rule


@pytest.mark.parametrize(
    "rule", ["sotf", "bag:soft", "exact@0.5", "levenshtein@2", "levenshtein@x"]
)
def test_rules_that_do_not_exist_are_refused(rule: str) -> None:
    with pytest.raises(UsageError):
        Match.parse(rule)


@pytest.mark.parametrize(
    ("value", "java", "shown"),
    [
        (1.0, "1.0", "1.000"),
        (0.0005, "5.0E-4", "0.001"),
        (0.1025, "0.1025", "0.103"),
        (1e7, "1.0E7", "10000000.000"),
        (nan, "", ""),
    ],
)
def test_numbers_as_the_old_program_writes_them(value: float, java: str, shown: str) -> None:
    assert java_number(value) == java
    assert half_up(value) == shown


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_numbers_read_back(value: float) -> None:
    assert float(java_number(value)) == value
    assert not isnan(value)

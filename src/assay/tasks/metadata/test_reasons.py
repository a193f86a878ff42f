# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.tasks.metadata.curve import Point, Scored, average_precision, best_f1, scan
from assay.tasks.metadata.match import Match
from assay.tasks.metadata.metric import FieldMetric
from assay.tasks.metadata.reasons import difference, failures

DIFFERENCES = [
    ("On  Lists", "On Lists", "blanks"),
    ("on lists", "On Lists", "case"),
    ("Zoe Adler", "Zoë Adler", "accents"),
    ("On Lists.", "On Lists", "punctuation"),
    ("Semi supervised", "Semisupervised", "punctuation"),
    ("Lee, Ann", "Ann Lee", "order of words"),
    ("A. Lee", "Ann Lee", "first or middle names"),
    ("Ann B. Lee", "Ann Lee", "first or middle names"),
    ("Bo Lee", "Ann Lee", "first name"),
    ("Lists", "On Lists and Trees", "cut off"),
    ("On Lists and Trees by A. Lee, Springer", "On Lists and Trees", "too long"),
    ("On the Lusts of Trees", "On the Lists of Trees", "spelling"),
    ("Abstract", "On Lists", "another value"),
]


@pytest.mark.parametrize(("prediction", "gold", "why"), DIFFERENCES)
def test_in_what_two_values_differ(prediction: str, gold: str, why: str) -> None:
    assert difference(prediction, gold) == why


FAILURES = [
    # rule, predicted, gold, what is told
    ("exact", ["A"], ["A"], []),
    (
        "exact",
        ["Ann Lee", "Bo Wu"],
        ["Bo Wu", "A. Lee", "Cy Ng"],
        [("Ann Lee", "A. Lee"), (None, "Cy Ng")],
    ),
    ("exact", [], ["A"], [(None, "A")]),
    ("soft", ["x"], ["y"], [("x", "y")]),
    ("list:exact", ["A", "B"], ["B", "A"], [("A; B", "B; A")]),
    ("partial_list:exact", ["A", "B"], ["B", "A"], [("A; B", "B; A")]),
]


@pytest.mark.parametrize(("rule", "ours", "theirs", "told"), FAILURES)
def test_what_failed(
    rule: str, ours: list[str], theirs: list[str], told: list[tuple[str | None, str | None]]
) -> None:
    found = failures("x", ours, theirs, Match.parse(rule), "set")
    assert [(f.prediction, f.gold) for f in found] == told


def test_repeats_beyond_gold_are_told() -> None:
    (found,) = failures("x", ["A", "A"], ["A"], Match(), "multiset")
    assert found.why == "repeats"


def test_curves_where_there_is_nothing() -> None:
    nothing = scan({"p": ["A"]}, [])
    assert nothing[0][::2] == (0.0, 0.0)
    assert math.isnan(nothing[0].precision)
    assert average_precision(nothing) == 0.0
    assert best_f1(nothing) is None
    no_gold = scan({"p": []}, [Scored("p", "A", 0.7)])
    assert no_gold[0][:2] == (0.7, 0.0)
    assert math.isnan(average_precision(no_gold))
    neither = scan({}, [])
    assert neither[0].threshold == 0.0
    assert math.isnan(neither[0].recall)


items = st.lists(
    st.builds(
        Scored, st.sampled_from("pqr"), st.sampled_from("ABC"), st.sampled_from([0.2, 0.5, 0.9])
    ),
    max_size=9,
)
golds = st.dictionaries(st.sampled_from("pqs"), st.lists(st.sampled_from("ABC"), max_size=3))


@pytest.mark.parametrize("counting", ["set", "multiset", "reference"])
@given(gold=golds, scored=items)
def test_the_last_point_is_the_plain_score(
    counting: str, gold: dict[str, list[str]], scored: list[Scored]
) -> None:
    points = scan(gold, scored, counting)
    if not scored or not any(gold.values()):
        return
    papers = {i: [s.value for s in scored if s.id == i] for i in {*gold, *(s.id for s in scored)}}
    found = FieldMetric("x", counting).score(
        [({"x": values}, {"x": gold.get(i, [])}) for i, values in papers.items()]
    )
    assert points[-1].precision == pytest.approx(found["x.precision"])
    assert points[-1].recall == pytest.approx(found["x.recall"])
    assert all(a.recall <= b.recall + 1e-12 for a, b in pairwise(points))
    assert [p.threshold for p in points] == sorted({s.confidence for s in scored}, reverse=True)


def test_the_best_threshold_of_equal_ones_is_the_highest() -> None:
    assert best_f1([Point(0.9, 0.5, 0.5), Point(0.2, 0.5, 0.5)]) == Point(0.9, 0.5, 0.5)

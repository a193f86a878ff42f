# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from math import nan
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import MismatchError, UsageError
from assay.pipeline.diff import Diff, diff, kind_of
from assay.pipeline.evaluate import evaluate
from assay.pipeline.result import Result
from assay.report.json import schema

GOLD = ["a", "b", "c", "d", "e f g h"]
BEFORE = ["a", "x", "x", "d", "e f g x"]
AFTER = ["x", "b", "y", "d", "e f g h"]

KINDS = [
    # name                       before  after  higher  differs  least  kind       gain
    ("wrong to right", 0.0, 1.0, True, True, 0.0, "fixed", 1.0),
    ("right to wrong", 1.0, 0.0, True, True, 0.0, "broken", -1.0),
    ("lower is better", 0.3, 0.2, False, True, 0.0, "fixed", 0.1),
    ("lower is better, worse", 20.0, 30.0, False, True, 0.0, "broken", -10.0),
    ("another prediction", 1.0, 1.0, True, True, 0.0, "changed", 0.0),
    ("nothing", 1.0, 1.0, True, False, 0.0, "same", 0.0),
    ("rounding is no change", 0.3, 0.1 + 0.2, True, False, 0.0, "same", 5.6e-17),
    ("at most the least change", 10.0, 10.5, True, True, 0.5, "changed", 0.5),
    ("above the least change", 10.0, 10.6, True, True, 0.5, "fixed", 0.6),
    ("undefined on both sides", nan, nan, True, False, 0.0, "same", nan),
    ("undefined before", nan, 1.0, True, False, 0.0, "changed", nan),
    ("undefined now", 1.0, nan, True, True, 0.0, "changed", nan),
]


def run(
    predictions: Any, system: str, metrics: tuple[str, ...] = ("exact", "ter"), **options: Any
) -> Result:
    return evaluate("text", predictions, GOLD, metrics=metrics, system=system, ci=0, **options)


@pytest.fixture(scope="module")
def both() -> tuple[Result, Result]:
    return run(BEFORE, "before"), run(AFTER, "after")


@pytest.mark.parametrize(
    ("before", "after", "higher", "differs", "least", "kind", "gain"),
    [k[1:] for k in KINDS],
    ids=[k[0] for k in KINDS],
)
def test_kinds(
    before: float, after: float, higher: bool, differs: bool, least: float, kind: str, gain: float
) -> None:
    found, by = kind_of(before, after, higher_is_better=higher, differs=differs, min_change=least)
    assert found == kind
    assert by == pytest.approx(gain, nan_ok=True)


@given(st.floats(0, 100), st.floats(0, 100), st.booleans())
def test_turned_around_fixed_is_broken(before: float, after: float, higher: bool) -> None:
    there, gain = kind_of(before, after, higher_is_better=higher, differs=True)
    back, loss = kind_of(after, before, higher_is_better=higher, differs=True)
    assert {"fixed": "broken", "broken": "fixed", "changed": "changed"}[there] == back
    assert gain == -loss


def test_by_a_right_wrong_score(both: tuple[Result, Result]) -> None:
    found = diff(*both, limit=None)
    assert found.document.right_wrong
    # 1 is right, then wrong; 2 and 5 wrong, then right; 3 wrong in another way; 4 is untouched.
    assert [(e.id, e.change) for e in found.examples] == [
        ("1", "broken"),
        ("2", "fixed"),
        ("5", "fixed"),
        ("3", "changed"),
    ]
    assert found.counts.n == 5
    assert found.counts.same == 1
    assert (found.document.baseline_score, found.document.system_score) == (0.4, 0.6)


def test_by_a_graded_score_where_lower_is_better(both: tuple[Result, Result]) -> None:
    found = diff(*both, metric="ter", limit=None)
    # Edits over words of gold: a 0 -> 100, b 100 -> 0, e 25 -> 0 of 100.
    assert not found.document.right_wrong
    assert [(e.id, e.change, e.gain) for e in found.examples[:3]] == [
        ("1", "broken", -100.0),
        ("2", "fixed", 100.0),
        ("5", "fixed", 25.0),
    ]
    assert diff(*both, metric="ter", min_change=25).counts.fixed == 1


def test_which_examples_are_listed(both: tuple[Result, Result]) -> None:
    assert [e.id for e in diff(*both, only=["same"]).examples] == ["4"]
    assert [e.id for e in diff(*both, limit=1).examples] == ["1"]
    none = diff(*both, limit=0)
    assert none.examples == ()
    assert none.document.selected == 4
    assert none.counts == diff(*both).counts


def test_a_run_against_itself_has_nothing_to_list(both: tuple[Result, Result]) -> None:
    found = diff(both[0], both[0])
    assert found.counts.same == 5
    assert found.examples == ()


def test_candidates_and_missing_predictions() -> None:
    gold = [{"id": str(i), "gold": "a"} for i in range(3)]
    first = [{"id": "0", "prediction": ["a", "b"]}, {"id": "1", "prediction": "a"}]
    second = [{"id": "0", "prediction": ["a", "c"]}, {"id": "2", "prediction": "a"}]
    runs = [
        evaluate("text", p, gold, metrics=["exact"], system=s, missing="wrong", ci=0)
        for p, s in ((first, "A"), (second, "B"))
    ]
    found = {e.id: e for e in diff(*runs).examples}
    assert {i: e.change for i, e in found.items()} == {"0": "changed", "1": "broken", "2": "fixed"}
    assert found["0"].system_prediction == ["a", "c"]
    assert found["1"].system_prediction is None
    assert "(missing)" in str(diff(*runs))


def test_counts_by_slice_add_up() -> None:
    rows = [
        {"prediction": p, "gold": g, "part": str(i % 2)}
        for i, (p, g) in enumerate(zip(BEFORE, GOLD, strict=True))
    ]
    again = [{**row, "prediction": p} for row, p in zip(rows, AFTER, strict=True)]
    runs = [
        evaluate("text", r, r, metrics=["exact"], system=s, ci=0)
        for r, s in ((rows, "A"), (again, "B"))
    ]
    found = diff(*runs, slices=["part"])
    parts = found.document.slices["part"]
    assert {k: v.n for k, v in parts.items()} == {"0": 3, "1": 2}
    for kind in ("fixed", "broken", "changed", "same"):
        assert sum(getattr(c, kind) for c in parts.values()) == getattr(found.counts, kind)
    with pytest.raises(UsageError, match="unknown column 'parts'; did you mean 'part'"):
        diff(*runs, slices=["parts"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "exakt"}, "did you mean 'exact'"),
        ({"only": ["fixd"]}, "did you mean 'fixed'"),
        ({"limit": -1}, "must not be negative"),
        ({"min_change": -1}, "must be 0 or more"),
        ({"min_change": nan}, "must be 0 or more"),
        ({"min_change": 1}, "hides every change"),
    ],
)
def test_wrong_usage(options: dict[str, Any], message: str, both: tuple[Result, Result]) -> None:
    with pytest.raises(UsageError, match=message):
        diff(*both, **options)


def test_other_gold_is_refused(both: tuple[Result, Result]) -> None:
    other = evaluate("text", GOLD, ["z", *GOLD[1:]], metrics=["exact"], system="other")
    with pytest.raises(MismatchError, match="example 1"):
        diff(both[0], other)


def test_saved_runs_give_the_same_and_the_document_is_valid(
    tmp_path: Path, both: tuple[Result, Result]
) -> None:
    for predictions, name in ((BEFORE, "before"), (AFTER, "after")):
        run(predictions, name, save=tmp_path / name)
    found = diff(tmp_path / "before", tmp_path / "after")
    assert found.to_json() == diff(*both).to_json()
    jsonschema.Draft202012Validator(schema("diff-1")).validate(json.loads(found.to_json()))
    assert isinstance(found, Diff)
    assert "<ins>" in found._repr_html_()


def test_nothing_changed(both: tuple[Result, Result]) -> None:
    assert "No example is" in str(diff(both[0], both[0]))

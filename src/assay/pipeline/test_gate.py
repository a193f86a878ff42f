# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from dataclasses import replace
from math import nan
from typing import Any

import jsonschema
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.comparison import Difference
from assay.core.errors import FindingError, MismatchError, UsageError
from assay.core.gates import Mode
from assay.pipeline.evaluate import evaluate
from assay.pipeline.gate import gate, judged
from assay.pipeline.limits import parse_drops, parse_limits
from assay.pipeline.result import Result
from assay.report.json import schema

N = 40
GOLD = [f"w{i} x y z" for i in range(N)]


def run(n_right: int, system: str, metrics: tuple[str, ...] = ("exact",), **options: Any) -> Result:
    """The first `n_right` of 40 examples right, in two parts of 20."""
    rows = [
        {"prediction": g if i < n_right else "?", "gold": g, "part": "ab"[i % 2]}
        for i, g in enumerate(GOLD)
    ]
    return evaluate("text", rows, rows, metrics=metrics, system=system, **options)


def silent(system: str) -> Result:
    """A run without a single predicted word: its precision is undefined."""
    return evaluate("text", [""], ["a"], metrics=["token_f1"], system=system)


JUDGED = [
    # name                            ours  theirs  interval        p     drop  mode           higher  status     reason
    ("better", 0.6, 0.5, (0.0, 0.2), 0.04, 0.0, "significant", True, "passed", "no loss"),
    ("the same", 0.5, 0.5, (0.0, 0.0), 1.0, 0.0, "significant", True, "passed", "no loss"),
    (
        "worse, significant",
        0.4,
        0.5,
        (-0.2, -0.01),
        0.04,
        0.0,
        "significant",
        True,
        "failed",
        "significant loss",
    ),
    (
        "worse, at alpha",
        0.4,
        0.5,
        (-0.2, -0.01),
        0.05,
        0.0,
        "significant",
        True,
        "failed",
        "significant loss",
    ),
    (
        "worse, maybe chance",
        0.4,
        0.5,
        (-0.2, 0.01),
        0.06,
        0.0,
        "significant",
        True,
        "passed",
        "larger loss not significant",
    ),
    (
        "worse, but allowed",
        0.4,
        0.5,
        (-0.2, -0.01),
        0.001,
        0.1,
        "significant",
        True,
        "passed",
        "loss within the allowed drop",
    ),
    (
        "lower is better: better",
        30.0,
        40.0,
        (-12, -8),
        0.001,
        0.0,
        "significant",
        False,
        "passed",
        "no loss",
    ),
    (
        "lower is better: worse",
        40.0,
        30.0,
        (8, 12),
        0.001,
        5.0,
        "significant",
        False,
        "failed",
        "significant loss",
    ),
    (
        "loss excluded",
        0.5,
        0.5,
        (-0.01, 0.02),
        1.0,
        0.02,
        "noninferior",
        True,
        "passed",
        "larger loss excluded",
    ),
    (
        "bound at the drop",
        0.5,
        0.5,
        (-0.02, 0.02),
        1.0,
        0.02,
        "noninferior",
        True,
        "failed",
        "larger loss not excluded",
    ),
    (
        "better, not sure enough",
        0.6,
        0.5,
        (-0.05, 0.2),
        0.3,
        0.02,
        "noninferior",
        True,
        "failed",
        "larger loss not excluded",
    ),
    (
        "lower is better: excluded",
        31.0,
        30.0,
        (-1, 1.5),
        0.3,
        2.0,
        "noninferior",
        False,
        "passed",
        "larger loss excluded",
    ),
    (
        "lower is better: not",
        31.0,
        30.0,
        (-3, 2.5),
        0.3,
        2.0,
        "noninferior",
        False,
        "failed",
        "larger loss not excluded",
    ),
    (
        "no interval",
        0.5,
        0.5,
        (nan, nan),
        1.0,
        0.02,
        "noninferior",
        True,
        "failed",
        "larger loss not excluded",
    ),
    (
        "undefined now",
        nan,
        0.5,
        (nan, nan),
        nan,
        0.0,
        "significant",
        True,
        "failed",
        "score undefined",
    ),
    (
        "undefined before",
        0.5,
        nan,
        (nan, nan),
        nan,
        0.0,
        "significant",
        True,
        "skipped",
        "nothing to compare",
    ),
]


@pytest.mark.parametrize(
    ("ours", "theirs", "interval", "p", "drop", "mode", "higher", "status", "reason"),
    [j[1:] for j in JUDGED],
    ids=[j[0] for j in JUDGED],
)
def test_judged(
    ours: float,
    theirs: float,
    interval: tuple[float, float],
    p: float,
    drop: float,
    mode: Mode,
    higher: bool,
    status: str,
    reason: str,
) -> None:
    d = Difference(
        "s", "A", "B", ours, theirs, ours - theirs, interval, p, p, "t", "none", "undecided", 9
    )
    assert judged(d, drop, mode, 0.05, higher) == (status, reason)


def test_what_counts_is_the_adjusted_p() -> None:
    d = Difference("s", "A", "B", 0.4, 0.5, -0.1, (-0.2, 0.0), 0.03, 0.06, "t", "holm", "worse", 9)
    assert judged(d, 0.0, "significant", 0.05, True)[0] == "passed"
    proven = replace(d, p_adjusted=0.05)
    assert judged(proven, 0.0, "significant", 0.05, True)[0] == "failed"


def test_a_loss_as_large_as_the_drop_on_paper_is_within_it() -> None:
    # 0.8 - 0.7 is 0.10000000000000009: a little more than 0.1 in binary, and no more on paper.
    loss = 0.7 - 0.8
    assert -loss > 0.1
    d = Difference(
        "s", "A", "B", 0.7, 0.8, loss, (-0.2, -0.01), 0.01, 0.01, "t", "none", "worse", 9
    )
    assert judged(d, 0.1, "significant", 0.05, True) == ("passed", "loss within the allowed drop")
    assert judged(d, 0.0999, "significant", 0.05, True)[0] == "failed"


def test_a_proven_loss_fails_and_its_reverse_passes() -> None:
    good, bad = run(30, "good"), run(20, "bad")
    # 10 examples are right in one only: McNemar's exact p is 2 / 2 ** 10.
    found = gate(bad, baseline=good)
    (check,) = found.document.checks
    assert check.difference is not None
    assert check.difference.p == pytest.approx(2 / 1024)
    assert not found.passed
    with pytest.raises(FindingError, match="bad misses its gate: exact"):
        found.demand()
    better = gate(good, baseline=bad)
    assert better.passed
    better.demand()


def test_the_allowed_drop_in_units_and_in_shares() -> None:
    good, bad = run(30, "good"), run(20, "bad")  # 0.75 and 0.5
    assert gate(bad, baseline=good, max_drop=0.25).passed
    assert not gate(bad, baseline=good, max_drop=0.24).passed
    relative = gate(bad, baseline=good, max_drop="34%")
    assert relative.document.checks[0].limit == pytest.approx(0.34 * 0.75)
    assert relative.passed
    assert not gate(bad, baseline=good, max_drop={"exact": "33%"}).passed


def test_what_may_be_chance_passes_one_mode_and_not_the_other() -> None:
    good, bad = run(30, "good"), run(28, "bad")  # two discordant: p = 0.5
    assert gate(bad, baseline=good).passed
    assert "not proven" in str(gate(bad, baseline=good))
    assert not gate(bad, baseline=good, mode="noninferior", max_drop=0.05).passed
    assert gate(bad, baseline=good, mode="noninferior", max_drop=0.3).passed


@pytest.mark.parametrize("mode", ["significant", "noninferior"])
def test_a_run_passes_against_itself(mode: Mode) -> None:
    one = run(25, "one", ("bleu", "ter", "exact"))
    assert gate(one, baseline=one, mode=mode, max_drop="1%", slices=["part"]).passed


def test_equal_scores_on_few_examples_exclude_no_loss() -> None:
    # 40 examples right and wrong alike, by other words: up to 3.8415 / (40 + 3.8415) = 0.0876 of
    # such examples may still be lost.
    one = run(25, "one")
    others = [g if i < 25 else "!" for i, g in enumerate(GOLD)]
    rows = [
        {"prediction": p, "gold": g, "part": "ab"[i % 2]}
        for i, (p, g) in enumerate(zip(others, GOLD, strict=True))
    ]
    other = evaluate("text", rows, rows, metrics=["exact"], system="other")
    (check,) = gate(other, baseline=one, mode="noninferior", max_drop=0.08).document.checks
    assert (check.status, check.reason) == ("failed", "larger loss not excluded")
    assert check.difference is not None
    assert check.difference.interval == pytest.approx((-0.08762, 0.08762), abs=1e-5)
    assert check.difference.interval_method == "tango"
    assert gate(other, baseline=one, mode="noninferior", max_drop=0.09).passed


def test_scores_are_corrected_together_and_slices_by_column() -> None:
    good, bad = run(30, "good", ("exact", "token_f1")), run(24, "bad", ("exact", "token_f1"))
    found = gate(bad, baseline=good, slices=["part"], trials=200).document
    whole = [c.difference for c in found.checks if c.slice is None and c.difference]
    assert {d.correction for d in whole} == {"holm"}
    exact = next(d for d in whole if d.key == "exact")
    # Six discordant: p = 2 / 2 ** 6. The others of the four scores are as small or larger.
    assert exact.p == pytest.approx(2 / 64)
    assert exact.p_adjusted >= exact.p
    parts = [c for c in found.checks if c.slice]
    assert {c.slice for c in parts} == {("part", "a"), ("part", "b")}
    assert {c.difference.correction for c in parts if c.difference} == {"benjamini-hochberg"}
    alone = gate(bad, baseline=good, metrics=["exact"]).document.checks
    assert [c.key for c in alone] == ["exact"]
    assert alone[0].difference is not None
    assert alone[0].difference.p_adjusted == alone[0].difference.p


def test_limits_without_a_baseline() -> None:
    one = run(30, "one", ("exact", "ter"))
    found = gate(one, minimum={"exact": 0.75}, maximum={"ter": 10})
    assert [(c.rule, c.status) for c in found.document.checks] == [
        ("min", "passed"),
        ("max", "failed"),
    ]
    assert found.document.baseline is None
    assert not found.passed


def test_an_undefined_score_keeps_no_limit() -> None:
    assert not gate(silent("empty"), minimum={"token_precision": 0.0}).passed


def test_keys_with_parameters() -> None:
    pair = ("bleu", "bleu(tokenize=char)")
    good, bad = run(30, "good", pair), run(10, "bad", pair)
    found = gate(
        bad, baseline=good, metrics=["bleu(tokenize=char)"], max_drop=["bleu(tokenize=char)=1"]
    )
    assert [(c.key, c.limit) for c in found.document.checks] == [("bleu(tokenize=char)", 1.0)]
    assert "bleu(tokenize=char)" in str(found)


USAGE = [
    ({}, "needs --baseline"),
    ({"slices": ["part"], "minimum": {"exact": 0.1}}, "need --baseline"),
    ({"minimum": {"exakt": 0.1}}, "did you mean 'exact'"),
    ({"minimum": {"ter": 40.0}}, "use --max ter=40"),
    ({"maximum": {"exact": 0.5}}, "use --min exact=0.5"),
]
COMPARED = [
    ({"mode": "noninferior"}, "needs a --max-drop above 0"),
    ({"mode": "inferior"}, "did you mean 'noninferior'"),
    ({"max_drop": 0.5}, "different units"),
    ({"max_drop": -1}, "is no drop"),
    ({"max_drop": "a lot"}, "is no drop"),
    ({"max_drop": nan}, "is no drop"),
    ({"max_drop": {"blue": 1}}, "unknown score in --max-drop"),
    ({"max_drop": 1, "metrics": ["exact"]}, "allows everything"),
    ({"metrics": ["blue"]}, "unknown score of these runs"),
    ({"slices": ["parts"]}, "did you mean 'part'"),
    ({"alpha": 2.0}, "--alpha"),
]


@pytest.mark.parametrize(("options", "message"), USAGE)
def test_wrong_usage_without_a_baseline(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        gate(run(30, "one", ("exact", "ter")), **options)


@pytest.mark.parametrize(("options", "message"), COMPARED)
def test_wrong_usage_with_a_baseline(options: dict[str, Any], message: str) -> None:
    one = run(30, "one", ("exact", "ter"))
    with pytest.raises(UsageError, match=message):
        gate(one, baseline=run(31, "two", ("exact", "ter")), **options)


def test_nothing_to_check_is_no_pass() -> None:
    with pytest.raises(UsageError, match="nothing to check"):
        gate(silent("A"), baseline=silent("B"), metrics=["token_precision"])


def test_other_gold_is_refused() -> None:
    with pytest.raises(MismatchError, match="different gold"):
        gate(run(30, "one"), baseline=evaluate("text", ["a"], ["a"], metrics=["exact"]))


def test_the_document_is_valid() -> None:
    found = gate(run(20, "bad"), baseline=run(30, "good"), slices=["part"], minimum={"exact": 0.9})
    jsonschema.Draft202012Validator(schema("gate-1")).validate(json.loads(found.to_json()))
    assert found.to_junit().startswith("<?xml")


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_an_allowed_drop_only_helps(less: float, more: float) -> None:
    less, more = sorted((less, more))
    d = Difference("s", "A", "B", 1.0, 9.0, -8.0, (-9.0, -7.0), 0.01, 0.01, "t", "none", "worse", 9)
    modes: tuple[Mode, ...] = ("significant", "noninferior")
    for mode in modes:
        if judged(d, less, mode, 0.05, True)[0] == "passed":
            assert judged(d, more, mode, 0.05, True)[0] == "passed"


def test_drops_and_limits_as_they_are_written() -> None:
    drops = parse_drops(["2%", "bleu(tokenize=char)=0.5"])
    assert drops.of("ter").of(40.0) == pytest.approx(0.8)
    assert drops.of("ter").of(-40.0) == pytest.approx(0.8)
    assert drops.of("bleu(tokenize=char)").of(40.0) == 0.5
    assert parse_limits("--min", ["bleu(tokenize=char)=30"]) == {"bleu(tokenize=char)": 30.0}
    for bad in ("bleu", "=3", "bleu=", "bleu=inf"):
        with pytest.raises(UsageError, match="is not KEY=VALUE"):
            parse_limits("--min", [bad])


def _drawn(right: np.ndarray[Any, np.dtype[np.bool_]], system: str) -> Result:
    gold = [str(i) for i in range(len(right))]
    predictions = [g if r else "?" for g, r in zip(gold, right, strict=True)]
    return evaluate("text", predictions, gold, metrics=["exact", "token_f1"], system=system, ci=0)


@pytest.mark.slow
def test_how_often_a_gate_is_wrong() -> None:
    """What the two modes promise, by simulation: 400 pairs of runs of 200 examples.

    The same quality must seldom fail (alpha is two-sided, so 2.5 % here), and a loss of exactly
    the allowed drop must seldom pass (the lower bound of a 95 % interval, so 2.5 %). The bounds
    below are three standard errors above that: 0.025 + 3 * sqrt(0.025 * 0.975 / 400) = 0.048.
    """
    rng = np.random.default_rng(20)
    failed = passed = 0
    for _ in range(400):
        hard = rng.random(200)  # shared by both systems, as difficulty is
        same = [hard + rng.normal(0, 0.2, 200) < 0.7 for _ in range(2)]
        runs = [_drawn(right, name) for right, name in zip(same, "AB", strict=True)]
        failed += not gate(runs[0], baseline=runs[1], trials=400, resamples=2).passed
        worse, base = rng.random(200) < 0.6, rng.random(200) < 0.7
        runs = [_drawn(right, name) for right, name in zip((worse, base), "AB", strict=True)]
        found = gate(
            runs[0],
            baseline=runs[1],
            mode="noninferior",
            max_drop=0.1,
            metrics=["exact"],
            resamples=400,
            trials=1,
        )
        passed += found.passed
    assert failed / 400 <= 0.048
    assert passed / 400 <= 0.048
    assert passed > 0, "a gate that nothing passes would keep the promise too"

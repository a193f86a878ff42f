# SPDX-License-Identifier: Apache-2.0
"""What a comparison says besides its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

import assay
from assay.aggregate.asked import TRIALS
from assay.aggregate.paired import compare_systems
from assay.pipeline.differences import Settings, left_out
from assay.pipeline.evaluate import evaluate
from assay.pipeline.limits import Margins


def evaluated(predictions: Sequence[str], gold: Sequence[str], metric: str) -> assay.Result:
    return evaluate(
        "text", list(predictions), list(gold), metrics=metric, system="".join(predictions)
    )


def said(first: Sequence[str], second: Sequence[str], gold: Sequence[str], metric: str) -> str:
    runs = [evaluated(predictions, gold, metric) for predictions in (first, second)]
    return "\n".join(assay.compare(*runs, metrics=metric, trials=500).document.warnings)


def test_resamples_that_leave_a_score_undefined_are_counted() -> None:
    # Only one of ten examples has gold: a resample misses it with chance 0.9 to the 10th, 0.35.
    warning = said(["a b", *[""] * 9], ["a c", *[""] * 9], ["a b", *[""] * 9], "wer")
    assert warning == (
        "wip is undefined in 363 of 1,000 resamples; the interval of its difference is made of "
        "the others"
    )


def test_trials_that_leave_a_score_undefined_are_counted() -> None:
    # Each says something about one example, another one: half of the trials swap one of them only,
    # which leaves a system without a word.
    runs = [
        evaluated(said, ["a"] * 4, "token_f1") for said in (["a", "", "", ""], ["", "a", "", ""])
    ]
    (found,) = compare_systems(
        [runs[0].layout.metrics[0]], [r.rows for r in runs if r.rows is not None], [(0, 1)]
    )
    precision = found[0]["token_precision"]
    assert precision.undefined == pytest.approx(TRIALS / 2, abs=200)
    precision = replace(precision, interval=replace(precision.interval, undefined=0))
    settings = Settings(0.95, 1_000, TRIALS, 1, 0.05, Margins(), "auto")
    ((share, remark),) = left_out("precision", precision, settings)
    assert share == precision.undefined / TRIALS
    assert remark.endswith(" of 10,000 trials; its p-value is made of the others")


def test_scores_that_are_always_defined_need_no_remark() -> None:
    assert said(["a", "b"], ["a", "c"], ["a", "b"], "wer") == ""


def test_in_python_warnings_are_shown_with_the_numbers() -> None:
    runs = [evaluated(p, ["a b", *[""] * 9], "wer") for p in (["a b", *[""] * 9], ["a", *[""] * 9])]
    for shown in (runs[0], assay.compare(*runs)):
        assert "\nwarning: w" in str(shown)
        assert '<p class="note">Warning: w' in shown._repr_html_()
    assert "warning" not in runs[0].to_text()


def test_slices_of_few_clusters_are_named() -> None:
    rows = [
        {"gold": "a b", "prediction": "a" if i % 3 else "b", "topic": topic, "document": f"d{i}"}
        for i, topic in enumerate(["x"] * 25 + ["y"] * 5)
    ]
    runs = [
        evaluate(
            "text", rows, rows, metrics=["wer"], slices=["topic"], cluster="document", system=s
        )
        for s in "AB"
    ]
    remark = (
        "1 of 2 slices by topic has fewer than 20 clusters: its intervals and tests are unreliable"
    )
    assert remark in runs[0].document.warnings
    assert remark in assay.compare(*runs, slices=["topic"], metrics=["wer"]).document.warnings
    assert not assay.compare(*runs, metrics=["wer"]).document.warnings


@pytest.fixture(scope="module")
def two() -> list[assay.Result]:
    """A system that repeats the gold, and one with 10 of 40 sentences wrong."""
    gold = [f"this is the sentence with the number {i}" for i in range(40)]
    wrong = [f"nothing of it for {i}" if i % 4 == 0 else text for i, text in enumerate(gold)]
    return [
        evaluate("text", said, gold, metrics=["exact", "bleu", "chrf"], system=name)
        for name, said in (("wrong", wrong), ("right", gold))
    ]


def verdicts(runs: list[assay.Result], **options: Any) -> dict[str, str]:
    return {d.key: d.verdict for d in assay.compare(*runs, **options).differences}


def test_each_score_has_a_margin_of_its_own(two: list[assay.Result]) -> None:
    plain = assay.compare(*two)
    assert [round(d.difference, 3) for d in plain.differences if d.key == "exact"] == [0.25]
    assert plain.document.statistics["margin"] is None
    for margin in ({"exact": 0.5}, "exact=0.5", ["exact=0.5"]):
        found = assay.compare(*two, margin=margin)
        assert verdicts(two, margin=margin)["exact"] == "equivalent"
        assert verdicts(two, margin=margin)["bleu"] == "better"
        assert found.document.statistics["margin"] == {"exact": 0.5}
        assert "|margin:exact=0.5|" in found.document.signature
    words = verdicts(two, margin=["60", "exact=0.05"], metrics=["bleu", "chrf", "exact"])
    assert words == {"exact": "better", "bleu": "equivalent", "chrf": "equivalent"}
    one = assay.compare(*two, margin=60, metrics=["bleu", "chrf"])
    assert one.document.statistics["margin"] == 60.0
    assert "are equivalent within 60" in str(one)


def test_a_score_of_a_metric_that_has_several_may_be_chosen_and_have_a_margin() -> None:
    runs = [evaluated([text, "a c", "a"], ["a b"] * 3, "wer") for text in ("a b", "a")]
    for margin in (0.9, {"wil": 0.9}):
        found = assay.compare(*runs, metrics="wil", margin=margin)
        assert [d.key for d in found.differences] == ["wil"]
        assert found.document.statistics["margin"] == margin


@pytest.mark.parametrize(
    ("margin", "said"),
    [
        (1, r"--margin 1 cannot mean the same for scores of different units \(exact, bleu \(%\), chrf \(%\)\); give KEY=1 for each"),
        ({"blue": 1.0}, "unknown score in --margin 'blue'; did you mean 'bleu'"),
        (["bleu=0"], "--margin bleu=0 must be above 0"),
        ("bleu=2%", "--margin bleu=2% must be above 0, in the units of the score"),
        ({"exact": 1.0}, "--margin 1 makes all systems equivalent: exact lies between 0 and 1"),
    ],
    ids=repr,
)  # fmt: skip
def test_margins_that_cannot_be_meant(two: list[assay.Result], margin: Any, said: str) -> None:
    with pytest.raises(assay.UsageError, match=said):
        assay.compare(*two, margin=margin)


def test_a_report_takes_margins_of_any_of_its_runs(two: list[assay.Result]) -> None:
    other = [evaluate("text", [s], ["a b"], metrics="wer", system=s) for s in ("a b", "a c")]
    report = assay.make_report(*two, *other, margin={"exact": 0.5, "wer": 0.9})
    held = [s.comparison.statistics["margin"] for s in report.document.sections if s.comparison]
    assert held == [{"exact": 0.5}, {"wer": 0.9}]
    with pytest.raises(assay.UsageError, match="unknown score in --margin 'cer'"):
        assay.make_report(*two, *other, margin={"cer": 0.5})

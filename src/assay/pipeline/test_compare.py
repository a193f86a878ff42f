# SPDX-License-Identifier: Apache-2.0
"""What a comparison says besides its numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

import assay
from assay.aggregate.paired import TRIALS, compare_systems
from assay.pipeline.compare import _left_out, _Settings
from assay.pipeline.evaluate import evaluate


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
    settings = _Settings(0.95, 1_000, TRIALS, 1, 0.05, None, "auto")
    ((share, remark),) = _left_out("precision", precision, settings)
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

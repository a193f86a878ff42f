# SPDX-License-Identifier: Apache-2.0
"""`import assay` as a user calls it: names of one or several, data of all kinds, plain errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.metrics.bleu import Bleu

GOLD = [{"id": "1", "gold": "a", "topic": "x"}, {"id": "2", "gold": "b", "topic": "y"}]
RIGHT = [{"id": "2", "prediction": "b"}, {"id": "1", "prediction": "a"}]
HALF = [{"id": "1", "prediction": "a"}, {"id": "2", "prediction": "c"}]


def exact(predictions: Any, gold: Any, **options: Any) -> float:
    return assay.evaluate("text", predictions, gold, metrics="exact", **options).scores["exact"]


@pytest.mark.parametrize(
    ("name", "predictions", "gold"),
    [
        ("lists of strings", ["a", "c"], ["a", "b"]),
        ("tuples", ("a", "c"), ("a", "b")),
        ("several references", ["a", "c"], [["a", "x"], ["b", "y"]]),
        ("mappings with ids", HALF, GOLD),
        ("arrays", np.array(["a", "c"]), np.array(["a", "b"])),
        ("generators", (t for t in "ac"), (t for t in "ab")),
        ("mappings from ids", {"1": "a", "2": "c"}, {"2": "b", "1": "a"}),
        ("mappings from ids to references", {1: "a", 2: "c"}, {1: ["a", "x"], 2: ["b", "y"]}),
    ],
)
def test_data_comes_in_many_forms(name: str, predictions: Any, gold: Any) -> None:
    assert exact(predictions, gold) == 0.5


def test_one_name_needs_no_list() -> None:
    half, right = (
        assay.evaluate("text", p, GOLD, metrics="exact", slices="topic", system=s)
        for p, s in ((HALF, "half"), (RIGHT, "right"))
    )
    assert list(half.document.slices["topic"]) == ["x", "y"]
    found = assay.compare(half, right, metrics="exact", slices="topic", macros="topic")
    assert {d.key for d in found.differences} == {"exact"}
    assert assay.diff(half, right, slices="topic").document.slices["topic"]["y"].fixed == 1
    assert assay.gate(right, baseline=half, metrics="exact", slices="topic").passed


def test_text_that_no_file_can_hold_is_scored_and_not_saved(tmp_path: Path) -> None:
    said, right = ["a", "b \ud800"], ["a", "b \ud800"]
    assert exact(said, right) == 1.0
    for options in ({"save": tmp_path / "run"}, {"per_example": tmp_path / "each.jsonl"}):
        with pytest.raises(
            assay.InputError, match=r"example '2' holds U\+D800, half of a surrogate"
        ):
            exact(said, right, **options)
    assert list(tmp_path.iterdir()) == []


def evaluated(**options: Any) -> Callable[[], Any]:
    return lambda: exact(["a", "c"], ["a", "b"], **options)


def evaluated_by(metrics: Any, **options: Any) -> Callable[[], Any]:
    return lambda: assay.evaluate("text", ["a", "c"], ["a", "b"], metrics=metrics, **options)


@dataclass(frozen=True)
class Longer(assay.PairMetric):
    """Share of predictions that are longer than their gold."""

    by: int = 0

    name = "longer"
    columns = ("longer", "n")
    scores = (assay.Score("longer", proportion=("longer", "n")),)
    perfect = False

    def measure_pair(self, pair: assay.Pair) -> tuple[float, float]:
        return len(pair.text) > len(pair.references[0]) + self.by, 1

    def finalise(self, totals: assay.Totals) -> dict[str, assay.Value]:
        return {"longer": assay.ratio(totals.longer, totals.n)}


def test_a_metric_of_ones_own_needs_no_package() -> None:
    first, second = (
        assay.evaluate("text", [text, "abc"], ["ab", "abcd"], metrics=["exact", Longer(by=1)])
        for text in ("abcde", "ab")
    )
    assert first.scores == {"exact": 0.0, "longer": 0.5}
    assert first.document.metrics[1].text == "longer(by=1)"
    assert [d.difference for d in assay.compare(second, first).differences] == [-0.5, 0.5]
    alone = assay.evaluate("text", ["abcde"], ["ab"], metrics=Longer(), jobs=2)
    assert alone.scores == {"longer": 1.0}


def test_two_metrics_of_one_name_are_told_apart_or_refused() -> None:
    class Other(Longer):
        """Another rule under the same name."""

    twice = assay.evaluate("text", ["a"], ["b"], metrics=["exact", "exact", Longer(), Longer()])
    assert list(twice.scores) == ["exact", "longer"]
    with pytest.raises(assay.UsageError, match="two metrics are called longer; give one"):
        assay.evaluate("text", ["a"], ["b"], metrics=[Longer(), Other()])


def test_a_metric_as_an_object_can_be_saved_if_its_name_finds_it(tmp_path: Path) -> None:
    metrics: list[str | assay.Metric] = [Bleu(tokenize="char"), "exact"]
    assay.evaluate("text", ["a b"], ["a b"], metrics=metrics, save=tmp_path / "run")
    assert set(assay.load_run(tmp_path / "run").scores) == {"bleu", "exact"}


def compared(**options: Any) -> Callable[[], Any]:
    def work() -> Any:
        half = assay.evaluate("text", HALF, GOLD, metrics="exact")
        return assay.compare(half, half, **options)

    return work


@pytest.mark.parametrize(
    ("name", "work", "said"),
    [
        ("policy", evaluated(missing="wong"), "unknown way to treat missing predictions 'wong'; did you mean 'wrong'"),
        ("option", evaluated(metric="exact"), "unknown option 'metric'"),
        ("interval", evaluated(interval="wilsn"), "unknown interval 'wilsn'"),
        ("level", evaluated(ci=95), "--ci 95 must be between 0 and 1"),
        ("level that is no number", evaluated(ci=float("nan")), "--ci nan must be between 0 and 1"),
        ("resamples", evaluated(resamples=0), "--resamples 0 must be at least 1"),
        ("too many resamples", evaluated(resamples=10**11), "--resamples 100,000,000,000 is too many; at most 1,000,000"),
        ("too many trials", compared(trials=10**7), "--trials 10,000,000 is too many"),
        ("seed", evaluated(seed=-1), "--seed -1 must not be negative"),
        ("column", evaluated(slices="topic"), "unknown column 'topic'"),
        ("nothing", lambda: exact([], []), "there are no predictions"),
        ("None", lambda: exact(["a", None], ["a", "b"]), "predictions, line 2: null where a string"),
        ("NaN", lambda: exact(["a", float("nan")], ["a", "b"]), "line 2: the number nan where a string"),
        ("a set", lambda: exact({"a", "c"}, ["a", "b"]), "predictions are a set, which has no order"),
        ("columns", lambda: exact({"prediction": ["a"]}, ["a"]), "one mapping with the key 'prediction'; give a list of such"),
        ("records by id", lambda: exact({"1": {"text": "a"}}, ["a"]), "predictions, line 1: an object where a string"),
        ("ids that do not meet", lambda: exact({"a": "x"}, {"b": "x"}), "1 of 1 gold ids has no prediction"),
        ("a metric that is none", evaluated_by([len]), "<built-in function len> is no metric; give a name"),
        ("a class", evaluated_by([Longer]), "is no metric; give a name"),
        ("a metric that cannot be found again", evaluated_by(Longer(), save="run"), "the metric longer is not registered"),
        ("no file", lambda: exact("none.txt", ["a"]), r"none\.txt: no such file"),
        ("one run", lambda: assay.compare("run"), "a comparison needs at least two runs"),
        ("trials", compared(trials=0), "--trials 0 must be at least 1"),
        ("resamples of a comparison", compared(resamples=-1), "--resamples -1 must be at least 1"),
        ("seed of a comparison", compared(seed=-1), "--seed -1 must not be negative"),
        ("margin", compared(margin=float("nan")), "--margin nan must be above 0"),
        ("score", compared(metrics="blue"), "unknown metric of these runs 'blue'"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_does_not_fit_is_said_in_one_line(
    name: str, work: Callable[[], Any], said: str
) -> None:
    with pytest.raises(assay.AssayError, match=said) as seen:
        work()
    assert "\n" not in str(seen.value)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("name", "predictions", "gold"),
    [
        ("one right", ["a b c d e"], ["a b c d e"]),
        ("one wrong", ["x"], ["a b"]),
        ("all equal", ["a b c d"] * 5, ["a b c d"] * 5),
        ("no gold text", ["x", "y"], ["", ""]),
        ("no text at all", ["", ""], ["", ""]),
        ("one empty", [""], [""]),
    ],
)
def test_odd_data_is_undefined_or_undecided_and_never_better_than_itself(
    name: str, predictions: list[str], gold: list[str]
) -> None:
    metrics = ["exact", "bleu", "chrf", "ter", "wer", "cer", "token_f1"]
    run = assay.evaluate("text", predictions, gold, metrics=metrics, system="run")
    for key, (low, high) in run.intervals.items():
        score = run.scores[key]
        if not np.isnan([score, low, high]).any():
            assert low <= score <= high
    again = assay.compare(run, run)
    assert {d.verdict for d in again.differences} == {"undecided"}
    assert {d.difference for d in again.differences if d.difference == d.difference} <= {0.0}
    for form in (str, assay.Comparison.to_json, assay.Comparison._repr_html_):
        assert form(again)

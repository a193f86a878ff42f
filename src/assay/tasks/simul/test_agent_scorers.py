# SPDX-License-Identifier: Apache-2.0
"""Latency metrics that files bring along: SimulEval's way of writing them, our way of adding up."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from assay import evaluate
from assay.core.errors import AgentError, AssayError, UsageError

GOLDEN = Path(__file__).parent / "golden"

HEAD = """
from statistics import mean
from simuleval.evaluator.instance import Instance, LogInstance
from simuleval.evaluator.scorers.latency_scorer import LAALScorer, LatencyScorer, register_latency_scorer

"""
SPREAD = """
@register_latency_scorer("Spread")
class Spread(LatencyScorer):
    def compute(self, ins):
        print("looking at", ins.index)
        times = getattr(ins, self.timestamp_type)
        return times[-1] - times[0]
"""


def brought(folder: Path, source: str, name: str = "mine.py") -> str:
    file = folder / name
    file.write_text(HEAD + dedent(source))
    return str(file)


def log(folder: Path, *instances: dict[str, Any], kind: str = "speech", target: str = "text") -> Path:  # fmt: skip
    folder.mkdir(exist_ok=True)
    usual = {"prediction": "a b", "elapsed": [], "reference": "a b c", "source": ["x.wav"], "source_length": 2000}  # fmt: skip
    lines = [json.dumps({"index": i, **usual, **one}) for i, one in enumerate(instances)]
    (folder / "instances.log").write_text("".join(f"{line}\n" for line in lines))
    (folder / "config.yaml").write_text(f"source_type: {kind}\ntarget_type: {target}\n")
    return folder


def scored(path: Path, file: str, *names: str, **options: Any) -> dict[str, float]:
    result = evaluate("simul", path, ci=0, agent=file, latency_metrics=names, quality_metrics=["WER"], **options)  # fmt: skip
    return {k: v for k, v in result.scores.items() if k != "WER"}


TWO = (
    {"delays": [500, 1500], "elapsed": [600, 1800]},
    {"delays": [1000, 1100], "elapsed": [1200, 1500]},
    {"delays": [], "elapsed": [], "prediction": ""},
)


def test_the_mean_over_streams_with_times(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:  # fmt: skip
    file, path = brought(tmp_path, SPREAD), log(tmp_path / "log", *TWO)
    result = evaluate(
        "simul", path, agent=file, latency_metrics=["spread"], computation_aware=True,
        per_example=tmp_path / "each.jsonl",
    )  # fmt: skip
    assert result.scores["Spread"] == (1000 + 100) / 2
    assert result.scores["Spread_CA"] == (1200 + 300) / 2
    assert result.document.extra["undefined"] == {"Spread": 1, "Spread_CA": 1}
    assert result.document.intervals["Spread"][0] == 100
    each = [json.loads(line)["scores"] for line in (tmp_path / "each.jsonl").read_text().split("\n")[:-1]]  # fmt: skip
    assert [one["Spread"] for one in each] == [1000, 100, None]
    said = capsys.readouterr()
    assert (said.out, said.err.count("looking at 0")) == ("", 2)
    two = evaluate("simul", path, agent=file, latency_metrics=["Spread"], jobs=2)
    assert two.scores["Spread"] == result.scores["Spread"]


def test_one_that_puts_streams_together_itself_counts_before_ours(tmp_path: Path) -> None:
    file = brought(
        tmp_path,
        """
        @register_latency_scorer("RTF")
        class Half(LatencyScorer):
            @staticmethod
            def add_args(parser):
                parser.add_argument("--share", type=float, default=0.5)

            @classmethod
            def from_args(cls, args):
                made = cls(args.computation_aware, not args.no_use_ref_len)
                made.share = args.share
                return made

            def __call__(self, instances):
                return self.share * mean(i.delays[-1] / i.source_length for i in instances.values())
        """,
    )
    path = log(tmp_path / "log", *TWO)
    assert scored(path, file, "RTF") == {"RTF": pytest.approx((0.75 + 0.55) / 2 / 2)}
    assert evaluate("simul", path, ci=0, metrics=["RTF"]).scores["RTF"] == pytest.approx(0.65)


def test_what_is_no_mean_is_refused(tmp_path: Path) -> None:
    file = brought(
        tmp_path,
        """
        @register_latency_scorer("Share")
        class Share(LatencyScorer):
            def __call__(self, instances):
                held = instances.values()
                return sum(i.delays[-1] for i in held) / sum(i.source_length for i in held)
        """,
    )
    path = log(tmp_path / "log", {"delays": [1, 2], "source_length": 2}, {"delays": [1, 2]})
    with pytest.raises(UsageError, match=r"'Share' is no mean over streams: 0\.00"):
        scored(path, file, "Share")


def test_scorers_are_built_on_those_of_simuleval(tmp_path: Path) -> None:
    file = brought(
        tmp_path,
        """
        @register_latency_scorer("Seconds")
        class Seconds(LAALScorer):
            def compute(self, ins: Instance):
                delays, source_length, target_length = self.get_delays_lengths(ins)
                assert target_length == ins.reference_length or not self.use_ref_len
                return super().compute(ins) / 1000
        """,
    )
    name = GOLDEN / "simuleval-s2t-word"
    wanted = evaluate("simul", name, ci=0, metrics=["LAAL"], compat="simuleval").scores["LAAL"]
    assert scored(name, file, "Seconds") == {"Seconds": pytest.approx(wanted / 1000)}
    own = evaluate("simul", name, ci=0, metrics=["LAAL(length=prediction)"]).scores["LAAL"]
    found = scored(name, file, "Seconds", no_use_ref_len=True)
    assert found == {"Seconds": pytest.approx(own / 1000)}


@pytest.mark.parametrize("name", ["simuleval-s2t-word", "simuleval-t2t-waitk"])
def test_those_of_simuleval_are_our_metrics(tmp_path: Path, name: str) -> None:
    names = ["AL", "LAAL", "AP", "DAL", "ATD", "NumChunks", "StartOffset", "EndOffset", "RTF"]
    again = "".join(
        f"""
        class {n}(scorers.{n}Scorer): pass
        register_latency_scorer("My{n}")({n})
        """
        for n in names
    )
    file = brought(tmp_path, "\n        from simuleval.evaluator.scorers import latency_scorer as scorers\n" + again)  # fmt: skip
    own = evaluate("simul", GOLDEN / name, ci=0, latency_metrics=names, computation_aware=True)
    counted = evaluate("simul", GOLDEN / name, ci=0, latency_metrics=["AL", "LAAL", "AP"], compat="simuleval", computation_aware=True)  # fmt: skip
    wanted = {**own.document.extra["names"], **counted.document.extra["names"]}
    found = scored(GOLDEN / name, file, *(f"My{n}" for n in names), computation_aware=True)
    for n in names:
        assert found[f"My{n}"] == pytest.approx(wanted[n]), n
        if name == "simuleval-s2t-word":
            assert found[f"My{n}_CA"] == pytest.approx(wanted[f"{n}_CA"]), n


def test_instances_have_what_simuleval_gives_them(tmp_path: Path) -> None:
    file = brought(
        tmp_path,
        """
        @register_latency_scorer("Looks")
        class Looks(LatencyScorer):
            def compute(self, ins):
                assert isinstance(ins, LogInstance) and ins.metrics == {} and ins.index in (0, 1)
                if self.wants == "text":
                    assert (ins.source, ins.source_length, ins.elapsed) == ("a b c", 3, [0, 0])
                    assert (ins.prediction, ins.prediction_length, ins.intervals) == ("x y", 2, [])
                    assert (ins.reference, ins.reference_length) == ("r s t", 3)
                else:
                    assert ins.intervals == [[500, 400], [900, 250], [2000, 100]]
                    assert (ins.prediction_offset, ins.prediction_length) == (500, 1.6)
                    assert ins.durations == [400, 250, 100] and ins.source == "/a/0.wav"
                return 1

            @classmethod
            def from_args(cls, args):
                made = cls(args.computation_aware)
                made.wants = "speech" if args.eval_latency_unit == "char" else "text"
                return made
        """,
    )
    text = log(
        tmp_path / "text",
        {"delays": [2, 3], "prediction": "x y", "reference": "r s t\n", "source": "a b c", "source_length": 3},
        kind="text",
    )  # fmt: skip
    assert scored(text, file, "Looks") == {"Looks": 1}
    spoken = log(
        tmp_path / "speech",
        {"delays": [500, 600, 2000], "durations": [400, 250, 100], "source": "/a/0.wav", "prediction": "/w/0_pred.wav"},
        target="speech",
    )  # fmt: skip
    result = evaluate("simul", spoken, ci=0, agent=file, latency_metrics=["Looks"], eval_latency_unit="char")  # fmt: skip
    assert result.scores == {"Looks": 1}


def test_a_folder_as_simuleval_takes_it(tmp_path: Path) -> None:
    folder = tmp_path / "extension"
    folder.mkdir()
    path = log(tmp_path / "log", *TWO)
    options: dict[str, Any] = {"ci": 0, "user_dir": str(folder), "latency_metrics": ["Spread"]}
    with pytest.raises(UsageError, match=r"extension has no __init__.py; give a file with --agent"):
        evaluate("simul", path, **options)
    brought(folder, SPREAD, "inner.py")
    (folder / "__init__.py").write_text("from . import inner\n")
    assert evaluate("simul", path, **options).scores["Spread"] == 550


@pytest.mark.parametrize(
    ("source", "kind", "problem"),
    [
        ("class A: pass", UsageError, "unknown metric 'Spread'"),
        ("import nothing_of_that_name", UsageError, r"mine.py, line 7 cannot be imported: ModuleNotFoundError"),
        (SPREAD.replace("times[-1]", "times['x']"), AgentError, r"mine.py, line 13: the scorer 'Spread' failed on stream '0': TypeError"),
        (SPREAD.replace("times[-1] - times[0]", "'late'"), AgentError, "could not convert string to float: 'late'"),
    ],
)  # fmt: skip
def test_mistakes_in_the_file_are_named(
    tmp_path: Path, source: str, kind: type[AssayError], problem: str
) -> None:
    with pytest.raises(kind, match=problem):
        scored(log(tmp_path / "log", *TWO), brought(tmp_path, "\n" + dedent(source)), "Spread")


def test_a_value_that_is_none_is_undefined(tmp_path: Path) -> None:
    source = SPREAD.replace("return", "return None if ins.index else")
    result = evaluate("simul", log(tmp_path / "log", *TWO), ci=0, agent=brought(tmp_path, source), latency_metrics=["Spread"])  # fmt: skip
    assert result.scores["Spread"] == 1000
    assert result.document.extra["undefined"] == {"Spread": 2}

# SPDX-License-Identifier: Apache-2.0
"""`assay simul score`, `plot`, `compare`, `convert` as people type them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from assay.cli import main
from assay.cli.root import root

ROOT = Path(__file__).parents[1]
SYSTEMS = ROOT / "examples" / "simul" / "systems"
TALK = ROOT / "examples" / "simul" / "talk"


def run(*args: object) -> Result:
    return CliRunner().invoke(root, ["simul", *map(str, args)], catch_exceptions=False)


def ok(*args: object) -> str:
    result = run(*args)
    assert result.exit_code == 0, result.stderr
    return result.stdout


def error(capsys: pytest.CaptureFixture[str], *args: object) -> str:
    """The one line that a user sees; the exit code is 2."""
    with pytest.raises(SystemExit) as stopped:
        main(["simul", *map(str, args)])
    assert stopped.value.code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1, captured.err
    return captured.err


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    ok("score", SYSTEMS, "--save", folder, "--resamples", 200)
    return folder


def test_several_words_are_several_metrics() -> None:
    for form in (["LAAL", "AL"], ["LAAL,AL"], ["LAAL", "--latency-metrics", "AL"]):
        printed = ok("score", SYSTEMS / "eager", "--latency-metrics", *form, "--ci", 0, "--json")
        assert list(json.loads(printed)["scores"]) == ["BLEU", "LAAL", "AL@simuleval"]


def test_a_name_means_the_same_wherever_it_is_given() -> None:
    given = ["score", SYSTEMS / "eager", "--ci", 0, "--json"]
    printed = ok(*given, "-m", "AL", "-m", "chrf")
    assert list(json.loads(printed)["scores"]) == ["AL@simuleval", "chrF"]


def test_options_of_simuleval_are_understood(tmp_path: Path) -> None:
    printed = ok(
        "score", "--score-only", "--computation-aware", "--quality-metrics", "BLEU", "chrF", "TER", "WER",
        "--latency-metrics", "LAAL", "StartOffset", "--eval-latency-unit", "word",
        "--no-use-ref-len", "--output", tmp_path / "out", "--ci", 0, "--json", "--", SYSTEMS / "eager",
    )  # fmt: skip
    assert list(json.loads(printed)["scores"]) == [
        "BLEU", "chrF", "TER", "WER", "LAAL", "LAAL_CA", "StartOffset", "StartOffset_CA",
    ]  # fmt: skip
    assert (tmp_path / "out" / "scores.tsv").read_text().splitlines()[0].split("\t") == [
        "BLEU", "chrF", "TER", "WER", "LAAL", "LAAL_CA", "StartOffset", "StartOffset_CA",
    ]  # fmt: skip
    rows = (tmp_path / "out" / "metrics.tsv").read_text().splitlines()
    assert rows[0].split("\t") == ["index", "LAAL", "LAAL_CA", "StartOffset", "StartOffset_CA"]
    assert len(rows) == 41


def test_quality_stands_before_latency_in_files(tmp_path: Path) -> None:
    ok("score", SYSTEMS / "eager", "-m", "LAAL", "-m", "BLEU", "--ci", 0, "--output", tmp_path)
    assert (tmp_path / "scores.tsv").read_text().splitlines()[0] == "BLEU\tLAAL"


@pytest.mark.parametrize(
    ("name", "instead"),
    [
        ("AL_SpeechAlign_BOW", "by the Montreal Forced Aligner; align it there"),
        ("StartOffset_SpeechAlign_EOW", "by the Montreal Forced Aligner; align it there"),
        ("ASR_BLEU", "--transcripts FILE --quality-metrics BLEU"),
        ("WHISPER_ASR_BLEU", "--transcripts FILE --quality-metrics BLEU"),
        ("XCOMET-XL", "--output DIR writes sources, output and references for it"),
    ],
)
def test_metrics_that_need_other_programs_say_what_to_do(
    capsys: pytest.CaptureFixture[str], name: str, instead: str
) -> None:
    said = error(capsys, "score", SYSTEMS / "eager", "--latency-metrics", name)
    assert name in said
    assert instead in said


@pytest.mark.parametrize(
    ("option", "value", "problem"),
    [
        ("--ci", 2, "--ci 2.0 must lie between 0 and 1"),
        ("--ci", 0, "--ci 0.0 must lie between 0 and 1"),
        ("--resamples", 0, "--resamples 0 must be at least 1"),
        ("--seed", -1, "--seed -1 must not be negative"),
        ("--margin", 0, "--margin 0.0 must be above 0"),
        ("--latency-margin", -5, "--latency-margin -5.0 must be above 0"),
    ],
)
def test_numbers_that_nobody_can_mean(
    runs: Path, capsys: pytest.CaptureFixture[str], option: str, value: int, problem: str
) -> None:
    for verb in ("compare", "plot"):
        assert problem in error(capsys, verb, runs / "eager", runs / "steady", option, value)


def test_the_unit_of_stream_laal_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    log = (TALK / "metrics.jsonl", "--segments", TALK / "segments.yaml")
    printed = ok(
        "score", *log, "-g", TALK / "references.txt", "--ci", 0, "--latency-metrics", "StreamLAAL"
    )
    assert "\nlatency in seconds of the source\n" in printed
    printed = ok(
        "score", *log, "-g", TALK / "references.txt", "--ci", 0,
        "--latency-metrics", "StreamLAAL", "LongYAAL",
    )  # fmt: skip
    assert "\nlatency in milliseconds of the source, StreamLAAL in seconds\n" in printed


def test_words_after_the_end_are_drawn_at_the_end(tmp_path: Path) -> None:
    # The end mark of text is a position of its own, behind the last word.
    (tmp_path / "delay").write_text('{"src_len": 4, "delays": [2, 3, 4, 4]}\n')
    (tmp_path / "text").write_text("a b c\n")
    document = json.loads(
        ok("score", tmp_path, "--ci", 0, "--json", "--save", tmp_path / "run", "--quiet")
    )
    assert document["extra"]["staircases"][0]["delays"] == [2, 3, 3]
    ok("plot", tmp_path / "run", "--sentence", 0, "-o", tmp_path / "stairs.svg")
    svg = (tmp_path / "stairs.svg").read_text()
    assert ">3</text>" in svg
    assert ">4</text>" not in svg


def test_a_folder_with_a_log_of_any_kind_is_that_log(tmp_path: Path) -> None:
    options = ("--segments", TALK / "segments.yaml", "-g", TALK / "references.txt", "--ci", 0)
    whole = json.loads(ok("score", TALK, *options, "--output", tmp_path, "--json"))
    assert whole["system"] == "talk"
    again = json.loads(ok("score", tmp_path, "--ci", 0, "--json"))
    assert again["scores"] == whole["scores"]


def test_lines_without_delays_are_told(tmp_path: Path) -> None:
    file = tmp_path / "delay"
    file.write_text('{"src_len": 6, "delays": [6]}\n{"src_len": 5, "delays": []}\n')
    result = run("latency", "--input", file)
    assert result.stdout.splitlines()[1:] == ["average_lagging: 6.0", "average_proportion: 1.0"]
    assert f"{file}: average_lagging is undefined for 1 of 2 lines" in result.stderr


def test_a_folder_of_systems_is_scored_one_by_one(runs: Path) -> None:
    assert sorted(p.name for p in runs.iterdir()) == ["eager", "patient", "steady"]
    printed = ok("score", SYSTEMS, "--ci", 0)
    assert printed.splitlines()[0] == "simul: 3 systems"
    document = json.loads(ok("score", SYSTEMS, "--ci", 0, "--json"))
    assert document["schema"] == "assay.results/1"
    assert [one["system"] for one in document["results"]] == ["eager", "patient", "steady"]
    alone = json.loads(ok("score", SYSTEMS / "steady", "--ci", 0, "--json"))
    assert document["results"][2]["scores"] == alone["scores"]
    csv = ok("score", SYSTEMS, "--ci", 0, "--format", "csv").splitlines()
    assert csv[0].split(",")[:2] == ["system", "score"] or "score" in csv[0]


def test_saved_runs_can_be_verified_and_compared(runs: Path) -> None:
    result = CliRunner().invoke(root, ["verify", str(runs / "eager")], catch_exceptions=False)
    assert result.exit_code == 0, result.stdout + result.stderr
    result = CliRunner().invoke(root, ["compare", str(runs / "patient"), str(runs / "steady")])
    assert "LAAL" in result.stdout
    result = CliRunner().invoke(root, ["diff", str(runs / "patient"), str(runs / "eager")])
    assert result.exit_code in (0, 1)
    assert "delays" not in result.stdout  # texts are compared, not times


def test_two_axes_give_one_verdict(runs: Path) -> None:
    printed = ok("compare", runs / "patient", runs / "steady", "--resamples", 200)
    assert printed.startswith(
        "better: steady against patient: same quality within 1 BLEU, lower latency"
    )
    # The order of the runs turns the data, and not what is said.
    assert printed == ok("compare", runs / "steady", runs / "patient", "--resamples", 200)
    document = json.loads(ok("compare", runs / "steady", runs / "patient", "--json"))
    assert document["pairs"][0]["verdict"] == "worse"
    document = json.loads(ok("compare", runs / "eager", runs / "patient", "--json"))
    assert document["pairs"][0]["verdict"] == "trade-off"
    assert document["pairs"][0]["words"] == "higher quality, higher latency"


def test_pictures_are_files_of_their_own(runs: Path, tmp_path: Path) -> None:
    folders = [runs / name for name in ("eager", "patient", "steady")]
    printed = ok("plot", *folders, "-o", tmp_path / "plot.svg", "--resamples", 200)
    assert "on the Pareto front of BLEU and LAAL: eager, steady" in printed
    svg = (tmp_path / "plot.svg").read_text()
    assert svg.startswith("<svg")
    assert svg.count("<path") >= 3  # a region each
    ok("plot", *folders, "--sentence", 5, "-o", tmp_path / "stairs.svg")
    assert "source read (ms)" in (tmp_path / "stairs.svg").read_text()


def test_a_report_draws_both_pictures(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    given = ["report", str(runs / "patient"), str(runs / "steady"), "-o", str(page)]
    result = CliRunner().invoke(root, given, catch_exceptions=False)
    assert result.exit_code == 0, result.stderr
    text = page.read_text()
    assert "BLEU against LAAL" in text
    assert "How much was read when each word of" in text


@pytest.mark.parametrize(
    ("regimes", "line"),
    [
        (["low=0-2", "high=2-4"], "regime: low (0-2 s), LongYAAL 1.55"),
        (["low=0-1", "high=1-1.5"], "regime: none (LongYAAL 1.55"),
    ],
)
def test_the_regime_of_a_long_recording(regimes: list[str], line: str) -> None:
    given = [
        "score", TALK / "metrics.jsonl", "--segments", TALK / "segments.yaml", "-g",
        TALK / "references.txt", "--ci", 0, "--regime", *regimes,
    ]  # fmt: skip
    assert line in ok(*given)
    regime = json.loads(ok(*given, "--json"))["extra"]["regime"]
    assert regime["score"] == "LongYAAL"
    assert regime["regime"] == ("low" if "low" in line else None)


def test_conversion_and_back(tmp_path: Path) -> None:
    written = ok("convert", SYSTEMS / "eager", "--to", "events", "-o", tmp_path / "e").split()
    assert written == [str(tmp_path / "e" / "events.jsonl")]
    ok("convert", tmp_path / "e", "--to", "simuleval", "-o", tmp_path / "s")
    names = ["--latency-metrics", "LAAL", "DAL", "--ci", 0, "--json"]
    before = json.loads(ok("score", SYSTEMS / "eager", *names))["scores"]
    after = json.loads(ok("score", tmp_path / "s", *names))["scores"]
    assert after == pytest.approx(before)


def test_mistakes_are_told_in_one_line(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    eager = SYSTEMS / "eager"
    (tmp_path / "empty").mkdir()
    cases: list[tuple[list[Any], str]] = [
        (["score", tmp_path / "nowhere"], "no such file or folder"),
        (["score", tmp_path / "empty"], "holds no log; give a folder with events.jsonl"),
        (["score", eager, "--latency-metrics", "LALA"], "unknown metric 'LALA'; did you mean 'LAAL'?"),
        (["score", "--latency-metrics", "LAAL", eager], "Missing argument 'LOG'"),
        (["score", eager, "--regime", "low"], "must be name=from-to in seconds"),
        (["score", eager, "--regime", "low=3-1"], "ends before it begins"),
        (["score", eager, "--eval-latency-unit", "spm"], "needs --eval-latency-spm-model"),
        (["score", eager, "--sacrebleu-tokenizer", "14a"], "14a"),
        (["score", eager, "--compat", "omnisteval", "--segments", TALK / "segments.yaml"], "needs the references"),
        (["score", SYSTEMS, "--per-example", tmp_path / "x.tsv"], "--per-example is for one system"),
        (["plot", "-o", tmp_path / "x.svg"], "give the folders of saved runs"),
        (["plot", runs / "eager", "-o", tmp_path / "x.png"], "must end in .svg"),
        (["plot", runs / "eager", "--sentence", "99", "-o", tmp_path / "x.svg"], "has no stream '99'"),
        (["plot", runs / "eager", "--latency", "ABC", "-o", tmp_path / "x.svg"], "unknown score of eager 'ABC'"),
        (["compare", runs / "eager"], "give two or more folders"),
        (["compare", eager, eager], "has no run.json"),
        (["convert", eager, "--to", "simuleval", "-o", eager / "instances.log"], "is a file"),
        (["latency", "--input", tmp_path / "no"], "no such file"),
    ]  # fmt: skip
    for args, problem in cases:
        said = error(capsys, *args)
        assert problem.lower() in said.lower(), said
    assert not list(tmp_path.glob("x.*"))


def test_runs_of_other_test_sets_are_not_compared(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SYSTEMS / "eager", tmp_path / "less")
    log = tmp_path / "less" / "instances.log"
    log.write_text("".join(log.read_text().splitlines(keepends=True)[:-1]))
    ok("score", tmp_path / "less", "--save", tmp_path / "run", "--ci", 0)
    capsys.readouterr()
    said = error(capsys, "compare", runs / "eager", tmp_path / "run")
    assert "eager and less were scored on other streams or references" in said


def test_metrics_of_a_file_are_scored_and_saved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.py"
    file.write_text(
        "from simuleval.evaluator.scorers.latency_scorer import "
        "LatencyScorer, register_latency_scorer\n"
        "@register_latency_scorer('Words')\n"
        "class Words(LatencyScorer):\n"
        "    def compute(self, ins): return len(ins.delays)\n"
    )
    given = ["score", SYSTEMS / "eager", "--agent", file, "--latency-metrics", "Words", "NumChunks"]
    scores = json.loads(ok(*given, "--save", tmp_path / "run", "--json"))["scores"]
    assert scores["Words"] == scores["NumChunks"] > 3
    # Nothing is started because a folder names it, and the numbers are there without it.
    with pytest.raises(SystemExit):
        main(["verify", str(tmp_path / "run")])
    said = capsys.readouterr().err
    assert f"was scored by a program, {file}, and none is started because a folder" in said
    file.unlink()
    result = CliRunner().invoke(root, ["compare", str(tmp_path / "run"), str(tmp_path / "run")])
    assert "Words" in result.stdout
    given[3] = tmp_path / "other.py"
    assert "there is no agent file" in error(capsys, *given)


AGENT = """
from simuleval.utils import entrypoint
from simuleval.agents import TextToTextAgent
from simuleval.agents.actions import ReadAction, WriteAction
from simuleval.evaluator.scorers.latency_scorer import LatencyScorer, register_latency_scorer

@register_latency_scorer("Spread")
class Spread(LatencyScorer):
    def compute(self, ins):
        return ins.delays[-1] - ins.delays[0]

@entrypoint
class Wait2(TextToTextAgent):
    def policy(self):
        source, target = self.states.source, self.states.target
        if not self.states.source_finished and len(source) - len(target) < 2:
            return ReadAction()
        last = self.states.source_finished and len(target) + 1 == len(source)
        return WriteAction(source[len(target)], finished=last)
"""


def test_a_run_is_scored_by_the_metrics_that_are_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, target, agent = (tmp_path / n for n in ("source.txt", "target.txt", "agent.py"))
    source.write_text("a b c d\ne f g\n")
    target.write_text("a b c d x\ne f g\n")
    agent.write_text(AGENT)
    given = ["run", "--agent", agent, "--source", source, "--target", target]
    names = ["--latency-metrics", "Spread", "LAAL", "AL", "--quality-metrics", "BLEU", "WER"]
    found = json.loads(ok(*given, *names, "--output", tmp_path / "out"))
    # Delays 2 3 4 4 and 2 3 3. AL by steps of 4/5: 2, 2.2, 2.4; and of 1: 2, 2.
    assert list(found) == ["BLEU", "WER", "Spread", "LAAL", "AL@simuleval"]
    assert (found["Spread"], found["WER"]) == (1.5, 100 / 8)
    assert found["AL@simuleval"] == found["LAAL"] == pytest.approx((2.2 + 2) / 2)
    document = json.loads(ok("score", tmp_path / "out", "--agent", agent, *names, "--json"))
    assert document["scores"] == found
    assert json.loads(ok(*given, *names, "--jobs", 2)) == found
    # What is not there is known before the run.
    said = error(capsys, *given, "--latency-metrics", "Spred", "--output", tmp_path / "other")
    assert "unknown metric 'Spred'; did you mean 'spread'?" in said
    assert not (tmp_path / "other").exists()
    said = error(capsys, *given, *names, "--port", 1)
    assert "with a server give its log to 'assay simul score'" in said

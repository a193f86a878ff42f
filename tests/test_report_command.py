# SPDX-License-Identifier: Apache-2.0
"""`assay report` and `assay leaderboard` as they are typed, on good and on bad input."""

from __future__ import annotations

import html
import json
import re
import shlex
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import assay
from assay.cli import run
from assay.report.json import schema

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of text, code, metadata and SPARQL, two systems each."""
    folder = tmp_path_factory.mktemp("runs")

    def score(given: str, name: str) -> None:
        assert run([*shlex.split(given), "-q", "--save", str(folder / name)]) == 0

    for name in ("baseline", "improved"):
        score(f"text score --predictions {EXAMPLES}/text/{name}.jsonl --slice topic", name)
    for name in ("gull", "heron"):
        where = f"{EXAMPLES}/code"
        score(
            f"code score --dataset_name cubert_exception_classification --system {name} "
            f"-p {where}/exceptions.{name}.txt -g {where}/exceptions.gold.txt",
            f"classes-{name}",
        )
        score(
            f"code score --dataset_name ogb_code --system {name} "
            f"-p {where}/beams.{name}.txt -g {where}/names.gold.txt",
            f"names-{name}",
        )
    for name in ("kestrel", "plover"):
        score(
            f"metadata score --input {EXAMPLES}/metadata/{name} "
            f"--truth {EXAMPLES}/metadata/gold --output {folder}/files-{name}",
            name,
        )
    for name in ("careless", "careful"):
        where = f"{EXAMPLES}/sparql"
        score(f"sparql score --file_path {where}/{name}.json --kg {where}/island.ttl", name)
    return folder


def made(runs: Path, names: str, target: Path, *more: str) -> str:
    given = [str(runs / name) for name in names.split()]
    assert run(["report", *given, "-o", str(target), "-q", *more]) == 0
    return target.read_text("utf-8")


PICTURES = [
    # runs                             what is to be seen
    ("baseline improved",              ["improved minus baseline: better by bleu, chrf and ter", "bleu by topic"]),
    ("classes-gull classes-heron",     ["Which class was taken for which by gull"]),
    ("names-gull names-heron",         ["among the first k candidates"]),
    ("careless careful",               ["careful minus careless", "em by question_type"]),
    ("kestrel plover",                 ["Scores of kestrel and plover", "not decided"]),
    ("baseline",                       ["One system alone", "Scores of baseline"]),
]  # fmt: skip


@pytest.mark.parametrize(("names", "seen"), PICTURES, ids=[p[0] for p in PICTURES])
def test_pictures_that_fit_the_runs(
    names: str, seen: list[str], runs: Path, tmp_path: Path
) -> None:
    page = made(runs, names, tmp_path / "report.html")
    for text in seen:
        assert text in page


def test_differences_in_sparql_are_marked_by_token(runs: Path, tmp_path: Path) -> None:
    page = made(runs, "careless careful", tmp_path / "report.html")
    # A variable is one token; as words it would be a sign and a name.
    assert "<del>?x</del> <ins>?answer</ins>" in page


def test_a_page_for_every_task_at_once(runs: Path, tmp_path: Path) -> None:
    names = "baseline careless names-gull kestrel improved careful names-heron plover"
    page = made(runs, names, tmp_path / "report.html", "--title", "All of it")
    assert re.findall(r'<section id="([^"]*)"', page) == [
        "text-1",
        "sparql-2",
        "code-3",
        "metadata-4",
    ]
    assert "<h1>All of it</h1>" in page
    assert len(page.encode()) < 2_000_000


def test_the_page_says_how_it_is_made_again(runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "my pages" / "report.html"
    page = made(runs, "baseline improved", target)
    (command,) = re.findall(r"made again by</p>\n<pre><code>(.*?)</code>", page)
    given = shlex.split(html.unescape(command))
    assert given[:2] == ["assay", "report"]
    target.unlink()
    assert run(given[1:]) == 0
    assert target.read_text("utf-8") == page


def test_how_it_was_measured_is_told(runs: Path, tmp_path: Path) -> None:
    page = made(runs, "baseline improved", tmp_path / "report.html")
    document = json.loads((runs / "baseline" / "run.json").read_text("utf-8"))
    assert document["inputs"][0]["sha256"][:16] in page
    assert "bleu(tokenize=13a" in page
    assert assay.__version__ in page
    assert "assay text score --predictions" in page


def test_a_column_that_one_gold_has_is_enough(runs: Path, tmp_path: Path) -> None:
    names = "baseline improved classes-gull classes-heron"
    page = made(runs, names, tmp_path / "report.html", "--slice", "topic")
    assert page.count("<summary>by topic") == 1


def test_slices_are_compared_when_asked_for(runs: Path, tmp_path: Path) -> None:
    plain = made(runs, "baseline improved", tmp_path / "plain.html")
    assert "by topic: improved minus baseline" not in plain
    page = made(runs, "baseline improved", tmp_path / "report.html", "--slice", "topic")
    assert "<summary>by topic: improved minus baseline</summary>" in page
    assert "Benjamini-Hochberg over 3 slices" in page


def test_links_lead_to_all_examples(runs: Path, tmp_path: Path) -> None:
    target = tmp_path / "pages" / "report.html"
    page = made(runs, "baseline improved", target)
    links = re.findall(r'<a href="([^"#]*examples.jsonl)"', page)
    assert len(links) == 2
    for link in links:
        assert len((target.parent / link).read_text("utf-8").splitlines()) == 40


def test_ten_thousand_long_examples_stay_below_two_megabytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    words = [f"wörd{i}<&>" for i in range(500)]
    drawn = rng.choice(words, (10_000, 40))
    gold = [" ".join(row) for row in drawn]
    for system, noise in (("old", 0.2), ("new", 0.15)):
        wrong = np.where(rng.random(drawn.shape) < noise, "x", drawn)
        predictions = [" ".join(row) for row in wrong]
        assay.evaluate(
            "text", predictions, gold, metrics=["wer"], system=system, ci=0, save=tmp_path / system
        )
    page = made(tmp_path, "old new", tmp_path / "report.html")
    assert len(page.encode()) < 2_000_000
    assert "telling examples of 10,000" in page
    # However many are asked for, the page stays small.
    more = made(tmp_path, "old new", tmp_path / "more.html", "--examples", "10000")
    assert len(more.encode()) < 2_000_000


def test_examples_can_be_left_out(runs: Path, tmp_path: Path) -> None:
    page = made(runs, "baseline improved", tmp_path / "report.html", "--examples", "0")
    assert "<article" not in page


FORMS = [
    # file         option             begins with
    ("report.md",  [],                "# Assay report: text"),
    ("report.tex", [],                "\\paragraph{Assay report: text}"),
    ("report.txt", ["--format", "markdown"], "# Assay report: text"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "option", "start"), FORMS, ids=[f[0] for f in FORMS])
def test_other_forms(name: str, option: list[str], start: str, runs: Path, tmp_path: Path) -> None:
    text = made(runs, "baseline improved", tmp_path / name, *option)
    assert text.startswith(start)
    assert "83.82" in text


def test_text_goes_to_standard_output(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = [str(runs / "baseline"), str(runs / "improved")]
    assert run(["report", *given, "--format", "latex"]) == 0
    out = capsys.readouterr().out
    assert out.count(r"\begin{tabular}") == out.count(r"\end{tabular}") > 1
    assert run(["report", *given, "--format", "markdown"]) == 0
    assert "<details><summary>How it was measured</summary>" in capsys.readouterr().out


BAD = [
    # name                  arguments                                   said
    ("no runs",             ["report"],                                 "Missing argument"),
    ("no such run",         ["report", "nowhere"],                      "nowhere: does not exist"),
    ("not a run",           ["report", "{folder}"],                     "has no run.json"),
    ("unknown score",       ["report", "{run}", "-m", "blue"],          "did you mean 'bleu'"),
    ("unknown column",      ["report", "{run}", "{other}", "--slice", "topics"], "did you mean 'topic'"),
    ("no verdicts",         ["report", "{run}", "--judgements", "{folder}"], "no verdicts of two judges"),
    ("unknown form",        ["report", "{run}", "--format", "pdf"],     "'pdf' is not one of"),
    ("negative examples",   ["report", "{run}", "--examples", "-3"],    "must not be negative"),
    ("a folder as file",    ["report", "{run}", "-o", "{folder}"],      "is a folder"),
    ("a file as folder",    ["report", "{run}", "-o", "{run}/run.json/x.html"], "cannot be written"),
    ("no runs below",       ["leaderboard", "{folder}"],                "no runs below it"),
    ("no such folder",      ["leaderboard", "nowhere"],                 "is not a folder"),
    ("unknown rank score",  ["leaderboard", "{runs}", "-m", "blue"],    "did you mean 'bleu'"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "said"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_mistakes_are_named_on_one_line(
    given: list[str], said: str, runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = {
        "folder": str(tmp_path),
        "run": str(runs / "baseline"),
        "other": str(runs / "improved"),
        "runs": str(runs),
    }
    before = sorted(tmp_path.iterdir())
    assert run([part.format(**names) for part in given]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert len([line for line in captured.err.splitlines() if "warning" not in line]) == 1
    assert captured.out == ""
    assert sorted(tmp_path.iterdir()) == before


def test_a_leaderboard_as_table_json_and_page(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["leaderboard", str(runs), "--task", "text", "-q"]) == 0
    table = capsys.readouterr().out
    assert re.search(r"1\s+a\s+improved\s+83.82", table)
    assert re.search(r"2\s+b\s+baseline\s+35.69", table)
    assert run(["leaderboard", str(runs), "--json", "-q"]) == 0
    document = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(schema("leaderboard-1")).validate(document)
    assert {g["task"] for g in document["groups"]} == {"text", "code", "metadata", "sparql"}
    assert len(document["groups"]) == 5
    target = tmp_path / "board.html"
    assert run(["leaderboard", str(runs), "-o", str(target), "-q"]) == 0
    page = target.read_text("utf-8")
    assert page.count("<section") == 5
    assert "<article" not in page


@pytest.mark.parametrize("format", ["markdown", "latex", "csv"])
def test_a_leaderboard_in_other_forms(
    format: str, runs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["leaderboard", str(runs), "--task", "text", "--format", format, "-q"]) == 0
    assert "improved" in capsys.readouterr().out


def test_warnings_of_runs_are_repeated(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "report.html"
    given = [str(runs / name) for name in ("kestrel", "plover")]
    assert run(["report", *given, "-o", str(target)]) == 0
    assert "assay: warning: kestrel: 1 predicted paper is not in gold" in capsys.readouterr().err
    assert "1 warning</summary>" in target.read_text("utf-8")

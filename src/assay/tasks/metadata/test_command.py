# SPDX-License-Identifier: Apache-2.0
"""`assay metadata` as a user meets it, on the sample papers."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay import compare, evaluate
from assay.cli import run
from assay.pipeline.diff import diff
from assay.pipeline.gate import gate
from assay.pipeline.runs import load_run
from assay.pipeline.verify import verify

HERE = Path(__file__).parent
SAMPLES = HERE.parents[3] / "examples" / "metadata"
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str]) -> Command:
    def call(*arguments: object) -> tuple[int, str, str]:
        code = run(["metadata", *map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def scored(command: Command, system: str, output: Path, *more: object) -> tuple[int, str, str]:
    given = ["--input", SAMPLES / system, "--truth", SAMPLES / "gold", "--output", output]
    return command("score", *given, "--resamples", 200, *more)


def test_the_console_and_files_of_the_sample(
    command: Command, tmp_path: Path, golden: Callable[[Path, str], None]
) -> None:
    code, out, _ = scored(command, "kestrel", tmp_path)
    assert code == 0
    golden(HERE / "golden" / "sample" / "console.txt", out.replace(str(tmp_path), "OUTPUT"))
    golden(HERE / "golden" / "sample" / "PR.txt", (tmp_path / "PR.txt").read_text())
    details = (tmp_path / "details" / "authors-labels.txt").read_text()
    golden(HERE / "golden" / "sample" / "authors-labels.txt", details)


def test_json_is_one_document_and_nothing_else(command: Command, tmp_path: Path) -> None:
    code, out, _ = scored(command, "kestrel", tmp_path, "--json")
    document = json.loads(out)
    assert code == 0
    # 19 of 24 titles are right; one paper has no prediction, one prediction has no paper.
    assert document["scores"]["title.precision"] == pytest.approx(19 / 24)
    assert document["counts"]["missing"] == document["counts"]["extra"] == 1
    assert document["extra"]["support"]["title"]["gold_papers"] == 24
    assert document["extra"]["errors"][0]["prediction"] == "Marta Cruz"
    assert document["extra"]["worst"][0]["id"] == "OR-13"


def test_what_the_old_command_line_is_called_with_works(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    given = f"--input={SAMPLES / 'plover'}", f"--truth={SAMPLES / 'gold'}"
    code, out, _ = command("score", *given, "--compat", "meta-eval")
    assert code == 0
    assert out.startswith("\nMetric\tPrecision\tRecall\n")
    assert out.endswith(f"\n\nDetails written to {os.path.join('output', 'details')}\n")
    assert (tmp_path / "output" / "PR.txt").exists()


def test_details_of_fields_that_are_gone_are_removed_and_other_files_are_not(
    command: Command, tmp_path: Path
) -> None:
    scored(command, "kestrel", tmp_path, "--quiet")
    (tmp_path / "details" / "notes.txt").write_text("mine")
    scored(command, "kestrel", tmp_path, "--field", "title", "--quiet")
    names = {path.name for path in (tmp_path / "details").iterdir()}
    assert names == {"title-labels.txt", "notes.txt"}


def test_two_single_files_hold_one_field(command: Command, tmp_path: Path) -> None:
    given = "--input", SAMPLES / "plover" / "title.tsv", "--truth", SAMPLES / "gold" / "title.tsv"
    code, out, _ = command("score", *given, "--output", tmp_path, "--ci", 0)
    assert code == 0
    # Of 21 titles 5 are in capitals, 3 are cut, and 3 are otherwise changed: 10 of 21, 10 of 24.
    assert "\ntitle\t0.476\t0.417\n" in out


@pytest.mark.parametrize("output", ["file", "file/below"])
def test_an_output_that_cannot_be_written_is_an_error(
    output: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    code, _, err = scored(command, "kestrel", tmp_path / output)
    assert code == 2
    assert "cannot be written" in err or "is a file" in err


def test_rules_change_what_is_right_and_the_reasons_say_why(
    command: Command, tmp_path: Path
) -> None:
    rules = "--match", "title=soft", "--match", "authors=partial_ulist:lastname-initial"
    table = tmp_path / "papers.jsonl"
    code, _, _ = scored(command, "plover", tmp_path / "o", *rules, "--per-example", table)
    assert code == 0
    papers = {p["id"]: p for p in map(json.loads, table.read_text().splitlines())}
    assert papers["OR-01"]["scores"]["title.f1"] == 1.0  # capitals do not matter to soft
    assert papers["OR-01"]["why"] == {}
    assert papers["OR-02"]["why"]["title"] == [
        {
            "prediction": "Sparse Maps of Dense",
            "gold": "Sparse Maps of Dense Forests",
            "why": "cut off",
        }
    ]
    assert papers["OR-10"]["why"]["authors"] == [
        {"prediction": None, "gold": "Ivo Petrov", "why": "not predicted"}
    ]
    assert papers["OR-24"]["why"]["authors"] == [
        {"prediction": "Imagined Ornithology", "gold": None, "why": "not in gold"}
    ]


def test_scores_by_the_year_of_gold(tmp_path: Path) -> None:
    found = evaluate("metadata", SAMPLES / "kestrel", SAMPLES / "gold", ci=0, slices=["year"])
    # In 2014 there are three papers with two, three and one author; see the files.
    assert found.document.slices["year"]["2014"].n == 3


def test_a_score_above_one_is_warned_of(command: Command, tmp_path: Path) -> None:
    papers = [{"id": "p1", "a": ["X", "X"]}], [{"id": "p1", "a": ["X"]}]
    found = evaluate("metadata", *papers, duplicates="reference", ci=0)
    assert found.scores["a.recall"] == 2.0
    assert any("above 1" in w for w in found.document.warnings)
    assert not evaluate("metadata", *papers, ci=0).document.warnings


def test_a_comparison_has_one_row_per_score_and_repeats_the_warning(tmp_path: Path) -> None:
    gold = [{"id": f"p{i}", "a": "X", "b": "Y"} for i in range(4)]
    twice = [{"id": f"p{i}", "a": ["X", "X"], "b": "Y"} for i in range(4)]
    for name, papers in (("once", gold), ("twice", twice)):
        evaluate(
            "metadata", papers, gold, duplicates="reference", system=name, save=tmp_path / name
        )
    found = compare(tmp_path / "once", tmp_path / "twice", trials=50, resamples=50)
    assert [w for w in found.document.warnings if w.startswith("twice: 4 papers have a recall")]
    text = found.to_text()
    assert "\nscore              " in text
    assert "a once" in text
    assert "b twice" in text
    assert "Best of each row marked." in text
    (limited,) = gate(tmp_path / "twice", minimum={"a.recall": 0.5}).document.warnings
    assert "above 1" in limited


def test_names_of_fields_cannot_steer_the_terminal(command: Command, tmp_path: Path) -> None:
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": "p1", "a\x1b[2J\tb": "X", "../c": "Y"}))
    given = "--input", tmp_path / "p.jsonl", "--truth", tmp_path / "p.jsonl"
    for compat in ((), ("--compat", "meta-eval")):
        code, out, _ = command("score", *given, "--output", tmp_path / "o", *compat)
        assert code == 0
        assert "\x1b" not in out
        assert "a\\x1b[2J\\tb\t1.000\t1.000\n" in out
    names = {path.name for path in (tmp_path / "o" / "details").iterdir()}
    assert names == {"a\x1b[2J\tb-labels.txt", "..%2Fc-labels.txt"}
    rows = (tmp_path / "o" / "PR.txt").read_text().splitlines()
    assert [row.count("\t") for row in rows] == [2, 2, 2]


def test_label_files_of_old_are_derived_from_extracted_papers(
    command: Command, tmp_path: Path
) -> None:
    gold = tmp_path / "gold"
    gold.mkdir()
    for form, source, name in (
        ("title", "title", "titleNormalized"),
        ("lastname", "authors", "authorLastNameNormalized"),
    ):
        given = SAMPLES / "gold" / f"{source}.tsv", gold / f"{name}.tsv"
        assert command("normalise", form, *given)[0] == 0
    derived = "--derive", "titleNormalized=title", "--derive", "authorLastNameNormalized=authors"
    side = "--input", SAMPLES / "tei", "--truth", gold, "--output", tmp_path / "o"
    code, out, _ = command("score", *side, *derived, "--missing", "skip", "--json", "--ci", 0)
    assert code == 0
    scores = json.loads(out)["scores"]
    assert scores["titleNormalized.f1"] == 1.0
    # All 8 last names are found; as full names one of them is not: Aaron Pike Jr., without the dot.
    assert scores["authorLastNameNormalized.f1"] == 1.0
    exact = evaluate("metadata", SAMPLES / "tei", SAMPLES / "gold", missing="skip", ci=0)
    assert exact.scores["authors.micro_recall"] == pytest.approx(7 / 8)


def test_runs_with_other_strangers_can_be_compared(tmp_path: Path) -> None:
    runs = [
        evaluate("metadata", SAMPLES / s, SAMPLES / "gold", save=tmp_path / s, resamples=100)
        for s in ("kestrel", "plover")
    ]
    assert [r.document.statistics["extra"] for r in runs] == [1, 0]
    found = compare(*(tmp_path / s for s in ("kestrel", "plover")), trials=200)
    by_key = {d.key: d for d in found.differences}
    for run_, side in zip(runs, ("baseline_score", "system_score"), strict=True):
        for key, value in run_.scores.items():
            assert getattr(by_key[key], side) == pytest.approx(value, nan_ok=True)
    changes = diff(tmp_path / "kestrel", tmp_path / "plover", metric="title.f1", limit=None)
    assert changes.counts.n == 25
    assert [e.id for e in changes.examples if e.gold == {}] == ["OR-99"]
    itself = compare(runs[0], tmp_path / "kestrel", trials=200)
    assert all(d.difference == 0 for d in itself.differences)


def test_a_saved_run_is_verified_without_writing_again(command: Command, tmp_path: Path) -> None:
    scored(command, "kestrel", tmp_path / "o", "--save", tmp_path / "run", "--match", "title=soft")
    (tmp_path / "o" / "PR.txt").unlink()
    assert verify(tmp_path / "run").findings == ()
    assert not (tmp_path / "o" / "PR.txt").exists()
    # 7 papers are right to the letter, and OR-23 but for its title in capitals.
    assert load_run(tmp_path / "run").scores["papers_right"] == pytest.approx(8 / 24)


def test_workers_change_nothing(tmp_path: Path) -> None:
    alone, two = (
        evaluate(
            "metadata",
            SAMPLES / "plover",
            SAMPLES / "gold",
            resamples=50,
            jobs=n,
            match=["title=soft"],
        )
        for n in (1, 2)
    )
    assert alone.document.scores == two.document.scores
    assert alone.document.gold_sha256 == two.document.gold_sha256


def test_a_curve_is_written_drawn_and_verified(command: Command, tmp_path: Path) -> None:
    given = "--scored", SAMPLES / "scored", "--truth", SAMPLES / "gold", "--output", tmp_path / "o"
    code, out, _ = command("score", *given, "--save", tmp_path / "run", "--at-recall", 0.6)
    assert code == 0
    assert "P at R 0.6" in out
    assert (
        (tmp_path / "o" / "PR-curve.tsv").read_text().startswith("Threshold\tPrecision\tRecall\n")
    )
    drawn = ElementTree.fromstring((tmp_path / "o" / "PR-curve.svg").read_text())
    assert "average precision" in (drawn.get("aria-label") or "")
    assert verify(tmp_path / "run").findings == ()
    assert load_run(tmp_path / "run")._repr_html_().count("<svg") == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--bins", "0"], "--bins 0"),
        (["--at-recall", "2"], "--at-recall 2"),
        (["--match", "title=soft"], "cannot be used with --scored"),
        (["--input", "x"], "give one"),
    ],
)
def test_scored_predictions_that_cannot_be_used(
    arguments: list[str], message: str, command: Command, tmp_path: Path
) -> None:
    given = "--scored", SAMPLES / "scored", "--truth", SAMPLES / "gold", "--output", tmp_path
    code, _, err = command("score", *given, *arguments)
    assert code == 2
    assert message in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("p1\tA\n", "line 1: has 2 columns"),
        ("p1\tA\thigh\n", "confidence 'high'"),
        ("p1\tA\tnan\n", "not a number"),
    ],
)
def test_scored_lines_that_are_none(
    text: str, message: str, command: Command, tmp_path: Path
) -> None:
    (tmp_path / "s.tsv").write_text(text)
    (tmp_path / "g.tsv").write_text("p1\tA\n")
    code, _, err = command("score", "--scored", tmp_path / "s.tsv", "--truth", tmp_path / "g.tsv")
    assert code == 2
    assert message in err


def test_scored_json_lines_name_their_field(tmp_path: Path) -> None:
    lines = [
        {"id": "p1", "field": "a", "value": "A", "confidence": 0.9},
        {"id": "p1", "field": "b", "value": "X", "confidence": 0.2},
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(map(json.dumps, lines)))
    gold = [{"id": "p1", "a": "A", "b": "B"}]
    found = evaluate("metadata", None, gold, scored=tmp_path / "s.jsonl", ci=0)
    curves = found.document.extra["curves"]
    assert curves["a"]["average_precision"] == 1.0
    assert curves["b"]["average_precision"] == 0.0


def test_the_old_converters(command: Command, tmp_path: Path) -> None:
    names = tmp_path / "names.tsv"
    names.write_text("p1\tChris Callison-Burch\tSmith, J.\n\np2\n")
    outputs = tmp_path / "last.tsv", tmp_path / "normal.tsv"
    assert command("normalise", "authors", names, *outputs)[0] == 0
    assert outputs[0].read_text() == "p1\tBurch\tSmith\n\np2\n"
    assert outputs[1].read_text() == "p1\tburch\tsmith\n\np2\n"
    code, out, _ = command("normalise", "careful-lastname", names)
    assert (code, out) == (0, "p1\tcallison burch\tsmith\n\np2\n")


@pytest.mark.parametrize(
    "arguments", [[], ["titel", "x"], ["titles", "x"], ["authors", "a", "b"], ["title", "/nowhere"]]
)
def test_converters_called_wrongly(arguments: list[str], command: Command) -> None:
    code, _, err = command("normalise", *arguments)
    assert code == 2
    assert err.startswith("assay: ")


def test_an_output_that_cannot_be_written_is_found_before_the_inputs_are_read(
    command: Command, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    code, out, err = command(
        *("score", "--input", tmp_path / "no such", "--truth", tmp_path / "no such"),
        *("--output", tmp_path / "file"),
    )
    assert (code, out) == (2, "")
    assert "is a file, not a folder" in err
    assert (tmp_path / "file").read_text() == "in the way"

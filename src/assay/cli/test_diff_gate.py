# SPDX-License-Identifier: Apache-2.0
"""`assay diff` and `assay gate` as a user calls them; and what any document looks like there."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay.cli import run
from assay.pipeline.evaluate import evaluate

GOLD = [f"w{i} is here now" for i in range(20)]
EVIL = "\x1b[2J\x9b2Jowned\r\u202e"


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A good run and a bad one, whose first prediction is hostile."""
    folder = tmp_path_factory.mktemp("runs")
    bad = [EVIL, *(g.replace("here", "there") for g in GOLD[1:12]), *GOLD[12:]]
    for name, predictions in (("good", GOLD), ("bad", bad)):
        rows = [
            {"prediction": p, "gold": g, "part": "ab"[i % 2]}
            for i, (p, g) in enumerate(zip(predictions, GOLD, strict=True))
        ]
        evaluate("text", rows, rows, metrics=["exact", "bleu"], system=name, save=folder / name)
    return str(folder / "good"), str(folder / "bad")


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_diff_prints_counts_and_examples(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = runs
    assert run(["diff", good, bad, "--limit", "2", "--slice", "part"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("bad against good by exact: 0 fixed, 12 broken, 0 changed, 8 same\n")
    assert "[-here-]" in out
    assert "{+there+}" in out
    assert "10 more of 12" in out
    assert "\x1b" not in out


@pytest.mark.parametrize(
    ("options", "kinds"),
    [
        (["--only", "same"], {"same"}),
        (["--only", "same", "--only", "broken"], {"same", "broken"}),
        ([], {"broken"}),
    ],
)
def test_diff_lists_what_was_asked_for(
    options: list[str], kinds: set[str], runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["diff", *runs, "--json", "--limit", "0", *options]) == 0
    assert {e["change"] for e in json.loads(capsys.readouterr().out)["examples"]} == kinds


@pytest.mark.parametrize(
    "command",
    [
        ["diff"],
        ["diff", "--format", "markdown"],
        ["diff", "--format", "csv"],
        ["diff", "--json"],
        ["compare"],
        ["gate", "--min", "bleu=1"],
    ],
    ids=" ".join,
)
def test_predictions_do_not_steer_the_terminal(
    command: list[str], runs: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("NO_COLOR", "1")
    name, *options = command
    where = [runs[1], "--baseline", runs[0]] if name == "gate" else list(runs)
    assert run([name, *where, *options]) in (0, 1)
    text = terminal.getvalue()
    assert text
    assert all(c.isprintable() or c == "\n" for c in text)


def test_colour_on_a_terminal_only(runs: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert run(["diff", *runs, "--limit", "3"]) == 0
    assert "\x1b[31mbroken\x1b[0m" in terminal.getvalue()
    assert "[-" not in terminal.getvalue()


def test_gate_passes(runs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = runs
    assert run(["gate", good, "--baseline", bad]) == 0
    captured = capsys.readouterr()
    assert captured.out.startswith("Gate passed: good against bad")
    assert captured.err == ""


def test_a_missed_gate_prints_the_table_writes_the_files_and_ends_with_1(
    runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = runs
    junit, summary = tmp_path / "junit.xml", tmp_path / "new" / "summary.md"
    command = ["gate", bad, "--baseline", good, "--slice", "part", "-m", "exact"]
    assert run([*command, "--junit", str(junit), "--markdown", str(summary)]) == 1
    captured = capsys.readouterr()
    assert captured.out.startswith("Gate failed: bad against good")
    assert "assay: bad misses its gate: exact" in captured.err
    assert len(ElementTree.parse(junit).getroot().findall(".//failure")) >= 1
    assert summary.read_text(encoding="utf-8").startswith("## Gate failed")


def test_gate_json_is_all_there_is_on_stdout(
    runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = runs
    assert run(["gate", bad, "--baseline", good, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["passed"] is False


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--baseline", "GOOD", "--max-drop", "1"], "different units"),
        (["--baseline", "GOOD", "--max-drop", "much"], "is no drop"),
        (["--baseline", "GOOD", "--mode", "noninferior"], "--max-drop above 0"),
        (["--baseline", "nowhere"], "does not exist"),
        (["--min", "bleu"], "is not KEY=VALUE"),
        ([], "needs --baseline"),
    ],
)
def test_wrong_usage_of_gate_ends_with_2(
    options: list[str], message: str, runs: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = runs
    assert run(["gate", bad, *(good if o == "GOOD" else o for o in options)]) == 2
    captured = capsys.readouterr()
    assert message in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_an_unwritable_summary_is_named(
    runs: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = runs
    assert run(["gate", good, "--baseline", bad, "--markdown", str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_diff_takes_two_runs(runs: tuple[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["diff", runs[0]]) == 2
    assert "assay diff --help" in capsys.readouterr().err
    assert run(["diff", *runs, "--format", "latex"]) == 2


@pytest.mark.parametrize("command", [["show"], ["compare"], ["diff"], ["gate", "--min", "bleu=1"]])
@pytest.mark.parametrize("form", [["--json"], ["--format", "csv"], ["--format", "markdown"], []])
def test_output_ends_with_one_newline(
    command: list[str],
    form: list[str],
    runs: tuple[str, str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    name, *options = command
    where = list(runs) if name in ("compare", "diff") else [runs[0]]
    assert run([name, *where, *options, *form]) == 0
    out = capsys.readouterr().out
    assert out == out.rstrip("\n") + "\n"


def test_a_terminal_of_80_columns_is_not_overrun(
    runs: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    assert run(["compare", *runs, "--slice", "part"]) == 0
    lines = terminal.getvalue().splitlines()
    assert [line for line in lines if len(line) > 80 and not line.startswith("compare:")] == []

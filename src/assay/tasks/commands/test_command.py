# SPDX-License-Identifier: Apache-2.0
"""The command itself: where things are printed, and what is said about bad input."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from assay.cli import main, run

GOLD: list[dict[str, Any]] = [
    {"id": "a", "nl": "list all files", "references": ["ls -a"], "topic": "files"},
    {"id": 2, "nl": "count lines of f", "references": ["wc -l f", "cat f | wc -l"]},
]
PREDICTIONS = [["ls", "(ls -a; x"], ["cat f | wc", "wc -l g"]]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


BAD_GOLD = [
    # content                                      what is said
    ("", "the file is empty"),
    ("{", "line 1"),
    ('[{"nl": "x", "references": ["ls"]}]\n', "line 1, column 1: a list where an object must be; write one"),
    ('"x"\n', "line 1, column 1: a string where an object must be"),
    ('{"id": 1}\n', "line 1: there is no 'nl'"),
    ('{"nl": "x"}\n', "line 1: 'references' must be a list of commands"),
    ('{"nl": "x", "references": []}\n', "line 1: 'references' is empty"),
    ('{"id": 1, "nl": "x", "references": "ls"}\n' * 2, "line 2: the id '1' was on line 1 already"),
    ('{"nl": "x", "references": ["ls"]}\n\n{"nl": "y", "references": ["ls"]}\n', "line 2: a blank line"),
    ('{"nl": "x", "references": ["ls"], "key": 3}\n', "line 1: 'key' must be text"),
    ('{"id": true, "nl": "x", "references": ["ls"]}\n', "line 1: 'id' must be text"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "said"), BAD_GOLD)
def test_bad_gold_is_refused_with_its_line(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = tmp_path / "gold.jsonl", tmp_path / "p.txt"
    gold.write_text(content)
    predictions.write_text("ls\n")
    code = run(["commands", "score", "-p", str(predictions), "-g", str(gold)])
    shown = capsys.readouterr()
    assert code == 2
    assert "gold.jsonl" in shown.err
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out


BAD_PREDICTIONS = [
    ('{"id": 1, "predictions": {"a": 1}}\n', "'predictions' must be a list of commands"),
    ('{"id": 1, "predictions": [3]}\n', "a prediction must be a command"),
    ('{"id": 1, "predictions": [{"command": "ls", "confidence": 7}]}\n', "a confidence of 7"),
    ('{"id": "a", "predictions": []}\n' * 2, "line 2: the id 'a' was on line 1 already; give one"),
    ('{"id": "a", "preds": ["ls"]}\n{"id": 2}\n', "p.jsonl, line 1: there is no 'predictions'"),
    ('{"id": "A", "predictions": []}\n{"id": 2}\n', "differ only by upper and lower case"),
    ('{"id": "a"}\n{"prediction": "ls"}\n', "some predictions have an id and some do not"),
]


@pytest.mark.parametrize(("content", "said"), BAD_PREDICTIONS)
def test_bad_predictions_are_refused(
    content: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = write(tmp_path / "gold.jsonl", GOLD), tmp_path / "p.jsonl"
    predictions.write_text(content)
    assert run(["commands", "score", "-p", str(predictions), "-g", str(gold)]) == 2
    assert said in capsys.readouterr().err


USAGE = [
    (["--judgements", "nowhere"], "nowhere: does not exist"),
    (["--manual_eval"], "give --judgements DIR"),
    (["--top-k", "0"], "--top-k 0 must be at least 1"),
    (["--compat", "nl2bash", "--match", "loose"], "leave out --match"),
    (["-m", "bleurt"], "unknown metric 'bleurt'"),
    (["-m", "accuracy(match=loose)"], "'accuracy(match=loose)' is counted with --match loose"),
    (["-m", "accuracy(match=nl2bash)"], "is counted with --compat nl2bash; give that option"),
    (["--gold", "more.jsonl"], "--gold was given twice; give one .jsonl file"),
    (["--slice", "colour"], "unknown column 'colour'"),
]


@pytest.mark.parametrize(("more", "said"), USAGE)
def test_wrong_usage(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = write(tmp_path / "gold.jsonl", GOLD), tmp_path / "p.txt"
    predictions.write_text("ls\nwc\n")
    assert run(["commands", "score", "-p", str(predictions), "-g", str(gold), *more]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert "examples evaluated" not in shown.out


def test_counts_that_differ_are_named_with_their_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "gold.jsonl", GOLD)
    (tmp_path / "p.txt").write_text("ls\n")
    assert run(["commands", "score", "-p", "p.txt", "-g", "gold.jsonl"]) == 2
    assert "length must be equal: 2 vs. 1 (gold.jsonl, p.txt); line i" in capsys.readouterr().err


def test_a_standard_input_that_is_closed_holds_no_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = write(tmp_path / "gold.jsonl", GOLD), tmp_path / "p.txt"
    predictions.write_text("ls\x1b[31m\nwc\n")
    given = ["commands", "score", "-p", str(predictions), "-g", str(gold)]
    given += ["--judgements", str(tmp_path / "v"), "--manual_eval"]
    monkeypatch.setattr("sys.stdin", None)  # what Python makes of it
    with pytest.raises(SystemExit) as end:
        main(given)
    assert end.value.code == 2
    shown = capsys.readouterr()
    assert "standard input ended: 0 judgements kept" in shown.err
    assert "2 predictions left to judge" in shown.err


def test_predictions_do_not_steer_the_terminal_of_the_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = write(tmp_path / "gold.jsonl", GOLD[:1]), tmp_path / "p.txt"
    predictions.write_text("ls \x1b[2J\x07\u202e\n", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n"))
    given = ["commands", "score", "-p", str(predictions), "-g", str(gold), "--manual_eval"]
    assert run([*given, "--judgements", str(tmp_path / "v")]) == 0
    assert "> ls \\x1b[2J\\x07\\u202e\n" in capsys.readouterr().out
    kept = (tmp_path / "v" / "verdicts.author.jsonl").read_text(encoding="utf-8")
    assert json.loads(kept.splitlines()[0])["prediction"] == "ls \x1b[2J\x07\u202e"


def test_standard_output_is_kept_for_the_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = write(tmp_path / "gold.jsonl", GOLD), tmp_path / "p.txt"
    predictions.write_text("".join("|||".join(p) + "\n" for p in PREDICTIONS))
    given = ["commands", "score", "-p", str(predictions), "-g", str(gold), "--json"]
    given += ["--judgements", str(tmp_path / "v"), "--manual_eval"]
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n" * 4))
    assert run(given) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["extra"]["judging"]["unjudged"]["predictions"] == 0
    assert shown.err.count("CORRECT STRUCTURE? [y/reason] ") == 3
    assert run([*given, "--quiet"]) == 0  # all judged: nothing to ask, nothing to say
    assert not capsys.readouterr().err


def test_nothing_may_be_left_to_score(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gold = write(tmp_path / "gold.jsonl", GOLD)
    predictions = write(tmp_path / "p.jsonl", [{"id": "z", "predictions": ["ls"]}])
    given = ["commands", "score", "-p", str(predictions), "-g", str(gold), "--missing", "skip"]
    for more in ((), ("--eval",), ("--eval", "--compat", "nl2bash")):
        assert run([*given, *more]) == 0
        assert "0 examples evaluated\n" in capsys.readouterr().out


@pytest.mark.parametrize("form", ["csv", "markdown", "latex"])
def test_standard_output_is_kept_for_data(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = write(tmp_path / "gold.jsonl", GOLD), tmp_path / "p.txt"
    predictions.write_text("ls\nwc\n")
    assert (
        run(["commands", "score", "-p", str(predictions), "-g", str(gold), "--format", form]) == 0
    )
    shown = capsys.readouterr()
    assert "2 predictions loaded" not in shown.out
    assert "2 predictions loaded" in shown.err


def test_the_result_says_how_many_answers_can_still_change_a_score(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = tmp_path / "gold.jsonl", tmp_path / "p.jsonl"
    gold.write_text('{"id": "1", "nl": "list files", "references": ["ls -a"]}\n')
    predictions.write_text('{"id": "1", "predictions": ["ls -a", "ls", "dir"]}\n')
    assert run(["commands", "score", "-p", str(predictions), "-g", str(gold)]) == 0
    assert "of the unjudged predictions 0 can still change a score" in capsys.readouterr().out


def test_the_old_program_prints_the_best_of_three_if_its_last_group_has_more_than_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = write(tmp_path / "gold.jsonl", GOLD), tmp_path / "p.txt"
    given = ["commands", "score", "-p", str(predictions), "-g", str(gold), "--eval"]
    for line, old in (("wc -l g", 0), ("wc -l g|||wc", 4), ("wc -l g|||", 4)):
        predictions.write_text(f"ls|||ls -a|||pwd|||\n{line}\n")
        for more, wanted in (((), 4), (("--compat", "nl2bash"), old)):
            assert run([*given, *more]) == 0
            lines = capsys.readouterr().out.splitlines()
            assert sum("op 3 " in text and " = " in text for text in lines) == wanted


# -- the command line of the old program ---------------------------------------------------------


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the data of the old program, to be run in."""
    data = tmp_path / "data" / "bash"
    (data / "manual_judgements").mkdir(parents=True)
    for part, command in (("dev", "ls -a"), ("test", "ls -l")):
        (data / f"{part}.nl.filtered").write_text("list all files\n")
        (data / f"{part}.cm.filtered").write_text(f"{command}\n")
    sheet = data / "manual_judgements" / "manual.evaluations.x"
    header = "description,prediction,template,correct template,correct command\n"
    sheet.write_text(header + "list all files,dir,dir,y,y\n")
    (tmp_path / "p.txt").write_text("ls -l|||dir|||ls\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


OLD_CALLS = [
    # what stands behind the first words               top 1 and 3 command accuracy
    (["--prediction_file", "p.txt"], [0.0, 1.0]),
    (["--dataset", "bash", "--prediction_file=p.txt", "--gpu", "0"], [0.0, 1.0]),
    (["--data", "bash", "--prediction_file", "p.txt", "--test"], [1.0, 1.0]),
]


@pytest.mark.parametrize(("more", "wanted"), OLD_CALLS)
@pytest.mark.usefixtures("checkout")
def test_old_calls_find_the_data_folder(
    more: list[str], wanted: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["commands", "score", *more, "--json"]) == 0
    scores = json.loads(capsys.readouterr().out)["scores"]
    assert [scores["top1_command_accuracy"], scores["top3_command_accuracy"]] == wanted


def test_old_calls_find_the_data_folder_beside_the_scripts(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (checkout / "scripts").mkdir()
    monkeypatch.chdir(checkout / "scripts")
    assert run(["commands", "score", "--prediction_file", "../p.txt", "--compat", "nl2bash"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("1 predictions loaded from ../p.txt\nreading cached evaluations from ")
    assert run(["commands", "score", "--prediction_file", "../p.txt"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("gold read from ../data/bash/dev.nl.filtered and dev.cm.filtered\n")


@pytest.mark.parametrize("flag", ["--manual_eval", "--manual-eval"])
def test_the_documented_call_asks_though_a_0_is_left_over(
    flag: str, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("n\n" * 2))
    assert run(["commands", "score", "--prediction_file", "p.txt", flag, "0"]) == 0
    shown = capsys.readouterr()
    assert shown.err == f"assay: the word 0 behind {flag} means nothing and is ignored\n"
    assert shown.out.count("CORRECT STRUCTURE? [y/reason] ") == 2
    verdicts = checkout / "data" / "bash" / "manual_judgements" / "verdicts.author.jsonl"
    assert verdicts.read_text().count("\n") == 4  # two structures, and so two commands, are wrong


OLD_CALLS_REFUSED = [
    (["--manual_eval", "1"], "unexpected extra argument (1)"),
    (["--gen_auto_evaluation_table"], "'assay compare DIR DIR' for a table"),
    (["--dataset", "zsh"], "give it with --gold (there is no data/zsh/dev.nl.filtered here either)"),
    (["--gold", "data/bash/dev.nl.filtered", "--test"], "with --gold give the test set"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "said"), OLD_CALLS_REFUSED)
@pytest.mark.usefixtures("checkout")
def test_old_calls_that_mean_nothing_here(
    more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["commands", "score", "--prediction_file", "p.txt", *more]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.err.count("\n") == 1
    assert not shown.out

# SPDX-License-Identifier: Apache-2.0
"""`assay judge` as a user meets it, at a pipe and at a terminal, on runs of every kind."""

from __future__ import annotations

import csv
import fcntl
import io
import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import termios
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from assay.cli import run
from assay.judge.log import VerdictLog
from assay.judge.sample import read_samples
from assay.judge.sheets import read_sheet
from assay.judge.store import read_store
from assay.report.json import schema

ROOT = Path(__file__).resolve().parents[2]
ORACLES = ROOT.parent / "shared" / "oracles" / "commands"

Outcome = tuple[int, str, str]
Judge = Callable[..., Outcome]


@pytest.fixture
def judge(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Judge:
    """Runs `assay judge` in this process; `typed` is what comes through the pipe."""

    def call(*arguments: object, typed: str = "") -> Outcome:
        stdin = io.TextIOWrapper(io.BytesIO(typed.encode()), encoding="utf-8")
        monkeypatch.setattr(sys, "stdin", stdin)
        code = run(["judge", *map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


def saved(folder: Path, name: str, rows: list[tuple[str, str]], **columns: list[str]) -> Path:
    """A run of pairs (prediction, gold)."""
    data = folder / f"{name}.jsonl"
    with data.open("w") as file:
        for n, (prediction, gold) in enumerate(rows):
            more = {key: values[n] for key, values in columns.items()}
            record = {"id": f"q{n:02}", "prediction": prediction, "gold": gold, **more}
            file.write(json.dumps(record) + "\n")
    path = folder / "runs" / name
    arguments = ["text", "score", "--predictions", str(data), "--gold", str(data)]
    arguments += ["-m", "exact", "-m", "chrf", "--save", str(path), "--quiet", "--json"]
    assert run(arguments) == 0
    return path


@pytest.fixture
def text_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    rows = [(f"the answer {n} is so", f"the answer {n} is thus") for n in range(6)]
    path = saved(tmp_path, "one", [*rows, ("same", "same")])
    capsys.readouterr()
    return path


def document(text: str, name: str) -> Any:
    """A printed document, held to its schema."""
    data = json.loads(text)
    jsonschema.validate(data, schema(name))
    return data


def answers(run: Path, name: str) -> list[str]:
    store = read_store(run.parent / "judgements")
    return [v.answer for v in store.judges[name].values()]


# -- judging over a pipe --------------------------------------------------------------------------


def test_answers_are_kept_and_taken_up_again(text_run: Path, judge: Judge) -> None:
    code, out, err = judge(text_run, "--judge", "anna", typed="y\nn too vague\nunsure\nz\nq\n")
    assert (code, err) == (0, "")
    assert out.startswith(
        "anna: 6 items to judge; verdicts go to "
    )  # what equals gold is not asked
    assert "[y]es  [n]o  [u]nsure  [s]kip  [b]ack" in out
    assert "item 2 of 6 · 1 done · about 1 min left" in out
    assert "quit: 2 items are newly judged and kept, 4 of 6 left; run the same command" in out
    (folder,) = {text_run.parent / "judgements"}
    said = read_store(folder).history["anna"]
    assert [v.answer for v in said] == ["yes", "no", "unsure", "withdrawn"]
    assert said[1].reason == "too vague"
    code, out, _ = judge(text_run, "--judge", "anna", typed="y\ny\ny\ny\n")
    assert code == 0
    assert "item 3 of 6 · 2 done" in out
    assert "done: 4 items are newly judged and kept, 0 of 6 left" in out
    code, out, _ = judge(text_run, "--judge", "anna", typed="")
    assert code == 0
    assert "all answered" in out


def test_closed_input_keeps_what_was_answered(text_run: Path, judge: Judge) -> None:
    code, _, err = judge(text_run, "--judge", "anna", typed="y\ny\n")
    assert code == 2
    assert err == (
        "assay: the input ended; 2 items are newly judged and kept, 4 of 6 left; run the same "
        "command to go on\n"
    )
    assert answers(text_run, "anna") == ["yes", "yes"]


def test_no_input_at_all_is_one_that_ended(
    text_run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Started with `<&-` a process has no standard input, not even an empty one."""
    monkeypatch.setattr(sys, "stdin", None)
    assert run(["judge", str(text_run), "--judge", "anna"]) == 2
    assert "assay: the input ended; 0 items are newly judged" in capsys.readouterr().err
    folder = text_run.parent / "verdicts"
    folder.mkdir()
    pair = {"id": "a", "nl": "list", "references": ["ls"], "predictions": ["dir"]}
    data = text_run.parent / "one.jsonl"
    data.write_text(json.dumps(pair) + "\n")
    arguments = ["commands", "score", "--predictions", str(data), "--gold", str(data)]
    assert run([*arguments, "--judgements", str(folder), "--manual_eval"]) == 2
    assert "assay: standard input ended: 0 judgements kept" in capsys.readouterr().err


def test_skip_back_comment_guidelines_and_other_keys(
    text_run: Path, judge: Judge, tmp_path: Path
) -> None:
    guide = tmp_path / "guide.txt"
    guide.write_text("Only what is thus is right.\n")
    typed = "g\nwhat\ns\nc because of this\nk\nb\nj\nr\nb\nb\nb\nq\n"
    code, out, _ = judge(
        text_run, "--judge", "anna", "--keys", "yes=j,no=k", "--guidelines", guide, typed=typed
    )
    assert code == 0
    assert "  Only what is thus is right." in out
    assert "'what' is no key: [j] yes  [k] no" in out
    assert "(your answer so far: no, because of this)" in out
    assert "there is nothing to redo" in out
    assert "this is the first item you have seen" in out
    history = read_store(text_run.parent / "judgements").history["anna"]
    assert [v.answer for v in history] == ["skip", "no", "yes"]
    assert history[1].reason == "because of this"


def test_ready_made_reasons_are_counted(text_run: Path, judge: Judge) -> None:
    options = ("--reasons", "wrong word,too vague")
    typed = "n 1\n2\nn\nn 2\nc 2\nn\nn something else\ny\n"
    code, out, _ = judge(text_run, "--judge", "anna", *options, typed=typed)
    assert code == 0
    assert "[q]uit  [1] wrong word  [2] too vague" in out
    assert "reason: too vague" in out
    judge(text_run, "--judge", "bert", *options, typed="y\n" * 6)
    data = document(judge(text_run, "--agreement", "--json")[1], "agreement-1")
    assert data["reasons"] == [["too vague", 3], ["something else", 1], ["wrong word", 1]]
    assert re.search(r"too vague +3", judge(text_run, "--agreement")[1])


def test_a_reason_belongs_to_the_item_it_was_given_for(text_run: Path, judge: Judge) -> None:
    options = ["--judge", "anna", "--order-seed", "1"]
    typed = "c\nodd word\ns\nn\nc\nlost\nb\n.\ny\nn\nn\nn\nn\nq\n"
    _, out, _ = judge(text_run, *options, typed=typed)
    (verdicts,) = read_store(text_run.parent / "judgements").judges.values()
    assert [v.reason for v in verdicts.values()] == [""] * 6
    # what was skipped comes again with what was said of it
    assert "(your answer so far: skip, odd word)" in out
    judge(text_run, "--judge", "bert", *options[2:], typed="s odd word\nq\n")
    assert [v.reason for v in read_store(text_run.parent / "judgements").history["bert"]] == [
        "odd word"
    ]


def test_a_judge_is_shown_all_of_a_text_line_by_line(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "first line\n    second line\n" + "word " * 600 + "the end"
    path = saved(tmp_path, "r", [(said, "nothing like it")], question=["tell " * 300 + "me"])
    capsys.readouterr()
    out = judge(path, "--judge", "a", typed="q\n")[1]
    assert out.count("word") == 600
    assert out.count("tell") == 300
    assert "more characters" not in out
    assert re.search(r"{\+first line\+}\n +{\+second line\+}\n", out)


def test_what_differs_from_the_nearest_gold_is_marked(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    path = saved(tmp_path, "r", [("ls -a", "ls"), ("\x1b[2Jx", "x")], question=["list", "clear"])
    capsys.readouterr()
    _, out, _ = judge(path, "--judge", "a", typed="y\ny\n")
    assert "asked for   list" in out
    assert "ls {+-a+}" in out
    assert "\x1b" not in out


def test_commands_are_compared_by_the_tokens_of_the_shell(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    gold.write_text('{"id": "1", "nl": "find it", "references": ["find . -type d -empty"]}\n')
    said.write_text('{"id": "1", "predictions": ["find . -empty -size +1M"]}\n')
    arguments = ["commands", "score", "-p", str(said), "-g", str(gold), "--json"]
    assert run([*arguments, "--save", str(tmp_path / "run")]) == 0
    capsys.readouterr()
    out = judge(tmp_path / "run", "--judge", "anna", typed="q\n")[1]
    assert "find . [--type d-] -empty\n" in out  # by words it would be -[-type d --]empty
    assert "find . -empty {+-size +1M+}\n" in out


def test_identical_predictions_of_two_systems_are_judged_once_and_hidden(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = [f"gold {n}" for n in range(4)]
    first = saved(tmp_path, "heron", [(f"a {n}", g) for n, g in enumerate(gold)])
    second = saved(
        tmp_path, "plover", [(f"{'b' if n > 2 else 'a'} {n}", g) for n, g in enumerate(gold)]
    )
    capsys.readouterr()
    _, out, _ = judge(first, second, "--judge", "anna", typed="y\n" * 5)
    assert "5 items to judge" in out
    assert "heron" not in out
    assert "plover" not in out
    _, out, _ = judge(second, "--judge", "anna")  # nothing new: found again for the other run
    assert "item" not in out.partition("\n")[2].replace("4 of 4", "").replace("items", "")


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        ("code", ["code", "score", "--dataset_name=code2seq_dataset"]),
        (
            "sparql",
            ["sparql", "score", "--file_path", "examples/sparql/careless.json", "--em_only"],
        ),
        (
            "metadata",
            [
                "metadata",
                "score",
                "--input",
                "examples/metadata/plover",
                "--truth",
                "examples/metadata/gold",
            ],
        ),
    ],
)
def test_runs_of_other_tasks_can_be_judged(
    task: str,
    arguments: list[str],
    tmp_path: Path,
    judge: Judge,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    if task == "code":
        (tmp_path / "p.txt").write_text("get|name\nset|value\nrun\n")
        (tmp_path / "g.txt").write_text("get|full|name\nset|value\nrun\n")
        arguments = [
            *arguments,
            f"--prediction_file={tmp_path}/p.txt",
            f"--target_file={tmp_path}/g.txt",
        ]
    if task == "metadata":
        arguments = [*arguments, "--output", str(tmp_path / "out")]
    path = tmp_path / "run"
    assert run([*arguments, "--save", str(path), "--ci", "0"]) == 0
    capsys.readouterr()
    code, out, err = judge(path, "--judge", "anna", typed="y\nq\n")
    assert code == 0, err
    assert "prediction" in out
    assert len(answers(path, "anna")) == 1


@pytest.mark.parametrize(
    ("arguments", "items", "shown"),
    [
        (  # queries that are gold apart from letter case are right; the question stands above
            ["sparql", "score", "--em_only", "--file_path", "examples/sparql/careful.json"],
            50,
            r"asked for +\w[^\n]*\?\n(?s:.)*prediction  (SELECT|ASK|INSERT) .*\n(?s:.)*note +gold returns: ",
        ),
        (  # the text of a stream without its times
            ["simul", "score", "examples/simul/systems/eager", "--latency-metrics", "LAAL"],
            39,
            r"prediction  (?!.*(text:|delays)).*\n",
        ),
    ],
)
def test_what_a_task_keeps_is_judged_as_readers_see_it(
    arguments: list[str],
    items: int,
    shown: str,
    tmp_path: Path,
    judge: Judge,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(ROOT)
    path = tmp_path / "run"
    assert run([*arguments, "--save", str(path), "--ci", "0"]) == 0
    capsys.readouterr()
    _, out, _ = judge(path, "--judge", "anna", typed="q\n")
    assert out.startswith(f"anna: {items} items to judge")
    assert re.search(shown, out)
    assert "delays" not in out


def test_verdicts_on_a_description_count_for_the_key_that_it_was_given(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, said, folder = tmp_path / "gold.jsonl", tmp_path / "said.jsonl", tmp_path / "judgements"
    row = {"id": "1", "nl": "find all files", "references": ["find . -type f"]}
    gold.write_text(json.dumps({**row, "key": "find fils"}) + "\n")
    said.write_text('{"id": "1", "predictions": ["find .", "ls -R"]}\n')
    folder.mkdir()
    sheet = "description,prediction,correct template,correct command\nfind all files,find .,n,n\n"
    (folder / "manual.evaluations.bert").write_text(sheet)
    arguments = ["commands", "score", "-p", str(said), "-g", str(gold), "--judgements", str(folder)]
    path = tmp_path / "run"
    assert run([*arguments, "--save", str(path), "--json"]) == 0
    judging = json.loads(capsys.readouterr().out)["extra"]["judging"]
    assert judging["unjudged"]["predictions"] == 1
    out = judge(path, "--judge", "anna", typed="n\n")[1]
    assert out.startswith("anna: 1 item to judge")
    assert "ls -R" in out
    exported = [json.loads(line) for line in judge(path, "--export", "jsonl")[1].splitlines()]
    assert [line["final"]["command"] for line in exported] == [False, False]


@pytest.fixture
def commands_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Commands of the sample data, with verdicts in a sheet of the old kind beside them."""
    data = tmp_path / "commands"
    shutil.copytree(ROOT / "examples" / "commands", data)
    (data / "judgements" / "verdicts.anna.jsonl").unlink()
    arguments = ["commands", "score", "--predictions", str(data / "wren.txt")]
    arguments += ["--gold", str(data / "gold.jsonl"), "--judgements", str(data / "judgements")]
    path = tmp_path / "runs" / "wren"
    assert run([*arguments, "--num_examples", "0", "--save", str(path), "--quiet"]) == 0
    capsys.readouterr()
    return path


def test_commands_are_asked_about_twice_and_old_sheets_are_read(
    commands_run: Path, judge: Judge, tmp_path: Path
) -> None:
    folder = tmp_path / "commands" / "judgements"  # the run remembers where its verdicts are
    sheet = read_sheet(folder / "manual.evaluations.bert.csv")
    told = {row.prediction for row in sheet if row.structure and row.command}
    code, out, err = judge(commands_run, "--judge", "anna", typed="n\nq\n")
    assert code == 0, err
    assert f"verdicts go to {folder}" in out
    shown = [
        item["prediction"]
        for item in map(json.loads, judge(commands_run, "--export", "jsonl")[1].splitlines())
        if item["final"]["command"] is None
    ]
    assert shown
    assert not set(shown) & told
    said = read_store(folder).history["anna"]
    first = out.partition("item 1 of")[2]
    if "structure" in first.partition("[y/n/...]")[0]:
        assert [(v.question, v.answer) for v in said] == [("structure", "no"), ("command", "no")]
    else:
        assert [(v.question, v.answer) for v in said] == [("command", "no")]


def test_verdicts_on_structures_are_found_however_structures_are_printed(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    """Judged in the order given; found again where flags are put in one order."""
    gold, said = tmp_path / "gold.jsonl", tmp_path / "said.jsonl"
    folder = tmp_path / "judgements"
    gold.write_text('{"id": "1", "nl": "list all", "references": ["ls -a"]}\n')

    def scored(name: str, command: str, *options: str) -> Path:
        said.write_text(json.dumps({"id": "1", "predictions": [command]}) + "\n")
        folder.mkdir(exist_ok=True)
        arguments = ["commands", "score", "-p", said, "-g", gold, "--judgements", folder]
        path = tmp_path / "runs" / name
        assert run([*map(str, arguments), "--save", str(path), "--json", *options]) == 0
        return path

    judge(scored("strict", "ls -l -a"), "--judge", "anna", typed="y\nn\n")
    loose = scored("loose", "ls --all -l", "--match", "loose")
    capsys.readouterr()
    # Another command with the structure that she has judged: only the command is asked about.
    _, out, _ = judge(loose, "--judge", "anna", typed="y\n")
    assert "Is the structure" not in out
    assert "Is the command correct?" in out
    assert answers_in(folder, "anna") == {"ls -l -a": "no", "ls --all -l": "yes"}
    # Others see the same structure judged, so with two of them nothing is left for a third.
    judge(loose, "--judge", "bert", typed="y\ny\n")
    assert "nothing is left" in judge(loose, "--judge", "carl", "--overlap", "2")[1]
    scores = json.loads(
        (scored("again", "ls --all -l", "--match", "loose") / "run.json").read_text()
    )
    assert scores["scores"]["top1_template_accuracy"] == 1.0
    assert scores["extra"]["judging"]["unjudged"]["predictions"] == 0


def answers_in(folder: Path, name: str) -> dict[str, str]:
    said = read_store(folder).judges[name].values()
    return {v.prediction: v.answer for v in said if v.question == "command"}


def test_an_estimate_does_not_build_on_the_verdicts_themselves(
    commands_run: Path, judge: Judge
) -> None:
    judge(commands_run, "--judge", "anna", "--sample", "4", "--seed", "1", typed="y\n" * 30)
    code, _, err = judge(commands_run, "--estimate", "--metric", "top1_command_accuracy")
    assert code == 2
    assert "rests on the verdicts themselves" in err
    code, out, err = judge(commands_run, "--estimate", "--json")
    assert code == 0, err
    data = document(out, "estimate-1")
    assert data["metric"] == "match"
    found = data["systems"][0]["estimates"]
    assert list(found) == ["top1_command", "top2_command", "top1_structure", "top2_structure"]
    assert found["top1_command"]["value"] <= found["top2_command"]["value"]
    assert found["top1_command"]["value"] <= found["top1_structure"]["value"]
    assert found["top1_command"]["known"] + found["top1_command"]["rest"] == 30
    assert found["top1_command"]["sampled"] == 4


@pytest.fixture
def ranked_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """Three descriptions with three commands each, nothing judged; q1's first is as gold has it."""
    gold = tmp_path / "gold.jsonl"
    said = tmp_path / "said.jsonl"
    with gold.open("w") as one, said.open("w") as other:
        for n in range(3):
            text = f"print line {n} of the file"
            one.write(
                json.dumps({"id": f"q{n}", "nl": text, "references": [f"sed -n {n}p"]}) + "\n"
            )
            first = f"sed -n {n}p" if n == 1 else f"head -n {n}"
            ranks = [first, f"tail -n {n}", f"awk NR=={n}"]
            other.write(json.dumps({"id": f"q{n}", "predictions": ranks}) + "\n")
    (tmp_path / "judgements").mkdir()
    arguments = ["commands", "score", "--predictions", str(said), "--gold", str(gold)]
    arguments += ["--judgements", str(tmp_path / "judgements"), "--num_examples", "0"]
    path = tmp_path / "runs" / "heron"
    assert run([*arguments, "--save", str(path), "--quiet"]) == 0
    capsys.readouterr()
    return path


def test_what_can_still_change_a_score_is_counted_and_asked_first_or_only(
    ranked_run: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = json.loads((ranked_run / "run.json").read_text())["extra"]["judging"]
    assert (counted["deciding"], counted["unjudged"]["predictions"]) == (6, 8)  # q1 is decided
    _, out, _ = judge(ranked_run, "--judge", "anna", typed="q\n")
    assert "anna: 8 items to judge" in out
    assert (
        "6 of 8 open items can still change a score (about 2 min): --deciding first asks these "
        "first, --deciding only no others\n"
    ) in out
    assert "0 done · 6 can change a score · about" in out
    _, out, _ = judge(ranked_run, "--judge", "anna", "--deciding", "first", typed="y\nn\n" * 8)
    assert "6 of 8 open items can still change a score and come first (about 2 min)\n" in out
    shown = re.findall(r"asked for +print line (\d)", out)
    # The first one has the right structure, so of the other two only the command is of interest.
    assert shown[-2:] == ["1", "1"]
    assert "1" not in shown[:-2]
    _, out, _ = judge(ranked_run, "--judge", "bert", "--deciding", "only", typed="y\ny\n" * 2)
    assert "not asked, because no score can change by it: 2\n" in out
    assert re.findall(r"prediction +\S*(head|tail|awk)", out.replace("{+", "")) == ["head"] * 2
    assert "done: 2 items are newly judged and kept, 0 of 8 left (6 need no answer)" in out
    # What is decided for the judge is decided for the score: every bound is closed.
    again = json.loads((ranked_run / "run.json").read_text())["options"]
    arguments = ["commands", "score", "--judgements", again["judgements"], "--num_examples", "0"]
    arguments += ["--predictions", str(ranked_run.parents[1] / "said.jsonl")]
    arguments += ["--gold", str(ranked_run.parents[1] / "gold.jsonl"), "--json", "--quiet"]
    (Path(again["judgements"]) / "verdicts.anna.jsonl").unlink()
    capsys.readouterr()
    assert run(arguments) == 0
    found = json.loads(capsys.readouterr().out)["extra"]["judging"]
    assert found["deciding"] == 0
    assert all(low == high for low, high in found["bounds"].values())


# -- in a repository ------------------------------------------------------------------------------


def git(folder: Path, *arguments: str) -> None:
    who = ("-c", "user.name=test", "-c", "user.email=test@example.org")
    command = ["git", "-C", str(folder), *who, *arguments]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, "LC_ALL": "C"})


def test_two_clones_are_judged_and_merged(text_run: Path, tmp_path: Path, judge: Judge) -> None:
    """Another judge in each clone, and the same one in both: nothing conflicts or is lost."""
    here, there = tmp_path / "runs", tmp_path / "clone"
    git(tmp_path, "init", "--quiet", str(here))
    git(here, "add", "--all")
    git(here, "commit", "--quiet", "-m", "a run")
    git(tmp_path, "clone", "--quiet", str(here), str(there))
    for clone, name in ((there, "bert"), (here, "anna")):
        run = clone / text_run.name
        draw = ("--sample", "4", "--seed", "1")
        judge(run, "--judge", name, *draw, typed="y\nn\nq\n")
        judge(run, "--judge", "eve", *draw, typed="n\ny\n" if clone == here else "u\nq\n")
        git(clone, "add", "--all")
        git(clone, "commit", "--quiet", "-m", f"judged by {name}")
    git(here, "pull", "--quiet", "--no-rebase", str(there), "HEAD")
    store = read_store(here / "judgements")
    given = {name: [v.answer for v in said] for name, said in store.history.items()}
    # Bert had judged before Anna drew; that both drew four with one seed is one draw nevertheless.
    assert given["bert"] == given["anna"] == ["yes", "no"]
    assert sorted(given["eve"]) == ["no", "unsure", "yes"]
    (sample,) = read_samples(here / "judgements")
    assert len(sample.drawn) == 4
    code, out, _ = judge(
        text_run, "--judge", "anna", "--sample", "4", "--seed", "1", typed="y\nn\n"
    )
    assert code == 0
    assert "done: 2 items are newly judged and kept, 0 of 4 left" in out


# -- at a terminal --------------------------------------------------------------------------------


def test_at_a_terminal_one_key_is_one_answer(text_run: Path) -> None:
    """A real terminal: no line ends are typed, and the input is not closed."""
    main, end = pty.openpty()
    command = [sys.executable, "-m", "assay", "judge", str(text_run), "--judge", "anna"]
    process = subprocess.Popen(
        command,
        stdin=end,
        stdout=end,
        stderr=end,
        start_new_session=True,
        # The terminal has to be the process's own, or Ctrl-C is a key like any other.
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        env={**os.environ, "TERM": "xterm"},
    )
    os.close(end)
    seen = ""

    def until(text: str) -> None:
        nonlocal seen
        while text not in seen:
            ready, _, _ = select.select([main], [], [], 60)
            assert ready, seen
            seen += os.read(main, 65536).decode()
        seen = seen.partition(text)[2]

    until("item 1 of 6")
    until("[y/n/...] ")
    os.write(main, b"y")
    until("item 2 of 6 · 1 done")
    until("[y/n/...] ")
    os.write(main, b"c")
    until("reason: ")
    os.write(main, b"too vague\n")
    until("[y/n/...] ")
    os.write(main, b"n")
    until("item 3 of 6 · 2 done")
    until("[y/n/...] ")
    os.write(main, b"\x03")  # Ctrl-C
    until("interrupted; 2 items are newly judged and kept, 4 of 6 left")
    assert process.wait() == 130
    os.close(main)
    history = read_store(text_run.parent / "judgements").history["anna"]
    assert [(v.answer, v.reason) for v in history] == [("yes", ""), ("no", "too vague")]


def test_who_has_no_login_name_is_asked_for_one(
    text_run: Path, judge: Judge, monkeypatch: pytest.MonkeyPatch
) -> None:
    import getpass

    def nobody() -> str:
        raise KeyError("getpwuid(): uid not found: 4242")

    monkeypatch.setattr(getpass, "getuser", nobody)
    code, _, err = judge(text_run)
    assert (code, err) == (2, "assay: say who judges: --judge NAME\n")
    monkeypatch.setattr(getpass, "getuser", lambda: "dora")
    code, out, _ = judge(text_run, typed="q\n")
    assert (code, out.startswith("dora: 6 items")) == (0, True)


# -- what is refused ------------------------------------------------------------------------------


def test_two_processes_judging_as_one_person(text_run: Path, judge: Judge) -> None:
    with VerdictLog(text_run.parent / "judgements", "anna"):
        code, _, err = judge(text_run, "--judge", "anna", typed="y\n")
    assert code == 2
    assert "somebody is judging as 'anna' already" in err
    assert err.count("\n") == 1


REFUSED = [
    # arguments, what is said
    (["nowhere"], "nowhere: does not exist"),
    (["RUN", "--judge", "a/b"], "not a name for a judge"),
    (["RUN", "--judge", ""], "not a name for a judge"),
    (["RUN", "--keys", "yes=yy"], "give one character"),
    (["RUN", "--keys", "yes=1"], "no digit"),
    (["RUN", "--reasons", "a,b,c,d,e,f,g,h,i,j"], "there are keys for 9"),
    (["RUN", "--keys", "yes=n"], "'n' is the key of yes and no"),
    (["RUN", "--keys", "maybe=m"], "unknown action for --keys 'maybe'"),
    (["RUN", "--web", "--estimate"], "ask for one at a time"),
    (["RUN", "--sample", "0", "--judge", "a"], "--sample 0 must be 1 or more"),
    (["RUN", "--overlap", "0"], "--overlap 0 must be 1 or more"),
    (["RUN", "--repeats", "-1"], "--repeats -1 must not be negative"),
    (["RUN", "--differing", "--judge", "a"], "give two runs"),
    (["RUN", "--until-decided", "--judge", "a"], "give two runs"),
    (["RUN", "--agreement"], "judgements: does not exist, so nobody has judged yet"),
    (["RUN", "--estimate", "--judgements", "RUN"], "holds no record of a random draw"),
    (["RUN", "--agreement", "--judgements", "RUN"], "at least two judges"),
    (["TABLE", "--agreement", "--ci", "0"], "--ci 0.0 must be between 0 and 1"),
    (["TABLE", "--agreement", "--resamples", "0"], "--resamples 0 must be 1 or more"),
    (["RUN", "--export", "csv", "--judgements", "nowhere"], "nowhere: does not exist"),
    (["RUN", "--judge", "a", "--judgements", "/proc/nowhere"], "cannot be written"),
    (["RUN", "--guidelines", "nowhere.txt"], "nowhere.txt: cannot be read"),
    (["RUN", "--web", "--port", "99999"], "99999 is not a port"),
    (["RUN", "--judgements", "RUN/run.json", "--judge", "a"], "is not a folder"),
    (["RUN", "--web", "--judgements", "/proc/nowhere"], "/proc/nowhere cannot be written"),
    (["RUN/run.json", "--agreement"], "no two columns of judges"),
    (["RUN", "--errors", "--judgements", "RUN"], "give two runs"),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED, ids=[" ".join(r[0]) for r in REFUSED])
def test_refused_in_one_line(text_run: Path, judge: Judge, arguments: list[str], said: str) -> None:
    table = text_run.parent / "table.csv"
    table.write_text("A,B\ny,y\ny,n\n")
    given = [a.replace("RUN", str(text_run)).replace("TABLE", str(table)) for a in arguments]
    code, out, err = judge(*given)
    assert code == 2
    assert said in err
    assert err.count("\n") == 1
    assert out == ""


def test_runs_on_other_gold_are_not_mixed(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    one = saved(tmp_path, "one", [("a", "b")])
    two = saved(tmp_path, "two", [("a", "c")])
    capsys.readouterr()
    code, _, err = judge(one, two)
    assert code == 2
    assert "different gold" in err


def test_a_server_that_others_can_reach_has_a_token(text_run: Path) -> None:
    import urllib.error
    import urllib.request

    command = [sys.executable, "-m", "assay", "judge", str(text_run), "--web", "--port", "0"]
    process = subprocess.Popen(
        [*command, "--host", "0.0.0.0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    try:
        found = re.fullmatch(
            r"judging at http://0\.0\.0\.0:(\d+)/\?token=(\S+)\n", process.stdout.readline()
        )
        assert found
        base = f"http://127.0.0.1:{found[1]}/"
        with pytest.raises(urllib.error.HTTPError, match="401") as refused:
            urllib.request.urlopen(base)
        refused.value.close()
        with urllib.request.urlopen(f"{base}?token={found[2]}") as page:
            assert b"Your name" in page.read()
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


# -- what has been judged -------------------------------------------------------------------------


def test_agreement_adjudication_and_export(text_run: Path, judge: Judge) -> None:
    order = ("--order-seed", "1")
    judge(text_run, "--judge", "anna", *order, typed="y\ny\nn\nn\ny\nn bad\n")
    judge(text_run, "--judge", "bert", *order, typed="y\nn no\nn\nn\ny\nn\n")
    code, out, _ = judge(text_run, "--agreement")
    assert code == 0
    assert "correct: anna, bert, 6 items" in out
    assert re.search(r"agreement \(share\) +0\.8333", out)
    assert re.search(r"Cohen's kappa +0\.6667", out)
    assert "anna: yes, bert: no" in out
    assert "1 to settle; a third person does it with --adjudicate." in out
    data = document(judge(text_run, "--agreement", "--json")[1], "agreement-1")
    assert data["schema"] == "assay.agreement/1"
    found = data["questions"]["correct"]
    assert found["coefficients"]["cohen"]["value"] == pytest.approx(2 / 3)
    assert found["pairs"][0]["table"] == {"no/no": 3, "no/yes": 0, "yes/no": 1, "yes/yes": 2}
    assert data["unsettled"] == 1
    assert data["disagreements"][0]["reasons"] == {"bert": "no"}
    own = "is one of those who differ on 1 of them; a third person should settle these"
    assert f"anna {own}" in judge(text_run, "--adjudicate", "--judge", "anna", typed="")[1]
    code, out, _ = judge(text_run, "--adjudicate", "--judge", "carl", typed="y\n")
    assert "carl: 1 item to judge" in out
    assert "one of those who differ" not in out
    assert "  anna        yes\n  bert        no (no)\n" in out
    data = document(judge(text_run, "--agreement", "--json")[1], "agreement-1")
    assert data["unsettled"] == 0
    assert data["disagreements"][0]["final"] == "yes"
    assert data["questions"]["correct"]["judges"] == ["anna", "bert"]  # carl settled, no more
    rows = list(csv.DictReader(io.StringIO(judge(text_run, "--export", "csv")[1])))
    assert len(rows) == 6
    assert sorted(row["correct command"] for row in rows) == ["bad", "n", "n", "y", "y", "y"]
    assert {row["correct command carl"] for row in rows} == {"", "y"}
    lines = judge(text_run, "--export", "jsonl")[1].splitlines()
    finals = [json.loads(line)["final"]["correct"] for line in lines]
    assert (finals.count(True), finals.count(False)) == (4, 3)  # the seventh agrees with gold


def test_an_exported_sheet_is_read_back(text_run: Path, judge: Judge, tmp_path: Path) -> None:
    judge(text_run, "--judge", "anna", typed="y\nn\n" * 3)
    other = tmp_path / "elsewhere"
    other.mkdir()
    sheet = other / "manual.evaluations.anna.csv"
    sheet.write_text(judge(text_run, "--export", "csv")[1])
    _, out, _ = judge(text_run, "--judgements", other, "--judge", "bert")
    assert out.startswith("nothing is left to judge for bert")
    lines = judge(text_run, "--judgements", other, "--export", "jsonl")[1].splitlines()
    finals = [json.loads(line)["final"]["correct"] for line in lines]
    assert (finals.count(True), finals.count(False)) == (4, 3)


def test_a_no_is_no_yes_in_the_sheet_whatever_its_reason(
    text_run: Path, judge: Judge, tmp_path: Path
) -> None:
    judge(text_run, "--judge", "anna", typed="n y\n" * 3 + "n Y \n" * 3)
    sheet = judge(text_run, "--export", "csv")[1]
    again = tmp_path / "again"
    again.mkdir()
    (again / "manual.evaluations.anna").write_text(sheet)
    assert {v.answer for v in read_store(again).sheets.values()} == {"no"}


def test_what_was_written_is_exported_to_the_byte(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = '\x1b[1mbold\x1b[0m, "so"\r\n\tand =1+1'
    path = saved(tmp_path, "strange", [(strange, "plain"), ("x", "y")])
    capsys.readouterr()
    judge(path, "--judge", "anna", typed="y\nn \x07bell\n")
    rows = list(csv.DictReader(io.StringIO(judge(path, "--export", "csv")[1], newline="")))
    assert {row["prediction"] for row in rows} == {strange, "x"}
    assert list(rows[0])[5:] == ["correct template anna", "correct command anna"]
    elsewhere = saved(tmp_path, "elsewhere", [("other", "thing")])  # anna said nothing about it
    capsys.readouterr()
    judge(elsewhere, "--judge", "bert", typed="y\n")
    header = judge(elsewhere, "--export", "csv")[1].partition("\n")[0]
    assert "bert" in header
    assert "anna" not in header


def test_controls_and_repeats_are_reported(text_run: Path, judge: Judge) -> None:
    options = ("--controls", "2", "--repeats", "2")
    for name in ("anna", "bert"):
        _, out, _ = judge(text_run, "--judge", name, *options, typed="y\n" * 12)
        assert "0 of" in out.splitlines()[-1]
    data = document(judge(text_run, "--agreement", "--json")[1], "agreement-1")
    anna = data["judges"][0]
    assert (anna["repeats"], anna["steady"], anna["yes"]) == (2, 2, 6)
    assert anna["controls"] == 2
    assert anna["right"] == 1  # yes to everything is right for gold, and for nothing else
    assert "repeats same" in judge(text_run, "--agreement")[1]


@pytest.mark.parametrize("question", ["command", "template"])
def test_agreement_of_a_table_of_judges(question: str, judge: Judge) -> None:
    case = ORACLES / "agreement-dev"
    if not case.is_dir():
        pytest.skip(f"{case} is not there: the verdicts of others are not kept in this project")
    expected = json.loads((case / "expected.json").read_text())["expected"][question]
    code, out, _ = judge(case / "annotators.csv", "--agreement", "--json", "--resamples", "10")
    assert code == 0
    found = document(out, "agreement-1")["questions"][question]
    pair = next(p for p in found["pairs"] if p["judges"] == ["A", "B"])
    assert pair["percent"] == pytest.approx(expected["raw_agreement_AB"], abs=1e-9)
    assert pair["cohen"] == pytest.approx(expected["cohen_kappa_AB"], abs=1e-9)
    alpha = expected["krippendorff_alpha_nominal_ABC_missing"]
    assert found["coefficients"]["krippendorff"]["value"] == pytest.approx(alpha, abs=1e-9)
    two = ("--agreement", "--between", "A,B", "--json", "--resamples", "10")
    found = document(judge(case / "annotators.csv", *two)[1], "agreement-1")["questions"][question]
    coefficients = {name: c["value"] for name, c in found["coefficients"].items()}
    gwet = coefficients.pop("gwet")
    assert gwet == pytest.approx(expected["gwet_ac1_AB_rounded5"], abs=5e-6)
    assert coefficients == pytest.approx(
        {
            "percent": expected["raw_agreement_AB"],
            "cohen": expected["cohen_kappa_AB"],
            "fleiss": expected["fleiss_kappa_AB"],
            "krippendorff": expected["krippendorff_alpha_nominal_AB"],
        },
        abs=1e-9,
    )


TABLES = [
    # name, table, what is said of it
    ("too many cells", "A,B\ny,n\ny,n,y\n", "a row has 3 cells where the header names 2 (y, n, y)"),
    ("a judge twice", "A,B,B\ny,n,y\n", "line 1: the column 'B' is there twice"),
    ("not closed", 'A,B\ny,"n\n', "not CSV in UTF-8"),
    ("empty", "", "is empty; its first line must name the judges"),
    ("one judge", "item,A\n1,y\n", "there are no two columns of judges on one question"),
]


@pytest.mark.parametrize(("name", "text", "said"), TABLES, ids=[t[0] for t in TABLES])
def test_a_table_that_makes_no_sense_is_refused(
    name: str, text: str, said: str, judge: Judge, tmp_path: Path
) -> None:
    table = tmp_path / "table.csv"
    table.write_text(text)
    code, out, err = judge(table, "--agreement")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert said in err


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_tables_of_spreadsheets_are_read(sign: str, judge: Judge, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    table.write_text("\ufeffitem,A,B\r\n1,y,y\r\n2,n,y\r\n3,n,n,\r\n".replace(",", sign))
    data = document(judge(table, "--agreement", "--json")[1], "agreement-1")
    assert data["questions"]["correct"]["coefficients"]["percent"]["value"] == pytest.approx(2 / 3)


def test_agreement_that_is_not_defined_says_so(judge: Judge, tmp_path: Path) -> None:
    table = tmp_path / "annotators.csv"
    table.write_text("item,A,B\n0,y,y\n1,y,y\n2,y,y\n")
    data = document(judge(table, "--agreement", "--json")[1], "agreement-1")
    coefficients = data["questions"]["correct"]["coefficients"]
    assert coefficients["percent"]["value"] == 1.0
    assert coefficients["cohen"]["value"] is None
    assert coefficients["krippendorff"]["value"] is None
    assert "Cohen's kappa: not defined: all verdicts are equal" in judge(table, "--agreement")[1]


def test_agreement_between_some_of_the_judges(text_run: Path, judge: Judge, tmp_path: Path) -> None:
    """Carl is asked where the others differ; what Anna and Bert agree by does not depend on him."""
    same = ("--order-seed", "1")
    judge(text_run, "--judge", "anna", *same, typed="y\ny\ny\nn\nn\nn\n")
    judge(text_run, "--judge", "bert", *same, typed="y\ny\ny\nn\nn\ny\n")
    before = document(judge(text_run, "--agreement", "--json")[1], "agreement-1")
    judge(text_run, "--judge", "carl", *same, typed="n\nn\nn\ny\ny\ny\n")
    two = ("--agreement", "--between", " anna, bert", "--json")
    after = document(judge(text_run, *two)[1], "agreement-1")
    assert after["questions"] == before["questions"]
    assert after["statistics"]["between"] == ["anna", "bert"]
    code, out, err = judge(text_run, "--agreement", "--between", "anna,brt")
    assert (code, out) == (2, "")
    assert "unknown judge 'brt'; did you mean 'bert'?" in err
    assert "two judges or more" in judge(text_run, "--agreement", "--between", "anna")[2]


def test_judges_who_have_nothing_in_common_yet(text_run: Path, judge: Judge) -> None:
    judge(text_run, "--judge", "anna", "--overlap", "1", typed="y\nn\nq\n")
    judge(text_run, "--judge", "bert", "--overlap", "1", typed="y\nq\n")
    _, out, _ = judge(text_run, "--agreement")
    assert "correct: anna, bert; no prediction has two verdicts yet" in out
    assert "kappa" not in out


def test_what_is_to_settle_is_counted_by_item(ranked_run: Path, judge: Judge) -> None:
    """Who says no to the structure says it of the command, too: that is one item."""
    judge(ranked_run, "--judge", "anna", "--order-seed", "1", typed="n\nq\n")
    judge(ranked_run, "--judge", "bert", "--order-seed", "1", typed="y\ny\nq\n")
    data = document(judge(ranked_run, "--agreement", "--json")[1], "agreement-1")
    assert data["unsettled"] == 1
    assert "carl: 1 item to judge" in judge(ranked_run, "--judge", "carl", "--adjudicate")[1]


def test_errors_of_two_runs(big_runs: tuple[Path, Path], judge: Judge) -> None:
    answer = {"right": "y\nq\n", "wrong": "n not so\nq\n"}
    for _ in range(6):
        out = judge(*big_runs, "--judge", "anna", "--differing", typed="q\n")[1]
        shown = re.findall(r"prediction +(.*)", out)[0]
        typed = answer["right" if "right" in shown else "wrong"]
        judge(*big_runs, "--judge", "anna", "--differing", typed=typed)
    data = document(judge(*big_runs, "--errors", "--json")[1], "errors-1")
    assert data["overlap"]["correct"] == {"yy": 0, "yn": 0, "ny": 3, "nn": 0}
    assert data["categories"] == {"first": [["not so", 3]], "second": []}
    assert re.search(r"only second", judge(*big_runs, "--errors")[1])


# -- samples, estimates, comparisons --------------------------------------------------------------


@pytest.fixture
def big_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[Path, Path]:
    """Two systems on 60 examples; the second is right more often, and says `right` then."""
    gold = [f"number {n} is prime" for n in range(60)]
    first = [f"number {n} is {'right' if n % 3 == 0 else 'not so'}" for n in range(60)]
    second = [f"number {n} is {'right' if n % 3 < 2 else 'not so'}" for n in range(60)]
    runs = (
        saved(tmp_path, "first", list(zip(first, gold, strict=True))),
        saved(tmp_path, "second", list(zip(second, gold, strict=True))),
    )
    capsys.readouterr()
    return runs


def honest(judge: Judge, *arguments: object) -> str:
    """Judges by what is shown, one answer after the other, until nothing is asked."""
    _, out, _ = judge(*arguments, typed="")
    total = int(re.findall(r"(\d+) items? to judge", out)[0])
    for _ in range(total):
        code, out, _ = judge(*arguments, typed="q\n")
        if "quit:" not in out:
            break
        shown = re.findall(r"prediction +(.*)", out)[0]
        code, out, _ = judge(*arguments, typed="y\nq\n" if "right" in shown else "n\nq\n")
        assert code == 0
        if "decided:" in out:
            break
    return out


def test_estimate_from_a_recorded_sample(big_runs: tuple[Path, Path], judge: Judge) -> None:
    run, _ = big_runs
    options = ("--judge", "anna", "--sample", "20", "--seed", "7")
    honest(judge, run, *options)
    code, out, err = judge(run, "--estimate", "--json")
    assert code == 0, err
    data = document(out, "estimate-1")
    found = data["systems"][0]["estimates"]["correct"]
    low, high = found["finite"]
    assert low <= 1 / 3 <= high  # the truth
    assert (found["units"], found["rest"], found["sampled"]) == (60, 60, 20)
    assert found["future"][1] - found["future"][0] > high - low
    assert data["sample"]["seed"] == 7
    text = judge(run, "--estimate")[1]
    assert "20 examples drawn with seed 7 from 60; 0 known before." in text
    assert "ppi++(chrf)|n:20|of:60|seed:7|ci:0.95" in text
    assert (data["warnings"], found["rarer"]) == (
        [
            "first, correct: the intervals come out somewhat too short; of 20 sampled verdicts "
            f"only {found['rarer']} are of the rarer kind, and 10 are needed"
        ],
        found["rarer"],
    )
    assert "come out somewhat too short" in judge(run, "--estimate")[2]
    assert "come out" not in judge(run, "--estimate", "--quiet")[2]
    # A second sample takes what is known for known.
    honest(judge, run, "--judge", "anna", "--sample", "15", "--seed", "8")
    again = document(judge(run, "--estimate", "--json")[1], "estimate-1")["systems"][0][
        "estimates"
    ]["correct"]
    assert (again["known"], again["rest"], again["sampled"]) == (20, 40, 15)
    assert again["finite"][0] <= 1 / 3 <= again["finite"][1]


def test_how_well_scores_foretell_people(
    tmp_path: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of these examples one word is right or not; a score of words sees no more than that."""
    rows = []
    for n in range(60):
        said = f"it is {'right' if n % 2 else 'wrongly put ' + 'so ' * (n % 4)}"
        rows.append({"id": f"q{n}", "prediction": said, "gold": "it was right"})
    data = tmp_path / "data.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = tmp_path / "run"
    arguments = ["text", "score", "-p", str(data), "-g", str(data), "-m", "chrf", "-m", "token_f1"]
    assert run([*arguments, "--save", str(path), "--quiet"]) == 0
    capsys.readouterr()
    honest(judge, path, "--judge", "anna", "--sample", "15", "--seed", "3")
    found = document(judge(path, "--estimate", "--json")[1], "estimate-1")["validity"]
    assert {each["score"] for each in found} >= {"chrf", "token_f1"}
    best = found[0]
    assert best["correlation"] > 0.9
    assert best["worth"] > 30
    assert [each["worth"] for each in found] == sorted((v["worth"] for v in found), reverse=True)
    text = judge(path, "--estimate")[1]
    assert "how well scores foretell people" in text
    assert re.search(rf"data +correct +{best['score']} +0\.9\d+ ", text)


def test_where_everything_is_judged_nothing_needs_a_draw(
    big_runs: tuple[Path, Path], judge: Judge
) -> None:
    run, _ = big_runs
    honest(judge, *big_runs, "--judge", "anna", "--differing")
    # 20 of 60 differ: the second is right there, the first is not
    code, out, err = judge(*big_runs, "--estimate", "--json")
    assert code == 0, err
    data = document(out, "estimate-1")
    assert (data["sample"]["seed"], data["sample"]["differing"]) == (None, True)
    assert [s["estimates"] for s in data["systems"]] == [{}, {}]
    found = data["difference"]["correct"]
    assert (found["value"], found["method"]) == (-20 / 60, "census")
    assert found["finite"] == [-20 / 60, -20 / 60]
    text = judge(*big_runs, "--estimate")[1]
    assert "Of 60 examples all on which the systems differ have verdicts" in text
    assert "census|of:60|known:60|ci:0.95" in text
    assert "no record of a random draw" in judge(run, "--estimate")[2]  # alone 40 are not known
    honest(judge, run, "--judge", "anna")
    text = judge(run, "--estimate")[1]
    assert "All 60 examples have verdicts: counted, not estimated." in text
    assert re.search(r"correct +0\.3333 +\[0\.3333, 0\.3333\] +\[0\.2273, 0\.4594\]", text)
    assert "which --estimate counts" in judge(run, "--judge", "anna", "--sample", "5")[2]


def test_no_estimate_from_what_somebody_happened_to_judge(
    big_runs: tuple[Path, Path], judge: Judge
) -> None:
    run, other = big_runs
    judge(run, "--judge", "anna", typed="y\n" * 20)
    code, _, err = judge(run, "--estimate")
    assert (code, "no record of a random draw" in err) == (2, True)
    judge(run, "--judge", "anna", "--sample", "10", typed="y\n" * 5)
    code, _, err = judge(run, "--estimate")
    assert code == 2
    assert "5 of the 10 sampled items have no final verdict yet" in err
    code, _, err = judge(other, "--estimate")
    assert code == 2
    assert "drawn from another set of items" in err


def test_two_systems_where_they_differ(big_runs: tuple[Path, Path], judge: Judge) -> None:
    options = ("--judge", "anna", "--differing", "--sample", "12")
    _, out, _ = judge(*big_runs, *options, typed="")
    assert "24 items to judge, 12 of 60 examples drawn" in out  # 20 examples differ
    honest(judge, *big_runs, *options)
    code, out, err = judge(*big_runs, "--estimate", "--json")
    assert code == 0, err
    data = document(out, "estimate-1")
    assert data["systems"][0]["estimates"] == {}  # nothing follows about each by itself
    found = data["difference"]["correct"]
    assert found["value"] == pytest.approx(-1 / 3)
    assert (found["known"], found["rest"], found["sampled"]) == (40, 20, 12)
    assert "first - second" in judge(*big_runs, "--estimate")[1]


def test_judging_stops_when_it_is_decided(big_runs: tuple[Path, Path], judge: Judge) -> None:
    out = honest(judge, *big_runs, "--judge", "anna", "--until-decided")
    assert "decided: second is better than first (evidence 2" in out
    judged = len(answers(big_runs[0], "anna"))
    assert judged < 20  # of 40 items on the 20 examples that differ
    _, out, _ = judge(*big_runs, "--judge", "anna", "--until-decided")
    assert "decided: second is better than first" in out


def test_what_decides_is_which_first_prediction_is_right(
    ranked_run: Path, judge: Judge, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second system has another first command for q0 only, and other third ones everywhere."""
    lines = (ranked_run.parents[1] / "said.jsonl").read_text().splitlines()
    said = [json.loads(line) for line in lines]
    for record in said:
        record["predictions"][2] = "cat"
    said[0]["predictions"][0] = "sed 0p"
    data = ranked_run.parents[1] / "other.jsonl"
    data.write_text("".join(f"{json.dumps(record)}\n" for record in said))
    arguments = ["commands", "score", "--predictions", str(data), "--num_examples", "0"]
    arguments += ["--gold", str(ranked_run.parents[1] / "gold.jsonl")]
    arguments += ["--judgements", str(ranked_run.parents[1] / "judgements")]
    other = ranked_run.parent / "plover"
    assert run([*arguments, "--save", str(other), "--quiet"]) == 0
    capsys.readouterr()
    _, out, _ = judge(ranked_run, other, "--judge", "anna", "--differing", typed="q\n")
    # Five different ones of q0, three of q1, whose first is as gold has it, four of q2.
    assert "12 items to judge" in out
    _, out, _ = judge(ranked_run, other, "--judge", "anna", "--until-decided", typed="y\ny\nn\n")
    assert "2 items to judge" in out
    assert set(re.findall(r"prediction +(.*)", out.replace("{+", "").replace("+}", ""))) == {
        "head -n 0",
        "sed 0p",
    }
    assert "judged examples that differ: 1, with one right prediction: 1" in out

# SPDX-License-Identifier: Apache-2.0
"""Verdicts and what they do to scores, bounds and estimates; the dialogue over plain pipes."""

from __future__ import annotations

import io
import itertools
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate
from assay.core.console import Streams, talking
from assay.core.errors import AssayError
from assay.core.judging import Item
from assay.judge.estimate import estimate
from assay.judge.log import VerdictLog
from assay.judge.sample import draw_order, read_samples
from assay.tasks.commands import TASK
from assay.tasks.commands.judging import _deciding
from assay.tasks.commands.verdicts import Known, from_letters, letters

HEADER = "description,prediction,template,correct template,correct command\n"
GOLD: list[dict[str, Any]] = [
    {"id": "1", "nl": "count lines of f", "references": ["wc -l f"]},
    {"id": "2", "nl": "list all files in d", "references": ["ls -a d"]},
]
PREDICTIONS = [["cat f | wc -l", "wc -l g"], ["ls d", "(ls -a; x"]]


def folder(tmp_path: Path, rows: str) -> str:
    (tmp_path / "manual.evaluations.x").write_text(HEADER + rows, encoding="utf-8")
    return str(tmp_path)


def scores(judgements: str | None = None, **options: Any) -> list[float]:
    found = evaluate("commands", PREDICTIONS, GOLD, judgements=judgements, ci=0, **options)
    return list(found.scores.values())


VERDICTS = [
    # rows                                                              top 1, 3 command, template
    ("", [0, 0, 0, 0.5]),
    ('count lines of f,cat f | wc -l,,y,y\n', [0.5, 0.5, 0.5, 0.5]),
    ('count lines of f,cat f | wc -l,,Y, y\n', [0.5, 0.5, 0.5, 0.5]),
    ('count lines of f,cat f | wc -l,,y,n\n', [0, 0, 0.5, 0.5]),
    ('Counts the line of f,cat g | wc -l,,y,y\n', [0, 0, 0.5, 0.5]),
    ('count lines of f,wc -l g,,n,\n', [0, 0, 0, 0]),
    ('list all files in d,(ls -a; x,,y,y\n', [0, 0.5, 0, 1]),
    ('list all files in d,ls d,,n,n\nlist all files in d,ls d,,y,y\n', [0.5, 0.5, 0.5, 1]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "wanted"), VERDICTS)
def test_verdicts_count(rows: str, wanted: list[float], tmp_path: Path) -> None:
    assert scores(folder(tmp_path, rows)) == wanted


def test_what_the_old_program_takes_for_a_yes(tmp_path: Path) -> None:
    judgements = folder(tmp_path, "count lines of f,cat f | wc -l,cat File | wc -l,Y,Y\n")
    assert scores(judgements)[0] == 0.5
    assert scores(judgements, compat="nl2bash")[0] == 0.0
    assert scores(judgements, compat="nl2bash", automatic=True)[0] == 0.5


def test_what_contradicts_is_said(tmp_path: Path) -> None:
    rows = "count lines of f,wc -l f,,n,n\ncount lines of f,wc -l f,,y,n\n"
    found = evaluate("commands", [["wc -l f"], []], GOLD, judgements=folder(tmp_path, rows), ci=0)
    said = " ".join(found.document.warnings)
    assert "verdicts contradict one another in 1 place," in said
    assert "1 command judged wrong although equal to gold" in said
    assert found.scores["top1_command_accuracy"] == 0.0
    assert found.scores["top1_template_accuracy"] == 0.5


known = st.builds(Known, st.sampled_from("myn?"), st.sampled_from("myn?"))


@given(st.lists(known, max_size=4))
def test_letters_read_back(held: list[Known]) -> None:
    assert from_letters(*letters(held)) == held


def test_bounds_are_reached_by_some_answers(tmp_path: Path) -> None:
    """Every way to answer what is open gives scores within the bounds, and some give the bounds."""
    first = evaluate("commands", PREDICTIONS, GOLD, ci=0).document.extra["judging"]
    assert first["unjudged"] == {"predictions": 4, "structure": 3, "command_only": 1}
    assert first["deciding"] == 4
    open_ = [(g["nl"], p) for g, texts in zip(GOLD, PREDICTIONS, strict=True) for p in texts]
    seen: dict[str, set[float]] = {key: set() for key in first["bounds"]}
    for answers in itertools.product(("n,n", "y,n", "y,y"), repeat=4):
        if answers[1] == "n,n":
            continue  # its template matches by rule, and nobody is asked
        rows = "".join(
            f'{nl},"{p}",,{said}\n' for (nl, p), said in zip(open_, answers, strict=True)
        )
        found = evaluate("commands", PREDICTIONS, GOLD, judgements=folder(tmp_path, rows), ci=0)
        for key, value in found.scores.items():
            low, high = first["bounds"][key]
            assert low <= value <= high
            seen[key].add(value)
    assert all({*first["bounds"][key]} <= values for key, values in seen.items())


def many(n: int) -> tuple[list[list[str]], list[dict[str, Any]]]:
    gold = [{"nl": f"print word{i}", "references": [f"echo {i}"]} for i in range(n)]
    return [[f"echo {i}" if i % 3 else f"printf {i}"] for i in range(n)], gold


def test_estimate_for_the_whole_set(tmp_path: Path) -> None:
    predictions, gold = many(60)
    rows = "".join(f"print word{i},printf {i},,y,{'yn'[i % 2]}\n" for i in range(60))
    judgements = folder(tmp_path, rows)
    options: dict[str, Any] = {"judgements": judgements, "top_k": 1, "ci": 0.9}
    part = evaluate("commands", predictions, gold, num_examples=30, **options)
    whole = evaluate("commands", predictions, gold, num_examples=0, **options)
    found = part.document.extra["judging"]["estimates"]["top1_command_accuracy"]
    truth = whole.scores["top1_command_accuracy"]
    assert truth == pytest.approx(50 / 60)
    # The same from arrays: 40 echos match by rule, every other printf was judged right.
    drawn = np.zeros(60, dtype=bool)
    drawn[draw_order(60, 100)[:30]] = True
    automatic = np.array([i % 3 > 0 for i in range(60)], dtype=float)
    right = np.array([i % 3 > 0 or i % 2 == 0 for i in range(60)], dtype=float)
    wanted = estimate(np.where(drawn, right, np.nan), automatic, drawn=drawn, level=0.9)
    assert found["value"] == pytest.approx(wanted.value, abs=1e-12)
    assert found["interval"] == pytest.approx(list(wanted.finite), abs=1e-12)
    assert found["future_interval"] == pytest.approx(list(wanted.future), abs=1e-12)
    assert found["level"] == 0.9
    assert (found["judged"], found["population"]) == (30, 60)
    census = whole.document.extra["judging"]["estimates"]["top1_command_accuracy"]
    assert census["value"] == truth
    assert census["interval"] == [truth, truth]


def test_no_estimate_from_what_is_not_judged() -> None:
    predictions, gold = many(20)
    found = evaluate("commands", predictions, gold, num_examples=10, ci=0).document
    reason = found.extra["judging"]["estimates"]["top1_command_accuracy"]["why_not"]
    assert "drawn examples are undecided" in reason


# -- the dialogue --------------------------------------------------------------------------------


def judged(
    tmp_path: Path, answers: str, **options: Any
) -> tuple[str, dict[str, float] | AssayError]:
    out = io.StringIO()
    with talking(Streams(out, io.StringIO(answers))):
        try:
            found = evaluate(
                "commands",
                PREDICTIONS,
                GOLD,
                judgements=str(tmp_path / "verdicts"),
                manual_eval=True,
                ci=0,
                **options,
            )
        except AssayError as error:
            return out.getvalue(), error
    return out.getvalue(), dict(found.scores)


def logged(tmp_path: Path, judge: str = "author") -> list[dict[str, Any]]:
    text = (tmp_path / "verdicts" / f"verdicts.{judge}.jsonl").read_text()
    return [json.loads(line) for line in text.splitlines()]


def test_only_what_was_said_is_written_down(tmp_path: Path) -> None:
    # In the order of the draw. Of the second example: structure yes, command no with a reason; then
    # structure no. Of the first: yes and yes; then the template matches by rule, and the command Y.
    out, found = judged(tmp_path, "y\nslow\nwrong\ny\ny\nY\n", judge="anna")
    assert found == {
        "top1_command_accuracy": 0.5,
        "top3_command_accuracy": 0.5,
        "top1_template_accuracy": 1.0,
        "top3_template_accuracy": 1.0,
    }
    assert out.count("CORRECT STRUCTURE? [y/reason] ") == 3
    assert out.count("CORRECT COMMAND? [y/reason] ") == 3
    said = [(v["question"], v["answer"], v.get("reason", "")) for v in logged(tmp_path, "anna")]
    assert said == [
        ("structure", "yes", ""),
        ("command", "no", "slow"),
        ("structure", "no", "wrong"),
        ("command", "no", ""),
        ("structure", "yes", ""),
        ("command", "yes", ""),
        ("command", "yes", ""),
    ]
    assert {v["judge"] for v in logged(tmp_path, "anna")} == {"anna"}
    again, same = judged(tmp_path, "", judge="anna")
    assert same == found
    assert "CORRECT" not in again


def test_the_draw_is_put_on_record(tmp_path: Path) -> None:
    for _ in range(2):  # once only
        judged(tmp_path, "n\n" * 4, num_examples=1)
        (sample,) = read_samples(tmp_path / "verdicts")
    assert (sample.seed, sample.size, sample.population) == (100, 1, 2)
    assert sample.drawn == ("2",)
    assert {v["sample"] for v in logged(tmp_path)} == {sample.name}
    assert {v["id"] for v in logged(tmp_path)} == {"2/1", "2/2"}


@pytest.mark.parametrize("write", ["jsonl", "csv"])
def test_who_is_asked_nothing_leaves_no_file(write: str, tmp_path: Path) -> None:
    judged(tmp_path, "n\n" * 4)
    before = sorted((tmp_path / "verdicts").iterdir())
    judged(tmp_path, "", judge="bert", write=write)
    assert sorted((tmp_path / "verdicts").iterdir()) == before
    nothing = [{"id": "1", "predictions": []}, {"id": "2", "predictions": []}]
    where = str(tmp_path / "nowhere")
    found = evaluate("commands", nothing, GOLD, judgements=where, manual_eval=True, ci=0)
    assert found.scores["top1_command_accuracy"] == 0.0
    assert not Path(where).exists()


def test_a_closed_input_keeps_what_was_answered(tmp_path: Path) -> None:
    _, error = judged(tmp_path, "y\ny\nn")  # the third answer lacks its line feed and counts
    assert isinstance(error, AssayError)
    assert error.exit_code == 2
    path = tmp_path / "verdicts" / "verdicts.author.jsonl"
    assert str(error) == (
        f"standard input ended: 2 judgements kept in {path}; 2 predictions left to judge; "
        "run the same command again to go on"
    )
    _, found = judged(tmp_path, "n\nn\n")
    assert found == {
        "top1_command_accuracy": 0.5,
        "top3_command_accuracy": 0.5,
        "top1_template_accuracy": 0.5,
        "top3_template_accuracy": 1.0,
    }


def test_an_answer_is_on_disk_before_the_next_question(tmp_path: Path) -> None:
    """Whatever may end the program then, be it the power."""
    seen: list[list[tuple[str, str]]] = []

    class Watching(Streams):
        def ask(self, question: str) -> str:
            held = (
                logged(tmp_path)
                if (tmp_path / "verdicts" / "verdicts.author.jsonl").exists()
                else []
            )
            seen.append([(v["question"], v["answer"]) for v in held])
            return "y"

    options: dict[str, Any] = {"judgements": str(tmp_path / "verdicts"), "manual_eval": True}
    with talking(Watching(io.StringIO(), io.StringIO())):
        evaluate("commands", [["cat f"], ["ls d"]], GOLD, ci=0, **options)
    every = [("structure", "yes"), ("command", "yes")] * 2
    assert seen == [every[:n] for n in range(4)]


@pytest.mark.parametrize("compat", [None, "nl2bash"])
def test_a_no_to_the_structure_keeps_the_reason_that_the_command_has(
    compat: str | None, tmp_path: Path
) -> None:
    """The last row counts, so that it has to say what the one before it said."""
    gold = [{"nl": "show f", "references": ["less f"]}]
    sheet = tmp_path / "manual.evaluations.author"
    sheet.write_text(HEADER + '"show f","cat f","cat File","","needs a pager"\n')
    with talking(Streams(io.StringIO(), io.StringIO("n\n"))):
        evaluate(
            "commands",
            [["cat f"]],
            gold,
            ci=0,
            manual_eval=True,
            write="csv",
            judgements=str(tmp_path),
            compat=compat,
        )
    assert sheet.read_text().splitlines()[-1] == '"show f","cat f","cat File","n","needs a pager"'


def test_the_old_program_goes_by_the_template_that_a_sheet_has(tmp_path: Path) -> None:
    """Here rows 1 and 2 have each other's template. Where no row has the template of a prediction,
    the one that a row gives to this command is taken: the two parsers print some differently."""
    rows = (
        "count lines of f,cat f | wc -l,wc File,y,\ncount lines of f,wc f,cat File | wc -l,n,\n"
        "list all files in d,find / -writable,find Path Path,y,\n"
    )
    predictions = [["wc f", "cat f | wc -l"], ["find d -writable"]]
    options: dict[str, Any] = {"judgements": folder(tmp_path, rows), "ci": 0}
    old = evaluate("commands", predictions, GOLD, compat="nl2bash", **options)
    assert old.scores["top1_template_accuracy"] == 1.0
    ours = evaluate("commands", predictions, GOLD, **options)
    assert ours.scores["top1_template_accuracy"] == 0.5
    assert ours.scores["top3_template_accuracy"] == 1.0


def test_half_an_answer_is_kept_too(tmp_path: Path) -> None:
    _, error = judged(tmp_path, "y\n")
    assert "1 judgement kept" in str(error)
    assert [(v["question"], v["answer"]) for v in logged(tmp_path)] == [("structure", "yes")]
    out, _ = judged(tmp_path, "y\nn\nn\nn\n")
    assert out.index("CORRECT COMMAND") < out.index("CORRECT STRUCTURE")


def test_half_an_answer_is_kept_in_a_sheet_too(tmp_path: Path) -> None:
    _, error = judged(tmp_path, "y\n", write="csv")
    assert "1 judgement kept" in str(error)
    sheet = tmp_path / "verdicts" / "manual.evaluations.author"
    half = sheet.read_text().splitlines()[1]
    assert half.endswith(',"y",""')  # an empty cell says nothing
    out, _ = judged(tmp_path, "n\nn\nn\n", write="csv")
    assert out.index("CORRECT COMMAND") < out.index("CORRECT STRUCTURE")
    assert sheet.read_text().splitlines()[1:3] == [half, half.removesuffix(',""') + ',"n"']


def test_the_old_program_keeps_whole_rows_only(tmp_path: Path) -> None:
    _, error = judged(tmp_path, "y\n", compat="nl2bash")
    assert "0 judgements kept" in str(error)
    sheet = tmp_path / "verdicts" / "manual.evaluations.author"
    assert len(sheet.read_text().splitlines()) == 1


def test_an_interrupt_keeps_what_was_answered(tmp_path: Path) -> None:
    class Impatient(Streams):
        def ask(self, question: str) -> str:
            if list((tmp_path / "verdicts").glob("*.jsonl")) and logged(tmp_path):
                raise KeyboardInterrupt
            return "n"

    options: dict[str, Any] = {"judgements": str(tmp_path / "verdicts"), "manual_eval": True}
    with talking(Impatient(io.StringIO(), io.StringIO())), pytest.raises(AssayError) as error:
        evaluate("commands", PREDICTIONS, GOLD, **options)
    assert error.value.exit_code == 130
    assert "1 judgement kept" in str(error.value)


def test_one_answer_serves_all_predictions_with_the_same_template(tmp_path: Path) -> None:
    gold = [{"nl": "show f", "references": ["less f"]}]
    out = io.StringIO()
    options: dict[str, Any] = {"judgements": str(tmp_path / "v"), "manual_eval": True}
    with talking(Streams(out, io.StringIO("n\n"))):
        evaluate("commands", [["cat f", "cat g", "cat f"]], gold, ci=0, **options)
    assert out.getvalue().count("CORRECT STRUCTURE") == 1


def test_an_answer_is_found_under_every_key_of_a_description(tmp_path: Path) -> None:
    """Also in the run that it was given in, as it is in all later ones."""
    gold = [
        {"nl": "show f", "references": ["less f"], "key": "mine"},
        {"nl": "print it", "references": ["less f"], "key": "show f"},
    ]
    out = io.StringIO()
    options: dict[str, Any] = {"judgements": str(tmp_path / "v"), "manual_eval": True, "seed": 1}
    with talking(Streams(out, io.StringIO("n\nn\n"))):
        evaluate("commands", [["cat f"], ["cat f"]], gold, ci=0, **options)
    # Drawn second, the first one finds what was said under its own key.
    assert "print it" in out.getvalue()
    assert out.getvalue().count("CORRECT STRUCTURE") == 1


def test_an_empty_answer_is_a_no_and_to_the_old_program_none(tmp_path: Path) -> None:
    gold = [{"nl": "show f", "references": ["less f"]}]
    for compat, n_asked in ((None, 1), ("nl2bash", 3)):
        out = io.StringIO()
        folder = str(tmp_path / str(compat))
        with talking(Streams(out, io.StringIO("\n\n\n"))):
            options: dict[str, Any] = {"compat": compat, "judgements": folder, "write": "csv"}
            predictions = [["cat f", "cat g", "cat f"]]
            evaluate("commands", predictions, gold, ci=0, manual_eval=True, **options)
        assert out.getvalue().count("CORRECT STRUCTURE") == n_asked
        rows = (Path(folder) / "manual.evaluations.author").read_text().splitlines()[1:]
        assert rows[0] == '"show f","cat f","cat File","n","n"'
        assert len(rows) == n_asked


def test_two_people_under_one_name_are_refused(tmp_path: Path) -> None:
    with VerdictLog(tmp_path / "verdicts", "author"):
        _, error = judged(tmp_path, "y\n")
    assert isinstance(error, AssayError)
    assert "somebody is judging as 'author' already" in str(error)


def test_what_cannot_be_written_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    (tmp_path / "verdicts" / "manual.evaluations.author").mkdir(parents=True)  # in the way
    out, error = judged(tmp_path, "y\n", write="csv")
    assert isinstance(error, AssayError)
    assert "cannot be written" in str(error)
    assert "CORRECT" not in out


# -- items for judging saved runs ----------------------------------------------------------------


def test_items_of_a_saved_run() -> None:
    example = SimpleNamespace(
        id="7",
        prediction=["ls x", "ls -a y", "echo 'oops", "frob x | bc"],
        gold=["ls -a x"],
        slices={"description": "list all in x", "key": "list all in x"},
        missing=False,
    )
    found = TASK.items(example, top_k=4)
    assert all(isinstance(item, Item) for item in found)
    assert [item.id for item in found] == ["7/1", "7/2", "7/3", "7/4"]
    assert [item.structure for item in found] == [
        "ls File",
        "ls -a File",
        "echo 'oops",
        "frob Regex | bc",
    ]
    assert [sorted(item.matched) for item in found] == [[], ["structure"], [], []]
    assert found[2].notes == ("does not parse as shell syntax",)
    assert found[3].notes == ("unknown utility: frob",)
    assert len(TASK.items(example)) == 3


@pytest.mark.parametrize(
    ("command", "notes"),
    [
        ("find . -nmae '*.py' -type f", ("unknown flag of find: -nmae",)),
        ("find / -perm -u+x -prnit", ("unknown flag of find: -prnit",)),
        ("find . -name a -exec grep -q x {} \\; -o -mtime +1 -print0", ()),
        (
            "find . ! -name a \\( -size +1k -or -empty \\) -delete -fast",
            ("unknown flag of find: -fast",),
        ),
        ("find . | xargs frob -x", ("unknown utility: frob",)),
        ("echo $(frob; find . -nam x)", ("unknown utility: frob", "unknown flag of find: -nam")),
        ("a=$(frob) ls -Q", ("unknown utility: frob",)),
        ("ls --no-such-flag", ()),  # of ls the table does not hold all flags
    ],
)
def test_what_a_judge_is_told_of_a_command(command: str, notes: tuple[str, ...]) -> None:
    example = SimpleNamespace(
        id="1", prediction=[command], gold=["ls"], slices={"description": "d"}, missing=False
    )
    assert TASK.items(example)[0].notes == notes


def test_answers_that_can_still_change_a_score_are_counted() -> None:
    right, no = Known("y", "y"), Known("n", "n")
    unjudged, structure_only = Known("?", "?"), Known("y", "?")
    # Rank 1 decides top 1 and, being right, top 3 too: nothing is left that could change.
    assert _deciding([right, unjudged, unjudged], (1, 3)) == 0
    # A right one at rank 3 decides top 3; only rank 1 can still change top 1.
    assert _deciding([unjudged, unjudged, right], (1, 3)) == 1
    # Nothing right yet: every open one counts, a judged one does not.
    assert _deciding([no, unjudged, unjudged], (1, 3)) == 2
    # Structures are decided, commands are not.
    assert _deciding([structure_only, structure_only], (1, 3)) == 2

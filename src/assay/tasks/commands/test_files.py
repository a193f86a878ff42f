# SPDX-License-Identifier: Apache-2.0
"""Reading gold and predictions, pairing them, and what is said about bad input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from assay import evaluate
from assay.core.document import Intake
from assay.core.errors import AssayError
from assay.tasks.commands.files import Candidates, read_gold, read_predictions

GOLD: list[dict[str, Any]] = [
    {"id": "a", "nl": "list all files", "references": ["ls -a"], "topic": "files"},
    {"id": 2, "nl": "count lines of f", "references": ["wc -l f", "cat f | wc -l"]},
]


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_parallel_files_are_grouped_by_key_and_sorted(tmp_path: Path) -> None:
    nl, cm = tmp_path / "dev.nl.filtered", tmp_path / "dev.cm.filtered"
    nl.write_text("Show the files\ncount lines\n show all the files! \nshows file\n")
    cm.write_text("ls\nwc -l\nls -a\n ls -l \n")
    for given in (nl, cm, [nl, cm], [cm, nl]):
        groups = read_gold(given, Intake())
        assert [g.key for g in groups] == ["count line", "show all files!", "show file"]
        assert groups[2].references == ("ls", "ls -l")  # in the order of the file
        assert groups[2].description == "Show the files"


def test_jsonl_pairs_are_grouped_and_groups_are_kept(tmp_path: Path) -> None:
    pairs = write(
        tmp_path / "pairs.jsonl",
        [{"nl": "b", "command": "x"}, {"nl": "a", "command": "y"}, {"nl": "b", "command": "z"}],
    )
    assert [g.references for g in read_gold(pairs, Intake())] == [("y",), ("x", "z")]
    groups = read_gold(write(tmp_path / "gold.jsonl", GOLD), Intake())
    assert [g.id for g in groups] == ["a", "2"]
    assert groups[0].columns == {"topic": "files"}


def test_a_given_key_is_looked_up_first(tmp_path: Path) -> None:
    (group,) = read_gold([{"nl": "list files", "references": ["ls"], "key": "mine"}], Intake())
    assert group.keys == ("mine", "list file")


def test_pairs_may_have_keys_and_are_grouped_and_sorted_by_them(tmp_path: Path) -> None:
    rows = [
        {"nl": "list fiels", "command": "ls", "key": "list file"},
        {"nl": "count", "command": "wc"},
        {"nl": "list files", "command": "ls -a"},
    ]
    groups = read_gold(write(tmp_path / "pairs.jsonl", rows), Intake())
    assert [(g.description, g.references) for g in groups] == [
        ("count", ("wc",)),
        ("list fiels", ("ls", "ls -a")),
    ]
    assert groups[1].keys == ("list file", "list fiel")
    rows[0]["key"] = 3  # type: ignore[assignment]
    with pytest.raises(AssayError, match="line 1: 'key' must be text"):
        read_gold(write(tmp_path / "pairs.jsonl", rows), Intake())


def test_lines_are_split_and_stripped_unless_the_old_way_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "p.txt"
    file.write_text("a ||| b|||\n\nc|||d|||e|||f\n")
    found = read_predictions(file, Intake())
    assert [c.commands for c in found] == [("a", "b"), (), ("c", "d", "e", "f")]
    old = read_predictions(file, Intake(), line_feeds=True, most=3)
    assert [c.commands for c in old] == [("a ", " b", "\n"), ("\n",), ("c", "d", "e")]
    file.write_text("a|||b\nc|||d")
    old = read_predictions(file, Intake(), line_feeds=True, most=3)
    assert [c.commands for c in old] == [("a", "b\n"), ("c", "d")]


def test_predictions_with_confidences(tmp_path: Path) -> None:
    file = write(
        tmp_path / "p.jsonl",
        [
            {"id": 1, "predictions": [{"command": "ls", "confidence": 0.5}, "pwd", " "]},
            {"id": 2, "prediction": "ls"},
            {"id": 3},
        ],
    )
    assert read_predictions(file, Intake()) == [
        Candidates("1", ("ls", "pwd"), (0.5, 1.0)),
        Candidates("2", ("ls",)),
        Candidates("3", ()),
    ]


@pytest.mark.parametrize("name", ["p.txt", "p.json", "predictions.latest"])
def test_records_are_known_whatever_the_file_is_called(name: str, tmp_path: Path) -> None:
    records = write(tmp_path / name, [{"id": 1, "predictions": ["ls"]}, {"id": 2}])
    found = read_predictions(records, Intake())
    assert found == [Candidates("1", ("ls",)), Candidates("2", ())]
    (tmp_path / name).write_text('{ "$x"; }\n{"predictions": 3}\n')  # commands, odd as they are
    assert [c.id for c in read_predictions(tmp_path / name, Intake())] == [None, None]


def test_a_record_with_a_misspelt_name_is_refused(tmp_path: Path) -> None:
    rows = [{"id": 1, "predictions": ["ls"]}, {"id": 2, "predicted": ["ls"]}]
    with pytest.raises(AssayError, match="line 2: there is no 'predictions'"):
        read_predictions(write(tmp_path / "p.jsonl", rows), Intake())


def test_predictions_by_id_need_no_order() -> None:
    predictions = [{"id": 2, "predictions": ["wc -l f"]}, {"id": "a", "predictions": ["ls"]}]
    result = evaluate("commands", predictions, GOLD)
    assert result.scores["top1_command_accuracy"] == 0.5
    assert [e.id for e in result.examples] == ["a", "2"]


def test_missing_predictions() -> None:
    predictions = [{"id": "a", "predictions": ["ls -a"]}]
    wrong = evaluate("commands", predictions, GOLD, missing="wrong")
    assert wrong.scores["top1_command_accuracy"] == 0.5
    skipped = evaluate("commands", predictions, GOLD, missing="skip")
    assert skipped.scores["top1_command_accuracy"] == 1.0
    with pytest.raises(AssayError, match="1 of 2 gold ids have no prediction, first: '2'"):
        evaluate("commands", predictions, GOLD)


def test_unequal_parallel_files_name_both(tmp_path: Path) -> None:
    (tmp_path / "x.nl").write_text("a\nb\n")
    (tmp_path / "x.cm").write_text("ls\n")
    with pytest.raises(AssayError, match=r"x\.nl: 2 descriptions, but 1 commands in .*x\.cm"):
        read_gold(tmp_path / "x.nl", Intake())


@pytest.mark.parametrize(
    ("predictions", "gold", "options", "said"),
    [
        ([3, "ls"], GOLD, {}, "prediction 1 is int 3; give a command, a list"),
        (["ls", ["ls", None]], GOLD, {}, "prediction 2 is list"),
        ([b"ls", "pwd"], GOLD, {}, "prediction 1 is bytes"),
        (["ls", "pwd"], ["ls", "pwd"], {}, "gold 1 is str 'ls'; give"),
        (["ls", "pwd"], GOLD, {"compat": "fairseq"}, "unknown program to be compatible with"),
    ],
)
def test_wrong_values_from_python_are_refused(
    predictions: Any, gold: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(AssayError, match=said):
        evaluate("commands", predictions, gold, ci=0, **options)


def test_no_prediction_may_be_none() -> None:
    found = evaluate("commands", [None, "wc -l f"], GOLD, ci=0)
    assert found.scores["top1_command_accuracy"] == 0.5

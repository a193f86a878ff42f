# SPDX-License-Identifier: Apache-2.0
"""The text task: what it opens, how it pairs, and what it can slice by."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from assay.core.batch import Batch
from assay.core.document import Counts
from assay.core.errors import AlignError, UsageError
from assay.tasks.text import TASK


def pairs(predictions: Any, gold: Any = None, **options: Any) -> list[tuple[list[str], list[str]]]:
    found = TASK.examples(predictions, gold, missing=options.pop("missing", "error"), **options)
    return [
        (list(p), list(g))
        for b in found.batches
        for p, g in zip(b.predictions, b.gold, strict=True)
    ]


def test_lists_in_memory() -> None:
    assert pairs(["a", "b"], ["c", "d"]) == [(["a"], ["c"]), (["b"], ["d"])]
    assert pairs(["a"], [["c", "d"]]) == [(["a"], ["c", "d"])]
    assert pairs([["a", "b"]], ["c"]) == [(["a", "b"], ["c"])]


def test_generators_in_memory() -> None:
    assert pairs((t for t in "ab"), (t for t in "cd")) == [(["a"], ["c"]), (["b"], ["d"])]


def test_mappings_in_memory_meet_by_id() -> None:
    predictions = [{"id": 2, "prediction": "b"}, {"id": 1, "prediction": "a"}]
    gold = [{"id": "1", "gold": "A"}, {"id": "2", "gold": ["B", "BB"]}]
    assert pairs(predictions, gold) == [(["a"], ["A"]), (["b"], ["B", "BB"])]
    with pytest.raises(AlignError, match=r"^gold, line 2: id '1' occurs a second time among the gold, first in gold, line 1"):  # fmt: skip
        pairs(predictions, [gold[0], gold[0]])


def test_one_side_may_carry_both() -> None:
    assert pairs([{"prediction": "a", "gold": "A"}]) == [(["a"], ["A"])]


def test_paths_of_gold_are_references_and_a_pattern_is_one_after_the_other(tmp_path: Path) -> None:
    for name, text in (
        ("p", "1\n2\n"),
        ("r1", "a\nb\n"),
        ("r2", "c\nd\n"),
        ("s1", "x\n"),
        ("s2", "y\n"),
    ):
        (tmp_path / name).write_text(text)
    several = pairs(tmp_path / "p", [tmp_path / "r1", tmp_path / "r2"])
    assert several == [(["1"], ["a", "c"]), (["2"], ["b", "d"])]
    assert pairs(str(tmp_path / "p"), f"{tmp_path}/s?") == [(["1"], ["x"]), (["2"], ["y"])]


def test_the_format_may_be_forced(tmp_path: Path) -> None:
    (tmp_path / "p.data").write_text('{"prediction": "a", "gold": "b"}\n')
    assert pairs(tmp_path / "p.data", input_format="jsonl") == [(["a"], ["b"])]


def test_what_reading_found_out_is_kept(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_bytes(b"a\r\n")
    found = TASK.examples(tmp_path / "p.txt", ["x"], missing="error")
    assert len(list(found.batches)) == 1
    assert found.intake.counts == Counts(gold=1, predictions=1, matched=1)
    assert found.intake.warnings == [
        f"{tmp_path}/p.txt: lines end in CR LF; the carriage returns were dropped"
    ]
    assert [i.role for i in found.intake.inputs] == ["predictions"]


def test_an_unknown_option_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"unknown option 'alignn'; did you mean 'align'\?"):
        TASK.examples(["a"], ["b"], missing="error", alignn="id")


def test_metrics_by_text_and_by_default() -> None:
    assert [m.name for m in TASK.metrics([])] == ["bleu", "chrf", "ter"]
    (metric,) = TASK.metrics(["bleu(tokenize=char)"])
    assert TASK.metric(metric.text).text == metric.text


def test_length_bands() -> None:
    words = ["", "w " * 9, "w " * 10, "w " * 19, "w " * 105]
    batch = Batch(words, [[w] for w in words])
    assert TASK.derive("length", batch) == ["0-9", "0-9", "10-19", "10-19", "100-109"]
    assert TASK.derive("topic", batch) is None

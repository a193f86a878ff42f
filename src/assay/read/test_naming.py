# SPDX-License-Identifier: Apache-2.0
"""Files whose columns are called otherwise."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet
import pytest

from assay import evaluate, read
from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.read import Naming
from assay.read.facts import look
from assay.read.source import Role

ROWS: list[dict[str, Any]] = [
    {"doc_id": "1", "output": "a cat", "target": "a cat", "gold": "x"},
    {"doc_id": "2", "output": "a dog", "target": "a cow", "gold": "y"},
]
NAMING = Naming({"id": "doc_id", "prediction": "output", "gold": "target"})


def written(folder: Path, format: str) -> Path:
    path = folder / f"system.{format}"
    if format == "parquet":
        pyarrow.parquet.write_table(pyarrow.Table.from_pylist(ROWS), path)
    elif format == "json":
        path.write_text(json.dumps(ROWS), "utf-8")
    elif format == "jsonl":
        path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS), "utf-8")
    else:
        sign = {"csv": ",", "tsv": "\t"}[format]
        lines = [sign.join(ROWS[0]), *(sign.join(row.values()) for row in ROWS)]
        path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_columns_go_by_the_names_given(tmp_path: Path, format: str) -> None:
    path = str(written(tmp_path, format))
    (found,) = read.records(path, role="predictions", intake=Intake(), naming=NAMING)
    assert [list(value) for value in found.values] == [["a cat"], ["a dog"]]
    assert found.ids == ["1", "2"]
    assert found.also is not None
    assert [list(value) for value in found.also] == [["a cat"], ["a cow"]]
    assert found.columns == {"file.gold": ["x", "y"]}


def test_records_in_memory_too() -> None:
    result = evaluate(
        "text",
        ROWS,
        metrics=["exact"],
        ci=0,
        id_column="doc_id",
        prediction_column="output",
        gold_column="target",
    )
    assert result.scores["exact"] == 0.5


def test_a_dot_leads_into_an_object() -> None:
    rows = [{"doc": {"answer": "a", "id": 7}, "output": "a"}]
    naming = Naming({"id": "doc.id", "prediction": "output", "gold": "doc.answer"})
    (found,) = read.records(rows, role="predictions", intake=Intake(), naming=naming)
    assert found.ids == ["7"]
    assert found.also is not None
    assert list(found.also[0]) == ["a"]


def test_a_name_with_a_dot_is_a_name_first() -> None:
    rows = [{"doc.answer": "a", "doc": {"answer": "b"}}]
    naming = Naming({"gold": "doc.answer"})
    (found,) = read.records(rows, role="gold", intake=Intake(), naming=naming)
    assert list(found.values[0]) == ["a"]


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl", "parquet"])
def test_errors_speak_of_the_names_given(tmp_path: Path, format: str) -> None:
    naming = Naming({"prediction": "answer"})
    path = str(written(tmp_path, format))
    with pytest.raises(InputError, match=r"no (column )?'answer'"):
        list(read.records(path, role="predictions", intake=Intake(), naming=naming))


OTHERS = [
    # name                              naming                                    role           values
    ("gold is another's predictions",   {"gold": "output", "prediction": "output"}, "gold",        ["a cat", "a dog"]),
    ("and here are the predictions",    {"gold": "output", "prediction": "output"}, "predictions", ["a cat", "a dog"]),
    ("predictions are called gold",     {"prediction": "gold"},                     "predictions", ["x", "y"]),
    ("and so is gold",                  {"prediction": "gold"},                     "gold",        ["x", "y"]),
]  # fmt: skip


@pytest.mark.parametrize("format", ["csv", "tsv", "json", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("names", "role", "values"), [c[1:] for c in OTHERS], ids=[c[0] for c in OTHERS]
)
def test_both_sides_may_call_their_column_the_same(
    tmp_path: Path, format: str, names: dict[str, str], role: Role, values: list[str]
) -> None:
    path = str(written(tmp_path, format))
    (found,) = read.records(path, role=role, intake=Intake(), naming=Naming(names))
    assert [text for (text,) in found.values] == values


def test_the_id_is_not_the_value() -> None:
    for naming in (Naming({"id": "x", "gold": "x"}), Naming({"id": "gold"})):
        with pytest.raises(UsageError, match="cannot be both the id and the gold"):
            list(read.records(ROWS, role="gold", intake=Intake(), naming=naming))


def test_a_name_is_a_text() -> None:
    with pytest.raises(UsageError, match="--id-column is the name of a column, not 5"):
        evaluate("text", ROWS, id_column=5)


def test_names_of_one_side_leave_lines_of_the_other_alone(tmp_path: Path) -> None:
    path = tmp_path / "system.txt"
    path.write_text("a cat\na cow\n", "utf-8")
    result = evaluate(
        "text", path, written(tmp_path, "tsv"), metrics=["exact"], ci=0, gold_column="target"
    )
    assert result.scores["exact"] == 1.0


def test_lines_have_no_names(tmp_path: Path) -> None:
    path = tmp_path / "system.txt"
    path.write_text("a\n", "utf-8")
    with pytest.raises(UsageError, match="it has lines and no columns"):
        list(read.records(str(path), role="predictions", intake=Intake(), naming=NAMING))


def test_the_doctor_needs_no_names_of_ours(tmp_path: Path) -> None:
    found = look(str(written(tmp_path, "csv")), "csv")
    assert found.role == "gold"

# SPDX-License-Identifier: Apache-2.0
"""CSV and Parquet files, and tables in memory."""

from __future__ import annotations

import csv
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate, read
from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.core.records import Records
from assay.read.facts import look


def records(path: Path, intake: Intake | None = None) -> Records:
    (found,) = read.records(str(path), role="predictions", intake=intake or Intake())
    return found


def texts(found: Records) -> list[list[str]]:
    return [list(value) for value in found.values]


def written(path: Path, text: str) -> Path:
    path.write_text(text, "utf-8", newline="")
    return path


# -- CSV -----------------------------------------------------------------------------------------

READ = [
    # name               what is in the file                               values
    ("plain",            "id,prediction\n1,a cat\n2,a dog\n",              [["a cat"], ["a dog"]]),
    ("quoted",           'prediction,id\n"a, b",1\n"say ""so""",2\n',      [["a, b"], ['say "so"']]),
    ("a line feed",      'id,prediction\n1,"a\nb"\n2,c\n',                 [["a\nb"], ["c"]]),
    ("CR LF",            "id,prediction\r\n1,a\r\n2,b\r\n",                [["a"], ["b"]]),
    ("semicolons",       "id;prediction\n1;a,b\n2;c\n",                    [["a,b"], ["c"]]),
    ("candidates",       "id,prediction,prediction\n1,a,b\n",              [["a", "b"]]),
    ("one column",       'prediction\na\n""\nb\n',                         [["a"], [""], ["b"]]),
    ("blank lines last", "id,prediction\n1,a\n\n\n",                       [["a"]]),
    ("no end of line",   "id,prediction\n1,a",                             [["a"]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "values"), [c[1:] for c in READ], ids=[c[0] for c in READ])
def test_csv(tmp_path: Path, text: str, values: list[list[str]]) -> None:
    intake = Intake()
    assert texts(records(written(tmp_path / "system.csv", text), intake)) == values
    assert not intake.warnings


def test_records_of_csv_know_their_ids_columns_and_lines(tmp_path: Path) -> None:
    text = 'id,prediction,gold,topic\ns1,"a\nb",c,x\ns2,d,e,y\n'
    found = records(written(tmp_path / "system.csv", text))
    assert found.ids == ["s1", "s2"]
    assert found.columns == {"topic": ["x", "y"]}
    assert found.also is not None
    assert [list(g) for g in found.also] == [["c"], ["e"]]
    assert [found.line_of(i) for i in range(2)] == [2, 4]


cell = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=8)


@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=5))
def test_what_the_standard_writer_writes_is_read_back(rows: list[tuple[str, str]]) -> None:
    made = io.StringIO(newline="")
    writer = csv.writer(made)
    writer.writerows([("prediction", "topic"), *rows])
    held = io.BytesIO(made.getvalue().encode())
    blocks = read.records(held, role="predictions", intake=Intake(), format="csv")
    found = [
        (text, topic)
        for block in blocks
        for (text,), topic in zip(block.values, block.columns["topic"], strict=True)
    ]
    assert found == rows


WRONG = [
    # name             what is in the file                      line  part of the message
    ("no such column", "id,text\n1,a\n",                        1,    "no column 'prediction'"),
    ("too few",        "id,prediction\n1,a\n2\n",               3,    "1 field where the header names 2"),
    ("unquoted comma", "id,prediction\n1,a, b\n",               2,    "3 fields where the header names 2"),
    ("blank line",     "id,prediction\n1,a\n\n2,b\n",           3,    "0 fields where the header names 2"),
    ("open quote",     'id,prediction\n1,a\n2,"b\n3,c\n',       3,    "a quoted field that does not end"),
    ("stray quote",    'id,prediction\n1,"a"b\n',               2,    "not CSV"),
    ("name twice",     "id,id,prediction\n1,2,a\n",             1,    "names 'id' twice"),
    ("CR in a header", "id,prediction\rgold\r\n1,a\r\n",        1,    "a carriage return that ends no line"),
    ("CR in a record", "id,prediction\n1,a\rb\n",              2,    "a carriage return that ends no line"),
    ("a long header",  '"' + "x" * 200_000 + '"\na\n',         1,    "no column 'prediction'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "line", "message"), [c[1:] for c in WRONG], ids=[c[0] for c in WRONG]
)
def test_wrong_csv_is_refused_with_its_line(
    tmp_path: Path, text: str, line: int, message: str
) -> None:
    path = written(tmp_path / "system.csv", text)
    with pytest.raises(InputError) as error:
        records(path)
    assert message in str(error.value)
    assert f"system.csv, line {line}" in str(error.value)


def test_a_header_alone_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="a header and no records"):
        records(written(tmp_path / "system.csv", "id,prediction\n"))


def test_a_long_field_is_read(tmp_path: Path) -> None:
    text = "x" * 500_000  # more than the standard reader takes by itself
    assert texts(records(written(tmp_path / "system.csv", f"prediction\n{text}\n"))) == [[text]]


# -- Parquet -------------------------------------------------------------------------------------

ROWS: list[dict[str, Any]] = [
    {"id": "1", "prediction": "a cat", "gold": ["a cat", "the cat"], "n": 3},
    {"id": "2", "prediction": "a dog", "gold": ["a cow"], "n": None},
]


def parquet(path: Path, rows: list[dict[str, Any]]) -> Path:
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


def test_parquet(tmp_path: Path) -> None:
    intake = Intake()
    found = records(parquet(tmp_path / "system.parquet", ROWS), intake)
    assert texts(found) == [["a cat"], ["a dog"]]
    assert found.ids == ["1", "2"]
    assert found.columns == {"n": ["3", ""]}
    assert found.also is not None
    assert [list(g) for g in found.also] == [["a cat", "the cat"], ["a cow"]]
    assert len(intake.inputs[0].sha256 or "") == 64


def test_parquet_from_standard_input(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = parquet(tmp_path / "system.parquet", ROWS).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    (found,) = read.records("-", role="predictions", intake=Intake(), format="parquet")
    assert texts(found) == [["a cat"], ["a dog"]]


def in_latin_1(path: Path) -> None:
    """Writers need not look at the bytes of their texts, and some do not."""
    values = pyarrow.array([b"cat", b"caf\xe9"]).view(pyarrow.string())
    pyarrow.parquet.write_table(pyarrow.table({"prediction": values}), path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (in_latin_1, "system.parquet, line 2: 'prediction' holds a byte that is not UTF-8"),
        (lambda path: path.write_bytes(path.read_bytes()[:-10]), "not a whole Parquet file"),
        (lambda path: path.write_text("lines"), "not a whole Parquet file"),
        (lambda path: parquet(path, [{"text": "a"}]), "the table has no column 'prediction'"),
        (lambda path: parquet(path, [{"prediction": 3}]), "'prediction' is the number 3"),
        (lambda path: path.unlink(), "no such file"),
    ],
    ids=["no UTF-8", "cut off", "no Parquet", "no column", "numbers", "no file"],
)
def test_wrong_parquet_is_refused(tmp_path: Path, change: Any, message: str) -> None:
    path = parquet(tmp_path / "system.parquet", ROWS)
    change(path)
    with pytest.raises(InputError) as error:
        records(path)
    assert message in str(error.value)
    assert "system.parquet" in str(error.value)


def test_parquet_without_pyarrow_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = parquet(tmp_path / "system.parquet", ROWS)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match=r"pip install 'assay\[frames\]'"):
        records(path)


def test_parquet_under_another_name_is_recognised(tmp_path: Path) -> None:
    path = parquet(tmp_path / "system.txt", ROWS)
    with pytest.raises(InputError, match=r"let its name end in \.parquet"):
        records(path)


def test_the_doctor_looks_into_tables(tmp_path: Path) -> None:
    for name, format in (("system.parquet", "parquet"), ("system.csv", "csv")):
        path = tmp_path / name
        if format == "parquet":
            parquet(path, ROWS)
        else:
            written(path, "id;prediction;n\n1;a cat;3\n2;a dog;\n")
        found = look(str(path), format)
        assert (found.n_records, found.role, found.columns) == (2, "predictions", ["n"])
        assert found.has_ids
        assert not found.findings


# -- tables in memory ----------------------------------------------------------------------------


class Polars:
    """A table with the two members of polars' that are used."""

    columns = ("id", "prediction", "gold", "n")

    def iter_rows(self, *, named: bool) -> Iterator[dict[str, Any]]:
        assert named
        return iter(ROWS)


@pytest.mark.parametrize(
    "table",
    [pandas.DataFrame(ROWS), pyarrow.Table.from_pylist(ROWS), Polars()],
    ids=["pandas", "Arrow", "polars"],
)
def test_a_table_is_scored_as_it_is(table: Any) -> None:
    result = evaluate("text", table, metrics=["exact"], ci=0)
    assert result.scores["exact"] == 0.5


def test_two_columns_are_scored_as_they_are() -> None:
    table = pandas.DataFrame({"system": ["a", "b"], "right": ["a", "c"]})
    result = evaluate("text", table["system"], table["right"], metrics=["exact"], ci=0)
    assert result.scores["exact"] == 0.5

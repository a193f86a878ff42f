# SPDX-License-Identifier: Apache-2.0
"""Reading: any layout of an array, and every kind of bad input with its place."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.tasks.sparql import records
from assay.tasks.sparql.context import read_distances
from assay.tasks.sparql.records import read_records

TYPE = "Simple Question (Direct)"


def turn(**changes: Any) -> dict[str, Any]:
    record = {
        "question_type": TYPE,
        "description": "Simple Question",
        "question": "?",
        "answer": "a",
        "actions": "SELECT ?x { wd:Q1 wdt:P2 ?x }",
        "results": ["Q1"],
        "sparql_delex": "SELECT ?x { wd:Q1 wdt:P2 ?x }",
        "turnID": "test#1#1#0",
        **changes,
    }
    return {k: v for k, v in record.items() if v is not ...}


def read(path: Path) -> list[str]:
    return [r.description for block in read_records(path, Intake()) for r in block]


TRICKY = st.lists(st.text(alphabet='ab{}[],"\\ \n:é', max_size=12), max_size=30)


@settings(max_examples=60, deadline=None)
@given(descriptions=TRICKY, indent=st.sampled_from([None, 0, 1]), size=st.integers(16, 400))
def test_cut_anywhere_the_records_are_the_same(
    tmp_path_factory: pytest.TempPathFactory, descriptions: list[str], indent: int | None, size: int
) -> None:
    path = tmp_path_factory.mktemp("r") / "p.json"
    data = [turn(description=d, nested=[{"a": d}, {"b": d}]) for d in descriptions]
    path.write_text(json.dumps(data, indent=indent), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(records, "BLOCK_BYTES", size)
        patch.setattr("assay.read.stream.READ", size)
        found = [
            r.description
            for block in records._array(
                path.read_bytes()[1:0], iter(_pieces(path.read_bytes()[1:], size)), "p"
            )
            for r in block
        ]
    assert found == descriptions
    assert read(path) == descriptions


def _pieces(data: bytes, size: int) -> list[bytes]:
    return [data[i : i + size] for i in range(0, len(data), size)]


@pytest.mark.parametrize("name", ["p.jsonl", "p.ndjson", "p.json", "p"])
def test_one_record_per_line(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("\n".join(json.dumps(turn(description=str(i))) for i in range(5)) + "\n\n")
    assert read(path) == ["0", "1", "2", "3", "4"]


BAD = [
    # name                  what the file holds                                    what is said
    ("an object",           json.dumps(turn()),                                    "a single JSON object, not an array"),
    ("a text",              "hello",                                               "not JSON, not an array"),
    ("cut off",             json.dumps([turn(), turn()])[:-5],                     "after record 1: the file breaks off"),
    ("NaN",                 json.dumps([turn(), turn(description=math.nan)]),      "after record 1: NaN is not JSON; write null"),
    ("NaN at once",         json.dumps([turn(description=math.nan)]),              "record 1: NaN is not JSON; write null"),
    ("a comma too many",    json.dumps([turn()])[:-2] + ",}]",                     "record 1: JSON is malformed: trailing comma in object at '}]'"),
    ("a number inside",     json.dumps([turn(), 3]),                               "record 2: Expected `object`"),
    ("no actions",          json.dumps([turn(), turn(), turn(actions=...)]),       "record 3: the key 'actions' is missing"),
    ("no type",             json.dumps([turn(question_type=...)]),                 "record 1: the key 'question_type' is missing"),
    ("no results",          json.dumps([turn(results=...)]),                       "record 1: the key 'results' is missing"),
    ("results are a text",  json.dumps([turn(results="Q1")]),                      "record 1: 'results': Expected `array`"),
    ("actions are a list",  json.dumps([turn(actions=[])]),                        "record 1: 'actions': Expected `str | null`"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "text", "said"), BAD, ids=[b[0] for b in BAD])
def test_bad_files(tmp_path: Path, name: str, text: str, said: str) -> None:
    path = tmp_path / "p.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as error:
        read(path)
    assert said in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_record_numbers_go_on_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records, "BLOCK_BYTES", 2_000)
    path = tmp_path / "p.json"
    path.write_text(json.dumps([*[turn()] * 50, turn(results=...)]))
    with pytest.raises(InputError, match=r"record 51: the key 'results'"):
        read(path)


@pytest.mark.parametrize("block", [500, 1 << 19])
@pytest.mark.parametrize(
    ("end", "said"),
    [
        ('{"question_type": "Clar', "the file breaks off"),
        ("{oops}", "JSON is malformed"),
        (json.dumps(turn()) + "]]", "JSON is malformed"),
    ],
)
def test_where_a_file_goes_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int, end: str, said: str
) -> None:
    monkeypatch.setattr(records, "BLOCK_BYTES", block)
    path = tmp_path / "p.json"
    whole = json.dumps([turn()] * 12, indent=1)
    path.write_text(f"{whole[:-2]}, {end}")
    with pytest.raises(InputError, match=rf"p\.json: after record 12: {said}"):
        read(path)


def test_a_line_that_is_no_record(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    path.write_text("\n \n" + json.dumps(turn()) + "\n{}\n")
    with pytest.raises(InputError, match=r"p\.jsonl, line 4: the key 'question_type'"):
        read(path)


def test_context_lines(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_text("a#1\t1\tq\n\n a#2\t3\nb\t0\tx\ty\na#1\t2\tq\n")
    assert read_distances(path, Intake()) == {"a#1": "2", "a#2": "3", "b": "0"}


def test_a_context_line_without_a_tab_has_a_number(tmp_path: Path) -> None:
    path = tmp_path / "c.tsv"
    path.write_text("a\t1\n\nb 2\n")
    with pytest.raises(InputError, match=r"c\.tsv, line 3: no tab"):
        read_distances(path, Intake())


@pytest.mark.parametrize(("name", "line"), [("p.json", ""), ("p.jsonl", ", line 1")])
def test_nesting_without_end_is_refused(tmp_path: Path, name: str, line: str) -> None:
    deep = json.dumps(turn())[:-1] + ', "x": ' + "[" * 100_000
    (tmp_path / name).write_text(f"[{deep}]" if name == "p.json" else f"{deep}\n")
    with pytest.raises(InputError, match=rf"{name}{line}: lists or objects nested too deeply"):
        read(tmp_path / name)

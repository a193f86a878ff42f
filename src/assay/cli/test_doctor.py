# SPDX-License-Identifier: Apache-2.0
"""`assay doctor`: what it prints, and when it ends with a finding."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from assay.cli import run

FILES = {
    "p.txt": "a\nb\n",
    "g.txt": "c\nd\n",
    "longer.txt": "c\nd\ne\n",
    "blank.txt": "c\nd\n\n",
    "p.jsonl": '{"id": "1", "prediction": "a", "topic": "x"}\n',
    "g.jsonl": '{"id": "1", "gold": "a"}\n',
    "labels.txt": "\ufeffp1\tAda\n\t\t\np1\tBob\t\tBob\n",
    "p.csv": 'id;prediction;topic\n1;"a, b";x\n',
    "other.jsonl": '{"id": "2", "gold": "a"}\n',
}

CASES = [
    # title, arguments, exit code, output, message
    ("one file", ["p.txt"], 0, "p.txt: plain lines, ASCII, 2 lines\n", ""),
    ("two that line up", ["p.txt", "g.txt"], 0, "p.txt: plain lines, ASCII, 2 lines\ng.txt: plain lines, ASCII, 2 lines\np.txt and g.txt line up by order: 2 pairs\n", ""),
    ("gold first", ["g.jsonl", "p.jsonl"], 0, "g.jsonl: JSONL, ASCII, 1 line\n  1 record of gold, with ids\np.jsonl: JSONL, ASCII, 1 line\n  1 record of predictions, with ids\n  columns for slices and clusters: topic\np.jsonl and g.jsonl line up by id: 1 pair\n", ""),
    ("two golds are no pair", ["g.jsonl", "other.jsonl"], 0, "g.jsonl: JSONL, ASCII, 1 line\n  1 record of gold, with ids\nother.jsonl: JSONL, ASCII, 1 line\n  1 record of gold, with ids\n", ""),
    ("unequal", ["p.txt", "longer.txt"], 1, "p.txt: plain lines, ASCII, 2 lines\nlonger.txt: plain lines, ASCII, 3 lines\nfinding: p.txt and longer.txt do not line up: 2 predictions, 3 gold; write one prediction for every example, in the order of the gold, or give both ids\n", "assay: 1 finding in p.txt, longer.txt; mend the files, then look again\n"),
    ("a finding in one does not hide the pair", ["p.txt", "blank.txt"], 1, "p.txt: plain lines, ASCII, 2 lines\nblank.txt: plain lines, ASCII, 3 lines\n  finding: 1 blank line at the end: it counts as an empty text, so remove what is not meant\nfinding: p.txt and blank.txt do not line up: 2 predictions, 3 gold; blank.txt has a blank line too many at its end: remove it\n", "assay: 2 findings in p.txt, blank.txt; mend the files, then look again\n"),
    ("no such file", ["no.zzz"], 1, None, "assay: 1 finding in no.zzz; mend the files, then look again\n"),
    ("a pattern", ["[pg].txt"], 0, "g.txt: plain lines, ASCII, 2 lines\np.txt: plain lines, ASCII, 2 lines\ng.txt and p.txt line up by order: 2 pairs\n", ""),
    ("a spreadsheet", ["p.csv", "g.jsonl"], 0, "p.csv: CSV, ASCII, 2 lines\n  1 record of predictions, with ids\n  columns for slices and clusters: topic\ng.jsonl: JSONL, ASCII, 1 line\n  1 record of gold, with ids\np.csv and g.jsonl line up by id: 1 pair\n", ""),
    ("labels of papers", ["labels.txt"], 1, "labels.txt: plain lines, ASCII, 3 lines\n  2 records for assay metadata\n  note: byte order mark removed\n  note: 1 line: an empty value between two TABs, which counts (--empty-values drop) (3)\n  note: 1 line: a value comes twice (--duplicates says how that counts) (3)\n  finding: 1 line: nothing but TABs: left out, like an empty line (2)\n  finding: 1 line: the id was there before (--duplicate-ids) (3)\n", "assay: 2 findings in labels.txt; mend the files, then look again\n"),
    ("another format", ["p.txt", "--input-format", "jsonl"], 1, None, "assay: 1 finding in p.txt; mend the files, then look again\n"),
    ("standard input", ["-"], 2, "", "assay: standard input can be read once only; give files to look at\n"),
    ("nothing", [], 2, "", "assay: Missing argument 'FILE...'; see 'assay doctor --help'\n"),
]  # fmt: skip


Doctor = Callable[..., tuple[int, str, str]]


@pytest.fixture
def doctor(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Doctor:
    """Runs the command on files of a folder that the output then does not name."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = run(["doctor", *(f"{tmp_path}/{a}" if "." in a else a for a in arguments)])
        printed = capsys.readouterr()
        here = f"{tmp_path}/"
        return code, printed.out.replace(here, ""), printed.err.replace(here, "")

    return call


@pytest.mark.parametrize(
    ("arguments", "code", "output", "message"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_doctor(
    doctor: Doctor, arguments: list[str], code: int, output: str | None, message: str
) -> None:
    found, out, err = doctor(*arguments)
    assert (found, err) == (code, message)
    if output is not None:
        assert out == output


def test_a_file_that_may_not_be_read(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(name: str) -> None:
        raise PermissionError(13, "Permission denied", name)

    monkeypatch.setattr("assay.read.source._opened", opened)
    code, out, _ = doctor("p.txt")
    assert code == 1
    assert out.endswith(
        "finding: p.txt: no permission to read it; check its owner and mode (ls -l)\n"
    )


def test_tables_are_looked_into(doctor: Doctor, tmp_path: Path) -> None:
    table = pyarrow.table({"id": ["1"], "prediction": ["a"]})
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    expected = "t.parquet: read as Parquet\n  1 record of predictions, with ids\n"
    assert doctor("t.parquet") == (0, expected, "")


def test_json_is_one_document(doctor: Doctor) -> None:
    code, out, _ = doctor("p.txt", "g.txt", "--json")
    assert code == 0
    document = json.loads(out)
    assert document["schema"] == "assay.doctor/1"
    assert [f["name"] for f in document["files"]] == ["p.txt", "g.txt"]
    assert document["pair"] == {
        "aligned": True,
        "message": "p.txt and g.txt line up by order: 2 pairs",
    }

# SPDX-License-Identifier: Apache-2.0
"""Good files of every format: what was written is what is read."""

from __future__ import annotations

import gzip
import io
import json
import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from assay import read
from assay.core.batch import BLOCK
from assay.core.document import InputFile, Intake
from assay.core.records import Records
from assay.core.text import TextLists
from assay.read.lines import blocks_of, line_blocks, unicode_breaks
from assay.read.source import Role, Source

# Anything but line feeds and what only pairs with one; surrogates cannot be written as UTF-8.
plain = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=12)
cell = st.text(st.characters(exclude_characters="\n\r\t", exclude_categories=["Cs"]), max_size=12)
anything = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)


def not_a_mark(text: str) -> bool:
    """The first line of a file cannot begin with U+FEFF, which is a byte order mark there."""
    return not text.startswith("\ufeff") and "\0" not in text


def of_bytes(
    data: bytes,
    role: Role = "predictions",
    name: str = "some.txt",
    intake: Intake | None = None,
    **options: Any,
) -> list[Records]:
    stream = io.BytesIO(data)
    stream.name = name
    return list(read.records(stream, role=role, intake=intake or Intake(), **options))


def texts(blocks: Sequence[Records]) -> list[list[str]]:
    return [list(value) for block in blocks for value in block.values]


def firsts(data: bytes, **options: Any) -> list[str]:
    return [value[0] for value in texts(of_bytes(data, **options))]


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": lambda data: data,
    "gzip": gzip.compress,
    "gzip, two members": lambda d: (
        gzip.compress(d[: len(d) // 2]) + gzip.compress(d[len(d) // 2 :])
    ),
    "gzip, padded with zeros": lambda d: gzip.compress(d) + b"\0" * 512,
    "zstd": zstandard.compress,
    "zstd, two frames": lambda d: zstandard.compress(d[:3]) + zstandard.compress(d[3:]),
    # A frame of four bytes for somebody else, as pzstd writes it.
    "zstd, a skippable frame between": lambda d: (
        zstandard.compress(d[:3]) + b"\x50\x2a\x4d\x18\x04\0\0\0note" + zstandard.compress(d[3:])
    ),
}


@pytest.mark.parametrize("packer", PACKERS)
@given(lines=st.lists(plain, min_size=1).filter(lambda lines: not_a_mark("".join(lines))))
def test_lines_round_trip(packer: str, lines: list[str]) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    assert firsts(PACKERS[packer](data)) == lines


@given(
    lines=st.lists(plain.filter(not_a_mark), min_size=1),
    size=st.integers(1, 9),
    block=st.integers(1, 4),
    limit=st.integers(1, 40),
)
def test_lines_do_not_depend_on_how_bytes_arrive(
    lines: list[str], size: int, block: int, limit: int
) -> None:
    data = "".join(f"{line}\n" for line in lines).encode()
    source = Source("x", "x", lambda: io.BytesIO(data))
    found = list(line_blocks(source, "gold", Intake(), size=size, block=block, limit=limit))
    assert [text for texts, _ in found for text in texts] == lines
    assert [first for _, first in found] == [
        sum(len(t) for t, _ in found[:i]) for i in range(len(found))
    ]
    assert max(len(texts) for texts, _ in found) <= block


@given(text=st.text(st.sampled_from("ab\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029é"), min_size=1))
def test_unicode_breaks_are_those_of_splitlines(text: str) -> None:
    assert firsts(text.encode(), breaks="unicode") == text.splitlines()
    assert len(unicode_breaks(text.encode())[0]) in (
        len(text.splitlines()),
        len(text.splitlines()) - 1,
    )


@given(
    records=st.lists(st.tuples(cell, cell, cell, cell), min_size=1),
    end=st.sampled_from(["", "\n", "\n\n\n"]),
    feed=st.sampled_from(["\n", "\r\n"]),
)
def test_tsv_round_trip(records: list[tuple[str, ...]], end: str, feed: str) -> None:
    lines = ["id\tgold\ttopic\tgold", *("\t".join(fields) for fields in records)]
    data = (feed.join(lines) + end.replace("\n", feed)).encode()
    if b"\0" * 16 in data:
        return
    blocks = of_bytes(data, role="gold", name="gold.tsv")
    assert [id for b in blocks for id in b.ids or ()] == [r[0] for r in records]
    assert texts(blocks) == [[r[1], r[3]] for r in records]
    assert [topic for b in blocks for topic in b.columns["topic"]] == [r[2] for r in records]


value = st.one_of(anything, st.lists(anything, max_size=3))
column = st.one_of(
    anything,
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
objects = st.lists(
    st.fixed_dictionaries(
        {"id": st.one_of(anything, st.integers()), "prediction": value}, optional={"topic": column}
    ),
    min_size=1,
)


def as_text(value: Any) -> str:
    """What a column shows: text as it is, the rest as JSON has it, nothing for null."""
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("form", ["jsonl", "jsonl with spaces", "json"])
@given(rows=objects)
def test_json_round_trip(form: str, ascii_only: bool, rows: list[dict[str, Any]]) -> None:
    lines = [json.dumps(row, ensure_ascii=ascii_only) for row in rows]
    if form == "json":
        text = "[\n" + ",\n\n".join(lines) + "\n]\n"
    else:
        text = "".join(f" {line} \r\n" if "spaces" in form else f"{line}\n" for line in lines)
    blocks = of_bytes(text.encode(), name="x.json" if form == "json" else "x.jsonl")
    expected = [
        [r["prediction"]] if isinstance(r["prediction"], str) else r["prediction"] for r in rows
    ]
    assert texts(blocks) == expected
    assert [id for b in blocks for id in b.ids or ()] == [str(r["id"]) for r in rows]
    if any("topic" in r for r in rows):
        found = [t for b in blocks for t in b.columns["topic"]]
        for shown, row in zip(found, rows, strict=True):
            given_value = row.get("topic")
            if isinstance(given_value, float):
                assert float(shown) == given_value  # 1e+16 and 1e16 are the same number
            else:
                assert shown == as_text(given_value)
    lines_of = [b.line_of(i) for b in blocks for i in range(len(b))]
    assert lines_of == [2 + 2 * i if form == "json" else 1 + i for i in range(len(rows))]


@given(rows=objects)
def test_memory_reads_like_a_file(rows: list[dict[str, Any]]) -> None:
    data = "".join(json.dumps(row) + "\n" for row in rows).encode()
    from_file = of_bytes(data, name="x.jsonl")
    from_memory = list(read.records(rows, role="predictions", intake=Intake()))
    assert texts(from_memory) == texts(from_file)
    assert [b.ids for b in from_memory] == [b.ids for b in from_file]
    assert [b.columns for b in from_memory] == [b.columns for b in from_file]


LINES = [
    # name                               bytes                   lines
    ("last line without a line feed",    b"a\nb",                ["a", "b"]),
    ("blank lines at the end are lines", b"a\n\n\n",             ["a", "", ""]),
    ("only a line feed",                 b"\n",                  [""]),
    ("CR LF",                            b"a\r\nb\r\n",          ["a", "b"]),
    ("CR LF and LF mixed",               b"a\r\nb\nc\r\n",       ["a", "b", "c"]),
    ("CR at the very end",               b"a\r\nb\r",            ["a", "b"]),
    ("lone CR stays",                    b"a\rb\n",              ["a\rb"]),
    ("two CR before LF: one goes",       b"a\r\r\n",             ["a\r"]),
    ("UTF-8 mark",                       b"\xef\xbb\xbfa\n",     ["a"]),
    ("a mark later is a character",      b"a\n\xef\xbb\xbfb\n",  ["a", "\ufeffb"]),
    ("one NUL is a character",           b"a\0b\n",              ["a\0b"]),
    ("U+2028 and U+0085 do not break",   "a\u2028b\x85c\n".encode(), ["a\u2028b\x85c"]),
    ("form feed does not break",         b"a\x0cb\n",            ["a\x0cb"]),
    ("four-byte characters",             "😀\n𝒳\n".encode(),     ["😀", "𝒳"]),
]  # fmt: skip


@pytest.mark.parametrize(("data", "expected"), [c[1:] for c in LINES], ids=[c[0] for c in LINES])
def test_lines(data: bytes, expected: list[str]) -> None:
    assert firsts(data) == expected


def test_a_line_longer_than_any_piece() -> None:
    long = "x" * (3 << 20)
    found = of_bytes(f"short\n{long}\nshort\n".encode())
    assert [value[0] for value in texts(found)] == ["short", long, "short"]


def test_blocks_are_full_but_the_last() -> None:
    data = b"".join(b"%d\n" % i for i in range(2 * BLOCK + 5))
    blocks = of_bytes(data)
    assert [len(b) for b in blocks] == [BLOCK, BLOCK, 5]
    assert [b.first for b in blocks] == [0, BLOCK, 2 * BLOCK]
    assert all(isinstance(b.values, TextLists) for b in blocks)


NOTES = [
    ("byte order mark", b"\xef\xbb\xbfa\n", "some.txt", "some.txt: byte order mark removed"),
    (
        "CR LF",
        b"a\r\nb\r\n",
        "some.txt",
        "some.txt: lines end in CR LF; the carriage returns were dropped",
    ),
    (
        "not packed",
        b"a\n",
        "some.txt.gz",
        "some.txt.gz: not packed, in spite of its name; read as it is",
    ),
]


@pytest.mark.parametrize(
    ("data", "name", "note"), [c[1:] for c in NOTES], ids=[c[0] for c in NOTES]
)
def test_notes(data: bytes, name: str, note: str) -> None:
    intake = Intake()
    of_bytes(data, name=name, intake=intake)
    assert intake.warnings == [note]


def test_packed_files_are_known_by_content_and_digested_as_they_lie_on_disk(tmp_path: Path) -> None:
    import hashlib

    path = tmp_path / "misnamed.txt"
    path.write_bytes(gzip.compress(b"a\nb\n", mtime=0))
    intake = Intake()
    found = list(read.records(path, role="gold", intake=intake))
    assert texts(found) == [["a"], ["b"]]
    assert intake.inputs == [
        InputFile("gold", str(path), hashlib.sha256(path.read_bytes()).hexdigest())
    ]


def test_files_are_not_hashed_where_nobody_asks(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a\n")
    intake = Intake(digests=False)
    assert texts(list(read.records(tmp_path / "a.txt", role="gold", intake=intake))) == [["a"]]
    assert intake.inputs == [InputFile("gold", str(tmp_path / "a.txt"), None)]


def test_bytes_may_arrive_one_by_one() -> None:
    class Drip(io.RawIOBase):
        def __init__(self, data: bytes) -> None:
            self.rest = data

        def read(self, size: int = -1) -> bytes:
            first, self.rest = self.rest[:1], self.rest[1:]
            return first

    for packer in PACKERS.values():
        found = list(
            read.records(Drip(packer(b"\xef\xbb\xbfone\ntwo\n")), role="gold", intake=Intake())
        )
        assert texts(found) == [["one"], ["two"]]


def test_patterns_are_read_in_order_of_names(tmp_path: Path) -> None:
    for name in ("part-2.txt", "part-10.txt", "part-1.txt", "other.txt"):
        (tmp_path / name).write_text(f"{name}\n")
    (tmp_path / "part-folder.txt").mkdir()
    intake = Intake()
    found = list(read.records(f"{tmp_path}/part-*.txt", role="gold", intake=intake))
    assert texts(found) == [["part-1.txt"], ["part-10.txt"], ["part-2.txt"]]
    assert [Path(i.path).name for i in intake.inputs] == ["part-1.txt", "part-10.txt", "part-2.txt"]


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path: Path) -> None:
    path = tmp_path / "run[1].txt"
    path.write_text("x\n")
    assert texts(list(read.records(str(path), role="gold", intake=Intake()))) == [["x"]]


def test_an_empty_shard_among_others_is_noted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("")
    (tmp_path / "b.txt").write_text("x\n")
    intake = Intake()
    assert texts(list(read.records(f"{tmp_path}/*.txt", role="gold", intake=intake))) == [["x"]]
    assert intake.warnings == [f"{tmp_path}/a.txt: the file is empty"]


def test_formats_may_be_mixed_and_forced(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"gold": "x"}\n')
    (tmp_path / "b.tsv").write_text("gold\ny\n")
    found = list(
        read.records([tmp_path / "a.jsonl", tmp_path / "b.tsv"], role="gold", intake=Intake())
    )
    assert texts(found) == [["x"], ["y"]]
    forced = list(read.records(tmp_path / "b.tsv", role="gold", intake=Intake(), format="lines"))
    assert texts(forced) == [["gold"], ["y"]]


def test_columns_of_json() -> None:
    rows = [
        {
            "gold": "a",
            "n": 1,
            "share": 0.5,
            "yes": True,
            "none": None,
            "list": [1, "x"],
            "meta": {"topic": "t", "gold": 1},
        },
        {"gold": "b", "late": "l"},
    ]
    (block,) = of_bytes(
        "".join(json.dumps(r) + "\n" for r in rows).encode(), role="gold", name="x.jsonl"
    )
    assert block.columns == {
        "topic": ["t", ""],
        "meta.gold": ["1", ""],
        "n": ["1", ""],
        "share": ["0.5", ""],
        "yes": ["true", ""],
        "none": ["", ""],
        "list": ['[1,"x"]', ""],
        "late": ["", "l"],
    }


def test_a_table_in_memory_may_hold_nan_for_empty() -> None:
    (block,) = read.records([{"gold": "a", "topic": float("nan")}], role="gold", intake=Intake())
    assert block.columns["topic"] == [""]


def test_a_prediction_file_may_carry_its_gold() -> None:
    (block,) = of_bytes(b'{"prediction": "a", "gold": ["x", "y"]}\n', name="x.jsonl")
    assert block.also is not None
    assert [list(v) for v in block.also] == [["x", "y"]]
    (block,) = of_bytes(b"prediction\tgold\na\tx\n", name="x.tsv")
    assert block.also is not None
    assert [list(v) for v in block.also] == [["x"]]


def test_reading_is_late() -> None:
    def broken() -> Any:
        yield b"a\nb\n"
        raise AssertionError("read too far")

    blocks = blocks_of(broken(), "x", Intake(), block=1)
    assert list(next(blocks).texts) == ["a"]


def test_a_pipe_that_does_not_wait_is_waited_for() -> None:
    reading, writing = os.pipe()
    os.set_blocking(reading, False)

    def write_late() -> None:
        with open(writing, "wb") as pipe:
            pipe.write(b"late\n")

    with open(reading, "rb", buffering=0) as pipe:
        blocks = read.records(pipe, role="gold", intake=Intake())
        writer = threading.Thread(target=write_late)
        assert pipe.read(1) is None  # nothing is there yet
        writer.start()
        assert texts(list(blocks)) == [["late"]]
        writer.join()


def test_a_file_given_open_stays_open() -> None:
    stream = io.BytesIO(b"a\n")
    assert texts(list(read.records(stream, role="gold", intake=Intake()))) == [["a"]]
    assert not stream.closed

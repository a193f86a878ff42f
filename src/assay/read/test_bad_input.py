# SPDX-License-Identifier: Apache-2.0
"""Bad files: the exact message, with file, line, column and what to do."""

from __future__ import annotations

import gzip
import io
import os
import sys
from pathlib import Path
from typing import Any

import pytest
import zstandard

from assay import read
from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.read.source import Role, conversion

ONE = 'write one object per line: {"id": "1", "prediction": "..."}'
NOT_THERE = "each record of predictions needs 'prediction', a string or a list of strings"
COPY = "copy or download it again"
STEP = "check the step that wrote it"
STRINGS = "write a string or a list of strings"
IDS = "write ids as strings or whole numbers"
ALL_IDS = "give every record an id, or none"
TABS = "separate fields by one tab each; there is no quoting"


def of_bytes(data: bytes, name: str, role: Role) -> None:
    stream = io.BytesIO(data)
    stream.name = name
    list(read.records(stream, role=role, intake=Intake()))


BYTES = [
    # name, bytes, message after "p.txt"
    ("ISO-8859-1", "ok\ncafé crème\n".encode("latin-1"), ", line 2, column 4: byte 0xE9 is not UTF-8; if it is ISO-8859-1 ('é'), convert it: iconv -f ISO-8859-1 -t UTF-8 p.txt"),
    ("Windows-1252", "ok\nit’s\n".encode("cp1252"), ", line 2, column 3: byte 0x92 is not UTF-8; if it is WINDOWS-1252 ('’'), convert it: iconv -f WINDOWS-1252 -t UTF-8 p.txt"),
    ("another encoding", "привет\n".encode("koi8-r"), ", line 1, column 1: byte 0xD0 is not UTF-8; find out its encoding and convert it: iconv -f ENCODING -t UTF-8 p.txt"),
    ("columns count characters", "ééé".encode() + b"\xff\n", ", line 1, column 4: byte 0xFF is not UTF-8; find out its encoding and convert it: iconv -f ENCODING -t UTF-8 p.txt"),
    ("cut off inside a character", "ok\nné€".encode()[:-1], ", line 2, column 3: the file ends in the middle of a character; it may be cut off: copy or write it again"),
    ("a bad last character before a line feed", b"abcdef\xe9\n", ", line 1, column 7: byte 0xE9 is not UTF-8; if it is ISO-8859-1 ('é'), convert it: iconv -f ISO-8859-1 -t UTF-8 p.txt"),
    ("surrogate in UTF-8", b"a\xed\xa0\x80b\n", ", line 1, column 2: byte 0xED is not UTF-8; half of a surrogate pair, as Java and some databases write it: write it as UTF-8"),
    ("UTF-16", "hello\n".encode("utf-16"), ": this is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8 p.txt"),
    ("UTF-16, big end first", b"\xfe\xff" + "hello\n".encode("utf-16-be"), ": this is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8 p.txt"),
    ("UTF-32", "hello\n".encode("utf-32"), ": this is UTF-32, not UTF-8; convert it: iconv -f UTF-32 -t UTF-8 p.txt"),
    ("UTF-16 without a mark", "hello\nworld\n".encode("utf-16-le"), ", line 1: every second byte is NUL: this looks like UTF-16, not UTF-8; convert it: iconv -f UTF-16LE -t UTF-8 p.txt"),
    ("a hole in the file", b"a\nb\n" + b"\0" * 100 + b"\n", ", line 3: a run of NUL bytes: not a text file, or a damaged one; check the step that wrote it"),
    ("empty", b"", f": the file is empty; {STEP}"),
    ("a byte order mark and nothing else", b"\xef\xbb\xbf", f": the file is empty; {STEP}"),
    ("an empty gzip", gzip.compress(b""), f": the file is empty; {STEP}"),
    ("gzip cut off", gzip.compress(b"hello\n" * 100)[:-9], f": the gzip archive is cut off; {COPY}"),
    ("gzip cut off in its last bytes", gzip.compress(b"hello\n")[:-1], f": the gzip archive is cut off; {COPY}"),
    ("gzip cut off in the second member", gzip.compress(b"hello\n") + gzip.compress(b"hello\n")[:9], f": the gzip archive is cut off; {COPY}"),
    ("gzip header alone", b"\x1f\x8b\x08", f": the gzip archive is cut off; {COPY}"),
    ("gzip with a wrong checksum", gzip.compress(b"hello\n")[:-8] + b"\0" * 8, f": the gzip archive is damaged (Error -3 while decompressing data: incorrect data check); {COPY}"),
    ("zstd cut off", zstandard.compress(b"hello\n" * 100)[:-2], f": the zstd archive is cut off; {COPY}"),
    ("zip", b"PK\x03\x04" + b"a" * 20, ": this is a zip archive, not text; unpack it first (unzip), or use gzip or zstd"),
    ("xz", b"\xfd7zXZ\x00" + b"a" * 20, ": this is packed with xz, not text; unpack it first (xz -d), or use gzip or zstd"),
    ("an image", b"\x89PNG\r\n\x1a\n" + b"a" * 20, ": this is an image, not text; name a text file"),
]  # fmt: skip

JSON = [
    # name, bytes, message after "p.jsonl"
    ("NaN", b'{"prediction": "a"}\n{"prediction": "b", "x": NaN}\n', ", line 2, column 26: NaN is not JSON; write null, or a number"),
    ("-Infinity", b'{"prediction": "a", "x": [1, -Infinity]}\n', ", line 1, column 30: -Infinity is not JSON; write null, or a number"),
    ("the word NaN in a string is no NaN", b'{"prediction": "NaN", "x": tru}\n', f", line 1, column 28: not JSON: expecting value; {ONE}"),
    ("breaks off", b'{"prediction": "a"}\n{"prediction": "b', f", line 2, column 16: not JSON: it breaks off; {ONE}"),
    ("spread over lines", b'{\n  "prediction": "a"\n}\n', ", line 1, column 2: not JSON: it breaks off; an object must not be spread over several lines"),
    ("single quotes", b"{'prediction': 'a'}\n", f", line 1, column 2: not JSON: strings need double quotes; {ONE}"),
    ("plain text", b"hello world\n", f", line 1, column 1: not JSON: expecting value; {ONE}"),
    ("two objects on a line", b'{"prediction": "a"}{"prediction": "b"}\n', f", line 1, column 20: not JSON: something follows the end of the value; {ONE}"),
    ("two objects and a blank line", b'{"prediction": "a"}\n\n{"prediction": "b"}{"prediction": "c"}\n', ", line 2: a blank line between records; remove it, or write a record"),
    ("an object over two lines and two on one", b'{"prediction":\n"a"}\n{"prediction": "b"}{"prediction": "c"}\n', f", line 1, column 15: not JSON: it breaks off; {ONE}"),
    ("a blank line", b'{"prediction": "a"}\n\n{"prediction": "b"}\n', ", line 2: a blank line between records; remove it, or write a record"),
    ("blank lines only", b"\n \n", f": the file holds blank lines only; {STEP}"),
    ("a list", b'["a"]\n', f", line 1: a list where an object must be; {ONE}"),
    ("a string", b'"a"\n', f", line 1: the string 'a' where an object must be; {ONE}"),
    ("another key", b'{"prediction": "a"}\n{"pred": "b", "id": 3}\n', f", line 2: no 'prediction'; it has 'pred', 'id'; {NOT_THERE}"),
    ("a key twice", b'{"prediction": "a"}\n{"prediction": "a", "prediction": "b"}\n', ", line 2: key 'prediction' twice in one object; remove one"),
    ("an empty object", b"{}\n", f", line 1: no 'prediction'; it is empty; {NOT_THERE}"),
    ("null", b'{"prediction": null}\n', ", line 1: 'prediction' is null, not a string; leave the record out, and use --missing wrong or --missing skip"),
    ("a number", b'{"prediction": 3.5}\n', f", line 1: 'prediction' is the number 3.5, not a string; {STRINGS}"),
    ("an object inside", b'{"prediction": {"a": 1}}\n', f", line 1: 'prediction' is an object, not a string; {STRINGS}"),
    ("a list with a number", b'{"prediction": ["a", 1]}\n', f", line 1: 'prediction' holds the number 1 at position 2, not a string; {STRINGS}"),
    ("gold beside it of the wrong shape", b'{"prediction": "a", "gold": 3}\n', f", line 1: 'gold' is the number 3, not a string; {STRINGS}"),
    ("id null", b'{"id": null, "prediction": "a"}\n', f", line 1: 'id' is null, not a string; {IDS}"),
    ("id a fraction", b'{"id": 1.5, "prediction": "a"}\n', f", line 1: 'id' is the number 1.5, not a string; {IDS}"),
    ("id true", b'{"id": true, "prediction": "a"}\n', f", line 1: 'id' is true, not a string; {IDS}"),
    ("id absent later", b'{"id": "1", "prediction": "a"}\n{"prediction": "b"}\n', f", line 2: no 'id', though earlier records have one; {ALL_IDS}"),
    ("id only later", b'{"prediction": "a"}\n{"id": "1", "prediction": "b"}\n', f", line 2: an 'id', though earlier records have none; {ALL_IDS}"),
    ("half a surrogate pair", b'{"prediction": "a\\ud800b"}\n', ", line 1, column 18: half of a surrogate pair, which is no character; write the character itself in UTF-8, or both halves"),
    ("nested very deeply", b'{"x": ' + b"[" * 100_000 + b"]" * 100_000 + b"}\n", f", line 1, column 1: lists or objects nested too deeply; {ONE}"),
    ("a number out of range", b'{"prediction": "a", "x": 1e999}\n', ", line 1, column 1: a number out of range; write it as a string"),
    ("a tab in a string", b'{"prediction": "a\tb"}\n', ", line 1, column 18: not JSON: the control character U+0009 inside a string; write it as \\u0009"),
    ("a bad byte", b'{"prediction": "a\xff"}\n', ", line 1, column 18: byte 0xFF is not UTF-8; if it is ISO-8859-1 ('ÿ'), convert it: iconv -f ISO-8859-1 -t UTF-8 p.jsonl"),
]  # fmt: skip

ARRAYS = [
    ("NaN", b'[{"gold": "a"},\n {"gold": "b", "x": NaN}]', ", line 2, column 21: NaN is not JSON; write null, or a number"),
    ("empty", b"[]", f": the array is empty; {STEP}"),
    ("a string inside", b'[{"gold": "a"},\n "b"]', ', line 2: the string \'b\' where an object must be; write an array of objects: [{"id": "1", "gold": "..."}]'),
    ("breaks off", b'[{"gold": "a"},\n {"gold": ', ", line 2, column 11: not JSON: it breaks off; write an array of objects"),
    ("another key", b'[{"gold": "a"},\n {"x": "b"}]', ", line 2: no 'gold'; it has 'x'; each record of gold needs 'gold', a string or a list of strings"),
    ("a key twice", b'[{"gold": "a"},\n {"gold": "b", "x": {"y": 1, "y": 2}}]', ", line 2: key 'y' twice in one object; remove one"),
    ("no references", b'[{"gold": []}]', ", line 1: 'gold' is an empty list; give at least one reference"),
    ("one object over several lines", b'{\n "a": 1\n}', ", line 1, column 2: not JSON: it breaks off; an object must not be spread over several lines"),
]  # fmt: skip

TSV = [
    ("no header", b"a\tb\nc\td\n", ", line 1: the header has no column 'prediction'; it names 'a', 'b'; begin the file with a line such as id<TAB>prediction, or read it as plain lines"),
    ("no header but a long text", b"x" * 99 + b"\n", f", line 1: the header has no column 'prediction'; it names '{'x' * 30}...'; begin the file with a line such as id<TAB>prediction, or read it as plain lines"),
    ("a name twice", b"id\tprediction\tx\tx\n", ", line 1: the header names 'x' twice; rename one of them"),
    ("too few fields", b"id\tprediction\n1\ta\n2\n", f", line 3: 1 field where the header names 2; {TABS}"),
    ("too many fields", b"id\tprediction\n1\ta\tb\n", f", line 2: 3 fields where the header names 2; {TABS}"),
    ("a blank line", b"id\tprediction\n1\ta\n\n2\tb\n", f", line 3: 1 field where the header names 2; {TABS}"),
    ("a header alone", b"id\tprediction\n", f": a header and no records; {STEP}"),
    ("a bad byte", b"id\tprediction\n12\t\xe9\n", ", line 2, column 4: byte 0xE9 is not UTF-8; if it is ISO-8859-1 ('é'), convert it: iconv -f ISO-8859-1 -t UTF-8 p.tsv"),
]  # fmt: skip

ALL = [
    pytest.param(data, name, role, message, id=f"{name}: {title}")
    for name, role, table in (
        ("p.txt", "predictions", BYTES),
        ("p.jsonl", "predictions", JSON),
        ("g.json", "gold", ARRAYS),
        ("p.tsv", "predictions", TSV),
    )
    for title, data, message in table
]


@pytest.mark.parametrize(("data", "name", "role", "message"), ALL)
def test_message(data: bytes, name: str, role: Role, message: str) -> None:
    with pytest.raises(InputError) as caught:
        of_bytes(data, name, role)
    assert str(caught.value) == name + message


def test_a_bad_byte_is_found_far_into_the_file() -> None:
    data = b"fine\n" * 300_000 + b"b\xe4d\n"
    with pytest.raises(InputError, match=r"line 300,001, column 2: byte 0xE4"):
        of_bytes(data, "p.txt", "gold")
    with pytest.raises(InputError, match=r"line 300,001, column 2: byte 0xE4"):
        of_bytes(gzip.compress(data), "p.txt", "gold")


def test_files_that_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "gold.txt").write_text("x\n")
    (tmp_path / "link.txt").symlink_to("nowhere.txt")
    cases: list[tuple[Any, str]] = [
        (tmp_path / "glod.txt", f"{tmp_path}/glod.txt: no such file; did you mean {tmp_path}/gold.txt?"),
        (tmp_path / "zzzzz", f"{tmp_path}/zzzzz: no such file; check the name; relative names start from {Path.cwd()}"),
        (tmp_path / "no" / "gold.txt", f"{tmp_path}/no/gold.txt: no such file; there is no folder {tmp_path}/no"),
        (tmp_path / "link.txt", f"{tmp_path}/link.txt: no such file; it is a link to nowhere.txt, which does not exist"),
        (tmp_path, f"{tmp_path}: this is a folder, not a file; name a file in it, or all of them: '{tmp_path}/*'"),
        (f"{tmp_path}/*.tsv", f"{tmp_path}/*.tsv: no file matches this pattern; check the folder, and quote the pattern so that the shell leaves it alone"),
    ]  # fmt: skip
    for source, message in cases:
        with pytest.raises(InputError) as caught:
            read.records(source, role="gold", intake=Intake())
        assert str(caught.value) == message


def test_a_file_that_may_not_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "gold.txt"
    path.write_text("x\n")
    # The tests may run as root, whom no mode keeps out.
    monkeypatch.setattr("builtins.open", _forbidden)
    blocks = read.records(path, role="gold", intake=Intake())
    with pytest.raises(
        InputError, match=r"gold.txt: no permission to read it; check its owner and"
    ):
        list(blocks)


def test_a_link_to_itself(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(InputError, match="a: no such file; it is a link that leads back to itself"):
        read.records(tmp_path / "a", role="gold", intake=Intake())


def test_a_device_that_never_ends_is_no_text() -> None:
    class Zeros(io.RawIOBase):
        name = "/dev/zero"
        given = 0

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            self.given += size
            assert self.given < 1 << 26, "somebody has to stop it"
            return bytes(size)

    blocks = read.records(Zeros(), role="gold", intake=Intake())
    with pytest.raises(InputError, match=r"/dev/zero, line 1: a run of NUL bytes"):
        list(blocks)


def _forbidden(*arguments: Any, **options: Any) -> Any:
    raise PermissionError(13, "Permission denied")


def test_standard_input_can_be_read_once() -> None:
    intake = Intake()
    read.records("-", role="predictions", intake=intake)
    with pytest.raises(UsageError) as caught:
        read.records("-", role="gold", intake=intake)
    assert str(caught.value) == (
        "'-' is given for predictions and for gold; "
        "standard input can be read once, so give a file for one of them"
    )


def test_standard_input_may_be_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    blocks = read.records("-", role="gold", intake=Intake())
    with pytest.raises(InputError) as caught:
        list(blocks)
    assert str(caught.value) == "standard input: it is closed; pipe a file in, or name a file"


def test_standard_input_has_no_name_to_convert() -> None:
    assert conversion("UTF-16", "standard input") == "convert it: iconv -f UTF-16 -t UTF-8"


MEMORY = [
    ("bytes", b"abc", "gold cannot be read from bytes; give a path, a list of Path, or an iterable of strings or mappings"),
    ("a number", 3, "gold cannot be read from int; give a path, a list of Path, or an iterable of strings or mappings"),
    ("nothing", [], "there are no gold; give at least one"),
    ("a number among texts", ["a", 3], "gold, line 2: the number 3 where a string, a list of strings or a mapping must be; give every record in one of these forms"),
    ("paths and texts", [Path("a"), "b"], "gold mix paths and str; give paths alone or records alone"),
]  # fmt: skip


@pytest.mark.parametrize(("source", "message"), [c[1:] for c in MEMORY], ids=[c[0] for c in MEMORY])
def test_memory_of_the_wrong_shape(source: Any, message: str) -> None:
    with pytest.raises((InputError, UsageError)) as caught:
        list(read.records(source, role="gold", intake=Intake()))
    assert str(caught.value) == message


def test_an_unknown_format_gets_a_suggestion() -> None:
    with pytest.raises(UsageError, match=r"unknown format 'jsnol'; did you mean 'jsonl'\?"):
        read.records("x", role="gold", intake=Intake(), format="jsnol")  # type: ignore[arg-type]  # that is the point


def test_a_read_error_of_the_machine_is_one_line() -> None:
    class Broken(io.RawIOBase):
        name = "p.txt"

        def read(self, size: int = -1) -> bytes:
            raise OSError(5, os.strerror(5))

    with pytest.raises(InputError, match=r"^p.txt: reading failed \(Input/output error\); check"):
        list(read.records(Broken(), role="gold", intake=Intake()))

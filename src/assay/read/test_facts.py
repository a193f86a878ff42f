# SPDX-License-Identifier: Apache-2.0
"""What is said of a file by looking at it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
import zstandard

from assay.read import format_of
from assay.read.facts import look

BREAKS = "line breaks other than line feeds inside lines ({}): other tools may count more lines; replace them by spaces"

CASES: list[tuple[str, str, bytes, dict[str, Any]]] = [
    # title, name, bytes, what is found (the rest is as in an unremarkable file of plain lines)
    ("plain lines", "x.txt", b"a\nb\n", {"n_lines": 2, "n_records": 2}),
    ("no line feed at the end", "x.txt", b"a\nb", {"n_lines": 2, "n_records": 2}),
    ("UTF-8", "x.txt", "é\n".encode(), {"n_lines": 1, "n_records": 1, "encoding": "UTF-8"}),
    ("gzip", "x.txt", gzip.compress(b"a\n"), {"n_lines": 1, "n_records": 1, "packed": "gzip"}),
    ("zstd", "x.txt.zst", zstandard.compress(b"a\n"), {"n_lines": 1, "n_records": 1, "packed": "zstd"}),
    ("BOM and CR LF", "x.txt", b"\xef\xbb\xbfa\r\n", {"n_lines": 1, "n_records": 1, "notes": ["byte order mark removed", "lines end in CR LF; the carriage returns were dropped"]}),
    ("blank inside", "x.txt", b"a\n\nb\n", {"n_lines": 3, "n_records": 3, "notes": ["1 blank line between others"]}),
    ("not composed", "x.txt", "e\u0301\n".encode(), {"n_lines": 1, "n_records": 1, "encoding": "UTF-8", "notes": ["1 line not in Unicode normal form C"]}),
    ("blank end", "x.txt", b"a\n\n", {"n_lines": 2, "n_records": 2, "findings": ["1 blank line at the end: it counts as an empty text, so remove what is not meant"]}),
    ("breaks", "x.txt", "a\u2028b\rc\x85d\u2028\n".encode(), {"n_lines": 1, "n_records": 1, "encoding": "UTF-8", "findings": [BREAKS.format("U+000D: 1, U+0085: 1, U+2028: 2")]}),
    ("empty", "x.txt", b"", {"readable": False, "findings": ["x.txt: the file is empty; check the step that wrote it"]}),
    ("TSV", "x.tsv", b"id\tgold\ttopic\n1\ta\tx\n", {"n_lines": 2, "n_records": 1, "role": "gold", "has_ids": True, "columns": ["topic"]}),
    ("both sides", "x.tsv", b"prediction\tgold\na\tb\n", {"n_lines": 2, "n_records": 1, "role": "predictions", "carries_gold": True}),
    ("JSONL", "x.jsonl", b'{"id": 1, "prediction": "a", "n": 2}\n\n', {"n_lines": 2, "n_records": 1, "role": "predictions", "has_ids": True, "columns": ["n"]}),
    ("a JSON array", "x.json", b'[{"gold": "a"}, {"gold": "b"}]', {"n_lines": 1, "n_records": 2, "role": "gold"}),
    ("an array over lines", "x.json", b'[\n  {\n    "gold": "a"\n  }\n]', {"n_lines": 5, "n_records": 1, "role": "gold"}),
    ("twice", "x.jsonl", b'{"id": 1, "gold": "a"}\n' * 3, {"n_lines": 3, "n_records": 3, "role": "gold", "has_ids": True, "findings": ["id '1' occurs twice: x.jsonl, line 1 and x.jsonl, line 2; 1 more like it"]}),
    ("another key", "x.jsonl", b'{"text": "a"}\n', {"n_lines": 1, "readable": False, "findings": ["no 'prediction' and no 'gold' in its first record: name one of the columns so"]}),
    ("not JSON", "x.jsonl", b"text\n", {"n_lines": 1, "role": "predictions", "readable": False, "findings": ['x.jsonl, line 1, column 1: not JSON: expecting value; write one object per line: {"id": "1", "prediction": "..."}']}),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "data", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_facts(tmp_path: Path, name: str, data: bytes, expected: dict[str, Any]) -> None:
    (tmp_path / name).write_bytes(data)
    found = look(f"{tmp_path}/{name}", format_of(name))
    found.findings = [text.replace(f"{tmp_path}/", "") for text in found.findings]
    unremarkable: dict[str, Any] = {
        "readable": True,
        "packed": None,
        "encoding": "ASCII",
        "n_lines": 0,
        "n_records": 0,
        "role": None,
        "has_ids": False,
        "carries_gold": False,
        "columns": [],
        "notes": [],
        "findings": [],
    }
    assert {key: getattr(found, key) for key in unremarkable} == {**unremarkable, **expected}

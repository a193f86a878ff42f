# SPDX-License-Identifier: Apache-2.0
"""Reading keeps a block in memory, not the file."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

from assay import align, read
from assay.core.document import Intake

LINE = b"a line of some length, repeated often enough to fill a file with it\n"
JSON = b'{"prediction": "a text of some length, repeated often enough", "topic": "x"}\n'
TSV = b"a text of some length\tx\n"


def _write(path: Path, line: bytes, size: int, head: bytes = b"", packed: str = "") -> Path:
    data = head + line * (size // len(line))
    if packed == "gzip":
        data = gzip.compress(data, 1)
    elif packed == "zstd":
        data = zstandard.compress(data)
    path.write_bytes(data)
    return path


def _peak(work: Callable[[], object]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def _drain(path: Path, role: read.Role = "predictions") -> int:
    return sum(len(block) for block in read.records(path, role=role, intake=Intake()))


CASES = [
    # name          line  head                 packed  small and big size  most bytes held
    ("x.txt",       LINE, b"",                 "",     1 << 22, 50 << 20, 16 << 20),
    ("x.txt.gz",    LINE, b"",                 "gzip", 1 << 22, 50 << 20, 16 << 20),
    ("x.txt.zst",   LINE, b"",                 "zstd", 1 << 24, 50 << 20, 24 << 20),
    ("x.tsv",       TSV,  b"prediction\tx\n",  "",     1 << 21, 6 << 20,  16 << 20),
    ("x.jsonl",     JSON, b"",                 "",     1 << 21, 6 << 20,  24 << 20),
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "line", "head", "packed", "small", "big", "most"), CASES, ids=[c[0] for c in CASES]
)
def test_memory_does_not_grow_with_the_file(
    tmp_path: Path,
    name: str,
    line: bytes,
    head: bytes,
    packed: str,
    small: int,
    big: int,
    most: int,
) -> None:
    (tmp_path / "small").mkdir()
    little = _write(tmp_path / "small" / name, line, small, head, packed)
    large = _write(tmp_path / name, line, big, head, packed)
    assert _drain(large) == big // len(line)
    first = _peak(lambda: _drain(little))
    second = _peak(lambda: _drain(large))
    assert second < most
    assert second < first * 1.5


@pytest.mark.slow
def test_aligning_by_order_holds_blocks_only(tmp_path: Path) -> None:
    path = _write(tmp_path / "x.txt", LINE, 50 << 20)

    def joined() -> int:
        intake = Intake()
        left = read.records(path, role="predictions", intake=intake)
        right = read.records(path, role="gold", intake=intake)
        return sum(len(batch) for batch in align.examples(left, right, intake=intake))

    assert joined() == (50 << 20) // len(LINE)
    assert _peak(joined) < 24 << 20  # of two files of 50 MB

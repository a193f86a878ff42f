# SPDX-License-Identifier: Apache-2.0
"""Files of records, one JSON object per line.

A last line that a crash tore is not a record that anybody was told of: it is ignored on reading and
cut off before the next one is written.
"""

from __future__ import annotations

import codecs
import fcntl
import os
from pathlib import Path
from typing import TypeVar

import msgspec

from assay.core.errors import InputError
from assay.judge.appending import opened, write_through

Record = TypeVar("Record")


def read_records(path: Path, decoder: msgspec.json.Decoder[Record], kind: str) -> list[Record]:
    """The records of a file; none where there is no file."""
    found = []
    for number, line in enumerate(_whole_lines(path), start=1):
        if not line.strip():
            continue
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                f"not {kind} ({error})",
                path=path,
                line=number,
                hint="mend or remove the line; a merge may have left its marks",
            ) from None
    return found


def append_record(path: Path, data: bytes) -> None:
    """Add a record to a file that several processes may add to; it is on disk when this returns."""
    file = opened(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        mend_end(file)
        write_through(file, data + b"\n", path)
    finally:
        os.close(file)


def mend_end(file: int) -> None:
    """Cut off what a crash left of a last line; a whole one that lacks its end gets it."""
    size = os.fstat(file).st_size
    start = size
    tail = b""
    while start > 0 and b"\n" not in tail:
        start = max(0, start - 65_536)
        tail = os.pread(file, size - start, start)
    torn = tail[tail.rfind(b"\n") + 1 :]
    if not torn:
        return
    if _is_whole(torn):
        os.write(file, b"\n")
    else:
        os.ftruncate(file, size - len(torn))
    os.fsync(file)


def _whole_lines(path: Path) -> list[bytes]:
    try:
        # An editor may have left its mark at the beginning.
        lines = path.read_bytes().removeprefix(codecs.BOM_UTF8).splitlines(keepends=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    if lines and not lines[-1].endswith(b"\n") and not _is_whole(lines[-1]):
        lines.pop()
    return lines


def _is_whole(line: bytes) -> bool:
    """Whether a line that lacks its end is all there nevertheless."""
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True

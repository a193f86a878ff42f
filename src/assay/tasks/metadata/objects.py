# SPDX-License-Identifier: Apache-2.0
"""JSON of strangers: decoded, or refused with the place and what to write instead."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from assay.core.errors import InputError
from assay.read.malformed import malformed
from assay.tasks.metadata.labels import BOM, check_utf8


def decoded(data: bytes, path: Path, example: str) -> Any:
    """The value of a whole file; `example` is what it should hold."""
    check_utf8(data, path)
    return _decoded(data.removeprefix(BOM), path, example, 1)


def decoded_lines(data: bytes, path: Path, example: str) -> Iterator[tuple[int, Any]]:
    """The value on each line that is not blank, behind the number of the line."""
    check_utf8(data, path)
    for number, line in enumerate(data.removeprefix(BOM).split(b"\n"), start=1):
        if line.strip():
            yield number, _decoded(line, path, example, number)


def _decoded(data: bytes, path: Path, example: str, line: int) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, RecursionError):
        raise malformed(data, str(path), example, line) from None


def as_text(value: Any, key: str, path: Any, line: int | None = None) -> str:
    """A string, or a number as it is written; anything else is no value.

    >>> as_text(1999, "year", "p1.json")
    '1999'
    """
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return msgspec.json.encode(value).decode()
    raise InputError(
        f"'{key}' holds {KINDS.get(type(value), type(value).__name__)}",
        path=path,
        line=line,
        hint="write a string or a number",
    )


KINDS: dict[type, str] = {type(None): "null", list: "a list", dict: "an object"}
"""What JSON calls the values that are neither texts nor numbers."""

# SPDX-License-Identifier: Apache-2.0
"""Reading the files of a log: lines, and one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import msgspec
import numpy as np

from assay.core.batch import BLOCK
from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.text import Texts
from assay.read import utf8
from assay.read.lines import open_text
from assay.read.malformed import malformed
from assay.read.source import Role, sources
from assay.read.stream import pieces

T = TypeVar("T")

_REFUSALS = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
_PIECE = 1 << 18
"""Bytes that are read and decoded at once."""
_OBJECTS = BLOCK // 8
"""Objects per block: few enough that their lists of numbers stay in the cache."""


class JsonBlock(NamedTuple, Generic[T]):
    """The objects of some lines of a file; `first` is the number of lines before them."""

    objects: list[T]
    first: int


def lines_of(path: Path, intake: Intake, role: Role = "predictions") -> list[str]:
    """The lines of a file."""
    return [text for block in open_text(path, role=role, intake=intake) for text in block]


def json_blocks(
    path: Path, kind: type[T], intake: Intake, example: str, role: Role = "predictions"
) -> Iterator[JsonBlock[T]]:
    """The objects of a file of JSON lines, some thousand at a time.

    Blank lines at the end do not count.
    """
    decoder = msgspec.json.Decoder(kind)
    held: list[T] = []
    first = 0
    for objects in _decoded_pieces(path, decoder, intake, example, role):
        held += objects
        del objects  # what is not needed any more makes room while the block is measured
        while len(held) >= _OBJECTS:
            block, held = JsonBlock(held[:_OBJECTS], first), held[_OBJECTS:]
            first += _OBJECTS
            yield block
            del block
    if held:
        yield JsonBlock(held, first)
    elif first == 0:
        raise InputError(
            "the file holds blank lines only", path=path, hint="check the step that wrote it"
        )


def _decoded_pieces(
    path: Path, decoder: msgspec.json.Decoder[T], intake: Intake, example: str, role: Role
) -> Iterator[list[T]]:
    """The objects of the file, as many as a piece of it holds.

    Keys that nobody asks for are skipped, and their text is not checked to be UTF-8.
    """
    found = sources(path, role, intake)
    assert found is not None, "a path names a file"
    name, line, blank = str(path), 0, 0
    parts: list[bytes] = []  # of a line that goes on
    for piece in chain(pieces(found[0], role, intake, size=_PIECE), [b"\n"]):
        end = piece.rfind(b"\n") + 1
        if end == 0:
            parts.append(piece)
            continue
        whole = b"".join([*parts, piece[:end]])
        parts = [piece[end:]] if end < len(piece) else []
        if whole == b"\n" == piece:
            continue  # the file ended with a line feed
        if blank and whole.strip():
            raise _blank(name, blank)
        n_lines = whole.count(b"\n")
        try:
            objects = decoder.decode_lines(whole)
        except _REFUSALS:
            objects = []
        if len(objects) != n_lines:
            # Something is wrong, or lines are blank: line by line, to say where.
            lines = whole.split(b"\n")[:-1]
            while lines and not lines[-1].strip():
                lines.pop()
            if len(lines) < n_lines:
                blank = blank or line + len(lines) + 1
            objects = [
                _one(decoder, raw, line + i, name, example) for i, raw in enumerate(lines, 1)
            ]
        line += n_lines
        yield objects


def _one(decoder: msgspec.json.Decoder[T], raw: bytes, line: int, name: str, example: str) -> T:
    if not raw.strip():
        raise _blank(name, line)
    try:
        return decoder.decode(raw)
    except UnicodeDecodeError:
        utf8.check(Texts(raw, np.zeros(1, np.int64), np.full(1, len(raw))), name, line)
        raise
    except msgspec.ValidationError as error:
        said = str(error)
        raise InputError(
            said[:1].lower() + said[1:], path=name, line=line, hint=f"write {example}"
        ) from None
    except (msgspec.DecodeError, RecursionError):
        raise malformed(raw, name, example, line) from None


def _blank(name: str, line: int) -> InputError:
    return InputError(
        "a blank line between records", path=name, line=line, hint="remove it, or write a record"
    )


def head_of(path: Path) -> bytes:
    """The beginning of a file, unpacked if it is packed: its first line at least, for the output
    of a long recording is one line."""
    found = sources(path, "predictions", Intake())
    assert found is not None, "a path names a file"
    held: list[bytes] = []
    for piece in pieces(found[0], "predictions", Intake(), size=1 << 16):
        held.append(piece)
        if b"\n" in piece:
            break
    return b"".join(held)


def first_objects(path: Path, limit: int = 20) -> list[dict[str, Any]]:
    """The objects at the beginning of a file, none where it does not begin with JSON objects."""
    found: list[dict[str, Any]] = []
    for line in head_of(path).split(b"\n")[:limit]:
        try:
            value = msgspec.json.decode(line)
        except _REFUSALS:
            if not found and line.lstrip().startswith(b"{") and line.rstrip().endswith(b"}"):
                raise malformed(line, str(path), "one JSON object per line") from None
            break
        if not isinstance(value, dict):
            break
        found.append(value)
    return found

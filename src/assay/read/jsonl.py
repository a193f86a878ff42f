# SPDX-License-Identifier: Apache-2.0
"""JSON: one object per line, or one array of objects per file.

A key that an object has twice, NaN and Infinity are refused. Blank lines at the end are ignored,
elsewhere they are errors.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

import msgspec
import numpy as np

from assay.core.batch import BLOCK
from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.records import Records
from assay.core.text import Texts
from assay.read import utf8
from assay.read.fields import Shaper, described
from assay.read.lines import LineBlock, blocks_of, line_blocks
from assay.read.malformed import malformed
from assay.read.source import KEYS, Role, Source
from assay.read.stream import READ, pieces
from assay.read.twice import check, check_lines

_LINES = msgspec.json.Decoder(dict[str, Any])
_ANY = msgspec.json.Decoder()
_RAW = msgspec.json.Decoder(list[msgspec.Raw])
_REFUSALS = (msgspec.MsgspecError, RecursionError)


def jsonl(
    source: Source, role: Role, intake: Intake, *, lone: bool = True, size: int = READ
) -> Iterator[Records]:
    """The records of a file with one JSON object per line."""
    return _of_blocks(line_blocks(source, role, intake, lone=lone, size=size), source, role)


def _of_blocks(blocks: Iterator[LineBlock], source: Source, role: Role) -> Iterator[Records]:
    name = source.name
    shaper = Shaper(name, role, source.naming)
    n_blank, blank_line = 0, 0
    any_record = False
    for texts, first in blocks:
        held = _without_blank_end(texts)
        if held and n_blank:
            raise _blank(name, blank_line)
        if len(held) < len(texts):
            blank_line = blank_line if n_blank else first + len(held) + 1
            n_blank += len(texts) - len(held)
        if held:
            any_record = True
            rows = _rows(held, first, name, role)
            check_lines(held, rows, name, first)
            yield shaper.records(rows, first)
    if n_blank and not any_record:
        raise InputError(
            "the file holds blank lines only", path=name, hint="check the step that wrote it"
        )


def _blank(name: str, line: int) -> InputError:
    return InputError(
        "a blank line between records", path=name, line=line, hint="remove it, or write a record"
    )


def _without_blank_end(texts: Texts) -> Texts:
    stop = len(texts)
    while stop and not texts.raw(stop - 1).strip():
        stop -= 1
    return texts[:stop]


def _rows(texts: Texts, first: int, name: str, role: Role) -> list[dict[str, Any]]:
    if _one_object_each(texts):
        try:
            rows = _LINES.decode_lines(texts.data[: int(texts.ends[-1])])
        except _REFUSALS:
            rows = []
        if len(rows) == len(texts):
            return rows
    # White space around an object, or something wrong: line by line, to say where.
    return [_row(texts.raw(index), name, first + index + 1, role) for index in range(len(texts))]


def _one_object_each(texts: Texts) -> bool:
    """Whether every line begins and ends with a brace.

    The decoder of many lines takes values one after the other and does not look at line feeds, so
    that a blank line and two objects on another would cancel out. Between braces that face each
    other no object can be spread over lines, and as many objects as lines is one on each.
    """
    if not bool((texts.ends > texts.starts).all()):
        return False
    view = np.frombuffer(texts.data, dtype=np.uint8)
    return bool((view[texts.starts] == ord("{")).all() and (view[texts.ends - 1] == ord("}")).all())


def _row(line: bytes, name: str, number: int, role: Role) -> dict[str, Any]:
    try:
        return _LINES.decode(line)
    except _REFUSALS:
        if not line.strip():
            raise _blank(name, number) from None
    example = f'one object per line: {{"id": "1", "{KEYS[role]}": "..."}}'
    try:
        value = _ANY.decode(line)
    except _REFUSALS:
        raise malformed(line, name, example, number) from None
    raise InputError(
        f"{described(value)} where an object must be",
        path=name,
        line=number,
        hint=f"write {example}",
    )


def json(
    source: Source, role: Role, intake: Intake, *, lone: bool = True, size: int = READ
) -> Iterator[Records]:
    """The records of a `.json` file: an array of objects, or in truth one object per line.

    An array is held in memory as a whole while it is read.
    """
    stream = pieces(source, role, intake, lone=lone, size=size)
    start = b""
    for piece in stream:
        start += piece
        if start.strip():
            break
    rest = chain([start] if start else [], stream)
    if start.lstrip()[:1] != b"[":
        return _of_blocks(blocks_of(rest, source.name, intake), source, role)
    return _of_array(b"".join(rest), source, role)


def _of_array(data: bytes, source: Source, role: Role) -> Iterator[Records]:
    name = source.name
    feeds = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
    starts = np.append(0, feeds + 1)
    utf8.check(Texts(data, starts, np.append(feeds, len(data))), name, 1, last=True)
    try:
        items = _RAW.decode(data)
    except _REFUSALS:
        raise malformed(data, name, "an array of objects") from None
    if not items:
        raise InputError("the array is empty", path=name, hint="check the step that wrote it")
    shaper = Shaper(name, role, source.naming)
    at = 0
    for first in range(0, len(items), BLOCK):
        rows, places = [], []
        for item in items[first : first + BLOCK]:
            raw = bytes(item)
            at = data.index(raw, at)  # only a comma and white space lie between
            places.append(at)
            at += len(raw)
            rows.append(_ANY.decode(raw))
        lines = np.searchsorted(starts, places, side="right").tolist()
        for row, line in zip(rows, lines, strict=True):
            if not isinstance(row, dict):
                raise InputError(
                    f"{described(row)} where an object must be",
                    path=name,
                    line=line,
                    hint=f'write an array of objects: [{{"id": "1", "{KEYS[role]}": "..."}}]',
                )
        for item, row, line in zip(items[first : first + BLOCK], rows, lines, strict=True):
            check(bytes(item), row, name, line)
        yield shaper.records(rows, first, lines)

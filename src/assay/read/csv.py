# SPDX-License-Identifier: Apache-2.0
"""Comma-separated values as spreadsheets write them: a header, quoted fields, LF or CR LF.

Columns mean what they mean in TSV files. Fields may be quoted and then hold commas, line feeds and
doubled quotes. Where the header says so, semicolons or tabs separate, as some spreadsheets do.
"""

from __future__ import annotations

import csv as standard
from collections.abc import Iterator
from itertools import chain, islice
from typing import Any, NamedTuple

from assay.core.batch import BLOCK
from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.records import Records
from assay.read.fields import Shaper
from assay.read.lines import line_blocks
from assay.read.source import KEYS, Role, Source
from assay.read.stream import READ
from assay.read.tsv import header_names

LONGEST = 1 << 24
"""Characters of a field; a quote that is never closed makes a field of the rest of the file."""

_DELIMITERS = ",;\t"


class _Record(NamedTuple):
    fields: list[str]
    line: int


def csv(
    source: Source, role: Role, intake: Intake, *, lone: bool = True, size: int = READ
) -> Iterator[Records]:
    """The records of a CSV file with a header."""
    name = source.name
    blocks = line_blocks(source, role, intake, breaks="any", lone=lone, size=size)
    lines = (line for texts, _ in blocks for line in texts)
    top = next(lines, None)
    if top is None:
        return
    rows = _rows(chain([top], lines), _delimiter(top, source.naming.of(KEYS[role])), name)
    header = header_names(next(rows, _Record([], 1)).fields, source, role, ",")
    shaper = Shaper(name, role)
    filled = _filled(rows, len(header), name)
    first = 0
    while block := list(islice(filled, BLOCK)):
        objects = [_object(header, record.fields) for record in block]
        yield shaper.records(objects, first, [record.line for record in block])
        first += len(block)
    if not first:
        raise InputError("a header and no records", path=name, hint="check the step that wrote it")


def names_in(header: str) -> set[str]:
    """The names that a header may hold, whatever separates them."""
    return set(chain.from_iterable(_split(header, sign) for sign in _DELIMITERS))


def _delimiter(header: str, needed: str) -> str:
    """What separates the fields of this header: the first sign that sets the needed name apart."""
    return next((sign for sign in _DELIMITERS if needed in _split(header, sign)), ",")


def _split(header: str, sign: str) -> list[str]:
    """The fields of a header; none where it is not CSV, and reading on says why."""
    try:
        return next(standard.reader([header.partition("\r")[0]], delimiter=sign), [])
    except standard.Error:
        return []


def _rows(lines: Iterator[str], delimiter: str, name: str) -> Iterator[_Record]:
    """Each record with the line on which it begins."""
    standard.field_size_limit(max(standard.field_size_limit(), LONGEST))
    reader = standard.reader((f"{line}\n" for line in lines), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            yield _Record(next(reader), line)
        except StopIteration:
            return
        except standard.Error as error:
            problem, hint = _explained(str(error))
            raise InputError(problem, path=name, line=line, hint=hint) from None


def _explained(said: str) -> tuple[str, str]:
    """What is wrong where the reader of the standard library says this, and what to do."""
    quotes = "put quotes around whole fields, and double the quotes inside"
    if "limit" in said or "end of data" in said:
        return "a quoted field that does not end", quotes
    if "new-line" in said:
        hint = "end lines in line feeds, or put quotes around the field"
        return "a carriage return that ends no line", hint
    return f"not CSV ({said})", quotes


def _filled(rows: Iterator[_Record], width: int, name: str) -> Iterator[_Record]:
    """The records without blank lines at the end; a blank line elsewhere is an error."""
    blank = 0
    for record in rows:
        if not record.fields:
            blank = blank or record.line
            continue
        found, line = (0, blank) if blank else (len(record.fields), record.line)
        if found != width:
            raise InputError(
                f"{found} field{'s' if found != 1 else ''} where the header names {width}",
                path=name,
                line=line,
                hint="put quotes around fields that hold a separator or a line break",
            )
        yield record


def _object(header: list[str], fields: list[str]) -> dict[str, Any]:
    """The record by name; a name that stands several times has several values."""
    found: dict[str, Any] = {}
    for name, value in zip(header, fields, strict=True):
        if name in found:
            before = found[name]
            found[name] = [*(before if isinstance(before, list) else [before]), value]
        else:
            found[name] = value
    return found

# SPDX-License-Identifier: Apache-2.0
"""Tab-separated values: a line of column names, then one record per line.

`prediction` (or `gold`) is the value and `id` the id; every other column is for slices and
clusters. A column `gold` that occurs several times holds several references, a column `prediction`
several candidates. There is no quoting: a tab ends a field, a line feed ends a record.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.records import Records
from assay.core.text import TextLists, Texts
from assay.read.lines import line_blocks
from assay.read.source import KEYS, Role, Source
from assay.read.stream import READ

_REPEATABLE = ("prediction", "gold")


def tsv(
    source: Source, role: Role, intake: Intake, *, lone: bool = True, size: int = READ
) -> Iterator[Records]:
    """The records of a TSV file with a header."""
    name = source.name
    header: list[str] | None = None
    blank_line = 0
    n_records = 0
    for texts, first in line_blocks(source, role, intake, lone=lone, size=size):
        if header is None:
            header = header_names(texts[0].split("\t"), source, role, "<TAB>")
            texts, first = texts[1:], first + 1
        stop = len(texts)
        if len(header) > 1:  # in a file of one column an empty line is an empty value
            while stop and texts.starts[stop - 1] == texts.ends[stop - 1]:
                stop -= 1
        if blank_line and stop:
            raise _wrong_width(1, len(header), name, blank_line)
        if stop < len(texts) and not blank_line:
            blank_line = first + stop + 1
        if stop:
            n_records += stop
            yield _records(
                _fields(texts[:stop], len(header), name, first), header, role, name, first
            )
    if header is not None and not n_records:
        raise InputError("a header and no records", path=name, hint="check the step that wrote it")


def header_names(names: list[str], source: Source, role: Role, separator: str) -> list[str]:
    """The names of a header as ours, if they are such that records can be made of it."""
    name, key = source.name, source.naming.of(KEYS[role])
    if key not in names:
        shown = ", ".join(f"'{n}'" if len(n) <= 30 else f"'{n[:30]}...'" for n in names[:6])
        raise InputError(
            f"the header has no column '{key}'",
            path=name,
            line=1,
            hint=f"it names {shown}; begin the file with a line such as id{separator}{key}, "
            "or read it as plain lines",
        )
    ours = source.naming.header(names)
    for index, column in enumerate(names):
        if column in names[:index] and ours[index] not in _REPEATABLE:
            raise InputError(
                f"the header names '{column}' twice", path=name, line=1, hint="rename one of them"
            )
    return ours


def _fields(texts: Texts, width: int, name: str, first: int) -> list[Texts]:
    """The columns of some lines, over the same buffer."""
    low, high = int(texts.starts[0]), int(texts.ends[-1])
    tabs = np.flatnonzero(np.frombuffer(texts.data, dtype=np.uint8)[low:high] == 9) + low
    rows = np.searchsorted(texts.starts, tabs, side="right") - 1
    widths = np.bincount(rows, minlength=len(texts)) + 1
    if not bool((widths == width).all()):
        index = int(np.argmax(widths != width))
        raise _wrong_width(int(widths[index]), width, name, first + index + 1)
    inner = tabs.reshape(len(texts), width - 1)
    starts = np.column_stack([texts.starts, inner + 1])
    ends = np.column_stack([inner, texts.ends])
    return [
        Texts(texts.data, np.ascontiguousarray(starts[:, j]), np.ascontiguousarray(ends[:, j]))
        for j in range(width)
    ]


def _wrong_width(found: int, expected: int, name: str, line: int) -> InputError:
    return InputError(
        f"{found} field{'s' if found != 1 else ''} where the header names {expected}",
        path=name,
        line=line,
        hint="separate fields by one tab each; there is no quoting",
    )


def _records(fields: list[Texts], header: list[str], role: Role, name: str, first: int) -> Records:
    by_name: dict[str, list[Texts]] = {}
    for column, texts in zip(header, fields, strict=True):
        by_name.setdefault(column, []).append(texts)
    also = by_name.get("gold") if role == "predictions" else None
    return Records(
        TextLists.zipped(by_name[KEYS[role]]),
        list(by_name["id"][0]) if "id" in by_name else None,
        {n: list(t[0]) for n, t in by_name.items() if n not in ("id", "prediction", "gold")},
        name,
        first,
        None,
        TextLists.zipped(also) if also else None,
    )

# SPDX-License-Identifier: Apache-2.0
"""Bytes become records: plain lines, TSV, JSON and JSONL, packed or not, from files or memory.

    source --source--> files --stream--> bytes --lines--> lines --tsv, jsonl--> records

Reading is lazy and goes forward only; what it finds out besides records (digests, warnings) is
collected in an `Intake`. UTF-8 is strict. Every error names file, line and what to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from assay.core.document import Intake
from assay.core.names import unknown
from assay.core.records import Records
from assay.read.lines import lines, of_files, open_text
from assay.read.source import Breaks, Format, Role, Source, sources

__all__ = ["Breaks", "Format", "Role", "format_of", "lines", "open_text", "records"]

FORMATS = ("lines", "tsv", "jsonl")


def records(
    source: Any,
    *,
    role: Role,
    intake: Intake,
    format: Format | None = None,
    breaks: Breaks = "lf",
) -> Iterator[Records]:
    """The records of one side, in blocks.

    `source` is a path, a pattern, `-` for standard input, a list of `Path`, or an iterable of
    strings, lists of strings or mappings. The format of a file follows from the ending of its name
    (after `.gz` or `.zst`) unless `format` says it. Files are looked for at once and read later.

    >>> block, = records(["a cat", "a dog"], role="gold", intake=Intake())
    >>> [list(texts) for texts in block.values]
    [['a cat'], ['a dog']]
    """
    if format is not None and format not in FORMATS:
        raise unknown("format", format, FORMATS)
    found = sources(source, role, intake)
    if found is None:
        from assay.read.memory import memory

        return memory(source, role)
    if all((format or format_of(item.name)) == "lines" for item in found):
        return of_files(found, role, intake, breaks)
    return _records(found, role, intake, format, breaks)


def _records(
    found: list[Source], role: Role, intake: Intake, format: str | None, breaks: Breaks
) -> Iterator[Records]:
    lone = len(found) == 1
    for item in found:
        kind = format or format_of(item.name)
        if kind == "tsv":
            from assay.read.tsv import tsv

            yield from tsv(item, role, intake, lone=lone)
        elif kind in ("json", "jsonl"):
            from assay.read import jsonl

            reader = jsonl.json if kind == "json" else jsonl.jsonl
            yield from reader(item, role, intake, lone=lone)
        else:
            yield from of_files([item], role, intake, breaks, lone=lone)


def format_of(name: str) -> str:
    """The format that the ending of a file's name stands for.

    >>> [format_of(n) for n in ("a.txt", "a.tsv.gz", "a.JSONL", "a.ndjson.zst", "a.json")]
    ['lines', 'tsv', 'jsonl', 'jsonl', 'json']
    """
    lower = name.lower().removesuffix(".gz").removesuffix(".zst")
    if lower.endswith(".tsv"):
        return "tsv"
    if lower.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    return "json" if lower.endswith(".json") else "lines"

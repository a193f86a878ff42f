# SPDX-License-Identifier: Apache-2.0
"""Bytes become records: plain lines, CSV, TSV, JSON and JSONL, Parquet, from files or memory.

    source --source--> files --stream--> bytes --lines--> lines --csv, tsv, jsonl--> records

Reading is lazy and goes forward only; what it finds out besides records (digests, warnings) is
collected in an `Intake`. UTF-8 is strict. Every error names file, line and what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from assay.core.document import Intake
from assay.core.errors import UsageError
from assay.core.names import unknown
from assay.core.records import Records
from assay.read.lines import lines, of_files, open_text
from assay.read.naming import OURS, Naming
from assay.read.source import KEYS, Breaks, Format, Role, Source, sources

__all__ = ["Breaks", "Format", "Naming", "Role", "format_of", "lines", "open_text", "records"]

FORMATS = ("lines", "csv", "tsv", "jsonl", "parquet")


def records(
    source: Any,
    *,
    role: Role,
    intake: Intake,
    format: Format | None = None,
    breaks: Breaks = "lf",
    naming: Naming = OURS,
) -> Iterator[Records]:
    """The records of one side, in blocks.

    `source` is a path, a pattern, `-` for standard input, a list of `Path`, an iterable of
    strings, lists of strings or mappings, or a table of pandas, polars or Arrow. The format of a
    file follows from the ending of its name (after `.gz` or `.zst`) unless `format` says it. Files
    are looked for at once and read later. `naming` says what their columns are called.

    >>> block, = records(["a cat", "a dog"], role="gold", intake=Intake())
    >>> [list(texts) for texts in block.values]
    [['a cat'], ['a dog']]
    """
    if format is not None and format not in FORMATS:
        raise unknown("format", format, FORMATS)
    if hasattr(source, "columns"):
        from assay.read.tables import rows_of

        source = rows_of(source)
    naming = naming.on_side(KEYS[role])
    found = sources(source, role, intake)
    if found is None:
        from assay.read.memory import memory

        return memory(source, role, naming)
    if naming:
        found = [replace(item, naming=naming) for item in found]
        meant = naming.theirs.keys() & {"id", KEYS[role]}
        for item in found:
            if meant and (format or format_of(item.name)) == "lines":
                raise UsageError(
                    f"{item.name}: it has lines and no columns that could be called otherwise; "
                    "say what it is with --input-format, or leave out the names of columns"
                )
    if all((format or format_of(item.name)) == "lines" for item in found):
        return of_files(found, role, intake, breaks)
    return _records(found, role, intake, format, breaks)


def _records(
    found: list[Source], role: Role, intake: Intake, format: str | None, breaks: Breaks
) -> Iterator[Records]:
    lone = len(found) == 1
    for item in found:
        kind = format or format_of(item.name)
        if kind == "lines":
            yield from of_files([item], role, intake, breaks, lone=lone)
        else:
            yield from reader_of(kind)(item, role, intake, lone=lone)


def reader_of(format: str) -> Callable[..., Iterator[Records]]:
    """What reads the records of a file of this format, if that is not plain lines."""
    if format == "tsv":
        from assay.read.tsv import tsv

        return tsv
    if format == "csv":
        from assay.read.csv import csv

        return csv
    if format == "parquet":
        from assay.read.tables import parquet

        return parquet
    from assay.read import jsonl

    return jsonl.json if format == "json" else jsonl.jsonl


def format_of(name: str) -> str:
    """The format that the ending of a file's name stands for.

    >>> [format_of(n) for n in ("a.txt", "a.tsv.gz", "a.JSONL", "a.ndjson.zst", "a.json", "a.csv")]
    ['lines', 'tsv', 'jsonl', 'jsonl', 'json', 'csv']
    """
    lower = name.lower().removesuffix(".gz").removesuffix(".zst")
    if lower.endswith((".csv", ".tsv")):
        return lower[-3:]
    if lower.endswith(".parquet"):
        return "parquet"
    if lower.endswith((".jsonl", ".ndjson")):
        return "jsonl"
    return "json" if lower.endswith(".json") else "lines"

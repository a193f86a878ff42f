# SPDX-License-Identifier: Apache-2.0
"""What a file is, found out by reading all of it: format, encoding, lines, columns, ids."""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field

import numpy as np

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.records import Records
from assay.core.text import Texts
from assay.read.csv import names_in
from assay.read.digest import Unhashed
from assay.read.lines import line_blocks, unicode_breaks
from assay.read.source import Role, Source, sources
from assay.read.stream import raw_pieces
from assay.read.tables import parquet_names

_HEADS = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd"}


@dataclass(slots=True)
class Facts:
    """What was found out about one file.

    `notes` are harmless, since reading takes care of them; `findings` are not, and say what to do.
    `role` is None where a file of plain lines may be either side, or where nothing could be read.
    `task` is the task whose own format it is, if there is one.
    """

    name: str
    format: str
    readable: bool = True
    packed: str | None = None
    encoding: str = "ASCII"
    n_lines: int = 0
    n_records: int = 0
    role: Role | None = None
    task: str | None = None
    has_ids: bool = False
    carries_gold: bool = False
    columns: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)


def look(path: str, format: str) -> Facts:
    r"""Read a file of this format to its end and say what it is.

    >>> import tempfile, pathlib
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "gold.tsv"
    >>> _ = file.write_text("id\tgold\ttopic\n1\tA\tx\n1\tB\tx\n")
    >>> found = look(str(file), "tsv")
    >>> found.n_records, found.columns, len(found.findings)
    (2, ['topic'], 1)
    """
    facts = Facts(path, format)
    try:
        source = (sources(path, "predictions", Intake()) or [])[0]
        if format != "parquet":
            _look_at_lines(source, facts)
        _look_at_records(source, facts)
    except InputError as error:
        facts.readable = False
        facts.findings.append(str(error))
    return facts


def _look_at_lines(source: Source, facts: Facts) -> None:
    intake = Intake()
    with closing(raw_pieces(source, Unhashed(), 2)) as head:
        facts.packed = _HEADS.get(next(head, b""))
    breaks: Counter[str] = Counter()
    n_blank = n_blank_end = n_loose = 0
    for texts, _ in line_blocks(source, "predictions", intake):
        facts.n_lines += len(texts)
        filled = np.flatnonzero(texts.ends > texts.starts)
        n_blank += len(texts) - len(filled)
        n_blank_end = len(texts) - 1 - int(filled[-1]) if len(filled) else n_blank_end + len(texts)
        breaks.update(_breaks(texts))
        if not texts.data.isascii():
            facts.encoding = "UTF-8"
            n_loose += sum(not unicodedata.is_normalized("NFC", text) for text in texts)
    facts.notes += [warning.removeprefix(f"{source.name}: ") for warning in intake.warnings]
    if n_blank > n_blank_end:
        facts.notes.append(f"{_counted(n_blank - n_blank_end, 'blank line')} between others")
    if n_loose:
        facts.notes.append(f"{_counted(n_loose, 'line')} not in Unicode normal form C")
    if n_blank_end and facts.format == "lines":
        what = "it counts as an empty text" if n_blank_end == 1 else "they count as empty texts"
        facts.findings.append(
            f"{_counted(n_blank_end, 'blank line')} at the end: {what}, so remove what is not meant"
        )
    if breaks and facts.format == "lines":
        kinds = ", ".join(f"{name}: {n:,}" for name, n in sorted(breaks.items()))
        facts.findings.append(
            f"line breaks other than line feeds inside lines ({kinds}): other tools may count more "
            "lines; replace them by spaces"
        )


def _breaks(texts: Texts) -> Counter[str]:
    """Line breaks that are no line feeds, by name."""
    places, _ = unicode_breaks(texts.data)
    inside = places[np.frombuffer(texts.data, dtype=np.uint8)[places] != 10].tolist()
    marks = (texts.data[at : at + 3].decode("utf-8", "ignore")[0] for at in inside)
    return Counter(f"U+{ord(mark):04X}" for mark in marks)


def _look_at_records(source: Source, facts: Facts) -> None:
    if facts.format == "lines":
        facts.n_records = facts.n_lines
        return
    facts.role = _role(source, facts.format)
    if facts.role is None:
        facts.readable = False
        facts.findings.append(
            "no 'prediction' and no 'gold' in its first record: name one of the columns so"
        )
        return
    seen: dict[str, str] = {}
    n_twice = 0
    for block in _records(source, facts.format, facts.role):
        facts.n_records += len(block)
        facts.columns += [name for name in block.columns if name not in facts.columns]
        facts.carries_gold |= block.also is not None
        facts.has_ids |= block.ids is not None
        for index, id in enumerate(block.ids or ()):
            place = block.place_of(index)
            if seen.setdefault(id, place) is not place:
                n_twice += 1
                if n_twice == 1:
                    facts.findings.append(f"id '{id}' occurs twice: {seen[id]} and {place}")
    if n_twice > 1:
        facts.findings[-1] += f"; {n_twice - 1:,} more like it"


def _role(source: Source, format: str) -> Role | None:
    """The side that the names in the first record speak of."""
    if format == "parquet":
        names = set(parquet_names(source))
    else:
        texts, _ = next(line_blocks(source, "gold", Intake()))
        if format == "tsv":
            names = set(texts[0].split("\t"))
        elif format == "csv":
            names = names_in(texts[0])
        else:
            start = texts.data.decode("utf-8").lstrip()
            try:
                record, _ = json.JSONDecoder().raw_decode(start.removeprefix("[").lstrip())
            except (ValueError, RecursionError):
                return "predictions"  # reading it says what is wrong
            names = set(record) if isinstance(record, dict) else {"prediction"}
    return "predictions" if "prediction" in names else "gold" if "gold" in names else None


def _records(source: Source, format: str, role: Role) -> Iterator[Records]:
    from assay.read import reader_of

    return reader_of(format)(source, role, Intake())


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"

# SPDX-License-Identifier: Apache-2.0
"""What is odd in a label file: nothing that stops a run, all of it worth knowing before one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.ledger import Ledger
from assay.core.task import Inspection
from assay.tasks.metadata.labels import BOM, Labels, parse_labels
from assay.tasks.metadata.sources import read_bytes

ENDINGS = (".tsv", ".txt")


def inspect(path: str) -> Inspection | None:
    """What is odd in a label file; None for a file that is none."""
    if not path.lower().removesuffix(".gz").removesuffix(".zst").endswith(ENDINGS):
        return None
    try:
        data = read_bytes(Path(path), "gold", Intake())
        labels = parse_labels(data, path)
    except InputError:
        return None  # reading it as text has said what is wrong
    return inspected(labels, data) if _is_labels(data, labels) else None


def inspected(labels: Labels, data: bytes) -> Inspection:
    """Everything odd about a label file: ids that cannot be right, and notes on values."""
    notes, findings = Ledger("line"), Ledger("line")
    for i, line in enumerate(_raw_lines(data), start=1):
        if line and not line.strip(b"\t"):
            findings.add("nothing but TABs: left out, like an empty line", i)
    names: set[str] = set()
    plain: dict[str, str] = {}
    for i in range(len(labels)):
        name, values = labels.line_of(i)
        number = labels.number_of(i)
        if name in names:
            findings.add("the id was there before (--duplicate-ids)", number)
        names.add(name)
        if not name.strip():
            findings.add("the id is empty", number)
        elif plain.setdefault(name.strip(), name) != name:
            findings.add("the id differs from another one only by blanks around it", number)
        elif name != name.strip():
            notes.add("the id has blanks around it, which count", number)
        for what in _of_values(values):
            notes.add(what, number)
    return Inspection(len(labels), notes.lines(), findings.lines())


def _of_values(values: list[str]) -> Iterator[str]:
    if not values:
        yield "no value: the paper has none of this field"
    if "" in values:
        yield "an empty value between two TABs, which counts (--empty-values drop)"
    if any(value != value.strip() for value in values):
        yield "a value has blanks around it, which count"
    if len(set(values)) < len(values):
        yield "a value comes twice (--duplicates says how that counts)"


def _raw_lines(data: bytes) -> list[bytes]:
    return data.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")


def _is_labels(data: bytes, labels: Labels) -> bool:
    """Whether these are ids and values: most lines have a TAB, and no line names the columns."""
    head = _raw_lines(data.removeprefix(BOM)[: 1 << 16])[0].split(b"\t")
    if b"prediction" in head or b"gold" in head:
        return False
    tabbed = int((labels.n_values(np.arange(len(labels))) > 0).sum())
    return tabbed > 0 and 2 * tabbed > len(labels)

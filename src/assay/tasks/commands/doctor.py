# SPDX-License-Identifier: Apache-2.0
"""What is odd in files of commands: gold, predictions, and sheets of verdicts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec

from assay import read
from assay.core.document import Intake
from assay.core.errors import AssayError
from assay.core.ledger import Ledger
from assay.core.task import Inspection
from assay.judge.sheets import is_sheet, read_sheet
from assay.read.source import sources
from assay.read.stream import pieces
from assay.tasks.commands.files import read_gold, read_predictions
from assay.tasks.commands.forms import form

UNPARSED = "a command is no shell syntax, and is compared word by word"


def inspect(path: str) -> Inspection | None:
    """What is odd in a file of commands; None for a file that is none."""
    if is_sheet(Path(path)):
        return _or_why_not(_sheet, path)
    keys = _first_keys(path)
    if "nl" in keys and keys & {"references", "command"}:
        return _or_why_not(_gold, path)
    return _or_why_not(_predictions, path) if "predictions" in keys else None


def _or_why_not(look: Callable[[str], Inspection], path: str) -> Inspection:
    """What `look` finds, or why the file cannot be read."""
    try:
        return look(path)
    except AssayError as error:
        return Inspection(0, findings=[str(error)])


def _first_keys(path: str) -> set[str]:
    """The keys of the first record of a JSONL file."""
    if read.format_of(path) != "jsonl":
        return set()
    found = sources(path, "gold", Intake()) or []
    head = next(pieces(found[0], "gold", Intake(), lone=False), b"") if found else b""
    try:
        return set(msgspec.json.decode(head.partition(b"\n")[0], type=dict[str, object]))
    except (msgspec.MsgspecError, RecursionError):
        return set()


def _gold(path: str) -> Inspection:
    odd = Ledger("description")
    known: set[tuple[str, ...]] = set()
    groups = read_gold(path, Intake())
    for number, group in enumerate(groups, start=1):
        if any(not form(command).parsed for command in group.references):
            odd.add(UNPARSED, number)
        if group.keys in known:
            odd.add("its key was there before, so both share their verdicts", number)
        known.add(group.keys)
    return Inspection(len(groups), odd.lines())


def _predictions(path: str) -> Inspection:
    odd, wrong = Ledger("record"), Ledger("record")
    ids: set[str] = set()
    records = read_predictions(path, Intake())
    for number, record in enumerate(records, start=1):
        if not record.commands:
            odd.add("no prediction", number)
        if any(not form(command).parsed for command in record.commands):
            odd.add(UNPARSED, number)
        if record.id is not None and record.id in ids:
            wrong.add("the id was there before", number)
        ids.add(record.id or "")
    return Inspection(len(records), odd.lines(), wrong.lines())


def _sheet(path: str) -> Inspection:
    odd = Ledger("row")
    number = 0
    for number, row in enumerate(read_sheet(Path(path)), start=1):
        if not row.structure and not row.command:
            odd.add("no verdict", number)
        elif row.command.strip().casefold() == "y" and row.structure.strip().casefold() != "y":
            odd.add("the command is right and its structure is not", number)
    return Inspection(number, odd.lines())

# SPDX-License-Identifier: Apache-2.0
"""Verdicts in CSV files, one row per prediction, as people keep them in spreadsheets.

Columns are found by name: `description`, `prediction`, `correct template`, `correct command`, and
`template` where it is there; others are ignored. A row with an empty description belongs to the
last description above it. An empty cell is no verdict. `y` is yes, anything else no and the reason.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.core.errors import InputError
from assay.judge.appending import Appender
from assay.judge.verdict import StructureOf, Verdict, answer_of, judge_name

COLUMNS = ("description", "prediction", "template", "correct template", "correct command")
REQUIRED = ("description", "prediction", "correct template", "correct command")
STRUCTURE = "structure"
COMMAND = "command"
MARK = "evaluations"
NOT_READ = "base"
LONGEST = 1 << 24
"""Characters of a cell."""

KeyOf = Callable[[str], str]


@dataclass(frozen=True, slots=True)
class SheetRow:
    """One row: cells as they are written, the description filled in from above."""

    description: str
    prediction: str
    template: str | None
    structure: str
    command: str
    path: str
    line: int


def is_sheet(path: Path) -> bool:
    """Whether a file of a folder is read as a sheet, by its name.

    >>> is_sheet(Path("manual.evaluations.author")), is_sheet(Path("dev.evaluations.base"))
    (True, False)
    """
    name = path.name
    hidden = name.startswith(".") or name.endswith((".jsonl", ".part"))
    return MARK in name and not name.endswith(NOT_READ) and not hidden


def sheet_paths(folder: Path) -> list[Path]:
    """The sheets of a folder, in the order in which they are read."""
    found = (path for path in folder.iterdir() if path.is_file() and is_sheet(path))
    return sorted(found, key=lambda path: path.name)


def sheet_judge(path: Path) -> str:
    """Who wrote a sheet, as far as its name tells.

    >>> sheet_judge(Path("manual.evaluations.author")), sheet_judge(Path("b.evaluations.csv"))
    ('author', 'b.evaluations.csv')
    """
    after = path.name.partition(f"{MARK}.")[2].removesuffix(".csv")
    return path.name if after in ("", "csv") else after


def read_sheet(path: Path) -> Iterator[SheetRow]:
    """The rows of a sheet."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    data = data[: whole_rows(data)]
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError("not UTF-8", path=path, line=line, hint="save it as UTF-8") from None
    rows = reader_of(text)
    try:
        yield from _rows(rows, path)
    except csv.Error as error:
        raise InputError(f"not CSV ({error})", path=path, line=rows.line_num) from None


def reader_of(text: str, separator: str = ",") -> Any:
    """The rows of a CSV text; cells may be as long as predictions are."""
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST))
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)


def whole_rows(data: bytes) -> int:
    """How much of a sheet is whole: all but a last line that a crash tore inside a quoted cell.

    A row is written with one call and has its line end, so nobody was told that such a one is kept.

    >>> whole_rows(b'"a","y"\\n"b","wro'), whole_rows(b'"a","y"\\n"b","y"')
    (8, 15)
    """
    end = data.rfind(b"\n") + 1
    is_torn = data.count(b'"', end) % 2 == 1 and data.count(b'"', 0, end) % 2 == 0
    return end if is_torn else len(data)


def _rows(rows: Any, path: Path) -> Iterator[SheetRow]:
    header = next(rows, None)
    if header is None:
        raise InputError("is empty", path=path, hint=f"its first line must be {','.join(COLUMNS)}")
    place = _places(header, path)
    description = ""
    end = rows.line_num
    for cells in rows:
        start, end = end + 1, rows.line_num
        if not any(cells):
            continue
        if any(cells[len(header) :]):
            raise InputError(
                f"{len(cells)} cells where the header names {len(header)}",
                path=path,
                line=start,
                hint="put quotes around cells that hold a comma",
            )

        def cell(name: str, cells: list[str] = cells) -> str:
            at = place[name]
            return cells[at] if at < len(cells) else ""

        description = cell("description") or description
        yield SheetRow(
            description,
            cell("prediction"),
            cell("template") if "template" in place else None,
            cell("correct template"),
            cell("correct command"),
            str(path),
            start,
        )


def _places(header: list[str], path: Path) -> dict[str, int]:
    """Where each column is; of two with one name the first."""
    place = {name.strip(): i for i, name in reversed(list(enumerate(header)))}
    for name in REQUIRED:
        if name not in place:
            raise InputError(
                f"there is no column '{name}'",
                path=path,
                line=1,
                hint=f"the columns are: {', '.join(header)}",
            )
    return place


def sheet_verdicts(
    rows: Iterable[SheetRow],
    *,
    judge: str,
    key_of: KeyOf,
    structure_of: StructureOf,
    questions: tuple[str, str] = (STRUCTURE, COMMAND),
) -> Iterator[Verdict]:
    """What the rows say, structure before command; empty cells say nothing.

    `key_of` gives the key of a description, `structure_of` the structure of a prediction, told the
    cell `template` (None where the sheet has no such column). `questions` are the names of what the
    two columns answer.
    """
    for row in rows:
        key = key_of(row.description)
        structure = structure_of(row.prediction, row.template)
        for place, cell in enumerate((row.structure, row.command)):
            if not cell:
                continue
            answer, reason = answer_of(cell)
            yield Verdict(
                id=f"{row.path}:{row.line}",
                question=questions[place],
                answer=answer,
                key=key,
                prediction=row.prediction,
                judge=judge,
                reason=reason,
                structure=structure,
                about="structure" if place == 0 else "prediction",
                description=row.description,
                raw=cell,
                source=f"{row.path}, line {row.line:,}",
            )


class SheetWriter(Appender):
    """Appends rows to `manual.evaluations.<judge>`; each is on disk when `append` returns.

    A sheet that is there already may have other columns, or these in another order.
    """

    def __init__(self, folder: Path, judge: str) -> None:
        self.judge = judge_name(judge)
        super().__init__(folder / f"manual.{MARK}.{self.judge}", self.judge)

    def append(
        self, description: str, prediction: str, template: str, structure: str, command: str | None
    ) -> None:
        """Write one row; answers as they were typed, an empty one as `n`.

        Where there is no answer about the command (None) its cell is empty, and says nothing.
        """
        said = "" if command is None else command or "n"
        given = (description, prediction, template, structure or "n", said)
        cells = [""] * self._n_columns
        for name, cell in zip(COLUMNS, given, strict=True):
            if name in self._places:  # a sheet may do without templates
                cells[self._places[name]] = cell
        self.add(quoted_row(cells).encode("utf-8", "surrogateescape"))

    def _mend(self) -> None:
        data = self.path.read_bytes()
        whole = whole_rows(data)
        if whole < len(data):
            os.ftruncate(self._file, whole)
        if whole == 0:
            self.add((",".join(COLUMNS) + "\n").encode())
        elif not data[:whole].endswith(b"\n"):
            self.add(b"\n")
        header = next(reader_of(data[:whole].decode("utf-8-sig", "replace")), list(COLUMNS))
        self._places, self._n_columns = _places(header, self.path), len(header)


def quoted_row(cells: Iterable[str]) -> str:
    """Cells in double quotes, inner ones doubled, as the old files have them."""
    return ",".join('"' + cell.replace('"', '""') + '"' for cell in cells) + "\n"

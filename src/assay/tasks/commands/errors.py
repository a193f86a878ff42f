# SPDX-License-Identifier: Apache-2.0
"""Error sheets: where systems fail together, and how often for which reason.

A CSV file with one row per description and system: `description`, `model`, `error category`,
`correct template`, `correct command`. An empty description is that of the row above.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay.core.errors import InputError, UsageError
from assay.report.tables import Block, Cell, Table, left, render_blocks, right

_COLUMNS = ("description", "model", "error category", "correct template", "correct command")
QUESTIONS = ("template", "command")


class Row(NamedTuple):
    """What one system did with one description: right (`y`) or not (`n`), and why not."""

    description: str
    system: str
    category: str
    template: str
    command: str


def errors(files: Sequence[str], json: bool = False) -> str:
    """The overlap of errors, and the categories, of one sheet."""
    if len(files) != 1:
        raise UsageError("give one error sheet: assay commands errors FILE.csv")
    found = analysis(read_rows(Path(files[0])))
    if json:
        return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
    return render_blocks(tables(found), "table").rstrip()


def read_rows(path: Path) -> list[Row]:
    """The rows of an error sheet; columns are found by name, whatever their case."""
    try:
        text = path.read_text("utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path, hint="save it as UTF-8") from None
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        return _rows(rows, path)
    except csv.Error as error:
        raise InputError(f"not CSV ({error})", path=path, line=rows.line_num) from None


def _rows(rows: Any, path: Path) -> list[Row]:
    header = [name.strip().casefold() for name in next(rows, [])]
    for name in _COLUMNS:
        if name not in header:
            there = ", ".join(header) or "none"
            raise InputError(
                f"there is no column '{name}'", path=path, line=1, hint=f"the columns are: {there}"
            )
    places = [header.index(name) for name in _COLUMNS]
    found: list[Row] = []
    for cells in rows:
        if not any(cells):
            continue
        if len(cells) <= max(places):
            raise InputError(
                f"{len(cells)} cells where the header names {len(header)}",
                path=path,
                line=rows.line_num,
                hint="is the file cut off?",
            )
        held = [cells[at].strip() for at in places]
        description = held[0] or (found[-1].description if found else "")
        verdicts = ["y" if cell.casefold() == "y" else "n" for cell in held[3:]]
        found.append(Row(description, held[1], held[2], *verdicts))
    if not found:
        raise InputError("holds no rows below its header", path=path)
    return found


def analysis(rows: Sequence[Row]) -> dict[str, Any]:
    """Per pair of systems how often both, one or none is right; per system its categories.

    >>> rows = [Row("a", "x", "flags", "y", "n"), Row("a", "z", "", "y", "y")]
    >>> analysis(rows)["overlap"][0]["command"]
    {'yy': 0, 'yn': 0, 'ny': 1, 'nn': 0}
    """
    systems: dict[str, dict[str, Row]] = {}
    for row in rows:
        systems.setdefault(row.system, {}).setdefault(row.description, row)
    categories = {
        name: Counter(row.category for row in rows if row.system == name and row.category)
        for name in systems
    }
    return {
        "systems": list(systems),
        "examples": len({row.description for row in rows}),
        "overlap": [
            {"first": a, "second": b, **_overlap(systems[a], systems[b])}
            for a, b in combinations(systems, 2)
        ],
        "categories": {name: counts.most_common() for name, counts in categories.items()},
    }


def _overlap(first: Mapping[str, Row], second: Mapping[str, Row]) -> dict[str, dict[str, int]]:
    shared = [(first[text], second[text]) for text in first if text in second]
    found = {}
    for question in QUESTIONS:
        counts = Counter(getattr(a, question) + getattr(b, question) for a, b in shared)
        found[question] = {both: counts[both] for both in ("yy", "yn", "ny", "nn")}
    return found


def tables(found: Mapping[str, Any]) -> list[Block]:
    """The same for people."""
    overlap = [
        (
            Cell(f"{pair['first']} and {pair['second']}"),
            Cell(question),
            *(Cell(f"{n:,}") for n in pair[question].values()),
        )
        for pair in found["overlap"]
        for question in QUESTIONS
    ]
    titles = ("both right", "only the first", "only the second", "none")
    blocks: list[Block] = []
    if overlap:
        blocks.append(
            Table("who is right", (*left("systems", "what"), *right(*titles)), tuple(overlap))
        )
    for name, categories in found["categories"].items():
        rows = tuple((Cell(category), Cell(f"{n:,}")) for category, n in categories)
        blocks.append(Table(f"errors of {name}", (*left("category"), *right("times")), rows))
    return blocks

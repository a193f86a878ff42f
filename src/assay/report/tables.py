# SPDX-License-Identifier: Apache-2.0
"""The neutral form between documents and renderers: blocks of tables and words.

A document is turned into blocks once (`result`, `comparison`, `gate`); terminal, Markdown, LaTeX
and HTML each render blocks and know nothing of documents. Text in blocks is as it came, so each
renderer escapes all of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.core.names import unknown

Align = Literal["left", "right"]
Tone = Literal["", "good", "bad"]
"""Whether something is good or bad news; colour where there is colour, and nothing elsewhere."""

FORMATS = ("table", "markdown", "latex", "csv")


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: the text, an aside printed smaller or behind it, marks set as a superscript.

    `best` asks for the renderer's mark of the best in a column. The empty cell is undefined.
    """

    text: str = ""
    aside: str = ""
    marks: str = ""
    best: bool = False
    tone: Tone = ""


@dataclass(frozen=True, slots=True)
class Column:
    """The heading of a column. Right-aligned columns hold numbers, and are never cut or wrapped."""

    title: str
    align: Align = "left"


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of cells under columns, with a title above and notes below."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        assert all(len(row) == len(self.columns) for row in self.rows), "one cell per column"


@dataclass(frozen=True, slots=True)
class Words:
    """A line of text outside tables; a signature is set as code, a heading above what follows."""

    text: str
    kind: Literal["sentence", "heading", "signature"] = "sentence"
    tone: Tone = ""


Block = Table | Words


def left(*titles: str) -> tuple[Column, ...]:
    """Columns of text."""
    return tuple(Column(title) for title in titles)


def right(*titles: str) -> tuple[Column, ...]:
    """Columns of numbers."""
    return tuple(Column(title, "right") for title in titles)


def cells(*texts: str) -> tuple[Cell, ...]:
    """A row of plain cells."""
    return tuple(Cell(text) for text in texts)


def render_blocks(
    blocks: Sequence[Block], format: str, *, colour: bool = False, width: int | None = None
) -> str:
    """The blocks as a terminal table, Markdown or LaTeX, ending in a newline.

    `colour` and `width` (columns of the terminal, None for as wide as needed) matter to the
    terminal form only.
    """
    if format == "table":
        from assay.report.terminal import terminal

        return terminal(blocks, colour=colour, width=width)
    if format == "markdown":
        from assay.report.markdown import markdown

        return markdown(blocks)
    if format == "latex":
        from assay.report.latex import latex

        return latex(blocks)
    raise unknown("format", format, FORMATS)

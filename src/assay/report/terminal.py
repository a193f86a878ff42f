# SPDX-License-Identifier: Apache-2.0
"""Blocks as text for a terminal, with or without colour.

The layout is the same in both: colour adds escape codes around words, nothing else. Whether the
stream wants colour is asked by the caller with `wants_colour`.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TextIO

from assay.report.tables import Block, Cell, Column, Table, Words

GAP = "  "
USUAL_WIDTH = 80
NARROWEST = 12
"""A column of text is not cut below this width; beyond that the table is split."""

TONES = {"": None, "good": "green", "bad": "red"}
STYLES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
_SUPERSCRIPTS = str.maketrans(
    "abcdefghijklmnoprstuvwxyz0123456789,", "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ⁰¹²³⁴⁵⁶⁷⁸⁹˒"
)


def wants_colour(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Whether to colour what is written to `stream`.

    Any non-empty NO_COLOR says no (https://no-color.org), so does TERM=dumb, so does a stream that
    is not a terminal.

    >>> import io
    >>> wants_colour(io.StringIO(), {})
    False
    """
    if environ.get("NO_COLOR") or environ.get("TERM") == "dumb":
        return False
    return stream.isatty()


def columns_of(stream: TextIO, environ: Mapping[str, str]) -> int | None:
    """How wide the terminal is that `stream` writes to; None where it is none.

    COLUMNS, where it is set, says so for all of them.

    >>> import io
    >>> columns_of(io.StringIO(), {"COLUMNS": "80"}) is None
    True
    """
    if not stream.isatty():
        return None
    said = environ.get("COLUMNS", "")
    if said.isdecimal() and int(said):
        return int(said)
    try:
        return os.get_terminal_size(stream.fileno()).columns or USUAL_WIDTH
    except (OSError, ValueError):  # it does not say
        return USUAL_WIDTH


def terminal(blocks: Sequence[Block], *, colour: bool = False, width: int | None = None) -> str:
    """The blocks one under the other, tables aligned, an empty line around tables."""
    parts: list[str] = []
    previous: Block | None = None
    for block in blocks:
        together = isinstance(block, Words) and isinstance(previous, Words)
        if previous is not None and not (together and block.kind == previous.kind):  # type: ignore[union-attr]  # both are Words then
            parts.append("")
        if isinstance(block, Words):
            style = {"heading": "bold", "signature": "dim"}.get(block.kind, TONES[block.tone])
            # A signature is one word, to be copied whole.
            room = None if block.kind == "signature" else width
            parts.extend(styled(x, style if colour else None) for x in _told(block.text, room))
        else:
            parts.extend(_table(block, colour, width))
        previous = block
    return "\n".join(parts) + "\n"


def styled(text: str, style: str | None) -> str:
    """The text between escape codes of a style, or as it is for None.

    >>> styled("so", "bold")
    '\\x1b[1mso\\x1b[0m'
    """
    return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if style and text else text


def remarked(text: str, warnings: Iterable[str]) -> str:
    """A text as `print` shows it in Python, where nothing else would say the warnings.

    >>> remarked("the table\\n", ["only 3 clusters"])
    'the table\\n\\nwarning: only 3 clusters\\n'
    """
    lines = "".join(f"warning: {spelled(warning)}\n" for warning in warnings)
    return f"{text}\n{lines}" if lines else text


def spelled(text: str, *, keep_lines: bool = False) -> str:
    """The text with control characters, and those that reorder a line, spelled out.

    >>> spelled("a\\x1b[31mb\\n"), spelled("a\\nb\\x07", keep_lines=True)
    ('a\\\\x1b[31mb\\\\n', 'a\\nb\\\\x07')
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(c if _harmless(c) or (keep_lines and c == "\n") else _escape(c) for c in text)


def visible(text: str) -> str:
    """The text so that data cannot steer the terminal: spelled out, and kept in its place.

    Right-to-left text is put between isolates (of no width): a terminal that reorders it then
    leaves the rest of the line alone.

    >>> visible("a\\x1b[31mb\\n")
    'a\\\\x1b[31mb\\\\n'
    """
    shown = spelled(text)
    return f"\u2068{shown}\u2069" if _right_to_left(shown) else shown


def _told(text: str, width: int | None) -> list[str]:
    """Words of ours in lines: they run left to right whatever names are in them."""
    lines = wrapped(spelled(text), width)
    return [f"\u2066{line}\u2069" if _right_to_left(line) else line for line in lines]


def _right_to_left(text: str) -> bool:
    return not text.isascii() and any(unicodedata.bidirectional(c) in ("R", "AL") for c in text)


def display_width(text: str) -> int:
    """Columns of the terminal that the text takes: 2 for wide characters, 0 for combining ones.

    >>> display_width("abc"), display_width("日本"), display_width("e\\u0301")
    (3, 4, 1)
    """
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # late: most tables are ASCII and need no width table

    return cell_len(text)


def cut(text: str, width: int) -> str:
    """The text, its end replaced by an ellipsis where it is wider than `width`.

    >>> cut("question type", 9), cut("日本語", 5), cut("short", 9)
    ('question…', '日本…', 'short')
    """
    if display_width(text) <= width:
        return text
    taken, used = "", 0
    for character in text:
        used += display_width(character)
        if used > width - 1:
            break
        taken += character
    # An isolate that was opened must be closed again, or the rest of the line moves.
    return taken + "…" + ("\u2069" if "\u2068" in taken else "")


def cut_apart(texts: Sequence[str], width: int) -> list[str]:
    """Each text cut to `width`, in the middle where cutting the ends would make two of them alike.

    >>> cut_apart(["checkpoint-1000", "checkpoint-2000"], 9), cut_apart(["checkpoint-1000"], 9)
    (['chec…1000', 'chec…2000'], ['checkpoi…'])
    """
    ends = [cut(text, width) for text in texts]
    if len(set(ends)) == len(set(texts)):
        return ends
    return [_cut_middle(text, width) for text in texts]


def _cut_middle(text: str, width: int) -> str:
    if display_width(text) <= width:
        return text
    isolate = text.startswith("\u2068")
    core = text[1:-1] if isolate else text
    start = cut(core, (width + 1) // 2)
    end = cut(core[::-1], width - display_width(start) + 1)[::-1].removeprefix("…")
    return f"\u2068{start}{end}\u2069" if isolate else f"{start}{end}"


def wrapped(text: str, width: int | None) -> list[str]:
    """The text in lines of at most `width`, broken at spaces; a longer word stands alone.

    >>> wrapped("who is better and by how much", 12)
    ['who is', 'better and', 'by how much']
    """
    if width is None or display_width(text) <= width:
        return [text]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if lines[-1] and display_width(longer) > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines


def _harmless(character: str) -> bool:
    category = unicodedata.category(character)
    # Joiners belong to emoji and several scripts; other format characters can reorder the line.
    return character in "\u200c\u200d\u200e\u200f" or category[0] != "C"


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _table(table: Table, colour: bool, width: int | None) -> list[str]:
    lines = [styled(x, "bold" if colour else None) for x in _told(table.title, width) if x]
    columns = [_Laid(c, [row[i] for row in table.rows]) for i, c in enumerate(table.columns)]
    for number, part in enumerate(_fitted(columns, width)):
        if number:
            lines.append("")
        lines.append(styled(_line([c.heading() for c in part]), "dim" if colour else None))
        lines.append(styled(GAP.join("─" * c.width for c in part), "dim" if colour else None))
        lines.extend(_line([c.cell(i, colour) for c in part]) for i in range(len(table.rows)))
    for note in table.notes:
        lines += [styled(x, "dim" if colour else None) for x in _told(note, width)]
    return lines


def _line(texts: Sequence[str]) -> str:
    return GAP.join(texts).rstrip()


class _Laid:
    """A column laid out: the parts of its cells (text, marks, aside) aligned among themselves."""

    def __init__(self, column: Column, cells: Sequence[Cell]) -> None:
        self.column = column
        self.title = visible(column.title)
        self.cells = cells
        self.texts = [visible(c.text) for c in cells]
        self.marks = [("*" if c.best else "") + c.marks.translate(_SUPERSCRIPTS) for c in cells]
        self.asides = [visible(c.aside) for c in cells]
        self.sizes = [
            max((display_width(t) for t in part), default=0)
            for part in (self.texts, self.marks, self.asides)
        ]
        text, marks, aside = self.sizes
        self.width = max(
            display_width(self.title), text + marks + (len(GAP) + aside if aside else 0)
        )

    def narrowed(self, width: int) -> None:
        self.width = width
        self.title = cut(self.title, width)
        self.texts = cut_apart(self.texts, width)
        self.sizes[0] = min(self.sizes[0], width)

    def heading(self) -> str:
        return self._padded(self.title, self.width)

    def cell(self, index: int, colour: bool) -> str:
        cell, (text, marks, aside) = self.cells[index], self.sizes
        shown = self._padded(self.texts[index], text)
        if colour:
            shown = styled(shown, "bold" if cell.best else TONES[cell.tone])
        shown += self.marks[index] + " " * (marks - display_width(self.marks[index]))
        taken = text + marks
        if aside:
            quiet = styled(self.asides[index], "dim" if colour else None)
            shown += GAP + " " * (aside - display_width(self.asides[index])) + quiet
            taken += len(GAP) + aside
        rest = " " * (self.width - taken)
        return rest + shown if self.column.align == "right" else shown + rest

    def _padded(self, text: str, width: int) -> str:
        space = " " * (width - display_width(text))
        return space + text if self.column.align == "right" else text + space


def _fitted(columns: Sequence[_Laid], width: int | None) -> list[list[_Laid]]:
    """The columns in one part, or in several that each fit and repeat the leading text columns."""
    if width is None or _total(columns) <= width:
        return [list(columns)]
    texts = [c for c in columns if c.column.align == "left" and not any(c.marks + c.asides)]
    for column in sorted(texts, key=lambda c: -c.width):
        excess = _total(columns) - width
        if excess > 0 and column.width > NARROWEST:
            column.narrowed(max(NARROWEST, column.width - excess))
    # A rank or a number may stand before the names that every part repeats.
    named = next((i for i, c in enumerate(columns) if c.column.align == "left"), 0)
    numbers = (i for i, c in enumerate(columns) if i > named and c.column.align == "right")
    first = next(numbers, 1)
    lead, rest = list(columns[:first]), list(columns[first:])
    parts: list[list[_Laid]] = []
    while rest:
        part = [*lead, rest.pop(0)]
        while rest and _total([*part, rest[0]]) <= width:
            part.append(rest.pop(0))
        parts.append(part)
    return parts or [lead]


def _total(columns: Sequence[_Laid]) -> int:
    return sum(c.width for c in columns) + len(GAP) * (len(columns) - 1)

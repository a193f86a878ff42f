# SPDX-License-Identifier: Apache-2.0
"""Pairs of texts for a terminal, what differs marked word by word.

With colour, deleted words are red and inserted ones green; without, they are `[-deleted-]` and
`{+inserted+}`. Control characters are spelled out, so that a prediction cannot steer the terminal.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from operator import itemgetter

from assay.report.terminal import cut, display_width, styled, visible
from assay.report.words import Kind, Piece

INDENT = "  "
BORDER = " │ "
WIDE = 100
"""From this width on two texts stand side by side, below it one above the other."""
LONGEST_LABEL = 20
LONGEST_PIECE = 400
"""Letters of a piece that a terminal shows: its beginning and its end."""
LONGEST_TEXT = 2_000
"""Letters of a text that a terminal shows."""
LINE_END = "\n"
_BREAK = Piece("same", LINE_END)
"""Where a line really ends; any other line end in a text is spelled out."""

_MARKS: dict[Kind, tuple[str, str]] = {
    "same": ("", ""),
    "deleted": ("[-", "-]"),
    "inserted": ("{+", "+}"),
}
_STYLE: dict[Kind, str | None] = {"same": None, "deleted": "red", "inserted": "green"}

Chunk = tuple[str, str | None]  # text that takes up room, and its style
Labelled = tuple[str, Sequence[Piece] | None]


def stacked(
    rows: Sequence[Labelled], *, colour: bool, width: int | None, whole: bool = False
) -> list[str]:
    """Texts one above the other, each behind its label and wrapped under itself.

    A text that is None is missing. A `whole` text is shown to the last letter, on lines of its own,
    for those who have to read all of it; others are abbreviated, with line ends spelled out.

    >>> stacked([("gold", [Piece("same", "a\\nb")])], colour=False, width=40, whole=True)
    ['  gold  a', '        b']
    """
    labels = [cut(visible(label), LONGEST_LABEL) for label, _ in rows]
    space = max(map(display_width, labels), default=0) + 2
    room = None if width is None else max(20, width - len(INDENT) - space)
    lines = []
    for label, (_, pieces) in zip(labels, rows, strict=True):
        for number, line in enumerate(_lines(pieces, room, colour, whole)):
            lead = label if number == 0 else ""
            pad = " " * (space - display_width(lead))
            lines.append(f"{INDENT}{styled(lead, 'dim' if colour else None)}{pad}{line[0]}")
    return [line.rstrip() for line in lines]


def side_by_side(first: Labelled, second: Labelled, *, colour: bool, width: int) -> list[str]:
    """Two texts in columns of the same width, their labels above them."""
    room = (width - len(INDENT) - len(BORDER)) // 2
    columns = []
    for label, pieces in (first, second):
        head = cut(visible(label), room)
        quiet = styled(head, "dim" if colour else None)
        columns.append([(quiet, display_width(head)), *_lines(pieces, room, colour)])
    lines = []
    for (left, taken), (right, _) in zip_longest(*columns, fillvalue=("", 0)):
        lines.append(f"{INDENT}{left}{' ' * (room - taken)}{BORDER}{right}".rstrip())
    return lines


def marked(pieces: Iterable[Piece], *, colour: bool = False) -> str:
    """The pieces as one line.

    >>> marked([Piece("same", "the"), Piece("deleted", " old"), Piece("same", " cat")])
    'the [-old-] cat'
    """
    return _joined(_chunks(pieces, colour))


def _joined(chunks: Iterable[Chunk]) -> str:
    """Chunks as text, neighbours of one style between one pair of escape codes."""
    return "".join(
        styled("".join(text for text, _ in same), style)
        for style, same in groupby(chunks, key=itemgetter(1))
    )


def _lines(
    pieces: Sequence[Piece] | None, room: int | None, colour: bool, whole: bool = False
) -> list[tuple[str, int]]:
    """Wrapped lines with the room they take."""
    if pieces is None:
        return [(styled("(missing)", "dim" if colour else None), len("(missing)"))]
    if not pieces:
        return [(styled("(empty)", "dim" if colour else None), len("(empty)"))]
    if room is None:
        text = marked(pieces, colour=colour)
        return [(text, 0)]
    shown = _by_line(pieces) if whole else abbreviated(pieces)
    return [
        (_joined(line), sum(display_width(text) for text, _ in line))
        for line in _wrapped(_chunks(shown, colour), room)
    ]


def _by_line(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces cut at line ends; one that differs and has nothing before it is shown as well."""
    for kind, text in pieces:
        for line in re.findall(r"[^\n]*\n|[^\n]+", text):
            bare = line.removesuffix(LINE_END)
            if bare or kind != "same":
                yield Piece(kind, bare or LINE_END)
            if bare != line:
                yield _BREAK


def abbreviated(pieces: Iterable[Piece]) -> Iterator[Piece]:
    """The pieces so that a text of many pages leaves room for the next example.

    >>> [len(text) for _, text in abbreviated([Piece("same", "a" * 9_000), Piece("deleted", "b")])]
    [422, 1]
    """
    held = list(pieces)
    left = LONGEST_TEXT
    for place, (kind, text) in enumerate(held):
        if left <= 0:
            rest = sum(len(piece.text) for piece in held[place:])
            yield Piece("same", f" … {rest:,} more characters")
            return
        if len(text) > LONGEST_PIECE:
            half = LONGEST_PIECE // 2
            hidden = f" … {len(text) - 2 * half:,} characters … "
            text = text[:half] + hidden + text[-half:]
        left -= len(text)
        yield Piece(kind, text)


def _chunks(pieces: Iterable[Piece], colour: bool) -> Iterator[Chunk]:
    """The pieces cut at spaces; marks stand at the words, not at the spaces around them."""
    for piece in pieces:
        if piece is _BREAK:
            yield LINE_END, None
            continue
        kind, text = piece
        shown = visible(text)
        style = _STYLE[kind] if colour else None
        if not colour and kind != "same":
            opening, closing = _MARKS[kind]
            core = shown.strip(" ") or shown
            before, _, after = shown.partition(core)
            shown = f"{before}{opening}{core}{closing}{after}"
        elif colour and kind != "same" and shown.isspace():
            shown = shown.replace(" ", "␣")  # a coloured space would not be seen
        for chunk in re.findall(r" +|[^ ]+", shown):
            yield chunk, style


def _wrapped(chunks: Iterable[Chunk], room: int) -> list[list[Chunk]]:
    """Lines of at most `room`; the space at which a line is broken is dropped."""
    lines: list[list[Chunk]] = [[]]
    used = 0
    meant = {0}  # lines that the text itself begins: they stay, be they empty
    for chunk, style in chunks:
        if chunk == LINE_END:
            meant.add(len(lines))
            lines.append([])
            used = 0
            continue
        for part in _cut_up(chunk, room):
            size = display_width(part)
            if used + size > room:
                lines.append([])
                used = 0
                if part.isspace():
                    continue
            lines[-1].append((part, style))
            used += size
    return [line for number, line in enumerate(lines) if line or number in meant]


def _cut_up(chunk: str, room: int) -> Iterator[str]:
    """The chunk in parts that fit into a line of their own."""
    while display_width(chunk) > room:
        n = 0
        used = 0
        while used + display_width(chunk[n]) <= room:
            used += display_width(chunk[n])
            n += 1
        n = max(n, 1)
        yield chunk[:n]
        chunk = chunk[n:]
    yield chunk

# SPDX-License-Identifier: Apache-2.0
"""A grid of shaded squares with a number in each: what confusion and agreement share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.charts.canvas import (
    CHARACTER,
    FONT,
    LINE,
    WIDTH,
    group,
    label,
    label_lines,
    label_space,
    place,
    text,
)
from assay.report.escape import safe_html
from assay.report.terminal import cut_apart, display_width

LARGEST = 64
MOST_LETTERS = 18


@dataclass(frozen=True, slots=True)
class Square:
    """One square: how dark it is, 0 to 1 (NaN leaves it blank), what is written, its tooltip."""

    shade: float
    text: str
    told: str = ""


def grid(
    rows: Sequence[str],
    columns: Sequence[str],
    squares: Sequence[Sequence[Square]],
    *,
    row_title: str,
    column_title: str,
    outlined: bool = True,
) -> tuple[list[str], float]:
    """The marks of the grid and its height. With `outlined` the diagonal has a frame."""
    left = max(label_space(rows, MOST_LETTERS), CHARACTER * len(row_title) + 16)
    widest = max((min(display_width(c), MOST_LETTERS) for c in columns), default=0)
    size = min(LARGEST, (WIDTH - left - 4) / max(1, len(columns)))
    upright = widest * CHARACTER > size - 4
    if upright:  # the last label leans out to the right
        size = min(size, (WIDTH - left - widest * CHARACTER * 0.75) / max(1, len(columns)))
    head = LINE + (widest * CHARACTER * 0.75 + 12 if upright else LINE)
    marks = [
        text(left + size * len(columns) / 2, 12, column_title, anchor="middle"),
        text(left - 12, head - 2, row_title, anchor="end", quiet=True),
    ]
    for j, (column, shown) in enumerate(
        zip(columns, cut_apart(columns, MOST_LETTERS), strict=True)
    ):
        marks.append(_column_label(column, shown, left + size * (j + 0.5), head, upright))
    letters = min(FONT, size / 3.2)
    names = label_lines(rows, most=MOST_LETTERS)
    for i, row in enumerate(rows):
        y = head + size * i
        marks.append(label(left - 12, y + size / 2 + 4, row, names[i]))
        for j, square in enumerate(squares[i]):
            framed = outlined and row == columns[j]
            marks.append(_square(square, left + size * j, y, size, letters, framed))
    return marks, head + size * len(rows) + 8


def _column_label(column: str, brief: str, x: float, head: float, upright: bool) -> str:
    shown = safe_html(brief)
    full = f"<title>{safe_html(column)}</title>"
    if not upright:
        return (
            f'<text x="{place(x)}" y="{place(head - 6)}" text-anchor="middle">{shown}{full}</text>'
        )
    turned = f"rotate(-45 {place(x)} {place(head - 6)})"
    return f'<text x="{place(x)}" y="{place(head - 6)}" transform="{turned}">{shown}{full}</text>'


def _square(square: Square, x: float, y: float, size: float, letters: float, framed: bool) -> str:
    shade = 0.0 if math.isnan(square.shade) else min(1.0, max(0.0, square.shade))
    edge = (
        ' stroke="currentColor" stroke-width="2"'
        if framed
        else ' stroke="currentColor" stroke-opacity=".25"'
    )
    told = f"<title>{safe_html(square.told)}</title>" if square.told else ""
    # No darker than a third: the number on it is read in the colour of text, on any ground.
    rect = (
        f'<rect x="{place(x + 1)}" y="{place(y + 1)}" width="{place(size - 2)}" '
        f'height="{place(size - 2)}" fill="currentColor" fill-opacity="{shade * 0.38:.2f}"'
        f"{edge}>{told}</rect>"
    )
    if letters < 5:
        return group("plain", rect)
    number = (
        f'<text x="{place(x + size / 2)}" y="{place(y + size / 2 + letters / 3)}" '
        f'text-anchor="middle" font-size="{place(letters)}">{safe_html(square.text)}</text>'
    )
    return group("plain", rect) + number

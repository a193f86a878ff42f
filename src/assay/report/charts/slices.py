# SPDX-License-Identifier: Apache-2.0
"""Dot plots: a line for each slice or score, a mark and an interval for each system."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.charts.canvas import (
    CHARACTER,
    LABEL_LINE,
    LINE,
    WIDTH,
    Chart,
    Point,
    Scale,
    group,
    label,
    label_lines,
    label_space,
    legend,
    line,
    series,
    shape,
    text,
    x_axis,
)
from assay.report.charts.intervals import whisker
from assay.report.numbers import format_count, format_interval, format_number
from assay.report.tables import Cell, Table, left, right

MOST_ROWS = 20
"""Of more slices than this the largest are drawn; the table has them all."""
STEP = 13
GAP = 12


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One line: how many examples it has (None: not said), each system's score and interval."""

    label: str
    n: int | None
    values: tuple[float, ...]
    intervals: tuple[Point | None, ...]


def slice_chart(
    rows: Sequence[SliceRow],
    systems: Sequence[str],
    title: str,
    *,
    digits: int = 2,
    interval: str = "interval",
    axis: str = "",
    reference: float | None = None,
) -> Chart:
    """The slices sorted by the score of the last system, highest first; undefined ones last.

    Of more than `MOST_ROWS` the largest are drawn. `reference` draws a dashed line: the score of
    all examples, say.
    """
    largest = sorted(rows, key=lambda row: -(row.n or 0))[:MOST_ROWS]
    return dot_chart(
        sorted(largest, key=_rank),
        systems,
        title,
        digits=digits,
        interval=interval,
        axis=axis,
        reference=reference,
        every=sorted(rows, key=_rank),
    )


def dot_chart(
    shown: Sequence[SliceRow],
    systems: Sequence[str],
    title: str,
    *,
    digits: int = 2,
    interval: str = "interval",
    axis: str = "",
    reference: float | None = None,
    heading: str = "slice",
    every: Sequence[SliceRow] | None = None,
) -> Chart:
    """Lines in the order given. `every` are those of the table, where it has more than is drawn."""
    rows = shown if every is None else every
    keys, top = legend(systems, 0)
    counts = [_count(row) for row in shown]
    end = WIDTH - 16 - CHARACTER * max((len(c) for c in counts), default=0)
    near = [] if reference is None else [reference]
    scale = Scale.over([*_numbers(shown), *near], label_space(row.label for row in shown), end)
    each = STEP * len(systems) + GAP
    bottom = top + 6 + each * len(shown)
    marks = [keys, x_axis(scale, top, bottom, axis)]
    if reference is not None:
        marks.append(line((scale(reference), top), (scale(reference), bottom), dashed=True))
    names = label_lines([row.label for row in shown], lines=max(1, min(3, each // LABEL_LINE)))
    for i, (row, count) in enumerate(zip(shown, counts, strict=True)):
        start = top + 6 + each * i
        middle = start + (each - GAP) / 2
        marks.append(label(scale.start - 12, middle + 4, row.label, names[i]))
        if all(map(math.isnan, row.values)):
            marks.append(text(scale.start, middle + 4, "undefined", quiet=True))
        marks.append(text(WIDTH, middle + 4, count, anchor="end", quiet=True))
        for s, (value, around) in enumerate(zip(row.values, row.intervals, strict=True)):
            if not math.isnan(value):
                y = start + STEP * (s + 0.5)
                drawn = whisker(around, y, scale, 3) + shape(s, scale(value), y, 4)
                marks.append(group(series(s), drawn))
    height = bottom + (2 * LINE if axis else LINE) + 8
    said = "; ".join(_said(row, systems, digits) for row in shown)
    hidden = len(rows) - len(shown)
    more = f" The {hidden:,} smallest slices are in the table alone." if hidden else ""
    table = _table(rows, systems, title, digits, interval, heading)
    return Chart(title, height, tuple(marks), f"{said}.{more}", table)


def _count(row: SliceRow) -> str:
    return "" if row.n is None else f"n {format_count(row.n)}"


def _rank(row: SliceRow) -> tuple[bool, float]:
    last = row.values[-1] if row.values else math.nan
    return math.isnan(last), 0.0 if math.isnan(last) else -last


def _numbers(rows: Sequence[SliceRow]) -> list[float]:
    bounds = [b for row in rows for interval in row.intervals for b in interval or ()]
    return [*(v for row in rows for v in row.values), *bounds]


def _said(row: SliceRow, systems: Sequence[str], digits: int) -> str:
    values = [format_number(v, digits) or "undefined" for v in row.values]
    count = f" ({_count(row)})" if row.n is not None else ""
    if len(systems) < 2:
        return f"{row.label}{count}: {', '.join(values)}"
    named = ", ".join(f"{s} {v}" for s, v in zip(systems, values, strict=True))
    return f"{row.label}{count}: {named}"


def _table(
    rows: Sequence[SliceRow],
    systems: Sequence[str],
    title: str,
    digits: int,
    interval: str,
    heading: str,
) -> Table:
    counted = any(row.n is not None for row in rows)
    body = [
        (
            Cell(row.label),
            *([Cell("" if row.n is None else format_count(row.n))] if counted else []),
            *(
                Cell(format_number(value, digits), aside=format_interval(around, digits))
                for value, around in zip(row.values, row.intervals, strict=True)
            ),
        )
        for row in rows
    ]
    known = any(interval is not None for row in rows for interval in row.intervals)
    notes = (f"In brackets: {interval}.",) if known else ()
    numbers = right(*(["n"] if counted else []), *systems)
    return Table(title, (*left(heading), *numbers), tuple(body), notes)

# SPDX-License-Identifier: Apache-2.0
"""A dot and an interval for each row, over one axis: scores of systems, differences."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from assay.report.charts.canvas import (
    CHARACTER,
    LINE,
    WIDTH,
    Chart,
    Point,
    Scale,
    group,
    label,
    label_lines,
    label_space,
    line,
    minus,
    place,
    text,
    x_axis,
)
from assay.report.numbers import format_interval, format_number
from assay.report.tables import Cell, Table, left, right

ROW = 26
TOP = 6


@dataclass(frozen=True, slots=True)
class ChartRow:
    """One row: a value, the interval around it if there is one, and how it is meant.

    An undefined value leaves the row empty. `kind` is a key of `canvas.COLOURS`.
    """

    label: str
    value: float
    interval: Point | None = None
    kind: str = "plain"


def interval_chart(
    rows: Sequence[ChartRow],
    title: str,
    *,
    digits: int = 2,
    interval: str = "interval",
    axis: str = "",
    reference: float | None = None,
    signed: bool = False,
) -> Chart:
    """Dots with intervals, one row each, in the order given.

    `interval` is what the intervals are called; `axis` names the axis with its unit; `reference`
    draws a dashed line, such as 0 for differences. `signed` writes a plus before positive values.
    """
    values = [minus(format_number(row.value, digits, signed=signed)) for row in rows]
    numbers = [n for row in rows for n in (row.value, *(row.interval or ()))]
    near = [] if reference is None else [reference]
    end = WIDTH - 16 - CHARACTER * max((len(v) for v in values), default=0)
    scale = Scale.over([*numbers, *near], label_space(row.label for row in rows), end)
    bottom = TOP + ROW * len(rows)
    marks = [x_axis(scale, TOP, bottom, axis)]
    if reference is not None:
        marks.append(line((scale(reference), TOP), (scale(reference), bottom), dashed=True))
    names = label_lines([row.label for row in rows])
    for i, (row, value) in enumerate(zip(rows, values, strict=True)):
        marks.append(label(scale.start - 12, TOP + ROW * (i + 0.5) + 4, row.label, names[i]))
        marks.extend(_row(row, value, TOP + ROW * (i + 0.5), scale))
    height = bottom + (2 * LINE if axis else LINE) + 8
    table = Table(
        title,
        (*left(""), *right(axis or "value", interval)),
        tuple(
            (
                Cell(row.label),
                Cell(format_number(row.value, digits, signed=signed)),
                Cell(format_interval(row.interval, digits, signed=signed)),
            )
            for row in rows
        ),
    )
    return Chart(title, height, tuple(marks), alternative(rows, digits, interval), table)


def alternative(rows: Sequence[ChartRow], digits: int, interval: str) -> str:
    """What a reader who cannot see the chart is told.

    >>> alternative([ChartRow("A", 34.517, (33.8, 35.2))], 2, "95 % interval")
    'A: 34.52, 95 % interval 33.80 to 35.20.'
    """
    said = []
    for row in rows:
        value = format_number(row.value, digits) or "undefined"
        bounds = [format_number(bound, digits) for bound in row.interval or ()]
        around = f", {interval} {bounds[0]} to {bounds[1]}" if all(bounds) and bounds else ""
        said.append(f"{row.label}: {value}{around}")
    return f"{'; '.join(said)}." if said else "Nothing to show."


def whisker(interval: Point | None, y: float, scale: Scale, half: float = 4) -> str:
    """The interval of a dot, with its ends marked; nothing where it is undefined."""
    if interval is None or any(map(math.isnan, interval)):
        return ""
    low, high = (place(scale(bound)) for bound in interval)
    edge = f"{place(y - half)}v{place(2 * half)}"
    return (
        f'<path d="M{low} {place(y)}H{high}M{low} {edge}M{high} {edge}" '
        'stroke="currentColor" stroke-width="2"/>'
    )


def _row(row: ChartRow, value: str, middle: float, scale: Scale) -> Iterator[str]:
    if math.isnan(row.value):
        yield text(scale.start, middle + 4, "undefined", quiet=True)
        return
    dot = f'<circle cx="{place(scale(row.value))}" cy="{place(middle)}" r="5" fill="currentColor"/>'
    yield group(row.kind, whisker(row.interval, middle, scale) + dot)
    yield text(WIDTH, middle + 4, value, anchor="end")

# SPDX-License-Identifier: Apache-2.0
"""How far a simultaneous system had read when it wrote each unit: a staircase."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.charts.canvas import (
    LINE,
    WIDTH,
    Chart,
    Point,
    Scale,
    group,
    legend,
    line,
    polyline,
    series,
    x_axis,
    y_axis,
)
from assay.report.numbers import format_number
from assay.report.tables import Cell, Table, left, right

LEFT = 60
HEIGHT = 240


@dataclass(frozen=True, slots=True)
class Staircase:
    """One sentence of one system: how much source was read when each target unit was written.

    `delays` never fall; `units` are the texts of the target units, where they are known.
    """

    label: str
    delays: tuple[float, ...]
    source_length: float
    units: tuple[str, ...] = ()


def staircase_chart(
    stairs: Sequence[Staircase],
    title: str,
    *,
    source: str = "source read (words)",
    target: str = "target written (words)",
    digits: int = 0,
) -> Chart:
    """Source read to the right, target written upwards; the nearer to the top left, the sooner.

    The dashed diagonal is an ideal system, which writes at an even pace and ends with the source.
    """
    keys, top = legend([s.label for s in stairs], 0, lines=True)
    top += 8
    bottom, right_edge = top + HEIGHT, WIDTH - 20
    length = max((s.source_length for s in stairs), default=0.0)
    written = max((len(s.delays) for s in stairs), default=0)
    latest = max((d for s in stairs for d in s.delays if math.isfinite(d)), default=0.0)
    across = Scale.over((0.0, max(length, latest, 1.0)), LEFT, right_edge)
    up = Scale.over((0.0, max(written, 1)), bottom, top)
    ideal = line((across(0), up(0)), (across(length), up(written)), dashed=True) if length else ""
    marks = [
        keys,
        x_axis(across, top, bottom, source),
        y_axis(up, LEFT, right_edge, target),
        ideal,
    ]
    for i, stair in enumerate(stairs):
        # A hair apart, so that systems that write at the same moment are both seen.
        shift = 1.5 * (i - (len(stairs) - 1) / 2)
        steps = [(x + shift, y) for x, y in _steps(stair, across, up)]
        marks.append(group(series(i), polyline(steps, ' stroke-width="2"')))
    said = "; ".join(_said(stair, source, digits) for stair in stairs)
    height = bottom + 2 * LINE + 8
    return Chart(title, height, tuple(marks), f"{said}.", _table(stairs, title, source, digits))


def _steps(stair: Staircase, across: Scale, up: Scale) -> list[Point]:
    points = [(across(0), up(0))]
    for i, delay in enumerate(stair.delays):
        if math.isfinite(delay):
            points += [(across(delay), up(i)), (across(delay), up(i + 1))]
    end = max((stair.source_length, *(d for d in stair.delays if math.isfinite(d))))
    return [*points, (across(end), points[-1][1])]


def _said(stair: Staircase, source: str, digits: int) -> str:
    if not stair.delays:
        return f"{stair.label}: nothing written"
    first, last = (format_number(d, digits) for d in (stair.delays[0], stair.delays[-1]))
    return (
        f"{stair.label}: {len(stair.delays)} units, the first at {first}, the last at {last} "
        f"of {format_number(stair.source_length, digits)}, {source}"
    )


def _table(stairs: Sequence[Staircase], title: str, source: str, digits: int) -> Table:
    rows = []
    for i in range(max((len(s.delays) for s in stairs), default=0)):
        row = [Cell(str(i + 1))]
        for s in stairs:
            row.append(Cell(s.units[i] if i < len(s.units) else ""))
            row.append(Cell(format_number(s.delays[i], digits) if i < len(s.delays) else ""))
        rows.append(tuple(row))
    columns = [*right("unit")]
    for s in stairs:
        columns += [*left(s.label), *right(source)]
    return Table(title, tuple(columns), tuple(rows))

# SPDX-License-Identifier: Apache-2.0
"""Quality against latency: a point for each system, its joint region, and the Pareto front."""

from __future__ import annotations

import math
from collections.abc import Sequence
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
    polyline,
    series,
    shape,
    text,
    x_axis,
    y_axis,
)
from assay.report.numbers import format_number
from assay.report.tables import Cell, Table, left, right
from assay.report.terminal import display_width

LEFT = 64
HEIGHT = 280
MARK = 6
"""From the middle of a mark to its edge, with a little room."""
ASCENT = 9
"""From the line of a text to the top of its letters."""


@dataclass(frozen=True, slots=True)
class Tradeoff:
    """One system at one setting: where it stands, and the outline of where it may stand in truth.

    Points of one `family` (one system at several settings) share a colour and are joined.
    """

    label: str
    latency: float
    quality: float
    region: tuple[Point, ...] = ()
    family: str = ""

    @property
    def known(self) -> bool:
        """Whether it can be drawn."""
        return math.isfinite(self.latency) and math.isfinite(self.quality)


def pareto_front(points: Sequence[Tradeoff]) -> list[Tradeoff]:
    """The points that no other beats in both: lower latency and higher quality, by latency.

    >>> a, b, c = Tradeoff("a", 1, 20), Tradeoff("b", 2, 19), Tradeoff("c", 3, 25)
    >>> [p.label for p in pareto_front([b, c, a])]
    ['a', 'c']
    """
    front: list[Tradeoff] = []
    for point in sorted((p for p in points if p.known), key=lambda p: (p.latency, -p.quality)):
        if not front or point.quality > front[-1].quality:
            front.append(point)
    return front


def tradeoff_chart(
    points: Sequence[Tradeoff],
    title: str,
    *,
    latency: str,
    quality: str,
    region: str = "95 % joint region",
    digits: tuple[int, int] = (2, 2),
) -> Chart:
    """Latency to the right, quality upwards: the best corner is at the top left.

    `latency` and `quality` name the axes with their units; `region` is what the outlines are;
    `digits` are those of latency and quality. Higher quality and lower latency count as better.
    """
    known = [p for p in points if p.known]
    top, bottom, right_edge = 22, 22 + HEIGHT, WIDTH - 20
    outlines = [q for p in known for q in p.region]
    across = Scale.over([*(p.latency for p in known), *(q[0] for q in outlines)], LEFT, right_edge)
    up = Scale.over([*(p.quality for p in known), *(q[1] for q in outlines)], bottom, top)
    front = pareto_front(points)
    meaning = f"outlined: {region}, " if outlines else ""
    marks = [
        x_axis(across, top, bottom, latency),
        y_axis(up, LEFT, right_edge, quality),
        text(LEFT + 4, 12, "↖ better", quiet=True),
        text(right_edge, 12, f"{meaning}dashed: Pareto front", anchor="end", quiet=True),
        _front(front, across, up, right_edge),
    ]
    families = list(dict.fromkeys(p.family or p.label for p in known))
    for i, family in enumerate(families):
        members = [p for p in known if (p.family or p.label) == family]
        places = [(across(p.latency), up(p.quality)) for p in members]
        drawn = "".join(_region(p, across, up) for p in members)
        if len(members) > 1:
            drawn += polyline(sorted(places), ' stroke-opacity=".5"')
        marks.append(group(series(i), drawn + "".join(shape(i, *at) for at in places)))
    marks += _labels(known, across, up, right_edge)
    said = _said(points, front, latency, quality, digits)
    table = _table(points, front, title, (latency, quality), digits, region)
    return Chart(title, bottom + 2 * LINE + 8, tuple(marks), said, table)


def _region(point: Tradeoff, across: Scale, up: Scale) -> str:
    if not point.region:
        return ""
    path = "L".join(f"{across(x):.1f} {up(y):.1f}" for x, y in point.region)
    return (
        f'<path d="M{path}z" fill="currentColor" fill-opacity=".14" stroke="currentColor" '
        'stroke-opacity=".5"/>'
    )


def _front(front: Sequence[Tradeoff], across: Scale, up: Scale, right_edge: float) -> str:
    """Steps: until the next point's latency the front offers the quality of the last one."""
    if not front:
        return ""
    steps: list[Point] = [(across(front[0].latency), up.start)]
    for i, point in enumerate(front):
        until = across(front[i + 1].latency) if i + 1 < len(front) else right_edge
        steps += [(across(point.latency), up(point.quality)), (until, up(point.quality))]
    return polyline(steps, ' stroke-opacity=".55" stroke-dasharray="4 3"')


def _labels(points: Sequence[Tradeoff], across: Scale, up: Scale, right_edge: float) -> list[str]:
    """Names beside their points, right or left; moved down where one would lie on another name or
    on another point."""
    taken: list[tuple[float, float, float]] = []
    found = []
    ordered = sorted(points, key=lambda p: up(p.quality))
    places = [(across(p.latency), up(p.quality)) for p in ordered]
    for i, (shown,) in enumerate(label_lines([p.label for p in ordered])):
        x, y = places[i]
        others = [*places[:i], *places[i + 1 :]]
        room = CHARACTER * display_width(shown)
        sides = [("start", x + 9), ("end", x - 9 - room)]
        sides = [s for s in sides if s[1] >= LEFT and s[1] + room <= right_edge] or sides[1:]
        tries = [(*side, y - 7 + k * (LINE - 4)) for k in range(len(points) + 2) for side in sides]
        free = [t for t in tries if _is_free(t[1], t[1] + room, t[2], taken)]
        clear = [t for t in free if not _lies_on(t[1], t[1] + room, t[2], others)]
        anchor, start, line = (clear or free or tries)[0]
        taken.append((start, start + room, line))
        beside = x + 9 if anchor == "start" else x - 9
        found.append(label(beside, line, ordered[i].label, [shown], anchor=anchor))
    return found


def _is_free(
    left_end: float, right_end: float, line: float, taken: Sequence[tuple[float, float, float]]
) -> bool:
    """Whether no name is written there yet."""
    return not any(a < right_end and left_end < b and abs(line - c) < LINE - 4 for a, b, c in taken)


def _lies_on(left_end: float, right_end: float, line: float, places: Sequence[Point]) -> bool:
    """Whether a name there would hide one of these points."""
    return any(
        left_end - MARK < x < right_end + MARK and line - ASCENT - MARK < y < line + MARK
        for x, y in places
    )


def _said(
    points: Sequence[Tradeoff],
    front: Sequence[Tradeoff],
    latency: str,
    quality: str,
    digits: tuple[int, int],
) -> str:
    each = [
        f"{p.label}: {quality} {format_number(p.quality, digits[1])} "
        f"at {latency} {format_number(p.latency, digits[0])}"
        if p.known
        else f"{p.label}: undefined"
        for p in points
    ]
    named = ", ".join(p.label for p in front) or "none"
    return f"{'; '.join(each)}. On the Pareto front: {named}."


def _table(
    points: Sequence[Tradeoff],
    front: Sequence[Tradeoff],
    title: str,
    names: tuple[str, str],
    digits: tuple[int, int],
    region: str,
) -> Table:
    rows = [
        (
            Cell(p.label),
            Cell(_finite(p.latency, digits[0]), aside=_extent(p.region, 0, digits[0])),
            Cell(_finite(p.quality, digits[1]), aside=_extent(p.region, 1, digits[1])),
            Cell("on the front" if p in front else ""),
        )
        for p in points
    ]
    columns = (*left("system"), *right(*names), *left("Pareto"))
    drawn = any(p.region for p in points)
    notes = (f"In brackets: how far the {region} reaches on each axis.",) if drawn else ()
    return Table(title, columns, tuple(rows), notes)


def _finite(value: float, digits: int) -> str:
    return format_number(value, digits) if math.isfinite(value) else ""


def _extent(region: Sequence[Point], axis: int, digits: int) -> str:
    if not region:
        return ""
    values = [point[axis] for point in region]
    return f"[{format_number(min(values), digits)}, {format_number(max(values), digits)}]"

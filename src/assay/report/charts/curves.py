# SPDX-License-Identifier: Apache-2.0
"""Precision over recall as a confidence threshold falls."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.report.charts.canvas import (
    LINE,
    WIDTH,
    Chart,
    Point,
    Scale,
    group,
    legend,
    polyline,
    series,
    shape,
    x_axis,
    y_axis,
)
from assay.report.numbers import format_number
from assay.report.tables import Cell, Table, cells, left, right

LEFT = 60
SIDE = 260
TABLE_POINTS = 10
"""Of each curve in the table behind the chart, besides the best point."""


@dataclass(frozen=True, slots=True)
class Curve:
    """One curve: (recall, precision) points in order of falling threshold, and what to mark.

    Undefined points are left out.
    """

    label: str
    points: tuple[Point, ...]
    best: Point | None = None
    average_precision: float = math.nan

    @classmethod
    def of(cls, label: str, data: Mapping[str, Any]) -> Curve:
        """From the plain data of a document: `points` as [threshold, precision, recall]."""
        points = tuple(
            (float(recall), float(precision))
            for _, precision, recall in data["points"]
            if _known(precision) and _known(recall)
        )
        best = data.get("best")
        area = data.get("average_precision")
        return cls(
            label,
            points,
            (float(best["recall"]), float(best["precision"])) if best else None,
            math.nan if area is None else float(area),
        )


def curve_chart(curves: Sequence[Curve], title: str, *, digits: int = 3) -> Chart:
    """Precision over recall, both from 0 to 1 (further where a score passes 1), as steps.

    The mark on a curve is where F1 is best.
    """
    far = max((v for c in curves for point in c.points for v in point), default=1.0)
    keys, top = legend([_short(c, digits) for c in curves], 0, lines=True)
    top += 8
    across = Scale.over((0.0, max(1.0, far)), LEFT, WIDTH - 20)
    up = Scale.over((0.0, max(1.0, far)), top + SIDE, top)
    marks = [
        keys,
        x_axis(across, top, top + SIDE, "recall (share of gold found)"),
        y_axis(up, LEFT, WIDTH - 20, "precision (share right)"),
    ]
    for i, curve in enumerate(curves):
        drawn = ""
        if curve.points:
            drawn = polyline(_steps(curve, across, up), ' stroke-width="2"')
        if curve.best is not None:
            drawn += shape(i, across(curve.best[0]), up(curve.best[1]))
        marks.append(group(series(i), drawn))
    height = top + SIDE + 2 * LINE + 8
    said = "; ".join(_said(curve, digits) for curve in curves)
    return Chart(title, height, tuple(marks), f"{said}.", _table(curves, title, digits))


def _said(curve: Curve, digits: int) -> str:
    text = _legend(curve, digits)
    if curve.best is not None:
        recall, precision = (format_number(value, digits) for value in curve.best)
        text += f", best F1 at precision {precision}, recall {recall}"
    return text


def _short(curve: Curve, digits: int) -> str:
    area = format_number(curve.average_precision, digits)
    return f"{curve.label} (AP {area})" if area else curve.label


def _legend(curve: Curve, digits: int) -> str:
    area = format_number(curve.average_precision, digits) or "undefined"
    return f"{curve.label}: average precision {area}"


def _steps(curve: Curve, across: Scale, up: Scale) -> Iterator[Point]:
    """Precision holds from the recall before to the recall reached: what the area is made of.

    Whole pixels are enough, and keep a curve of a million points small.
    """
    before = 0.0
    for recall, precision in curve.points:
        y = round(up(precision))
        yield round(across(before)), y
        yield round(across(recall)), y
        before = recall


def _table(curves: Sequence[Curve], title: str, digits: int) -> Table:
    rows = []
    for curve in curves:
        area = format_number(curve.average_precision, digits)
        if curve.best is not None:
            at = [format_number(v, digits) for v in curve.best]
            rows.append(cells(curve.label, f"best F1, average precision {area}", *at))
        step = max(1, len(curve.points) // TABLE_POINTS)
        rows += [
            (Cell(curve.label), Cell("point"), *(Cell(format_number(v, digits)) for v in point))
            for point in curve.points[::step]
        ]
    return Table(title, (*left("curve", ""), *right("recall", "precision")), tuple(rows))


def _known(value: float | None) -> bool:
    return value is not None and not math.isnan(value)

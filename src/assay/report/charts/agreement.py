# SPDX-License-Identifier: Apache-2.0
"""How far judges agree: coefficients on one axis, and judge by judge."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from assay.report.charts.canvas import Chart, Point
from assay.report.charts.intervals import ChartRow, interval_chart
from assay.report.charts.matrix import Square, grid
from assay.report.numbers import format_number
from assay.report.tables import Cell, Table, left


def agreement_chart(
    measures: Sequence[tuple[str, float, Point | None]],
    title: str,
    *,
    interval: str = "interval",
    digits: int = 3,
) -> Chart:
    """Name, value and interval of each coefficient; 1 is full agreement, the dashed 0 is chance.

    Plain agreement (a share, not corrected for chance) is drawn on the same axis.
    """
    rows = [ChartRow(name, value, around) for name, value, around in measures]
    axis = "agreement (0 by chance, 1 in full)"
    return interval_chart(rows, title, digits=digits, interval=interval, axis=axis, reference=0.0)


def judge_pairs_chart(
    pairs: Mapping[tuple[str, str], tuple[float, int]],
    title: str,
    *,
    measure: str = "share of items judged alike",
    digits: int = 2,
) -> Chart:
    """For each two judges how far they agree, and on how many items: `{(a, b): (value, n)}`."""
    judges = list(dict.fromkeys(judge for pair in pairs for judge in pair))
    both = {**pairs, **{(b, a): found for (a, b), found in pairs.items()}}
    squares = [[_square(both.get((a, b)), a, b, digits) for b in judges] for a in judges]
    marks, height = grid(
        judges, judges, squares, row_title="", column_title=measure, outlined=False
    )
    said = "; ".join(
        f"{a} and {b}: {format_number(value, digits) or 'undefined'} on {n} items"
        for (a, b), (value, n) in pairs.items()
    )
    table = Table(
        title,
        left("judge", "judge", measure, "items"),
        tuple(
            (Cell(a), Cell(b), Cell(format_number(value, digits)), Cell(str(n)))
            for (a, b), (value, n) in pairs.items()
        ),
    )
    return Chart(title, height, tuple(marks), f"{said}.", table)


def _square(found: tuple[float, int] | None, a: str, b: str, digits: int) -> Square:
    if found is None:
        return Square(math.nan, "")
    value, n = found
    shown = format_number(value, digits)
    return Square(value, shown, f"{a} and {b}: {shown or 'undefined'} on {n} items")

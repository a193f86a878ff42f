# SPDX-License-Identifier: Apache-2.0
"""How often the right answer is among the first k candidates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from assay.report.charts.canvas import (
    LINE,
    WIDTH,
    Chart,
    Scale,
    group,
    legend,
    line,
    place,
    polyline,
    series,
    shape,
    text,
    y_axis,
)
from assay.report.numbers import format_number
from assay.report.tables import Cell, Table, right

LEFT = 60
HEIGHT = 220
MOST_LABELS = 12


@dataclass(frozen=True, slots=True)
class Ranks:
    """One system: the share of examples right among the first 1, 2, 3, ... candidates."""

    label: str
    shares: tuple[float, ...]


def rank_chart(systems: Sequence[Ranks], title: str, *, digits: int = 3) -> Chart:
    """Share found over k, a line for each system; the axis starts at 0."""
    most = max((len(s.shares) for s in systems), default=1)
    keys, top = legend([s.label for s in systems], 0, lines=True)
    top += 8
    bottom = top + HEIGHT
    far = max((v for s in systems for v in s.shares if not math.isnan(v)), default=1.0)
    up = Scale.over((0.0, far or 1.0), bottom, top)
    right_edge = WIDTH - 24

    def across(k: int) -> float:
        return LEFT + 16 + (right_edge - LEFT - 16) * (k - 1) / max(1, most - 1)

    marks = [keys, y_axis(up, LEFT, right_edge, "share of examples found")]
    every = math.ceil(most / MOST_LABELS)
    for k in range(1, most + 1, every):
        marks.append(line((across(k), bottom), (across(k), bottom + 4), faint=True))
        marks.append(text(across(k), bottom + LINE, str(k), anchor="middle", quiet=True))
    middle = (LEFT + right_edge) / 2
    words = "k (candidates looked at)"
    marks.append(text(middle, bottom + 2 * LINE, words, anchor="middle"))
    for i, system in enumerate(systems):
        points = [
            (across(k), up(share))
            for k, share in enumerate(system.shares, start=1)
            if not math.isnan(share)
        ]
        drawn = polyline(points, f' stroke-width="{place(2)}"') if points else ""
        dots = "".join(shape(i, *p) for p in points) if len(points) <= 30 else ""
        marks.append(group(series(i), drawn + dots))
    table = Table(
        title,
        right("k", *(s.label for s in systems)),
        tuple(
            (Cell(str(k)), *(Cell(_share(s, k, digits)) for s in systems))
            for k in range(1, most + 1)
        ),
    )
    said = "; ".join(f"{s.label}: {_said(s, digits)}" for s in systems)
    return Chart(title, bottom + 2 * LINE + 8, tuple(marks), f"{said}.", table)


def _share(system: Ranks, k: int, digits: int) -> str:
    return format_number(system.shares[k - 1], digits) if k <= len(system.shares) else ""


def _said(system: Ranks, digits: int) -> str:
    ends = dict.fromkeys((1, len(system.shares))) if system.shares else {}
    return ", ".join(
        f"{_share(system, k, digits) or 'undefined'} among the first {k}" for k in ends
    )

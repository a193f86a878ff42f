# SPDX-License-Identifier: Apache-2.0
"""What all charts are made of: the finished chart, scales, axes, marks, legends.

A chart is SVG text that takes the colour of text and axes from what surrounds it. Marks are in
groups of a class such as `c1` or `good`, which a page gives its colours for light and dark
(`palette`); where no style sheet does, the group's own `color` holds. Nothing is fetched, no
attribute holds a style (a strict Content-Security-Policy would drop it), and all text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assay.report.escape import safe_html
from assay.report.numbers import format_number
from assay.report.tables import Table
from assay.report.terminal import cut_apart, display_width, wrapped

WIDTH = 480
"""Of every chart: two stand side by side on a desk, and one can be read on a phone."""
FONT = 13
CHARACTER = 7.5
"""The width of a letter, near enough to leave room for labels."""
LINE = 18
LABEL_LINE = 15
"""From one line of a label to the next."""
WIDEST_LABEL = 24

COLOURS = {
    "plain": ("#3273b5", "#6aa9e6"),
    "good": ("#1b814d", "#4fc185"),
    "bad": ("#c43a4d", "#f07f8d"),
    "quiet": ("#6f7580", "#9aa1ac"),
    "c1": ("#3273b5", "#6aa9e6"),
    "c2": ("#b85c12", "#ee9d52"),
    "c3": ("#7b54b0", "#b798e8"),
    "c4": ("#14807c", "#4cc2bd"),
    "c5": ("#b0437f", "#ec8fc2"),
    "c6": ("#6b7423", "#b9c460"),
}
"""Colours of marks on a light and on a dark ground, each at least 3:1 against it (WCAG 2.2).

Series take c1, c2, ... in turn, and a shape each, for readers who do not tell the colours apart.
Where colours start again shapes are one further, so that no two of the first 36 series look alike.
"""
LIGHT, DARK = "#ffffff", "#15181d"
SERIES = tuple(name for name in COLOURS if name.startswith("c"))
SHAPES = ("circle", "square", "diamond", "triangle", "ring", "cross")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Chart:
    """A finished picture: what it shows in words, its marks, and the numbers behind it."""

    title: str
    height: float
    marks: tuple[str, ...]
    alternative: str
    table: Table
    width: int = WIDTH

    def svg(self) -> str:
        """For a page that sets the title itself."""
        return self._root(self.height, "", self.marks, f'class="chart" role="img" {self._label()}')

    def file(self) -> str:
        """As a file of its own: the title drawn, colours for light and dark inside."""
        lines = wrapped(self.title, int(self.width / (CHARACTER * 1.1)))
        top = LINE * len(lines) + 8
        heading = "".join(text(0, LINE * i + 14, line, weight=True) for i, line in enumerate(lines))
        ground = f'<rect class="ground" width="100%" height="100%" fill="{LIGHT}"/>'
        marks = (ground, heading, f'<g transform="translate(0 {top})">', *self.marks, "</g>")
        style = (
            f"<style>svg{{color:#1c2026}}{palette(0)}@media(prefers-color-scheme:dark)"
            f"{{svg{{color:#e8eaed}}.ground{{fill:{DARK}}}{palette(1)}}}</style>\n"
        )
        return self._root(self.height + top, style, marks, f'role="img" {self._label()}')

    def _label(self) -> str:
        return f'aria-label="{safe_html(f"{self.title}. {self.alternative}")}"'

    def _root(self, height: float, style: str, marks: Iterable[str], attributes: str) -> str:
        size = f'viewBox="0 0 {self.width} {place(height)}" width="{self.width}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} height="{place(height)}" '
            f'{attributes} font-family="system-ui,sans-serif" font-size="{FONT}" '
            f'fill="currentColor">\n{style}{chr(10).join(marks)}\n</svg>\n'
        )


def palette(ground: int, prefix: str = "") -> str:
    """Style rules for the colours of marks: 0 for a light ground, 1 for a dark one."""
    return "".join(f"{prefix}.{name}{{color:{both[ground]}}}" for name, both in COLOURS.items())


@dataclass(frozen=True, slots=True)
class Scale:
    """Numbers to places along one axis, from the first tick to the last."""

    ticks: tuple[float, ...]
    start: float
    end: float

    @classmethod
    def over(cls, values: Iterable[float], start: float, end: float, about: int = 5) -> Scale:
        """A scale with round ticks that holds all values that are numbers."""
        low, high = domain(values)
        return cls(tuple(nice_ticks(low, high, about)), start, end)

    def __call__(self, value: float) -> float:
        """The place of a value."""
        low, high = self.ticks[0], self.ticks[-1]
        return self.start + (value - low) / (high - low) * (self.end - self.start)


def domain(values: Iterable[float]) -> Point:
    """From the smallest to the largest number, with some room where all are the same."""
    known = [v for v in values if math.isfinite(v)]
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    if high - low < 1e-9 * max(1.0, abs(high)):
        room = abs(high) * 0.1 or 1.0
        return low - room, high + room
    return low, high


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Round numbers from just below `low` to just above `high`, in steps of 1, 2 or 5.

    >>> nice_ticks(33.1, 36.7), nice_ticks(-0.4, 1.0)
    ([33.0, 34.0, 35.0, 36.0, 37.0], [-0.5, 0.0, 0.5, 1.0])
    """
    rough = (high - low) / about
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 5, 10) if m * power >= rough * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    # Rounding takes off what the product with a step like 0.1 adds in the last digits.
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def x_axis(scale: Scale, top: float, bottom: float, title: str) -> str:
    """Ticks with lines up to `top`, their numbers, and the title of the axis below."""
    parts = []
    for tick, shown in zip(scale.ticks, tick_labels(scale.ticks), strict=True):
        at = scale(tick)
        parts.append(line((at, top), (at, bottom + 4), faint=True))
        parts.append(text(at, bottom + LINE, shown, anchor="middle", quiet=True))
    middle = (scale.start + scale.end) / 2
    parts.append(text(middle, bottom + 2 * LINE, title, anchor="middle"))
    return "".join(parts)


def y_axis(scale: Scale, left: float, right: float, title: str) -> str:
    """Ticks with lines from `left` to `right`, their numbers, and the title, upright."""
    parts = []
    for tick, shown in zip(scale.ticks, tick_labels(scale.ticks), strict=True):
        at = scale(tick)
        parts.append(line((left - 4, at), (right, at), faint=True))
        parts.append(text(left - 8, at + 4, shown, anchor="end", quiet=True))
    middle = (scale.start + scale.end) / 2
    turned = f' transform="rotate(-90 13 {place(middle)})"'
    parts.append(text(13, middle, title, anchor="middle", more=turned))
    return "".join(parts)


def tick_labels(ticks: Sequence[float]) -> list[str]:
    """The numbers at the ticks, all with as many digits as one of them needs.

    >>> tick_labels([-0.5, 0.0, 0.5])
    ['−0.5', '0.0', '0.5']
    """
    decimals = max(len(f"{t:.10g}".partition(".")[2]) for t in ticks)
    return [minus(format_number(tick, decimals)) for tick in ticks]


def legend(names: Sequence[str], top: float, lines: bool = False) -> tuple[str, float]:
    """Shape and name of each series, and the room they take; none is drawn for a single one."""
    if len(names) < 2:
        return "", 0.0
    x, y, parts = 4.0, top + 10, []
    for i, (name, shown) in enumerate(zip(names, cut_apart(names, 2 * WIDEST_LABEL), strict=True)):
        room = 26 + CHARACTER * display_width(shown)
        if x > 4 and x + room > WIDTH:
            x, y = 4.0, y + LINE
        through = line((x, y - 4), (x + 14, y - 4), width=2) if lines else ""
        parts.append(group(series(i), through + shape(i, x + 7, y - 4)))
        parts.append(label(x + 20, y, name, [shown], anchor="start"))
        x += room + 12
    return "".join(parts), y - top + 10


def series(i: int) -> str:
    """The class of the i-th series."""
    return SERIES[i % len(SERIES)]


def group(kind: str, marks: str) -> str:
    """Marks in the colour of this kind."""
    return f'<g class="{kind}" color="{COLOURS[kind][0]}">{marks}</g>'


def shape(i: int, x: float, y: float, size: float = 4.5) -> str:
    """The mark of the i-th series, in the colour of its group."""
    form, s = SHAPES[(i + i // len(SERIES)) % len(SHAPES)], size
    at = f"{place(x)} {place(y)}"
    fill = 'fill="currentColor"'
    if form == "circle":
        return f'<circle cx="{place(x)}" cy="{place(y)}" r="{place(s)}" {fill}/>'
    if form == "ring":
        return (
            f'<circle cx="{place(x)}" cy="{place(y)}" r="{place(s)}" fill="none" '
            'stroke="currentColor" stroke-width="2"/>'
        )
    paths = {
        "square": f"m{place(-s)} {place(-s)}h{place(2 * s)}v{place(2 * s)}h{place(-2 * s)}z",
        "diamond": f"m0 {place(-s - 1)}l{place(s + 1)} {place(s + 1)}l{place(-s - 1)} "
        f"{place(s + 1)}l{place(-s - 1)} {place(-s - 1)}z",
        "triangle": f"m0 {place(-s - 1)}l{place(s + 1)} {place(2 * s)}h{place(-2 * s - 2)}z",
        "cross": f"m{place(-s)} {place(-s)}l{place(2 * s)} {place(2 * s)}m0 {place(-2 * s)}"
        f"l{place(-2 * s)} {place(2 * s)}",
    }
    stroke = ' stroke="currentColor" stroke-width="2"' if form == "cross" else ""
    return f'<path d="M{at}{paths[form]}" {fill}{stroke}/>'


def text(
    x: float,
    y: float,
    words: str,
    *,
    anchor: str = "start",
    quiet: bool = False,
    weight: bool = False,
    more: str = "",
) -> str:
    """Words with their baseline at `y`."""
    marks = ' fill-opacity=".75"' if quiet else ""
    marks += ' font-weight="600"' if weight else ""
    placed = f'x="{place(x)}" y="{place(y)}"'
    ends = f' text-anchor="{anchor}"' if anchor != "start" else ""
    return f"<text {placed}{ends}{marks}{more}>{safe_html(words)}</text>"


def label(x: float, y: float, words: str, lines: Sequence[str], *, anchor: str = "end") -> str:
    """A name in any script, as these lines around `y`; the whole shows when pointed at."""
    full = f"<title>{safe_html(words)}</title>" if " ".join(lines) != words else ""
    ends = f' text-anchor="{anchor}"' if anchor != "start" else ""
    first = y - LABEL_LINE * (len(lines) - 1) / 2
    return "".join(
        f'<text x="{place(x)}" y="{place(first + LABEL_LINE * i)}"{ends} unicode-bidi="plaintext">'
        f"{safe_html(line)}{full}</text>"
        for i, line in enumerate(lines)
    )


def label_lines(labels: Sequence[str], lines: int = 1, most: int = WIDEST_LABEL) -> list[list[str]]:
    """Each label in at most so many lines of at most `most` letters; what is longer is cut.

    >>> label_lines(["Simple Question (Coreferenced)", "short"], lines=2)
    [['Simple Question', '(Coreferenced)'], ['short']]
    """
    # Lines break at spaces, so what fills them in full seldom fits; some letters less often do.
    roomy = cut_apart(labels, max(most, most * lines - 8))
    found = []
    for whole, longer, brief in zip(labels, roomy, cut_apart(labels, most), strict=True):
        tries = (wrapped(shown, most) for shown in (whole, longer))
        fitting = (
            parts
            for parts in tries
            if len(parts) <= lines and all(display_width(part) <= most for part in parts)
        )
        found.append(next(fitting, [brief]))
    return found


def label_space(labels: Iterable[str], most: int = WIDEST_LABEL) -> float:
    """Room for the longest of these labels."""
    return 20 + CHARACTER * max((min(display_width(x), most) for x in labels), default=0)


def line(
    start: Point, end: Point, *, width: float = 1, faint: bool = False, dashed: bool = False
) -> str:
    """A straight line in the colour around it."""
    look = f' stroke-width="{place(width)}"' if width != 1 else ""
    look += ' stroke-opacity=".15"' if faint else ""
    look += ' stroke-opacity=".65" stroke-dasharray="4 3"' if dashed else ""
    return f'<path d="M{at(start)}L{at(end)}" stroke="currentColor"{look}/>'


def polyline(points: Iterable[Point], more: str = "") -> str:
    """A line through points, in the colour around it; equal neighbours are drawn once."""
    steps: list[str] = []
    for point in map(at, points):
        if not steps or steps[-1] != point:
            steps.append(point)
    return f'<path d="M{"L".join(steps)}" fill="none" stroke="currentColor"{more}/>'


def at(point: Point) -> str:
    """A place as SVG writes it."""
    return f"{place(point[0])} {place(point[1])}"


def place(value: float) -> str:
    """A coordinate, to a tenth of a pixel.

    >>> place(12.0), place(-0.04), place(3.14159)
    ('12', '0', '3.1')
    """
    shown = f"{value:.1f}".removesuffix(".0")
    return "0" if shown == "-0" else shown


def minus(number: str) -> str:
    """A number with a proper minus sign."""
    return number.replace("-", "−")

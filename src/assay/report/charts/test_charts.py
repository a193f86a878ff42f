# SPDX-License-Identifier: Apache-2.0
"""Every chart against its golden file, at the edges of its data, and with hostile names."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from math import cos, inf, nan, sin
from pathlib import Path
from xml.etree import ElementTree

import pytest

from assay.report.charts import (
    COLOURS,
    Chart,
    ChartRow,
    Curve,
    Ranks,
    SliceRow,
    Staircase,
    Tradeoff,
    agreement_chart,
    classes_of,
    confusion_chart,
    curve_chart,
    dot_chart,
    interval_chart,
    judge_pairs_chart,
    pareto_front,
    rank_chart,
    slice_chart,
    staircase_chart,
    tradeoff_chart,
)
from assay.report.charts.canvas import DARK, LIGHT, WIDTH, Scale, nice_ticks, series, shape
from assay.report.html import figure

GOLDEN = Path(__file__).parent / "golden"
SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</svg></script><img src=x onerror=alert(1)>\x1b\u202e"


def _round(x: float, y: float, wide: float, high: float) -> tuple[tuple[float, float], ...]:
    return tuple((x + wide * cos(i / 3), y + high * sin(i / 3)) for i in range(19))


def charts(name: str = "improved") -> dict[str, Chart]:
    """One of each kind; `name` is the name of a system, a class and a slice."""
    called = "95 % interval"
    slices = [
        SliceRow("weather", 1204, (34.5, 36.9), ((33.0, 36.0), (35.2, 38.4))),
        SliceRow("travel and hotels by the sea", 310, (31.0, 33.5), ((28.0, 34.0), None)),
        SliceRow(name, 40, (nan, 41.0), (None, (33.0, 49.0))),
    ]
    return {
        "scores": dot_chart(
            [
                SliceRow("bleu (%)", None, (35.69, 83.82), ((28.4, 43.7), (75.4, 90.4))),
                SliceRow("ter (%) ↓", None, (42.04, 11.11), ((35.2, 48.7), (5.9, 17.8))),
            ],
            ["baseline", name],
            f"Scores of baseline and {name}, with 95 % intervals",
            interval=called,
            axis="score (%)",
            heading="score",
        ),
        "differences": interval_chart(
            [
                ChartRow("bleu (%)", 1.9, (0.9, 2.8), "good"),
                ChartRow("chrf (%)", 0.2, (-0.4, 0.8), "quiet"),
                ChartRow("exact (%)", -1.1, (-2.0, -0.2), "bad"),
                ChartRow(name, nan, (nan, nan), "quiet"),
            ],
            f"{name} minus baseline: better by bleu; worse by exact; not decided by chrf",
            interval=called,
            axis="difference (%)",
            reference=0.0,
            signed=True,
        ),
        "slices": slice_chart(
            slices,
            ["baseline", name],
            f"bleu by topic: {name} is best on weather",
            interval=called,
            axis="bleu (%)",
        ),
        "curve": curve_chart(
            [
                Curve("title", ((0.2, 1.0), (0.4, 1.0), (0.6, 0.75), (0.8, 0.8)), (0.8, 0.8), 0.71),
                Curve(name, ((0.1, 0.5), (0.5, 0.6)), None, nan),
            ],
            "Precision and recall as confidence falls",
        ),
        "ranks": rank_chart(
            [Ranks("baseline", (0.31, 0.38, 0.4)), Ranks(name, (0.35, 0.44, 0.47, 0.5, 0.5))],
            "How often the right answer is among the first k candidates",
        ),
        "tradeoff": tradeoff_chart(
            [
                Tradeoff("wait-3", 3.1, 20.4, _round(3.1, 20.4, 0.3, 1.1), "wait-k"),
                Tradeoff("wait-5", 4.9, 23.0, _round(4.9, 23.0, 0.35, 1.2), "wait-k"),
                Tradeoff(name, 4.6, 25.2, _round(4.6, 25.2, 0.5, 1.0)),
                Tradeoff("undefined", nan, 25.2),
            ],
            f"BLEU against lagging: {name} is both better and sooner than wait-5",
            latency="AL (words), lower is better",
            quality="BLEU (%), higher is better",
        ),
        "staircase": staircase_chart(
            [
                Staircase("wait-3", (3, 4, 5, 6, 6), 6, ("the", "train", "leaves", "at", "four")),
                Staircase(name, (1, 1, 4, 6), 6, ("a", "train", "leaves", "now")),
            ],
            "How much was read when each word of sentence 7 was written",
        ),
        "confusion": confusion_chart(
            {
                "KeyError": {"KeyError": 41, "ValueError": 7, "no class": 2},
                "ValueError": {"ValueError": 30, "KeyError": 12},
                name: {name: 3, "KeyError": 9},
            },
            "Which class was taken for which",
        ),
        "agreement": agreement_chart(
            [
                ("plain agreement", 0.83, (0.74, 0.9)),
                ("Cohen's kappa", 0.61, (0.44, 0.78)),
                ("Gwet's AC1", 0.71, (0.58, 0.84)),
                ("Krippendorff's alpha", nan, None),
            ],
            "How far the judges agree",
            interval=called,
        ),
        "judges": judge_pairs_chart(
            {("ada", "bo"): (0.9, 40), ("ada", name): (0.75, 40), ("bo", name): (nan, 0)},
            "Which judges agree with which",
        ),
    }


NAMES = list(charts())


@pytest.mark.parametrize("name", NAMES)
def test_golden_svg(name: str, golden: Callable[[Path, str], None]) -> None:
    golden(GOLDEN / f"{name}.svg", charts()[name].file())


@pytest.mark.parametrize("name", NAMES)
def test_a_chart_says_what_it_shows(name: str) -> None:
    chart = charts()[name]
    svg = ElementTree.fromstring(chart.svg())
    told = svg.get("aria-label") or ""
    assert svg.get("role") == "img"
    assert told.startswith(chart.title)
    assert chart.table.rows
    # Each number that is told can be found in the table behind the picture.
    shown = [cell.text for row in chart.table.rows for cell in row if cell.text]
    assert any(text in told for text in shown)
    assert "<table>" in figure(chart)


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_stay_text(name: str) -> None:
    chart = charts(EVIL)[name]
    for text in (chart.svg(), chart.file()):
        root = ElementTree.fromstring(text)
        tags = {element.tag.removeprefix(SVG) for element in root.iter()}
        assert tags <= {"svg", "style", "g", "text", "path", "circle", "rect", "title"}
        attributes = {key for element in root.iter() for key in element.attrib}
        assert "style" not in attributes  # a strict Content-Security-Policy would drop it
        assert not [key for key in attributes if key.startswith("on") or "href" in key]


@pytest.mark.parametrize("name", NAMES)
def test_marks_stay_inside(name: str) -> None:
    chart = charts()[name]
    for element in ElementTree.fromstring(chart.svg()).iter():
        for key, most in (("x", WIDTH), ("cx", WIDTH), ("y", chart.height), ("cy", chart.height)):
            if key in element.attrib:
                assert 0 <= float(element.attrib[key]) <= most, (element.tag, key)


EMPTY: list[tuple[str, Callable[[], Chart]]] = [
    ("scores", lambda: dot_chart([], ["a"], "t")),
    ("differences", lambda: interval_chart([], "t", reference=0.0)),
    ("slices", lambda: slice_chart([], [], "t")),
    ("undefined slices", lambda: slice_chart([SliceRow("a", 0, (nan,), (None,))], ["a"], "t")),
    ("curve", lambda: curve_chart([Curve("a", ())], "t")),
    ("ranks", lambda: rank_chart([Ranks("a", ()), Ranks("b", (nan,)), Ranks("c", (0.0,))], "t")),
    ("tradeoff", lambda: tradeoff_chart([], "t", latency="x", quality="y")),
    ("infinite", lambda: tradeoff_chart([Tradeoff("a", inf, 1)], "t", latency="x", quality="y")),
    ("one point", lambda: tradeoff_chart([Tradeoff("a", 0, 0)], "t", latency="x", quality="y")),
    ("staircase", lambda: staircase_chart([Staircase("a", (), 0.0)], "t")),
    ("confusion", lambda: confusion_chart({}, "t")),
    ("agreement", lambda: agreement_chart([], "t")),
    ("judges", lambda: judge_pairs_chart({}, "t")),
]


@pytest.mark.parametrize("make", [e[1] for e in EMPTY], ids=[e[0] for e in EMPTY])
def test_nothing_to_show_is_no_error(make: Callable[[], Chart]) -> None:
    for text in (make().svg(), make().file()):
        ElementTree.fromstring(text)
        assert "nan" not in text.replace("Nothing", "")
        assert "inf" not in text


def test_names_hide_neither_points_nor_one_another() -> None:
    points = [
        Tradeoff("left", 1604.0, 95.0),
        Tradeoff("above", 1783.0, 84.8),
        Tradeoff("a system of a long name", 1774.0, 83.9),
        Tradeoff("x", 1848.0, 83.6),
        Tradeoff("z1", 1872.0, 83.7),
        Tradeoff("right", 1950.0, 75.2),
    ]
    names = [p.label for p in points]
    drawn = ElementTree.fromstring(
        tradeoff_chart(points, "t", latency="AL (ms)", quality="BLEU").svg()
    )
    boxes = []
    for node in drawn.iter(f"{SVG}text"):
        if node.text in names:
            x, y = float(node.get("x", "")), float(node.get("y", ""))
            wide = 7 * len(node.text)
            start = x - wide if node.get("text-anchor") == "end" else x
            boxes.append((start, start + wide, y - 9, y))
    for (a, b, top, low), (c, d, other, under) in combinations(boxes, 2):
        assert b <= c or d <= a or low <= other or under <= top
    across = Scale.over([p.latency for p in points], 64, WIDTH - 20)
    up = Scale.over([p.quality for p in points], 302, 22)
    marks = [(across(p.latency), up(p.quality)) for p in points]
    assert not [(m, n) for m in marks for n in boxes if n[0] < m[0] < n[1] and n[2] < m[1] < n[3]]


def test_the_front_holds_what_nothing_beats() -> None:
    points = [
        Tradeoff("slow and good", 9.0, 30.0),
        Tradeoff("beaten", 9.0, 29.0),
        Tradeoff("quick", 2.0, 20.0),
        Tradeoff("as quick, better", 2.0, 21.0),
        Tradeoff("worse than quick", 3.0, 20.5),
        Tradeoff("unknown", nan, 99.0),
    ]
    assert [p.label for p in pareto_front(points)] == ["as quick, better", "slow and good"]


def test_many_classes_are_folded_and_none_is_lost() -> None:
    counts = {f"c{i}": {f"c{i}": 50 - i, f"c{i + 1}": 1} for i in range(40)}
    chart = confusion_chart(counts, "t")
    drawn = "".join(e.text or "" for e in ElementTree.fromstring(chart.svg()).iter(f"{SVG}text"))
    assert "(others)" in drawn
    assert len(chart.table.rows) == 80
    inside = [
        int(e.text.replace(",", ""))
        for e in ElementTree.fromstring(chart.svg()).iter(f"{SVG}text")
        if e.text and e.text.replace(",", "").isdecimal()
    ]
    assert sum(inside) == sum(sum(row.values()) for row in counts.values())


def test_of_many_slices_the_largest_are_drawn_and_the_table_has_all() -> None:
    rows = [SliceRow(f"s{i}", i, (float(i % 7),), (None,)) for i in range(50)]
    chart = slice_chart(rows, ["a"], "t")
    drawn = [e.text for e in ElementTree.fromstring(chart.svg()).iter(f"{SVG}text")]
    assert "s49" in drawn
    assert "s10" not in drawn
    assert len(chart.table.rows) == 50
    assert "30 smallest slices" in chart.alternative


def test_a_curve_of_many_points_stays_small() -> None:
    points = tuple((i / 100_000, 1 - i / 200_000) for i in range(100_000))
    assert len(curve_chart([Curve("a", points)], "t").svg()) < 20_000


def _luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("name", COLOURS)
def test_marks_can_be_told_from_the_ground(name: str) -> None:
    for colour, ground in zip(COLOURS[name], (LIGHT, DARK), strict=True):
        low, high = sorted((_luminance(colour), _luminance(ground)))
        assert (high + 0.05) / (low + 0.05) >= 3.0


def test_ticks_are_round_and_hold_the_values() -> None:
    for low, high in ((0.0, 1.0), (-3.2, 17.9), (0.0012, 0.0013), (1e6, 2e6)):
        ticks = nice_ticks(low, high)
        assert ticks[0] <= low
        assert ticks[-1] >= high
        assert 3 <= len(ticks) <= 9


def test_no_two_series_look_alike() -> None:
    looks = {(series(i), shape(i, 0, 0)) for i in range(36)}
    assert len(looks) == 36


def test_names_that_begin_alike_are_told_apart() -> None:
    names = [f"a-model-that-was-trained-for-long-and-then-some-more-step-{n}" for n in (1000, 2000)]
    row = SliceRow("bleu", None, (1.0, 2.0), (None, None))
    drawn = "".join(dot_chart([row], names, "t").marks)
    assert "step-1000</text>" in drawn.replace(f"<title>{names[0]}</title>", "")
    assert "step-2000</text>" in drawn.replace(f"<title>{names[1]}</title>", "")


def test_long_names_of_slices_take_several_lines() -> None:
    rows = [SliceRow("Quantitative Reasoning (Count) (All)", 5, (1.0, 2.0), (None, None))]
    drawn = "".join(slice_chart(rows, ["a", "b"], "t").marks)
    assert ">Quantitative Reasoning</text>" in drawn
    assert ">(Count) (All)</text>" in drawn


def test_classes_of_several_systems_share_an_order() -> None:
    one, other = {"a": {"a": 3}, "b": {"b": 3}}, {"a": {"b": 3}, "b": {"b": 3}, "c": {"c": 9}}
    assert classes_of([one]) == ["a", "b"]
    assert classes_of([one, other]) == ["c", "b", "a"]
    chart = confusion_chart(one, "t", classes_of([one, other]))
    assert [row[0].text for row in chart.table.rows] == ["b", "a"]

# SPDX-License-Identifier: Apache-2.0
"""What each form does to any text at all, and to numbers at the edges."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import UsageError
from assay.report import latex, markdown
from assay.report.charts import WIDTH, ChartRow, interval_chart
from assay.report.comparison import render_comparison
from assay.report.csv import DIFF_COLUMNS, GATE_COLUMNS
from assay.report.diff import render_diff
from assay.report.gate import render_gate
from assay.report.result import render_result
from assay.report.tables import Cell, Table, left, render_blocks, right
from assay.report.terminal import cut, display_width, spelled, visible, wrapped

if TYPE_CHECKING:
    from assay.report.conftest import Samples

anything = st.text(st.characters(codec="utf-8"), max_size=20)


@given(anything, anything)
def test_a_markdown_table_keeps_its_columns(name: str, value: str) -> None:
    table = Table("t", (*left("a"), *right("b")), ((Cell(name), Cell(value)),))
    row = markdown.markdown([table]).splitlines()[-1]
    # A pipe that is no border has a backslash before it; each backslash of a text is doubled.
    assert len(re.findall(r"(?<!\\)(?:\\\\)*\|", row)) == 3


@given(anything)
def test_latex_has_balanced_braces_and_no_bare_special(text: str) -> None:
    shown = latex.escaped(text)
    bare = re.sub(r"\\[a-zA-Z]+|\\[{}$&#%_]|\$\\[a-z]+\$|\$-\$", "", shown)
    assert not set(bare) & set("$&#%_^~\\")
    assert bare.count("{") == bare.count("}")
    assert "\n" not in shown


@given(anything)
def test_what_is_shown_can_be_printed_on_one_line(text: str) -> None:
    assert all(
        c.isprintable() or c in "\u2068\u2069\u200c\u200d\u200e\u200f" or c.isspace()
        for c in visible(text)
    )
    assert "\n" not in visible(text)
    assert not set(spelled(text)) & set("\r\x1b\x07\x08\x7f\x9b")


@given(anything, st.integers(1, 30))
def test_a_cut_text_fits(text: str, width: int) -> None:
    assert display_width(cut(visible(text), width)) <= max(width, 1)


@given(
    st.lists(st.text("ab日", min_size=1, max_size=6), min_size=1, max_size=9), st.integers(12, 40)
)
def test_wrapping_loses_nothing(words: list[str], width: int) -> None:
    lines = wrapped(" ".join(words), width)
    assert " ".join(lines).split() == words
    assert all(display_width(line) <= width for line in lines)


def test_columns_of_a_cut_table_lose_nothing() -> None:
    titles = [f"score_{i}" for i in range(9)]
    row = (Cell("system"), *(Cell(f"{i}.25", aside=f"[{i}.00, {i}.50]") for i in range(9)))
    text = render_blocks([Table("", (*left("name"), *right(*titles)), (row,))], "table", width=60)
    assert all(f"{i}.25  [{i}.00, {i}.50]" in text for i in range(9))
    assert all(title in text for title in titles)


@pytest.mark.parametrize("render", [render_result, render_comparison, render_gate, render_diff])
def test_an_unknown_format_is_named(render: object, samples: Samples) -> None:
    document = {
        render_result: samples.result,
        render_comparison: samples.comparison,
        render_gate: samples.failed,
        render_diff: samples.graded,
    }[render]  # type: ignore[index]  # functions of different documents
    with pytest.raises(UsageError, match="did you mean 'markdown'"):
        render(document, "markdwn")  # type: ignore[operator]


def test_csv_of_a_diff_can_be_read_back(samples: Samples) -> None:
    text = render_diff(samples.right_wrong, "csv")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    assert list(rows[0]) == [*DIFF_COLUMNS, "type"]
    by_id = {row["id"]: row for row in rows}
    assert by_id["k2"]["baseline_prediction"] == "a\nb c\nd\ne"
    assert by_id["m0"]["gain"] == ""
    assert by_id["f="]["baseline_prediction"] == "'=1+1"  # not a formula in a spreadsheet
    assert by_id["c9"]["baseline_prediction"] == samples.right_wrong.examples[3].baseline_prediction


def test_csv_of_a_gate_can_be_read_back(samples: Samples) -> None:
    rows = list(csv.DictReader(io.StringIO(render_gate(samples.failed, "csv"), newline="")))
    assert list(rows[0]) == list(GATE_COLUMNS)
    assert [row["status"] for row in rows] == [c.status for c in samples.failed.checks]
    assert float(rows[0]["difference"]) == -1.5
    assert rows[-1]["difference"] == ""


def test_a_gate_with_many_failures_tells_the_first(samples: Samples) -> None:
    check = samples.failed.checks[0]
    many = tuple(replace(check, slice=("type", str(i))) for i in range(25))
    text = render_gate(replace(samples.failed, checks=many), "table")
    assert text.count("failed: bleu") == 10
    assert "15 more are in the table." in text


def test_digits_are_those_asked_for(samples: Samples) -> None:
    assert "34.5171" in render_result(samples.result, "table", 4)
    assert "12.500 → 80.250" in render_diff(samples.graded, "table", 3)
    assert "33.0 " in render_gate(samples.failed, "table", 1)


CHARTS = [
    ("no rows", []),
    ("one value", [ChartRow("a", 3.0)]),
    ("undefined", [ChartRow("a", nan, (nan, nan)), ChartRow("b", 1.0, (0.5, 2.0))]),
    ("equal values", [ChartRow("a", 0.0, (0.0, 0.0)), ChartRow("b", 0.0)]),
    ("hostile label", [ChartRow("</svg><img src=x>\x1b" * 3, -5.0, (-7.0, 1e6), "bad")]),
]


@pytest.mark.parametrize("rows", [c[1] for c in CHARTS], ids=[c[0] for c in CHARTS])
def test_a_chart_is_svg_and_stays_inside(rows: list[ChartRow]) -> None:
    svg = ElementTree.fromstring(interval_chart(rows, "<title> & more", reference=0.0).svg())
    tags = {element.tag.rpartition("}")[2] for element in svg.iter()}
    assert tags <= {"svg", "g", "text", "path", "circle", "title"}
    for circle in svg.iter("{http://www.w3.org/2000/svg}circle"):
        assert 0 <= float(circle.attrib["cx"]) <= WIDTH
    assert svg.get("aria-label")

# SPDX-License-Identifier: Apache-2.0
"""Every form of every document, as bytes. Read the change of a golden file before keeping it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from assay.report.comparison import render_comparison
from assay.report.diff import diff_html, render_diff
from assay.report.gate import gate_html, render_gate
from assay.report.html import comparison_html, result_html
from assay.report.json import to_json
from assay.report.junit import gate_junit
from assay.report.leaderboard import render_leaderboard
from assay.report.result import render_result
from assay.report.terminal import display_width

if TYPE_CHECKING:
    from assay.report.conftest import Samples

GOLDEN = Path(__file__).parent / "golden"
RENDER: dict[str, Callable[..., str]] = {
    "result": render_result,
    "empty": render_result,
    "comparison": render_comparison,
    "pair": render_comparison,
    "right_wrong": render_diff,
    "graded": render_diff,
    "failed": render_gate,
    "passed": render_gate,
    "limits": render_gate,
    "ranked": render_leaderboard,
}
HTML: dict[str, Callable[..., str]] = {
    "result": result_html,
    "empty": result_html,
    "comparison": comparison_html,
    "right_wrong": diff_html,
    "failed": gate_html,
}
ENDINGS = {"table": "txt", "markdown": "md", "latex": "tex", "csv": "csv"}
CASES = [
    (name, form)
    for name, render in RENDER.items()
    for form in ENDINGS
    if form != "latex" or render is not render_diff
]

Golden = Callable[[Path, str], None]


@pytest.mark.parametrize(("name", "form"), CASES)
def test_a_form_of_a_document(name: str, form: str, samples: Samples, golden: Golden) -> None:
    text = RENDER[name](getattr(samples, name), form)
    assert text.rstrip("\n") + "\n" == text
    golden(GOLDEN / f"{name}.{ENDINGS[form]}", text)


@pytest.mark.parametrize("name", RENDER)
@pytest.mark.parametrize("width", [80, 160])
def test_a_document_on_a_terminal(name: str, width: int, samples: Samples, golden: Golden) -> None:
    text = RENDER[name](getattr(samples, name), "table", colour=False, width=width)
    golden(GOLDEN / f"{name}.{width}.txt", text)


@pytest.mark.parametrize("name", RENDER)
@pytest.mark.parametrize("width", [80, 100, 160])
def test_no_line_is_wider_than_the_terminal(name: str, width: int, samples: Samples) -> None:
    text = RENDER[name](getattr(samples, name), "table", colour=False, width=width)
    signatures = ("text|", "compare:", "diff:", "gate:", "bleu(", "ter(", "exact(")
    wide = [
        line
        for line in text.splitlines()
        if display_width(line) > width and not line.startswith(signatures)
    ]
    assert wide == []


@pytest.mark.parametrize("name", ["comparison", "right_wrong", "failed"])
def test_colours_on_a_terminal(name: str, samples: Samples, golden: Golden) -> None:
    text = RENDER[name](getattr(samples, name), "table", colour=True, width=100)
    golden(GOLDEN / f"{name}.colour.txt", text)


@pytest.mark.parametrize("name", HTML)
def test_html(name: str, samples: Samples, golden: Golden) -> None:
    golden(GOLDEN / f"{name}.html", HTML[name](getattr(samples, name)))


@pytest.mark.parametrize("name", RENDER)
def test_json(name: str, samples: Samples, golden: Golden) -> None:
    document: Any = getattr(samples, "board" if name == "ranked" else name)
    golden(GOLDEN / f"{name}.json", to_json(document))


@pytest.mark.parametrize("name", ["failed", "passed", "limits"])
def test_junit(name: str, samples: Samples, golden: Golden) -> None:
    golden(GOLDEN / f"{name}.xml", gate_junit(getattr(samples, name)))


def test_every_golden_file_is_made_by_a_test() -> None:
    made = {f"{name}.{ENDINGS[form]}" for name, form in CASES}
    made |= {f"{name}.{width}.txt" for name in RENDER for width in (80, 160)}
    made |= {f"{name}.colour.txt" for name in ("comparison", "right_wrong", "failed")}
    made |= {f"{name}.html" for name in HTML} | {f"{name}.json" for name in RENDER}
    made |= {f"{name}.xml" for name in ("failed", "passed", "limits")}
    assert {path.name for path in GOLDEN.iterdir()} == made

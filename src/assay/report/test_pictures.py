# SPDX-License-Identifier: Apache-2.0
"""Which pictures a document gets: from its scores, its slices, and what its task has put in."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING, Any

import pytest

from assay.core.document import SliceEntry
from assay.report.html import comparison_html, result_html
from assay.report.page import report_page
from assay.report.pictures import comparison_pictures, result_pictures
from assay.report.sections import ReportDocument, Section

if TYPE_CHECKING:
    from assay.core.comparison import ComparisonDocument
    from assay.report.conftest import Samples

CURVE = {
    "points": [[0.9, 1.0, 0.1], [0.5, 0.8, 0.4], [0.1, None, None]],
    "best": {"threshold": 0.5, "precision": 0.8, "recall": 0.4},
    "average_precision": 0.34,
}
STAIRS = {
    "id": "s7",
    "delays": [3, 4, 5],
    "source_length": 5,
    "units": ["a", "b", "c"],
    "unit": "words",
}
AGREEMENT = {
    "measures": [
        {"name": "plain agreement", "value": 0.9, "interval": [0.8, 0.95]},
        {"name": "Cohen's kappa", "value": None, "interval": None},
    ],
    "pairs": [{"judges": ["ada", "bo"], "value": 0.9, "n": 40}],
}
EXTRAS: list[tuple[str, dict[str, Any], list[str]]] = [
    # name        extra                                          titles of the pictures
    ("curves",     {"curves": {"title": CURVE}},                  ["Precision and recall as confidence falls"]),
    ("top-k",      {"top_k": [0.3, 0.5, None]},                   ["How often the right answer is among the first k candidates"]),
    ("confusion",  {"confusion": {"a": {"a": 3, "b": 1}}},        ["Which class was taken for which"]),
    ("staircases", {"staircases": [STAIRS]},                      ["How much was read when each word of stream s7 was written"]),
    ("agreement",  {"agreement": AGREEMENT},                      ["How far the judges agree", "Which judges agree with which"]),
    ("nothing",    {"curves": {}, "top_k": [], "agreement": {}},  []),
    ("others",     {"dataset": "x", "pr": {"a": [1, 2]}},         []),
]  # fmt: skip


@pytest.mark.parametrize(("extra", "titles"), [e[1:] for e in EXTRAS], ids=[e[0] for e in EXTRAS])
def test_what_a_task_puts_in_is_drawn(
    extra: dict[str, Any], titles: list[str], samples: Samples
) -> None:
    plain = [chart.title for chart in result_pictures(samples.result)]
    found = [c.title for c in result_pictures(replace(samples.result, extra=extra))]
    assert found == plain + titles
    html = result_html(replace(samples.result, extra=extra))
    assert all(title in html for title in titles)


def _with(pair: ComparisonDocument, *extras: dict[str, Any]) -> ComparisonDocument:
    systems = tuple(replace(s, extra=e) for s, e in zip(pair.systems, extras, strict=True))
    return replace(pair, systems=systems)


def test_two_systems_share_a_picture(samples: Samples) -> None:
    both = _with(
        samples.pair,
        {"top_k": [0.1, 0.2], "staircases": [STAIRS], "curves": {"t": CURVE}},
        {"top_k": [0.3], "staircases": [STAIRS], "curves": {"t": CURVE}},
    )
    by_title = {chart.title: chart for chart in comparison_pictures(both)}
    ranks = by_title["How often the right answer is among the first k candidates"]
    assert "small_50%: 0.100 among the first 1, 0.200 among the first 2" in ranks.alternative
    assert "large & slow: 0.300 among the first 1" in ranks.alternative
    stairs = by_title["How much was read when each word of stream s7 was written"]
    assert stairs.alternative.count("3 units") == 2
    assert "large & slow: t" in by_title["Precision and recall as confidence falls"].alternative


def test_quality_against_latency(samples: Samples) -> None:
    pair = {"latency": "ter", "quality": "bleu"}
    both = _with(samples.pair, {"tradeoff": pair}, {"tradeoff": pair})
    region = [(39.0, 36.0), (40.0, 36.0), (39.5, 37.0)]
    charts = comparison_pictures(both, regions={"large & slow": region})
    (chart,) = [c for c in charts if "against" in c.title]
    assert chart.title == "bleu against ter: up and left is better"
    assert chart.alternative.endswith("On the Pareto front: large & slow.")
    page = report_page(
        ReportDocument(
            "t", (Section("simul", both.systems, both, regions={"large & slow": region}),)
        )
    )
    assert "[39.00, 40.00]" in page  # how far the region reaches, in the table behind
    absent = _with(samples.pair, {"tradeoff": {"latency": "AL", "quality": "bleu"}}, {})
    assert not [c for c in comparison_pictures(absent) if "against" in c.title]


def test_differences_lead_and_are_told_in_the_title(samples: Samples) -> None:
    first = comparison_pictures(samples.pair)[0]
    assert first.title == "large & slow minus small_50%: better by bleu and ter"
    assert "bleu (%): 1.88, 95 % interval 0.98 to 2.78" in first.alternative
    html = comparison_html(samples.pair)
    assert html.index("large &amp; slow minus small_50%") < html.index("<table>")


def test_of_several_systems_the_best_is_held_against_each(samples: Samples) -> None:
    charts = {c.title: c for c in comparison_pictures(samples.comparison)}
    bleu = charts["系统三, best by bleu, minus each other system"]
    assert [row[0].text for row in bleu.table.rows] == ["− large & slow", "− small_50%"]
    ter = charts["large & slow, best by ter (lower is better), minus each other system"]
    # Stored as the third minus the second, which is undefined, and the second minus the first.
    assert [row[1].text for row in ter.table.rows] == ["", "-2.50"]


def test_who_leads_on_how_many_slices(samples: Samples) -> None:
    def with_slices(values: dict[str, float]) -> dict[str, dict[str, SliceEntry]]:
        return {"topic": {name: SliceEntry(10, {"bleu": v}) for name, v in values.items()}}

    old, new = samples.pair.systems
    systems = (
        replace(old, slices=with_slices({"a": 10.0, "b": 20.0, "c": nan, "d": 1.0})),
        replace(new, slices=with_slices({"a": 11.0, "b": 19.0, "c": 5.0, "d": 2.0})),
    )
    titles = [c.title for c in comparison_pictures(replace(samples.pair, systems=systems))]
    assert "bleu by topic: large & slow leads on 2 of 4" in titles


def test_axes_have_the_units_that_the_data_tell(samples: Samples) -> None:
    told = {"tradeoff": {"latency": "exact", "quality": "bleu"}, "units": {"exact": "ms"}}
    systems = tuple(replace(s, extra=told) for s in samples.pair.systems)
    charts = comparison_pictures(replace(samples.pair, systems=systems))
    drawn = "".join(mark for chart in charts for mark in chart.marks)
    assert "exact (ms), lower is better" in drawn
    assert "difference (ms)" in drawn
    assert "score (ms)" in drawn


def test_what_is_undefined_throughout_is_not_drawn(samples: Samples) -> None:
    lacking = tuple(
        replace(d, difference=nan, interval=(nan,) * 2) for d in samples.pair.differences
    )
    charts = comparison_pictures(replace(samples.pair, differences=lacking))
    assert not [c for c in charts if "minus" in c.title]

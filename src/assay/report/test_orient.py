# SPDX-License-Identifier: Apache-2.0
"""Words, tables and pictures tell a difference the same way round, whichever run came first."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

import pytest

from assay.report.comparison import comparison_blocks, render_comparison
from assay.report.csv import comparison_csv
from assay.report.headline import headline
from assay.report.html import comparison_html
from assay.report.json import to_json
from assay.report.orient import foremost, oriented, turned
from assay.report.pictures import comparison_pictures
from assay.report.sections import Section
from assay.report.tables import Table, Words

if TYPE_CHECKING:
    from assay.core.comparison import ComparisonDocument
    from assay.report.conftest import Samples


def mirrored(document: ComparisonDocument) -> ComparisonDocument:
    """The same comparison as if the runs had been given in the opposite order."""
    return replace(
        document,
        systems=document.systems[::-1],
        differences=tuple(map(turned, document.differences)),
        slices=tuple(map(turned, document.slices)),
    )


@pytest.fixture
def both(samples: Samples) -> tuple[ComparisonDocument, ComparisonDocument]:
    return samples.pair, mirrored(samples.pair)


def test_a_difference_turned_twice_is_itself(samples: Samples) -> None:
    for d in samples.pair.differences:
        assert turned(turned(d)) == d
    exact = samples.pair.of("exact")[0]
    assert exact.mcnemar is not None
    seen = turned(exact).mcnemar
    assert seen is not None
    assert (seen.only_system, seen.only_baseline) == (43, 61)
    assert seen.p_exact == exact.mcnemar.p_exact


def test_the_order_of_runs_changes_no_word_and_no_sign(
    both: tuple[ComparisonDocument, ComparisonDocument],
) -> None:
    first, second = map(comparison_blocks, both)
    assert [b for b in first if isinstance(b, Words)] == [b for b in second if isinstance(b, Words)]
    # The table of systems keeps the order of the runs, and their letters with it.
    tables = [[b for b in blocks if isinstance(b, Table)][1:] for blocks in (first, second)]
    assert tables[0] == tables[1]
    assert len(tables[0]) == 3
    assert tables[1][0].title == "differences: large & slow minus small_50%"
    said = [headline(Section("text", c.systems, c)) for c in both]
    assert said[0] == said[1]
    drawn = [comparison_pictures(c)[:2] for c in both]
    assert [c.marks for c in drawn[0]] == [c.marks for c in drawn[1]]
    assert drawn[1][0].title == ("large & slow minus small_50%: better by bleu and ter")


@pytest.mark.parametrize("format", ["table", "markdown", "latex"])
def test_a_winner_given_first_is_not_shown_as_a_loss(format: str, samples: Samples) -> None:
    led = replace(samples.pair, slices=())
    shown = render_comparison(mirrored(led), format)
    assert "worse" not in shown
    assert "worse" not in comparison_html(mirrored(led))


def test_data_stays_as_computed(both: tuple[ComparisonDocument, ComparisonDocument]) -> None:
    _, second = both
    assert '"verdict":"worse"' in to_json(second).replace(" ", "")
    assert ",worse," in comparison_csv(second)


def test_a_loss_on_a_slice_or_by_another_score_stays_one(samples: Samples) -> None:
    seen = oriented(mirrored(samples.pair))
    assert [d.verdict for d in seen.slices] == ["better", "worse"]
    bleu, ter = samples.pair.of("bleu")[0], samples.pair.of("ter")[0]
    lost = replace(ter, difference=2.5, interval=(1.0, 4.0), verdict="worse")
    mixed = replace(samples.pair, differences=(bleu, lost), slices=())
    for document in (mixed, mirrored(mixed)):
        assert [d.verdict for d in oriented(document).differences] == ["better", "worse"]


def test_a_tie_is_told_from_the_next_score(samples: Samples) -> None:
    bleu, ter, _ = samples.pair.differences
    level = replace(bleu, difference=0.0, interval=(-1.0, 1.0), verdict="undecided")
    tied = replace(samples.pair, differences=(level, ter), slices=())
    for document in (tied, mirrored(tied)):
        assert foremost(document).system == "large & slow"  # whose ter is lower


def test_where_quality_is_open_the_quicker_system_leads(samples: Samples) -> None:
    told = {"tradeoff": {"latency": "ter", "quality": "bleu"}}
    systems = tuple(replace(s, extra=told) for s in samples.pair.systems)
    bleu, ter, _ = samples.pair.differences
    behind = replace(bleu, difference=-0.5, verdict="undecided")
    for quality, leads in (
        (behind, "large & slow"),
        (replace(behind, verdict="worse"), "small_50%"),
    ):
        found = replace(samples.pair, systems=systems, differences=(quality, ter), slices=())
        for document in (found, mirrored(found)):
            assert foremost(document).system == leads


def test_lower_is_better_where_it_is(samples: Samples) -> None:
    ter = samples.pair.of("ter")
    systems = tuple(replace(s, scores={"ter": s.scores["ter"]}) for s in samples.pair.systems)
    pair = replace(samples.pair, systems=systems, differences=ter, slices=())
    for document in (pair, mirrored(pair)):
        d = foremost(document)
        assert (d.system, d.baseline, d.verdict) == ("large & slow", "small_50%", "better")
        assert d.difference == pytest.approx(-2.5)


@pytest.mark.parametrize("difference", [0.0, nan])
def test_what_is_not_ahead_stays_as_it_was(difference: float, samples: Samples) -> None:
    changed = tuple(
        replace(d, difference=difference, verdict="undecided") for d in samples.pair.differences
    )
    document = replace(samples.pair, differences=changed)
    assert oriented(document).slices == document.slices
    assert [d.system for d in oriented(document).differences] == [d.system for d in changed]


def test_of_several_systems_the_best_come_first(samples: Samples) -> None:
    pairs = [(d.system, d.baseline) for d in oriented(samples.comparison).of("bleu")]
    assert pairs == [
        ("系统三", "large & slow"),
        ("系统三", "small_50%"),
        ("large & slow", "small_50%"),
    ]
    assert foremost(samples.comparison).baseline == "large & slow"


def test_many_pairs_are_not_told_one_by_one(samples: Samples) -> None:
    fourth = replace(samples.comparison.systems[0], system="fourth")
    added = tuple(
        replace(d, system=other, baseline="fourth", difference=1.0, verdict="better")
        for d in samples.comparison.of("bleu")[:1]
        for other in ("small_50%", "large & slow", "系统三")
    )
    four = replace(
        samples.comparison,
        systems=(*samples.comparison.systems, fourth),
        differences=(*samples.comparison.differences, *added),
    )
    words = [b.text for b in comparison_blocks(four) if isinstance(b, Words)]
    assert len(words) == 4  # the two best by the first score and by the others, the rest, signature
    assert words[2] == (
        "系统三 against the other systems: better than small_50% and fourth; "
        "the table of differences has all 6 pairs"
    )


def test_the_quicker_system_is_not_called_the_best(samples: Samples) -> None:
    """Words may be told from it, but a picture of quality is of the one with the best quality."""
    told = {"tradeoff": {"latency": "ter", "quality": "bleu"}}
    systems = tuple(replace(s, extra=told) for s in samples.comparison.systems)
    quicker = tuple(
        replace(d, difference=2.5, verdict="worse")
        if (d.key, d.system, d.baseline) == ("ter", "系统三", "large & slow")
        else d
        for d in samples.comparison.differences
    )
    document = replace(samples.comparison, systems=systems, differences=quicker)
    assert foremost(document).system == "large & slow"
    titles = [chart.title for chart in comparison_pictures(document)]
    assert "系统三, best by bleu, minus each other system" in titles

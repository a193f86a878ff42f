# SPDX-License-Identifier: Apache-2.0
"""What the head of a report says, for every way a comparison can come out."""

from __future__ import annotations

from dataclasses import replace
from math import nan
from typing import TYPE_CHECKING

import pytest

from assay.report.headline import headline
from assay.report.sections import Section, best_first, comparison_led_by, led_by

if TYPE_CHECKING:
    from assay.core.comparison import ComparisonDocument, Verdict
    from assay.report.conftest import Samples


def _section(comparison: ComparisonDocument) -> Section:
    return Section("text", comparison.systems, comparison)


def _with(pair: ComparisonDocument, verdict: Verdict, p: float, n: int = 1204) -> Section:
    """The pair with another verdict on the first score; a worse system has the lower score."""
    sign = -1 if verdict == "worse" else 1
    changed = tuple(
        replace(d, difference=sign * d.difference, verdict=verdict, p=p, p_adjusted=p, n=n)
        if d.key == "bleu"
        else d
        for d in pair.differences
    )
    return _section(replace(pair, differences=changed))


CASES: list[tuple[str, Verdict, float, int, str, str, str]] = [
    # name           verdict        p       n     standing      short                                    believed
    ("clear",        "better",      0.0001, 1204, "decided",    "large & slow is better than small_50%", "Significant at the 5 % level on 1,204"),
    ("a hair",       "better",      0.049,  1204, "decided",    "large & slow is better than small_50%", "Only just significant"),
    ("the other",    "worse",       0.0001, 1204, "decided",    "small_50% is better than large & slow", "Significant at the 5 % level"),
    ("open",         "undecided",   0.4,    1204, "open",       "Not decided between large & slow and small_50%", "not the same as being equal"),
    ("few examples", "undecided",   0.4,    12,   "open",       "Not decided between large & slow and small_50%", "only 12 examples"),
    ("equivalent",   "equivalent",  0.4,    1204, "equivalent", "large & slow and small_50% are equivalent", "within the margin"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("verdict", "p", "n", "standing", "short", "believed"),
    [case[1:] for case in CASES],
    ids=[case[0] for case in CASES],
)
def test_two_systems(
    verdict: Verdict,
    p: float,
    n: int,
    standing: str,
    short: str,
    believed: str,
    samples: Samples,
) -> None:
    said = headline(_with(samples.pair, verdict, p, n))
    assert said.standing == standing
    assert said.short == short
    assert believed in said.belief


def test_of_several_systems_the_best_is_held_against_the_next(samples: Samples) -> None:
    said = headline(_section(samples.comparison))
    assert said.short == "Not decided between 系统三 and large & slow"
    assert said.text == (
        "系统三 has the highest bleu, 36.60. Not decided: 系统三 minus large & slow is +0.20 bleu "
        "(95 % interval -0.40 to +0.80, p = 0.310, approximate randomisation, Holm over 3 pairs). "
        "系统三 is better than small_50%."
    )
    assert said.others == (
        "By the other scores 系统三 against large & slow is not decided by ter and exact."
    )


def test_where_lower_is_better_the_lowest_leads(samples: Samples) -> None:
    led = comparison_led_by(samples.comparison, "ter")
    said = headline(_section(led))
    assert said.short == "large & slow is better than small_50%"
    assert said.text.startswith("large & slow has the lowest ter, 39.50.")
    # The third system has no ter at all.
    assert said.text.endswith("Not decided against 系统三.")


def test_where_quality_does_not_decide_latency_may(samples: Samples) -> None:
    pair = {"latency": "ter", "quality": "bleu"}
    systems = tuple(replace(s, extra={"tradeoff": pair}) for s in samples.pair.systems)
    section = _with(replace(samples.pair, systems=systems), "undecided", 0.4)
    said = headline(section)
    assert said.short == "large & slow is quicker than small_50%, quality not decided"
    assert said.standing == "open"
    alike = _with(replace(samples.pair, systems=systems), "equivalent", 0.4)
    said = headline(alike)
    assert said.short == "large & slow is quicker than small_50%, quality equivalent"
    assert said.standing == "decided"


def test_an_undefined_score_says_so(samples: Samples) -> None:
    systems = tuple(replace(s, scores={**s.scores, "bleu": nan}) for s in samples.pair.systems)
    undefined = tuple(
        replace(d, difference=nan, interval=(nan, nan), p=nan, p_adjusted=nan, verdict="undecided")
        for d in samples.pair.differences
    )
    said = headline(_section(replace(samples.pair, systems=systems, differences=undefined)))
    assert "nothing to compare" in said.belief
    assert said.text == "Not decided between large & slow and small_50%: bleu is undefined."


def test_the_same_score_is_not_called_chance(samples: Samples) -> None:
    same = tuple(
        replace(d, difference=0.0, interval=(0.0, 0.0), verdict="undecided")
        for d in samples.pair.differences
    )
    said = headline(_section(replace(samples.pair, differences=same)))
    assert "They score the same on these 1,204 examples" in said.belief


def test_a_single_system_is_said_to_be_alone(samples: Samples) -> None:
    said = headline(Section("text", (samples.result,)))
    assert said.standing == "single"
    assert said.text == (
        "系统三 | best: 34.52 % bleu (95 % interval 33.02 to 36.02) on 1,204 examples."
    )
    assert "One system alone" in said.belief


def test_the_leading_score_comes_first(samples: Samples) -> None:
    assert list(led_by(samples.result, "exact").scores) == ["exact", "bleu", "ter"]
    assert led_by(samples.result, "unheard of") is samples.result
    assert comparison_led_by(samples.pair, "ter").differences[0].key == "ter"
    ter = samples.result.entry("ter")
    ordered = [s.system for s in best_first(samples.comparison.systems, ter)]
    assert ordered == ["large & slow", "small_50%", "系统三"]

# SPDX-License-Identifier: Apache-2.0
"""Do intervals cover, and do tests err, as often as they say? Simulated, with fixed seeds.

Every claim of `CLAIMS` is a test, and a line of the table in docs/explanation/statistics.md, which
`python -m benchmarks.simulations` prints. Test sets are drawn with replacement from a large
made-up set of examples, whose own score is the truth to be covered.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.aggregate.test_coverage import (
    covered,
    covered_by_cluster,
    covered_by_macro,
    covered_by_median,
    covered_by_poisson,
    covered_by_poisson_of_clusters,
    difference_covered,
    plain_covered,
    rare_difference_covered,
    very_skewed_covered,
)
from assay.aggregate.test_errors import (
    called_equivalent,
    false_discoveries,
    passed_at_the_margin,
    power_of_clusters,
    power_of_scores,
    power_of_shares,
    rare_loss_passed,
    rejected,
    rejected_by_cluster,
    rejected_in_family,
)
from assay.aggregate.test_populations import KINDS, Rates


class Claim(NamedTuple):
    """What is simulated, the range in which its rate has to lie, and how it is found."""

    text: str
    low: float
    high: float
    rates: Callable[[], Rates]
    key: str


def _coverage(n: int, rounds: int) -> list[Claim]:
    methods = ("Wilson", "Wilson", *["bootstrap"] * 4)
    return [
        Claim(f"{kind}, {method}, n = {n:,}", 0.93, 0.97, lambda: covered(n, rounds), kind)
        for kind, method in zip(KINDS, methods, strict=True)
    ]


def _differences(n: int, rounds: int) -> list[Claim]:
    methods = ("Tango", "Tango", *["bootstrap"] * 4)
    return [
        Claim(
            f"{kind}, {method}, n = {n:,}", 0.93, 0.97, lambda: difference_covered(n, rounds), kind
        )
        for kind, method in zip(KINDS, methods, strict=True)
    ]


def _rejections(n: int, rounds: int) -> list[Claim]:
    kinds = (*KINDS[2:], "mean of a steady and an unsteady system")
    randomised = [
        Claim(f"{kind}, randomisation, n = {n:,}", 0.04, 0.06, lambda: rejected(n, rounds), kind)
        for kind in kinds
    ]
    return [
        *randomised,
        Claim(f"share, McNemar mid-p, n = {n:,}", 0.03, 0.06, lambda: rejected(n, rounds), "mid-p"),
        Claim(f"share, McNemar exact, n = {n:,}", 0.0, 0.05, lambda: rejected(n, rounds), "exact"),
    ]


CLAIMS: dict[str, list[Claim]] = {
    "95 % intervals hold the truth": [
        *_coverage(100, 3_000),
        *_coverage(1_000, 1_500),
    ],
    "95 % intervals hold the truth, hard cases": [
        Claim("mean, bootstrap, n = 15", 0.93, 0.97, lambda: plain_covered(15, 4_000), "widened"),
        Claim("mean, plain percentiles, n = 15", 0.0, 0.93, lambda: plain_covered(15, 4_000), "plain"),
        Claim("mean of very skewed values, bootstrap, n = 100", 0.85, 0.93, lambda: very_skewed_covered(100, 4_000), "mean"),
    ],
    "95 % intervals of one pass (Poisson) hold the truth": [
        *(Claim(f"{kind}, n = 100", 0.93, 0.97, lambda: covered_by_poisson(100, 1_500), kind) for kind in KINDS[2:]),
        *(Claim(f"{kind}, n = 1,000", 0.93, 0.97, lambda: covered_by_poisson(1_000, 800), kind) for kind in KINDS[2:]),
        Claim("mean, 50 clusters of 1 to 9", 0.93, 0.97, lambda: covered_by_poisson_of_clusters(50, 2_000), "mean"),
    ],
    "95 % intervals of other kinds hold the truth": [
        Claim("mean of F1 over 5 slices, n = 200", 0.93, 0.97, lambda: covered_by_macro(200, 1_200), "f1"),
        Claim("mean of F1 over 5 slices, n = 1,000", 0.93, 0.97, lambda: covered_by_macro(1_000, 700), "f1"),
        Claim("median, n = 100", 0.93, 0.97, lambda: covered_by_median(100, 1_200), "median"),
    ],
    "95 % intervals of a difference hold the truth": [
        *_differences(100, 1_500),
        *_differences(1_000, 800),
        Claim("share, Tango, 3 and 2 % discordant, n = 100", 0.93, 0.97, lambda: rare_difference_covered(100, 0.03, 0.02, 4_000), "Tango"),
        Claim("share, resampled, 3 and 2 % discordant, n = 100", 0.8, 0.93, lambda: rare_difference_covered(100, 0.03, 0.02, 4_000), "resampled"),
        Claim("share, Tango, 2 and 0 % discordant, n = 100", 0.93, 1.0, lambda: rare_difference_covered(100, 0.02, 0.0, 4_000), "Tango"),
        Claim("share, resampled, 2 and 0 % discordant, n = 100", 0.8, 0.93, lambda: rare_difference_covered(100, 0.02, 0.0, 4_000), "resampled"),
    ],
    "95 % intervals hold the truth, ten examples per cluster": [
        Claim("--cluster, 30 clusters", 0.93, 0.97, lambda: covered_by_cluster(30, 4_000), "by cluster"),
        Claim("no --cluster, 30 clusters", 0.0, 0.85, lambda: covered_by_cluster(30, 4_000), "by example"),
        Claim("--cluster, 100 clusters", 0.93, 0.97, lambda: covered_by_cluster(100, 4_000), "by cluster"),
        Claim("no --cluster, 100 clusters", 0.0, 0.85, lambda: covered_by_cluster(100, 4_000), "by example"),
    ],
    "equal systems are told apart at 0.05": [
        *_rejections(100, 4_000),
        *_rejections(1_000, 4_000),
    ],
    "equal systems are told apart at 0.05, clusters of 1 to 9 examples": [
        Claim("--cluster, 40 clusters", 0.04, 0.06, lambda: rejected_by_cluster(40, 5_000), "by cluster"),
        Claim("no --cluster, 40 clusters", 0.2, 0.4, lambda: rejected_by_cluster(40, 5_000), "by example"),
    ],
    "slices reported as different are not, while 2 of 20 are": [
        Claim("Benjamini-Hochberg", 0.03, 0.06, lambda: false_discoveries(20, 1_000), "Benjamini-Hochberg"),
        Claim("no correction", 0.2, 0.4, lambda: false_discoveries(20, 1_000), "raw"),
    ],
    "at least one of 6 pairs of 4 equal systems is told apart at 0.05": [
        Claim("Holm", 0.02, 0.06, lambda: rejected_in_family(4, 2_000), "Holm"),
        Claim("no correction", 0.1, 0.3, lambda: rejected_in_family(4, 2_000), "raw"),
    ],
    "a loss as large as the margin passes as noninferior": [
        Claim(f"{kind}, n = 300", 0.01, 0.04, lambda: passed_at_the_margin(300, 2_000), kind)
        for kind in ("mean", "F1", "BLEU")
    ] + [
        Claim("share, Tango, 2 % won, 5 % lost, n = 100", 0.01, 0.04, lambda: rare_loss_passed(100, 0.02, 0.05, 10_000), "Tango"),
        Claim("share, resampled, 2 % won, 5 % lost, n = 100", 0.04, 0.1, lambda: rare_loss_passed(100, 0.02, 0.05, 10_000), "resampled"),
        Claim("share, Tango, 5 % lost, n = 20", 0.0, 0.04, lambda: rare_loss_passed(20, 0.0, 0.05, 10_000), "Tango"),
        Claim("share, resampled, 5 % lost, n = 20", 0.3, 0.4, lambda: rare_loss_passed(20, 0.0, 0.05, 10_000), "resampled"),
    ],
    "systems that differ by the margin are called equivalent": [
        Claim(f"{kind}, --ci {level}", low, high, partial(called_equivalent, level, 1_500), kind)
        for level, low, high in ((0.95, 0.015, 0.035), (0.9, 0.04, 0.06))
        for kind in ("share", "mean")
    ],
    "differences planned for with power 0.8 are found": [
        Claim("share, 0.04 of discordance 0.2", 0.78, 0.82, lambda: power_of_shares(0.2, 0.04, 10_000), "power"),
        Claim("share, 0.2 of discordance 0.3", 0.78, 0.84, lambda: power_of_shares(0.3, 0.2, 10_000), "power"),
        Claim("F1, randomisation", 0.74, 0.86, lambda: power_of_scores("F1", 1_000), "power"),
        Claim("BLEU, randomisation", 0.74, 0.86, lambda: power_of_scores("BLEU", 1_000), "power"),
        Claim("mean, clusters of 5, randomisation", 0.74, 0.86, lambda: power_of_clusters(2_000), "power"),
    ],
}  # fmt: skip

PAGE = Path(__file__).parents[3] / "docs" / "explanation" / "statistics.md"


# One test per title and not per claim: claims of a title share their simulations.
@pytest.mark.slow
@pytest.mark.parametrize("title", CLAIMS)
def test_rates_are_what_they_are_said_to_be(title: str) -> None:
    rates = {claim: claim.rates()[claim.key] for claim in CLAIMS[title]}
    assert not {c.text: rate for c, rate in rates.items() if not c.low <= rate <= c.high}
    # The page may have been made with another release of numpy, whose draws differ.
    shown = {claim: _shown(title, claim) for claim in rates}
    assert not {c.text: r for c, r in rates.items() if abs(shown[c] - 100 * r) > 1}


def _shown(title: str, claim: Claim) -> float:
    """The rate that the documentation gives, in percent."""
    start = f"| {title} | {claim.text} |"
    (line,) = (x for x in PAGE.read_text("utf-8").splitlines() if x.startswith(start))
    return float(line.split("|")[3].strip().removesuffix("%"))

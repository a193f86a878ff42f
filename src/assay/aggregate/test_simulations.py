# SPDX-License-Identifier: Apache-2.0
"""Do intervals cover, and do tests err, as often as they say? Simulated, with fixed seeds.

Every claim of `CLAIMS` is a test, and a line of the table in docs/explanation/statistics.md, which
`python -m benchmarks.simulations` prints. Test sets are drawn with replacement from a large
made-up set of examples, whose own score is the truth to be covered.
"""

import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import pytest

from assay.aggregate.correct import holm
from assay.aggregate.interval import percentile_interval, score_intervals
from assay.aggregate.paired import mcnemar, mcnemar_p, randomisation_test
from assay.aggregate.plan import Plan, Scores, Shares, pilot_deviation
from assay.aggregate.resample import bootstrap_scores
from assay.aggregate.test_metrics import Accuracy, Mean, MicroF1, accuracy_rows, sentences
from assay.aggregate.totals import scores_of, split_columns
from assay.core.batch import Batch
from assay.core.metric import Metric, Rows
from assay.metrics.bleu import Bleu

POPULATION = 4_000
TRIALS = 999
Rates = dict[str, float]


class Systems(NamedTuple):
    """Two systems on the same examples, and the metrics whose columns the rows hold."""

    metrics: Sequence[Metric]
    first: Rows
    second: Rows


@cache
def population() -> Systems:
    """Hard and easy examples, shared by two systems of which the second is a little worse."""
    rng = np.random.default_rng(20)
    n = POPULATION
    ease = rng.beta(3, 2, n)
    gold = 1 + rng.poisson(2, n)
    reference, *texts = sentences(n, 21)
    sides = []
    for worse, text in zip((0.0, 0.02), texts, strict=True):
        chance = np.clip(ease - worse, 0, 1)
        hits = rng.binomial(gold, chance)
        parts = [
            accuracy_rows((rng.random(n) < chance).astype(int).tolist()),
            accuracy_rows((rng.random(n) < 0.95 - worse).astype(int).tolist()),
            np.column_stack([rng.beta(6 * ease + 0.5, 6 * (1 - ease) + 0.5), np.ones(n)]),
            np.column_stack([rng.exponential(1 + ease, n), np.ones(n)]),
            np.column_stack([hits, hits + rng.poisson(1, n), gold]),
            Bleu().measure(Batch(text, reference)),
        ]
        sides.append(np.concatenate(parts, axis=1))
    return Systems((Accuracy(), Accuracy(), Mean(), Mean(), MicroF1(), Bleu()), *sides)


KINDS = ("share", "share near 1", "mean", "skewed mean", "F1", "BLEU")
SCORES = ("accuracy", "accuracy", "mean", "mean", "f1", "bleu")


@cache
def covered(n: int, rounds: int) -> Rates:
    """How often intervals of `n` examples hold the truth."""
    metrics, rows, _ = population()
    parts = split_columns(metrics, rows)
    truth = [
        scores_of(metric, part)[name]
        for metric, part, name in zip(metrics, parts, SCORES, strict=True)
    ]
    rng = np.random.default_rng([22, n])
    hits = np.zeros(len(KINDS))
    for seed in range(rounds):
        found = score_intervals(metrics, rows[rng.integers(0, POPULATION, n)], seed=seed)
        bounds = [one[name].bounds for one, name in zip(found, SCORES, strict=True)]
        hits += [low <= true <= high for (low, high), true in zip(bounds, truth, strict=True)]
    return dict(zip(KINDS, hits / rounds, strict=True))


@cache
def plain_covered(n: int, rounds: int) -> Rates:
    """The same for a mean without the widening for few examples, beside the one with it."""
    metrics, rows, _ = population()
    values = split_columns(metrics, rows)[2]
    truth = scores_of(Mean(), values)["mean"]
    rng = np.random.default_rng([23, n])
    hits = np.zeros(2)
    for seed in range(rounds):
        drawn = values[rng.integers(0, POPULATION, n)]
        ((found,),) = bootstrap_scores([Mean()], [drawn], seed=seed)
        for i, size in enumerate((n, 10**9)):
            interval = percentile_interval(found["mean"], n=size)
            hits[i] += interval.low <= truth <= interval.high
    return dict(zip(("widened", "plain"), hits / rounds, strict=True))


@cache
def very_skewed_covered(n: int, rounds: int) -> Rates:
    """A few values among many small ones make most of the mean: more than an interval can know."""
    deviation = 1.5
    truth = math.exp(deviation**2 / 2)
    rng = np.random.default_rng([30, n])
    hits = 0
    for seed in range(rounds):
        rows = np.column_stack([rng.lognormal(0, deviation, n), np.ones(n)])
        (found,) = score_intervals([Mean()], rows, seed=seed)
        hits += found["mean"].low <= truth <= found["mean"].high
    return {"mean": hits / rounds}


@cache
def covered_by_cluster(n_clusters: int, rounds: int) -> Rates:
    """Ten examples per cluster that succeed together: latent correlation 0.3, 70 % right."""
    size, correlation, truth = 10, 0.3, 0.7
    threshold = NormalDist().inv_cdf(truth)
    clusters = np.repeat(np.arange(n_clusters), size)
    rng = np.random.default_rng([24, n_clusters])
    hits = np.zeros(2)
    for seed in range(rounds):
        shared = math.sqrt(correlation) * rng.normal(size=(n_clusters, 1))
        own = math.sqrt(1 - correlation) * rng.normal(size=(n_clusters, size))
        rows = accuracy_rows((shared + own < threshold).astype(int).ravel().tolist())
        for i, given in enumerate((clusters, None)):
            (found,) = score_intervals([Accuracy()], rows, clusters=given, seed=seed)
            hits[i] += found["accuracy"].low <= truth <= found["accuracy"].high
    return dict(zip(("by cluster", "by example"), hits / rounds, strict=True))


@cache
def rejected(n: int, rounds: int) -> Rates:
    """How often two systems that are equally good are told apart at 0.05."""
    metrics, first, second = population()
    names = (*KINDS[2:], "mean of a steady and an unsteady system", "mid-p", "exact")
    counts = dict.fromkeys(names, 0)
    rng = np.random.default_rng([25, n])
    for seed in range(rounds):
        chosen = rng.integers(0, POPULATION, n)
        # Which of the two answers is whose is left to a coin, so neither system is better.
        swap = rng.random((n, 1)) < 0.5
        a = np.where(swap, second[chosen], first[chosen])
        b = np.where(swap, first[chosen], second[chosen])
        tested = randomisation_test(metrics[2:], a[:, 4:], b[:, 4:], trials=TRIALS, seed=seed)
        for kind, found, name in zip(KINDS[2:], tested, SCORES[2:], strict=True):
            counts[kind] += found[name].p <= 0.05
        # Equal means, but one never varies and the other is skewed: no exchange of labels here.
        unsteady = np.column_stack([rng.beta(1, 4, n), np.ones(n)])
        steady = np.column_stack([np.full(n, 0.2), np.ones(n)])
        (unequal,) = randomisation_test([Mean()], unsteady, steady, trials=TRIALS, seed=seed)
        counts[names[4]] += unequal["mean"].p <= 0.05
        pairs = mcnemar(int((a[:, 0] > b[:, 0]).sum()), int((a[:, 0] < b[:, 0]).sum()))
        counts["mid-p"] += pairs.p_mid <= 0.05
        counts["exact"] += pairs.p_exact <= 0.05
    return {name: count / rounds for name, count in counts.items()}


@cache
def rejected_in_family(n_systems: int, rounds: int) -> Rates:
    """How often at least one pair of equal systems is told apart."""
    n = 200
    pairs = [(i, j) for j in range(n_systems) for i in range(j)]
    rng = np.random.default_rng([26, n_systems])
    counts = np.zeros(2)
    for seed in range(rounds):
        ease = rng.beta(3, 2, (n, 1))
        values = rng.beta(6 * ease + 0.5, 6 * (1 - ease) + 0.5, (n, n_systems))
        rows = [np.column_stack([values[:, s], np.ones(n)]) for s in range(n_systems)]
        p = [
            randomisation_test([Mean()], rows[i], rows[j], trials=TRIALS, seed=seed)[0]["mean"].p
            for i, j in pairs
        ]
        counts += [holm(p).min() <= 0.05, min(p) <= 0.05]
    return dict(zip(("Holm", "raw"), counts / rounds, strict=True))


@cache
def passed_at_the_margin(n: int, rounds: int) -> Rates:
    """How often a loss exactly as large as the margin is excluded by the interval."""
    metrics, first, second = population()
    rng = np.random.default_rng([27, n])
    counts = np.zeros(3)
    kinds = (2, 4, 5)
    a, b = split_columns(metrics, first), split_columns(metrics, second)
    used = [metrics[k] for k in kinds]
    ours, theirs = (np.concatenate([side[k] for k in kinds], axis=1) for side in (b, a))
    margins = [
        scores_of(metrics[k], a[k])[SCORES[k]] - scores_of(metrics[k], b[k])[SCORES[k]]
        for k in kinds
    ]
    assert min(margins) > 0
    for seed in range(rounds):
        chosen = rng.integers(0, POPULATION, n)
        found = bootstrap_scores(used, [ours[chosen], theirs[chosen]], seed=seed)
        for i, k in enumerate(kinds):
            difference = found[0][i][SCORES[k]] - found[1][i][SCORES[k]]
            counts[i] += percentile_interval(difference, n=n).low > -margins[i]
    return dict(zip((KINDS[k] for k in kinds), counts / rounds, strict=True))


@cache
def power_of_shares(discordance: float, difference: float, rounds: int) -> Rates:
    """How often McNemar's test finds a difference for which examples were planned with 0.8."""
    n = Shares(discordance).needed(difference)
    rng = np.random.default_rng([28, n])
    shares = [(discordance + difference) / 2, (discordance - difference) / 2, 1 - discordance]
    tables = rng.multinomial(n, shares, rounds)
    ps = [mcnemar_p(mcnemar(int(won), int(lost)))[0] for won, lost, _ in tables]
    found = [p <= 0.05 and won > lost for p, (won, lost, _) in zip(ps, tables, strict=True)]
    return {"power": float(np.mean(found))}


@cache
def power_of_scores(kind: str, rounds: int) -> Rates:
    """The same for randomisation, planned from a pilot of 500 examples of the same kind."""
    metrics, first, second = population()
    k = KINDS.index(kind)
    metric, name = metrics[k], SCORES[k]
    a, b = split_columns(metrics, first)[k], split_columns(metrics, second)[k]
    true = abs(scores_of(metric, a)[name] - scores_of(metric, b)[name])
    plan: Plan = Scores(pilot_deviation(metric, a[:500], b[:500])[name])
    n = plan.needed(true)
    rng = np.random.default_rng([29, k])
    count = 0
    for seed in range(rounds):
        chosen = rng.integers(0, POPULATION, n)
        (found,) = randomisation_test([metric], a[chosen], b[chosen], trials=TRIALS, seed=seed)
        count += found[name].p <= 0.05
    return {"power": count / rounds}


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
        *_coverage(100, 4_000),
        *_coverage(1_000, 2_000),
    ],
    "95 % intervals hold the truth, hard cases": [
        Claim("mean, bootstrap, n = 15", 0.93, 0.97, lambda: plain_covered(15, 4_000), "widened"),
        Claim("mean, plain percentiles, n = 15", 0.0, 0.93, lambda: plain_covered(15, 4_000), "plain"),
        Claim("mean of very skewed values, bootstrap, n = 100", 0.85, 0.93, lambda: very_skewed_covered(100, 4_000), "mean"),
    ],
    "95 % intervals hold the truth, ten examples per cluster": [
        Claim("--cluster, 30 clusters", 0.93, 0.97, lambda: covered_by_cluster(30, 4_000), "by cluster"),
        Claim("no --cluster, 30 clusters", 0.0, 0.85, lambda: covered_by_cluster(30, 4_000), "by example"),
        Claim("--cluster, 100 clusters", 0.93, 0.97, lambda: covered_by_cluster(100, 4_000), "by cluster"),
        Claim("no --cluster, 100 clusters", 0.0, 0.85, lambda: covered_by_cluster(100, 4_000), "by example"),
    ],
    "equal systems are told apart at 0.05": [
        *_rejections(100, 5_000),
        *_rejections(1_000, 4_000),
    ],
    "at least one of 6 pairs of 4 equal systems is told apart at 0.05": [
        Claim("Holm", 0.02, 0.06, lambda: rejected_in_family(4, 2_000), "Holm"),
        Claim("no correction", 0.1, 0.3, lambda: rejected_in_family(4, 2_000), "raw"),
    ],
    "a loss as large as the margin passes as noninferior": [
        Claim(f"{kind}, n = 300", 0.01, 0.04, lambda: passed_at_the_margin(300, 2_000), kind)
        for kind in ("mean", "F1", "BLEU")
    ],
    "differences planned for with power 0.8 are found": [
        Claim("share, 0.04 of discordance 0.2", 0.78, 0.82, lambda: power_of_shares(0.2, 0.04, 10_000), "power"),
        Claim("share, 0.2 of discordance 0.3", 0.78, 0.84, lambda: power_of_shares(0.3, 0.2, 10_000), "power"),
        Claim("F1, randomisation", 0.74, 0.86, lambda: power_of_scores("F1", 1_000), "power"),
        Claim("BLEU, randomisation", 0.74, 0.86, lambda: power_of_scores("BLEU", 1_000), "power"),
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

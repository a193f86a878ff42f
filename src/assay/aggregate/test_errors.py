# SPDX-License-Identifier: Apache-2.0
"""How often tests and gates err; `test_simulations` says how often they may."""

import math
from functools import cache

import numpy as np

from assay.aggregate.correct import benjamini_hochberg, holm
from assay.aggregate.interval import percentile_interval
from assay.aggregate.paired import compare_systems, randomisation_test
from assay.aggregate.plan import Plan, Scores, Shares, pilot_deviation
from assay.aggregate.resample import bootstrap_scores
from assay.aggregate.shares import mcnemar, mcnemar_p, tango_interval
from assay.aggregate.test_metrics import Accuracy, Mean, accuracy_rows
from assay.aggregate.test_populations import (
    KINDS,
    POPULATION,
    SCORES,
    TRIALS,
    Rates,
    population,
    stream,
)
from assay.aggregate.totals import Codes, scores_of, split_columns
from assay.aggregate.verdict import verdict
from assay.core.metric import Rows


@cache
def rejected(n: int, rounds: int) -> Rates:
    """How often two systems that are equally good are told apart at 0.05."""
    metrics, first, second = population()
    names = (*KINDS[2:], "mean of a steady and an unsteady system", "mid-p", "exact")
    counts = dict.fromkeys(names, 0)
    rng = stream(25, n)
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
    rng = stream(26, n_systems)
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
    rng = stream(27, n)
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
    rng = stream(28, n)
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
    rng = stream(29, k)
    count = 0
    for seed in range(rounds):
        chosen = rng.integers(0, POPULATION, n)
        (found,) = randomisation_test([metric], a[chosen], b[chosen], trials=TRIALS, seed=seed)
        count += found[name].p <= 0.05
    return {"power": count / rounds}


@cache
def rejected_by_cluster(n_clusters: int, rounds: int) -> Rates:
    """How often equal systems are told apart whose luck is shared by clusters of one to nine."""
    rng = stream(37, n_clusters)
    counts = np.zeros(2)
    for seed in range(rounds):
        clusters = np.repeat(np.arange(n_clusters), rng.integers(1, 10, n_clusters))
        n = len(clusters)
        gap = rng.normal(size=n_clusters)[clusters] + rng.normal(size=n)
        rows = [np.column_stack([values, np.ones(n)]) for values in (gap, np.zeros(n))]
        for i, given in enumerate((clusters, None)):
            (found,) = randomisation_test([Mean()], *rows, trials=TRIALS, seed=seed, clusters=given)
            counts[i] += found["mean"].p <= 0.05
    return dict(zip(("by cluster", "by example"), counts / rounds, strict=True))


@cache
def false_discoveries(n_slices: int, rounds: int) -> Rates:
    """Of the slices reported as different, the share that are not; a tenth of all truly are."""
    n, real = 80, n_slices // 10
    rng = stream(38, n_slices)
    shares = np.zeros(2)
    for seed in range(rounds):
        p = []
        for i in range(n_slices):
            gap = rng.normal(0.4 if i < real else 0.0, 1.0, n)
            rows = [np.column_stack([values, np.ones(n)]) for values in (gap, np.zeros(n))]
            (found,) = randomisation_test([Mean()], *rows, trials=TRIALS, seed=seed)
            p.append(found["mean"].p)
        for j, values in enumerate((benjamini_hochberg(p), np.array(p))):
            reported = values <= 0.05
            shares[j] += reported[real:].sum() / max(1, reported.sum())
    return dict(zip(("Benjamini-Hochberg", "raw"), shares / rounds, strict=True))


@cache
def rare_loss_passed(n: int, won: float, lost: float, rounds: int) -> Rates:
    """How often a loss as large as the margin passes where two systems seldom differ."""
    rng = stream(39, n, round(1e4 * lost))
    counts = np.zeros(2)
    for _ in range(rounds):
        table = rng.multinomial(n, [won, lost, 1 - won - lost])
        resampled = rng.multinomial(n, table / n, 1_000)
        both = (
            tango_interval(int(table[0]), int(table[1]), n),
            percentile_interval((resampled[:, 0] - resampled[:, 1]) / n, n=n),
        )
        counts += [one.low > won - lost for one in both]
    return dict(zip(("Tango", "resampled"), counts / rounds, strict=True))


@cache
def called_equivalent(level: float, rounds: int) -> Rates:
    """How often systems that differ by exactly the margin are called equivalent within it."""
    n, margin = 500, 0.15
    rng = stream(40, round(100 * level))
    counts = np.zeros(2)
    for seed in range(rounds):
        right = rng.choice(3, n, p=[0.2, 0.05, 0.75])  # only the first, only the second, both
        gap = rng.normal(margin, 1, n)
        sides = (
            (accuracy_rows((right != 1).astype(int).tolist()), gap),
            (accuracy_rows((right != 0).astype(int).tolist()), np.zeros(n)),
        )
        systems = [np.column_stack([share, values, np.ones(n)]) for share, values in sides]
        ((share, mean),) = compare_systems(
            [Accuracy(), Mean()],
            systems,
            [(0, 1)],
            seed=seed,
            trials=1,
            level=level,
        )
        for i, one in enumerate((share["accuracy"], mean["mean"])):
            word = verdict(one.difference, one.interval.bounds, one.p, margin=margin)
            counts[i] += word == "equivalent"
    return dict(zip(("share", "mean"), counts / rounds, strict=True))


@cache
def power_of_clusters(rounds: int) -> Rates:
    """How often a planned difference is found by cluster, planned from a pilot of 60 clusters."""
    size, gap = 5, 0.3

    def drawn(rng: np.random.Generator, n_clusters: int) -> tuple[list[Rows], Codes]:
        clusters = np.repeat(np.arange(n_clusters), size)
        n = len(clusters)
        values = gap + rng.normal(size=n_clusters)[clusters] + rng.normal(size=n)
        return [np.column_stack([v, np.ones(n)]) for v in (values, np.zeros(n))], clusters

    rng = stream(41)
    needed = []
    for _ in range(200):
        rows, clusters = drawn(rng, 60)
        deviation = pilot_deviation(Mean(), rows[0], rows[1], clusters=clusters)["mean"]
        needed.append(Scores(deviation).needed(gap))
    n_clusters = math.ceil(float(np.mean(needed)) / size)
    count = 0
    for seed in range(rounds):
        rows, clusters = drawn(rng, n_clusters)
        (found,) = randomisation_test([Mean()], *rows, trials=TRIALS, seed=seed, clusters=clusters)
        count += found["mean"].p <= 0.05
    return {"power": count / rounds}

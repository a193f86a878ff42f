# SPDX-License-Identifier: Apache-2.0
"""How often intervals hold the truth; `test_simulations` says how often they must."""

import math
from functools import cache
from statistics import NormalDist

import numpy as np

from assay.aggregate.interval import percentile_interval, resampled_intervals, score_intervals
from assay.aggregate.paired import compare_systems
from assay.aggregate.resample import PoissonSums, bootstrap_macro, bootstrap_scores
from assay.aggregate.shares import tango_interval
from assay.aggregate.test_metrics import Accuracy, Mean, Median, MicroF1, accuracy_rows
from assay.aggregate.test_populations import KINDS, POPULATION, SCORES, Rates, population, stream
from assay.aggregate.totals import macro_scores, scores_of, slice_totals, split_columns
from assay.core.metric import Totals


@cache
def covered(n: int, rounds: int) -> Rates:
    """How often intervals of `n` examples hold the truth."""
    metrics, rows, _ = population()
    parts = split_columns(metrics, rows)
    truth = [
        scores_of(metric, part)[name]
        for metric, part, name in zip(metrics, parts, SCORES, strict=True)
    ]
    rng = stream(22, n)
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
    rng = stream(23, n)
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
    rng = stream(30, n)
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
    rng = stream(24, n_clusters)
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
def covered_by_poisson(n: int, rounds: int) -> Rates:
    """Intervals of a single pass, for what `covered` resamples."""
    metrics, rows, _ = population()
    parts = list(zip(metrics, split_columns(metrics, rows), SCORES, strict=True))[2:]
    truth = [scores_of(metric, part)[name] for metric, part, name in parts]
    rng = stream(31, n)
    hits = np.zeros(len(parts))
    for seed in range(rounds):
        sums = PoissonSums(rows.shape[1], resamples=1_000, seed=seed)
        sums.add(rows[rng.integers(0, POPULATION, n)], first=0)
        drawn = split_columns(metrics, sums.totals)[2:]
        for i, (metric, _, name) in enumerate(parts):
            values = metric.finalise(Totals(metric.columns, drawn[i]))
            found = resampled_intervals(values, n=n)[name]
            hits[i] += found.low <= truth[i] <= found.high
    return dict(zip(KINDS[2:], hits / rounds, strict=True))


@cache
def covered_by_poisson_of_clusters(n_clusters: int, rounds: int) -> Rates:
    """The same by clusters of one to nine examples, whose values rise and fall together."""
    rng = stream(32, n_clusters)
    hits = 0
    for seed in range(rounds):
        sizes = rng.integers(1, 10, n_clusters)
        names = np.repeat(np.arange(n_clusters), sizes)
        values = rng.normal(size=n_clusters)[names] + rng.normal(size=len(names))
        sums = PoissonSums(2, resamples=1_000, seed=seed)
        rows = np.column_stack([values, np.ones(len(names))])
        sums.add(rows, first=0, clusters=[f"c{name}" for name in names])
        drawn = Mean().finalise(Totals(Mean.columns, sums.totals))["mean"]
        found = percentile_interval(drawn, n=n_clusters)
        hits += found.low <= 0 <= found.high
    return {"mean": hits / rounds}


@cache
def covered_by_macro(n: int, rounds: int) -> Rates:
    """The mean of F1 over five slices, from a twentieth to a third of the examples each."""
    metrics, rows, _ = population()
    part = split_columns(metrics, rows)[4]
    rng = stream(33, n)
    codes = rng.choice(5, POPULATION, p=[0.35, 0.3, 0.2, 0.1, 0.05])
    truth = float(macro_scores(MicroF1(), slice_totals(part, codes))["f1"])
    hits = 0
    for seed in range(rounds):
        chosen = rng.integers(0, POPULATION, n)
        drawn = bootstrap_macro(MicroF1(), part[chosen], codes[chosen], 5, seed=seed)
        found = percentile_interval(drawn["f1"], n=n)
        hits += found.low <= truth <= found.high
    return {"f1": hits / rounds}


@cache
def covered_by_median(n: int, rounds: int) -> Rates:
    """A score that cannot be summed, of skewed values."""
    truth = math.log(2)
    rng = stream(34, n)
    hits = 0
    for seed in range(rounds):
        (found,) = score_intervals([Median()], rng.exponential(1, (n, 1)), seed=seed, resamples=400)
        hits += found["median"].low <= truth <= found["median"].high
    return {"median": hits / rounds}


@cache
def difference_covered(n: int, rounds: int) -> Rates:
    """Intervals of the difference of two systems, of which the second is a little worse."""
    metrics, first, second = population()
    sides = [split_columns(metrics, rows) for rows in (first, second)]
    truth = [
        scores_of(metric, a)[name] - scores_of(metric, b)[name]
        for metric, a, b, name in zip(metrics, *sides, SCORES, strict=True)
    ]
    rng = stream(35, n)
    hits = np.zeros(len(KINDS))
    for seed in range(rounds):
        chosen = rng.integers(0, POPULATION, n)
        (found,) = compare_systems(
            metrics, [first[chosen], second[chosen]], [(0, 1)], seed=seed, trials=1
        )
        for i, (one, name) in enumerate(zip(found, SCORES, strict=True)):
            hits[i] += one[name].interval.low <= truth[i] <= one[name].interval.high
    return dict(zip(KINDS, hits / rounds, strict=True))


@cache
def rare_difference_covered(n: int, won: float, lost: float, rounds: int) -> Rates:
    """Right-or-wrong answers of which two systems seldom differ, by Tango and by resampling."""
    rng = stream(36, n, round(1e4 * won))
    hits = np.zeros(2)
    for _ in range(rounds):
        table = rng.multinomial(n, [won, lost, 1 - won - lost])
        resampled = rng.multinomial(n, table / n, 1_000)
        both = (
            tango_interval(int(table[0]), int(table[1]), n),
            percentile_interval((resampled[:, 0] - resampled[:, 1]) / n, n=n),
        )
        hits += [one.low <= won - lost <= one.high for one in both]
    return dict(zip(("Tango", "resampled"), hits / rounds, strict=True))

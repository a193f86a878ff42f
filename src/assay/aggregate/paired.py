# SPDX-License-Identifier: Apache-2.0
"""Two systems on the same examples: is the difference more than chance?

Everything is paired: an example that is hard for one system is usually hard for the other, and
only what differs counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.aggregate.asked import LEVEL, RESAMPLES, SEED, TRIALS
from assay.aggregate.interval import Interval, bootstrap_name, percentile_interval
from assay.aggregate.product import EXACT, weighted_sums
from assay.aggregate.resample import CELLS, Scores, bootstrap_scores
from assay.aggregate.shares import counted, difference_interval, mcnemar, mcnemar_p
from assay.aggregate.totals import (
    Codes,
    cluster_members,
    cluster_rows,
    scores_of,
    split_columns,
    total,
)
from assay.core.comparison import McNemar
from assay.core.metric import Metric, Rows, Totals

Test = Literal["auto", "randomisation"]


# Two differences that are equal on paper can differ in the last digits. Ties must count, or a
# p-value comes out too small: differences within this share of the scores' size are equal.
_TIE = 1e-10


@dataclass(frozen=True, slots=True)
class Paired:
    """One score of two systems, `difference` being the first minus the second.

    `interval` is that of the difference, by Tango's method where McNemar's test is made and by the
    paired bootstrap elsewhere; `p` is the two-sided p-value of `test`. `undefined` counts trials
    of the test in which the score was undefined.
    """

    system_score: float
    baseline_score: float
    difference: float
    interval: Interval
    p: float
    test: str
    undefined: int = 0
    mcnemar: McNemar | None = None


@dataclass(frozen=True, slots=True)
class Randomised:
    """What swapping found for one score: its p-value, and how many trials left it undefined."""

    p: float
    undefined: int


def compare_systems(
    metrics: Sequence[Metric],
    systems: Sequence[Rows],
    pairs: Sequence[tuple[int, int]],
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    trials: int = TRIALS,
    seed: int = SEED,
    clusters: Codes | None = None,
    test: Test = "auto",
) -> list[list[dict[str, Paired]]]:
    """Each pair (system, baseline) of `systems` by each score: `found[pair][metric][score]`.

    All systems share the same resamples. `auto` takes McNemar's test (exact below 25 discordant
    pairs, mid-p from there on) and Tango's interval for plain shares of examples without clusters,
    and approximate randomisation and the paired bootstrap for everything else.
    """
    split = [split_columns(metrics, rows) for rows in systems]
    own = [[scores_of(m, part) for m, part in zip(metrics, s, strict=True)] for s in split]
    tests = [
        _tests(metrics, split[a], split[b], trials, seed, clusters, test, level) for a, b in pairs
    ]
    # Scores whose every pair has an interval of its own need no resamples.
    rest = [
        m
        for m in range(len(metrics))
        if any(one.interval is None for of in tests for one in of[m].values())
    ]
    resampled: list[dict[int, Scores]] = [{} for _ in systems]
    if rest:
        wide = list(systems)
        if len(rest) < len(metrics):
            wide = [np.concatenate([parts[m] for m in rest], axis=1) for parts in split]
        kinds = [metrics[m] for m in rest]
        drawn = bootstrap_scores(kinds, wide, resamples=resamples, seed=seed, clusters=clusters)
        resampled = [dict(zip(rest, scores, strict=True)) for scores in drawn]
    n = _units(systems, clusters)
    method = f"paired {bootstrap_name(clusters is not None)}"
    found: list[list[dict[str, Paired]]] = []
    for (a, b), by_test in zip(pairs, tests, strict=True):
        by_metric: list[dict[str, Paired]] = []
        for m in range(len(metrics)):
            one: dict[str, Paired] = {}
            for name, tested in by_test[m].items():
                bounds = tested.interval
                if bounds is None:
                    differences = resampled[a][m][name] - resampled[b][m][name]
                    bounds = percentile_interval(differences, n=n, level=level, method=method)
                ours, theirs = own[a][m][name], own[b][m][name]
                one[name] = Paired(
                    ours,
                    theirs,
                    ours - theirs,
                    bounds,
                    tested.p,
                    tested.test,
                    tested.undefined,
                    tested.mcnemar,
                )
            by_metric.append(one)
        found.append(by_metric)
    return found


class _Tested(NamedTuple):
    """What a test found, and an interval that needs no resamples where there is one."""

    interval: Interval | None
    p: float
    test: str
    undefined: int
    mcnemar: McNemar | None


def _tests(
    metrics: Sequence[Metric],
    system: Sequence[Rows],
    baseline: Sequence[Rows],
    trials: int,
    seed: int,
    clusters: Codes | None,
    test: Test,
    level: float,
) -> list[dict[str, _Tested]]:
    """The test that fits each score; trials are made only for metrics that need them."""
    found: list[dict[str, _Tested]] = [{} for _ in metrics]
    # McNemar's test takes examples for independent, so clusters rule it out.
    shares = [
        {s.name: counted(metric, s, a, b) if clusters is None else None for s in metric.scores}
        for metric, a, b in zip(metrics, system, baseline, strict=True)
    ]
    exact = test == "auto"
    rest = [m for m in range(len(metrics)) if not exact or None in shares[m].values()]
    random: dict[int, dict[str, Randomised]] = {}
    if rest:
        a, b = (np.concatenate([rows[m] for m in rest], axis=1) for rows in (system, baseline))
        kinds = [metrics[m] for m in rest]
        results = randomisation_test(kinds, a, b, trials=trials, seed=seed, clusters=clusters)
        random = dict(zip(rest, results, strict=True))
    for m, metric in enumerate(metrics):
        for score in metric.scores:
            share = shares[m][score.name]
            pairs = mcnemar(share.won, share.lost) if share is not None else None
            if exact and share is not None and pairs is not None:
                p, named = mcnemar_p(pairs)
                bounds = difference_interval(share, score, level=level)
                found[m][score.name] = _Tested(bounds, p, named, 0, pairs)
            else:
                random_p, undefined = random[m][score.name].p, random[m][score.name].undefined
                named = randomisation_name(clusters is not None)
                found[m][score.name] = _Tested(None, random_p, named, undefined, pairs)
    return found


def randomisation_test(
    metrics: Sequence[Metric],
    system: Rows,
    baseline: Rows,
    *,
    trials: int = TRIALS,
    seed: int = SEED,
    clusters: Codes | None = None,
) -> list[dict[str, Randomised]]:
    """Paired approximate randomisation, two-sided: `found[metric][score]`.

    If the systems were equally good, it would not matter whose answer is whose. Each trial swaps
    the rows of the two for a random half of the examples (or clusters); p is the share of trials,
    the real labelling among them, whose difference is at least as large as the real one. Ties
    count. Undefined where the real difference is.

    Noreen (1989), "Computer-intensive methods for testing hypotheses".
    """
    left, right = split_columns(metrics, system), split_columns(metrics, baseline)
    members = None if clusters is None else cluster_members(clusters)
    found: list[dict[str, Randomised]] = [{} for _ in metrics]
    summed = [m for m, metric in enumerate(metrics) if metric.merge == "sum"]
    if summed:
        a = np.concatenate([left[m] for m in summed], axis=1)
        b = np.concatenate([right[m] for m in summed], axis=1)
        swapped_a, swapped_b = _swapped_totals(a, b, trials, seed, clusters)
        kinds = [metrics[m] for m in summed]
        pairs = zip(split_columns(kinds, swapped_a), split_columns(kinds, swapped_b), strict=True)
        for m, (ours, theirs) in zip(summed, pairs, strict=True):
            found[m] = _compare_trials(
                metrics[m], left[m], right[m], _finalise(metrics[m], ours, theirs)
            )
    for m, metric in enumerate(metrics):
        if metric.merge == "concat":
            differences = _swapped_concat(metric, left[m], right[m], trials, seed, members)
            found[m] = _compare_trials(metric, left[m], right[m], differences)
    return found


def randomisation_name(clustered: bool) -> str:
    """What the randomisation test is called in documents."""
    return "approximate randomisation" + (" by cluster" if clustered else "")


def _units(systems: Sequence[Rows], clusters: Codes | None) -> int:
    if clusters is not None:
        return len(np.unique(clusters))
    return len(systems[0]) if systems else 0


def _swaps(n: int, trials: int, seed: int, at_once: int = 1) -> Iterator[NDArray[np.uint8]]:
    """For each trial, which of `n` units to swap: fair coins, 0 or 1, in blocks of some trials.

    A trial takes whole 32-bit words from the stream, so that blocks of any size give the same.
    """
    rng = np.random.default_rng(seed)
    size = 4 * -(-n // 32)
    for start in range(0, trials, at_once):
        count = min(at_once, trials - start)
        drawn = np.frombuffer(rng.bytes(count * size), dtype=np.uint8).reshape(count, size)
        yield np.unpackbits(drawn, axis=1, count=n)


def _swapped_totals(
    a: Rows, b: Rows, trials: int, seed: int, clusters: Codes | None
) -> tuple[Rows, Rows]:
    """Totals of both systems after swapping, each of shape (trials, columns)."""
    total_a, total_b = total(a), total(b)
    difference = a - b
    if clusters is not None:
        difference = cluster_rows(difference, clusters)
    # Swapping two equal rows changes nothing, so only units that differ are worth a coin.
    difference = difference[difference.any(axis=1)]
    n = len(difference)
    moved = np.zeros((trials, a.shape[1]))
    if n:
        whole = bool((np.floor(difference) == difference).all())
        small = bool((np.abs(difference).sum(axis=0) < EXACT).all())
        dtype = np.float32 if whole and small else np.float64  # exact either way
        values = difference.astype(dtype, copy=False)
        size = min(trials, max(1, CELLS // n))
        masks = np.empty((size, n), dtype=dtype)
        start = 0
        for coins in _swaps(n, trials, seed, size):
            count = len(coins)
            masks[:count] = coins
            moved[start : start + count] = weighted_sums(masks[:count], values)
            start += count
    return total_a - moved, total_b + moved


def _finalise(metric: Metric, ours: Rows, theirs: Rows) -> Scores:
    first = metric.finalise(Totals(metric.columns, ours))
    second = metric.finalise(Totals(metric.columns, theirs))
    return {s.name: np.asarray(first[s.name] - second[s.name]) for s in metric.scores}


def _swapped_concat(
    metric: Metric, a: Rows, b: Rows, trials: int, seed: int, members: list[Codes] | None
) -> Scores:
    n = len(a) if members is None else len(members)
    out: Scores = {s.name: np.full(trials, np.nan) for s in metric.scores}
    for t, (coins,) in enumerate(_swaps(n, trials, seed)):
        if members is None:
            swap = coins.astype(bool)
        else:
            swap = np.zeros(len(a), dtype=bool)
            for cluster in np.flatnonzero(coins):
                swap[members[cluster]] = True
        ours, theirs = a.copy(), b.copy()
        ours[swap], theirs[swap] = b[swap], a[swap]
        for name, value in _finalise(metric, ours, theirs).items():
            out[name][t] = float(value)
    return out


def _compare_trials(
    metric: Metric, system: Rows, baseline: Rows, differences: Scores
) -> dict[str, Randomised]:
    ours, theirs = scores_of(metric, system), scores_of(metric, baseline)
    found: dict[str, Randomised] = {}
    for name, values in differences.items():
        real = ours[name] - theirs[name]
        defined = values[~np.isnan(values)]
        tie = _TIE * max(abs(ours[name]), abs(theirs[name]))
        as_large = int((np.abs(defined) >= abs(real) - tie).sum())
        p = math.nan if math.isnan(real) else (as_large + 1) / (len(defined) + 1)
        found[name] = Randomised(p, len(values) - len(defined))
    return found

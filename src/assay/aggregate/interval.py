# SPDX-License-Identifier: Apache-2.0
"""Intervals: the values of a score that are plausible, given the examples at hand."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Literal

import numpy as np

from assay.aggregate.asked import LEVEL, RESAMPLES, SEED
from assay.aggregate.percentile import percentile_bounds
from assay.aggregate.resample import Scores, bootstrap_scores
from assay.aggregate.totals import Codes, split_columns, total
from assay.core.metric import Metric, Rows, Score, Value

Method = Literal["auto", "bootstrap"]

FEW_CLUSTERS = 20


@dataclass(frozen=True, slots=True)
class Interval:
    """Bounds of a score, how they were made, and what to know about them.

    `undefined` is the number of resamples in which the score was undefined; they are left out.
    Bounds are NaN where there is nothing to go by: no example, or one to resample.
    """

    low: float
    high: float
    method: str
    level: float = LEVEL
    undefined: int = 0

    @property
    def bounds(self) -> tuple[float, float]:
        """Low and high, as documents hold them."""
        return self.low, self.high


def wilson_interval(hits: float, n: float, *, level: float = LEVEL) -> Interval:
    """The interval of a share, `hits` out of `n`: within 0 and 1, and honest near both ends.

    Wilson (1927), "Probable inference, the law of succession, and statistical inference".

    >>> wilson_interval(9, 10).bounds
    (0.5958499732047615, 0.9821237869049271)
    """
    if not n > 0:
        return Interval(math.nan, math.nan, "wilson", level)
    z = NormalDist().inv_cdf((1 + level) / 2)
    share = hits / n
    spread = z * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    centre = share + z * z / (2 * n)
    shrink = 1 + z * z / n
    low = 0.0 if hits == 0 else max(0.0, (centre - spread) / shrink)
    high = 1.0 if hits == n else min(1.0, (centre + spread) / shrink)
    return Interval(low, high, "wilson", level)


def percentile_interval(
    resampled: Value, *, n: int, level: float = LEVEL, method: str = "bootstrap"
) -> Interval:
    """The middle `level` of resampled scores of `n` units, examples or clusters."""
    values = np.asarray(resampled, dtype=np.float64)
    defined = values[~np.isnan(values)]
    undefined = len(values) - len(defined)
    if n < 2 or len(defined) == 0:
        return Interval(math.nan, math.nan, method, level, undefined)
    return Interval(*percentile_bounds(np.sort(defined), n, level), method, level, undefined)


def score_intervals(
    metrics: Sequence[Metric],
    rows: Rows,
    *,
    level: float = LEVEL,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    clusters: Codes | None = None,
    method: Method = "auto",
) -> list[dict[str, Interval]]:
    """An interval for every score of every metric: `found[metric][score]`.

    Rows hold the columns of one metric after the other. `auto` takes Wilson's for plain shares of
    examples, and resamples for everything else; with `clusters` it resamples clusters for all.
    """
    parts = split_columns(metrics, rows)
    n = len(rows) if clusters is None else len(np.unique(clusters))
    shares = [
        {} if method != "auto" or clusters is not None else share_intervals(m, part, level=level)
        for m, part in zip(metrics, map(total, parts), strict=True)
    ]
    # Metrics whose every score is a share need no resamples at all.
    rest = [i for i, metric in enumerate(metrics) if len(shares[i]) < len(metric.scores)]
    resampled: dict[int, Scores] = {}
    if rest:
        wanted = np.concatenate([parts[i] for i in rest], axis=1)
        (scores,) = bootstrap_scores(
            [metrics[i] for i in rest], [wanted], resamples=resamples, seed=seed, clusters=clusters
        )
        resampled = dict(zip(rest, scores, strict=True))
    name = bootstrap_name(clusters is not None)
    found: list[dict[str, Interval]] = []
    for i, metric in enumerate(metrics):
        one = dict(shares[i])
        for score in metric.scores:
            if score.name not in one:
                values = resampled[i][score.name]
                one[score.name] = percentile_interval(values, n=n, level=level, method=name)
        found.append(one)
    return found


def resampled_intervals(
    resampled: Mapping[str, Value], *, n: int, level: float = LEVEL, method: str = "bootstrap"
) -> dict[str, Interval]:
    """`percentile_interval` of each score: of a macro average, say, or of `PoissonSums`."""
    return {
        name: percentile_interval(values, n=n, level=level, method=method)
        for name, values in resampled.items()
    }


def share_intervals(metric: Metric, totals: Rows, *, level: float = LEVEL) -> dict[str, Interval]:
    """Wilson's interval of each score that is a plain share of examples, from totals alone."""
    return {s.name: _share(s, metric, totals, level) for s in metric.scores if s.proportion}


def bootstrap_name(clustered: bool) -> str:
    """What an interval made by resampling is called in documents."""
    return "cluster bootstrap" if clustered else "bootstrap"


def cluster_warning(clusters: Codes) -> str | None:
    """What to tell the user if there are too few clusters to go by."""
    n = len(np.unique(clusters))
    if n >= FEW_CLUSTERS:
        return None
    return (
        f"only {n} cluster{'' if n == 1 else 's'}: intervals and tests by cluster are unreliable "
        f"below {FEW_CLUSTERS}; add clusters, not examples"
    )


def sliced_cluster_warning(column: str, clusters: Codes, slices: Sequence[Codes]) -> str | None:
    """What to tell the user if slices by `column` have too few clusters where the whole has not.

    `slices` holds the positions of the examples of each.
    """
    if cluster_warning(clusters) is not None:
        return None
    few = sum(len(np.unique(clusters[where])) < FEW_CLUSTERS for where in slices)
    if not few:
        return None
    have, whose = ("has", "its") if few == 1 else ("have", "their")
    return (
        f"{few:,} of {len(slices):,} slices by {column} {have} fewer than {FEW_CLUSTERS} clusters: "
        f"{whose} intervals and tests are unreliable"
    )


def _share(score: Score, metric: Metric, totals: Rows, level: float) -> Interval:
    assert score.proportion is not None, "only shares come here"
    part, whole = (float(totals[metric.columns.index(column)]) for column in score.proportion)
    found = wilson_interval(part, whole, level=level)
    scale = score.high - score.low  # 100 where the score is printed in percent
    return Interval(
        score.low + scale * found.low, score.low + scale * found.high, found.method, level
    )

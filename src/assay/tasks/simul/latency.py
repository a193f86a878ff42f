# SPDX-License-Identifier: Apache-2.0
"""Latency formulas, as functions of times and lengths: one number per stream, NaN if undefined.

`times` are the delays of each unit of the output (or its computation-aware times), `source` the
length of each source in the same measure, `units` how many units the formula takes the ideal
output to have. Nothing here looks at text.
"""

from __future__ import annotations

import numpy as np

from assay.tasks.simul.ragged import Counts, Numbers, Ragged


def average_lagging(times: Ragged, source: Numbers, units: Numbers) -> Numbers:
    """How far each unit lags behind an ideal output at even pace, up to the first unit that is
    written when the whole source has been read.

    (1/t) sum of d_i - (i-1) X/units over i <= t, t the first i with d_i >= X, else all. Ma et al.,
    2019, with the length that the caller chooses.
    """
    read_all = times.values >= times.spread(source)
    counted = np.minimum(times.first_place(read_all) + 1, times.counts)
    return _mean_lag(times, _ratio(source, units), counted)


def yet_another_lagging(
    times: Ragged, source: Numbers, units: Numbers, limit: Numbers | None = None
) -> Numbers:
    """Average lagging of the units that are written while the source is still being read.

    The unit at which the source ends and all after it are left out; undefined where nothing is
    left. `limit` is the end of the source where that is not its length: the end of the recording.
    """
    end = source if limit is None else limit
    counted = times.first_place(times.values >= times.spread(end))
    return _mean_lag(times, _ratio(source, units), counted)


def _mean_lag(times: Ragged, step: Numbers, counted: Counts) -> Numbers:
    lags = times.places * times.spread(step)
    # The ideal time of a first unit is 0 whatever the pace, even where there is none.
    lags[times.splits[:-1][times.counts > 0]] = 0.0
    np.subtract(times.values, lags, out=lags)
    if (counted < times.counts).any():
        np.copyto(lags, 0.0, where=times.places >= np.repeat(counted, times.counts))
    return _ratio(times.like(lags).sums(), counted)


def average_proportion(times: Ragged, source: Numbers, units: Numbers) -> Numbers:
    """The share of the source that has been read when a unit is written, on average."""
    return np.where(times.counts > 0, _ratio(times.sums(), source * units), np.nan)


def differentiable_average_lagging(times: Ragged, source: Numbers) -> Numbers:
    """Average lagging over all units, where a unit takes at least its share of the source.

    g_1 = d_1, g_i = max(d_i, g_{i-1} + X/n); the mean of g_i - (i-1) X/n. Cherry and Foster, 2019.
    """
    step = times.spread(_ratio(source, times.counts))
    # g_i - (i-1) X/n is the largest d_j - (j-1) X/n of all j <= i.
    step *= times.places
    lags = times.like(np.subtract(times.values, step, out=step))
    return _ratio(times.like(lags.running_maximum()).sums(), times.counts)


def fairseq_latency(delays: Ragged, source: Numbers) -> dict[str, Numbers]:
    """AL, AP and DAL as fairseq's 2020 evaluation server has them, in double precision.

    `delays` count from one and end with that of the end mark; `source` is words + 1, or
    milliseconds. All are cut to whole numbers, and no delay is longer than the source.

    >>> found = fairseq_latency(Ragged.of([[1, 2, 3, 4, 5, 6]]), np.array([6.0]))
    >>> {name: value.tolist() for name, value in found.items()}
    {'AL': [1.0], 'AP': [0.5833333333333334], 'DAL': [1.0]}
    """
    length = np.trunc(source)
    cut = delays.like(np.minimum(np.trunc(delays.values), delays.spread(length)))
    n = delays.counts.astype(np.float64)
    return {
        "AL": average_lagging(cut, length, n),
        "AP": average_proportion(cut, length, n),
        "DAL": differentiable_average_lagging(cut, length),
    }


def mean_defined(values: Numbers) -> float:
    """The mean over the streams for which there is a value; NaN if there are none."""
    defined = values[~np.isnan(values)]
    return float(defined.mean()) if len(defined) else float("nan")


def _ratio(part: Numbers, whole: Numbers | Counts) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole == 0, np.nan, part / whole)

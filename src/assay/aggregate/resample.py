# SPDX-License-Identifier: Apache-2.0
"""Resampling: what the scores would have been on other examples of the same kind.

A resample is a weight per example (how often it was drawn), so its totals are `weights @ rows` and
no text is looked at again. Blocks of weights are made, multiplied and dropped: memory does not
grow with the number of resamples. Several systems and several metrics share one product, which
is also what makes a comparison paired.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from assay.aggregate.asked import RESAMPLES, SEED
from assay.aggregate.product import Product, Weights, weighted_sums
from assay.aggregate.totals import (
    Codebook,
    Codes,
    cluster_members,
    cluster_rows,
    macro_scores,
    slice_totals,
    split_columns,
)
from assay.core.metric import Metric, Rows, Totals, Value

DRAWS = 1 << 16
"""Positions drawn at once, and..."""

CELLS = 1 << 19
"""...weights held at once (resamples x examples): 2 to 4 MB, which stay in the cache. A single
resample of more examples than this is held whole."""

PIECE = 1_024
"""Examples whose Poisson weights come from one seed: small, so that any part can be redrawn."""

# How many of 65,536 equally likely draws give weight 0, 1, 2, ...: Poisson(1) rounded to 16 bits
# such that the mean is exactly 1 (the variance is 0.9997). Looking weights up in this table is
# several times faster than drawing them one by one.
_POISSON_SHARES = (24_109, 24_109, 12_055, 4_018, 1_005, 202, 33, 5)
_POISSON = np.repeat(np.arange(len(_POISSON_SHARES), dtype=np.float32), _POISSON_SHARES)

Scores = dict[str, Value]
"""Resampled scores by name, each of shape (resamples,)."""

Stream = Callable[[int, int, int], Iterator[NDArray[np.int64]]]
"""Where resamples come from: `draws`, or another tool's stream of the same shape."""


def draws(n: int, resamples: int, seed: int) -> Iterator[NDArray[np.int64]]:
    """The examples of each resample: `n` positions drawn with replacement, `resamples` times.

    Comes in blocks of shape (some resamples, n). They are one stream of
    `numpy.random.default_rng(seed)`, `rng.integers(0, n, (resamples, n))` cut into blocks, which
    sacrebleu draws too: the same seed gives the same resamples there and here.
    """
    rng = np.random.default_rng(seed)
    step = _step(n)
    for start in range(0, resamples, step):
        yield rng.integers(0, n, (min(step, resamples - start), n))


def bootstrap_totals(
    rows: Rows, *, resamples: int = RESAMPLES, seed: int = SEED, stream: Stream = draws
) -> Rows:
    """The totals of each resample: shape (resamples, columns).

    >>> bootstrap_totals(np.array([[1.0, 1.0], [0.0, 1.0]]), resamples=3, seed=1)
    array([[1., 2.],
           [0., 2.],
           [2., 2.]])
    """
    n, columns = rows.shape
    if n == 0:
        return np.zeros((resamples, columns))
    out = np.empty((resamples, columns))
    product = Product(rows)
    for start, weights in _weight_blocks(n, resamples, seed, product.dtype, stream):
        out[start : start + len(weights)] = product(weights)
    return out


def bootstrap_slice_totals(
    rows: Rows, codes: Codes, n_slices: int, *, resamples: int = RESAMPLES, seed: int = SEED
) -> Rows:
    """The totals of each slice in each resample: shape (resamples, slices, columns).

    All examples are resampled together, so slices grow and shrink as they would on new data.
    """
    n, columns = rows.shape
    out = np.zeros((resamples, n_slices, columns))
    if n == 0:
        return out
    members = [np.flatnonzero(codes == s) for s in range(n_slices)]
    products = [Product(rows[where]) for where in members]
    for start, weights in _weight_blocks(n, resamples, seed, np.dtype(np.float32)):
        for s, (where, product) in enumerate(zip(members, products, strict=True)):
            if len(where):
                own = weights if len(where) == n else weights.take(where, axis=1)
                out[start : start + len(weights), s] = product(own)
    return out


def bootstrap_scores(
    metrics: Sequence[Metric],
    systems: Sequence[Rows],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    clusters: Codes | None = None,
    stream: Stream = draws,
) -> list[list[Scores]]:
    """Resampled scores of each system by each metric: `found[system][metric][score]`.

    Rows hold the columns of one metric after the other. All systems and metrics see the same
    resamples; with `clusters` whole clusters are drawn instead of examples.
    """
    found: list[list[Scores]] = [[{} for _ in metrics] for _ in systems]
    parts = [split_columns(metrics, rows) for rows in systems]
    summed = [m for m, metric in enumerate(metrics) if metric.merge == "sum"]
    if summed and systems:
        wide = _beside([parts[s][m] for s in range(len(systems)) for m in summed])
        units = wide if clusters is None else cluster_rows(wide, clusters)
        totals = bootstrap_totals(units, resamples=resamples, seed=seed, stream=stream)
        at = 0
        for s in range(len(systems)):
            for m in summed:
                columns = metrics[m].columns
                part = totals[:, at : at + len(columns)]
                found[s][m] = _finalised(metrics[m], part)
                at += len(columns)
    for m, metric in enumerate(metrics):
        if metric.merge == "concat":
            for s in range(len(systems)):
                found[s][m] = _concat_scores(metric, parts[s][m], resamples, seed, clusters, stream)
    return found


def bootstrap_macro(
    metric: Metric,
    rows: Rows,
    codes: Codes,
    n_slices: int,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    clusters: Codes | None = None,
    weights: Rows | None = None,
) -> Scores:
    """Resampled macro averages of a summing metric: the mean over slices, slice by slice alike.

    `weights` gives each slice its weight in the mean."""
    (found,) = bootstrap_macros(
        [metric],
        rows,
        codes,
        n_slices,
        resamples=resamples,
        seed=seed,
        clusters=clusters,
        weights=weights,
    )
    return found


def bootstrap_macros(
    metrics: Sequence[Metric],
    rows: Rows,
    codes: Codes,
    n_slices: int,
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    clusters: Codes | None = None,
    weights: Rows | None = None,
) -> list[Scores]:
    """`bootstrap_macro` of several metrics, their columns side by side, on the same resamples."""
    assert all(m.merge == "sum" for m in metrics), "a macro average needs totals per slice"
    counted = np.column_stack([rows, np.ones(len(rows))])
    if clusters is None:
        table = bootstrap_slice_totals(counted, codes, n_slices, resamples=resamples, seed=seed)
    else:
        # One wide row per cluster: the columns of slice 0, then of slice 1, ...
        n, columns = counted.shape
        wide = np.zeros((n, n_slices, columns))
        wide[np.arange(n), codes] = counted
        units = cluster_rows(wide.reshape(n, -1), clusters)
        flat = bootstrap_totals(units, resamples=resamples, seed=seed)
        table = flat.reshape(resamples, n_slices, columns)
    parts = split_columns(metrics, table[..., :-1])
    return [
        macro_scores(metric, part, table[..., -1], weights=weights)
        for metric, part in zip(metrics, parts, strict=True)
    ]


class PoissonSums:
    """Resampled totals in a single pass, for rows that are not kept.

    In each resample each example gets a weight of its own from a Poisson distribution of mean 1,
    instead of its share of exactly `n` draws: nothing needs to know `n`. Weights depend on the
    seed and on the example's position (or its cluster's name) alone, so that parts of the input
    can be taken in anywhere and merged. Whole-number rows give the same bits however the input
    was cut; others agree to rounding.

    Scores that are ratios or means resample as usual. A score that is a plain sum varies more
    than it should, because the number of examples varies too.

    >>> sums = PoissonSums(1, resamples=4, seed=1)
    >>> sums.add(np.ones((1000, 1)), first=0)
    >>> sums.totals.ravel()
    array([1031., 1059.,  959., 1014.])
    """

    def __init__(self, n_columns: int, *, resamples: int = RESAMPLES, seed: int = SEED) -> None:
        self.resamples = resamples
        self.seed = seed
        self.totals: Rows = np.zeros((resamples, n_columns))

    def add(self, rows: Rows, *, first: int, clusters: Sequence[str] | None = None) -> None:
        """Take in rows, `first` being the position of the first in the whole input.

        With `clusters` every example of a cluster gets the cluster's weight, wherever it stands.
        """
        if clusters is not None:
            book = Codebook()
            summed = slice_totals(rows, book.encode(clusters))
            for start in range(0, len(summed), PIECE):
                names = book.names[start : start + PIECE]
                weights = np.stack([self._weights(_digest(name), 1)[0] for name in names])
                self.totals += weighted_sums(weights.T, summed[start : start + PIECE])
            return
        at = 0
        while at < len(rows):
            piece, offset = divmod(first + at, PIECE)
            stop = min(PIECE, offset + len(rows) - at)
            weights = self._weights((piece,), stop)[offset:]
            self.totals += weighted_sums(weights.T, rows[at : at + stop - offset])
            at += stop - offset

    def merge(self, other: PoissonSums) -> None:
        """Add what `other` took in: another part of the same input, with the same seed."""
        assert (self.seed, self.resamples) == (other.seed, other.resamples), "same resamples"
        self.totals += other.totals

    def _weights(self, key: tuple[int, ...], n: int) -> NDArray[np.float64]:
        rng = np.random.default_rng([self.seed, *key])
        drawn = rng.integers(0, 1 << 16, (n, self.resamples), dtype=np.uint16)
        return _POISSON[drawn].astype(np.float64)


def _digest(name: str) -> tuple[int, ...]:
    """Four numbers that stand for a cluster's name; never those of a piece, which has one."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return tuple(int.from_bytes(digest[i : i + 4], "little") for i in range(0, 16, 4))


def _weight_blocks(
    n: int,
    resamples: int,
    seed: int,
    dtype: np.dtype[np.float32] | np.dtype[np.float64],
    stream: Stream = draws,
) -> Iterator[tuple[int, Weights]]:
    """First resample and weights, shape (some resamples, n), block by block.

    The next block overwrites the last one.
    """
    step = _step(n)
    size = step * max(1, CELLS // (step * n))
    weights: Weights = np.empty((min(size, resamples), n), dtype=dtype)
    start = filled = 0
    for chosen in stream(n, resamples, seed):
        count = len(chosen)
        if count > 1:  # the draws of resample i are counted in bins i * n to (i + 1) * n
            chosen = chosen + np.arange(0, count * n, n)[:, None]
        counts = np.bincount(chosen.ravel(), minlength=count * n)
        weights[filled : filled + count] = counts.reshape(count, n)
        filled += count
        if filled == len(weights) or start + filled == resamples:
            yield start, weights[:filled]
            start, filled = start + filled, 0


def _step(n: int) -> int:
    return max(1, DRAWS // n)


def _beside(blocks: Sequence[Rows]) -> Rows:
    return blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)


def _finalised(metric: Metric, totals: Rows) -> Scores:
    scores = metric.finalise(Totals(metric.columns, totals))
    return {name: np.asarray(value) for name, value in scores.items()}


def _concat_scores(
    metric: Metric,
    rows: Rows,
    resamples: int,
    seed: int,
    clusters: Codes | None,
    stream: Stream = draws,
) -> Scores:
    """Scores of a metric that needs the rows themselves: one call of `finalise` per resample."""
    members = None if clusters is None else cluster_members(clusters)
    n = len(rows) if members is None else len(members)
    out: Scores = {score.name: np.full(resamples, np.nan) for score in metric.scores}
    if n == 0:
        return out
    each = (chosen for block in stream(n, resamples, seed) for chosen in block)
    for r, chosen in enumerate(each):
        where = chosen if members is None else np.concatenate([members[c] for c in chosen])
        for name, value in metric.finalise(Totals(metric.columns, rows[where])).items():
            out[name][r] = float(value)
    return out

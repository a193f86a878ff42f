# SPDX-License-Identifier: Apache-2.0
"""Joint regions: where two scores of one system may stand together, from resamples of both.

Two intervals side by side overstate what is unknown when the scores move together. Resamples that
hold both scores of the same draws show how they do; the region holds a share `level` of them.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Outline = NDArray[np.float64]
"""Corners of a closed line, shape (corners, 2)."""

CORNERS = 48


def joint_region(
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    *,
    level: float = 0.95,
    form: Literal["ellipse", "hull"] = "ellipse",
) -> Outline:
    """The outline of the region that holds `level` of the pairs of resampled scores.

    `ellipse` is the contour of a normal distribution with their mean and covariance; `hull` is the
    convex hull of the `level` of pairs that lie nearest to the mean, which follows their shape.
    Pairs with an undefined score are left out; fewer than three, or no spread, give no outline.

    >>> rng = np.random.default_rng(1)
    >>> outline = joint_region(rng.normal(5, 1, 4000), rng.normal(0, 2, 4000))
    >>> np.ptp(outline, axis=0).round(1)  # 2 * sqrt(5.99) standard deviations, as drawn
    array([4.9, 9.7])
    """
    pairs = np.column_stack([first, second]).astype(np.float64)
    pairs = pairs[np.isfinite(pairs).all(axis=1)]
    if len(pairs) < 3:
        return np.zeros((0, 2))
    mean, covariance = pairs.mean(axis=0), np.cov(pairs.T)
    spread, axes = np.linalg.eigh(covariance)
    # A score that does not vary at all leaves a line, which is no region.
    if spread[0] <= 1e-12 * max(spread[1], 1e-300):
        return np.zeros((0, 2))
    if form == "hull":
        scaled = (pairs - mean) @ axes / np.sqrt(spread)
        distance = (scaled**2).sum(axis=1)
        nearest = np.argsort(distance, kind="stable")[: max(3, math.ceil(level * len(pairs)))]
        return convex_hull(pairs[nearest])
    radius = math.sqrt(-2 * math.log(1 - level))  # chi-squared with two degrees of freedom
    angle = np.linspace(0, 2 * math.pi, CORNERS, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(mean + radius * (circle * np.sqrt(spread)) @ axes.T)


def convex_hull(points: NDArray[np.float64]) -> Outline:
    """The corners of the smallest convex outline around points, counter-clockwise.

    >>> convex_hull(np.array([[0, 0], [2, 0], [1, 1], [2, 2], [0, 2.0]])).tolist()
    [[0.0, 0.0], [2.0, 0.0], [2.0, 2.0], [0.0, 2.0]]
    """
    ordered = [(float(x), float(y)) for x, y in np.unique(points, axis=0)]
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)
    lower, upper = _half(ordered), _half(ordered[::-1])
    return np.array([*lower[:-1], *upper[:-1]])


def _half(ordered: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """One side of the hull (the monotone chain of Andrew, 1979): only turns to the left remain."""
    kept: list[tuple[float, float]] = []
    for point in ordered:
        while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0:
            kept.pop()
        kept.append(point)
    return kept


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])

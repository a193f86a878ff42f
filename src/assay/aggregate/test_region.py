# SPDX-License-Identifier: Apache-2.0
"""Joint regions hold the share they promise, whatever the correlation."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

from assay.aggregate.region import convex_hull, joint_region


def _inside(outline: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Left of every edge of a convex outline that runs counter-clockwise."""
    ahead = np.roll(outline, -1, axis=0) - outline
    away = points[:, None, :] - outline[None]
    cross = ahead[None, :, 0] * away[:, :, 1] - ahead[None, :, 1] * away[:, :, 0]
    return np.asarray((cross >= -1e-12).all(axis=1))


@pytest.mark.parametrize("form", ["ellipse", "hull"])
@pytest.mark.parametrize("correlation", [0.0, 0.8, -0.95])
@pytest.mark.parametrize("level", [0.5, 0.95])
def test_a_region_holds_its_share(
    form: Literal["ellipse", "hull"], correlation: float, level: float
) -> None:
    rng = np.random.default_rng(7)
    first = rng.normal(size=20_000)
    second = correlation * first + np.sqrt(1 - correlation**2) * rng.normal(size=20_000)
    pairs = np.column_stack([30 + 2 * first, 900 + 70 * second])
    outline = joint_region(pairs[:, 0], pairs[:, 1], level=level, form=form)
    if form == "ellipse" and _area(outline) < 0:
        outline = outline[::-1]
    # 48 corners cut off under half a percent of the ellipse; the rest is chance.
    assert _inside(outline, pairs).mean() == pytest.approx(level, abs=0.012)


def _area(outline: NDArray[np.float64]) -> float:
    ahead = np.roll(outline, -1, axis=0)
    return float((outline[:, 0] * ahead[:, 1] - ahead[:, 0] * outline[:, 1]).sum() / 2)


def test_undefined_resamples_are_left_out() -> None:
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=500), rng.normal(size=500)
    spoiled = np.append(first, np.nan), np.append(second, 1.0)
    assert joint_region(*spoiled).tolist() == joint_region(first, second).tolist()


@pytest.mark.parametrize(
    ("first", "second"),
    [([], []), ([1.0, 2.0], [1.0, 2.0]), ([1.0] * 9, list(range(9))), ([1.0] * 9, [2.0] * 9)],
)
def test_without_spread_there_is_no_region(first: list[float], second: list[float]) -> None:
    assert joint_region(np.array(first), np.array(second)).shape == (0, 2)


def test_a_hull_has_no_corner_too_many() -> None:
    grid = np.array([[x, y] for x in range(5) for y in range(4)], dtype=float)
    assert convex_hull(grid).tolist() == [[0, 0], [4, 0], [4, 3], [0, 3]]
    assert convex_hull(np.array([[1.0, 1.0], [1.0, 1.0]])).tolist() == [[1, 1]]

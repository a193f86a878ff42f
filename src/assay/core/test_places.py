# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from assay.core.places import places

CASES = [
    # name                  mask as text   places
    ("nothing",             "",            []),
    ("no mark",             "." * 40,      []),
    ("one at the start",    "x" + "." * 30, [0]),
    ("one at the end",      "." * 30 + "x", [30]),
    ("two in one byte",     ".x....x" + "." * 40, [1, 6]),
    ("dense",               "xx.x",        [0, 1, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("name", "mask", "wanted"), CASES, ids=[c[0] for c in CASES])
def test_places_by_hand(name: str, mask: str, wanted: list[int]) -> None:
    assert places(np.array([c == "x" for c in mask], dtype=np.bool_)).tolist() == wanted


@pytest.mark.parametrize("share", [0.0, 0.001, 0.03, 0.09, 0.11, 0.5, 1.0])
@pytest.mark.parametrize("n", [1, 7, 8, 9, 1000, 4099])
def test_places_are_those_of_numpy(share: float, n: int) -> None:
    mask = np.random.default_rng(n).random(n) < share
    found = places(mask)
    assert found.dtype == np.int64
    assert found.tolist() == np.flatnonzero(mask).tolist()

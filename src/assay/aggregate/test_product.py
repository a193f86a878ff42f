# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from assay.aggregate.product import EXACT, Product, weighted_sums

SHAPES = [
    # resamples, examples, columns: one tile, several, and what is left over at each edge
    (0, 5, 3), (4, 0, 3), (4, 5, 0), (1, 1, 1), (3, 7, 2), (64, 64, 64), (65, 65, 65),
    (129, 4_097, 1), (1, 20_000, 10), (2, 20_000, 130), (200, 3_000, 10),
]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tiles_add_up_to_the_plain_product(shape: tuple[int, int, int], dtype: type) -> None:
    resamples, n, columns = shape
    rng = np.random.default_rng(n)
    weights: Any = rng.poisson(1.0, (resamples, n)).astype(dtype)
    rows: Any = rng.integers(0, 30, (n, columns)).astype(dtype)
    # Whole numbers: both are exact, whatever the order.
    expected = weights.astype(np.int64) @ rows.astype(np.int64)
    found = weighted_sums(weights, rows)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, expected)


def test_sums_above_what_single_precision_holds_are_made_in_double() -> None:
    rows = np.array([[1.0], [EXACT - 2.0]])
    assert Product(rows).dtype == np.float32
    weights = np.array([[1.0, 1.0], [3.0, 1.0]], dtype=np.float32)
    np.testing.assert_array_equal(Product(rows)(weights), [[EXACT - 1.0], [EXACT + 1.0]])


def test_the_number_of_threads_changes_no_bit() -> None:
    program = (
        "import hashlib, numpy as np\n"
        "from assay.aggregate.product import weighted_sums\n"
        "rng = np.random.default_rng(1)\n"
        "found = weighted_sums(rng.random((500, 3000)), rng.random((3000, 20)))\n"
        "one = weighted_sums(rng.random((1, 90000)), rng.random((90000, 9)))\n"
        "print(hashlib.sha256(found.tobytes() + one.tobytes()).hexdigest())\n"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", program],
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for threads in ("1", "2", "4")
    }
    assert len(seen) == 1

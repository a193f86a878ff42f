# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random

import numpy as np
import pytest

from assay.core.batch import Batch
from assay.core.errors import UsageError
from assay.tasks.code.intervals import (
    bounds,
    coverage_warnings,
    levels,
    mersenne_draws,
    plur_table,
)
from assay.tasks.code.registry import load

BOUNDS = [
    # resamples  level  lower index            upper index
    (100,        90,    10,                    89),    # floor(100 * 10 / 100), ceil(100 * 90 / 100) - 1
    (100,        99,    1,                     98),
    (60,         95,    3,                     56),    # floor(60 * 5 / 100), ceil(57) - 1
    (50,         97.5,  1,                     48),    # floor(1.25), ceil(48.75) - 1
    (2,          50,    1,                     0),     # they cross
    (3,          50,    1,                     1),
]  # fmt: skip


@pytest.mark.parametrize(("resamples", "level", "low", "high"), BOUNDS)
def test_bounds(resamples: int, level: float, low: int, high: int) -> None:
    assert bounds(np.arange(float(resamples)), level) == (low, high)


@pytest.mark.parametrize("seed", [0, 1, 42, 2**31, 2**32 + 7, 2**70 + 3])
def test_draws_are_those_of_python(seed: int) -> None:
    theirs = random.Random(seed)
    found = np.concatenate(list(mersenne_draws(17, 30, seed)))
    assert found.tolist() == [theirs.choices(range(17), k=17) for _ in range(30)]


def test_the_rank_of_comments_is_chosen_again_in_every_resample() -> None:
    beams = [["a b c d", "x"], ["y", "e f g h"], ["i j k l", "z z z z"]]
    gold = ["a b c d", "e f g h", "i j k l"]
    metric = load("comment_bleu(ranks=2)")
    rows = metric.measure(Batch(beams, gold))
    found = plur_table([metric], rows, percents=[50.0], resamples=9, seed=5)
    theirs, values = random.Random(5), []
    for _ in range(9):
        drawn = theirs.choices(range(3), k=3)
        values.append(metric.score([(beams[i], gold[i]) for i in drawn])["bleu_4"])
    middle = sorted(values)[4]
    lower = found["lower"]
    assert isinstance(lower, dict)
    assert lower["bleu_4"] == pytest.approx([middle])


@pytest.mark.parametrize("text", ["40", "100", "90,101", "x", "", "90,,95"])
def test_levels_that_do_not_exist_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        levels(text)


def test_crossing_bounds_are_told() -> None:
    assert "lies above" in coverage_warnings([50.0, 90.0], 100)[1]
    assert len(coverage_warnings([50.0], 101)) == 1

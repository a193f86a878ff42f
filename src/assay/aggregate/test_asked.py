# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import re

import numpy as np
import pytest

from assay.aggregate.asked import MOST, check_resampling, few_resamples, few_trials
from assay.aggregate.interval import percentile_interval
from assay.aggregate.paired import randomisation_test
from assay.aggregate.test_metrics import Mean
from assay.core.errors import UsageError


@pytest.mark.parametrize(
    ("level", "needed"), [(0.5, 3), (0.9, 19), (0.95, 39), (0.99, 199), (0.999, 1_999)]
)
def test_the_ends_of_an_interval_need_resamples_beyond_them(level: float, needed: int) -> None:
    assert few_resamples(needed, level) is None
    assert f"at least {needed:,}, better" in (few_resamples(needed - 1, level) or "")
    # At `needed` the ends are just the outermost resamples, one more and they lie inside.
    values = np.arange(float(needed + 1))
    wide = percentile_interval(values[:-1], n=10**9, level=level)
    assert wide.bounds == pytest.approx((0.0, needed - 1.0), abs=1e-4)
    inside = percentile_interval(values, n=10**9, level=level)
    assert inside.low > 0
    assert inside.high < needed


@pytest.mark.parametrize(
    ("alpha", "pairs", "needed"), [(0.05, 1, 19), (0.01, 1, 99), (0.05, 6, 119)]
)
def test_p_values_need_trials_to_be_small(alpha: float, pairs: int, needed: int) -> None:
    rows = [np.column_stack([np.full(200, v), np.ones(200)]) for v in (1.0, 0.0)]
    for trials in (needed, needed - 1):
        (found,) = randomisation_test([Mean()], *rows, trials=trials)
        smallest = pairs * found["mean"].p
        assert (few_trials(trials, alpha, pairs) is None) == (smallest <= alpha * (1 + 1e-12))


def test_numbers_that_nobody_can_mean() -> None:
    check_resampling(1, 0, trials=MOST)
    for given, part in (
        ({"resamples": 0, "seed": 1}, "--resamples 0 must be at least 1; --ci 0"),
        ({"resamples": MOST + 1, "seed": 1}, "--resamples 1,000,001 is too many"),
        ({"resamples": 1, "seed": 1, "trials": -4}, "--trials -4 must be at least 1"),
        ({"resamples": 1, "seed": -1}, "--seed -1 must not be negative"),
    ):
        with pytest.raises(UsageError, match=part):
            check_resampling(**given)


def test_levels_near_1_can_never_be_shown() -> None:
    for level in (0.999_999, math.nextafter(1.0, 0.0)):
        said = few_resamples(MOST, level)
        assert said is not None
        assert "no number of resamples shows one" in said
    # 2 / (1 - 0.999998) is a million: the last level that can be shown.
    assert few_resamples(MOST, 0.999_998) is None


def test_no_hint_is_refused_when_it_is_followed() -> None:
    for level in (0.5, 0.95, 0.999, 0.9999, 0.99999, 0.999_998):
        hint = few_resamples(1, level)
        assert hint is not None
        for number in re.findall(r"(?:least|better) ([\d,]+)", hint):
            check_resampling(int(number.replace(",", "")), 0)

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest

from assay.aggregate.macro import OverSlices
from assay.aggregate.resample import bootstrap_macro, bootstrap_scores
from assay.aggregate.test_metrics import MicroF1, f1_rows
from assay.aggregate.totals import macro_scores, scores_of, slice_totals


def test_the_mean_over_slices_is_a_metric_of_wide_rows() -> None:
    rows = f1_rows(np.random.default_rng(3), 60)
    codes = np.arange(60) % 4
    weights = np.array([1.0, 0.5, 0.25, 3.0])
    over = OverSlices(MicroF1(), 4, weights)
    found = scores_of(over, over.widened(rows, codes))
    wanted = macro_scores(MicroF1(), slice_totals(rows, codes), weights=weights)
    assert found == pytest.approx({name: float(value) for name, value in wanted.items()})


@pytest.mark.parametrize("clustered", [True, False])
def test_it_is_resampled_as_slices_are(clustered: bool) -> None:
    rows, codes = f1_rows(np.random.default_rng(4), 60), np.arange(60) % 3
    clusters = np.arange(60) // 5 if clustered else None
    over = OverSlices(MicroF1(), 3)
    ((found,),) = bootstrap_scores(
        [over], [over.widened(rows, codes)], resamples=50, seed=7, clusters=clusters
    )
    wanted = bootstrap_macro(MicroF1(), rows, codes, 3, resamples=50, seed=7, clusters=clusters)
    for name, values in wanted.items():
        assert found[name] == pytest.approx(values, nan_ok=True)

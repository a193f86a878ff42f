# SPDX-License-Identifier: Apache-2.0
"""The contract, for every metric there is; a new one is found by its folder."""

from __future__ import annotations

from assay import metrics
from assay.testing.variants import of_everything

CONTRACTS = dict(of_everything())
globals().update(CONTRACTS)


def test_every_metric_is_among_them() -> None:
    tested = {contract.metric.name for contract in CONTRACTS.values()}
    assert {cls.name for cls in metrics.builtin()} <= tested

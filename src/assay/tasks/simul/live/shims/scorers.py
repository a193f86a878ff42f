# SPDX-License-Identifier: Apache-2.0
"""Latency scorers that an agent file of SimulEval 1.1 brings along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

REGISTERED: dict[str, type] = {}
"""By name. A scorer is called by the file that brings it; `assay simul score` has its own."""


class LatencyScorer:
    """Base of such scorers: `compute(instance)` gives one number per sentence."""

    metric: str | None = None

    def __init__(self, computation_aware: bool = False, use_ref_len: bool = True) -> None:
        self.computation_aware = computation_aware
        self.use_ref_len = use_ref_len

    @property
    def timestamp_type(self) -> str:
        """Which times of an instance count."""
        return "elapsed" if self.computation_aware else "delays"

    def compute(self, instance: Any) -> float:
        """The latency of one sentence."""
        raise NotImplementedError

    def __call__(self, instances: Mapping[int, Any]) -> float:
        """The mean over sentences that have delays."""
        found = [self.compute(each) for each in instances.values() if each.delays]
        return sum(found) / len(found) if found else float("nan")


def register_latency_scorer(name: str) -> Callable[[type], type]:
    """Make a scorer known by name."""

    def register(scorer: type) -> type:
        REGISTERED[name] = scorer
        return scorer

    return register

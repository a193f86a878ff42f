# SPDX-License-Identifier: Apache-2.0
"""The comparison document: who is better, by how much, how sure, and by which test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.core.document import ResultDocument, plain

COMPARISON_SCHEMA = "assay.comparison/1"

Verdict = Literal["better", "worse", "equivalent", "undecided"]


@dataclass(frozen=True, slots=True)
class McNemar:
    """How often exactly one of two systems was right, and what that says."""

    only_system: int
    only_baseline: int
    p_exact: float
    p_mid: float


@dataclass(frozen=True, slots=True)
class Difference:
    """One system against one baseline, by one score: `difference` is system minus baseline.

    `p` is the raw p-value of `test`, `p_adjusted` the one after `correction` over the family of
    tests it belongs to, on which `verdict` rests. `slice` is (column, value) or None for the whole.
    `interval_method` says how the interval of the difference was made.
    """

    key: str
    system: str
    baseline: str
    system_score: float
    baseline_score: float
    difference: float
    interval: tuple[float, float]
    p: float
    p_adjusted: float
    test: str
    correction: str
    verdict: Verdict
    n: int
    slice: tuple[str, str] | None = None
    mcnemar: McNemar | None = None
    interval_method: str = "paired bootstrap"


@dataclass(frozen=True, slots=True)
class ComparisonDocument:
    """Several systems on the same gold. `systems` are their own results, in the order given."""

    task: str
    systems: tuple[ResultDocument, ...]
    differences: tuple[Difference, ...]
    slices: tuple[Difference, ...] = ()
    statistics: Mapping[str, Any] = field(default_factory=dict)
    signature: str = ""
    warnings: tuple[str, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)
    schema: str = COMPARISON_SCHEMA

    def of(self, key: str) -> tuple[Difference, ...]:
        """The differences by one score, pair by pair."""
        return tuple(d for d in self.differences if d.key == key)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {
            "schema": self.schema,
            "task": self.task,
            "systems": [s.as_dict() for s in self.systems],
            "differences": plain(self.differences),
            "slices": plain(self.slices),
            "statistics": plain(self.statistics),
            "signature": self.signature,
            "warnings": list(self.warnings),
            "made": plain(self.made),
        }

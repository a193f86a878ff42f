# SPDX-License-Identifier: Apache-2.0
"""The diff document: what became of each example between two runs.

An example is, by one score of its own,

    fixed     better than before (of a right/wrong score: wrong before, right now)
    broken    worse than before (right before, wrong now)
    changed   another prediction, or a score undefined on one side, but neither better nor worse
    same      the same prediction and the same score
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from assay.core.document import ScoreEntry, plain_document

DIFF_SCHEMA = "assay.diff/1"

Change = Literal["fixed", "broken", "changed", "same"]
CHANGES: tuple[Change, ...] = get_args(Change)


@dataclass(slots=True)
class ChangeCounts:
    """How many examples of each kind there are."""

    fixed: int = 0
    broken: int = 0
    changed: int = 0
    same: int = 0

    @property
    def n(self) -> int:
        """All of them."""
        return self.fixed + self.broken + self.changed + self.same

    def add(self, change: Change) -> None:
        """Count one more."""
        setattr(self, change, getattr(self, change) + 1)


@dataclass(frozen=True, slots=True)
class ExampleChange:
    """One example in both runs. `gain` is positive where the system is better; NaN undefined.

    A prediction that was missing is None.
    """

    id: str
    change: Change
    baseline_score: float
    system_score: float
    gain: float
    baseline_prediction: Any
    system_prediction: Any
    gold: Any
    slices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DiffDocument:
    """Two runs on the same gold, example by example, by one score.

    `right_wrong` says that each example's score is 0 or 1. Differences of at most `min_change` are
    no change of the score. `examples` are those of the kinds in `only`, the largest change first,
    at most `limit` of them (None: all); `selected` is how many there are without the limit.
    """

    task: str
    baseline: str
    system: str
    score: ScoreEntry
    right_wrong: bool
    baseline_score: float
    system_score: float
    counts: ChangeCounts
    slices: Mapping[str, Mapping[str, ChangeCounts]] = field(default_factory=dict)
    min_change: float = 0.0
    only: tuple[Change, ...] = ("fixed", "broken", "changed")
    limit: int | None = None
    selected: int = 0
    examples: tuple[ExampleChange, ...] = ()
    signature: str = ""
    warnings: tuple[str, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)
    schema: str = DIFF_SCHEMA

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the schema first and undefined as None."""
        return plain_document(self)

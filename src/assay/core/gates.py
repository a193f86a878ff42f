# SPDX-License-Identifier: Apache-2.0
"""The gate document: may this run replace its baseline?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from assay.core.comparison import Difference
from assay.core.document import ScoreEntry, plain_document

GATE_SCHEMA = "assay.gate/1"

Mode = Literal["significant", "noninferior"]
Rule = Literal["max_drop", "min", "max"]
Status = Literal["passed", "failed", "skipped"]
Reason = Literal[
    "no loss",
    "loss within the allowed drop",
    "larger loss not significant",
    "significant loss",
    "larger loss excluded",
    "larger loss not excluded",
    "limit kept",
    "limit missed",
    "score undefined",
    "nothing to compare",
]


@dataclass(frozen=True, slots=True)
class Check:
    """One rule held against one score, of all examples or of a slice (column, value).

    `limit` is the allowed drop, or the value that must be reached or not exceeded, always in the
    units of the score. `difference` is there for rule `max_drop` only.
    """

    rule: Rule
    key: str
    status: Status
    reason: Reason
    limit: float
    score: float
    n: int
    slice: tuple[str, str] | None = None
    difference: Difference | None = None


@dataclass(frozen=True, slots=True)
class GateDocument:
    """All checks of a gate. It is passed if none of them failed."""

    task: str
    system: str
    baseline: str | None
    mode: Mode
    passed: bool
    checks: tuple[Check, ...]
    scores: tuple[ScoreEntry, ...]
    statistics: Mapping[str, Any] = field(default_factory=dict)
    signature: str = ""
    warnings: tuple[str, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)
    schema: str = GATE_SCHEMA

    def of_status(self, status: Status) -> tuple[Check, ...]:
        """The checks that ended this way."""
        return tuple(c for c in self.checks if c.status == status)

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the schema first and undefined as None."""
        return plain_document(self)

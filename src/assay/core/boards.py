# SPDX-License-Identifier: Apache-2.0
"""The leaderboard document: runs grouped by gold, ranked by one score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.core.document import plain_document

BOARD_SCHEMA = "assay.leaderboard/1"


@dataclass(frozen=True, slots=True)
class BoardRun:
    """One run of a group. `better_than` names the systems it significantly beats by the score that
    leads; equal values share a rank, an undefined one has none."""

    rank: int | None
    system: str
    folder: str | None
    scores: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    better_than: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BoardGroup:
    """Runs of one task on the same gold, the best first. `n` is the number of examples."""

    task: str
    gold_sha256: str | None
    n: int
    score: str | None
    answer: str
    runs: tuple[BoardRun, ...]
    signature: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BoardDocument:
    """All groups below a folder."""

    groups: tuple[BoardGroup, ...]
    warnings: tuple[str, ...] = ()
    made: Mapping[str, Any] = field(default_factory=dict)
    schema: str = BOARD_SCHEMA

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the schema first and undefined as None."""
        return plain_document(self)

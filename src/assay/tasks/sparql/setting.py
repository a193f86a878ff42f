# SPDX-License-Identifier: Apache-2.0
"""What the options ask for, what runs queries, and what was met on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from assay.core.task import Missing
from assay.tasks.sparql.cells import Cells


class Executor(Protocol):
    """Whatever runs queries: a store, an endpoint, or the record itself."""

    def run(self, queries: Sequence[str]) -> list[tuple[list[str] | bool | None, str | None]]:
        """Answers and failure of each query, in order."""

    def close(self) -> None:
        """Give back what running needed, and tell the intake what is worth knowing."""


@dataclass(slots=True)
class Setting:
    """How records are turned into examples."""

    types: tuple[str, ...]
    compat: bool = False
    em_only: bool = False
    missing: Missing = "wrong"
    distances: Mapping[str, str] | None = None
    phenomena: Mapping[str, Sequence[str]] = field(default_factory=dict)
    executor: Executor | None = None

    @property
    def one_type(self) -> bool:
        """Whether this is an evaluation of one question type, as SPICE's script does it."""
        return len(self.types) == 1


@dataclass(slots=True)
class Seen:
    """What was met on the way, for the evaluation file and for warnings."""

    cells: Cells
    other_types: dict[str, int] = field(default_factory=dict)
    mixed: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)

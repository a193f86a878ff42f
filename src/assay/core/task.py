# SPDX-License-Identifier: Apache-2.0
"""The task contract: how one kind of evaluation reads its files and what it measures.

A task is a folder `assay/tasks/<name>/` whose `__init__.py` holds `TASK`, an instance of a subclass
of `Task`, and imports nothing heavy; readers and metrics are imported inside the methods.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from assay.core.document import Intake, ResultDocument
from assay.core.options import Option, Verb

if TYPE_CHECKING:
    from pathlib import Path

    from assay.core.batch import Batch
    from assay.core.metric import Metric, Rows

Missing = Literal["error", "wrong", "skip"]


@dataclass(frozen=True, slots=True)
class Examples:
    """Aligned examples in gold order, and what was found out on the way.

    `batches` yields batches of `core.batch.BLOCK` examples (the last may be shorter) and can be
    consumed once. `intake` is complete when it is exhausted.
    """

    batches: Iterator[Batch]
    intake: Intake


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a task's `finish` may look at: the document, and rows and examples if it asked for them.

    Columns of `rows` are those of the metrics, one metric after the other.
    """

    document: ResultDocument
    metrics: Sequence[Metric]
    rows: Rows | None
    batches: Sequence[Batch]


class Task(ABC):
    """One kind of evaluation.

    `options` are those of `assay TASK score` beyond the common ones; an option named `predictions`
    or `gold` is handed over under that name. `missing` is the task's default policy for examples
    without a prediction. `keeps` says that `finish` wants rows and examples.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    verbs: ClassVar[tuple[Verb, ...]] = ()
    default_metrics: ClassVar[tuple[str, ...]] = ()
    missing: ClassVar[Missing] = "error"
    keeps: ClassVar[bool] = False

    @abstractmethod
    def examples(
        self, predictions: Any, gold: Any, *, missing: Missing, **options: Any
    ) -> Examples:
        """Open the inputs (paths, or records in memory) and align them."""

    @abstractmethod
    def metrics(self, names: Sequence[str], **options: Any) -> list[Metric]:
        """The metrics that were asked for, by text; none asked for means the task's own choice."""

    @abstractmethod
    def metric(self, text: str) -> Metric:
        """The metric whose `text` this is; how a stored run gets its finaliser back."""

    def derive(self, column: str, batch: Batch) -> Sequence[str] | None:
        """Values of a slice column that the task can compute; None if it knows no such column."""
        return None

    def render(self, document: ResultDocument, **options: Any) -> str | None:
        """The result in the words of the tool this task replaces, or None for the usual table."""
        return None

    def finish(self, outcome: Outcome, **options: Any) -> Mapping[str, Path]:
        """Write the task's own files; gives back what was written, by what it is."""
        return {}

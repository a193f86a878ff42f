# SPDX-License-Identifier: Apache-2.0
"""The task contract: how one kind of evaluation reads its files and what it measures.

A task is a folder `assay/tasks/<name>/` whose `__init__.py` holds `TASK`, an instance of a subclass
of `Task`, and imports nothing heavy; readers and metrics are imported inside the methods.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from assay.core.judging import CORRECT, GUIDELINES, Question
from assay.core.options import Option, Verb

if TYPE_CHECKING:
    from pathlib import Path

    from assay.aggregate.interval import Interval
    from assay.core.batch import Batch, Pair
    from assay.core.document import Intake, ResultDocument
    from assay.core.judging import Item, Kept
    from assay.core.metric import Metric, Rows

Missing = Literal["error", "wrong", "skip"]


@dataclass(frozen=True, slots=True)
class Macro:
    """A mean over slices of `column`, which must be one that is scored by slice.

    `weights` gives each value of the column its weight, 0 to leave it out; it is asked once all
    values are known. Slices in which a score is undefined are left out of that score's mean.
    """

    column: str
    weights: Callable[[Sequence[str]], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Examples:
    """Aligned examples in gold order, and what was found out on the way.

    `batches` yields batches of `core.batch.BLOCK` examples (the last may be shorter) and can be
    consumed once. `intake` is complete when it is exhausted. `metrics` is filled where what to
    measure depends on what the inputs hold (their fields, say); it then replaces `Task.metrics`.
    `choose` does the same, and is given the names that were asked for.
    `marks` are what else the numbers depend on; they go into the signature. `system` is the name of
    the system where that of the file says nothing.
    `slices` are columns that are scored by slice whether asked for or not, and `macros` the means
    over some of their slices, by the name they get in the document.
    """

    batches: Iterator[Batch]
    intake: Intake
    metrics: Sequence[Metric] | None = None
    slices: Sequence[str] = ()
    macros: Mapping[str, Macro] = field(default_factory=dict)
    choose: Callable[[Sequence[str]], Sequence[Metric]] | None = None
    marks: Mapping[str, object] = field(default_factory=dict)
    system: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What `Task.extra` and `Task.finish` may look at: the document, and rows and examples if kept.

    Columns of `rows` and of `totals` are those of the metrics, one metric after the other.
    """

    document: ResultDocument
    metrics: Sequence[Metric]
    rows: Rows | None
    batches: Sequence[Batch]
    totals: Rows | None = None


@dataclass(frozen=True, slots=True)
class Inspection:
    """What a task says of a file in its own format, for `assay doctor`.

    `notes` are worth knowing, `findings` are what is wrong, each one line.
    """

    n_records: int
    notes: Sequence[str] = ()
    findings: Sequence[str] = ()


class Task(ABC):
    """One kind of evaluation.

    `options` are those of `assay TASK score` beyond the common ones; an option named `predictions`
    or `gold` is handed over under that name. `missing` is the task's default policy for examples
    without a prediction. `keeps` says that `extra` and `finish` want rows and examples; a task
    for which that depends on the options overrides `wants_rows`. `own_intervals` are values of
    `interval` that the task's `intervals` makes, besides the common ones. `own_format` is the value
    of `--format` that asks for `render`. `derives` names the columns that `derive` knows.
    `questions` are what judges are asked about an item, in this order, and `guidelines` what they
    may read before they answer. `shares` are common options (`seed`, `ci`) that `examples` is given
    as well; declared among `options` too, one has a default of the task's own.
    """

    name: ClassVar[str]
    options: ClassVar[tuple[Option, ...]] = ()
    verbs: ClassVar[tuple[Verb, ...]] = ()
    default_metrics: ClassVar[tuple[str, ...]] = ()
    missing: ClassVar[Missing] = "error"
    keeps: ClassVar[bool] = False
    own_intervals: ClassVar[tuple[str, ...]] = ()
    own_format: ClassVar[str] = "table"
    derives: ClassVar[tuple[str, ...]] = ()
    shares: ClassVar[tuple[str, ...]] = ()
    questions: ClassVar[tuple[Question, ...]] = (CORRECT,)
    guidelines: ClassVar[str] = GUIDELINES

    @property
    def summary(self) -> str:
        """What the task is for, in one line: that of its module's docstring."""
        return (sys.modules[type(self).__module__].__doc__ or "").partition("\n")[0]

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

    def systems(self, predictions: Any, **options: Any) -> Mapping[str, Any] | None:
        """The predictions of each system by its name, where they are those of several systems that
        are to be scored one after the other; None for one system."""
        return None

    def samples(self) -> Iterable[tuple[Metric, Sequence[Pair]]]:
        """The task's own metrics, each with some pairs it can measure: right, wrong and odd ones.

        `assay.testing` holds each metric listed here to the contract of all metrics.
        """
        return ()

    def derive(self, column: str, batch: Batch) -> Sequence[str] | None:
        """Values of a slice column that the task can compute; None if it knows no such column."""
        return None

    def render(self, document: ResultDocument, **options: Any) -> str | None:
        """The result in the words of the tool this task replaces, or None for the usual table."""
        return None

    def details(self, document: ResultDocument, **options: Any) -> str | None:
        """What to print below the usual table (a confusion matrix, a curve), or None."""
        return None

    def shows_intervals(self, **options: Any) -> bool:
        """Whether `render` prints intervals. Where nothing would show them, none are made."""
        return True

    def intervals(
        self,
        kind: str,
        metrics: Sequence[Metric],
        rows: Rows,
        *,
        level: float,
        resamples: int,
        seed: int,
    ) -> Sequence[Mapping[str, Interval]]:
        """Intervals of one of `own_intervals`: for each metric, by the name of the score."""
        raise NotImplementedError(f"{self.name} declares no intervals of its own")

    def wants_rows(self, **options: Any) -> bool:
        """Whether `extra` and `finish` want rows and examples, with these options.

        Besides the task's own options it is given `interval`.
        """
        return self.keeps

    def explain(
        self, batch: Batch, metrics: Sequence[Metric]
    ) -> Sequence[Mapping[str, Any]] | None:
        """Why each example got the scores it has, as plain data for `--per-example`; or None."""
        return None

    def extra(self, outcome: Outcome, **options: Any) -> Mapping[str, Any]:
        """What the task knows besides scores (a confusion matrix, a curve): plain data that goes
        into the document's `extra`. `report.extras` lists what is drawn from it."""
        return {}

    def main_score(self, document: ResultDocument) -> str | None:
        """The key of the score that systems are ranked by in reports; None for the first."""
        return None

    def shown(self, value: Any) -> Any:
        """A stored prediction or gold as a reader should see it: a text, or a list of candidates.

        A mapping is shown line by line, by key.
        """
        return value

    def tokens(self, text: str) -> Sequence[str] | None:
        """The parts of a shown text that differences are marked by, in order; None for words."""
        return None

    def inspect(self, path: str) -> Inspection | None:
        """What is odd in a file of the task's own format; None where it is no such file."""
        return None

    def remarks(self, outcome: Outcome, **options: Any) -> Sequence[str]:
        """Warnings that only the finished scores give reason for; comparisons repeat them."""
        return ()

    def check_outputs(self, **options: Any) -> None:
        """Raise an `OutputError` before the work where `finish` could not write its files."""
        return

    def finish(self, outcome: Outcome, **options: Any) -> Mapping[str, Path]:
        """Write the task's own files; gives back what was written, by what it is."""
        return {}

    def items(self, example: Kept, **options: Any) -> Sequence[Item]:
        """What judges are shown of one example of a saved run: an item per prediction.

        `options` are those the run was scored with. The usual item is the first prediction, as it
        is `shown`.
        """
        from assay.core.judging import default_items

        return default_items(example, self.shown)

    def description_key(self, description: str) -> str:
        """The key (`Item.key`) of a description as an old sheet of verdicts has it."""
        return description.strip()

    def structure(self, prediction: str, written: str | None, **options: Any) -> str | None:
        """The structure (`Item.structure`) of a prediction; `written` is what a sheet says it is,
        None where the sheet does not say. `options` are those the run was scored with."""
        return written

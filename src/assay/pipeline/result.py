# SPDX-License-Identifier: Apache-2.0
"""What `evaluate` gives back, and what a run folder is read into."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.batch import Batch
from assay.core.document import ResultDocument
from assay.core.metric import Rows
from assay.pipeline.measuring import Layout

if TYPE_CHECKING:
    from assay.pipeline.stored import StoredExample


@dataclass(frozen=True)
class Result:
    """A finished evaluation: the document, and the rows and examples if they were kept.

    Shows as a table in a terminal (`print(result)`) and in a notebook; `to_json()` is the document.
    """

    document: ResultDocument
    layout: Layout
    rows: Rows | None = None
    batches: Sequence[Batch] = ()
    folder: Path | None = None
    written: Mapping[str, Path] = field(default_factory=dict)

    @property
    def scores(self) -> Mapping[str, float]:
        """The scores by key; NaN where undefined."""
        return self.document.scores

    @property
    def intervals(self) -> Mapping[str, tuple[float, float]]:
        """The intervals by key."""
        return self.document.intervals

    @property
    def system(self) -> str:
        """The name of the system."""
        return self.document.system

    @cached_property
    def examples(self) -> Sequence[StoredExample]:
        """The examples, if they were kept or saved; else none."""
        return list(self.iter_examples())

    def iter_examples(self) -> Iterator[StoredExample]:
        """The examples one by one, without holding them all."""
        from assay.pipeline.stored import read_examples, stored

        if self.folder is not None and not self.batches:
            return read_examples(self.folder / "examples.jsonl", self.document.statistics["n"])
        cluster = self.document.statistics.get("cluster")
        return (example for batch in self.batches for example in stored(batch, cluster))

    def per_example(self) -> Mapping[str, Rows]:
        """Each example's own scores, by key."""
        return self.layout.per_example(self.rows) if self.rows is not None else {}

    def to_dict(self) -> dict[str, object]:
        """The document as plain data."""
        return self.document.as_dict()

    def to_json(self) -> str:
        """The document as JSON."""
        from assay.report.json import to_json

        return to_json(self.document)

    def to_text(self, format: str = "table", digits: int | None = None) -> str:
        """The document as a table, Markdown, LaTeX or CSV."""
        from assay.report.result import render_result

        return render_result(self.document, format, digits)

    def __str__(self) -> str:
        from assay.report.terminal import remarked

        return remarked(self.to_text(), self.document.warnings)

    def _repr_html_(self) -> str:
        from assay.report.html import result_html

        return result_html(self.document)

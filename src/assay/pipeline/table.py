# SPDX-License-Identifier: Apache-2.0
"""Each example's own scores, written to a file while a run is under way."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from assay.core.batch import Batch
from assay.core.document import plain
from assay.core.errors import UsageError
from assay.core.files import atomic_file
from assay.core.metric import Rows
from assay.pipeline.measuring import Layout
from assay.pipeline.stored import StoredExample, encoded, stored

FORMATS = (".jsonl", ".tsv", ".csv")

Explain = Callable[[Batch], Sequence[Mapping[str, Any]] | None]


class ExampleTable:
    """One line per example: id, scores by key, slices; `.jsonl` also has prediction and gold, and
    what `explain` says of each example.

    Undefined scores are null, or an empty field.
    """

    def __init__(self, path: Path, layout: Layout, explain: Explain | None = None) -> None:
        if path.suffix not in FORMATS:
            raise UsageError(f"--per-example {path} must end in {', '.join(FORMATS)}")
        self.path = path
        self.layout = layout
        self._explain = explain
        self._keys = [s.key for e in layout.entries for s in e.scores]
        self._columns: list[str] | None = None

    def __enter__(self) -> Self:
        with ExitStack() as stack:  # unwound, should the second not open
            aside = stack.enter_context(atomic_file(self.path))
            self._file: TextIO = stack.enter_context(aside.open("w", encoding="utf-8", newline=""))
            self._stack = stack.pop_all()
        self._csv = csv.writer(
            self._file,
            delimiter="\t" if self.path.suffix == ".tsv" else ",",
            lineterminator="\n",
        )
        return self

    def add(self, batch: Batch, rows: Rows, cluster: str | None) -> None:
        """Write the scores of a batch."""
        scores = self.layout.per_example(rows)
        lines = self.path.suffix == ".jsonl"
        why = self._explain(batch) if self._explain is not None and lines else None
        for i, example in enumerate(stored(batch, cluster)):
            values = {key: plain(float(scores[key][i])) for key in self._keys}
            if lines:
                record = self._record(example, values)
                if why is not None:
                    record["why"] = plain(why[i])
                self._file.write(encoded(record, example).decode() + "\n")
            else:
                self._write_line(example, values)

    def _record(self, example: StoredExample, values: dict[str, Any]) -> dict[str, Any]:
        return {
            "id": example.id,
            "scores": values,
            "prediction": None if example.missing else example.prediction,
            "gold": example.gold,
            "slices": dict(example.slices),
        }

    def _write_line(self, example: StoredExample, values: dict[str, Any]) -> None:
        if self._columns is None:
            self._columns = list(example.slices)
            self._csv.writerow(["id", *self._keys, *self._columns])
        fields = ["" if values[key] is None else repr(values[key]) for key in self._keys]
        self._csv.writerow([example.id, *fields, *(example.slices[c] for c in self._columns)])

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return self._stack.__exit__(kind, error, trace)

# SPDX-License-Identifier: Apache-2.0
"""Batches to rows: the callable that engines run, and the layout of the joint row matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from assay.core.batch import Batch
from assay.core.document import MetricEntry, ScoreEntry
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Totals


@dataclass(frozen=True)
class Measure:
    """Measures a batch by several metrics; their columns lie side by side."""

    metrics: tuple[Metric, ...]

    def __call__(self, batch: Batch) -> Rows:
        """The rows of the batch, one metric's columns after the other's."""
        parts = [self._rows(metric, batch) for metric in self.metrics]
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    @staticmethod
    def _rows(metric: Metric, batch: Batch) -> Rows:
        rows = metric.measure(batch)
        assert rows.shape == (len(batch), len(metric.columns)), (
            f"{metric} gave rows of shape {rows.shape} for {len(batch)} examples "
            f"and {len(metric.columns)} columns"
        )
        return rows


def _distinct(metrics: Sequence[Metric]) -> list[Metric]:
    """The metrics without repetitions; two that are not the same cannot have the same text."""
    by_text: dict[str, Metric] = {}
    for metric in metrics:
        if by_text.setdefault(metric.text, metric) != metric:
            raise UsageError(f"two metrics are called {metric.text}; give one of them another name")
    return list(by_text.values())


@dataclass(frozen=True)
class Layout:
    """Which columns of the joint rows belong to which metric, and under which keys scores go."""

    metrics: tuple[Metric, ...]
    entries: tuple[MetricEntry, ...]

    @classmethod
    def of(cls, metrics: Sequence[Metric]) -> Layout:
        """Keys are the plain score names; where two metrics share one, the parameters follow it.

        A metric that is there twice counts once.
        """
        metrics = _distinct(metrics)
        names = [score.name for metric in metrics for score in metric.scores]
        entries = []
        for metric in metrics:
            suffix = metric.text[len(metric.name) :]
            scores = tuple(
                ScoreEntry(
                    key=s.name + (suffix if names.count(s.name) > 1 else ""),
                    name=s.name,
                    higher_is_better=s.higher_is_better,
                    unit=s.unit,
                )
                for s in metric.scores
            )
            entries.append(
                MetricEntry(metric.text, metric.signature, tuple(metric.columns), scores)
            )
        return cls(tuple(metrics), tuple(entries))

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all columns: `metric.column`."""
        return tuple(f"{e.text}.{c}" for e in self.entries for c in e.columns)

    def parts(self) -> list[tuple[Metric, MetricEntry, slice]]:
        """Each metric with its entry and its columns of the joint rows."""
        found, start = [], 0
        for metric, entry in zip(self.metrics, self.entries, strict=True):
            stop = start + len(entry.columns)
            found.append((metric, entry, slice(start, stop)))
            start = stop
        return found

    def all_scores(self, totals: Rows, rows: Rows | None) -> dict[str, float]:
        """The scores by key: from the totals where rows add up, from the rows where they do not."""
        found: dict[str, float] = {}
        for metric, entry, where in self.parts():
            if metric.merge == "sum":
                values = metric.finalise(Totals(metric.columns, totals[where]))
            else:
                assert rows is not None, f"{metric} needs the rows themselves"
                values = metric.finalise(Totals(metric.columns, rows[:, where]))
            found.update({s.key: float(values[s.name]) for s in entry.scores})
        return found

    def per_example(self, rows: Rows) -> dict[str, Rows]:
        """Each example's own scores, by key."""
        found: dict[str, Rows] = {}
        for metric, entry, where in self.parts():
            values = metric.per_example(rows[:, where])
            found.update({s.key: np.asarray(values[s.name], dtype=float) for s in entry.scores})
        return found

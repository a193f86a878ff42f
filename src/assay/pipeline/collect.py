# SPDX-License-Identifier: Apache-2.0
"""Rows to scores: takes in measured batches and ends with every number of the document."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.aggregate.totals import Codes, SliceSums, Sums, macro_scores, split_columns
from assay.core.batch import Batch
from assay.core.document import SliceEntry
from assay.core.errors import UsageError
from assay.core.metric import Rows, Totals
from assay.core.task import Macro
from assay.pipeline.digest import GoldDigest
from assay.pipeline.kept import KeptRows
from assay.pipeline.measuring import Layout
from assay.pipeline.slicing import Grouping

if TYPE_CHECKING:  # what makes intervals is loaded where intervals are wanted
    from assay.aggregate.interval import Interval
    from assay.aggregate.resample import PoissonSums

MOST_SLICE_INTERVALS = 1_000

INTERVALS = ("auto", "bootstrap", "poisson")
"""How intervals can be made for any task; a task may have further ways of its own."""

OwnIntervals = Callable[..., "Sequence[Mapping[str, Interval]]"]
"""`Task.intervals`, for one kind."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is wanted of the rows."""

    ci: float
    interval: str
    resamples: int
    seed: int
    slices: tuple[str, ...] = ()
    macros: Mapping[str, Macro] = field(default_factory=dict)
    cluster: str | None = None
    keep_rows: bool = True
    keep_batches: bool = False
    own_intervals: OwnIntervals | None = None
    digests: bool = True

    @property
    def needs_rows(self) -> bool:
        """Whether anything but the totals is looked at after the last batch."""
        return self.keep_rows or (self.ci > 0 and self.interval != "poisson")


@dataclass(frozen=True, slots=True)
class Collected:
    """Every number of a document."""

    n: int
    scores: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]]
    methods: Mapping[str, str]
    slices: Mapping[str, Mapping[str, SliceEntry]]
    macros: Mapping[str, SliceEntry]
    weights: Mapping[str, Mapping[str, Any]]
    warnings: Sequence[str]
    gold_sha256: str | None
    totals: Rows
    extra: int = 0
    rows: Rows | None = None
    batches: Sequence[Batch] = field(default_factory=list)


class Collector:
    """Takes in batches and their rows in order; keeps no more of them than the plan needs."""

    def __init__(self, layout: Layout, plan: Plan) -> None:
        self.layout = layout
        self.plan = plan
        n_columns = len(layout.columns)
        concat = any(m.merge == "concat" for m in layout.metrics)
        if concat and not plan.needs_rows and plan.interval == "poisson":
            raise UsageError("--interval poisson does not work for metrics that do not add up")
        self._keeps_rows = plan.needs_rows or concat
        self._sums = Sums(n_columns)
        self._slices = {c: (Grouping(c), SliceSums(n_columns)) for c in plan.slices}
        self._clusters = Grouping(plan.cluster) if plan.cluster is not None else None
        self._poisson: PoissonSums | None = None
        if plan.ci > 0 and plan.interval == "poisson":
            from assay.aggregate.resample import PoissonSums

            self._poisson = PoissonSums(n_columns, resamples=plan.resamples, seed=plan.seed)
        self._gold = GoldDigest() if plan.digests else None
        self._rows = KeptRows(n_columns)
        self._batches: list[Batch] = []
        self.n = 0
        self._extra = 0

    def add(self, batch: Batch, rows: Rows) -> None:
        """Take in the next batch."""
        self._sums.add(rows)
        if self._gold is not None:
            self._gold.add(batch)
        for column, (grouping, sums) in self._slices.items():
            sums.add(rows, grouping.add(batch.columns[column]))
        if self._clusters is not None:
            self._clusters.add(batch.columns[self._clusters.column])
        if self._poisson is not None:
            names = batch.columns[self.plan.cluster] if self.plan.cluster is not None else None
            self._poisson.add(rows, first=self.n, clusters=names)
        if self._keeps_rows:
            self._rows.add(rows)
        if self.plan.keep_batches:
            self._batches.append(batch)
        self.n += len(batch)
        self._extra += int(batch.extra.sum()) if batch.extra is not None else 0

    def finish(self) -> Collected:
        """Compute every number."""
        rows = self._rows.matrix() if self._keeps_rows else None
        totals = self._sums.values
        scores = self.layout.all_scores(totals, rows)
        warnings: list[str] = []
        found = self._intervals(totals, rows, warnings) if self.plan.ci > 0 else {}
        slices = {c: self._slice_entries(c, rows, warnings) for c in self._slices}
        return Collected(
            n=self.n,
            scores=scores,
            intervals={key: i.bounds for key, i in found.items()},
            methods={key: i.method for key, i in found.items()},
            slices=slices,
            macros={
                **{c: self._macro(c, rows) for c in self._slices},
                **{name: self._weighted(macro, rows) for name, macro in self.plan.macros.items()},
            },
            weights={name: self._weights(macro) for name, macro in self.plan.macros.items()},
            warnings=warnings,
            gold_sha256=self._gold.hexdigest() if self._gold is not None else None,
            totals=totals,
            extra=self._extra,
            rows=rows if self.plan.keep_rows else None,
            batches=self._batches,
        )

    def _intervals(
        self, totals: Rows, rows: Rows | None, warnings: list[str]
    ) -> dict[str, Interval]:
        from assay.aggregate.asked import few_resamples
        from assay.aggregate.interval import cluster_warning, resampled_intervals

        plan, codes = self.plan, self._codes()
        if codes is not None:
            few = cluster_warning(codes)
            if few is not None:
                warnings.append(few)
        rough = few_resamples(plan.resamples, plan.ci)
        if self._poisson is not None:
            if rough is not None:
                warnings.append(rough)
            units = self.n if codes is None else len(np.unique(codes))
            found = {}
            parts = split_columns(self.layout.metrics, self._poisson.totals)
            for (metric, entry, _), part in zip(self.layout.parts(), parts, strict=True):
                resampled = metric.finalise(Totals(metric.columns, part))
                by_name = resampled_intervals(resampled, n=units, level=plan.ci, method="poisson")
                found.update({s.key: by_name[s.name] for s in entry.scores})
            return found
        assert rows is not None, "resampling needs the rows"
        found = self._by_rows(rows, codes)
        if rough is not None and any(i.method != "wilson" for i in found.values()):
            warnings.append(rough)
        # A score that is undefined in all of them is undefined itself, which its empty cell says.
        undefined = {k: i.undefined for k, i in found.items() if 0 < i.undefined < plan.resamples}
        if undefined:
            key, most = max(undefined.items(), key=lambda item: item[1])
            warnings.append(
                f"{key} is undefined in {most:,} of {plan.resamples:,} resamples; "
                "its interval is made of the others"
            )
        return found

    def _by_rows(self, rows: Rows, codes: Codes | None) -> dict[str, Interval]:
        plan = self.plan
        if plan.own_intervals is not None:
            by_metric = plan.own_intervals(
                self.layout.metrics,
                rows,
                level=plan.ci,
                resamples=plan.resamples,
                seed=plan.seed,
            )
        else:
            from assay.aggregate.interval import score_intervals

            by_metric = score_intervals(
                self.layout.metrics,
                rows,
                method="auto" if plan.interval == "auto" else "bootstrap",
                level=plan.ci,
                resamples=plan.resamples,
                seed=plan.seed,
                clusters=codes,
            )
        return {
            s.key: by_name[s.name]
            for entry, by_name in zip(self.layout.entries, by_metric, strict=True)
            for s in entry.scores
        }

    def _codes(self) -> Codes | None:
        return self._clusters.codes if self._clusters is not None else None

    def _slice_entries(
        self, column: str, rows: Rows | None, warnings: list[str]
    ) -> dict[str, SliceEntry]:
        grouping, sums = self._slices[column]
        codes, clusters = grouping.codes, self._codes()
        with_intervals = self.plan.ci > 0 and rows is not None
        if with_intervals and len(grouping.values) > MOST_SLICE_INTERVALS:
            warnings.append(
                f"{column} has {len(grouping.values):,} values: slices get no intervals "
                f"above {MOST_SLICE_INTERVALS:,}"
            )
            with_intervals = False
        members: list[Codes] = []  # positions of each slice's examples, where rows are looked at
        if rows is not None and len(sums.counts):
            order = np.argsort(codes, kind="stable")
            members = np.split(order, np.cumsum(sums.counts)[:-1])
        if with_intervals and clusters is not None:
            from assay.aggregate.interval import sliced_cluster_warning

            few = sliced_cluster_warning(column, clusters, members)
            warnings += [few] if few is not None else []
        entries: dict[str, SliceEntry] = {}
        told = zip(grouping.values, sums.table, sums.counts.tolist(), strict=True)
        for i, (value, totals, n) in enumerate(told):
            part = rows[members[i]] if rows is not None else None
            found: dict[str, Interval] = {}
            if with_intervals and part is not None:
                found = self._by_rows(part, clusters[members[i]] if clusters is not None else None)
            entries[value] = SliceEntry(
                n,
                self.layout.all_scores(totals, part),
                {key: own.bounds for key, own in found.items()},
            )
        return entries

    def _weights(self, macro: Macro) -> dict[str, Any]:
        """Which slices a mean is made of, so that stored runs can be compared by it."""
        values = self._slices[macro.column][0].values
        weights = zip(values, macro.weights(values), strict=True)
        return {"column": macro.column, "weights": {v: float(w) for v, w in weights if w}}

    def _weighted(self, macro: Macro, rows: Rows | None) -> SliceEntry:
        """The mean over some slices of a column, resampling the examples of these slices alone."""
        grouping, sums = self._slices[macro.column]
        weights = np.asarray(macro.weights(grouping.values), dtype=np.float64)
        chosen = np.flatnonzero(weights)
        dense = np.full(len(weights), -1, dtype=np.intp)
        dense[chosen] = np.arange(len(chosen))
        codes = dense[grouping.codes] if len(weights) else grouping.codes
        inside = np.flatnonzero(codes >= 0)
        part = rows[inside] if rows is not None else None
        return self._mean(sums.table[chosen], codes[inside], inside, part, weights[chosen])

    def _macro(self, column: str, rows: Rows | None) -> SliceEntry:
        """The mean over the slices of a column, each slice counting the same."""
        grouping, sums = self._slices[column]
        return self._mean(sums.table, grouping.codes, None, rows, None)

    def _mean(
        self,
        table: Rows,
        codes: Codes,
        inside: Codes | None,
        rows: Rows | None,
        weights: Rows | None,
    ) -> SliceEntry:
        """The mean over the slices of `table`; `inside` are the positions of their examples."""
        n_slices = len(table)
        clusters = self._codes()
        if clusters is not None and inside is not None:
            clusters = clusters[inside]
        units = len(codes) if clusters is None else len(np.unique(clusters))
        parts = [part for part in self.layout.parts() if part[0].merge == "sum"]
        scores: dict[str, float] = {}
        for metric, entry, where in parts:
            values = macro_scores(metric, table[:, where], weights=weights)
            scores.update({s.key: float(values[s.name]) for s in entry.scores})
        bounds: dict[str, tuple[float, float]] = {}
        few = 0 < n_slices <= MOST_SLICE_INTERVALS
        if self.plan.ci > 0 and rows is not None and few and parts:
            from assay.aggregate.interval import resampled_intervals
            from assay.aggregate.resample import bootstrap_macros

            resampled = bootstrap_macros(
                [metric for metric, _, _ in parts],
                np.concatenate([rows[:, where] for _, _, where in parts], axis=1),
                codes,
                n_slices,
                resamples=self.plan.resamples,
                seed=self.plan.seed,
                clusters=clusters,
                weights=weights,
            )
            for (_, entry, _), by_name in zip(parts, resampled, strict=True):
                found = resampled_intervals(by_name, n=units, level=self.plan.ci)
                bounds.update({s.key: found[s.name].bounds for s in entry.scores})
        return SliceEntry(n_slices, scores, bounds)

# SPDX-License-Identifier: Apache-2.0
"""The differences of a comparison: of the whole, of slices, of means over slices; corrected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from assay.aggregate.macro import OverSlices
from assay.aggregate.paired import Paired as PairedScores
from assay.aggregate.paired import Test, compare_systems
from assay.aggregate.totals import Codes
from assay.aggregate.verdict import verdict
from assay.core.comparison import Difference
from assay.core.errors import UsageError
from assay.core.metric import Rows
from assay.core.names import unknown
from assay.pipeline.limits import Margins
from assay.pipeline.measuring import Layout
from assay.pipeline.pairing import Paired

MACRO = "macro average"
"""What stands in place of a slice column where the part of a difference is a mean over slices."""


@dataclass(frozen=True)
class Settings:
    """How differences are tested, and told."""

    ci: float
    resamples: int
    trials: int
    seed: int
    alpha: float
    margins: Margins
    test: Test


def differences_of(
    side_by_side: Paired,
    rows: Sequence[Rows],
    pairs: Sequence[tuple[int, int]],
    settings: Settings,
    codes: Codes | None,
    part: tuple[str, str] | None,
    warnings: list[str] | None = None,
) -> list[Difference]:
    """Each pair (system, baseline) by each score on these rows; `part` names them if a slice.

    p-values are not corrected yet. What resamples left undefined is added to `warnings`.
    """
    layout, runs = side_by_side.layout, side_by_side.runs
    found = compare_systems(
        layout.metrics,
        rows,
        pairs,
        level=settings.ci,
        resamples=settings.resamples,
        trials=settings.trials,
        seed=settings.seed,
        clusters=codes,
        test=settings.test,
    )
    if warnings is not None:
        said = [
            remark
            for by_metric in found
            for entry, by_name in zip(layout.entries, by_metric, strict=True)
            for score in entry.scores
            for remark in left_out(score.key, by_name[score.name], settings)
        ]
        if said:  # of many the worst stands for all
            warnings.append(max(said)[1])
    return [
        Difference(
            key=score.key,
            system=runs[a].system,
            baseline=runs[b].system,
            system_score=one.system_score,
            baseline_score=one.baseline_score,
            difference=one.difference,
            interval=one.interval.bounds,
            p=one.p,
            p_adjusted=one.p,
            test=one.test,
            correction="none",
            verdict="undecided",
            n=len(rows[0]),
            slice=part,
            mcnemar=one.mcnemar,
            interval_method=one.interval.method,
        )
        for (a, b), by_metric in zip(pairs, found, strict=True)
        for entry, by_name in zip(layout.entries, by_metric, strict=True)
        for score in entry.scores
        for one in [by_name[score.name]]
    ]


def left_out(key: str, one: PairedScores, settings: Settings) -> Iterator[tuple[float, str]]:
    """In what share of resamples and of trials a score was undefined, and what is said of it."""
    for often, of, what, rest in (
        (one.interval.undefined, settings.resamples, "resamples", "the interval of its difference"),
        (one.undefined, settings.trials, "trials", "its p-value"),
    ):
        # A difference that is undefined itself has an empty cell, which says so.
        if often and not math.isnan(one.difference):
            yield (
                often / of,
                f"{key} is undefined in {often:,} of {of:,} {what}; {rest} is made of the others",
            )


def macro_differences(
    side_by_side: Paired,
    name: str,
    pairs: Sequence[tuple[int, int]],
    settings: Settings,
    codes: Codes | None,
) -> list[Difference]:
    """Differences between means over slices; metrics that do not add up have none."""
    column, weights = _slices_of(side_by_side, name)
    grouping = side_by_side.grouping(column)
    heavy = np.array([weights.get(v, 0.0) if weights else 1.0 for v in grouping.values])
    chosen = np.flatnonzero(heavy)
    dense = np.full(len(heavy), -1, dtype=np.intp)
    dense[chosen] = np.arange(len(chosen))
    own = dense[grouping.codes]
    inside = np.flatnonzero(own >= 0)
    parts = [part for part in side_by_side.layout.parts() if part[0].merge == "sum"]
    over = [OverSlices(metric, len(chosen), heavy[chosen]) for metric, _, _ in parts]
    rows = [
        np.concatenate(
            [
                one.widened(run[inside][:, where], own[inside])
                for one, (_, _, where) in zip(over, parts, strict=True)
            ],
            axis=1,
        )
        for run in side_by_side.rows
    ]
    wide = replace(side_by_side, layout=Layout(tuple(over), tuple(entry for _, entry, _ in parts)))
    inner = codes[inside] if codes is not None else None
    return differences_of(wide, rows, pairs, settings, inner, (MACRO, name))


def _slices_of(side_by_side: Paired, name: str) -> tuple[str, Mapping[str, float] | None]:
    """The column that a mean is over, and the weights of its slices if not all count the same."""
    declared: Mapping[str, Any] = side_by_side.runs[0].document.statistics.get("macros", {})
    if name in declared:
        if not declared[name]["weights"]:
            raise UsageError(f"no example is in a slice of {name}: there is nothing to average")
        return declared[name]["column"], declared[name]["weights"]
    first = next(side_by_side.examples(0), None)
    columns = first.slices if first is not None else {}
    if name not in columns:
        raise unknown("macro average", name, list(dict.fromkeys([*declared, *columns])))
    return name, None


def corrected(
    found: Sequence[Difference],
    family: Callable[[Difference], object],
    correct: Callable[[Sequence[float]], Any],
    name: str,
    settings: Settings,
    side_by_side: Paired,
) -> list[Difference]:
    """Adjust p-values within each family, and say the verdict."""
    members: dict[object, list[int]] = {}
    for i, difference in enumerate(found):
        members.setdefault(family(difference), []).append(i)
    better = {s.key: s.higher_is_better for e in side_by_side.layout.entries for s in e.scores}
    out = list(found)
    for where in members.values():
        adjusted = correct([found[i].p for i in where])
        for i, p in zip(where, adjusted, strict=True):
            d = found[i]
            out[i] = replace(
                d,
                p_adjusted=float(p),
                correction=name if len(where) > 1 else "none",
                verdict=verdict(
                    d.difference,
                    d.interval,
                    float(p),
                    higher_is_better=better[d.key],
                    alpha=settings.alpha,
                    margin=settings.margins.of(d.key),
                ),
            )
    return out

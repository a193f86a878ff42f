# SPDX-License-Identifier: Apache-2.0
"""Predictions with confidence: precision and recall as the threshold falls, and what follows."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any, NamedTuple

from assay.core.metric import f_score
from assay.tasks.metadata.reference import java_number

RECALLS = (0.5, 0.8)
"""Recalls at which precision is told if nobody asks for others."""

HEAD = "Threshold\tPrecision\tRecall"


class Scored(NamedTuple):
    """One predicted value and how sure the system was of it."""

    id: str
    value: str
    confidence: float


class Point(NamedTuple):
    """Precision and recall of the predictions with at least this confidence; NaN is undefined."""

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """F1 of the two."""
        return float(f_score(self.precision, self.recall))


@dataclass(slots=True)
class _Paper:
    """What has been taken in of one paper so far."""

    gold: Counter[str]
    n_gold: int
    taken: int = 0
    hits: int = 0

    def precision(self) -> float:
        return self.hits / self.taken

    def recall(self) -> float:
        return self.hits / self.n_gold


class _Sums:
    """Means over papers, kept as running sums in the order predictions are taken in."""

    def __init__(self, gold: Mapping[str, Sequence[str]], duplicates: str) -> None:
        self.duplicates = duplicates
        distinct = duplicates == "set"
        self.papers = {
            name: _Paper(Counter(values), len(set(values)) if distinct else len(values))
            for name, values in gold.items()
        }
        self.n_recall = sum(1 for paper in self.papers.values() if paper.n_gold)
        self.n_precision = 0
        self.precision_sum = self.recall_sum = 0.0
        self.seen: set[tuple[str, str]] = set()

    def take(self, item: Scored) -> None:
        """Take in one more prediction."""
        paper = self.papers.setdefault(item.id, _Paper(Counter(), 0))
        key = (item.id, item.value)
        repeated = key in self.seen
        if repeated and self.duplicates == "set":
            return
        self.seen.add(key)
        hit = paper.gold[item.value] > 0 if item.value in paper.gold else False
        if hit and self.duplicates == "multiset":
            paper.gold[item.value] -= 1
        before = (paper.precision() if paper.taken else 0.0), paper.hits
        if not paper.taken:
            self.n_precision += 1
        paper.taken += 1
        paper.hits += hit
        self.precision_sum += paper.precision() - before[0]
        if paper.n_gold:
            self.recall_sum += paper.recall() - before[1] / paper.n_gold

    def point(self, threshold: float) -> Point:
        """Where the curve is now."""
        return Point(
            threshold,
            self.precision_sum / self.n_precision if self.n_precision else math.nan,
            self.recall_sum / self.n_recall if self.n_recall else math.nan,
        )


def scan(
    gold: Mapping[str, Sequence[str]],
    scored: Iterable[Scored],
    duplicates: str = "set",
    bins: int | None = None,
) -> list[Point]:
    """The curve: one point per distinct confidence, falling.

    With more than `bins` predictions the thresholds are evenly spaced instead; the lowest is then
    above the least confident predictions, which never enter.

    >>> gold = {"p1": ["A"], "p2": ["B"]}
    >>> [tuple(p) for p in scan(gold, [Scored("p1", "A", 0.9), Scored("p2", "X", 0.4)])]
    [(0.9, 1.0, 0.5), (0.4, 0.5, 0.5)]
    """
    ordered = sorted(scored, key=itemgetter(2), reverse=True)
    sums = _Sums(gold, duplicates)
    if not ordered:
        return [Point(0.0, math.nan, 0.0 if sums.n_recall else math.nan)]
    if not sums.n_recall:
        return [Point(ordered[0].confidence, 0.0, math.nan)]
    points = []
    if bins is None or len(ordered) <= bins:
        for threshold, group in groupby(ordered, key=itemgetter(2)):
            for item in group:
                sums.take(item)
            points.append(sums.point(threshold))
        return points
    low, high = ordered[-1].confidence, ordered[0].confidence
    at = 0
    for k in range(bins, 0, -1):
        threshold = low + k * (high - low) / bins
        while at < len(ordered) and ordered[at].confidence >= threshold:
            sums.take(ordered[at])
            at += 1
        points.append(sums.point(threshold))
    return points


def average_precision(points: Sequence[Point]) -> float:
    """The area under the curve as steps: what each gain in recall was worth in precision.

    Undefined without gold, 0 without predictions.

    >>> average_precision([Point(0.9, 1.0, 0.5), Point(0.4, 0.5, 1.0)])
    0.75
    """
    if math.isnan(points[-1].recall):
        return math.nan
    total = before = 0.0
    for point in points:
        if not math.isnan(point.precision):
            total += (point.recall - before) * point.precision
            before = point.recall
    return total


def best_f1(points: Sequence[Point]) -> Point | None:
    """The point of the highest F1, of equal ones that of the highest threshold; None if F1 is
    defined nowhere."""
    known = [p for p in points if not math.isnan(p.f1)]
    return max(known, key=lambda p: p.f1, default=None)


def precision_at(points: Sequence[Point], recall: float) -> float:
    """The best precision of a point that reaches this recall; undefined where none does.

    >>> precision_at([Point(0.9, 1.0, 0.5), Point(0.4, 0.6, 1.0)], 0.8)
    0.6
    """
    return max((p.precision for p in points if p.recall >= recall), default=math.nan)


def summary(points: Sequence[Point], recalls: Sequence[float] = RECALLS) -> dict[str, Any]:
    """The curve and what follows from it, as plain data."""
    best = best_f1(points)
    return {
        "points": [list(p) for p in points],
        "average_precision": average_precision(points),
        "best": None if best is None else {**best._asdict(), "f1": best.f1},
        "precision_at_recall": [
            {"recall": r, "precision": precision_at(points, r)} for r in recalls
        ],
    }


def curve_text(points: Iterable[Sequence[float | None]]) -> str:
    """The content of `PR-curve.tsv`."""
    rows = ("\t".join(java_number(math.nan if v is None else v) for v in p) for p in points)
    return "\n".join([HEAD, *rows]) + "\n"

# SPDX-License-Identifier: Apache-2.0
"""The old program to the last digit: its running sums, its numbers, its order of papers."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Decimal
from typing import NamedTuple

import numpy as np

from assay.core.text import Positions, TextLists
from assay.tasks.metadata.kernel import compare
from assay.tasks.metadata.match import Match
from assay.tasks.metadata.metric import mapped_lists
from assay.tasks.metadata.papers import Field


class PR(NamedTuple):
    """Precision and recall of a field; NaN where undefined."""

    precision: float
    recall: float


def java_number(value: float) -> str:
    """A double as Java prints it; undefined is empty.

    >>> [java_number(v) for v in (1.0, 1 / 3, 0.0005, 2.5e-4, 1.0e7, math.nan)]
    ['1.0', '0.3333333333333333', '5.0E-4', '2.5E-4', '1.0E7', '']
    """
    if math.isnan(value):
        return ""
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0:
        return "-0.0" if math.copysign(1.0, value) < 0 else "0.0"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, digits))
    point = len(text) + exponent  # digits before the decimal point
    minus = "-" if sign else ""
    if 1e-3 <= abs(value) < 1e7:
        if point <= 0:
            return f"{minus}0.{'0' * -point}{text}"
        whole, rest = text[:point].ljust(point, "0"), text[point:]
        return f"{minus}{whole}.{rest or '0'}"
    return f"{minus}{text[0]}.{text[1:] or '0'}E{point - 1}"


def half_up(value: float, digits: int = 3) -> str:
    """A number with so many decimals, halves rounded up as seen in its shortest digits.

    >>> half_up(0.0625), half_up(0.0075), half_up(0.1025), half_up(math.nan)
    ('0.063', '0.008', '0.103', '')
    """
    if math.isnan(value):
        return ""
    step = Decimal(1).scaleb(-digits)
    return str(Decimal(repr(value)).quantize(step, rounding=ROUND_HALF_UP))


def utf16_key(text: str) -> bytes:
    """Sorts strings by UTF-16 code units.

    >>> sorted(["\\ufb01", "\\U0001f600", "a"], key=utf16_key) == ["a", "\\U0001f600", "\\ufb01"]
    True
    """
    return text.encode("utf-16-be", "surrogatepass")


def hash_place(text: str) -> tuple[int, ...]:
    """Where a Scala 2.11 map of more than four entries keeps a string: sorts as it iterates.

    >>> sorted(["m1", "m2", "m3", "m4", "m5"], key=hash_place)
    ['m2', 'm4', 'm1', 'm3', 'm5']
    """
    h = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        h = (31 * h + (high << 8 | low)) & 0xFFFFFFFF
    h = (h + ~(h << 9)) & 0xFFFFFFFF
    h ^= h >> 14
    h = (h + (h << 4)) & 0xFFFFFFFF
    h ^= h >> 10
    return tuple(h >> shift & 31 for shift in range(0, 32, 5))


def running_scores(predictions: Field, gold: Field, rule: Match | None = None) -> PR:
    """Precision and recall as the old program adds them up, value after value in file order.

    Each predicted value adds what it changes in its paper's precision and recall; a plain mean
    differs in the last digits.
    """
    gold_of = gold.first_numbers()
    sums = np.zeros(2)
    n_precision = 0
    for lines, owners in predictions.in_file_order():
        papers, local = np.unique(owners, return_inverse=True)
        ours, theirs = predictions.labels.values(lines), gold.labels.values(gold_of[papers])
        changes, counted = _changes(ours, theirs, local, rule)
        n_precision += counted
        # add.accumulate goes strictly from left to right; sum would add pairwise.
        sums = np.add.accumulate(np.vstack([sums, changes]))[-1]
    held = np.flatnonzero(gold_of >= 0)
    has_gold = np.zeros(len(gold_of), dtype=bool)
    has_gold[held] = gold.labels.n_values(gold_of[held]) > 0
    n_recall = int(np.where(has_gold, np.maximum(predictions.n_lines(), 1), 0).sum())
    return PR(
        float(sums[0] / n_precision) if n_precision else math.nan,
        float(sums[1] / n_recall) if n_recall else math.nan,
    )


def _changes(
    ours: TextLists, theirs: TextLists, local: Positions, rule: Match | None
) -> tuple[np.ndarray[tuple[int, int], np.dtype[np.float64]], int]:
    """What every value of some lines adds to both sums, and how many lines have values.

    Line i is held against list `local[i]` of `theirs`.
    """
    if rule is not None and rule.by != "exact":
        ours, theirs = mapped_lists(ours, rule), mapped_lists(theirs, rule)
    found = compare(ours, theirs, local)
    counts = ours.counts()
    n_gold = np.repeat(theirs.counts()[local], counts)
    running = np.cumsum(found.predicted)
    first = np.repeat(ours.splits[:-1], counts)
    rank = np.arange(len(found.predicted)) - first + 1
    before_line = running[first] - found.predicted[first] if len(first) else running
    hits: Positions = running - before_line
    hits_before: Positions = hits - found.predicted
    changes = np.empty((len(hits), 2))
    old = np.where(rank > 1, hits_before / np.maximum(rank - 1, 1), 0.0)
    changes[:, 0] = hits / rank - old
    safe = np.maximum(n_gold, 1)
    changes[:, 1] = np.where(n_gold > 0, hits / safe - hits_before / safe, 0.0)
    return changes, int((counts > 0).sum())

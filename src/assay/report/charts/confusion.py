# SPDX-License-Identifier: Apache-2.0
"""Which class was taken for which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from assay.report.charts.canvas import Chart
from assay.report.charts.matrix import Square, grid
from assay.report.numbers import format_count, format_percent
from assay.report.tables import Cell, Table, left, right

MOST_CLASSES = 16
"""Of more classes the most frequent are drawn; the table has all that were mixed up."""
OTHERS = "(others)"


def confusion_chart(
    counts: Mapping[str, Mapping[str, int]], title: str, order: Sequence[str] | None = None
) -> Chart:
    """Gold classes downwards, predicted ones across; shade is the share of the gold class.

    `counts` is gold class -> predicted class -> how often. The diagonal, framed, is right. `order`
    are all classes; charts of several systems share one, so that they can be held together.
    """
    classes = list(order) if order is not None else classes_of([counts])
    kept = classes[:MOST_CLASSES]
    folded = _folded(counts, kept)
    names = [*kept, OTHERS] if len(classes) > len(kept) else kept
    rows = [name for name in names if sum(folded.get(name, {}).values())]
    squares = [[_square(folded[gold], gold, predicted) for predicted in names] for gold in rows]
    marks, height = grid(rows, names, squares, row_title="gold ↓", column_title="predicted →")
    right_ones = sum(counts.get(c, {}).get(c, 0) for c in classes)
    n = sum(sum(row.values()) for row in counts.values())
    share = f"{format_count(right_ones)} of {format_count(n)} are right"
    said = f"{share}. {_mistakes(counts)}"
    return Chart(title, height, tuple(marks), said, _table(counts, classes, title))


def classes_of(every: Iterable[Mapping[str, Mapping[str, int]]]) -> list[str]:
    """The classes by how often they are gold, then predicted, in the counts of all systems."""
    seen: dict[str, list[int]] = {}
    for counts in every:
        for gold, row in counts.items():
            seen.setdefault(gold, [0, 0])[0] += sum(row.values())
            for predicted, n in row.items():
                seen.setdefault(predicted, [0, 0])[1] += n
    return sorted(seen, key=lambda name: (-seen[name][0], -seen[name][1], name))


def _folded(
    counts: Mapping[str, Mapping[str, int]], kept: Sequence[str]
) -> dict[str, dict[str, int]]:
    known = set(kept)
    folded: dict[str, dict[str, int]] = {}
    for gold, row in counts.items():
        into = folded.setdefault(gold if gold in known else OTHERS, {})
        for predicted, n in row.items():
            name = predicted if predicted in known else OTHERS
            into[name] = into.get(name, 0) + n
    return folded


def _square(row: Mapping[str, int], gold: str, predicted: str) -> Square:
    n, whole = row.get(predicted, 0), sum(row.values())
    share = n / whole if whole else 0.0
    told = f"{gold} predicted as {predicted}: {format_count(n)}, {format_percent(round(share, 3))}"
    return Square(share, format_count(n) if n else "", told)


def _mixed(counts: Mapping[str, Mapping[str, int]]) -> list[tuple[int, str, str]]:
    found = [
        (n, gold, predicted)
        for gold, row in counts.items()
        for predicted, n in row.items()
        if gold != predicted and n
    ]
    return sorted(found, key=lambda each: (-each[0], each[1], each[2]))


def _mistakes(counts: Mapping[str, Mapping[str, int]]) -> str:
    most = [f"{gold} as {predicted} {format_count(n)}" for n, gold, predicted in _mixed(counts)[:5]]
    return f"Most often mixed up: {'; '.join(most)}." if most else "None is mixed up."


def _table(counts: Mapping[str, Mapping[str, int]], classes: Sequence[str], title: str) -> Table:
    rows = []
    for gold in classes:
        row = counts.get(gold, {})
        if whole := sum(row.values()):
            rows.append((gold, gold, row.get(gold, 0), whole))
    rows += [
        (gold, predicted, n, sum(counts[gold].values())) for n, gold, predicted in _mixed(counts)
    ]
    body = tuple(
        (
            *(Cell(gold), Cell(predicted), Cell(format_count(n))),
            Cell(format_percent(round(n / whole, 3))),
        )
        for gold, predicted, n, whole in rows
    )
    return Table(title, (*left("gold", "predicted"), *right("n", "share of gold")), body)

# SPDX-License-Identifier: Apache-2.0
"""Line n of the predictions belongs to line n of the gold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from assay.align.columns import Merger
from assay.align.feed import Feed
from assay.align.shape import Shape, explained
from assay.core.batch import BLOCK, Batch
from assay.core.document import Intake
from assay.core.errors import AlignError
from assay.core.records import Records
from assay.core.text import TextLists


def by_order(
    predictions: Iterator[Records],
    gold: Sequence[Iterator[Records]] | Iterator[Records],
    *,
    intake: Intake,
) -> Iterator[Batch]:
    """Batches of examples, paired by position; several gold iterators are several references.

    Unequal counts are an AlignError with both counts and both files, raised once both sides have
    been counted to the end.
    """
    left = Feed(predictions, "predictions")
    right = Feed(references(gold), "gold")
    shapes = Shape(), Shape()
    merger = Merger(intake)
    first = 0
    warned = False
    while True:
        ours, theirs = left.take(BLOCK), right.take(BLOCK)
        intake.counts.predictions, intake.counts.gold = left.n, right.n
        if ours is None and theirs is None:
            return
        for shape, block in zip(shapes, (ours, theirs), strict=True):
            if block is not None:
                shape.add(block.values)
        if ours is None or theirs is None or len(ours) != len(theirs):
            raise _unequal(left, right, shapes, intake)
        intake.counts.matched = left.n
        if not warned and (strangers := _strangers(ours, theirs)) is not None:
            intake.warnings.append(strangers)
            warned = True
        yield Batch(
            ours.values,
            theirs.values,
            theirs.ids if theirs.ids is not None else ours.ids,
            merger.merged(ours.columns, theirs.columns),
            None,
            first,
        )
        first += len(theirs)


def _strangers(ours: Records, theirs: Records) -> str | None:
    """A warning where both sides have ids and two that are paired by order differ."""
    if ours.ids is None or theirs.ids is None or list(ours.ids) == list(theirs.ids):
        return None
    index = next(i for i, (a, b) in enumerate(zip(ours.ids, theirs.ids, strict=True)) if a != b)
    return (
        f"paired by order though ids differ, first '{ours.ids[index]}' "
        f"({ours.place_of(index)}) and '{theirs.ids[index]}' ({theirs.place_of(index)})"
    )


def _unequal(left: Feed, right: Feed, shapes: tuple[Shape, Shape], intake: Intake) -> AlignError:
    for feed, shape in zip((left, right), shapes, strict=True):
        while (block := feed.take(BLOCK)) is not None:
            shape.add(block.values)
    intake.counts.predictions, intake.counts.gold = left.n, right.n
    cause = explained(left.name, left.n, shapes[0], right.name, right.n, shapes[1])
    return AlignError(
        f"{left.name} and {right.name} do not line up: "
        f"{left.n:,} prediction{'s' if left.n != 1 else ''}, {right.n:,} gold",
        hint=cause
        or "write one prediction for every example, in the order of the gold, or give both ids",
    )


def references(gold: Sequence[Iterator[Records]] | Iterator[Records]) -> Iterator[Records]:
    """Several gold files as one: the references of an example are those of all files, in order."""
    if isinstance(gold, Iterator):
        return gold
    if len(gold) == 1:
        return gold[0]
    return _zipped([Feed(records, "gold") for records in gold])


def _zipped(feeds: list[Feed]) -> Iterator[Records]:
    while True:
        blocks = [feed.take(BLOCK) for feed in feeds]
        held = [block for block in blocks if block is not None]
        if not held:
            return
        if len(held) < len(feeds) or len({len(block) for block in held}) > 1:
            for feed in feeds:
                while feed.take(BLOCK) is not None:
                    pass
            other = next(f for f in feeds if f.n != feeds[0].n)
            raise AlignError(
                f"{feeds[0].name} and {other.name} do not line up: "
                f"{feeds[0].n:,} and {other.n:,} references",
                hint="every gold file needs one reference per example",
            )
        yield _combined(held)


def _combined(blocks: list[Records]) -> Records:
    head = blocks[0]
    for other in blocks[1:]:
        if head.ids is None or other.ids is None or list(head.ids) == list(other.ids):
            continue
        index = next(i for i, (a, b) in enumerate(zip(head.ids, other.ids, strict=True)) if a != b)
        raise AlignError(
            f"id '{other.ids[index]}' where {head.place_of(index)} has '{head.ids[index]}'",
            path=other.path_of(index),
            line=other.line_of(index),
            hint="several gold files must hold the same examples in the same order",
        )
    columns = {name: c for block in reversed(blocks) for name, c in block.columns.items()}
    return Records(
        _side_by_side([block.values for block in blocks]),
        next((block.ids for block in blocks if block.ids is not None), None),
        columns,
        head.path,
        head.first,
        head.lines,
        paths=head.paths,
    )


def _side_by_side(columns: list[Sequence[object]]) -> Sequence[object]:
    lists = [c for c in columns if isinstance(c, TextLists)]
    if len(lists) < len(columns):
        return [list(chain.from_iterable(row)) for row in zip(*columns, strict=True)]
    if all(bool((c.counts() == 1).all()) for c in lists):
        return TextLists.zipped([c.firsts() for c in lists])
    return TextLists.of(
        [text for texts in row for text in texts] for row in zip(*lists, strict=True)
    )

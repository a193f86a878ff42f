# SPDX-License-Identifier: Apache-2.0
"""Both sides joined: fields by name, papers by id. Text is held once, as the bytes of its file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import BLOCK, Batch
from assay.core.document import Intake
from assay.core.errors import AlignError, InputError, UsageError
from assay.core.names import unknown
from assay.core.task import Examples, Missing
from assay.core.text import Positions
from assay.tasks.metadata.match import Match
from assay.tasks.metadata.metric import FieldMetric, join_names
from assay.tasks.metadata.pairing import Paired, name_of_single, pair_fields
from assay.tasks.metadata.papers import Field, PaperIds, Papers, number_papers, side_field
from assay.tasks.metadata.settings import Settings
from assay.tasks.metadata.sources import open_side

SHOWN = 3
"""Ids that a warning names."""


def open_examples(predictions: Any, gold: Any, missing: Missing, settings: Settings) -> Examples:
    """Read both sides and join them."""
    intake = Intake()
    if gold is None:
        raise UsageError("there is no gold; give --truth")
    if predictions is None:
        raise UsageError("there are no predictions; give --input or --scored")
    ours = open_side(predictions, "predictions", settings, intake)
    theirs = open_side(gold, "gold", settings, intake)
    fields = pair_fields(ours, theirs, settings, intake)
    return join(fields, missing, settings, intake)


def open_scored(
    source: Any,
    gold: Any,
    missing: Missing,
    settings: Settings,
    bins: int | None,
    recalls: Sequence[float],
) -> Examples:
    """Read predictions with confidence and gold, and add what the confidences are worth."""
    from assay.tasks.metadata.scored import curves, read_scored, scored_side

    intake = Intake()
    theirs = open_side(gold, "gold", settings, intake)
    scored = read_scored(source, intake)
    ours = scored_side(scored, source)
    if ours.single:
        name = name_of_single(theirs, settings)
        if name is not None:
            scored = {name: next(iter(scored.values()))}
            ours = scored_side(scored, source)
    fields = pair_fields(ours, theirs, settings, intake)
    examples = join(fields, missing, settings, intake)
    assert examples.metrics is not None, "a joined side has its metric"
    metric: Any = examples.metrics[0]
    rules = dict(zip(metric.names, metric.rules, strict=True))
    by_name = {field.name: field.gold for field in fields}
    intake.extra["curves"] = curves(scored, by_name, rules, settings, bins, recalls)
    return examples


def join(
    fields: Sequence[Paired], missing: Missing, settings: Settings, intake: Intake
) -> Examples:
    """Papers in the order gold names them, then those that are predicted only."""
    numbers, ids = number_papers([*(f.gold for f in fields), *(f.predictions for f in fields)])
    n, k = len(ids), len(fields)
    if not n and not settings.quirks:
        raise InputError(
            "there is nothing to compare: both sides are empty", hint="check the files"
        )
    n_gold = max((int(column.max()) + 1 for column in numbers[:k] if len(column)), default=0)
    gold = [
        _once(side_field(f.name, f.gold, papers, n), ids, "gold", settings, intake)
        for f, papers in zip(fields, numbers[:k], strict=True)
    ]
    predicted = [
        _once(side_field(f.name, f.predictions, papers, n), ids, "predictions", settings, intake)
        for f, papers in zip(fields, numbers[k:], strict=True)
    ]
    absent = np.all([field.n_lines() == 0 for field in predicted], axis=0)
    _count(intake, absent, n_gold)
    _note_unmatched(intake, ids, absent, n_gold)
    if missing == "error" and bool(absent.any()):
        raise _missing_error(ids, absent)
    if missing == "skip" and bool(absent.any()):
        kept = np.flatnonzero(~absent)
        gold, predicted = [f.take(kept) for f in gold], [f.take(kept) for f in predicted]
        ids, absent = ids.take(kept), absent[kept]
        n_gold = int(np.searchsorted(kept, n_gold))
    intake.extra["support"] = {
        one.name: _support(one, other) for one, other in zip(predicted, gold, strict=True)
    }
    batches = _batches(Papers(predicted), Papers(gold), ids, absent, n_gold)
    return Examples(batches, intake, [metric_for([f.name for f in fields], settings)])


def metric_for(names: Sequence[str], settings: Settings) -> FieldMetric:
    """The metric over these fields with the rules that were asked for."""
    rules = dict(settings.rules)
    for name in rules:
        if name not in names:
            raise unknown("field in --match", name, names)
    match = "exact"
    if rules:
        match = join_names(str(Match.parse(rules.get(name, "exact"))) for name in names)
    return FieldMetric(join_names(names), settings.duplicates, match)


def _once(field: Field, ids: PaperIds, side: str, settings: Settings, intake: Intake) -> Field:
    """The field with repeated ids as the settings want them, and a warning if there are any."""
    repeated = np.flatnonzero(field.n_lines() > 1)
    if not len(repeated):
        return field
    surplus = int((field.n_lines()[repeated] - 1).sum())
    first = ", ".join(f"'{ids[int(i)]}'" for i in repeated[:SHOWN])
    place = field.labels.path or side
    n = f"{len(repeated):,} ids stand" if len(repeated) > 1 else "1 id stands"
    if settings.duplicate_ids == "error":
        at = field.lines[int(field.splits[repeated[0]]) + 1]
        raise AlignError(
            f"{n} on more than one line, first {first}",
            path=place,
            line=field.labels.number_of(int(at)) or None,
            hint="remove the repeats, or use --duplicate-ids merge",
        )
    intake.counts.duplicate += surplus
    how = {
        ("reference", "gold"): "the last line counts",
        ("reference", "predictions"): "every line counts as a paper",
    }.get((settings.duplicate_ids, side), "their values are put together")
    intake.warnings.append(f"{place}: {n} on more than one line ({how}): {first}")
    if settings.duplicate_ids == "merge":
        return field.merged()
    return field.last_lines() if side == "gold" else field


def _count(intake: Intake, absent: NDArray[np.bool_], n_gold: int) -> None:
    counts = intake.counts
    counts.gold = n_gold
    counts.predictions = int((~absent).sum())
    counts.missing = int(absent[:n_gold].sum())
    counts.matched = n_gold - counts.missing
    counts.extra = len(absent) - n_gold


def _support(predictions: Field, gold: Field) -> dict[str, int]:
    """How much there is of a field on each side, before anything is compared."""
    ours, theirs = (f.labels.n_values(f.own_lines()) for f in (predictions, gold))
    return {
        "gold_papers": int((theirs > 0).sum()),
        "predicted_papers": int((ours > 0).sum()),
        "gold_values": int(theirs.sum()),
        "predicted_values": int(ours.sum()),
    }


def _note_unmatched(intake: Intake, ids: PaperIds, absent: NDArray[np.bool_], n_gold: int) -> None:
    """Say which predicted ids gold lacks, and which of them differ from one by blanks alone."""
    extra = len(ids) - n_gold
    if not extra:
        return
    shown = ", ".join(f"'{i}'" for i in ids[n_gold : n_gold + SHOWN])
    if n_gold and bool(absent[:n_gold].all()):
        intake.warnings.append(
            f"no paper is on both sides: gold has '{ids[0]}', predictions have {shown}; ids must "
            "be equal, and a TAB must stand behind each"
        )
    elif extra == 1:
        intake.warnings.append(f"1 predicted paper is not in gold and counts as wrong: {shown}")
    else:
        intake.warnings.append(
            f"{extra:,} predicted papers are not in gold and count as wrong: {shown}"
        )
    ours, theirs = np.arange(n_gold, len(ids)), np.flatnonzero(absent[:n_gold])
    blank = [where[ids.take(where).has_blank_edge()] for where in (ours, theirs)]
    if not len(blank[0]) and not len(blank[1]):
        return
    bare = {i.strip(): i for i in ids.take(theirs)}
    near = ((i, bare[i.strip()]) for i in ids[n_gold:] if i.strip() in bare)
    for one, other in islice(near, 1):
        intake.warnings.append(
            f"some ids match only without blanks around them: '{one}' and '{other}'; "
            "write them alike"
        )


def _missing_error(ids: PaperIds, absent: Positions | NDArray[np.bool_]) -> AlignError:
    where = np.flatnonzero(absent)
    first = ", ".join(f"'{ids[int(i)]}'" for i in where[:SHOWN])
    n = f"{len(where):,} papers of gold have" if len(where) > 1 else "1 paper of gold has"
    return AlignError(
        f"{n} no prediction: {first}",
        hint="use --missing wrong to count them as missed, or --missing skip to leave them out",
    )


def _batches(
    predictions: Papers, gold: Papers, ids: PaperIds, absent: NDArray[np.bool_], n_gold: int
) -> Iterator[Batch]:
    n = len(ids)
    extra = np.arange(n) >= n_gold
    for start in range(0, max(n, 1), BLOCK):  # no paper at all is one empty batch
        stop = min(start + BLOCK, n)
        yield Batch(
            predictions[start:stop],
            gold[start:stop],
            ids[start:stop],
            missing=absent[start:stop],
            first=start,
            extra=extra[start:stop] if stop > n_gold else None,
        )

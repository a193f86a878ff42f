# SPDX-License-Identifier: Apache-2.0
"""Batches of examples, their queries executed, with the slices that they are in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

import numpy as np

from assay.core.batch import Batch
from assay.core.columns import Late
from assay.core.document import Intake
from assay.tasks.sparql.columns import Block, Predictions
from assay.tasks.sparql.reading import Reading
from assay.tasks.sparql.records import Record
from assay.tasks.sparql.setting import Executor, Seen, Setting

SLICES = ("question_type", "sub_type", "context")
"""The columns that are always scored by slice: what SPICE reports on."""

AT_ONCE = 1_024
"""Examples in a batch: few enough for what is made of them to be measured, and given up, before it
leaves the processor's cache."""

ASKED_AT_ONCE = 2_048
"""Examples in a batch whose queries are run: enough to keep several workers busy."""


def batches(
    blocks: Iterable[list[Record]], setting: Setting, intake: Intake, seen: Seen
) -> Iterator[Batch]:
    """Batches of the selected records. Predictions are executed batch by batch."""
    reading = Reading(setting, intake, seen)
    first = 0
    try:
        for block in _filled(blocks, reading):
            first += len(block.gold)
            yield _batch(block, first - len(block.gold), reading)
            del block  # what is not wanted any more makes room for what comes next
    finally:
        if setting.executor is not None:
            setting.executor.close()
    _warn(setting, intake, seen)


def _filled(blocks: Iterable[list[Record]], reading: Reading) -> Iterator[Block]:
    """Blocks of examples that are neither much smaller nor larger than a batch should be."""
    size = AT_ONCE if reading.setting.executor is None else ASKED_AT_ONCE
    held = Block.empty()
    for records in blocks:
        for start in range(0, len(records), size):
            block = reading.taken(records[start : start + size])
            if held.gold:
                held.add(block)
            else:
                held = block
            del block
            if len(held.gold) >= size // 2:
                yield held
                held = Block.empty()
        del records
    if held.gold:
        yield held


def _batch(block: Block, first: int, reading: Reading) -> Batch:
    """The block as a batch, its queries executed."""
    setting, intake, seen = reading.setting, reading.intake, reading.seen
    if setting.executor is not None and not setting.em_only:
        _execute(block.predictions, setting.executor)
    counts, n = intake.counts, len(block.gold)
    failures = block.predictions.failures
    given, absent = n, None
    if any(failures):
        seen.unanswered.update(filter(None, failures))
        absent = np.array([failure == "missing" for failure in failures])
        given -= failures.count("missing")
    counts.gold += n
    counts.predictions += given
    counts.matched += given
    columns = seen.cells.columns(block.types, block.descriptions, block.distances)
    columns["conversation"] = Late(n, partial(_conversations, block.turns, block.gold.ids))
    return Batch(block.predictions, block.gold, block.gold.ids, columns, absent, first)


def _conversations(turns: list[str | None], ids: list[str]) -> list[str]:
    """A turn of no conversation is one of its own, so that it is drawn by itself."""
    return [
        (turn.rpartition("#")[0] if turn else "") or own
        for turn, own in zip(turns, ids, strict=True)
    ]


def _execute(predictions: Predictions, executor: Executor) -> None:
    queries, failures = predictions.queries, predictions.failures
    where = [i for i, q in enumerate(queries) if q is not None and failures[i] is None]
    found = executor.run([queries[i] or "" for i in where])
    for i, (answers, failure) in zip(where, found, strict=True):
        predictions.answers[i] = answers
        failures[i] = failure


def _warn(setting: Setting, intake: Intake, seen: Seen) -> None:
    """What a reader of the scores should know about the records."""
    warnings = intake.warnings
    if seen.other_types and not setting.one_type:
        n = sum(seen.other_types.values())
        named = ", ".join(f"'{name}'" for name in list(seen.other_types)[:3])
        warnings.append(f"{n:,} records were left out: {named} is none of the ten types")
    if seen.mixed:
        warnings.append(
            f"{seen.mixed:,} yes-no questions have a mixed answer such as "
            "'NO and YES respectively'; all of them count as NO"
        )
    if not seen.cells.seen:
        warnings.append("no record has the question type asked for")

# SPDX-License-Identifier: Apache-2.0
"""Records become examples: which are selected, what is compared, and which slices they are in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import partial
from typing import Protocol

import msgspec
import numpy as np

from assay.core.batch import Batch
from assay.core.columns import Late
from assay.core.document import Intake
from assay.core.errors import AlignError, UsageError
from assay.core.task import Missing
from assay.tasks.sparql.cells import Cells
from assay.tasks.sparql.context import NONE
from assay.tasks.sparql.kinds import TYPES
from assay.tasks.sparql.pairs import Gold, Measured, Prediction, number_of
from assay.tasks.sparql.records import Record

SLICES = ("question_type", "sub_type", "context")
"""The columns that are always scored by slice: what SPICE reports on."""

AT_ONCE = 2_048
"""Examples in a batch: many small objects, which should not leave the processor's cache between the
stages. The last batch alone is smaller, so that borders do not depend on how long predictions are.
"""

MIXED = ("YES", "NO")


class Executor(Protocol):
    """Whatever runs queries: a store, an endpoint, or the record itself."""

    def run(self, queries: Sequence[str]) -> list[tuple[list[str] | bool | None, str | None]]:
        """Answers and failure of each query, in order."""

    def close(self) -> None:
        """Give back what running needed, and tell the intake what is worth knowing."""


@dataclass(slots=True)
class Setting:
    """How records are turned into examples."""

    types: tuple[str, ...]
    compat: bool = False
    em_only: bool = False
    missing: Missing = "wrong"
    distances: Mapping[str, str] | None = None
    phenomena: Mapping[str, Sequence[str]] = field(default_factory=dict)
    executor: Executor | None = None

    @property
    def one_type(self) -> bool:
        """Whether this is an evaluation of one question type, as SPICE's script does it."""
        return len(self.types) == 1


@dataclass(slots=True)
class Seen:
    """What was met on the way, for the evaluation file and for warnings."""

    cells: Cells
    other_types: dict[str, int] = field(default_factory=dict)
    mixed: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class _Block:
    """Columns of the batch that is being filled."""

    predictions: list[Prediction] = field(default_factory=list)
    gold: list[Gold] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    types: list[str] = field(default_factory=list)
    descriptions: list[str] = field(default_factory=list)
    distances: list[str] = field(default_factory=list)
    turns: list[str | None] = field(default_factory=list)

    def cut(self, n: int) -> _Block:
        """Take out the first `n` examples."""
        taken = _Block(*(getattr(self, f.name)[:n] for f in fields(self)))
        for column in fields(self):
            del getattr(self, column.name)[:n]
        return taken


def batches(
    blocks: Iterable[list[Record]], setting: Setting, intake: Intake, seen: Seen
) -> Iterator[Batch]:
    """Batches of the selected records. Predictions are executed batch by batch."""
    reading = _Reading(setting, intake, seen)
    first = 0
    try:
        for block in _filled(blocks, reading):
            yield reading.batch(block, first)
            first += len(block.gold)
    finally:
        if setting.executor is not None:
            setting.executor.close()
    reading.warn()


def _filled(blocks: Iterable[list[Record]], reading: _Reading) -> Iterator[_Block]:
    block = _Block()
    for records in blocks:
        for at in range(0, len(records), AT_ONCE):
            reading.take_all(records[at : at + AT_ONCE], block)
            while len(block.gold) >= AT_ONCE:
                yield block.cut(AT_ONCE)
    if block.gold:
        yield block


class _Reading:
    """One pass over the records; knows what SPICE's script carries from one to the next."""

    def __init__(self, setting: Setting, intake: Intake, seen: Seen) -> None:
        self.setting = setting
        self.intake = intake
        self.seen = seen
        self._wanted = frozenset(setting.types)
        self._position = 0
        self._query: dict[str, str | None] = {}  # by type, the last predicted query
        self._distance: dict[str, str] = {}  # by type, the last context distance

    def take_all(self, records: list[Record], block: _Block) -> None:
        """Add records to the block, column by column where nothing about them is special."""
        setting = self.setting
        plain = not setting.compat and setting.missing == "wrong"
        if not (plain and setting.one_type and TYPES[setting.types[0]] == "set"):
            for record in records:
                self.take(record, block)
            return
        wanted = setting.types[0]
        actions = [r.actions for r in records]
        turns = [r.turn for r in records]
        answers = [r.predicted_answers for r in records]
        bare = setting.em_only or setting.executor is not None  # answers come later, or never
        special = (
            [r.question_type for r in records].count(wanted) < len(records)
            or None in actions
            or None in turns
            or (not setting.em_only and "entity" in "\n".join(actions))  # type: ignore[arg-type]  # none is None
            or not (bare or msgspec.UNSET not in answers)
        )
        if special:
            for record in records:
                self.take(record, block)
            return
        block.predictions += (
            map(Prediction, actions) if bare else map(Prediction, actions, answers)  # type: ignore[arg-type]  # none is UNSET
        )
        block.gold += [Gold("set", r.sparql_delex, r.results) for r in records]
        block.ids += turns  # type: ignore[arg-type]  # none is None
        block.types += [wanted] * len(records)
        block.descriptions += [r.description for r in records]
        known = setting.distances or {}
        block.distances += (
            [known.get(turn, NONE) for turn in turns] if known else [NONE] * len(turns)  # type: ignore[arg-type]  # as above
        )
        block.turns += turns
        self._position += len(records)

    def take(self, record: Record, block: _Block) -> None:
        """Add the record to the block, once for each wanted type it has."""
        self._position += 1
        given = record.question_type
        if isinstance(given, str):
            if given in self._wanted:
                self._add(record, given, TYPES[given], block, "")
            elif given not in TYPES:
                self._other(given)
            return
        first = True
        for name in dict.fromkeys(given):
            if name in self._wanted:
                # SPICE's script takes every record with several types for a question of sets.
                kind: Measured = TYPES[name]
                if self.setting.compat and kind != "set":
                    kind = "equal"
                self._add(record, name, kind, block, "" if first else f" ({name})")
                first = False
            elif name not in TYPES:
                self._other(name)

    def _other(self, name: str) -> None:
        self.seen.other_types[name] = self.seen.other_types.get(name, 0) + 1

    def _add(self, record: Record, name: str, kind: Measured, block: _Block, mark: str) -> None:
        setting, query, turn = self.setting, record.actions, record.turn
        if query is None:
            if setting.missing == "error":
                raise AlignError(
                    f"record {self._position:,} ({turn or 'no turnID'}) has no prediction",
                    hint="use --missing wrong to count it as wrong, or --missing skip",
                )
            self.intake.counts.missing += 1
            if setting.missing == "skip":
                return
        distance = self._distance_of(turn, name)
        taken = None
        failure = None
        if query is None:
            failure = "missing"
            if setting.compat:
                taken = self._query.get(name)
        elif "entity" in query and not setting.em_only and "entity" in query.split():
            failure = "placeholder"
        if setting.compat and query is not None:
            self._query[name] = None if failure is not None else query
        block.predictions.append(Prediction(query, self._known(record, failure), failure, taken))
        block.gold.append(Gold(kind, record.sparql_delex, self._right(record, kind)))
        block.ids.append((turn if turn is not None else str(self._position)) + mark)
        block.types.append(name)
        block.descriptions.append(record.description)
        block.distances.append(distance)
        block.turns.append(turn)

    def _distance_of(self, turn: str | None, name: str) -> str:
        if turn is None:
            # SPICE's script leaves such a record in the group of the one before.
            return self._distance.get(name, NONE) if self.setting.compat else NONE
        known = self.setting.distances
        distance = known.get(turn, NONE) if known is not None else NONE
        self._distance[name] = distance
        return distance

    def _known(self, record: Record, failure: str | None) -> list[str] | bool | None:
        """Answers that need no execution: recorded ones, or SPICE's stand-in for none."""
        setting = self.setting
        if setting.em_only:
            return [] if setting.compat and record.actions is not None else None
        if failure is not None or setting.executor is not None:
            return None
        answers = record.predicted_answers
        if answers is msgspec.UNSET:
            raise UsageError(
                f"record {self._position:,} has no predicted_answers, and there is nothing to run "
                "its query on; give --kg GRAPH or --server_link URL, or --em_only"
            )
        return answers

    def _right(self, record: Record, kind: Measured) -> list[str] | bool | int:
        if kind == "boolean":
            answer = record.answer
            if isinstance(answer, str) and answer not in MIXED and "YES" in answer:
                self.seen.mixed += 1
            return answer == "YES"
        if kind == "count":
            number = number_of(record.answer)
            return number if number is not None else len(record.results)
        return [] if self.setting.em_only and self.setting.compat else record.results

    def batch(self, block: _Block, first: int) -> Batch:
        """The block as a batch, its queries executed."""
        executor = self.setting.executor
        if executor is not None and not self.setting.em_only:
            _execute(block.predictions, executor)
        counts, n = self.intake.counts, len(block.gold)
        failures = [p.failure for p in block.predictions]
        absent = np.zeros(n, dtype=bool)
        if any(failures):
            self.seen.unanswered.update(filter(None, failures))
            absent[:] = [failure == "missing" for failure in failures]
        given = n - int(absent.sum())
        counts.gold += n
        counts.predictions += given
        counts.matched += given
        columns = self.seen.cells.columns(block.types, block.descriptions, block.distances)
        columns["conversation"] = Late(n, partial(_conversations, block.turns, block.ids))
        return Batch(block.predictions, block.gold, block.ids, columns, absent, first)

    def warn(self) -> None:
        """What a reader of the scores should know about the records."""
        seen, warnings = self.seen, self.intake.warnings
        if seen.other_types and not self.setting.one_type:
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


def _conversations(turns: list[str | None], ids: list[str]) -> list[str]:
    """A turn of no conversation is one of its own, so that it is drawn by itself."""
    return [
        (turn.rpartition("#")[0] if turn else "") or own
        for turn, own in zip(turns, ids, strict=True)
    ]


def _execute(predictions: list[Prediction], executor: Executor) -> None:
    where = [i for i, p in enumerate(predictions) if p.failure is None and p.query is not None]
    found = executor.run([predictions[i].query or "" for i in where])
    for i, (answers, failure) in zip(where, found, strict=True):
        predictions[i] = Prediction(predictions[i].query, answers, failure)

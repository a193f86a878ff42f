# SPDX-License-Identifier: Apache-2.0
"""Records become examples: which are selected, and what is compared."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import compress
from types import NoneType
from typing import Any

from msgspec import UNSET, UnsetType

from assay.core.document import Intake
from assay.core.errors import AlignError, UsageError
from assay.tasks.sparql.columns import Block, Golds, Predictions, Row
from assay.tasks.sparql.context import NONE
from assay.tasks.sparql.kinds import TYPES
from assay.tasks.sparql.pairs import Gold, Measured, Prediction, number_of
from assay.tasks.sparql.records import Record
from assay.tasks.sparql.setting import Seen, Setting

MIXED = ("YES", "NO")


class Reading:
    """One pass over the records; knows what SPICE's script carries from one to the next."""

    def __init__(self, setting: Setting, intake: Intake, seen: Seen) -> None:
        self.setting = setting
        self.intake = intake
        self.seen = seen
        self._wanted = frozenset(setting.types)
        self._position = 0
        self._query: dict[str, str | None] = {}  # by type, the last predicted query
        self._distance: dict[str, str] = {}  # by type, the last context distance

    def taken(self, records: list[Record]) -> Block:
        """The examples of these records: made together, or one by one where any is an odd one."""
        setting = self.setting
        given: list[Any] = [r.question_type for r in records]
        turns: list[Any] = [r.turn for r in records]
        answers: list[Any] = [None] * len(records)  # they come later, or never
        if not setting.em_only and setting.executor is None:
            answers = [r.predicted_answers for r in records]
        types = _types(given)
        if types is not None and len(types) == 1:
            given = [*types] * len(records)  # one text for all, whose hash is known
        if (
            setting.compat
            or setting.missing != "wrong"
            or types is None
            or not (all(turns) or None not in turns)
            or UnsetType in (forms := set(map(type, answers)))
        ):
            return Block.of([row for record in records for row in self._rows(record)])
        self._position += len(records)
        if not self._wanted.issuperset(types):
            wanted = [self._is_wanted(name) for name in given]
            columns: tuple[list[Any], ...] = (records, given, turns, answers)
            records, given, turns, answers = (list(compress(c, wanted)) for c in columns)
        unexplained = NoneType in forms and not setting.em_only and setting.executor is None
        return self._together(records, given, turns, answers, unexplained=unexplained)

    def _together(
        self,
        records: list[Record],
        types: list[str],
        turns: list[str],
        answers: list[Any],
        *,
        unexplained: bool,
    ) -> Block:
        n = len(records)
        queries = [r.actions for r in records]
        failures = self._failures(queries)
        for i in [i for i, failure in enumerate(failures) if failure is not None]:
            answers[i] = None
        if unexplained:
            failures = [
                "unexplained" if a is None and f is None else f
                for a, f in zip(answers, failures, strict=True)
            ]
        kinds: list[Measured] = [TYPES[name] for name in types]
        right: list[Any] = [r.results for r in records]
        if kinds.count("set") < n:
            right = list(map(self._right, records, kinds))
        known = self.setting.distances
        return Block(
            Predictions(queries, answers, failures, [None] * n),
            Golds(turns, kinds, [r.sparql_delex for r in records], right, _asked(records)),
            types,
            [r.description for r in records],
            [known.get(turn, NONE) for turn in turns] if known else [NONE] * n,
            list(turns),
        )

    def _failures(self, queries: list[str | None]) -> list[str | None]:
        """Why queries cannot be run, as far as their text says."""
        missing = 0 if all(queries) else queries.count(None)
        self.intake.counts.missing += missing
        texts = [q or "" for q in queries] if missing else queries
        may_hold = not self.setting.em_only and "entity" in "\n".join(texts)  # type: ignore[arg-type]  # none is None
        if not missing and not may_hold:
            return [None] * len(queries)
        return [self._failure(query) for query in queries]

    def _failure(self, query: str | None) -> str | None:
        if query is None:
            return "missing"
        if "entity" in query and not self.setting.em_only and "entity" in query.split():
            return "placeholder"
        return None

    def _rows(self, record: Record) -> Iterator[Row]:
        """The examples of the record: one for each wanted type it has."""
        self._position += 1
        given = record.question_type
        if isinstance(given, str):
            if self._is_wanted(given):
                yield from self._row(record, given, TYPES[given], "")
            return
        mark = ""
        for name in dict.fromkeys(given):
            if self._is_wanted(name):
                # SPICE's script takes every record with several types for a question of sets.
                kind: Measured = TYPES[name]
                if self.setting.compat and kind != "set":
                    kind = "equal"
                yield from self._row(record, name, kind, mark and f" ({name})")
                mark = "again"

    def _is_wanted(self, name: str) -> bool:
        """Whether questions of this type are selected; a type that is none of the ten is noted."""
        if name not in TYPES:
            self.seen.other_types[name] = self.seen.other_types.get(name, 0) + 1
        return name in self._wanted

    def _row(self, record: Record, name: str, kind: Measured, mark: str) -> Iterator[Row]:
        """The record as a question of this type; nothing if it is to be left out."""
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
        failure = self._failure(query)
        found = self._known(record, failure)
        taken = self._query.get(name) if setting.compat and query is None else None
        if setting.compat and query is not None:
            self._query[name] = None if failure is not None else query
        if found is None and failure is None and not setting.em_only and setting.executor is None:
            failure = "unexplained"
        own = (turn if turn is not None else str(self._position)) + mark
        yield Row(
            Prediction(query, found, failure, taken),
            Gold(kind, record.sparql_delex, self._right(record, kind), record.asked),
            own,
            name,
            record.description,
            distance,
            turn,
        )

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
        if answers is UNSET:
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


def _asked(records: list[Record]) -> list[str | None]:
    """`Record.asked` of each."""
    asked = [r.question for r in records]
    return asked if set(map(type, asked)) <= {str, NoneType} else [r.asked for r in records]


def _types(given: list[Any]) -> set[str] | None:
    """The question types of some records; None where a record has several."""
    if given and isinstance(given[0], str) and given.count(given[0]) == len(given):
        return {given[0]}  # a file is of one type as a rule
    return None if list in set(map(type, given)) else set(given)

# SPDX-License-Identifier: Apache-2.0
"""Predictions and gold of a batch as columns: lists side by side, of which an object is made when
one example is looked at.

Most metrics look at one or two columns of many examples; an object for each example would cost
more than what they do with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from operator import eq
from typing import Self, overload

import msgspec

from assay.tasks.sparql.pairs import Gold, Measured, Prediction

Answers = list[str] | bool | None

_encoder = msgspec.json.Encoder()


@dataclass(slots=True)
class Predictions(Sequence[Prediction]):
    """`Prediction.query`, `answers`, `failure` and `taken` of some examples.

    >>> column = Predictions.of([Prediction("ASK {}", True), Prediction(None, None, "missing")])
    >>> column.queries, column.answers, column.compared()
    (['ASK {}', None], [True, None], ['ASK {}', None])
    >>> column[1], list(column[:1]) == [Prediction("ASK {}", True)]
    (Prediction(query=None, answers=None, failure='missing', taken=None, unknown=None), True)
    """

    queries: list[str | None]
    answers: list[Answers]
    failures: list[str | None]
    taken: list[str | None]
    _gold: Sequence[str | None] | None = field(default=None, compare=False, repr=False)
    _exact: list[bool] = field(default_factory=list, compare=False, repr=False)

    @classmethod
    def of(cls, predictions: Iterable[Prediction]) -> Self:
        """The columns of predictions; columns are taken as they are."""
        if isinstance(predictions, cls):
            return predictions
        held = list(predictions)
        return cls(
            [p.query for p in held],
            [p.answers for p in held],
            [p.failure for p in held],
            [p.taken for p in held],
        )

    def add(
        self,
        queries: Iterable[str | None],
        answers: Iterable[Answers],
        failures: Iterable[str | None],
        taken: Iterable[str | None],
    ) -> None:
        """Put more at the end of the columns."""
        self.queries += queries
        self.answers += answers
        self.failures += failures
        self.taken += taken

    def compared(self) -> list[str | None]:
        """`Prediction.compared` of each: the texts that exact match looks at."""
        if None not in self.queries and "placeholder" not in self.failures:
            return self.queries
        return [p.compared for p in self]

    def exact(self, gold: Sequence[str | None]) -> list[bool]:
        """`is_exact` of each, with the gold queries; worked out once, since several metrics ask.

        >>> Predictions.of([Prediction("ask {}"), Prediction(None)]).exact(["ASK {}", None])
        [True, False]
        """
        if self._gold is not gold:
            self._gold, self._exact = gold, _matches(self.compared(), gold)
        return self._exact

    def __len__(self) -> int:
        return len(self.queries)

    @overload
    def __getitem__(self, index: int) -> Prediction: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Prediction | Self:
        if isinstance(index, slice):
            return type(self)(
                self.queries[index], self.answers[index], self.failures[index], self.taken[index]
            )
        return Prediction(
            self.queries[index], self.answers[index], self.failures[index], self.taken[index]
        )

    def __iter__(self) -> Iterator[Prediction]:
        return map(Prediction, self.queries, self.answers, self.failures, self.taken)


def _matches(given: Sequence[str | None], right: Sequence[str | None]) -> list[bool]:
    """Whether both texts are there and the same, letter case aside, pair by pair."""
    same = list(map(eq, given, right))
    for i in [i for i, equal in enumerate(same) if not equal]:
        a, b = given[i], right[i]
        same[i] = a is not None and b is not None and a.lower() == b.lower()
    if None in right:
        return [equal and b is not None for equal, b in zip(same, right, strict=True)]
    return same


@dataclass(slots=True)
class Golds(Sequence[Gold]):
    """`Gold.kind`, `query` and `answers` of some examples, and the ids of these.

    >>> column = Golds(["t#1", "t#2"], ["set", "count"], ["ASK {}", None], [["Q1"], 3])
    >>> column[1], len(column), column == Golds.of(list(column), column.ids)
    (Gold(kind='count', query=None, answers=3), 2, True)
    """

    ids: list[str]
    kinds: list[Measured]
    queries: list[str | None]
    answers: list[list[str] | bool | int]

    @classmethod
    def of(cls, golds: Iterable[Gold], ids: Sequence[str] | None = None) -> Self:
        """The columns of golds; columns are taken as they are."""
        if isinstance(golds, cls):
            return golds
        held = list(golds)
        return cls(
            list(ids or ()),
            [g.kind for g in held],
            [g.query for g in held],
            [g.answers for g in held],
        )

    def add(
        self,
        ids: Iterable[str],
        kinds: Iterable[Measured],
        queries: Iterable[str | None],
        answers: Iterable[list[str] | bool | int],
    ) -> None:
        """Put more at the end of the columns."""
        self.ids += ids
        self.kinds += kinds
        self.queries += queries
        self.answers += answers

    def content(self) -> Iterator[bytes]:
        """The bytes that tell this gold from other gold, ids included, wherever it is cut."""
        rows = zip(self.ids, self.kinds, self.queries, self.answers, strict=True)
        yield _encoder.encode_lines(rows)

    def __len__(self) -> int:
        return len(self.kinds)

    @overload
    def __getitem__(self, index: int) -> Gold: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Gold | Self:
        if isinstance(index, slice):
            return type(self)(
                self.ids[index], self.kinds[index], self.queries[index], self.answers[index]
            )
        return Gold(self.kinds[index], self.queries[index], self.answers[index])

    def __iter__(self) -> Iterator[Gold]:
        return map(Gold, self.kinds, self.queries, self.answers)

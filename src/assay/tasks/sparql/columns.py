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
from typing import NamedTuple, Self, overload

import msgspec
import numpy as np
from numpy.typing import NDArray

from assay.tasks.sparql.pairs import Gold, Measured, Prediction

Answers = list[str] | bool | None

_encoder = msgspec.json.Encoder()


def _no_marks() -> NDArray[np.bool_]:
    return np.zeros(0, dtype=np.bool_)


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
    _exact: NDArray[np.bool_] = field(default_factory=_no_marks, compare=False, repr=False)

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

    def add(self, other: Predictions) -> None:
        """Put the others at the end of the columns."""
        self.queries += other.queries
        self.answers += other.answers
        self.failures += other.failures
        self.taken += other.taken

    def compared(self) -> list[str | None]:
        """`Prediction.compared` of each: the texts that exact match looks at."""
        if all(self.queries) and not any(self.failures):
            return self.queries
        return [p.compared for p in self]

    def exact(self, gold: Sequence[str | None]) -> NDArray[np.bool_]:
        """`is_exact` of each, with the gold queries; worked out once, since several metrics ask.

        >>> Predictions.of([Prediction("ask {}"), Prediction(None)]).exact(["ASK {}", None])
        array([ True, False])
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


def _matches(given: Sequence[str | None], right: Sequence[str | None]) -> NDArray[np.bool_]:
    """Whether both texts are there and the same, letter case aside, pair by pair."""
    same = np.fromiter(map(eq, given, right), np.bool_, len(right))
    for i in (~same).nonzero()[0].tolist():
        a, b = given[i], right[i]
        same[i] = a is not None and b is not None and a.lower() == b.lower()
    if not all(right) and None in right:
        same &= [b is not None for b in right]
    return same


@dataclass(slots=True)
class Golds(Sequence[Gold]):
    """`Gold.kind`, `query`, `answers` and `asked` of some examples, and the ids of these.

    >>> asked = ["Who?", None]
    >>> column = Golds(["t#1", "t#2"], ["set", "count"], ["ASK {}", None], [["Q1"], 3], asked)
    >>> column[1], len(column), column == Golds.of(list(column), column.ids)
    (Gold(kind='count', query=None, answers=3, asked=None), 2, True)
    """

    ids: list[str]
    kinds: list[Measured]
    queries: list[str | None]
    answers: list[list[str] | bool | int]
    asked: list[str | None]

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
            [g.asked for g in held],
        )

    def add(self, other: Golds) -> None:
        """Put the others at the end of the columns."""
        self.ids += other.ids
        self.kinds += other.kinds
        self.queries += other.queries
        self.answers += other.answers
        self.asked += other.asked

    def content(self) -> Iterator[bytes]:
        """The bytes that tell this gold from other gold, ids included, wherever it is cut.

        How a question is worded changes nothing of what is right.
        """
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
                self.ids[index],
                self.kinds[index],
                self.queries[index],
                self.answers[index],
                self.asked[index],
            )
        return Gold(self.kinds[index], self.queries[index], self.answers[index], self.asked[index])

    def __iter__(self) -> Iterator[Gold]:
        return map(Gold, self.kinds, self.queries, self.answers, self.asked)


class Row(NamedTuple):
    """One example of a block."""

    prediction: Prediction
    gold: Gold
    id: str
    type: str
    description: str
    distance: str
    turn: str | None


@dataclass(slots=True)
class Block:
    """Examples before they are a batch, with what their slices are made of."""

    predictions: Predictions
    gold: Golds
    types: list[str]
    descriptions: list[str]
    distances: list[str]
    turns: list[str | None]

    @classmethod
    def empty(cls) -> Self:
        """A block to be added to."""
        return cls.of([])

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Self:
        """A block of these examples."""
        return cls(
            Predictions.of(row.prediction for row in rows),
            Golds.of((row.gold for row in rows), [row.id for row in rows]),
            [row.type for row in rows],
            [row.description for row in rows],
            [row.distance for row in rows],
            [row.turn for row in rows],
        )

    def add(self, other: Block) -> None:
        """Put the examples of another block at the end."""
        self.predictions.add(other.predictions)
        self.gold.add(other.gold)
        self.types += other.types
        self.descriptions += other.descriptions
        self.distances += other.distances
        self.turns += other.turns

# SPDX-License-Identifier: Apache-2.0
"""Batches of examples: columns, not objects, so that a metric can measure many at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.text import TextLists, Texts

BLOCK = 8_192
"""Examples per batch: the unit of work of an engine. Rows do not depend on it."""

CHUNK = 65_536
"""Examples per partial sum. Chunks are summed, then added in order, whoever computed the rows, so
that one worker and forty give the same bits. A multiple of BLOCK."""


class Pair(NamedTuple):
    """One example as a simple metric sees it.

    >>> pair = Pair(["first candidate", "second"], "gold")
    >>> pair.text, pair.references
    ('first candidate', ['gold'])
    """

    prediction: Any
    gold: Any
    missing: bool = False

    @property
    def text(self) -> str:
        """The prediction as text; of several candidates the first, empty if there is none."""
        if isinstance(self.prediction, str):
            return self.prediction
        return self.prediction[0] if self.prediction else ""

    @property
    def references(self) -> Sequence[str]:
        """The gold texts; a single one is a list of one."""
        return [self.gold] if isinstance(self.gold, str) else self.gold


@dataclass(frozen=True, slots=True)
class Batch:
    """Some examples, side by side: element i of every column belongs to example i.

    `predictions` and `gold` are `TextLists` where a task scores text (several candidates, several
    references) and any sequence of values elsewhere. `columns` holds what slices and clusters are
    made of. `missing` marks examples that have no prediction and are to count as wrong; their
    prediction is an empty one. `first` is the position of the first example in the whole input.
    `extra` marks examples that gold does not have but that count all the same; they come after all
    others, and two runs that differ in these alone can still be compared.
    """

    predictions: Sequence[Any]
    gold: Sequence[Any]
    ids: Sequence[str] | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    missing: NDArray[np.bool_] | None = None
    first: int = 0
    extra: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.gold)

    def __post_init__(self) -> None:
        n = len(self.gold)
        assert len(self.predictions) == n, "a batch has as many predictions as gold"
        assert self.ids is None or len(self.ids) == n, "a batch has as many ids as gold"
        assert all(len(c) == n for c in self.columns.values()), "a column is as long as its batch"

    def texts(self) -> Texts:
        """The prediction of each example as text; of several candidates the first."""
        if isinstance(self.predictions, TextLists):
            return self.predictions.firsts()
        if isinstance(self.predictions, Texts):
            return self.predictions
        return Texts.of(p if isinstance(p, str) else p[0] if p else "" for p in self.predictions)

    def references(self) -> TextLists:
        """The gold texts of each example; a single gold string is a list of one."""
        if isinstance(self.gold, TextLists):
            return self.gold
        if isinstance(self.gold, Texts):
            return TextLists.single(self.gold)
        return TextLists.of([g] if isinstance(g, str) else list(g) for g in self.gold)

    def pairs(self) -> Iterator[Pair]:
        """One pair after the other, for metrics that are not vectorised."""
        missing = self.missing.tolist() if self.missing is not None else [False] * len(self)
        return map(Pair, self.predictions, self.gold, missing)

    def id_of(self, index: int) -> str:
        """The id of example `index`, or its 1-based position where inputs have no ids."""
        return self.ids[index] if self.ids is not None else str(self.first + index + 1)

    def part(self, start: int, stop: int) -> Batch:
        """Examples `start` to `stop` as a batch of their own."""
        return Batch(
            self.predictions[start:stop],
            self.gold[start:stop],
            self.ids[start:stop] if self.ids is not None else None,
            {name: column[start:stop] for name, column in self.columns.items()},
            self.missing[start:stop] if self.missing is not None else None,
            self.first + start,
            self.extra[start:stop] if self.extra is not None else None,
        )

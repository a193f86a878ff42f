# SPDX-License-Identifier: Apache-2.0
"""Columns of labels that cost nothing until somebody looks at them.

Both read like the list of strings they stand for. A task that cuts many small batches hands these
over for what slices and clusters are made of, since most of it is never asked for.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray


class _Labels(Sequence[str]):
    """A list of strings that is made when it is first looked at."""

    __slots__ = ("_held",)

    def __init__(self) -> None:
        self._held: list[str] | None = None

    @abstractmethod
    def _made(self) -> list[str]:
        """The list."""

    @property
    def held(self) -> list[str]:
        """The list, made once."""
        if self._held is None:
            self._held = self._made()
        return self._held

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> list[str]: ...
    def __getitem__(self, index: int | slice) -> str | list[str]:
        return self.held[index]

    def __iter__(self) -> Iterator[str]:
        return iter(self.held)

    def __eq__(self, other: object) -> bool:
        return list(other) == self.held if isinstance(other, (list, _Labels)) else NotImplemented

    __hash__ = None  # type: ignore[assignment]  # like a list

    def __repr__(self) -> str:
        return repr(self.held)


class Coded(_Labels):
    """Labels by number: label i is `names[codes[i]]`. Several columns may share their `codes`.

    >>> column = Coded(["red", "green"], np.array([1, 0, 1]))
    >>> column[0], len(column), column
    ('green', 3, ['green', 'red', 'green'])
    """

    __slots__ = ("codes", "names")

    def __init__(self, names: Sequence[str], codes: NDArray[np.intp]) -> None:
        super().__init__()
        self.names = names
        self.codes = codes

    def __len__(self) -> int:
        return len(self.codes)

    def _made(self) -> list[str]:
        return list(map(self.names.__getitem__, self.codes.tolist()))


class Late(_Labels):
    """Labels that `make` gives when they are asked for; `n` of them.

    >>> column = Late(2, lambda: ["a", "b"])
    >>> len(column), list(column)
    (2, ['a', 'b'])
    """

    __slots__ = ("_make", "_n")

    def __init__(self, n: int, make: Callable[[], list[str]]) -> None:
        super().__init__()
        self._n = n
        self._make = make

    def __len__(self) -> int:
        return self._n

    def _made(self) -> list[str]:
        return self._make()

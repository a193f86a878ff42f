# SPDX-License-Identifier: Apache-2.0
"""One item after the other, in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from assay.engine import Answer, Engine, Item


class SerialEngine(Engine):
    """The plain loop that every other engine must agree with."""

    name = "serial"

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        """`function(item)` for each item, when it is asked for."""
        return map(function, items)


def engine(jobs: int) -> SerialEngine:
    """The serial engine; it has one worker whatever was asked for."""
    return SerialEngine()

# SPDX-License-Identifier: Apache-2.0
"""Where rows are computed: here, in processes, on the workers of a Dask cluster.

An engine knows a callable and items, nothing of tasks or metrics. Its whole contract is `map`:
results come back in the order of the items, items are taken only a little ahead of the results, an
error of the callable is raised as it is, and a worker that dies is an `EngineError`, never a hang.
`assay.testing.EngineContract` tests any engine for it.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from assay.core.errors import UsageError
from assay.core.names import unknown

Item = TypeVar("Item")
Answer = TypeVar("Answer")

ENGINES = ("serial", "processes", "dask")


class Engine(ABC):
    """Applies a callable to many items. Engines are built with the number of jobs."""

    name: str

    @abstractmethod
    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        """`function(item)` for each item, in order. Both must survive pickling."""


def load(name: str | None, jobs: int, scheduler: str | None = None) -> Engine:
    """The engine `name` with this many workers; without a name, processes if more than one.

    `scheduler` is the address of a running Dask cluster.
    """
    usual = "dask" if scheduler else "processes" if jobs > 1 else "serial"
    chosen = name or usual
    if chosen not in ENGINES:
        raise unknown("engine", chosen, ENGINES)
    if scheduler and chosen != "dask":
        raise UsageError(f"--scheduler names a Dask cluster; --engine {chosen} does not use one")
    given = {"scheduler": scheduler} if scheduler else {}
    engine: Engine = importlib.import_module(f"{__name__}.{chosen}").engine(jobs, **given)
    return engine

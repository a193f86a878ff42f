# SPDX-License-Identifier: Apache-2.0
"""Workers of a Dask cluster: one that is running already, or one made here for the occasion."""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from assay.core.errors import EngineError, UsageError
from assay.engine import Answer, Engine, Item

if TYPE_CHECKING:
    from distributed import Client, Future

PATIENCE_SECONDS = 10
"""How long to knock at a scheduler that does not answer."""


class DaskEngine(Engine):
    """Sends batches to Dask workers, two for each of them under way at a time.

    With a `scheduler` (`tcp://host:8786`) its workers are used, whatever `jobs` says, and are left
    running; they need Assay of the same version. Without one, `jobs` workers are started here.
    """

    name = "dask"

    def __init__(self, jobs: int, scheduler: str | None = None) -> None:
        if jobs < 1:
            raise UsageError(f"--jobs {jobs} must be at least 1")
        self.jobs = jobs
        self.scheduler = scheduler

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        """`function(item)` for each item, in order."""
        with ExitStack() as stack:
            client = self._connect(stack)
            from distributed import CancelledError, KilledWorker

            under_way: deque[Future] = deque()
            try:
                ahead = 2 * self._workers(client)
                for item in items:
                    under_way.append(client.submit(function, item, pure=False))
                    if len(under_way) >= ahead:
                        yield under_way.popleft().result()
                while under_way:
                    yield under_way.popleft().result()
            except (KilledWorker, CancelledError):
                raise EngineError(
                    "a Dask worker died before it was done (killed, or out of memory); "
                    "nothing was scored; try again, with fewer workers if memory is short"
                ) from None
            finally:
                client.cancel(list(under_way))

    def _connect(self, stack: ExitStack) -> Client:
        try:
            import dask
            from distributed import Client, LocalCluster
        except ImportError:
            raise UsageError(
                "--engine dask needs Dask, which is not installed; pip install 'assay[dask]'"
            ) from None
        if self.scheduler is not None:
            try:
                client: Client = Client(self.scheduler, timeout=PATIENCE_SECONDS)
            except (OSError, ValueError) as error:
                raise UsageError(
                    f"no Dask scheduler answers at {self.scheduler} ({error}); start one with "
                    "'dask scheduler', or leave out --scheduler to use workers on this machine"
                ) from None
            return stack.enter_context(client)
        # A batch that kills its worker would kill the next one too.
        stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": 0}))
        options: dict[str, Any] = {
            "n_workers": self.jobs,
            "threads_per_worker": 1,
            "dashboard_address": "127.0.0.1:0",  # any free port: another run may be under way
            "silence_logs": logging.CRITICAL,
            # Ctrl-C goes to all processes of a terminal; the one that started them answers it.
            "preload": ["import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)"],
        }
        cluster = stack.enter_context(LocalCluster(**options))
        local: Client = stack.enter_context(Client(cluster))
        return local

    def _workers(self, client: Client) -> int:
        workers = len(client.scheduler_info(n_workers=-1)["workers"])
        if not workers:
            raise EngineError(
                f"the Dask scheduler at {self.scheduler} has no workers; start some with "
                f"'dask worker {self.scheduler}'"
            )
        return workers


def engine(jobs: int, scheduler: str | None = None) -> DaskEngine:
    """An engine on a Dask cluster."""
    return DaskEngine(jobs, scheduler)

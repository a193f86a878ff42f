# SPDX-License-Identifier: Apache-2.0
"""Several processes on this machine."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import chain, islice
from multiprocessing.context import BaseContext
from typing import Any

from assay.core.errors import EngineError, UsageError
from assay.engine import Answer, Engine, Item

_function: Callable[[Any], Any]
_stopped: Any  # a byte that all share, without a lock: a worker that is killed cannot hold it


def _prepare(function: Callable[[Any], Any], stopped: Any) -> None:
    """Runs once in every worker, so that the callable does not travel with each item.

    Ctrl-C goes to all processes of a terminal; the one that started the workers answers it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    global _function, _stopped
    _function, _stopped = function, stopped
    threading.Thread(target=_leave_with_parent, daemon=True).start()


def _leave_with_parent() -> None:
    """End this worker when the process that started it is gone, however it went."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _apply(item: Any) -> Any:
    # Items that wait in the queue of the pool cannot be called back.
    return None if _stopped.value else _function(item)


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Let a second Ctrl-C pass by: it would keep workers from being told to stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before or signal.SIG_DFL)  # None: not set by Python


@contextmanager
def _later() -> Iterator[None]:
    """Let Ctrl-C wait: what Python does around a fork drops it without a word."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class ProcessEngine(Engine):
    """A pool of worker processes with a short queue in front of it."""

    name = "processes"

    def __init__(self, jobs: int) -> None:
        if jobs < 1:
            raise UsageError(f"--jobs {jobs} must be at least 1")
        self.jobs = jobs

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        """`function(item)` for each item, in order, with two items per worker under way."""
        rest = iter(items)
        first = deque(islice(rest, self.jobs))
        if not first:
            return
        context = _context()
        stopped = context.RawValue("b", 0)
        # All workers are forked at once, so there are no more than can have something to do.
        pool = ProcessPoolExecutor(
            len(first), mp_context=context, initializer=_prepare, initargs=(function, stopped)
        )
        under_way: deque[Future[Answer]] = deque()
        try:
            with _later():  # the first item starts the workers
                under_way.append(pool.submit(_apply, first.popleft()))
            for item in chain(_given_up(first), rest):
                under_way.append(pool.submit(_apply, item))
                if len(under_way) >= 2 * self.jobs:
                    yield under_way.popleft().result()
            while under_way:
                yield under_way.popleft().result()
        except BrokenProcessPool:
            raise EngineError(
                "a worker process died before it was done (killed, or out of memory); "
                "nothing was scored; try again, with fewer --jobs if memory is short"
            ) from None
        finally:
            with _undisturbed():
                stopped.value = 1
                pool.shutdown(wait=True, cancel_futures=True)


def _given_up(queue: deque[Item]) -> Iterator[Item]:
    """What is in the queue, which does not keep it."""
    while queue:
        yield queue.popleft()


def _context() -> BaseContext:
    """Fork where it is there and safe: workers then start at once and need no importable main.

    A process with other threads must not fork, because a lock held by one of them would stay
    locked in the child for ever.
    """
    safe = "fork" in multiprocessing.get_all_start_methods() and threading.active_count() == 1
    return multiprocessing.get_context("fork" if safe else "spawn")


def engine(jobs: int) -> ProcessEngine:
    """A process engine with this many workers."""
    return ProcessEngine(jobs)

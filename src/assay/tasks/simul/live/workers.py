# SPDX-License-Identifier: Apache-2.0
"""Threads that translate: each with an agent and a link of its own, all of them watched."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.errors import AgentError, AssayError
from assay.tasks.simul.live.drivers import Driver
from assay.tasks.simul.live.links import Link

Progress = Callable[[int, int], None]


def work_through(
    ids: Sequence[int],
    make: Callable[[], Driver],
    link_to: Callable[[], Link],
    *,
    threads: int,
    step_seconds: float,
    progress: Progress,
) -> None:
    """Translate these sentences; the first failure of any thread ends it."""
    count = max(1, min(threads, len(ids)))
    workers = _Workers(ids, count)
    # Threads that hang in an agent must not keep the program from ending.
    for number in range(count):
        threading.Thread(
            target=workers.work, args=(make, link_to), name=f"agent-{number}", daemon=True
        ).start()
    while True:
        with workers.changed:
            if workers.left and workers.failed is None:
                workers.changed.wait(0.2)
            left, done = workers.left, workers.done
        progress(done, len(ids))
        if workers.failed is not None:
            raise workers.failed
        if not left:
            return
        _check_time(workers.links, step_seconds)


def _check_time(links: Sequence[_Watched], seconds: float) -> None:
    now = time.monotonic()
    for link in list(links):
        since = link.since
        if seconds and since is not None and now - since > seconds:
            raise AgentError(
                f"the agent has been at one step of sentence {link.index} for more than "
                f"{seconds:g} s; give it more with --step-seconds, or mend it and use --resume"
            )


class _Watched:
    """A link that notes since when the agent has been thinking."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self.kind = link.kind
        self.rate = link.rate
        self.since: float | None = None
        self.index = -1

    def begin(self, index: int) -> None:
        self.since = None
        self._link.begin(index)
        self.index, self.since = index, time.monotonic()

    def get(self, index: int, value: Mapping[str, Any] | None = None) -> dict[str, Any]:
        self.since = None
        found = self._link.get(index, value)
        self.since = time.monotonic()
        return found

    def send(self, index: int, text: str) -> None:
        self.since = None
        self._link.send(index, text)
        self.since = time.monotonic()

    def speak(self, index: int, content: Any, rate: int) -> None:
        self.since = None
        self._link.speak(index, content, rate)
        self.since = time.monotonic()

    def close(self) -> None:
        self.since = None
        self._link.close()


class _Workers:
    """Threads that take sentences from a queue until it is empty or one of them fails."""

    def __init__(self, ids: Sequence[int], count: int) -> None:
        self.waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
        for index in ids:
            self.waiting.put(index)
        self.failed: BaseException | None = None
        self.done = 0
        self.links: list[_Watched] = []
        self.left = count
        self.changed = threading.Condition()

    def work(self, make: Callable[[], Driver], link_to: Callable[[], Link]) -> None:
        """What one thread does."""
        driver: Driver | None = None
        link: _Watched | None = None
        try:
            driver, link = make(), _Watched(link_to())
            self.links.append(link)
            while self.failed is None:
                try:
                    index = self.waiting.get_nowait()
                except queue.Empty:
                    break
                link.begin(index)
                _translated(driver, index, link)
                link.since = None
                with self.changed:  # nobody is woken for that: whoever waits looks now and then
                    self.done += 1
        except BaseException as error:
            self.failed = self.failed or error
        finally:
            for each in (driver, link):
                if each is not None:
                    each.close()
            with self.changed:
                self.left -= 1
                self.changed.notify()


def _translated(driver: Driver, index: int, link: Link) -> None:
    try:
        driver.translate(index, link)
    except AssayError:
        raise
    except Exception as error:
        raise AgentError(
            f"the agent broke off in sentence {index}: {type(error).__name__}: {error}"
            f"{_place(error)}; what is finished is kept, go on with --resume"
        ) from error


def _place(error: BaseException) -> str:
    """Where in the agent's code it was: the innermost frame."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return ""
    return f" ({Path(trace.tb_frame.f_code.co_filename).name}, line {trace.tb_lineno})"

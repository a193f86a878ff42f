# SPDX-License-Identifier: Apache-2.0
"""Closes sockets that are late, whatever they are waiting for."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


class Watched:
    """One exchange on a socket; `expired` once it was closed for being late."""

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self.sock = sock
        self.deadline = deadline
        self.expired = False


class Watchdog:
    """One thread, started when first needed, that looks after all exchanges.

    A socket's own time limit starts anew with every byte; a server that sends one byte a second
    would never be late.
    """

    def __init__(self) -> None:
        self._watched: set[Watched] = set()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._ends = False

    @contextmanager
    def watching(self, sock: socket.socket, seconds: float) -> Iterator[Watched]:
        """Close the socket if the block takes longer than this."""
        one = Watched(sock, time.monotonic() + seconds)
        with self._changed:
            self._watched.add(one)
            if self._thread is None:
                self._ends = False
                self._thread = threading.Thread(target=self._look, daemon=True, name="watchdog")
                self._thread.start()
            elif len(self._watched) == 1:
                self._changed.notify()
        try:
            yield one
        finally:
            with self._changed:
                self._watched.discard(one)

    def _look(self) -> None:
        with self._changed:
            while not self._ends:
                now = time.monotonic()
                for one in [w for w in self._watched if w.deadline <= now]:
                    one.expired = True
                    self._watched.discard(one)
                    with suppress(OSError):
                        one.sock.shutdown(socket.SHUT_RDWR)
                # Deadlines are all equally far ahead, so a later one cannot be the next.
                soonest = min((w.deadline for w in self._watched), default=None)
                self._changed.wait(None if soonest is None else max(0.0, soonest - now))

    def close(self) -> None:
        """End the thread."""
        with self._changed:
            thread, self._thread = self._thread, None
            self._ends = True
            self._changed.notify_all()
        if thread is not None:
            thread.join()

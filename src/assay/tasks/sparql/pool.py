# SPDX-License-Identifier: Apache-2.0
"""Several worker processes on one graph: each query has a deadline, and a late worker is killed."""

from __future__ import annotations

import os
import selectors
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

import msgspec

from assay.core.errors import EngineError, InputError
from assay.tasks.sparql.replies import Reply
from assay.tasks.sparql.worker import LENGTH, WorkerOptions

_READ = 1 << 18

_decoder = msgspec.json.Decoder(Reply)


class Worker:
    """One process, its pipes, and what it is working on."""

    def __init__(self, options: WorkerOptions) -> None:
        given = msgspec.json.encode(options).decode()
        path = os.pathsep.join(p for p in sys.path if p)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "assay.tasks.sparql.worker", given],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
        )
        self.ready = False
        self.job: int | None = None
        self.deadline = 0.0
        self._buffer = bytearray()

    @property
    def output(self) -> IO[bytes]:
        """Where replies come from."""
        assert self.process.stdout is not None, "opened as a pipe"
        return self.process.stdout

    def send(self, query: str) -> None:
        """Hand over a query."""
        assert self.process.stdin is not None, "opened as a pipe"
        data = query.encode("utf-8", "surrogatepass")
        self.process.stdin.write(LENGTH.pack(len(data)) + data)
        self.process.stdin.flush()

    def receive(self) -> Reply | None:
        """A reply if one is complete; None if there is more to come. EOFError if it has ended."""
        piece = os.read(self.output.fileno(), _READ)
        if not piece:
            raise EOFError
        self._buffer += piece
        if len(self._buffer) < LENGTH.size:
            return None
        end = LENGTH.size + LENGTH.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            return None
        reply = _decoder.decode(self._buffer[LENGTH.size : end])
        del self._buffer[:end]
        return reply

    def end(self) -> None:
        """Kill the process and let go of its pipes."""
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    continue  # it died with a query half written


class Pool:
    """Runs queries on `size` workers. `clock` gives the time in seconds."""

    def __init__(
        self,
        options: WorkerOptions,
        *,
        size: int,
        timeout: float,
        graph: str,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.options = options
        self.timeout = timeout
        self.graph = graph
        self.size = size
        self.killed = 0
        self.empty = False
        self._clock = clock
        self._workers: list[Worker] = []
        self._selector = selectors.DefaultSelector()

    def open(self) -> None:
        """Start a worker, and wait until it has the graph open; raises where it cannot."""
        self._start()
        while not self._workers[0].ready:
            for worker in self._heard():
                self._reply_of(worker)

    def run(self, queries: Sequence[str]) -> list[Reply]:
        """The reply to each query, in order, whatever order they were finished in."""
        replies: list[Reply | None] = [None] * len(queries)
        waiting = deque(range(len(queries)))
        while len(self._workers) < min(self.size, max(1, len(queries))):
            self._start()
        under_way = 0
        while waiting or under_way:
            for worker in self._workers:
                if worker.ready and worker.job is None and waiting:
                    self._assign(worker, waiting.popleft(), queries)
                    under_way += 1
            for worker in self._heard():
                reply = self._reply_of(worker)
                if reply is not None and worker.job is not None:
                    replies[worker.job] = reply
                    worker.job = None
                    under_way -= 1
        return [reply for reply in replies if reply is not None]

    def _assign(self, worker: Worker, job: int, queries: Sequence[str]) -> None:
        worker.job = job
        worker.deadline = self._clock() + self.timeout
        try:
            worker.send(queries[job])
        except BrokenPipeError:
            return  # it has died: reading from it says so

    def _heard(self) -> list[Worker]:
        """Workers that said something, and those that are too late."""
        busy = [w.deadline for w in self._workers if w.job is not None]
        wait = max(0.0, min(busy) - self._clock()) if busy else None
        heard = [key.data for key, _ in self._selector.select(wait)]
        now = self._clock()
        late = [w for w in self._workers if w.job is not None and now >= w.deadline]
        return heard + [w for w in late if w not in heard]

    def _reply_of(self, worker: Worker) -> Reply | None:
        """What the worker said; a worker that is late or gone is replaced."""
        readable = any(key.data is worker for key, _ in self._selector.select(0))
        try:
            reply = worker.receive() if readable else None
        except EOFError:
            return self._lost(worker)
        if reply is None:
            if worker.job is None or self._clock() < worker.deadline:
                return None
            self.killed += 1
            self._replace(worker)
            return Reply("timeout", f"more than {self.timeout:g} s")
        if not worker.ready:
            worker.ready = True
            if reply.failure is not None:
                raise graph_error(reply, self.graph)
            self.empty = reply.boolean is False
            return None
        return reply

    def _lost(self, worker: Worker) -> Reply | None:
        """A worker died: of its query, or before it was ready."""
        if not worker.ready:
            raise EngineError(
                f"the process that opens {self.graph} died (killed, or out of memory); "
                "try a larger --memory_limit"
            )
        self._replace(worker)
        return Reply("too large", "out of memory")

    def _replace(self, worker: Worker) -> None:
        self._selector.unregister(worker.output)
        worker.end()
        self._workers.remove(worker)
        self._start()

    def _start(self) -> None:
        worker = Worker(self.options)
        self._workers.append(worker)
        self._selector.register(worker.output, selectors.EVENT_READ, worker)

    def warnings(self) -> list[str]:
        """That there is nothing in the graph, and how many queries had to be stopped."""
        found = [f"{self.graph} holds no triples: nothing can be answered"] if self.empty else []
        if self.killed:
            stopped = f"{self.killed:,} queries were stopped after {self.timeout:g} s (--timeout)"
            found.append(stopped)
        return found

    def close(self) -> None:
        """End all workers."""
        for worker in self._workers:
            self._selector.unregister(worker.output)
            worker.end()
        self._workers.clear()
        self._selector.close()


def build_store(graph: Path, store: Path) -> None:
    """Load a graph into a store on disk, in a process of its own."""
    worker = Worker(WorkerOptions(graph=str(graph), store=str(store)))
    try:
        reply = None
        while reply is None:
            reply = worker.receive()
        if reply.failure is not None:
            raise graph_error(reply, str(graph))
        worker.process.wait()
    except EOFError:
        raise EngineError(f"the process that loads {graph} died; is there memory enough?") from None
    finally:
        worker.end()


def graph_error(reply: Reply, graph: str) -> InputError:
    """Why a graph could not be opened, with the line where there is one."""
    line, _, message = reply.detail.partition(":")
    if reply.failure == "syntax" and line.isdigit():
        return InputError(
            f"the graph cannot be read ({message})",
            path=graph,
            line=int(line) or None,
            hint="check the file, and that its name ends in its format (.nt, .ttl, .nq, .trig)",
        )
    return InputError(f"the graph cannot be opened ({reply.detail})", path=graph)

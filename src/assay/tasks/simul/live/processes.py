# SPDX-License-Identifier: Apache-2.0
"""The same run in several processes, each with a shard of the sentences."""

from __future__ import annotations

import multiprocessing
import signal
from collections.abc import Callable
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from typing import Any

from assay.core.errors import AgentError, AssayError, UsageError
from assay.tasks.simul.live.settings import Plan

Part = Callable[[Plan, Callable[[int, int], None]], None]
"""The work of one process; a function that another process can import."""


def in_processes(plan: Plan, part: Part, total: int, progress: Callable[[int, int], None]) -> None:
    """Do all shards at once. The first that fails ends the others; so does an interruption."""
    if plan.shard is not None:
        raise UsageError("--jobs and --shard cannot go together; start one command per shard")
    fresh = multiprocessing.get_context("spawn")  # threads and agents do not survive a fork
    started: dict[Connection[Any, Any], SpawnProcess] = {}
    done: dict[Connection[Any, Any], int] = {}
    try:
        for i in range(plan.jobs):
            ours, theirs = fresh.Pipe(duplex=False)
            shard = replace(plan, shard=(i + 1, plan.jobs), jobs=1, resume=True)
            process = fresh.Process(target=_child, args=(part, shard, theirs), daemon=True)
            process.start()
            theirs.close()
            started[ours] = process
        running = dict(started)
        while running:
            for pipe in wait(list(running)):
                assert isinstance(pipe, Connection)
                _heard(pipe, running, done)
            progress(sum(done.values()), total)
    finally:
        for pipe, process in started.items():
            process.terminate()
            process.join()
            pipe.close()


def _heard(
    pipe: Connection[Any, Any],
    running: dict[Connection[Any, Any], SpawnProcess],
    done: dict[Connection[Any, Any], int],
) -> None:
    try:
        kind, value = pipe.recv()
    except EOFError:
        raise AgentError(
            "a process of the run died (out of memory?); go on with --resume and fewer --jobs"
        ) from None
    if kind == "failed":
        raise AgentError(value)
    if kind == "done":
        done[pipe] = value
    else:
        running.pop(pipe)


def _child(part: Part, plan: Plan, pipe: Connection[Any, Any]) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears it and ends us
    try:
        part(plan, lambda done, total: pipe.send(("done", done)))
        pipe.send(("over", None))
    except AssayError as error:
        pipe.send(("failed", str(error)))
    except Exception as error:
        pipe.send(("failed", f"internal error: {type(error).__name__}: {error}"))

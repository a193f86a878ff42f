# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

from assay.engine import processes
from assay.engine.processes import ProcessEngine, _undisturbed

ENDLESS = """
import itertools, os
from assay.engine.processes import ProcessEngine

def process(_):
    return os.getpid()

found = ProcessEngine(2).map(process, itertools.repeat(0))
print(next(found), flush=True)
os.kill(os.getpid(), {signal})
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
@pytest.mark.parametrize("name", ["SIGTERM", "SIGKILL"])
def test_workers_leave_with_the_process_that_started_them(name: str) -> None:
    number = int(getattr(signal, name))
    script = ENDLESS.format(signal=number)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        # Workers hold the other end as well: it is closed when the last of them is gone.
        said = process.stdout.read()
        assert process.wait() == -number
    assert int(said) != process.pid


@pytest.mark.skipif(not hasattr(signal, "raise_signal"), reason="needs signals")
def test_a_second_interrupt_does_not_stop_the_cleaning_up() -> None:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with _undisturbed():
            os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize(("jobs", "items", "workers"), [(300, 3, 3), (2, 3, 2), (3, 3, 3)])
def test_no_more_workers_than_items(
    jobs: int, items: int, workers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[int] = []

    def pool(max_workers: int, **options: Any) -> ProcessPoolExecutor:
        started.append(max_workers)
        return ProcessPoolExecutor(max_workers, **options)

    monkeypatch.setattr(processes, "ProcessPoolExecutor", pool)
    assert list(ProcessEngine(jobs).map(abs, range(items))) == [*range(items)]
    assert started == [workers]


def test_nothing_to_do_starts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(processes, "ProcessPoolExecutor")
    assert list(ProcessEngine(2).map(abs, [])) == []


INTERRUPTED = """
import os, signal
from assay.engine.processes import ProcessEngine

os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGINT))
try:
    print(list(ProcessEngine(2).map(abs, range(3))))
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(not hasattr(os, "register_at_fork"), reason="needs fork")
def test_an_interrupt_while_workers_are_started_is_not_lost() -> None:
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from assay.engine.processes import _undisturbed

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

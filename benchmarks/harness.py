# SPDX-License-Identifier: Apache-2.0
"""Runs both sides of a benchmark, each in a process of its own, and gives their ratio.

A benchmark is a module of this folder with `CASES`, a list of `Case`. Each side of a case is a
function without arguments that does its imports and set-up and gives back the function to be timed:

    def ours() -> Work:
        from assay.metrics.bleu import Bleu
        files = data()
        return lambda: score(Bleu(), files)

Processor time is measured (wall time says little on a busy machine), the best of the rounds counts,
and both sides must give the same numbers: a ratio between different answers means nothing.
"""

from __future__ import annotations

import importlib
import json
import math
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Work = Callable[[], Any]
"""What is timed. Gives numbers (a float, or a list or dict of them) that both sides agree on."""

DATA = Path(__file__).parent / "data"
"""Made-up inputs, written on first use; not kept in the repository."""


@dataclass(frozen=True)
class Case:
    """One workload: how we do it, how the peer does it, and the ratio that has to be reached.

    `tolerance` bounds the difference between the two answers, relative to the larger;
    None if the sides have nothing to agree on (start-up times). `memory` is our limit in MB.
    `peer_python` runs the peer where it is installed, if that is not here.
    """

    title: str
    peer_name: str
    ours: Callable[[], Work]
    peer: Callable[[], Work]
    must: float
    memory: float | None = None
    tolerance: float | None = 1e-9
    rounds: int = 3
    peer_rounds: int | None = None
    peer_python: str | None = None


@dataclass(frozen=True)
class Side:
    """What one side took: the best processor time of the rounds, and the peak of memory."""

    seconds: float
    megabytes: float
    answer: Any


@dataclass(frozen=True)
class Measured:
    """Both sides of a case."""

    case: Case
    ours: Side
    peer: Side

    @property
    def ratio(self) -> float:
        """How many times faster we are."""
        return self.peer.seconds / self.ours.seconds

    @property
    def reached(self) -> bool:
        """Whether speed and memory are what they have to be."""
        fits = self.case.memory is None or self.ours.megabytes <= self.case.memory
        return fits and self.ratio >= self.case.must


def measure(case: Case) -> Measured:
    """Run both sides, each in a fresh process, and hold their answers together."""
    ours = _run(case, "ours", case.rounds, sys.executable)
    peer = _run(case, "peer", case.peer_rounds or case.rounds, case.peer_python or sys.executable)
    if case.tolerance is not None:
        difference = distance(ours.answer, peer.answer)
        if not difference <= case.tolerance:
            raise SystemExit(
                f"{case.title}: the two sides differ by {difference:g}:\n"
                f"  ours {_shown(ours.answer)}\n  peer {_shown(peer.answer)}"
            )
    return Measured(case, ours, peer)


def distance(a: Any, b: Any) -> float:
    """The largest relative difference between two nested answers; infinite if shapes differ.

    >>> distance({"bleu": 2.0}, {"bleu": 1.0})
    0.5
    >>> distance([1.0], [1.0, 2.0])
    inf
    """
    if isinstance(a, dict) and isinstance(b, dict):
        if a.keys() != b.keys():
            return math.inf
        return max((distance(a[k], b[k]) for k in a), default=0.0)
    if isinstance(a, list) and isinstance(b, list):
        if len(a) != len(b):
            return math.inf
        return max((distance(x, y) for x, y in zip(a, b, strict=True)), default=0.0)
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        if a == b or (math.isnan(a) and math.isnan(b)):
            return 0.0
        return abs(a - b) / max(abs(a), abs(b))
    return 0.0 if a == b else math.inf


def command(argv: Sequence[str], repeats: int = 10) -> Callable[[], Work]:
    """A side that is a command: one round runs it `repeats` times."""

    def side() -> Work:
        def work() -> None:
            for _ in range(repeats):
                subprocess.run(argv, check=True, stdout=subprocess.DEVNULL)

        return work

    return side


def _run(case: Case, side: str, rounds: int, python: str) -> Side:
    home = _home(case)
    index = sys.modules[home].CASES.index(case)
    argv = [python, "-m", "benchmarks.harness", home, str(index), side, str(rounds)]
    env = {**os.environ, "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, env=env)
    return Side(**json.loads(done.stdout))


def _home(case: Case) -> str:
    for name, module in list(sys.modules.items()):
        if name.startswith("benchmarks.") and case in getattr(module, "CASES", ()):
            return name
    raise LookupError(case.title)


def _child(module: str, index: int, side: str, rounds: int) -> None:
    case: Case = importlib.import_module(module).CASES[index]
    work = getattr(case, side)()
    best, answer = math.inf, None
    for _ in range(rounds):
        before = _cpu()
        answer = work()
        best = min(best, _cpu() - before)
    peak = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    json.dump({"seconds": best, "megabytes": peak / 1024, "answer": answer}, sys.stdout)


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _shown(answer: Any) -> str:
    text = json.dumps(answer)
    return text if len(text) < 300 else text[:300] + "…"


if __name__ == "__main__":
    _child(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))

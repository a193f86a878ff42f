# SPDX-License-Identifier: Apache-2.0
"""What every engine has to keep, as tests that an engine's own test class inherits.

class TestMyEngine(EngineContract):
    def engine(self, jobs: int) -> Engine:
        return MyEngine(jobs)
"""

from __future__ import annotations

import itertools
import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from assay.core import errors
from assay.core.batch import Batch
from assay.core.metric import PairMetric, Rows, Score, Totals, Value
from assay.engine import Engine

PATIENCE_SECONDS = 120
"""After this long a test says that the engine hangs. No test comes near it otherwise."""


class EngineContract:
    """Tests of one engine. Subclasses say how to make one with so many workers.

    `jobs` are the numbers of workers that each test is made with.
    """

    jobs: ClassVar[Sequence[int]] = (1, 2, 3)

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """One test for each number of workers."""
        if "jobs" in metafunc.fixturenames:
            metafunc.parametrize("jobs", self.jobs)

    def engine(self, jobs: int) -> Engine:
        """The engine with this many workers."""
        raise NotImplementedError

    @pytest.fixture(autouse=True)
    def _not_for_ever(self) -> Iterator[None]:
        with _limited():
            yield

    # -- results ----------------------------------------------------------------------------

    @pytest.mark.parametrize("n", [0, 1, 2, 23])
    def test_results_come_in_the_order_of_the_items(self, n: int, jobs: int) -> None:
        assert list(self.engine(jobs).map(_squared, range(n))) == [i * i for i in range(n)]

    @pytest.mark.parametrize("size", [1, 7, 50, 1_000])
    def test_rows_have_the_same_bits_for_any_jobs_and_any_size_of_item(
        self, size: int, jobs: int
    ) -> None:
        whole = _thirds(Batch(_NUMBERS, _NUMBERS))
        parts = [
            Batch(_NUMBERS[at : at + size], _NUMBERS[at : at + size])
            for at in range(0, len(_NUMBERS), size)
        ]
        found = np.concatenate(list(self.engine(jobs).map(_thirds, parts)))
        assert found.tobytes() == whole.tobytes()

    def test_an_engine_can_be_used_again(self) -> None:
        engine = self.engine(2)
        assert [list(engine.map(_squared, [3])), list(engine.map(_negated, [3]))] == [[9], [-3]]

    def test_items_are_taken_only_a_little_ahead(self) -> None:
        taken = itertools.count()
        found = self.engine(2).map(_squared, (next(taken) for _ in itertools.repeat(None)))
        assert [next(found) for _ in range(5)] == [0, 1, 4, 9, 16]
        ahead = next(taken) - 5
        _close(found)
        assert ahead <= 40, f"{ahead} items were taken and not asked for"

    # -- errors -----------------------------------------------------------------------------

    @pytest.mark.parametrize(
        "error",
        [
            errors.UsageError("no such column"),
            errors.InputError("not JSON", path="gold.jsonl", line=3, column=7, hint="mend it"),
            errors.AlignError("too short", path=Path("gold.txt"), line=9),
            errors.MismatchError("other gold"),
            ZeroDivisionError("division by zero"),
        ],
        ids=lambda error: type(error).__name__,
    )
    def test_an_error_of_the_callable_arrives_as_itself(self, error: Exception, jobs: int) -> None:
        found = self.engine(jobs).map(partial(_raising, error, at=6), range(20))
        with pytest.raises(type(error)) as caught:
            list(found)
        assert type(caught.value) is type(error)
        assert str(caught.value) == str(error)
        assert _fields(caught.value) == _fields(error)
        self._check_nobody_left()

    def test_what_came_before_an_error_is_given_out(self) -> None:
        found = self.engine(2).map(partial(_raising, KeyError("late"), at=6), range(20))
        assert [next(found) for _ in range(6)] == list(range(6))
        with pytest.raises(KeyError, match="late"):
            next(found)

    def test_an_error_of_the_items_arrives_as_itself(self) -> None:
        with pytest.raises(errors.InputError, match=r"gold.txt, line 5: bad byte"):
            list(self.engine(2).map(_squared, _breaking_off()))
        self._check_nobody_left()

    @pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
    def test_a_worker_killed_half_way_is_an_engine_error_and_no_hang(self, jobs: int) -> None:
        engine = self.engine(jobs)
        processes = set(engine.map(_process, range(4)))
        if os.getpid() in processes:
            assert len(processes) == 1, "some items are computed here and some by workers"
            return  # without workers none can be killed
        with pytest.raises(errors.EngineError) as caught:
            list(engine.map(partial(_killed, at=11), range(30)))
        assert str(caught.value), "the error says nothing"
        self._check_nobody_left()

    # -- leaving early ----------------------------------------------------------------------

    def test_closing_early_leaves_no_process(self, jobs: int) -> None:
        found = self.engine(jobs).map(_process, itertools.repeat(0))
        seen = {next(found) for _ in range(6)} - {os.getpid()}
        _close(found)
        self._check_nobody_left()
        assert not [process for process in seen if _is_alive(process)]

    def test_closing_before_the_first_result_leaves_no_process(self) -> None:
        _close(self.engine(2).map(_process, itertools.repeat(0)))
        self._check_nobody_left()

    def test_finishing_leaves_no_process(self) -> None:
        seen = set(self.engine(2).map(_process, range(9))) - {os.getpid()}
        self._check_nobody_left()
        assert not [process for process in seen if _is_alive(process)]

    def _check_nobody_left(self) -> None:
        assert multiprocessing.active_children() == []


class ThirdsOf(PairMetric):
    """Rows whose bits would show any other order of the arithmetic."""

    name = "thirds"
    scores = (Score("thirds", low=-np.inf, high=np.inf),)
    columns = ("sum", "count")

    def measure_pair(self, pair: tuple[float, float, bool]) -> Sequence[float]:
        """A third, and a tenth of the square."""
        return pair[0] / 3, pair[0] * pair[0] / 10

    def finalise(self, totals: Totals) -> dict[str, Value]:
        """The sum."""
        return {"thirds": totals["sum"]}


_NUMBERS = [i * 1.1 for i in range(100)]


# What engines run has to be importable in a worker, so it stands here by name.


def _thirds(batch: Batch) -> Rows:
    return ThirdsOf().measure(batch)


def _squared(item: int) -> int:
    return item * item


def _negated(item: int) -> int:
    return -item


def _process(_: int) -> int:
    return os.getpid()


def _raising(error: Exception, item: int, *, at: int) -> int:
    if item == at:
        raise error
    return item


def _killed(item: int, *, at: int) -> int:
    if item == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def _breaking_off() -> Iterator[int]:
    yield from range(4)
    raise errors.InputError("bad byte", path="gold.txt", line=5)


def _fields(error: BaseException) -> dict[str, object]:
    """What the error carries besides its message; notes are added by some engines."""
    return {k: v for k, v in vars(error).items() if k != "__notes__"}


def _close(found: Iterator[object]) -> None:
    close = getattr(found, "close", None)
    if close is not None:
        close()


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


@contextmanager
def _limited() -> Iterator[None]:
    """Raise where the time is spent if it takes for ever; only where signals can do that."""
    if not hasattr(signal, "SIGALRM") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        raise AssertionError(f"no result after {PATIENCE_SECONDS} s: the engine hangs")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)

# SPDX-License-Identifier: Apache-2.0
"""The contract, for every engine there is."""

from __future__ import annotations

import random

import pytest

import assay
from assay.core.errors import UsageError
from assay.engine import ENGINES, Engine, load
from assay.testing import EngineContract


class TestEveryEngine(EngineContract):
    @pytest.fixture(autouse=True, params=[name for name in ENGINES if name != "dask"])
    def _chosen(self, request: pytest.FixtureRequest) -> None:
        self.name = request.param

    def engine(self, jobs: int) -> Engine:
        return load(self.name, jobs)


@pytest.mark.slow
class TestDask(EngineContract):
    jobs = (2,)  # each test starts a cluster of its own, which takes a second

    def engine(self, jobs: int) -> Engine:
        return load("dask", jobs)


def noisy_lines(n: int) -> tuple[list[str], list[str]]:
    rng = random.Random(3)
    gold = [" ".join(rng.choices("abcdefgh", k=rng.randint(0, 9))) for _ in range(n)]
    said = [" ".join(w for w in g.split() if rng.random() < 0.8) for g in gold]
    return said, gold


METRICS = ["token_f1(average=macro)", "wer"]


@pytest.mark.parametrize(
    ("name", "jobs"),
    [("serial", 1), *(("processes", jobs) for jobs in (1, 2, 3)), ("dask", 2)],
)
def test_evaluation_gives_the_same_bits(name: str, jobs: int) -> None:
    said, gold = noisy_lines(20_000)  # three batches
    plain = assay.evaluate("text", said, gold, metrics=METRICS, resamples=50)
    found = assay.evaluate(
        "text", said, gold, metrics=METRICS, resamples=50, engine=name, jobs=jobs
    )
    assert found.scores == plain.scores
    assert found.intervals == plain.intervals


def test_a_cluster_that_is_already_there_is_used_and_left_running() -> None:
    from distributed import Client, LocalCluster

    said, gold = noisy_lines(20_000)
    plain = assay.evaluate("text", said, gold, metrics=METRICS, ci=0)
    with LocalCluster(
        n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0"
    ) as cluster:
        address = cluster.scheduler_address
        found = assay.evaluate("text", said, gold, metrics=METRICS, ci=0, scheduler=address)
        assert found.scores == plain.scores
        with Client(address) as client:
            assert len(client.scheduler_info()["workers"]) == 1


def test_a_scheduler_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.engine.dask.PATIENCE_SECONDS", 0.1)
    with pytest.raises(UsageError, match="no Dask scheduler answers at tcp:"):
        list(load("dask", 1, "tcp://127.0.0.1:1").map(abs, [1]))


def test_only_dask_has_a_scheduler() -> None:
    with pytest.raises(UsageError, match="--engine serial does not use one"):
        load("serial", 1, "tcp://127.0.0.1:1")

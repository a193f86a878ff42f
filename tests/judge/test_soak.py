# SPDX-License-Identifier: Apache-2.0
"""Judges at work while their server is killed, again and again: what was acknowledged is there."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest

from assay.judge.log import log_path, read_log
from assay.judge.store import read_store
from assay.pipeline.evaluate import evaluate

pytestmark = pytest.mark.slow

ITEMS = 60
NAMES = ("anna", "bert", "carl", "dora")


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    said, gold = [f"said {n}" for n in range(ITEMS)], [f"gold {n}" for n in range(ITEMS)]
    evaluate("text", said, gold, metrics=["exact"], ci=0, save=tmp_path / "run")
    return tmp_path / "run"


class Server:
    """The real command, started again on the same port as often as it is killed."""

    def __init__(self, run: Path) -> None:
        self._command = [sys.executable, "-m", "assay", "judge", str(run), "--web", "--quiet"]
        self.port = "0"
        self.start()

    def start(self) -> None:
        command = [*self._command, "--port", self.port]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        found = re.fullmatch(r"judging at http://127\.0\.0\.1:(\d+)/\n", line)
        assert found, line
        self.port = found[1]

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def test_a_server_that_is_killed_again_and_again_loses_nothing(saved: Path) -> None:
    server = Server(saved)
    acknowledged: dict[str, dict[str, str]] = {name: {} for name in NAMES}
    killed = threading.Semaphore(0)
    failed: list[BaseException] = []

    def judge(name: str) -> None:
        dice = random.Random(name)
        with httpx.Client(
            headers={"accept": "application/json"}, trust_env=False, timeout=60
        ) as client:
            while len(acknowledged[name]) < ITEMS:
                base = f"http://127.0.0.1:{server.port}/judge/{name}"
                try:
                    if not acknowledged[name]:
                        client.post(f"http://127.0.0.1:{server.port}/start", data={"name": name})
                    asked = client.get(base).raise_for_status().json()["asked"]
                    if asked is None:
                        break
                    answer = dice.choice(["yes", "no"])
                    form = {"action": answer, "at": asked["at"]}
                    client.post(f"{base}/answer", data=form).raise_for_status()
                    acknowledged[name][asked["id"]] = answer
                    if sum(map(len, acknowledged.values())) % 30 == 0:
                        killed.release()
                except httpx.TransportError:
                    continue  # nobody is there: ask again
                except BaseException as error:
                    failed.append(error)
                    return

    threads = [threading.Thread(target=judge, args=(name,)) for name in NAMES]
    for thread in threads:
        thread.start()
    kills = 0
    while any(thread.is_alive() for thread in threads):
        if killed.acquire(timeout=0.05):
            server.kill()
            kills += 1
            server.start()
    for thread in threads:
        thread.join()
    server.kill()
    assert not failed, failed
    assert kills >= 4
    store = read_store(saved.parent / "judgements")
    for name in NAMES:
        kept = {verdict.id: verdict.answer for verdict in store.judges[name].values()}
        # An answer whose acknowledgement was lost with the server may be there as well.
        assert len(kept) == ITEMS
        assert acknowledged[name].items() <= kept.items()


def test_a_process_that_is_killed_at_any_moment_loses_nothing(saved: Path) -> None:
    command = [sys.executable, "-m", "assay", "judge", str(saved), "--judge", "anna"]
    path = log_path(saved.parent / "judgements", "anna")
    dice = random.Random(7)
    done = 0
    for _ in range(6):
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            bufsize=1,
        )
        assert process.stdin is not None
        assert process.stdout is not None
        more = dice.randrange(1, 9)
        process.stdin.write("y\n" * (more + 5))  # some more lie in the pipe when it is killed
        for line in process.stdout:
            found = re.match(r"item \d+ of \d+ · (\d+) done", line)
            if found and int(found[1]) >= done + more:
                break
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        kept = read_log(path)
        assert len(kept) >= done + more
        assert len({verdict.id for verdict in kept}) == len(kept)  # nothing is asked twice
        done = len(kept)

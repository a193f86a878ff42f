# SPDX-License-Identifier: Apache-2.0
"""The entry script of the image, run by the shell of this machine."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LIVE = ROOT / "examples" / "simul" / "live"
CLIENT = f"assay simul run --agent-type waitk_text --hostname 127.0.0.1 --port $PORT --waitk 2 --phrase-table {LIVE}/phrases.tsv"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with an `assay` that is this one."""
    command = tmp_path / "bin" / "assay"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m assay "$@"\n')
    command.chmod(0o755)
    return tmp_path


def _environment(place: Path, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "PATH": f"{place / 'bin'}:{os.environ['PATH']}",
        "SRC_FILE": str(LIVE / "source.txt"),
        "TGT_FILE": str(LIVE / "target.txt"),
        "PORT": "0",
        "OUTPUT": str(place / "out"),
        "CLIENT_COMMAND": CLIENT,
        **more,
    }


def _entry(place: Path, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(ROOT / "docker/simul/entry.sh")],
        env=_environment(place, **more),
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_client_runs_and_the_scores_stay(place: Path) -> None:
    done = _entry(place)
    assert done.returncode == 0, done.stderr
    found = json.loads((place / "out" / "result.json").read_text())
    assert json.loads(done.stdout) == found
    assert found["BLEU"] > 60
    names = {path.name for path in (place / "out").iterdir()}
    assert {"text", "delay", "scores", "events.jsonl", "result.json"} <= names


def test_the_exit_status_is_that_of_the_client(place: Path) -> None:
    done = _entry(place, CLIENT_COMMAND="exit 7")
    assert done.returncode == 7
    assert not (place / "out" / "result.json").exists()


def test_a_client_that_did_nothing_is_not_a_success(place: Path) -> None:
    done = _entry(place, CLIENT_COMMAND="true")
    assert done.returncode == 2
    assert "8 sentences have no translation yet" in done.stderr


def test_a_server_that_cannot_start_says_why(place: Path) -> None:
    done = _entry(place, SRC_FILE="/no/such/file")
    assert done.returncode == 2
    assert "/no/such/file: no such file" in done.stderr


def test_what_is_not_set_is_named(place: Path) -> None:
    done = _entry(place, CLIENT_COMMAND="")
    assert (done.returncode, done.stderr) == (2, "entry: CLIENT_COMMAND is not set\n")


def test_a_signal_ends_server_and_client(place: Path) -> None:
    with subprocess.Popen(
        ["sh", str(ROOT / "docker/simul/entry.sh")],
        env=_environment(place, CLIENT_COMMAND="echo $PORT; exec sleep 600"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 143
        assert process.stdout.read() == ""  # the client, which would have slept, is gone as well
    with socket.socket() as again:
        assert again.connect_ex(("127.0.0.1", port)) != 0


def test_the_image_holds_what_the_script_needs() -> None:
    text = (ROOT / "docker/simul/Dockerfile").read_text()
    for line in text.splitlines():
        if line.startswith("COPY"):
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source
    assert "HEALTHCHECK" in text

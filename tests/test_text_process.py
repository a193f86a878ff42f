# SPDX-License-Identifier: Apache-2.0
"""`assay text score` as a process: full disks, Ctrl-C, closed pipes, standard input, memory."""

from __future__ import annotations

import gzip
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

COMMAND = [sys.executable, "-m", "assay", "text", "score"]
EXACT = ("-m", "exact")


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Four examples, of which the first and the third are right."""
    write_lines(tmp_path / "p.txt", ["the cat sat", "a dog", "it rains", "no"])
    write_lines(tmp_path / "g.txt", ["the cat sat", "a big dog", "it rains", "yes"])
    return tmp_path


def write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def child(*arguments: str, cwd: Path, **options: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *arguments],
        cwd=cwd,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
        **options,
    )


def test_a_full_disk_under_standard_output(files: Path) -> None:
    before = listing(files)
    for form in (["--json"], []):
        with open("/dev/full", "w") as full:
            done = child(
                "-p",
                "p.txt",
                "-g",
                "g.txt",
                *EXACT,
                *form,
                cwd=files,
                stdout=full,
                stderr=subprocess.PIPE,
            )
        assert done.returncode == 2
        assert done.stderr == (
            "assay: the output cannot be written (the disk is full); send it elsewhere, or make room\n"
        )
    assert listing(files) == before


@pytest.mark.parametrize(
    "target",
    [["--save", "new/run"], ["--per-example", "x.jsonl"], ["--save", "run", "--jobs", "2"]],
)
def test_a_full_disk_under_a_file(files: Path, target: list[str]) -> None:
    write_lines(files / "p.txt", ["some text"] * 5_000)
    before = listing(files)

    def few_bytes() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    done = child(
        "-p",
        "p.txt",
        "-g",
        "p.txt",
        *EXACT,
        *target,
        cwd=files,
        capture_output=True,
        preexec_fn=few_bytes,
    )
    message = f"{target[1]} cannot be written (File too large); choose another place, or make room"
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"assay: {message}\n"
    assert listing(files) == before


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize("source", ["-", "pipe"])
def test_ctrl_c_ends_it_and_leaves_nothing(files: Path, jobs: str, source: str) -> None:
    write_lines(files / "g.txt", ["x"] * 900_000)
    os.mkfifo(files / "pipe")
    before = listing(files)
    process = subprocess.Popen(
        [*COMMAND, "-p", source, "-g", "g.txt", *EXACT, "--save", "new/run", "--jobs", jobs],
        cwd=files,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdin is not None
    with process.stdin, open(files / "pipe", "r+b", buffering=0) as pipe:
        # More than the child reads at once and the pipe holds: when all is written, it is at work.
        written = pipe if source == "pipe" else process.stdin
        written.write(b"x\n" * 700_000)
        written.flush()
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the workers too
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()  # does nothing to one that has ended
    assert (out, err) == (b"", b"assay: interrupted; nothing is left half-written\n")
    assert process.returncode == 130
    assert listing(files) == before


def test_a_reader_that_goes_away_is_no_error(files: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with open(writing, "w") as gone:
        done = child(
            "-p", "p.txt", "-g", "g.txt", *EXACT, cwd=files, stdout=gone, stderr=subprocess.PIPE
        )
    assert (done.returncode, done.stderr) == (0, "")


def test_closed_outputs_do_not_stop_the_work(files: Path) -> None:
    said = " ".join([*COMMAND, "-p", "p.txt", "-g", "g.txt", *EXACT, "--save", "run"])
    done = subprocess.run(["sh", "-c", f"{said} >&- 2>&-"], cwd=files, timeout=120, check=False)
    assert done.returncode == 0
    assert json.loads((files / "run" / "run.json").read_text())["scores"] == {"exact": 0.5}


def test_a_full_disk_under_standard_error_does_not_stop_the_work(files: Path) -> None:
    arguments = ["-p", "p.txt", "-g", "g.txt", *EXACT, "--ci", "0"]
    with open("/dev/full", "w") as full:
        done = child(*arguments, "--save", "run", cwd=files, stdout=subprocess.PIPE, stderr=full)
        assert (done.returncode, done.stdout[:7]) == (0, "text: p")
        done = child(*arguments, "-m", "blue", cwd=files, stderr=full)
        assert done.returncode == 2, "an error is an error where nobody can be told"


def test_a_kill_leaves_no_half_written_run(files: Path) -> None:
    """What is left under another name does not stand in the way of the next run."""
    os.mkfifo(files / "slow.txt")
    process = subprocess.Popen(
        [*COMMAND, "-p", "slow.txt", "-g", "g.txt", *EXACT, "--save", "run"], cwd=files
    )
    with open(files / "slow.txt", "w") as pipe:  # opens once the command reads it
        pipe.write("the cat sat\n")
        pipe.flush()
        process.kill()
        assert process.wait(timeout=120) == -signal.SIGKILL
    assert not (files / "run").exists()
    done = child("-p", "p.txt", "-g", "g.txt", *EXACT, "--save", "run", cwd=files)
    assert done.returncode == 0
    assert (files / "run" / "rows.npy").is_file()


def test_standard_input(files: Path) -> None:
    packed = gzip.compress((files / "p.txt").read_bytes())
    for data in ((files / "p.txt").read_bytes(), packed):
        done = subprocess.run(
            [*COMMAND, "-p", "-", "-g", "g.txt", *EXACT, "--json"], cwd=files, input=data, capture_output=True, timeout=120, check=True
        )  # fmt: skip
        document = json.loads(done.stdout)
        assert document["scores"]["exact"] == 0.5
        assert document["system"] == "system"
        assert document["inputs"][0]["path"] == "-"


PEAK = """
import sys
from assay.cli import run
code = run(sys.argv[1:])
# Not ru_maxrss, which also counts what the process held before it became this program.
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) // 1024 for line in status if "VmHWM" in line), file=sys.stderr)
sys.exit(code)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    "interval", [["--ci", "0"], ["--interval", "poisson", "--resamples", "50"]]
)
def test_memory_does_not_grow_with_the_files_where_rows_are_not_kept(
    tmp_path: Path, interval: list[str]
) -> None:
    peaks = []
    for n in (80_000, 800_000):  # 5 and 50 MB
        path = tmp_path / f"{n}.txt"
        write_lines(
            path, [f"a line of some length, number {i}, and some more words" for i in range(n)]
        )
        arguments = ["text", "score", "-p", str(path), "-g", str(path), *EXACT, *interval]
        done = subprocess.run(
            [sys.executable, "-c", PEAK, *arguments], capture_output=True, text=True, timeout=300, check=True
        )  # fmt: skip
        peaks.append(int(done.stderr))
    assert peaks[1] < peaks[0] + 16, peaks  # megabytes; the bigger files are 90 larger


def test_the_installed_command_answers(files: Path) -> None:
    done = child(
        "-p", "p.txt", "-g", "g.txt", *EXACT, "--format", "csv", cwd=files, capture_output=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert "exact,0.5" in done.stdout

# SPDX-License-Identifier: Apache-2.0
"""`assay demo` shows every task, and what it prints can be typed again."""

from __future__ import annotations

import errno
import re
import shlex
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from assay import tasks
from assay.cli import run
from assay.cli.demo.steps import STEPS

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A demo made by the command in a process of its own: its folder and what it printed."""
    folder = tmp_path_factory.mktemp("demo with spaces")
    done = subprocess.run(
        [sys.executable, "-m", "assay", "demo"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout


def test_every_task_is_shown(demo: tuple[Path, str]) -> None:
    folder, printed = demo
    page = (folder / "assay-demo" / "report.html").read_text("utf-8")
    shown = {name.rsplit("-", 1)[0] for name in re.findall(r'<section id="([^"]*)"', page)}
    assert shown == set(tasks.names())
    assert len(page.encode()) < 2_000_000
    assert "assay-demo/report.html" in printed
    # What the page says of two axes is what the command says of them.
    assert "better: steady against patient: same quality within 1 BLEU, lower latency" in printed
    assert "steady is quicker than patient, quality equivalent" in page


def test_the_commands_can_be_copied(demo: tuple[Path, str]) -> None:
    folder, printed = demo
    commands = re.findall(r"^  \$ (.*)$", printed, re.MULTILINE)
    assert len(commands) == sum(len(step.commands) for step in STEPS) + 1
    kept = (folder / "assay-demo" / "commands.sh").read_text("utf-8").splitlines()[1:]
    assert kept == commands
    page = folder / "assay-demo" / "report.html"
    before = page.read_text("utf-8")
    page.unlink()
    again = subprocess.run(
        [sys.executable, "-m", *shlex.split(commands[-1])],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert again.returncode == 0, again.stderr
    assert page.read_text("utf-8") == before


def test_each_step_tells_what_it_found(demo: tuple[Path, str]) -> None:
    _, printed = demo
    for step in STEPS:
        part = printed.split(f"\n{step.title}\n")[1].split("\n\n")[0]
        told = [line for line in part.splitlines() if not line.startswith("  $ ")]
        assert len(told) == step.tells
    assert "improved is better than baseline by" in printed


def test_a_demo_is_made_again_in_its_own_folder(
    demo: tuple[Path, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("assay.cli.demo.STEPS", STEPS[:1])
    monkeypatch.setattr("assay.cli.demo.REPORT", "assay report")  # no simul, no margin for it
    where = shutil.copytree(demo[0] / "assay-demo", tmp_path / "mine")
    shutil.rmtree(where / "runs")
    (where / "samples" / "old.txt").write_text("left behind")
    assert run(["demo", "-o", str(where)]) == 0
    assert not (where / "samples" / "old.txt").exists()
    assert (where / "runs").is_dir()


def test_other_folders_are_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    assert run(["demo", "-o", str(tmp_path)]) == 2
    assert "is not a demo; choose another folder" in capsys.readouterr().err
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]
    assert run(["demo", "-o", str(tmp_path / "thesis.txt")]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_a_full_disk_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(source: str, target: str) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", source)

    monkeypatch.setattr("shutil.copyfile", full)
    assert run(["demo", "-o", str(tmp_path / "demo")]) == 2
    said = capsys.readouterr().err
    assert (said.count("\n"), len(said) < 250) == (1, True)
    assert "cannot be written (No space left on device); choose another place with" in said


@pytest.mark.slow
def test_an_installed_package_carries_the_samples(tmp_path: Path) -> None:
    built = subprocess.run(
        [
            *(sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "-q"),
            *("-w", str(tmp_path), str(ROOT)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (wheel,) = tmp_path.glob("assay-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-m", "assay", "demo", "-o", "out"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site"), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "report.html").is_file()

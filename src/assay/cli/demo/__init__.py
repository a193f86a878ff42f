# SPDX-License-Identifier: Apache-2.0
"""`assay demo`: every task on sample data, compared, as one report. Needs no network."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

import click

from assay.cli.demo.steps import REPORT, STEPS, Step
from assay.cli.parameters import click_options
from assay.core.options import Option

COMMANDS = "commands.sh"
"""Every command that was run; its presence tells a demo folder from other folders."""

OPTIONS = (
    Option(
        "output",
        ("--output", "-o"),
        "The folder to write to.",
        kind="path",
        default="assay-demo",
        metavar="DIR",
    ),
)


def _demo(output: str) -> None:
    from assay.core.files import atomic_file

    started = time.monotonic()
    folder = Path(output)
    _prepare(folder)
    names = {part: shlex.quote(str(folder / part)) for part in ("samples", "runs")}
    done: list[str] = []
    runs: list[str] = []
    for step in STEPS:
        click.echo(f"\n{step.title}")
        done += (commands := [c.format(**names) for c in step.commands])
        runs += _run(commands, step)
    page = folder / "report.html"
    last = shlex.join([*shlex.split(REPORT), *dict.fromkeys(runs), "-o", str(page)])
    click.echo("\neverything on one page")
    done.append(last)
    _run([last], Step("", (), tells=0))
    with atomic_file(folder / COMMANDS) as aside:
        lines = "".join(f"{command}\n" for command in done)
        aside.write_text(f"# Run where `assay demo` was run.\n{lines}", encoding="utf-8")
    click.echo(
        f"\nLook at {page} in a browser. The commands above are in {folder / COMMANDS}, "
        f"the sample data is in {folder / 'samples'}. ({time.monotonic() - started:.0f} s)"
    )


def _prepare(folder: Path) -> None:
    """An empty place with a copy of the sample data; an earlier demo is cleared away."""
    from assay.cli.demo.samples import sample_folder
    from assay.core.errors import OutputError

    if folder.is_dir() and any(folder.iterdir()):
        if not (folder / COMMANDS).is_file():
            raise OutputError(
                f"{folder} exists and is not a demo; choose another folder with --output"
            )
        for part in ("samples", "runs"):
            shutil.rmtree(folder / part, ignore_errors=True)
    source = sample_folder()
    try:
        # Marked first: a demo that is interrupted can be run again.
        folder.mkdir(parents=True, exist_ok=True)
        (folder / COMMANDS).write_text("", encoding="utf-8")
        ignored = shutil.ignore_patterns("*.py", "__pycache__", "*.sh")
        shutil.copytree(source, folder / "samples", ignore=ignored, copy_function=_copy)
    except OSError as error:
        raise _unwritable(folder, error) from None


def _copy(source: str, target: str) -> None:
    """One file; the first that fails ends it, where `copytree` would go on and list them all."""
    try:
        shutil.copyfile(source, target)
    except OSError as error:
        raise _unwritable(target, error) from None


def _unwritable(path: str | Path, error: OSError) -> Exception:
    from assay.core.errors import OutputError

    why = error.strerror or str(error)
    return OutputError(
        f"{path} cannot be written ({why}); choose another place with --output, or make room"
    )


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """With this file as standard input."""
    before = sys.stdin
    with open(path, encoding="utf-8") as file:
        sys.stdin = file
        try:
            yield
        finally:
            sys.stdin = before


def _run(commands: Sequence[str], step: Step) -> list[str]:
    """Run commands in this process; gives back the runs that they saved."""
    from assay.cli import run
    from assay.core.errors import AssayError

    saved = []
    text = ""
    for command in commands:
        click.echo(f"  $ {command}")
        out, notes = io.StringIO(), io.StringIO()
        given = shlex.split(command)[1:]
        answers = os.devnull
        if "<" in given:
            given, answers = given[: given.index("<")], given[-1]
        with _reading(answers), redirect_stdout(out), redirect_stderr(notes):
            code = run(given)
        if code == 130:
            raise KeyboardInterrupt
        if code != 0:
            said = notes.getvalue().strip().removeprefix("assay: ")
            raise AssayError(f"the demo stopped at '{command}': {said}")
        text = out.getvalue()
        if "--save" in given:
            saved.append(given[given.index("--save") + 1])
    for line in text.splitlines()[: step.tells]:
        click.echo(f"  {line}")
    return saved


command = click.Command(
    "demo",
    callback=_demo,
    params=click_options(OPTIONS),
    help="Score two sample systems for every task, compare them, and write one report to "
    "assay-demo/report.html, in under a minute and without a network. Prints the commands it runs, "
    "so that they can be copied.",
)

# SPDX-License-Identifier: Apache-2.0
"""Help and small scores go a short way: what it prints is what the long way prints, or nothing."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.aggregate.plain import MOST_ROWS
from assay.cli import run, small
from assay.testing.samples import texts

ROOT = Path(__file__).parent.parent
SAMPLE = ROOT / "examples" / "text"
PREDICTIONS, GOLD = str(SAMPLE / "improved.txt"), str(SAMPLE / "reference.txt")
SCORED = ["text", "score", "-p", PREDICTIONS, "-g", GOLD, "-m", "bleu"]
PLAIN = [*SCORED, "--ci", "0"]


def long_way(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> tuple[int, str, str]:
    capsys.readouterr()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(small, "answer", lambda given: None)
        code = run(arguments)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    "arguments",
    [
        PLAIN,
        SCORED,
        [*SCORED, "-m", "chrf", "--ci=0.95", "--format", "markdown"],
        [*SCORED, "-g", PREDICTIONS, "-m", "chrf", "--digits", "6"],
        [*PLAIN[:6], "-g", PREDICTIONS, *PLAIN[6:]],
        ["text", "score", "--ci=0", f"--gold={GOLD}", "--metric=bleu", "--predictions", GOLD],
        [*PLAIN, "-m", "chrf", "-q"],
        [*PLAIN, "-m", "chrf", "--digits", "6", "--quiet"],
        [*PLAIN, "--digits=0"],
        [*PLAIN, "--format", "markdown", "--digits", "3"],
        [*PLAIN, "--format=latex"],
        ["--help"],
        ["-h"],
        ["--version"],
    ],
    ids=lambda given: " ".join(w for w in given if "/" not in w),
)
def test_the_short_way_prints_what_the_long_way_prints(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = small.answer(arguments)
    assert text is not None
    assert long_way(arguments, capsys) == (0, text, "")


line = texts().map(lambda drawn: drawn.replace("\0", ""))
sides = st.lists(st.tuples(line, line, line), min_size=1, max_size=5)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(
    metrics=st.sampled_from([["bleu"], ["chrf"], ["bleu", "chrf"], ["chrf", "bleu"]]),
    options=st.sampled_from([[], ["--digits", "6"], ["-q"], ["--format", "latex"]]),
    level=st.sampled_from([[], ["--ci", "0"], ["--ci=0.95"]]),
    pairs=sides,
    several=st.booleans(),
    end=st.sampled_from(["\n", "", "\r\n", "\n\n"]),
    start=st.sampled_from(["", "\ufeff"]),
)
def test_on_any_lines(
    metrics: list[str],
    options: list[str],
    level: list[str],
    pairs: list[tuple[str, ...]],
    several: bool,
    end: str,
    start: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    paths = [tmp_path / name for name in ("system.txt", "gold.txt", "more.txt")]
    for path, column in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text(start + "\n".join(column) + end, "utf-8", newline="")
    files = [str(paths[0]), "-g", str(paths[1]), *(["-g", str(paths[2])] if several else [])]
    chosen = [word for metric in metrics for word in ("-m", metric)]
    arguments = ["text", "score", "-p", *files, *chosen, *options, *level]
    text = small.answer(arguments)
    code, out, err = long_way(arguments, capsys)
    if text is not None:
        assert (code, out, err) == (0, text, "")
    elif "-q" not in options and not err:  # nothing to remark on: the last digit is in doubt
        scored = ["text", "score", "-p", *files, *chosen, *level, "--json"]
        document = json.loads(long_way(scored, capsys)[1])
        values = [*document["scores"].values(), *chain(*document["intervals"].values())]
        doubtful = any(re.search(r"\.\d\d(\d\d)*(5|49999)", str(value)) for value in values)
        one = document["counts"]["matched"] == 1  # which has no interval, so it is not tried
        assert doubtful or (one and document["intervals"])


@pytest.mark.parametrize(
    "change",
    [
        ["--json"],
        ["--format", "csv"],
        ["--format", "html"],
        ["-m", "ter"],
        ["-m", "bleu"],
        ["-m", "os.path"],
        ["-m", "chrf(word_order=2)"],
        ["--ci", "0"],
        ["--digits", "7"],
        ["--digits", "²"],
        ["--save", "run"],
        ["-p", GOLD],
        ["--help"],
        ["words"],
        ["-g"],
        ["-g", ""],
    ],
    ids=" ".join,
)
def test_anything_else_is_left_to_the_long_way(change: list[str]) -> None:
    assert small.answer([*PLAIN, *change]) is None


@pytest.mark.parametrize(
    "change",
    [
        ["--ci", "0.9"],
        ["--ci", "nan"],
        ["--seed", "1"],
        ["--resamples=99"],
        ["--interval", "poisson"],
    ],
    ids=" ".join,
)
def test_other_intervals_are_left_to_the_long_way(change: list[str]) -> None:
    assert small.answer([*SCORED, *change]) is None


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("missing.txt", None),
        ("empty.txt", b""),
        ("latin.txt", b"caf\xe9\n" * 40),
        ("zero.txt", b"a\0b\n" * 40),
        ("short.txt", b"one line\n"),
        ("lines.jsonl", b'{"prediction": "a"}\n' * 40),
        ("large.txt", b"a line that is repeated over and over again\n" * 4_000),
        ("brackets[1].txt", b"a\n" * 40),
    ],
)
def test_files_that_are_not_plain_are_left_to_the_long_way(
    tmp_path: Path, name: str, data: bytes | None
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    assert small.answer([*PLAIN[:3], str(tmp_path / name), *PLAIN[4:]]) is None


@pytest.mark.parametrize("n", [1, MOST_ROWS + 1])
def test_intervals_of_one_row_or_of_many_are_left_to_the_long_way(tmp_path: Path, n: int) -> None:
    (tmp_path / "lines.txt").write_text("a line of words\n" * n)
    scored = ["text", "score", "-p", str(tmp_path / "lines.txt"), "-g", str(tmp_path / "lines.txt")]
    assert small.answer([*scored, "-m", "bleu"]) is None
    assert small.answer([*scored, "-m", "bleu", "--ci", "0"]) is not None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_not_touched(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for a writer for ever
    assert small.answer([*PLAIN[:3], str(tmp_path / "pipe"), *PLAIN[4:]]) is None


def test_help_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for columns, longest in [("60", 58), ("80", 78), ("500", 98)]:
        monkeypatch.setenv("COLUMNS", columns)
        page = small.answer(["--help"])
        assert page is not None
        listed = page.partition("Options:")[2].splitlines()
        assert longest - 15 < max(map(len, listed)) <= longest


@pytest.mark.parametrize("arguments", [["--help"], PLAIN, SCORED, [*PLAIN, "-m", "chrf"]])
def test_neither_numpy_nor_click_is_loaded(arguments: list[str]) -> None:
    run = f"from assay.cli import run; assert run({arguments!r}) == 0"
    code = f"{run}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "click"} & set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("arguments", [SCORED, [*SCORED, "-m", "ter"]], ids=["short", "long"])
def test_output_does_not_hang_on_the_locale(arguments: list[str]) -> None:
    def printed(**locale: str) -> bytes:
        command = f"from assay.cli import main; main({arguments!r})"
        return subprocess.run(
            [sys.executable, "-c", command],
            env={**os.environ, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", **locale},
            capture_output=True,
            check=True,
        ).stdout

    usual = printed(PYTHONIOENCODING="utf-8")
    assert "──".encode() in usual
    assert printed(PYTHONIOENCODING="", LC_ALL="C") == usual
    asked = printed(PYTHONIOENCODING="latin-1").decode("latin-1")
    assert asked == usual.decode().translate({ord(c): "?" for c in "─↓"})


def test_a_closed_pipe_is_no_error() -> None:
    command = f"from assay.cli import main; main({PLAIN!r})"
    with subprocess.Popen(
        [sys.executable, "-c", command], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait() == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said() -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-c", f"from assay.cli import main; main({PLAIN!r})"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "the disk is full" in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""Running `assay code score` in this process, on files of the test's own folder."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from assay.cli import run


class Outcome(NamedTuple):
    """What a command gave back."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[str]:
        """Its standard output."""
        return self.out.splitlines()


Score = Callable[..., Outcome]
Write = Callable[..., None]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Writes files: a name, and lines or bytes."""

    def each(**files: str | bytes) -> None:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content
            (tmp_path / name).write_bytes(data)

    return each


@pytest.fixture
def score(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Score:
    """`assay code score` of files `p` and `g`, with further arguments."""
    monkeypatch.chdir(tmp_path)

    def call(dataset: str, *arguments: str, p: str = "p", g: str = "g") -> Outcome:
        given = [f"--dataset_name={dataset}", f"--prediction_file={p}", f"--target_file={g}"]
        code = run(["code", "score", *given, *arguments])
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    return call


@pytest.fixture
def assay(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Outcome]:
    """Any other command."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Outcome:
        code = run(list(arguments))
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    return call

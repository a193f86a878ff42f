# SPDX-License-Identifier: Apache-2.0
"""Running `assay metadata` in this process, in a folder of the test's own."""

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


Command = Callable[..., Outcome]


@pytest.fixture
def assay(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """`assay metadata` with these arguments."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> Outcome:
        code = run(["metadata", *arguments])
        printed = capsys.readouterr()
        return Outcome(code, printed.out, printed.err)

    return call

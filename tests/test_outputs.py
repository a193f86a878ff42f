# SPDX-License-Identifier: Apache-2.0
"""No command writes over what it read, whatever its output option is called."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from assay.cli import run

EXAMPLES = Path(__file__).parent.parent / "examples"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with something of each kind that commands read."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES / "simul" / "systems" / "eager", "log")
    Path("names.jsonl").write_text("get name\nset name\n")
    Path("gold.txt").write_text("get name\nput name\n")
    for system in ("baseline", "improved"):
        files = ["-p", f"{EXAMPLES}/text/{system}.txt", "-g", f"{EXAMPLES}/text/reference.txt"]
        assert run(["text", "score", *files, "-m", "exact", "--save", system, "--quiet"]) == 0
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "report baseline improved -o baseline/run.json",
        "leaderboard . -o improved/examples.jsonl",
        "gate improved --baseline baseline --max-drop 0.1 --junit baseline/rows.npy",
        "simul convert log --to simuleval -o log",
        "code score --dataset_name=code2seq --prediction_file=names.jsonl --target_file=gold.txt "
        "--errors names.jsonl",
    ],
)
def test_inputs_stay_as_they_are(
    place: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.read_bytes() for path in place.rglob("*") if path.is_file()}
    assert run(command.split()) == 2
    message = capsys.readouterr().err.splitlines()[-1]
    assert "is an input of this run" in message or "belongs to a saved run" in message
    assert {path: path.read_bytes() for path in place.rglob("*") if path.is_file()} == before

# SPDX-License-Identifier: Apache-2.0
"""What `assay doctor` says of files of commands."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.tasks.commands.doctor import UNPARSED, inspect

HEADER = "description,prediction,template,correct template,correct command\n"
FILES = [
    # name, content, what is said: number of records, notes, findings
    ("gold.jsonl", '{"nl": "a", "references": ["ls"]}\n' * 2, (2, ["1 description: its key was there before, so both share their verdicts (2)"], [])),
    ("pairs.jsonl", '{"nl": "a", "command": "ls \'"}\n', (1, [f"1 description: {UNPARSED} (1)"], [])),
    ("p.jsonl", '{"id": 1, "predictions": ["ls", "(a"]}\n{"id": 1, "predictions": []}\n', (2, ["1 record: " + UNPARSED + " (1)", "1 record: no prediction (2)"], ["1 record: the id was there before (2)"])),
    ("manual.evaluations.anna", HEADER + "a,ls,ls,n,y\na,wc,wc,,\n", (2, ["1 row: the command is right and its structure is not (1)", "1 row: no verdict (2)"], [])),
    ("other.jsonl", '{"id": 1, "prediction": "a"}\n', None),
    ("other.txt", "ls\n", None),
    ("empty.jsonl", "", None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "content", "said"), FILES, ids=[file[0] for file in FILES])
def test_inspect(
    name: str, content: str, said: tuple[int, list[str], list[str]] | None, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(content)
    found = inspect(str(path))
    listed = found and (found.n_records, list(found.notes), list(found.findings))
    assert listed == said


def test_what_cannot_be_read_is_a_finding(tmp_path: Path) -> None:
    gold, sheet = tmp_path / "gold.jsonl", tmp_path / "evaluations"
    gold.write_text('{"nl": "a", "references": []}\n')
    sheet.write_text("description\n")
    for path, wanted in ((gold, "'references' is empty"), (sheet, "there is no column")):
        found = inspect(str(path))
        assert found is not None
        assert wanted in found.findings[0]

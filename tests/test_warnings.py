# SPDX-License-Identifier: Apache-2.0
"""Warnings quote names and ids of strangers: one line each, and nothing that steers a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli import run


def test_a_warning_is_one_line_whatever_it_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    gold, predictions = tmp_path / "gold.tsv", tmp_path / "predictions.tsv"
    gold.write_text("p1\tA\n", encoding="utf-8")
    predictions.write_text("p1\tA\nx\x1b]0;owned\x07\u2028y\tB\n", encoding="utf-8")
    given = ["--input", str(predictions), "--truth", str(gold), "--output", str(tmp_path / "o")]
    assert run(["metadata", "score", "--ci", "0", *given]) == 0
    told = capsys.readouterr().err
    assert "not in gold and counts as wrong: 'x\\x1b]0;owned\\x07\\u2028y'" in told
    assert all(line.startswith("assay: ") and line.isprintable() for line in told.split("\n")[:-1])

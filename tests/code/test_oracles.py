# SPDX-License-Identifier: Apache-2.0
"""Every case that the original evaluator was run on: the command prints the same, to the byte."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from assay.cli import run

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "src" / "assay" / "tasks" / "code" / "golden"
SHARED = ROOT.parent / "shared" / "oracles" / "code"
FOLDERS = [
    pytest.param(folder.parent, id=f"{home.parent.name}/{folder.parent.name}")
    for home in (GOLDEN, SHARED)
    for folder in sorted(home.glob("*/expected.json"))
]

# Names that the result document has elsewhere, or that only the printed lines have.
NOT_SCORES = {
    "total",
    "reference_stdout",
    "pooled",
    "lower_confidence_interval",
    "upper_confidence_interval",
    "per_class_accuracies",
    "raw_total",
    "raw_total_buggy",
}


def test_all_cases_are_committed() -> None:
    assert len(list(GOLDEN.glob("*/expected.json"))) == 56


def arguments(folder: Path, args: dict[str, Any]) -> list[str]:
    """The case's arguments as the command line has them; resampling had none of its own."""
    given = dict(args)
    found = ["code", "score"]
    if "num_bootstraps" in given:
        found += ["--interval=plur", f"--resamples={given.pop('num_bootstraps')}"]
        found += [f"--seed={given.pop('seed', 42)}"]
        levels = given.pop("ci_intervals", [90, 95, 99])
        found += [f"--plur-levels={','.join(map(str, levels))}"]
    for name, value in given.items():
        found.append(f"--{name}={folder / value if name.endswith('_pattern') else value}")
    return found


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_command_prints_what_the_original_printed(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    expected, given = case["expected"], arguments(folder, case["args"])
    if "error" in expected:
        assert run(given) == 2
        printed = capsys.readouterr()
        assert printed.out == ""
        assert printed.err.startswith("assay: ")
        assert printed.err.count("\n") == 1
        return
    assert run(given) == 0
    summary = f"{expected['pooled']['line']}\n" if "pooled" in expected else ""
    assert capsys.readouterr().out == summary + expected["reference_stdout"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_document_has_every_number_in_full(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = json.loads((folder / "expected.json").read_text(encoding="utf-8"))
    expected = case["expected"]
    if "error" in expected:
        return
    assert run([*arguments(folder, case["args"]), "--json", "--quiet"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["statistics"]["n"] == expected["total"]
    for name, value in expected.items():
        if name not in NOT_SCORES:
            close(found["scores"][name], value)
    close(found["extra"].get("per_class_accuracies"), expected.get("per_class_accuracies"))
    for side in ("lower", "upper"):
        for name, values in expected.get(f"{side}_confidence_interval", {}).items():
            close(found["extra"]["plur_intervals"][side][name], values)
    if "pooled" in expected:
        prefix = "pooled_" if "pooled_precision" in found["scores"] else ""
        for name in ("precision", "recall", "f1_score"):
            close(found["scores"][prefix + name], expected["pooled"][name])


def close(found: Any, expected: Any) -> None:
    """Equal to 1e-9, in the same order."""
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        close(list(found.values()), list(expected.values()))
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            close(one, other)
    elif expected is None:
        assert found is None
    else:
        assert math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)

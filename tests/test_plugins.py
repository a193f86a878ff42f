# SPDX-License-Identifier: Apache-2.0
"""The plug-in of docs/how-to/write-a-plugin.md, installed as a package that only its files make."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parent.parent / "docs" / "how-to" / "write-a-plugin.md"

TASK = """
from assay.tasks.text import TextTask

class Notes(TextTask):
    name = "notes"
    summary = "Notes against notes."
    default_metrics = ("shouting",)

TASK = Notes()
"""


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE.read_text("utf-8"), re.M | re.S)


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder of packages as pip leaves them: the module, and what it says of itself."""
    site = tmp_path / "site"
    about = site / "shouting-1.0.dist-info"
    about.mkdir(parents=True)
    (site / "shouting.py").write_text(blocks("python")[0] + TASK)
    points = re.search(r'entry-points\."(.*)"\]\n(.*)\n', blocks("toml")[0])
    assert points is not None
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shouting\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(
        f"[{points[1]}]\n{points[2].replace(chr(34), '')}\n[assay.tasks]\nnotes = shouting:TASK\n"
    )
    (tmp_path / "p.txt").write_text("ABcd\nef\n")
    (tmp_path / "g.txt").write_text("abcd\nef\n")
    return site


def assay(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join([str(site), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.run(
        [sys.executable, "-m", "assay", *arguments],
        cwd=site.parent,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def test_metric_and_task_are_found_by_name(site: Path) -> None:
    files = ["-p", "p.txt", "-g", "g.txt", "--json"]
    for command in (["text", "score", "-m", "shouting"], ["notes", "score"]):
        done = assay(site, *command, *files, "--save", "run")
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["scores"] == {"shouting": 2 / 6}
    assert assay(site, "verify", "run").returncode == 0
    assert "shouting" in assay(site, "metrics").stdout
    assert "Notes against notes." in assay(site, "tasks").stdout


def test_a_plugin_that_is_broken_is_named_and_stops_nothing_else(site: Path) -> None:
    (site / "shouting.py").write_text("import no_such_module\n")
    done = assay(site, "text", "score", "-p", "p.txt", "-g", "g.txt", "-m", "shouting")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "assay: plug-in 'shouting' of the package shouting cannot be loaded (ModuleNotFoundError: "
        "No module named 'no_such_module'); update it, or run: pip uninstall shouting\n"
    )
    done = assay(site, "text", "score", "-p", "p.txt", "-g", "g.txt", "-m", "exact", "--quiet")
    assert done.returncode == 0

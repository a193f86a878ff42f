# SPDX-License-Identifier: Apache-2.0
"""The package as a whole: public names, light imports, files that belong to it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import assay

ROOT = Path(__file__).resolve().parent.parent
SOURCES = sorted((ROOT / "src").rglob("*.py"))
HEAVY = {"numpy", "rich", "msgspec", "sacrebleu", "rapidfuzz", "zstandard", "pyoxigraph", "asyncio"}


def test_every_public_name_is_there_and_documented() -> None:
    assert len(set(assay.__all__)) == len(assay.__all__)
    for name in assay.__all__:
        assert getattr(assay, name).__doc__, name
    assert set(assay.__all__) <= set(dir(assay))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'evalute'"):
        getattr(assay, "evalute")  # noqa: B009 a name that type checkers refuse


def loaded_by(code: str) -> set[str]:
    after = f"{code}\nimport sys; print(*{{name.split('.')[0] for name in sys.modules}})"
    done = subprocess.run([sys.executable, "-c", after], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    "code",
    [
        "import assay",
        "from assay.cli import run; run(['--help'])",
        "from assay.cli import run; run(['text', 'score', '--help'])",
        "from assay.cli import run; run(['tasks'])",
    ],
)
def test_nothing_heavy_is_imported_before_it_is_needed(code: str) -> None:
    assert not loaded_by(code) & HEAVY


def test_a_small_score_loads_only_what_it_needs(tmp_path: Path) -> None:
    """Modules that cost milliseconds each and that a score of a few lines has no use for."""
    needless = {
        *("rich", "msgspec", "sacrebleu", "rapidfuzz", "zstandard", "asyncio", "multiprocessing"),
        *("concurrent", "tempfile", "shutil", "difflib", "email", "http", "json", "subprocess"),
        *("importlib.metadata", "numpy.ma", "numpy.polynomial", "assay.report.html"),
        *("assay.pipeline.compare", "assay.pipeline.runs", "assay.engine.processes"),
        *("assay.read.jsonl", "assay.read.tsv", "assay.metrics.ter", "assay.metrics.chrf"),
    }
    file = tmp_path / "lines.txt"
    file.write_text("a b c d e\nf g h i j\n", "utf-8")
    # Long options: at a short one click itself loads difflib.
    command = ["text", "score", "--predictions", str(file), "--gold", str(file), "--metric", "bleu"]
    code = f"from assay.cli import run; assert run({command!r}) == 0"
    after = f"{code}\nimport sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", after], capture_output=True, text=True, check=True)
    assert not set(done.stdout.splitlines()[-1].split()) & needless


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(ROOT)))
def test_every_file_names_its_licence_and_its_purpose(path: Path) -> None:
    text = path.read_text("utf-8")
    assert text.startswith("# SPDX-License-Identifier: Apache-2.0\n")
    if not path.name.startswith("test_"):
        assert ast.get_docstring(ast.parse(text))


def test_the_wheel_holds_what_runs_and_no_tests(tmp_path: Path) -> None:
    import zipfile

    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]
    subprocess.run([*pip, str(tmp_path), str(ROOT)], check=True)
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "assay/py.typed" in names
    assert not [n for n in names if "/test_" in n or "/golden/" in n]
    data = {p.relative_to(ROOT / "src").as_posix() for p in (ROOT / "src").rglob("*.json")}
    assert {n for n in data if "/golden/" not in n} <= set(names)

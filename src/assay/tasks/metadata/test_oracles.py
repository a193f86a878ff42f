# SPDX-License-Identifier: Apache-2.0
"""Every case that the old program itself was run on: numbers to 1e-9, files byte for byte.

Cases made for this project are kept in `golden/`; those with data of other projects are read from
beside the repository and skipped where they are not there.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from assay import evaluate
from assay.cli.root import root
from assay.core.errors import AssayError

HERE = Path(__file__).parent
OWN = HERE / "golden"
SHARED = HERE.parents[4] / "shared" / "oracles" / "metadata"

LABEL_CASES = [
    "baseline-acl-grobid",
    "baseline-acl-scienceParse",
    "baseline-dblp-scienceParse",
    "baseline-dblp-scienceParse-highP",
    "blank-lines-and-tabs",
    "dup-ids",
    "dup-values",
    "empty-files",
    "file-pairing",
    "line-ends",
    "missing-and-extra-ids",
    "missing-order-small",
    "number-format",
    "unicode-and-order",
]
QUIRKY = {"blank-lines-and-tabs", "file-pairing", "line-ends"}
"""Cases whose default reading differs on purpose: blank lines, dot files and byte-order marks are
left out."""


def case(name: str) -> Path:
    for place in (OWN / name, SHARED / name):
        if place.is_dir():
            return place
    pytest.skip(f"{name} holds data of other projects and is not at {SHARED}")


def expected(name: str) -> Any:
    return json.loads((case(name) / "expected.json").read_text(encoding="utf-8"))


def scores_of(found: Any, wanted: dict[str, float | None]) -> dict[str, float | None]:
    return {k: None if math.isnan(found[k]) else found[k] for k in wanted}


def approx(wanted: dict[str, float | None]) -> Any:
    return {k: v if v is None else pytest.approx(v, abs=1e-9) for k, v in wanted.items()}


def rows(text: str) -> tuple[str, list[str]]:
    """Header and the other rows in any order: the old program lists files as the disk does."""
    head, *rest = text.splitlines(keepends=True)
    return head, sorted(rest)


@pytest.mark.parametrize("name", LABEL_CASES)
def test_the_old_programs_files_and_console_byte_for_byte(name: str, tmp_path: Path) -> None:
    folder, output = case(name), tmp_path / "out"
    argv = ["metadata", "score", "--input", folder / "input", "--truth", folder / "truth"]
    argv += ["--output", output, "--compat", "meta-eval", "--ci", "0", "--quiet"]
    done = CliRunner().invoke(root, list(map(str, argv)), catch_exceptions=False)
    assert done.exit_code == 0
    assert rows((output / "PR.txt").read_bytes().decode()) == rows(
        (folder / "expected" / "PR.txt").read_bytes().decode()
    )
    wanted = {p.name: p.read_bytes() for p in (folder / "expected" / "details").iterdir()}
    assert {p.name: p.read_bytes() for p in (output / "details").iterdir()} == wanted
    console = (folder / "expected" / "console.txt").read_bytes().decode()
    console = console.replace("expected/details", f"{output}/details")
    assert sorted(done.stdout.splitlines()) == sorted(console.splitlines())


@pytest.mark.parametrize("name", LABEL_CASES)
def test_the_old_programs_numbers(name: str) -> None:
    folder, wanted = case(name), expected(name)["expected"]
    found = evaluate("metadata", folder / "input", folder / "truth", ci=0, compat="meta-eval")
    assert scores_of(found.scores, wanted) == approx(wanted)


@pytest.mark.parametrize("counting", ["set", "multiset", "micro"])
@pytest.mark.parametrize("name", LABEL_CASES)
def test_the_other_ways_to_count(name: str, counting: str) -> None:
    folder, other = case(name), expected(name)["other_counting"]
    compat = "meta-eval" if name in QUIRKY else None
    duplicates = "multiset" if counting == "micro" else counting
    found = evaluate(
        "metadata", folder / "input", folder / "truth", ci=0, duplicates=duplicates, compat=compat
    ).scores
    if counting == "micro":
        found = {k.replace(".micro_", "."): v for k, v in found.items() if ".micro_" in k}
    wanted = other[counting]
    assert scores_of(found, wanted) == approx(wanted)


@pytest.mark.parametrize("compat", [None, "meta-eval"])
def test_a_line_of_tabs_is_an_empty_line(compat: str | None) -> None:
    folder = case("error-tabs-only")
    found = evaluate("metadata", folder / "input", folder / "truth", ci=0, compat=compat)
    # One paper with value A on both sides; the line of TABs has no value.
    assert found.scores["v.precision"] == 1.0
    assert found.scores["v.recall"] == 1.0


def test_byte_order_marks_blank_lines_and_dot_files_are_left_out_by_default() -> None:
    marked = evaluate("metadata", case("line-ends") / "input", case("line-ends") / "truth", ci=0)
    assert marked.scores["bom.precision"] == 1.0
    assert any("byte-order mark" in w for w in marked.document.warnings)
    blank = evaluate(
        "metadata", case("blank-lines-and-tabs") / "input", case("blank-lines-and-tabs") / "truth"
    )
    # The blank last line of gold no longer takes C from the id "".
    assert blank.scores["v.precision"] == 1.0
    hidden = case("file-pairing")
    found = evaluate("metadata", hidden / "input", hidden / "truth", ci=0)
    assert ".precision" not in found.scores
    assert found.scores["title.recall"] == 0.5


def test_every_shared_case_is_looked_at() -> None:
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there")
    others = {"error-tabs-only", "confidence-scan", "confidence-scan-bins", "grobid-match-modes"}
    others |= {"grobid-tei", "normalisers"}
    assert {p.name for p in SHARED.iterdir() if p.is_dir()} == {*LABEL_CASES, *others}


def test_nothing_to_compare_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    with pytest.raises(AssayError) as caught:
        evaluate("metadata", tmp_path / "a", tmp_path / "b", compat="meta-eval")
    assert caught.value.exit_code == 2

# SPDX-License-Identifier: Apache-2.0
"""Input that is wrong or odd, met through the command: what it says, and that nothing is left."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay.cli import run

Command = Callable[..., tuple[int, str, str]]
Files = dict[str, str | bytes]

LAUGHS = """<!DOCTYPE TEI [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>
<TEI><teiHeader><fileDesc><titleStmt><title>&b;</title></titleStmt></fileDesc></teiHeader></TEI>"""
OUTSIDE = """<!DOCTYPE TEI [<!ENTITY x SYSTEM "file:///etc/hostname">]>
<TEI><teiHeader><fileDesc><titleStmt><title>&x;</title></titleStmt></fileDesc></teiHeader></TEI>"""
GOOD: Files = {"p/a.tsv": "p1\tA\n", "g/a.tsv": "p1\tA\n"}


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    monkeypatch.chdir(tmp_path)

    def call(files: Files, *arguments: object) -> tuple[int, str, str]:
        for name, content in files.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        code = run(["metadata", *map(str, arguments)])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


REFUSED: list[tuple[str, Files, str, str]] = [
    # what is wrong, files, options besides --truth g, what is said
    ("no such input", {"g/a.tsv": "p\tA"}, "--input p", "p: no such file or folder"),
    ("no input", GOOD, "", "give --input or --scored"),
    ("empty folders", {"p/.keep": "", "g/.keep": ""}, "--input p", "nothing to compare"),
    (
        "no common field",
        {"p/a.tsv": "p\tA", "g/b.tsv": "p\tA"},
        "--input p",
        "have 'a', gold has 'b'",
    ),
    ("empty files", {"p/a.tsv": "", "g/a.tsv": "\n\n"}, "--input p", "both sides are empty"),
    ("gold is a folder", {"p/a.tsv": "p\tA", "g/a.tsv/x": ""}, "--input p", "nothing to compare"),
    (
        "two files of a field",
        {"p/a.tsv": "p\tA", "g/a.1.tsv": "p\tA", "g/a.2.tsv": "p\tB"},
        "--input p",
        "a.1.tsv and a.2.tsv both hold the field 'a'",
    ),
    (
        "two predicted files",
        {"p/a.x": "p\tA", "p/a.y": "p\tA", "g/a.tsv": "p\tB"},
        "--input p",
        "a.x and a.y both hold the field 'a'",
    ),
    (
        "two files beside JSON lines",
        {"p.jsonl": '{"id": "p", "a": "A"}', "g/a.1": "p\tA", "g/a.2": "p\tB"},
        "--input p.jsonl",
        "both hold the field 'a'",
    ),
    (
        "a byte of another encoding",
        {**GOOD, "p/a.tsv": b"p0\tA\np1\tM\xfcller\n"},
        "--input p",
        "a.tsv, line 2: byte 0xfc is not UTF-8",
    ),
    (
        "UTF-16",
        {**GOOD, "p/a.tsv": "p1\tA\n".encode("utf-16")},
        "--input p",
        "a.tsv, line 1: byte 0xff",
    ),
    (
        "an id twice",
        {**GOOD, "p/a.tsv": "p1\tA\np1\tA\n"},
        "--input p --duplicate-ids error",
        "a.tsv, line 2: 1 id stands on more than one line",
    ),
    (
        "gold ids twice",
        {**GOOD, "g/a.tsv": "p1\tA\np1\tA\n"},
        "--input p --duplicate-ids error",
        "a.tsv, line 2: 1 id stands",
    ),
    (
        "missing papers",
        {**GOOD, "g/a.tsv": "p1\tA\np2\tB\n"},
        "--input p --missing error",
        "1 paper of gold has no prediction: 'p2'",
    ),
    (
        "entities",
        {"p/p1.xml": LAUGHS, "g/title.tsv": "p1\tA"},
        "--input p",
        "declares the entity 'a'",
    ),
    (
        "a file from outside",
        {"p/p1.xml": OUTSIDE, "g/title.tsv": "p1\tA"},
        "--input p",
        "declares the entity 'x'",
    ),
    (
        "broken XML",
        {"p/p1.xml": "<TEI>\n<a>", "g/title.tsv": "p1\tA"},
        "--input p",
        "p1.xml, line 2: not well-formed",
    ),
    (
        "no JSON",
        {"p/p1.json": "{", "g/title.tsv": "p1\tA"},
        "--input p",
        "p1.json, line 1, column 2: not JSON",
    ),
    (
        "no list of JSON",
        {"p.json": "[{]", "g/title.tsv": "p1\tA"},
        "--input p.json",
        "p.json, line 1, column 3: not JSON",
    ),
    (
        "no object",
        {"p.json": "[3]", "g/title.tsv": "p1\tA"},
        "--input p.json",
        "p.json: not an object",
    ),
    ("derived from nothing", GOOD, "--input p --derive b=c", "unknown field in --derive 'c'"),
    ("derived though there", GOOD, "--input p --derive a=a:title", "both sides have 'a' already"),
    ("derived by no form", GOOD, "--input p --derive b=a:soft", "unknown normaliser 'soft'"),
    (
        "JSON lines with an id twice",
        {"p.jsonl": '{"id": 1, "a": "A"}\n{"id": 2}\n\n{"id": 1, "a": "B"}', "g/a.tsv": "1\tA"},
        "--input p.jsonl --duplicate-ids error",
        "p.jsonl, line 4: 1 id stands",
    ),
    (
        "two files of a paper",
        {"p/x.json": "{}", "p/x.y.json": '{"title": "A"}', "g/title.tsv": "x\tA"},
        "--input p --duplicate-ids error",
        "p: 1 id stands",
    ),
    ("two kinds of input", GOOD, "--input p --scored p", "give one"),
    (
        "scored under another name",
        {"s.tsv": "p1\tA\t1", "g/a.tsv": "p1\tA"},
        "--scored s.tsv",
        "--field says what a single file holds",
    ),
    ("standard input for both", {}, "--input - --truth -", "standard input can be read once"),
]


@pytest.mark.parametrize(
    ("files", "options", "message"), [c[1:] for c in REFUSED], ids=[c[0] for c in REFUSED]
)
def test_what_cannot_be_scored_is_refused_and_nothing_is_written(
    files: Files,
    options: str,
    message: str,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"p1\tA\n")))
    truth = () if "--truth" in options else ("--truth", "g")
    code, out, err = command(files, "score", *truth, *options.split())
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("assay: ")
    assert not (tmp_path / "output").exists()


SAID: list[tuple[str, Files, str, str]] = [
    (
        "a folder among gold",
        {**GOOD, "p/b.tsv": "p\tB", "g/b.tsv/x": ""},
        "",
        "b.tsv is a folder in gold",
    ),
    (
        "a field without gold",
        {**GOOD, "p/b.tsv": "p\tB"},
        "",
        "No truth file named b.tsv. Skipping",
    ),
    (
        "a stranger",
        {**GOOD, "p/a.tsv": "p1\tA\np2\tB"},
        "",
        "1 predicted paper is not in gold and counts as wrong: 'p2'",
    ),
    (
        "strangers",
        {**GOOD, "p/a.tsv": "p1\tA\np2\tB\np3\tC"},
        "",
        "2 predicted papers are not in gold",
    ),
    (
        "commas for TABs",
        {**GOOD, "p/a.tsv": "p1,A\n"},
        "",
        "no paper is on both sides: gold has 'p1', predictions have 'p1,A'",
    ),
    ("blanks around an id", {**GOOD, "p/a.tsv": "p1 \tA\n"}, "", "'p1 ' and 'p1'"),
    ("a byte-order mark", {**GOOD, "p/a.tsv": "\ufeffp1\tA\n"}, "", "byte-order mark left out"),
    (
        "an id twice",
        {**GOOD, "p/a.tsv": "p1\tA\np1\tB\n"},
        "",
        "1 id stands on more than one line (every line counts as a paper)",
    ),
    (
        "merged ids",
        {**GOOD, "p/a.tsv": "p1\tA\np1\tB\n"},
        "--duplicate-ids merge",
        "their values are put together",
    ),
    (
        "a recall above 1",
        {**GOOD, "p/a.tsv": "p1\tA\tA\n"},
        "--duplicates reference",
        "1 paper has a recall above 1",
    ),
    (
        "gold without predictions",
        {**GOOD, "g/b.tsv": "p1\tB"},
        "",
        "gold has 'b', which nothing was predicted for",
    ),
]


@pytest.mark.parametrize(
    ("files", "options", "message"), [c[1:] for c in SAID], ids=[c[0] for c in SAID]
)
def test_what_is_odd_is_said_on_standard_error_and_in_the_document(
    files: Files, options: str, message: str, command: Command
) -> None:
    code, out, err = command(
        files, "score", "--input", "p", "--truth", "g", "--json", "--ci", 0, *options.split()
    )
    assert code == 0
    assert message in err
    assert any(message in warning for warning in json.loads(out)["warnings"])


READ: list[tuple[str, Files, str, str]] = [
    ("TABs alone are an empty line", {"p": "\t\t\np1\tA\n", "g/a.tsv": "p1\tA\n"}, "p", "a"),
    ("one file against a folder", {"p/a.tsv": "p1\tA\n", "g/a.tsv": "p1\tA\n"}, "p/a.tsv", "a"),
    ("one file of another name", {"x.out": "p1\tA\n", "g/a.tsv": "p1\tA\n"}, "x.out", "a"),
    ("standard input", {"g/a.tsv": "p1\tA\n"}, "-", "a"),
    ("another ending", {"p/a.txt": "p1\tA\n", "g/a.tsv": "p1\tA\n"}, "p", "a"),
    (
        "a list of JSON objects",
        {"p.json": '[{"id": "p1", "a": "A"}]', "g/a.tsv": "p1\tA\n"},
        "p.json",
        "a",
    ),
    (
        "a folder of JSON lines",
        {"p/x.jsonl": '{"id": "p1", "a": ["A"]}', "g/a.tsv": "p1\tA\n"},
        "p",
        "a",
    ),
    (
        "papers with their PDF beside",
        {
            "p/p1.json": '{"title": "A"}',
            "p/p1.pdf": "%PDF",
            "p/README.md": "",
            "g/title.tsv": "p1\tA\n",
        },
        "p",
        "title",
    ),
    (
        "dot files are not looked at",
        {"p/.a.tsv": b"\xff", "p/a.tsv": "p1\tA\n", "g/a.tsv": "p1\tA\n"},
        "p",
        "a",
    ),
]


@pytest.mark.parametrize(
    ("files", "given", "field"), [c[1:] for c in READ], ids=[c[0] for c in READ]
)
def test_what_can_be_read(
    files: Files, given: str, field: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"p1\tA\n")))
    code, out, err = command(
        files, "score", "--input", given, "--truth", "g", "--field", field, "--json"
    )
    assert (code, "warning" in err) == (0, False)
    scores = json.loads(out)["scores"]
    assert (scores[f"{field}.precision"], scores[f"{field}.recall"]) == (1.0, 1.0)


def test_an_interrupted_look_at_output_leaves_no_half(command: Command, tmp_path: Path) -> None:
    code, _, err = command(
        {**GOOD, "output/details": "in the way"}, "score", "--input", "p", "--truth", "g"
    )
    assert code == 2
    assert "is a file" in err
    assert [path.name for path in (tmp_path / "output").iterdir()] == ["details"]


def test_curves_of_an_earlier_run_are_removed(command: Command, tmp_path: Path) -> None:
    scored = {
        "s/a.tsv": "p1\tA\t1\n",
        "s/b.tsv": "p1\tB\t1\n",
        "g/a.tsv": "p1\tA\n",
        "g/b.tsv": "p1\tB\n",
    }
    command({**scored, "p/a.tsv": "p1\tA\n"}, "score", "--scored", "s", "--truth", "g")
    names = {path.name for path in (tmp_path / "output").glob("PR-curve*")}
    assert names == {f"PR-curve-{f}.{e}" for f in "ab" for e in ("tsv", "svg")}
    command({}, "score", "--scored", "s", "--truth", "g", "--field", "a")
    assert {path.name for path in (tmp_path / "output").glob("PR-curve*")} == {
        "PR-curve.tsv",
        "PR-curve.svg",
    }
    command({}, "score", "--input", "p", "--truth", "g")
    assert not list((tmp_path / "output").glob("PR-curve*"))


def test_a_long_value_does_not_flood_the_console(command: Command) -> None:
    files: Files = {**GOOD, "p/a.tsv": f"p1\t{'long ' * 10_000}\n"}
    code, out, _ = command(files, "score", "--input", "p", "--truth", "g", "--ci", 0)
    assert code == 0
    assert "long long…" in out
    assert max(map(len, out.splitlines())) < 200


@pytest.mark.parametrize("merge", [False, True])
def test_curves_follow_the_rule_for_repeated_gold_ids(merge: bool, command: Command) -> None:
    files: Files = {"s.tsv": "p1\tA\t0.9\n", "g.tsv": "p1\tA\np1\tB\n"}
    more = ("--duplicate-ids", "merge") if merge else ()
    code, out, _ = command(files, "score", "--scored", "s.tsv", "--truth", "g.tsv", "--json", *more)
    assert code == 0
    # Together gold is A and B, of which A was found; alone the last line, B, counts.
    assert json.loads(out)["extra"]["curves"]["g"]["points"] == [
        [0.9, 1.0, 0.5] if merge else [0.9, 0.0, 0.0]
    ]

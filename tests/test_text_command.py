# SPDX-License-Identifier: Apache-2.0
"""`assay text score` as a user meets it: what it prints, what it writes, and what it refuses."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from assay.cli import run

PREDICTIONS = ["the cat sat", "a dog", "it rains", "no"]
GOLD = ["the cat sat", "a big dog", "it rains", "yes"]
COMMAND = [sys.executable, "-m", "assay", "text", "score"]

Outcome = tuple[int, str, str]
Score = Callable[..., Outcome]


@pytest.fixture
def score(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Score:
    """Runs the command in this process; `{}` in an argument stands for the folder of the test."""

    def call(*arguments: str) -> Outcome:
        given = [a.replace("{}", str(tmp_path)) for a in arguments]
        code = run(["text", "score", *given])
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return call


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """Four examples, as lines, TSV and JSONL."""
    write_lines(tmp_path / "p.txt", PREDICTIONS)
    write_lines(tmp_path / "g.txt", GOLD)
    write_lines(tmp_path / "g2.txt", ["a cat sat", "a dog", "it pours", "never"])
    topics = ["pets", "pets", "weather", "other"]
    rows = list(zip(PREDICTIONS, GOLD, topics, strict=True))
    write_objects(
        tmp_path / "p.jsonl", [{"id": f"q{i}", "prediction": p} for i, (p, _, _) in enumerate(rows)]
    )
    write_objects(
        tmp_path / "g.jsonl",
        [{"id": f"q{i}", "gold": g, "topic": t, "doc": i // 2} for i, (_, g, t) in enumerate(rows)],
    )
    write_lines(tmp_path / "both.tsv", ["prediction\tgold\ttopic", *("\t".join(r) for r in rows)])
    return tmp_path


def write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_objects(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    write_lines(path, [json.dumps(row) for row in rows])


def listing(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def check_refused(outcome: Outcome, message: str, code: int = 2) -> None:
    """One line on standard error, nothing on standard output."""
    got, out, err = outcome
    assert err.startswith("assay: "), err
    assert err.endswith("\n")
    assert err.count("\n") == 1, err
    assert err[len("assay: ") : -1] == message
    assert out == ""
    assert got == code


EXACT = ("-m", "exact")
TEXT = ("--predictions", "{}/p.txt", "--gold", "{}/g.txt", *EXACT)
ITEM = '{"id": "1", "prediction": "a"}\n'
MISSING = "use --missing wrong to count them as wrong, or --missing skip to leave them out"
ONE = 'write one object per line: {"id": "1", "prediction": "..."}'

BAD = [
    # name, files to write, arguments, message ({} is the folder)
    ("unequal counts", {"p.txt": "a\nb\n"}, TEXT, "{}/p.txt and {}/g.txt do not line up: 2 predictions, 4 gold; write one prediction for every example, in the order of the gold, or give both ids"),
    ("a blank line at the end", {"p.txt": "a\nb\nc\nd\n\n"}, TEXT, "{}/p.txt and {}/g.txt do not line up: 5 predictions, 4 gold; {}/p.txt has a blank line too many at its end: remove it"),
    ("a Unicode line break", {"p.txt": "a\nb\u2028c\nd\n"}, TEXT, "{}/p.txt and {}/g.txt do not line up: 3 predictions, 4 gold; {}/p.txt holds 1 line break other than line feeds (U+2028), at which {}/g.txt seems to have been split: replace by spaces before splitting"),
    ("unequal references", {"r.txt": "a\n"}, (*TEXT, "-g", "{}/r.txt"), "{}/g.txt and {}/r.txt do not line up: 4 and 1 references; every gold file needs one reference per example"),
    ("empty predictions", {"p.txt": ""}, TEXT, "{}/p.txt: the file is empty; check the step that wrote it"),
    ("empty gold", {"g.txt": ""}, TEXT, "{}/g.txt: the file is empty; check the step that wrote it"),
    ("both empty", {"p.txt": "", "g.txt": ""}, TEXT, "{}/p.txt: the file is empty; check the step that wrote it"),
    ("no such file", {}, ("-p", "{}/pp.txt", "-g", "{}/g.txt"), "{}/pp.txt: no such file; did you mean {}/p.txt?"),
    ("a folder", {}, ("-p", "{}", "-g", "{}/g.txt"), "{}: this is a folder, not a file; name a file in it, or all of them: '{}/*'"),
    ("a pattern without match", {}, ("-p", "{}/*.zip", "-g", "{}/g.txt"), "{}/*.zip: no file matches this pattern; check the folder, and quote the pattern so that the shell leaves it alone"),
    ("an empty name", {}, ("-p", "", "-g", "{}/g.txt"), "the name of a file is empty; name a file, or - for standard input"),
    ("bad byte", {"p.txt": b"fine\nna\xefve\n"}, TEXT, "{}/p.txt, line 2, column 3: byte 0xEF is not UTF-8; if it is ISO-8859-1 ('ï'), convert it: iconv -f ISO-8859-1 -t UTF-8 {}/p.txt"),
    ("UTF-16", {"p.txt": "abc\n".encode("utf-16")}, TEXT, "{}/p.txt: this is UTF-16, not UTF-8; convert it: iconv -f UTF-16 -t UTF-8 {}/p.txt"),
    ("gzip cut off", {"p.txt": gzip.compress(b"abc\n" * 99)[:-5]}, TEXT, "{}/p.txt: the gzip archive is cut off; copy or download it again"),
    ("not JSON", {"p.jsonl": ITEM + "{'id': 2}\n"}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"), f"{{}}/p.jsonl, line 2, column 2: not JSON: strings need double quotes; {ONE}"),
    ("NaN", {"p.jsonl": '{"id": "1", "prediction": NaN}\n'}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"), "{}/p.jsonl, line 1, column 27: NaN is not JSON; write null, or a number"),
    ("JSON of the wrong shape", {"p.jsonl": ITEM + '{"id": "2", "prediction": {"text": "b"}}\n'}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"), "{}/p.jsonl, line 2: 'prediction' is an object, not a string; write a string or a list of strings"),
    ("another key", {"p.jsonl": '{"id": "1", "output": "a"}\n'}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"), "{}/p.jsonl, line 1: no 'prediction'; it has 'id', 'output'; each record of predictions needs 'prediction', a string or a list of strings"),
    ("duplicate ids", {"p.jsonl": ITEM + ITEM}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"), "{}/p.jsonl, line 2: id '1' occurs a second time among the predictions, first in {}/p.jsonl, line 1; give every record an id of its own, or remove one of the two"),
    ("an id in the gold only", {"g.jsonl": '{"id": "1", "gold": "a"}\n{"id": "2", "gold": "b"}\n', "p.jsonl": ITEM}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"), f"{{}}/g.jsonl and {{}}/p.jsonl do not line up: 1 of 2 gold ids has no prediction, first '2' ({{}}/g.jsonl, line 2); {MISSING}"),
    ("an id in the predictions only", {"g.jsonl": '{"id": "1", "gold": "a"}\n', "p.jsonl": ITEM + ITEM.replace('"1"', '"2"')}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"), "{}/g.jsonl and {}/p.jsonl do not line up: 1 of 2 predictions has no gold, first '2' ({}/p.jsonl, line 2); remove what is not in the gold, or use --missing skip to leave it out"),
    ("ids on one side", {}, ("-p", "{}/p.txt", "-g", "{}/g.jsonl"), "{}/g.jsonl has ids and {}/p.txt has none; give both sides ids, or use --align order to pair them line by line"),
    ("nothing left to score", {"g.jsonl": '{"id": "9", "gold": "a", "topic": "x"}\n', "p.jsonl": ITEM}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl", "--missing", "skip", "--slice", "topic"), "{}/g.jsonl and {}/p.jsonl do not line up: none of 1 gold ids has a prediction, so nothing is left to score; are these files of the same data?"),
    ("an id with a line feed", {"p.jsonl": '{"id": "a\\nb", "prediction": "x"}\n' * 2}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"), "{}/p.jsonl, line 2: id 'a\\nb' occurs a second time among the predictions, first in {}/p.jsonl, line 1; give every record an id of its own, or remove one of the two"),
    ("TSV without a header", {"p.tsv": "a\tb\n"}, ("-p", "{}/p.tsv", "-g", "{}/g.txt"), "{}/p.tsv, line 1: the header has no column 'prediction'; it names 'a', 'b'; begin the file with a line such as id<TAB>prediction, or read it as plain lines"),
    ("no gold", {}, ("-p", "{}/p.txt"), "{}/p.txt, line 1: a prediction and no 'gold'; give a gold file, or a 'gold' in every record"),
    ("no predictions", {}, ("-g", "{}/g.txt"), "Missing option '--predictions' / '-p'; see 'assay text score --help'"),
    ("standard input twice", {}, ("-p", "-", "-g", "-"), "'-' is given for predictions and for gold; standard input can be read once, so give a file for one of them"),
    ("an unknown parameter", {}, (*TEXT, "-m", "bleu(tokeniser=13a)"), "unknown parameter of bleu 'tokeniser'; did you mean 'tokenize'? (there are: effective_order, lowercase, max_order, smooth, smooth_value, tokenize)"),
    ("an unknown column", {}, ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl", "--slice", "topics"), "unknown column 'topics'; did you mean 'topic'? (there are: doc, topic)"),
    ("a level in percent", {}, (*TEXT, "--ci", "95"), "--ci 95.0 must be between 0 and 1 (0.95 for 95 %), or 0 for no intervals"),
    ("no workers", {}, (*TEXT, "--jobs", "0"), "--jobs 0 must be at least 1"),
    ("workers without end", {}, (*TEXT, "--jobs", "100000"), f"--jobs 100,000 is too many; more than there are processors ({os.cpu_count()} here) bring nothing, and at most 1,024 are started"),
    ("digits that no number has", {}, (*TEXT, "--digits", "-1"), "Invalid value for '--digits': -1 is not in the range 0<=x<=17; see 'assay text score --help'"),
    ("a word for a number", {}, (*TEXT, "--jobs", "many"), "Invalid value for '--jobs' / '-j': 'many' is not a valid integer; see 'assay text score --help'"),
    ("a folder that is no run", {"out/precious.txt": "x"}, (*TEXT, "--save", "{}/out"), "{}/out exists and is not a run folder; choose another folder for --save"),
    ("a file in place of the run folder", {"out": "x"}, (*TEXT, "--save", "{}/out"), "{}/out is a file; give the name of a folder to write"),
    ("a file above the run folder", {"out": "x"}, (*TEXT, "--save", "{}/out/run"), "{}/out/run cannot be written ({}/out is a file, not a folder); choose another place, or make room"),
    ("a folder nobody can write to", {}, (*TEXT, "--save", "/proc/run"), "/proc/run cannot be written (No such file or directory); choose another place, or make room"),
    ("a table of unknown form", {}, (*TEXT, "--per-example", "{}/x.pdf"), "--per-example {}/x.pdf must end in .jsonl, .tsv, .csv"),
    ("a file above the table", {"out": "x"}, (*TEXT, "--per-example", "{}/out/x.tsv"), "{}/out/x.tsv cannot be written ({}/out is a file, not a folder); choose another place, or make room"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("more", "arguments", "message"), [c[1:] for c in BAD], ids=[c[0] for c in BAD]
)
def test_bad_input_is_one_line(
    files: Path, score: Score, more: dict[str, str | bytes], arguments: Sequence[str], message: str
) -> None:
    for name, content in more.items():
        path = files / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = listing(files)
    check_refused(score(*arguments), message.replace("{}", str(files)))
    assert listing(files) == before


def test_an_unknown_metric_gets_a_suggestion(files: Path, score: Score) -> None:
    code, out, err = score("-p", "{}/p.txt", "-g", "{}/g.txt", "-m", "blue")
    assert (code, out) == (2, "")
    assert err.startswith(
        "assay: unknown metric 'blue'; did you mean 'bleu'? (there are: bleu, cer, "
    )
    assert err.count("\n") == 1


FAILING = [
    ("short.txt", "error in the middle of a run"),
    ("bad.txt", "bad byte after the first batch"),
]


@pytest.mark.parametrize("name", [c[0] for c in FAILING], ids=[c[1] for c in FAILING])
def test_a_run_that_fails_leaves_nothing(files: Path, score: Score, name: str) -> None:
    write_lines(files / "g.txt", ["x"] * 20_000)
    write_lines(files / "short.txt", ["x"] * 19_999)
    (files / "bad.txt").write_bytes(b"x\n" * 19_999 + b"\xff\n")
    before = listing(files)
    code, out, err = score(
        "-p", f"{{}}/{name}", "-g", "{}/g.txt", *EXACT, "--save", "{}/new/deep/run", "--per-example", "{}/other/x.jsonl"
    )  # fmt: skip
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert listing(files) == before


def test_a_failed_run_leaves_the_old_one_as_it_was(files: Path, score: Score) -> None:
    assert score(*TEXT, "--save", "{}/run")[0] == 0
    before = {path: path.read_bytes() for path in (files / "run").iterdir()}
    write_lines(files / "p.txt", ["too short"])
    assert score(*TEXT, "--save", "{}/run")[0] == 2
    assert {path: path.read_bytes() for path in (files / "run").iterdir()} == before


def test_a_metric_that_is_given_twice_counts_once(files: Path, score: Score) -> None:
    twice = ("-m", "bleu", "-m", "bleu(tokenize=13a)", "-m", "BLEU")
    code, out, _ = score("-p", "{}/p.txt", "-g", "{}/g.txt", *twice, "--save", "{}/run")
    assert (code, out.count("bleu (%)"), out.count("bleu(tokenize=13a")) == (0, 1, 1)
    assert run(["show", str(files / "run"), "--quiet"]) == 0
    assert run(["verify", str(files / "run")]) == 0


def test_scores_per_example_may_lie_in_the_run_folder(files: Path, score: Score) -> None:
    held = ["each.csv", "examples.jsonl", "rows.npy", "run.json"]
    for _ in range(2):
        code, _, err = score(*TEXT, "--save", "{}/run", "--per-example", "{}/run/each.csv")
        assert code == 0, err
        assert sorted(p.name for p in (files / "run").iterdir()) == held


def test_json_is_one_document_and_nothing_else(files: Path, score: Score) -> None:
    (files / "p.txt").write_bytes(b"\xef\xbb\xbf" + (files / "p.txt").read_bytes())
    code, out, err = score(*TEXT, "--json")
    assert code == 0
    document = json.loads(out)
    assert out.count("\n") == 1 or out == json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    assert document["schema"] == "assay.result/1"
    assert document["scores"] == {"exact": 0.5}  # the first and the third are equal
    assert document["counts"] == {"gold": 4, "predictions": 4, "matched": 4, "missing": 0, "extra": 0, "duplicate": 0}  # fmt: skip
    assert [(i["role"], i["path"]) for i in document["inputs"]] == [
        ("predictions", str(files / "p.txt")),
        ("gold", str(files / "g.txt")),
    ]
    assert document["warnings"] == [f"{files}/p.txt: byte order mark removed"]
    assert err == f"assay: warning: {files}/p.txt: byte order mark removed\n"
    assert score(*TEXT, "--json", "--quiet")[2] == ""


def test_a_saved_run_holds_everything(files: Path, score: Score) -> None:
    code, out, err = score(
        "-p", "{}/p.jsonl", "-g", "{}/g.jsonl", *EXACT, "-m", "wer", "--slice", "topic", "--cluster", "doc", "--save", "{}/runs/one", "--json"
    )  # fmt: skip
    assert code == 0
    run_folder = files / "runs" / "one"
    assert listing(files / "runs") == {"one", "one/run.json", "one/rows.npy", "one/examples.jsonl"}
    assert err.endswith(f"assay: run written to {run_folder}\n")
    document = json.loads((run_folder / "run.json").read_text(encoding="utf-8"))
    assert document == json.loads(out)
    columns = sum(len(metric["columns"]) for metric in document["metrics"])
    rows = np.load(run_folder / "rows.npy", allow_pickle=False)
    assert (rows.dtype, rows.shape) == (np.dtype("float64"), (4, columns))
    stored = [json.loads(line) for line in (run_folder / "examples.jsonl").read_text().splitlines()]
    assert stored[1] == {
        "id": "q1",
        "prediction": "a dog",
        "gold": "a big dog",
        "slices": {"topic": "pets", "doc": "0"},
        "cluster": "0",
    }


def test_what_is_read_is_hashed_where_the_digest_is_kept_or_shown(
    files: Path, score: Score, monkeypatch: pytest.MonkeyPatch
) -> None:
    digests = [
        hashlib.sha256((files / name).read_bytes()).hexdigest() for name in ("p.txt", "g.txt")
    ]
    assert score(*TEXT, "--save", "{}/run")[0] == 0
    shown = json.loads(score(*TEXT, "--json")[1])
    for document in (shown, json.loads((files / "run" / "run.json").read_text())):
        assert [i["sha256"] for i in document["inputs"]] == digests
        assert len(document["gold_sha256"]) == 64
    table = score(*TEXT)[1]

    def unwanted() -> None:
        raise AssertionError("nothing of this is shown")

    monkeypatch.setattr("assay.read.digest.hashlib", SimpleNamespace(sha256=unwanted))
    monkeypatch.setattr("assay.pipeline.collect.GoldDigest", unwanted)
    assert score(*TEXT)[1] == table


def test_slices_and_clusters(files: Path, score: Score) -> None:
    code, out, _ = score(
        "-p", "{}/p.jsonl", "-g", "{}/g.jsonl", *EXACT, "--slice", "topic", "--slice", "length", "--cluster", "doc", "--json"
    )  # fmt: skip
    assert code == 0
    document = json.loads(out)
    # pets: right and wrong; weather: right; other: wrong.
    assert {
        value: (s["n"], s["scores"]["exact"]) for value, s in document["slices"]["topic"].items()
    } == {
        "pets": (2, 0.5),
        "weather": (1, 1.0),
        "other": (1, 0.0),
    }
    assert {value: s["n"] for value, s in document["slices"]["length"].items()} == {"0-9": 4}
    assert document["statistics"]["cluster"] == "doc"
    assert "cluster:doc" in document["signature"]


@pytest.mark.parametrize("ending", ["jsonl", "tsv", "csv"])
def test_scores_per_example(files: Path, score: Score, ending: str) -> None:
    path = files / f"scores.{ending}"
    assert score("-p", "{}/p.jsonl", "-g", "{}/g.jsonl", *EXACT, "--per-example", str(path))[0] == 0
    text = path.read_text(encoding="utf-8")
    if ending == "jsonl":
        found = {r["id"]: r["scores"]["exact"] for r in map(json.loads, text.splitlines())}
    else:
        table = csv.DictReader(io.StringIO(text), delimiter="\t" if ending == "tsv" else ",")
        found = {r["id"]: float(r["exact"]) for r in table}
    assert found == {"q0": 1.0, "q1": 0.0, "q2": 1.0, "q3": 0.0}


FORMS = {
    "table": "exact  0.5000",
    "markdown": "| exact | 0.5000 |",
    "latex": r"\begin{tabular}",
    "csv": "exact,0.5",
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_the_result(files: Path, score: Score, form: str) -> None:
    code, out, err = score(*TEXT, "--format", form)
    assert (code, err) == (0, "")
    assert FORMS[form] in out


def test_counts_are_always_shown(files: Path, score: Score) -> None:
    (files / "p.jsonl").write_text(
        '{"id": "q0", "prediction": "x"}\n{"id": "z", "prediction": "y"}\n'
    )
    for missing, n in (("wrong", 4), ("skip", 1)):
        arguments = ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl", *EXACT, "--missing", missing)
        code, out, err = score(*arguments)
        assert code == 0
        assert "gold 4, predictions 2, matched 1, missing 3, extra 1, duplicate 0" in out
        assert err.splitlines()[0] == (
            f"assay: warning: 1 prediction has no gold and counts for nothing, first 'z' ({files}/p.jsonl, line 2)"
        )
        document = json.loads(score(*arguments, "--json")[1])
        assert document["statistics"]["n"] == n
        assert f"missing:{missing}" in document["signature"]


def test_several_references(files: Path, score: Score) -> None:
    # "a dog" is the second reference of the second example: three of four are right.
    code, out, _ = score(*TEXT, "--gold", "{}/g2.txt", "--json")
    assert code == 0
    assert json.loads(out)["scores"]["exact"] == 0.75


def test_every_format_gives_the_same_number(files: Path, score: Score) -> None:
    (files / "p.txt.gz").write_bytes(gzip.compress((files / "p.txt").read_bytes()))
    (files / "part-0.txt").write_text("the cat sat\na dog\n")
    (files / "part-1.txt").write_text("it rains\nno")
    ways = [
        ("-p", "{}/p.txt", "-g", "{}/g.txt"),
        ("-p", "{}/p.jsonl", "-g", "{}/g.jsonl"),
        ("-p", "{}/both.tsv"),
        ("-p", "{}/p.txt.gz", "-g", "{}/g.txt"),
        ("-p", "{}/part-*.txt", "-g", "{}/g.txt"),
        ("-p", "{}/p.txt", "-g", "{}/g.jsonl", "--align", "order"),
    ]
    metrics = ("-m", "bleu", "-m", "chrf", "-m", "ter", "-m", "wer", "-m", "exact")
    found = [json.loads(score(*way, *metrics, "--json")[1])["scores"] for way in ways]
    assert all(scores == found[0] for scores in found)


def test_jobs_change_no_bit(files: Path, score: Score) -> None:
    n = 20_000  # three batches
    write_objects(
        files / "p.jsonl", [{"id": i, "prediction": f"w{i % 7} w{i % 11} x"} for i in range(n)]
    )
    write_objects(
        files / "g.jsonl",
        [
            {"id": i, "gold": f"w{i % 5} w{i % 11} x", "doc": i // 50, "kind": i % 3}
            for i in range(n)
        ],
    )
    documents, rows, examples = [], [], []
    for jobs in ("1", "2"):
        code, out, _ = score(
            "-p", "{}/p.jsonl", "-g", "{}/g.jsonl", "-m", "bleu", "-m", "chrf", "-m", "wer", "-m", "exact",
            "--slice", "kind", "--cluster", "doc", "--resamples", "50", "--jobs", jobs, "--save", f"{{}}/run{jobs}", "--json",
        )  # fmt: skip
        assert code == 0
        document = json.loads(out)
        assert document.pop("made")["seconds"] >= 0  # time and command are what may differ
        documents.append(json.dumps(document))
        rows.append((files / f"run{jobs}" / "rows.npy").read_bytes())
        examples.append((files / f"run{jobs}" / "examples.jsonl").read_bytes())
    assert documents[0] == documents[1]
    assert rows[0] == rows[1]
    assert examples[0] == examples[1]


def test_options_may_be_spelt_with_underscores(files: Path, score: Score) -> None:
    assert score(*TEXT, "--per_example", "{}/x.tsv")[0] == 0
    assert (files / "x.tsv").exists()

# SPDX-License-Identifier: Apache-2.0
"""The command against numbers and files that SPICE's scripts made (EdinburghNLP/SPICE 4afa440).

Cases with data of others stay outside the repository and are skipped where they are not there.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli import run
from assay.core.document import Intake
from assay.tasks.sparql.canonical import canonical
from assay.tasks.sparql.dialect import surface_form
from assay.tasks.sparql.executor import Runner, open_executor
from assay.tasks.sparql.gerbil import Gerbil
from assay.tasks.sparql.match import Answers, ExactQuery
from assay.tasks.sparql.pairs import Gold, Prediction
from assay.tasks.sparql.replies import answers_of, read_json

ORACLES = Path(__file__).parents[2] / "shared" / "oracles" / "sparql"

pytestmark = pytest.mark.skipif(not ORACLES.is_dir(), reason=f"no recorded cases at {ORACLES}")


def case(name: str) -> Any:
    return json.loads((ORACLES / name / "expected.json").read_text(encoding="utf-8"))


def arguments(given: dict[str, Any], folder: Path) -> list[str]:
    found = []
    for name, value in given.items():
        if name == "out":
            continue
        shown = str(folder / value) if name in ("file_path", "context_dist_file") else str(value)
        found += [f"--{name}"] if value is True else [f"--{name}", shown]
    if not given.get("em_only") and (folder / "kg.ttl").exists():
        found += ["--kg", str(folder / "kg.ttl"), "--workers", "1"]
    return found


def score(given: list[str], out: Path) -> Any:
    assert run(["sparql", "score", *given, "--out_eval_file", str(out), "--ci", "0", "-q"]) == 0
    return json.loads(out.read_text(encoding="utf-8"))


def single() -> Iterator[Any]:
    for folder in sorted(ORACLES.iterdir()) if ORACLES.is_dir() else ():
        if (folder / "eval_out.json").exists():
            yield pytest.param(folder, id=folder.name)


def several() -> Iterator[Any]:
    names = ("em-only-all-types", "end-to-end-shards", "spice-gold-large")
    for name in names if ORACLES.is_dir() else ():
        for one in case(name)["runs"]:
            yield pytest.param(ORACLES / name, one, id=f"{name}: {one['args']['question_type']}")


@pytest.mark.parametrize("folder", list(single()))
def test_compat_writes_the_same_bytes(folder: Path, tmp_path: Path, capsys: Any) -> None:
    expected = case(folder.name)
    score([*arguments(expected["args"], folder), "--compat", "spice"], tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == (folder / "eval_out.json").read_bytes()
    printed = capsys.readouterr().out
    assert f"NA actions: {expected['expected']['na_actions']}\n" in printed
    assert f"Total samples: {expected['expected']['total_samples']}\n" in printed


@pytest.mark.parametrize("folder", list(single()))
def test_printed_table_is_that_of_the_script_with_four_decimals(
    folder: Path, tmp_path: Path, capsys: Any
) -> None:
    expected = case(folder.name)
    score([*arguments(expected["args"], folder), "--compat", "spice"], tmp_path / "out.json")
    ours = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    theirs = [
        line
        for line in (folder / "table.txt").read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    assert len(ours) == len(theirs)
    for left, right in zip(ours, theirs, strict=True):
        # Sub-types hold bars themselves, so columns are taken from the right.
        n = 4 if "Accuracy" in theirs[0] else 8
        a, b = (line.strip("|").rsplit("|", n - 1) for line in (left, right))
        assert a[0].strip() == b[0].strip()
        for x, y in zip(a[1:], b[1:], strict=True):
            try:
                assert float(x) == pytest.approx(float(y), abs=5.1e-5)
            except ValueError:
                assert x.strip() == y.strip()


@pytest.mark.parametrize("folder", list(single()))
def test_default_has_the_repaired_numbers(folder: Path, tmp_path: Path) -> None:
    expected = case(folder.name)
    found = score(arguments(expected["args"], folder), tmp_path / "out.json")
    wanted = expected.get("expected_fixed", expected["expected"])["out_eval_file"]
    assert found == wanted


@pytest.mark.parametrize(("folder", "one"), list(several()))
def test_types_of_a_mixed_run(folder: Path, one: Any, tmp_path: Path) -> None:
    given = arguments(one["args"], folder)
    found = score([*given, "--compat", "spice"], tmp_path / "out.json")
    assert found == one["expected"]
    if folder.name != "end-to-end-shards":  # the order of its shards was not defined
        recorded = (folder / one["args"]["out"]).read_bytes()
        assert (tmp_path / "out.json").read_bytes() == recorded


@pytest.mark.parametrize("name", ["em-only-all-types", "end-to-end-shards", "spice-gold-large"])
def test_all_types_at_once_write_the_files_of_ten_runs(name: str, tmp_path: Path) -> None:
    folder, expected = ORACLES / name, case(name)
    given = dict(expected["runs"][0]["args"])
    del given["question_type"]
    if name == "end-to-end-shards":
        given["file_path"] = "baseline.*.json"
    out = tmp_path / "eval"
    command = ["sparql", "score", *arguments(given, folder), "--out_eval_file", str(out)]
    assert run([*command, "--compat", "spice", "--ci", "0", "-q"]) == 0
    for one in expected["runs"]:
        written = json.loads((tmp_path / one["args"]["out"]).read_text(encoding="utf-8"))
        assert written == one["expected"]
    # Types without questions have entries of 0 here, where the recorded run had no file.
    if len(expected["runs"]) == 10:
        summary = json.loads((out / "eval_summary.json").read_text(encoding="utf-8"))
        for key, value in expected["expected"]["eval/eval_summary.json"].items():
            assert summary[key]["em"] == pytest.approx(value["em"], abs=1e-12)


def test_summary(tmp_path: Path, capsys: Any) -> None:
    for path in (ORACLES / "summary" / "evals").glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert run(["sparql", "summarise", "--file_path", str(tmp_path), "--compat", "spice"]) == 0
    wanted = (ORACLES / "summary" / "eval_summary.json").read_bytes()
    assert (tmp_path / "eval_summary.json").read_bytes() == wanted
    # By default files without a question for a phenomenon do not pull its mean down.
    assert run(["sparql", "summarise", "--file_path", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "eval_summary.json").read_text())
    assert found["Ctx=-1"] == {"em": 0.5}
    assert found["Ctx<-1"] == {"em": 1.0}


@pytest.mark.parametrize(
    "label",
    [
        "null-first",
        "max-results-on-command-line",
        "ask-for-count",
        "no-turnid-first",
        "blank-line-in-context-file",
        "answer-is-a-number",
    ],
)
def test_where_the_script_stops(label: str, tmp_path: Path) -> None:
    folder = ORACLES / "reference-crashes"
    one = next(c for c in case(folder.name)["expected"]["cases"] if c["label"] == label)
    graph = ORACLES / "exec-clarification" / "kg.ttl"
    given = [*arguments(one["args"], folder), "--kg", str(graph), "--workers", "1"]
    found = score(given, tmp_path / "out.json")
    if "expected_fixed" in one:
        assert found == one["expected_fixed"]
    elif label == "answer-is-a-number":
        assert found["accuracy_none"] == {"instances": 1, "accuracy": 1.0, "em": 1.0}
    else:
        assert found["Ctx=-1"] == {"instances": 1.0, "em": 1.0}


def test_unknown_type_lists_the_ten(capsys: Any) -> None:
    path = ORACLES / "reference-crashes" / "unknown-type.json"
    given = ["--file_path", str(path), "--question_type", "Simple Question", "--em_only"]
    assert run(["sparql", "score", *given]) == 2
    message = capsys.readouterr().err
    assert "Verification (Boolean) (All)" in message
    assert message.count("\n") == 1


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Oxigraph's server on a free port, with the graph of the recorded cases."""
    program = shutil.which("oxigraph", path=str(Path(sys.executable).parent))
    assert program is not None, "pip install oxigraph, which is among the tools for development"
    store = str(tmp_path_factory.mktemp("oxigraph") / "store")
    graph = str(ORACLES / "exec-clarification" / "kg.ttl")
    load = [program, "load", "--location", store, "--file", graph]
    subprocess.run(load, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    running = subprocess.Popen(
        [program, "serve-read-only", "--location", store, "--bind", address],
        stderr=subprocess.PIPE,
    )
    assert running.stderr is not None
    running.stderr.readline()  # says that it listens
    yield f"http://{address}/query"
    running.terminate()
    running.wait()
    running.stderr.close()


@pytest.mark.parametrize("folder", [p for p in single() if p.id.startswith("exec-")])
def test_a_server_gives_the_same_bytes_as_the_graph(
    folder: Path, server: str, tmp_path: Path
) -> None:
    given = arguments(case(folder.name)["args"], folder)
    at = given.index("--kg")
    remote = [*given[:at], "--server_link", server, "--compat", "spice"]
    score(remote, tmp_path / "out.json")
    assert (tmp_path / "out.json").read_bytes() == (folder / "eval_out.json").read_bytes()


def test_surface_forms() -> None:
    given = json.loads((ORACLES / "surface-form" / "input.json").read_text(encoding="utf-8"))
    assert [surface_form(text) for text in given] == case("surface-form")["expected"]["queries"]


def test_answers_are_read_from_replies_as_the_script_does() -> None:
    given = json.loads((ORACLES / "answer-reading" / "input.json").read_text(encoding="utf-8"))
    for one, wanted in zip(given, case("answer-reading")["expected"]["results"], strict=True):
        body = one["body"] if isinstance(one["body"], str) else json.dumps(one["body"])
        try:
            found = answers_of(read_json(body.encode()), compat=True)
        except ValueError:
            found = None
        assert found == wanted.get("answers")


def test_meters_after_each_update() -> None:
    given = json.loads((ORACLES / "meters" / "input.json").read_text(encoding="utf-8"))
    wanted = case("meters")["expected"]["after_each_update"]
    for meter, states in zip(given, wanted, strict=True):
        pairs = []
        for (gold, found, query, predicted), state in zip(meter["updates"], states, strict=True):
            if meter["meter"] == "f1":
                pairs.append((Prediction(predicted, found), Gold("set", query, gold)))
            elif isinstance(gold, bool):
                pairs.append((Prediction(predicted, found), Gold("boolean", query, gold)))
            else:
                pairs.append((Prediction(predicted, [str(found)]), Gold("count", query, gold)))
            scores = {**Answers(compat=True).score(pairs), **ExactQuery().score(pairs)}
            if meter["meter"] != "f1":
                assert scores["accuracy"] == pytest.approx(state["accuracy"], abs=1e-12)
                assert scores["em"] == pytest.approx(state["exact_match_acc"], abs=1e-12)
                continue
            for ours, theirs in (
                ("precision", "precision"),
                ("recall", "recall"),
                ("f1", "f1_score"),
            ):
                value = scores[ours]
                assert (0 if value != value else value) == pytest.approx(state[theirs], abs=1e-12)
            assert scores["macro_f1"] == pytest.approx(state["macro_f1"], abs=1e-12)
            assert scores["em"] == pytest.approx(state["exact_match_acc"], abs=1e-12)
            assert scores["mismatch"] * len(pairs) == pytest.approx(state["missmatch"])


@pytest.fixture
def geography() -> Iterator[Runner]:
    graph = ORACLES / "named-subqueries" / "kg.ttl"
    runner = open_executor(str(graph), None, Intake(), workers=1)
    yield runner
    runner.close()


def test_named_subqueries(geography: Runner) -> None:
    given = json.loads((ORACLES / "named-subqueries" / "queries.json").read_text(encoding="utf-8"))
    for (answers, failure), wanted in zip(
        geography.run(given), case("named-subqueries")["expected"]["answers"], strict=True
    ):
        assert failure is None
        assert (sorted(answers) if isinstance(answers, list) else answers) == wanted


def test_normalised_match() -> None:
    given = json.loads((ORACLES / "normalised-match" / "pairs.json").read_text(encoding="utf-8"))
    expected = case("normalised-match")
    for pair, same, why in zip(given, expected["expected"]["same"], expected["why"], strict=True):
        assert (canonical(pair["gold"]) == canonical(pair["predicted"])) is same, why


def test_gerbil() -> None:
    given = json.loads((ORACLES / "gerbil-scores" / "answers.json").read_text(encoding="utf-8"))
    for name, questions in given.items():
        found = Gerbil().score(
            (Prediction("q", q["predicted"]), Gold("set", None, q["gold"])) for q in questions
        )
        for key, value in case("gerbil-scores")["expected"][name].items():
            ours = {"answer_set_accuracy": "answer_accuracy", "mean_jaccard": "jaccard"}.get(key)
            ours = ours or key.replace("qald_macro", "qald")
            ours = ours if ours in found else f"gerbil_{key}"
            wanted = float("nan") if value is None else value
            assert found[ours] == pytest.approx(wanted, abs=1e-12, nan_ok=True), (name, key)

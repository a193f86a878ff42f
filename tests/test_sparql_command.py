# SPDX-License-Identifier: Apache-2.0
"""`assay sparql` as it is typed: options of SPICE's scripts, errors on one line, what is printed."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from assay.cli import run

DIRECT = "Simple Question (Direct)"


def turn(n: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "question_type": DIRECT,
        "description": "Simple Question",
        "answer": "",
        "actions": "SELECT ?x { wd:Q1 wdt:P2 ?x }",
        "results": ["Q1"],
        "sparql_delex": "SELECT ?x { wd:Q1 wdt:P2 ?x }",
        "turnID": f"test#{n // 4}#{n // 4}#{n % 4}",
        **changes,
    }


def test_json_and_table(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps([turn(n, predicted_answers=["Q1"]) for n in range(3)]))
    given = ["sparql", "score", "--file_path", str(path), "--question_type", DIRECT]
    assert run([*given, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["scores"]["em"] == 1.0
    assert run(given) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{DIRECT}\nNA actions: 0\nTotal samples: 3\n+--")
    assert "| 1.0000 " in printed
    assert run([*given, "--em_only", "no", "--read_all", "yes"]) == 0


def wrong(*given: str) -> list[str]:
    return ["sparql", "score", *given]


def test_bad_options(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps([turn()]))
    missing = str(tmp_path / "none*.json")
    lists = tmp_path / "lists.txt"
    lists.write_text('{"sub_type": ["a"]}')
    cases = [
        # options                                                             said
        (["--question_type", "Simple Question (Elipsis)", "--em_only"],       "did you mean 'Simple Question (Ellipsis)'"),
        ([],                                                                  "give --kg GRAPH or --server_link URL, or --em_only"),
        (["--kg", "a.nt", "--server_link", "http://a/"],                      "not both"),
        (["--em_only", "maybe"],                                              "is not a valid boolean"),
        (["--em_only", "--out_eval_file", str(path / "x" / "out.json")],      "cannot be written"),
        (["--em_only", "--metric", "gerbil"],                                 "gerbil needs answers"),
        (["--em_only", "--execute_gold"],                                     "--execute_gold needs"),
        (["--kg", str(path), "--memory_limit", "0"],                          "must be above 0"),
        (["--em_only", "--answer_limit", "-1"],                               "must not be negative"),
        (["--em_only", "--max_results", "0"],                                 "must be above 0"),
        (["--em_only", "--phenomena", str(lists)],                            "'sub_type' has a meaning of its own"),
        (["--em_only", "--missing", "error"],                                 ""),
    ]  # fmt: skip
    for options, said in cases:
        code = run(wrong("--file_path", str(path), *options))
        message = capsys.readouterr().err
        if said:
            assert code == 2, options
            assert said in message, options
    assert run(wrong("--file_path", missing, "--read_all", "--em_only")) == 2
    assert "no file matches" in capsys.readouterr().err


def test_a_folder_that_may_not_be_written_is_found_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    # Root may write anywhere, so the folder is closed by hand.
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != closed)
    path = tmp_path / "p.json"
    path.write_text("not even JSON")
    out = str(closed / "o.json")
    assert run(wrong("--file_path", str(path), "--em_only", "--out_eval_file", out)) == 2
    assert "cannot be written" in capsys.readouterr().err


@pytest.mark.parametrize("one_type", [[], ["--question_type", DIRECT]])
def test_what_was_read_is_not_written_over(
    tmp_path: Path, one_type: list[str], capsys: Any
) -> None:
    path, context = tmp_path / "clarification.json", tmp_path / "context.json"
    path.write_text(json.dumps([turn()]))
    context.write_text("test#0#0#0\t1\n")
    given = ["--file_path", str(path), "--em_only", "--context_dist_file", str(context)]
    for out in (path, context, tmp_path):
        before = path.read_bytes(), context.read_bytes()
        code = run(["sparql", "score", *given, *one_type, "--out_eval_file", str(out)])
        assert code == 2
        assert (path.read_bytes(), context.read_bytes()) == before
        message = capsys.readouterr().err
        assert "is an input of this run" in message or "is a folder" in message
    assert sorted(p.name for p in tmp_path.iterdir()) == [path.name, context.name]


def test_doctor_lists_what_is_odd_with_record_numbers(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps([turn(0), turn(1, sparql_delex="nan"), turn(2, actions=None)]))
    assert run(["doctor", str(path)]) == 1
    printed = capsys.readouterr().out
    assert "3 records for assay sparql" in printed
    assert "finding: 1 record: gold query is the text 'nan': never an exact match (2)" in printed
    assert "note: 1 record: no predicted query (3)" in printed
    path.write_text(json.dumps([turn(0), turn(1)]))
    assert run(["doctor", "--json", str(path), str(path)]) == 0
    (first, _) = json.loads(capsys.readouterr().out)["files"]
    assert (first["task"], first["n_records"], first["findings"]) == ("sparql", 2, [])


@pytest.mark.parametrize("compat", [[], ["--compat", "spice"]])
def test_no_record_of_the_type_gives_an_empty_file(
    tmp_path: Path, compat: list[str], capsys: Any
) -> None:
    path, out, context = tmp_path / "p.json", tmp_path / "out.json", tmp_path / "c.tsv"
    context.write_text("test#0#0#0\t1\n")
    given = ["--file_path", str(path), "--em_only", "--question_type", "Clarification", *compat]
    for text in (json.dumps([turn()]), "[]"):
        path.write_text(text)
        assert run(["sparql", "score", *given, "--out_eval_file", str(out)]) == 0
        assert out.read_bytes() == b"{}"
        assert "no record has the question type asked for" in capsys.readouterr().err
        more = [*given, "--out_eval_file", str(out), "--context_dist_file", str(context)]
        assert run(["sparql", "score", *more]) == 0
        wanted = b'{"Ctx=-1": {"instances": 0.0, "em": 0.0}, "Ctx<-1": {"instances": 0.0, "em": 0}}'
        assert out.read_bytes() == wanted
    assert run(["sparql", "score", "--file_path", str(path), "--em_only"]) == 0


@pytest.mark.parametrize("name", ["p.json", "p.jsonl"])
def test_other_encodings_are_one_line(tmp_path: Path, name: str, capsys: Any) -> None:
    path = tmp_path / name
    text = json.dumps(turn(), ensure_ascii=False).replace("SELECT", "SÉLECT")
    path.write_bytes((f"[{text}]" if name == "p.json" else f"{text}\n").encode("latin-1"))
    assert run(["sparql", "score", "--file_path", str(path), "--em_only"]) == 2
    message = capsys.readouterr().err
    assert "not UTF-8 (byte 0xc9" in message
    assert message.count("\n") == 1


def test_summaries_of_what_is_no_evaluation(tmp_path: Path, capsys: Any) -> None:
    given = ["sparql", "summarise", "--file_path", str(tmp_path)]
    for text, said in (
        ("", "no evaluation file (*.json) in this folder"),
        ("[1]", "no JSON object"),
        ("{oops", "not an evaluation file"),
        ('{"ellipsis": {"em": "x"}}', "em of 'ellipsis' is no number"),
        ('{"ellipsis": {"em": NaN}}', "em of 'ellipsis' is no number"),
        ('{"Ctx=-1": {"em": true}}', "em of 'Ctx=-1' is no number"),
        ("[" * 100_000, "not an evaluation file"),
    ):
        if text:
            (tmp_path / "a.json").write_text(text)
        assert run(given) == 2
        message = capsys.readouterr().err
        assert said in message
        assert message.count("\n") == 1
    assert not (tmp_path / "eval_summary.json").exists()


def test_hidden_files_are_no_evaluations(tmp_path: Path) -> None:
    for name, em in (("a.json", 0.5), ("._a.json", 1.0)):
        (tmp_path / name).write_text(json.dumps({"ellipsis": {"instances": 2.0, "em": em}}))
    assert run(["sparql", "summarise", "--file_path", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "eval_summary.json").read_text())
    assert found["ellipsis"] == {"em": 0.5}


def test_a_rate_that_was_asked_for_is_shown_though_it_is_0(tmp_path: Path, capsys: Any) -> None:
    path, graph = tmp_path / "p.json", tmp_path / "g.ttl"
    path.write_text(json.dumps([turn()]))
    entity, direct = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
    graph.write_text(f"<{entity}Q1> <{direct}P2> <{entity}Q1> .")
    given = ["sparql", "score", "--file_path", str(path), "--kg", str(graph), "--workers", "1"]
    assert run([*given, "--check_ids"]) == 0
    printed = capsys.readouterr().out
    assert "unknown_id_rate" in printed
    assert "syntax_rate" not in printed  # a class that did not occur


def test_the_summary_of_one_file_is_that_of_a_folder(tmp_path: Path, capsys: Any) -> None:
    path, one, folder = tmp_path / "p.json", tmp_path / "one", tmp_path / "folder"
    one.mkdir()
    kind = "Quantitative Reasoning (Count) (All)"
    asked = "Quantitative|Count|Mult. entity type"
    path.write_text(
        json.dumps([turn(), turn(1, question_type=kind, description=asked, answer="2")])
    )
    given = ["sparql", "score", "--file_path", str(path), "--em_only", "--out_eval_file"]
    assert run([*given, str(one / "all.json")]) == 0
    assert run([*given, str(folder)]) == 0
    for place in (one, folder):
        assert run(["sparql", "summarise", "--file_path", str(place)]) == 0
        text = (place / "eval_summary.json").read_text()
        assert json.loads(text)["multi_entity"] == {"em": 1.0}

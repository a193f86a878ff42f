# SPDX-License-Identifier: Apache-2.0
"""Files of QALD and LC-QuAD: in how many ways they write down what is right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import assay
from assay.core.document import Intake
from assay.tasks.sparql.doctor import inspect
from assay.tasks.sparql.qald import Question, read_questions

ENTITY = "http://www.wikidata.org/entity/"
EMPTY: dict[str, Any] = {"head": {"vars": []}, "results": {"bindings": []}}
ROW = {
    "head": {"vars": ["x"]},
    "results": {"bindings": [{"x": {"type": "uri", "value": f"{ENTITY}Q5"}}]},
}
LISTED = [
    # name                 what the file holds                            what is right
    ("ids",                ["Q5", "Q6"],                                  ["Q5", "Q6"]),
    ("addresses",          [f"{ENTITY}Q5", "http://dbpedia.org/x/Q5"],    ["Q5", "http://dbpedia.org/x/Q5"]),
    ("numbers",            [3, 2.0],                                      ["3", "2"]),
    ("truth",              True,                                          True),
    ("truth in a list",    [False],                                       False),
    ("a result",           [ROW],                                         ["Q5"]),
    ("a result, not in a list", ROW,                                      ["Q5"]),
    ("a result of truth",  [{"head": {}, "boolean": True}],               True),
    ("a result of nothing", [EMPTY],                                      []),
    ("nothing",            [],                                            []),
    ("not known",          None,                                          None),
]  # fmt: skip


@pytest.mark.parametrize(("name", "held", "right"), LISTED, ids=[c[0] for c in LISTED])
def test_answers_in_a_file_of_lcquad(name: str, held: Any, right: Any) -> None:
    other = {"uid": 1, "query": "ASK {}", "answer": True}
    found = read_questions([other, {"uid": 2, "query": "q", "answer": held}], "gold", Intake())
    assert found[1] == Question("2", "q", right)


def test_empty_lists_of_answers_with_every_question_say_nothing(tmp_path: Path) -> None:
    gold = tmp_path / "test.json"
    questions = [{"uid": i, "sparql_wikidata": "ASK {}", "answer": []} for i in range(3)]
    gold.write_text(json.dumps(questions))
    with pytest.raises(assay.AssayError, match="3 gold questions have no answers"):
        assay.evaluate("sparql", str(gold), str(gold), ci=0)


@pytest.mark.parametrize("result", [EMPTY, {"head": {"vars": ["x", "y"]}, "results": {}}])
def test_a_result_of_qald_without_rows_is_empty(result: Any) -> None:
    data = {"questions": [{"id": 1, "query": {"sparql": "q"}, "answers": [result]}]}
    assert read_questions(data, "gold", Intake()) == [Question("1", "q", [])]


@pytest.mark.parametrize(
    ("data", "asked"),
    [
        ({"questions": [{"id": 1, "question": [{"language": "de", "string": "Wer?"}]}]}, "Wer?"),
        ({"questions": [{"id": 1, "question": "Who?"}]}, None),  # QALD words it in a list
        ([{"uid": 1, "NNQT_question": "{Who}", "question": "Who?"}], "Who?"),
        ([{"_id": "1", "corrected_question": "Who?", "question": None}], "Who?"),
        ([{"_id": "1", "question": ["Who?"]}], None),
    ],
)
def test_the_question_in_words(data: Any, asked: str | None) -> None:
    assert read_questions(data, "gold", Intake())[0].asked == asked


def test_yes_and_no_as_texts(tmp_path: Path) -> None:
    gold, given = tmp_path / "gold.json", tmp_path / "given.json"
    questions = [
        {"uid": i, "query": "ASK {}", "answers": [t]} for i, t in enumerate(("true", "False"))
    ]
    gold.write_text(json.dumps(questions))
    questions[1]["answers"] = [True]
    given.write_text(json.dumps(questions))
    found = assay.evaluate("sparql", str(given), str(gold), ci=0)
    assert found.scores["accuracy"] == 0.5


def test_answers_of_gold_are_cut_like_others(tmp_path: Path) -> None:
    path, graph = tmp_path / "gold.json", tmp_path / "g.nt"
    graph.write_text("<http://a/s> <http://a/p> <http://a/b/o> .")
    query = "SELECT ?x { <http://a/s> <http://a/p> ?x }"
    path.write_text(json.dumps([{"uid": 1, "query": query, "answers": ["http://a/b/o"]}]))
    for compat in (None, "spice"):
        found = assay.evaluate(
            "sparql", str(path), str(path), kg=str(graph), compat=compat, workers=1, ci=0
        )
        assert found.scores["f1"] == 1.0


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("answers alone", {"questions": [{"id": 1, "answers": [ROW]}]}),
        ("queries by id", {"19719": "select distinct ?x where { ?x ?y ?z }"}),
        ("queries by id, with prefixes", {"a": "PREFIX a: <urn:a> ASK { a:b ?y ?z }"}),
    ],
)
def test_predictions_are_known_to_the_doctor(tmp_path: Path, name: str, data: Any) -> None:
    path = tmp_path / "p.json"
    path.write_text(json.dumps(data, indent=1))
    found = inspect(str(path))
    assert found is not None
    assert found.n_records == 1
    assert found.findings == []

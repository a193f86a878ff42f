# SPDX-License-Identifier: Apache-2.0
"""What is counted, by hand; slices, means over slices, intervals and comparisons."""

from __future__ import annotations

import json
import math
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.core.batch import Batch
from assay.core.metric import Metric, Totals
from assay.tasks import load
from assay.tasks.sparql.canonical import canonical
from assay.tasks.sparql.components import parts_of
from assay.tasks.sparql.conversations import Conversations
from assay.tasks.sparql.doctor import inspect
from assay.tasks.sparql.execution import Execution
from assay.tasks.sparql.match import Answers, ExactQuery
from assay.tasks.sparql.metrics import CLASSES, metric
from assay.tasks.sparql.pairs import FAILURES, Gold, Prediction
from assay.tasks.sparql.records import Record

DIRECT, COUNT, ASK = (
    "Simple Question (Direct)",
    "Quantitative Reasoning (Count) (All)",
    "Verification (Boolean) (All)",
)


def turn(n: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "question_type": DIRECT,
        "description": "Simple Question",
        "answer": "",
        "actions": "SELECT ?x { wd:Q1 wdt:P2 ?x }",
        "results": ["Q1"],
        "sparql_delex": "SELECT ?x { wd:Q1 wdt:P2 ?x }",
        "turnID": f"test#{n // 4}#{n // 4}#{n % 4}",
        "predicted_answers": ["Q1"],
        **changes,
    }


def evaluate(records: list[dict[str, Any]], **options: Any) -> assay.Result:
    return assay.evaluate("sparql", records, ci=options.pop("ci", 0), **options)


CASES = [
    # name                             kind       gold          predicted        hits wrong missed right of
    ("all right",                      "set",     ["a", "b"],   ["b", "a"],      (2, 0, 0, 0, 0)),
    ("repeats count once",             "set",     ["a", "a"],   ["a", "a", "a"], (1, 0, 0, 0, 0)),
    ("half right",                     "set",     ["a", "b"],   ["a", "c"],      (1, 1, 1, 0, 0)),
    ("no answer",                      "set",     ["a"],        None,            (0, 0, 1, 0, 0)),
    ("both empty",                     "set",     [],           [],              (0, 0, 0, 0, 0)),
    ("a truth value for a set",        "set",     ["a"],        True,            (0, 0, 1, 0, 0)),
    ("yes",                            "boolean", True,         True,            (0, 0, 0, 1, 1)),
    ("no answer is not no",            "boolean", False,        None,            (0, 0, 0, 0, 1)),
    ("a list is not no",               "boolean", False,        [],              (0, 0, 0, 0, 1)),
    ("a number",                       "count",   3,            ["3"],           (0, 0, 0, 1, 1)),
    ("rows are counted",               "count",   2,            ["x", "x"],      (0, 0, 0, 1, 1)),
    ("one entity is 1",                "count",   1,            ["Q7"],          (0, 0, 0, 1, 1)),
    ("a negative number is one row",   "count",   1,            ["-3"],          (0, 0, 0, 1, 1)),
    ("a truth value is no number",     "count",   1,            True,            (0, 0, 0, 0, 1)),
    ("no answer is not 0",             "count",   0,            None,            (0, 0, 0, 0, 1)),
    ("sets that are right as a whole", "equal",   ["a"],        ["a"],           (0, 0, 0, 1, 1)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "kind", "gold", "found", "row"), CASES, ids=[c[0] for c in CASES])
def test_rows(name: str, kind: Any, gold: Any, found: Any, row: tuple[int, ...]) -> None:
    measured = Totals(
        Answers.columns,
        Answers().measure(Batch([Prediction("q", found)], [Gold(kind, None, gold)]))[0],
    )
    names = ("hits", "wrong", "missed", "right", "n_single")
    assert tuple(measured[n] for n in names) == row


LIMITS = [
    # name                        limit  compat  hits and size of 3 right and 7 wrong answers
    ("no limit",                  0,     False,  (3, 10)),
    ("cut",                       5,     False,  (3, 5)),
    ("never below the hits",      2,     False,  (3, 3)),
    ("the script keeps the hits", 5,     True,   (3, 3)),
    ("below the script's limit",  10,    True,   (3, 10)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "limit", "compat", "wanted"), LIMITS, ids=[c[0] for c in LIMITS])
def test_limits(name: str, limit: int, compat: bool, wanted: tuple[int, int]) -> None:
    right = ["a", "b", "c"]
    pair = (Prediction("q", [*right, *"1234567"]), Gold("set", None, right))
    scores = Answers(limit=limit, compat=compat).score([pair])
    assert scores["precision"] == pytest.approx(wanted[0] / wanted[1])


PAIRS = st.tuples(
    st.builds(
        Prediction,
        st.one_of(st.none(), st.sampled_from(["SELECT ?x {}", "ASK {}", "x"])),
        st.one_of(st.none(), st.booleans(), st.lists(st.sampled_from("abc1"), max_size=4)),
        st.one_of(st.none(), st.sampled_from(FAILURES)),
    ),
    st.one_of(
        st.builds(Gold, st.just("set"), st.sampled_from([None, "ASK {}"]), st.lists(st.sampled_from("abc"), max_size=3)),
        st.builds(Gold, st.just("boolean"), st.none(), st.booleans()),
        st.builds(Gold, st.just("count"), st.none(), st.integers(0, 3)),
    ),
)  # fmt: skip


@pytest.mark.parametrize("cls", CLASSES, ids=[c.name for c in CLASSES])
@given(pairs=st.lists(PAIRS, max_size=8), cut=st.integers(0, 8))
def test_contract(cls: type[Metric], pairs: list[Any], cut: int) -> None:
    one = cls()
    assert metric(one.text) == one
    assert pickle.loads(pickle.dumps(one)) == one
    ids = [str(i) for i in range(len(pairs))]
    whole = Batch([p for p, _ in pairs], [g for _, g in pairs], ids)
    rows = one.measure(whole)
    assert rows.shape == (len(pairs), len(one.columns))
    parts = [one.measure(whole.part(0, cut)), one.measure(whole.part(cut, len(pairs)))]
    assert np.array_equal(np.concatenate(parts), rows)
    totals = rows if one.merge == "concat" else rows.sum(axis=0)
    for score in one.scores:
        value = float(one.finalise(Totals(one.columns, totals))[score.name])
        assert math.isnan(value) or score.low - 1e-12 <= value <= score.high + 1e-12


def test_failures_are_counted_by_class() -> None:
    gold = Gold("set", None, ["a"])
    pairs = [(Prediction("q", None, failure), gold) for failure in FAILURES]
    found = Execution().score([*pairs, (Prediction("q", ["a"]), gold)])
    assert found["executable"] == pytest.approx(1 / 10)
    assert found["several_variables_rate"] == pytest.approx(1 / 10)


def test_an_answer_recorded_as_none_did_not_run() -> None:
    # One by one (a record without a turnID), and together.
    for records in ([turn(0), turn(1)], [turn(0), turn(1, turnID=None)]):
        records[1]["predicted_answers"] = None
        found = evaluate(records, question_type=DIRECT)
        assert (found.scores["executable"], found.scores["unexplained_rate"]) == (0.5, 0.5)
        assert found.document.extra["unanswered"] == {"unexplained": 1}


def test_conversations_need_every_turn() -> None:
    # Conversations 0 and 1 have four turns, 2 has two; one turn of conversation 1 is wrong.
    records = [turn(n, predicted_answers=["x" if n == 6 else "Q1"]) for n in range(10)]
    result = evaluate(records, question_type=DIRECT, metrics=["conversations"])
    assert result.scores["conversations_right"] == pytest.approx(2 / 3)


def test_a_conversation_drawn_twice_counts_twice() -> None:
    rows = np.array([[1.0, 1, 1], [1, 2, 1], [2, 3, 0]])
    twice = np.concatenate([rows[:2], rows])
    found = Conversations().finalise(Totals(Conversations.columns, twice))
    assert float(found["conversations_right"]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("seed", range(20))
def test_conversations_by_counting(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turns = [(c, 100 * c + t, float(rng.random() < 0.7)) for c in range(6) for t in range(4)]
    there = [t for t in turns if rng.random() < 0.8 or t[1] % 100 == 0]
    drawn = rng.integers(0, 6, size=9)
    rows = np.array([t for c in drawn for t in there if t[0] == c])
    right = [all(r for k, _, r in there if k == c) for c in drawn]
    found = Conversations().finalise(Totals(Conversations.columns, rng.permutation(rows)))
    assert float(found["conversations_right"]) == pytest.approx(sum(right) / len(right))


def test_an_interval_of_conversations_wants_clusters() -> None:
    records = [turn(n) for n in range(8)]
    asked: Any = {"question_type": DIRECT, "metrics": ["conversations"], "resamples": 99}
    (said,) = [w for w in evaluate(records, **asked, ci=0.9).document.warnings if "whole" in w]
    assert said.startswith("conversations_right is of whole conversations")
    fine = evaluate(records, **asked, ci=0.9, cluster="conversation").document.warnings
    assert not any("whole" in w for w in fine)
    assert not any("whole" in w for w in evaluate(records, **asked, ci=0).document.warnings)


def test_all_types_in_one_run() -> None:
    records = [
        turn(0),
        turn(
            1, question_type=COUNT, answer="1", description="Quantitative|Count|Mult. entity type"
        ),
        turn(2, question_type=ASK, answer="NO", predicted_answers=False, actions="ASK {}"),
        turn(3, question_type=["Clarification", DIRECT], predicted_answers=[]),
        turn(4, question_type="Riddle"),
    ]
    document = evaluate(records).document
    assert {k: v.n for k, v in document.slices["question_type"].items()} == {
        DIRECT: 2,
        COUNT: 1,
        ASK: 1,
        "Clarification": 1,
    }
    assert document.slices["question_type"][DIRECT].scores["recall"] == 0.5
    assert document.scores["accuracy"] == 1.0
    assert document.extra["summary"]["multi_entity"] == {"em": 1.0}
    assert document.macros["multi_entity"].scores["em"] == 1.0
    assert any("'Riddle' is none of the ten" in w for w in document.warnings)


def test_list_typed_questions_are_scored_by_the_type_asked_for() -> None:
    record = turn(0, question_type=["Clarification", ASK], answer="NO", predicted_answers=False)
    native = evaluate([record], question_type=ASK)
    compat = evaluate([record], question_type=ASK, compat="spice")
    assert native.scores["accuracy"] == 1.0
    assert compat.scores["accuracy"] == 0.0  # the empty set against the gold answers


DISTANCES = "test#0#0#0\t1\nt\t9\n" + "".join(f"test#{i}#{i}#1\t{2 + i % 2}\n" for i in range(12))


def systems(tmp_path: Path) -> tuple[assay.Result, assay.Result]:
    context = tmp_path / "c.tsv"
    context.write_text(DISTANCES)
    names = ["Simple Question|Mult. Entity", "Simple Question|Mult. Entity|Indirect"]
    found = []
    for share in (3, 5):
        records = [
            turn(
                n,
                description=names[n % 5 == 0],
                actions="x" if n % share == 0 else turn()["actions"],
            )
            for n in range(48)
        ]
        options = {"context_dist_file": str(context), "cluster": "conversation", "ci": 0.95}
        found.append(
            evaluate(
                records, question_type=DIRECT, resamples=200, system=f"1 in {share}", **options
            )
        )
    return found[0], found[1]


def test_means_over_slices_are_resampled(tmp_path: Path) -> None:
    worse, _ = systems(tmp_path)
    document = worse.document
    # 48 turns, every fifth is Indirect (10), of which every third (4: 0, 15, 30, 45) is wrong; of the
    # other 38 turns 12 are wrong. The mean of the two shares, not the share of all.
    macro = document.macros["multi_entity"]
    assert macro.scores["em"] == pytest.approx((6 / 10 + 26 / 38) / 2)
    assert document.extra["micro"]["multi_entity_micro"]["em"] == pytest.approx(32 / 48)
    low, high = macro.intervals["em"]
    assert low < macro.scores["em"] < high
    assert document.extra["evaluation"][DIRECT]["multi_entity"]["em"] == macro.scores["em"]
    far = document.macros["Ctx<-1"]
    assert far.n == 2
    assert far.scores["em"] == document.extra["evaluation"][DIRECT]["Ctx<-1"]["em"]
    assert "ellipsis" not in document.extra["evaluation"][DIRECT]
    assert math.isnan(document.macros["ellipsis"].scores["em"])


def test_runs_are_compared_by_conversation_and_by_slice(tmp_path: Path) -> None:
    found = assay.compare(*systems(tmp_path), slices=["sub_type"], metrics=["em"], resamples=100)
    assert found.document.statistics["cluster"] == "conversation"
    whole = next(d for d in found.differences if d.key == "em")
    assert whole.difference == pytest.approx(38 / 48 - 32 / 48)
    assert {d.slice[1] for d in found.document.slices if d.slice} == {
        f"{DIRECT}_Simple Question|Mult. Entity",
        f"{DIRECT}_Simple Question|Mult. Entity|Indirect",
    }


def test_runs_are_compared_by_means_over_slices(tmp_path: Path) -> None:
    worse, better = systems(tmp_path)
    names = ["multi_entity", "Ctx<-1", "distance"]
    found = assay.compare(worse, better, macros=names, metrics=["em"], resamples=200, trials=500)
    by_name = {d.slice[1]: d for d in found.document.slices if d.slice}
    assert list(by_name) == names
    for name in names[:2]:
        a, b = (run.document.macros[name].scores["em"] for run in (worse, better))
        one = by_name[name]
        assert (one.baseline_score, one.system_score) == pytest.approx((a, b), abs=1e-12)
        low, high = one.interval
        assert low <= one.difference <= high
        assert one.test == "approximate randomisation by cluster"
    # Of the distances none, 1, 2 and 3 each counts the same, however many turns it has.
    distances = [d for d in ("none", "1", "2", "3")]
    own = assay.compare(worse, better, slices=["distance"], metrics=["em"], resamples=10, trials=10)
    shares = {d.slice[1]: d.system_score for d in own.document.slices if d.slice}
    assert by_name["distance"].system_score == pytest.approx(sum(shares[d] for d in distances) / 4)
    with pytest.raises(assay.AssayError, match="nothing to average"):
        assay.compare(worse, better, macros=["ellipsis"])
    with pytest.raises(assay.AssayError, match=r"did you mean 'Ctx<-1'"):
        assay.compare(worse, better, macros=["Ctx<1"])


def test_a_saved_run_is_read_back(tmp_path: Path) -> None:
    saved = evaluate([turn(n) for n in range(4)], question_type=DIRECT, save=tmp_path / "run")
    again = assay.load_run(tmp_path / "run")
    assert again.scores == pytest.approx(dict(saved.scores), nan_ok=True)
    assert again.examples[0].gold == {
        "kind": "set",
        "query": turn()["sparql_delex"],
        "answers": ["Q1"],
    }


def test_parts_give_the_same_as_the_whole() -> None:
    records = [turn(n, predicted_answers=["Q1"] if n % 2 else ["Q2"]) for n in range(50)]
    one = evaluate(records, question_type=DIRECT)
    two = evaluate(records, question_type=DIRECT, jobs=2)
    assert dict(one.scores) == pytest.approx(dict(two.scores), abs=0, nan_ok=True)


@pytest.mark.parametrize("em_only", [True, False])
def test_records_that_are_all_alike_are_read_as_any_others(em_only: bool) -> None:
    alike = [turn(n, actions="entity" if n == 7 else turn()["actions"]) for n in range(12)]
    # One record of another type makes all of them go one by one.
    mixed = [*alike, turn(99, question_type=COUNT, answer="1")]
    options: dict[str, Any] = {
        "question_type": DIRECT,
        "em_only": em_only,
        "context_dist_file": None,
    }
    one, other = evaluate(alike, **options), evaluate(mixed, **options)
    assert dict(one.scores) == pytest.approx(dict(other.scores), abs=0, nan_ok=True)
    assert one.document.gold_sha256 == other.document.gold_sha256
    assert one.document.extra["unanswered"] == other.document.extra["unanswered"]
    for a, b in zip(one.batches, other.batches, strict=True):
        assert list(a.predictions) == list(b.predictions)
        assert a.columns == b.columns


def test_missing_predictions_may_be_left_out(tmp_path: Path) -> None:
    records = [turn(0), turn(1, actions=None, predicted_answers=None)]
    assert evaluate(records, question_type=DIRECT).scores["em"] == 0.5
    assert evaluate(records, question_type=DIRECT, missing="skip").scores["em"] == 1.0
    with pytest.raises(assay.AssayError, match="record 2"):
        evaluate(records, question_type=DIRECT, missing="error")


def test_turns_without_a_conversation_are_drawn_one_by_one() -> None:
    records = [turn(n, turnID=None if n % 2 else f"#{n}") for n in range(6)]
    found = evaluate(
        records, question_type=DIRECT, cluster="conversation", metrics=["conversations"]
    )
    assert {b.columns["conversation"][0] for b in found.batches} == {"#0"}
    assert len(set(found.batches[0].columns["conversation"])) == 6
    assert found.scores["conversations_right"] == 1.0


RENAMED = {"?x": "?a", "?y": "?b", "?z": "?x"}


@given(
    triples=st.lists(
        st.tuples(st.sampled_from(["?x", "?y", "?z", "wd:Q1"]), st.integers(1, 3), st.sampled_from(["?x", "?y", "?z", "wd:Q2"])),
        min_size=1,
        max_size=6,
    ),
    data=st.data(),
)  # fmt: skip
def test_names_and_order_do_not_matter_to_the_normalised_form(
    triples: list[tuple[str, int, str]], data: st.DataObject
) -> None:
    def query(parts: list[tuple[str, int, str]]) -> str:
        return "ASK { " + " . ".join(f"{s} wdt:P{p} {o}" for s, p, o in parts) + " }"

    other = [
        (RENAMED.get(s, s), p, RENAMED.get(o, o)) for s, p, o in data.draw(st.permutations(triples))
    ]
    assert canonical(query(triples)) == canonical(query(other))
    changed = [(*triples[0][:2], "wd:Q7"), *triples[1:]]
    assert canonical(query(triples)) != canonical(query(changed))


def test_phenomena_of_ones_own(tmp_path: Path) -> None:
    lists = tmp_path / "lists.json"
    lists.write_text(json.dumps({"simple": ["Simple Question"]}))
    found = evaluate([turn()], question_type=DIRECT, phenomena=str(lists))
    assert found.document.extra["evaluation"][DIRECT]["simple"] == {"instances": 1.0, "em": 1.0}


def test_gold_that_the_graph_does_not_know(tmp_path: Path) -> None:
    graph = tmp_path / "g.ttl"
    graph.write_text(
        "<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P2> <http://www.wikidata.org/entity/Q1> ."
    )
    records = [turn(0), turn(1, results=["Q1", "Q9"]), turn(2, sparql_delex="nan")]
    result = evaluate(records, question_type=DIRECT, kg=str(graph), execute_gold=True, workers=1)
    check = result.document.extra["gold check"]
    assert (check["checked"], check["different"], check["failed"]) == (3, 1, 1)
    assert check["questions"][0]["id"] == "test#0#0#1"


def test_ids_that_the_graph_does_not_have(tmp_path: Path) -> None:
    graph = tmp_path / "g.ttl"
    graph.write_text(
        "<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P2> <http://www.wikidata.org/entity/Q3> ."
    )
    records = [
        turn(0),  # Q1 and P2 are there
        turn(1, actions="select ?x where { wd: q3 wdt: p9 ?x }"),  # P9 is not
        turn(2, actions="not a query, but wd:Q77 wdt:P9"),  # neither is
        turn(3, actions=None),
    ]
    result = evaluate(records, question_type=DIRECT, kg=str(graph), check_ids=True, workers=1)
    assert result.scores["unknown_id_rate"] == pytest.approx(3 / 6)
    assert result.scores["unknown_id_questions"] == pytest.approx(2 / 4)
    with pytest.raises(assay.AssayError, match="--check_ids needs"):
        evaluate(records, question_type=DIRECT, check_ids=True)
    with pytest.raises(assay.AssayError, match="needs --check_ids"):
        evaluate(records, question_type=DIRECT, metrics=["unknown_ids"])


QALD = {
    "questions": [
        {"id": "1", "query": {"sparql": "SELECT ?x { wd:Q1 wdt:P2 ?x }"}, "answers": [{"head": {"vars": ["x"]}, "results": {"bindings": [{"x": {"type": "uri", "value": "http://www.wikidata.org/entity/Q3"}}]}}]},
        {"id": "2", "query": {"sparql": "PREFIX a: <urn:a> ASK { a:b a:c a:d }"}, "answers": [{"head": {}, "boolean": True}]},
        {"id": "3", "query": {"sparql": "SELECT (COUNT(?x) AS ?n) { ?x ?y ?z }"}, "answers": [{"head": {"vars": ["n"]}, "results": {"bindings": [{"n": {"type": "literal", "value": "7"}}]}}]},
    ]
}  # fmt: skip


def test_qald_against_itself_is_perfect(tmp_path: Path) -> None:
    path = tmp_path / "qald.json"
    path.write_text(json.dumps(QALD))
    found = assay.evaluate("sparql", str(path), str(path), ci=0)
    assert found.scores["gerbil_macro_f1"] == 1.0
    assert found.scores["em"] == 1.0
    assert found.document.statistics["n"] == 3


def test_lcquad_gold_and_queries_by_id(tmp_path: Path) -> None:
    gold = [{"uid": 7, "sparql_wikidata": "select ?x { wd:Q1 wdt:P2 ?x }", "answer": ["Q3"]}]
    (tmp_path / "gold.json").write_text(json.dumps(gold))
    (tmp_path / "p.json").write_text(json.dumps({"7": "SELECT ?x { wd:Q1 wdt:P2 ?x }"}))
    found = assay.evaluate(
        "sparql", str(tmp_path / "p.json"), str(tmp_path / "gold.json"), em_only=True, ci=0
    )
    assert found.scores["em"] == 1.0


def test_gold_without_answers_is_run(tmp_path: Path) -> None:
    graph, gold, given = tmp_path / "g.ttl", tmp_path / "gold.json", tmp_path / "p.json"
    graph.write_text(
        "<http://www.wikidata.org/entity/Q1> <http://www.wikidata.org/prop/direct/P2> <http://www.wikidata.org/entity/Q3> ."
    )
    prefix = "PREFIX wd: <http://www.wikidata.org/entity/> "
    questions = [
        {"uid": 1, "sparql_wikidata": f"{prefix}SELECT ?x {{ wd:Q1 wdt:P2 ?x }}"},
        {"uid": 2, "sparql_wikidata": "ASK { wd:Q1 wdt:P2 wd:Q9 }"},
        {"uid": 3, "sparql_wikidata": "SELECT (COUNT(*) AS ?n) { wd:Q1 ?p ?o }"},
        {"uid": 4, "sparql_wikidata": "SELECT ?x { oops"},
    ]
    gold.write_text(json.dumps(questions))
    given.write_text(json.dumps({str(q["uid"]): q["sparql_wikidata"] for q in questions}))
    found = assay.evaluate("sparql", str(given), str(gold), kg=str(graph), workers=1, ci=0)
    assert found.scores["executable"] == 0.75
    assert found.scores["accuracy"] == 1.0
    assert found.scores["recall"] == 1.0
    assert any("; 1 of these failed" in w for w in found.document.warnings)
    with pytest.raises(assay.AssayError, match="4 gold questions have no answers"):
        assay.evaluate("sparql", str(given), str(gold), ci=0)


def test_what_is_odd_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "p.json"
    records = [
        turn(0),
        turn(0, sparql_delex="nan", results=[], actions=None),
        turn(2, question_type=ASK, answer="NO and YES respectively", results=["Q1", "Q1"]),
        turn(3, question_type=COUNT, answer="3", results=[], description="nan"),
        turn(4, question_type="Riddle", actions="SELECT ?x { entity ?y ?x }"),
    ]
    path.write_text(json.dumps(records))
    found = inspect(str(path))
    assert found is not None
    assert found.n_records == 5
    assert list(found.notes) == [
        "1 record: no predicted query (2)",
        "1 record: prediction holds the placeholder 'entity' (5)",
    ]
    assert sorted(found.findings) == [
        "1 record: answer is a number above 0, and the list of gold answers is empty (4)",
        "1 record: gold answers come twice (3)",
        "1 record: gold query is the text 'nan': never an exact match (2)",
        "1 record: question type 'Riddle' is none of the ten (5)",
        "1 record: sub-type is empty or 'nan' (4)",
        "1 record: the list of gold answers is empty: F1 is 0 whatever is predicted (2)",
        "1 record: turnID was there before (2)",
        "1 record: yes-no answer is neither YES nor NO: counts as NO (3)",
    ]
    path.write_text(json.dumps([*records, {"question_type": DIRECT}]))
    broken = inspect(str(path))
    assert broken is not None
    assert "record 6: the key 'description' is missing" in broken.findings[0]
    path.write_text('[{"prediction": "x"}]')
    assert inspect(str(path)) is None


def test_what_is_odd_in_files_of_questions(tmp_path: Path) -> None:
    path = tmp_path / "q.json"
    head: Any = {"head": {"vars": ["x"]}, "results": {"bindings": []}}
    questions: list[Any] = [
        {"id": 1, "query": {"sparql": "ASK {}"}, "answers": [{"head": {}, "boolean": True}]},
        {"id": 2, "query": {"sparql": "ASK {}"}},
        {"id": 1, "query": {}, "answers": [head]},
        {"id": 4, "query": {}},
    ]
    path.write_text(json.dumps({"questions": questions}))
    found = inspect(str(path))
    assert found is not None
    assert found.n_records == 4
    assert sorted(found.findings) == [
        "1 question: id was there before: the first one counts (3)",
        "1 question: neither a query nor answers (4)",
    ]
    assert sorted(found.notes) == [
        "1 question: no answers that can be read: its query is run for them (2)",
        "1 question: no query: never an exact match (3)",
        "1 question: the list of answers is empty (3)",
    ]
    path.write_text(json.dumps([{"uid": 1, "sparql_wikidata": "ASK {}"}, {}]))
    broken = inspect(str(path))
    assert broken is not None
    assert "question 2 has none of _id, uid, id" in broken.findings[0]


SAME = [
    # name                       one query                                                       another                                                          same
    ("symmetric variables",      "SELECT ?x { ?x wdt:P1 ?a . ?x wdt:P1 ?b }",                     "SELECT ?x { ?x wdt:P1 ?b . ?x wdt:P1 ?a }",                     True),
    ("a triangle",               "ASK { ?a wdt:P1 ?b . ?b wdt:P1 ?c . ?c wdt:P1 ?a }",            "ASK { ?z wdt:P1 ?x . ?x wdt:P1 ?y . ?y wdt:P1 ?z }",            True),
    ("no triangle",              "ASK { ?a wdt:P1 ?b . ?b wdt:P1 ?c . ?c wdt:P1 ?a }",            "ASK { ?a wdt:P1 ?b . ?b wdt:P1 ?c . ?a wdt:P1 ?c }",            False),
    ("order around OPTIONAL",    "SELECT ?x { ?x wdt:P1 ?y OPTIONAL { ?x wdt:P2 ?z } }",          "SELECT ?x { OPTIONAL { ?x wdt:P2 ?z } ?x wdt:P1 ?y }",          False),
    ("filters swapped",          "SELECT ?x { ?x wdt:P1 ?y FILTER(?y > 1) FILTER(?y < 5) }",      "SELECT ?x { FILTER(?b < 5) ?x wdt:P1 ?b . FILTER(?b > 1) }",    True),
    ("MINUS is not NOT EXISTS",  "SELECT ?x { ?x wdt:P1 ?y MINUS { ?x wdt:P2 ?z } }",             "SELECT ?x { ?x wdt:P1 ?y FILTER NOT EXISTS { ?x wdt:P2 ?z } }", False),
    ("names inside a subquery",  "SELECT ?x { { SELECT ?x { ?x wdt:P1 ?y } } ?x wdt:P2 ?y }",     "SELECT ?x { { SELECT ?x { ?x wdt:P1 ?b } } ?x wdt:P2 ?c }",     True),
    ("a path",                   "SELECT ?x { ?x wdt:P1/wdt:P2* ?y }",                            "SELECT ?x { ?x wdt:P1/wdt:P2+ ?y }",                            False),
    ("type",                     "ASK { ?x a ?y }",                                               "ASK { ?x <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ?y }", True),
    ("quotes",                   "ASK { ?x rdfs:label 'a\\'b' }",                                   'ASK { ?x rdfs:label "a\'b" }',                                  True),
    ("a number in full",         "ASK { ?x wdt:P1 5 }",                                           "ASK { ?x wdt:P1 '5'^^<http://www.w3.org/2001/XMLSchema#integer> }", True),
    ("5 is not 5.0",             "ASK { ?x wdt:P1 5 }",                                           "ASK { ?x wdt:P1 5.0 }",                                         False),
    ("a language",               "ASK { ?x rdfs:label 'a'@en }",                                  "ASK { ?x rdfs:label 'a' }",                                     False),
    ("brackets twice",           "SELECT ?x { ?x wdt:P1 ?y FILTER((?y > 1)) }",                   "SELECT ?x { ?x wdt:P1 ?y FILTER(?y > 1) }",                     True),
    ("its own prefix",           "PREFIX wd: <http://www.wikidata.org/entity/> ASK { wd:Q1 wdt:P1 ?x }", "ASK { wd:Q1 wdt:P1 ?x }",                                True),
    ("projection order",         "SELECT ?x ?y { ?x wdt:P1 ?y }",                                 "SELECT ?y ?x { ?x wdt:P1 ?y }",                                 False),
    ("braces",                   "SELECT ?x { { ?x wdt:P1 ?y } FILTER(?y > 1) }",                 "SELECT ?x { ?x wdt:P1 ?y FILTER(?y > 1) }",                     True),
    ("braces in a join",         "SELECT ?x { ?x wdt:P1 ?y { ?x wdt:P2 ?y } }",                   "SELECT ?x { { ?x wdt:P1 ?y } ?x wdt:P2 ?y }",                   True),
    ("braces around a filter",   "SELECT ?x { ?x wdt:P1 ?y { ?x wdt:P2 ?z FILTER(?y > 1) } }",    "SELECT ?x { ?x wdt:P1 ?y . ?x wdt:P2 ?z FILTER(?y > 1) }",      False),
    ("joins around OPTIONAL",    "ASK { { ?x a ?y OPTIONAL { ?x a ?z } } ?y a ?x }",              "ASK { ?y a ?x { ?x a ?y OPTIONAL { ?x a ?z } } }",              True),
    ("UNION of UNION",           "ASK { { ?x a ?y } UNION { { ?x a 1 } UNION { ?x a 2 } } }",     "ASK { { ?x a 2 } UNION { ?x a ?y } UNION { ?x a 1 } }",         True),
    ("one filter of two",        "SELECT ?x { ?x a ?y FILTER(?y > 1 && (?y < 5)) }",              "SELECT ?x { ?x a ?y FILTER(?y < 5) FILTER(?y > 1) }",           True),
    ("or is not and",            "SELECT ?x { ?x a ?y FILTER(?y > 1 && ?y < 5 || ?y = 9) }",      "SELECT ?x { ?x a ?y FILTER(?y > 1) FILTER(?y < 5 || ?y = 9) }", False),
    ("ascending",                "SELECT ?x { ?x a ?y } ORDER BY ASC(?y) LIMIT 1 OFFSET 2",       "SELECT ?x { ?x a ?y } ORDER BY ?y OFFSET 2 LIMIT 1",            True),
    ("descending",               "SELECT ?x { ?x a ?y } ORDER BY DESC(?y)",                       "SELECT ?x { ?x a ?y } ORDER BY ?y",                             False),
    ("all there is",             "SELECT * { wd:Q1 wdt:P1 ?x }",                                  "SELECT ?x { wd:Q1 wdt:P1 ?x }",                                 True),
    ("all there are",            "SELECT * { ?y wdt:P1 ?x }",                                     "SELECT ?x { ?y wdt:P1 ?x }",                                    False),
    ("VALUES at the end",        "SELECT ?x { ?x a ?y } VALUES ?y { 1 2 }",                       "SELECT ?x { VALUES ?y { 2 1 } ?x a ?y }",                       True),
    ("VALUES behind GROUP BY",   "SELECT ?x { ?x a ?y } GROUP BY ?x VALUES ?y { 1 2 }",           "SELECT ?x { VALUES ?y { 2 1 } ?x a ?y } GROUP BY ?x",           False),
    ("columns of VALUES",        "ASK { VALUES (?x ?y) { (1 2) } ?x a ?y }",                      "ASK { VALUES (?b ?a) { (2 1) } ?a a ?b }",                      True),
    ("a path backwards",         "ASK { wd:Q1 ^wdt:P1 ?x }",                                      "ASK { ?x wdt:P1 wd:Q1 }",                                       True),
    ("brackets in a path",       "ASK { ?x wdt:P1/(wdt:P2)* ?y }",                                "ASK { ?x wdt:P1/wdt:P2* ?y }",                                  True),
    ("BASE",                     "BASE <http://www.wikidata.org/> ASK { <entity/Q1> ?p ?x }",     "ASK { wd:Q1 ?p ?x }",                                           True),
    ("not SPARQL, spaces apart", "tell  me",                                                      "Tell me",                                                       True),
]  # fmt: skip


@pytest.mark.parametrize(("name", "a", "b", "same"), SAME, ids=[s[0] for s in SAME])
def test_queries_that_are_the_same(name: str, a: str, b: str, same: bool) -> None:
    assert (canonical(a) == canonical(b)) is same


@pytest.mark.parametrize("n", [100, 250, 2_000])
@pytest.mark.parametrize("form", ["?x{0} wdt:P1 ?x{1}", "?x wdt:P1 ?x{0}", "?a{0} wdt:P1 ?b{0}"])
def test_a_system_that_repeats_itself_is_compared_in_time(form: str, n: int) -> None:
    triples = [form.format(i, i + 1) for i in range(n // 2)]
    query, other = (f"ASK {{ {' . '.join(part)} }}" for part in (triples, triples[::-1]))
    started = time.process_time()
    assert (canonical(query) == canonical(other)) is (n < 2_000)
    assert time.process_time() - started < 10


@pytest.mark.parametrize(
    "query",
    [
        "SELECT ?x { wd:Q1 wdt:P2 ?x }",
        "select ?x { wd: q1 wdt: p2 ?x }",
        "PREFIX e: <http://www.wikidata.org/entity/> SELECT ?x { e:Q1 wdt:P2 ?x }",
        "SELECT ?x { <http://www.wikidata.org/entity/Q1> wdt:P2 ?x } # not wd:Q7",
        "SELECT ?x { wd:Q1 wdt:P2 ?x FILTER(?x != 'wd:Q8') }",
        "SELECT ?x { wd:Q1 wdt:P2 ?x . e:Q3 e:P4 ?x }",
    ],
)
def test_ids_of_a_query_however_it_writes_them(query: str) -> None:
    assert [set(part) for part in parts_of(query)[:2]] == [{"Q1"}, {"P2"}]


def test_parts_of_a_text_that_does_not_parse() -> None:
    parts = parts_of("select ?x where { wd: q5 wdt: p31 ?x")
    assert [set(part) for part in parts] == [{"Q5"}, {"P31"}, set()]


def test_the_task_declares_what_it_has() -> None:
    task = load("sparql")
    assert {o.name for o in task.options} >= {"predictions", "read_all", "question_type", "em_only"}
    assert ExactQuery().text == "em"
    assert Record.__struct_fields__[0] == "question_type"


def test_gold_of_two_systems_is_one_however_long_their_predictions_are(tmp_path: Path) -> None:
    turns = [
        {
            "question_type": "Clarification",
            "description": "",
            "answer": "",
            "results": ["Q1"],
            "sparql_delex": "SELECT ?x",
            "turnID": f"c#{i}",
        }
        for i in range(5_000)
    ]
    digests = []
    for system, padding in (("short", ""), ("long", " #" + "x" * 300)):
        path = tmp_path / f"{system}.json"
        path.write_text(json.dumps([{**t, "actions": f"SELECT ?x{padding}"} for t in turns]))
        found = assay.evaluate("sparql", str(path), em_only=True, ci=0, keep=False)
        digests.append(found.document.gold_sha256)
    assert digests[0] == digests[1]

# SPDX-License-Identifier: Apache-2.0
"""Queries on a graph: limits that really stop, refusals, caches, and graphs that do not parse."""

from __future__ import annotations

import codecs
import gzip
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.tasks.sparql import executor as executors
from assay.tasks.sparql import stores
from assay.tasks.sparql.dialect import RefusalError, check, inlined, runnable, unescaped
from assay.tasks.sparql.executor import Runner, open_executor
from assay.tasks.sparql.minus import with_minus
from assay.tasks.sparql.pool import Worker
from assay.tasks.sparql.replies import PREFIXES
from assay.tasks.sparql.tokens import tokens
from assay.tasks.sparql.worker import WorkerOptions, answer, open_store

PREFIX = "".join(f"@prefix {p}: <{iri}> .\n" for p, iri in PREFIXES.items() if p in ("wd", "wdt"))
GRAPH = PREFIX + "".join(f"wd:Q{i} wdt:P31 wd:Q5 ; wdt:P2 wd:Q{i % 7} .\n" for i in range(100, 400))
EXPLODES = "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i . ?j ?k ?l }"
"""600 ** 4 rows to count: days."""

Open = Callable[..., Runner]


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    path = tmp_path / "graph.ttl"
    path.write_text(GRAPH, encoding="utf-8")
    return path


@pytest.fixture
def opened(graph: Path) -> Iterator[Open]:
    held: list[Runner] = []

    def open_it(path: Path = graph, intake: Intake | None = None, **options: Any) -> Runner:
        runner = open_executor(str(path), None, intake or Intake(), **{"workers": 1, **options})
        held.append(runner)
        return runner

    yield open_it
    for runner in held:
        runner.close()


def test_a_runaway_query_is_stopped_and_the_next_one_runs(opened: Open) -> None:
    intake = Intake()
    runner = opened(intake=intake, timeout=0.3, workers=2)
    found = runner.run(["ASK { wd:Q101 ?p ?o }", EXPLODES, "ASK { wd:Q102 ?p ?o }"])
    assert found == [(True, None), (None, "timeout"), (True, None)]
    assert runner.run(["ASK { wd:Q103 ?p ?o }"]) == [(True, None)]
    runner.close()
    assert intake.warnings == ["1 queries were stopped after 0.3 s (--timeout)"]


def test_a_killed_worker_is_gone(opened: Open) -> None:
    runner = opened(timeout=0.3)
    runner.run(["ASK {}"])
    pool: Any = runner._backend
    (first,) = pool._workers
    runner.run([EXPLODES])
    assert first.process.poll() is not None
    assert first not in pool._workers


def test_a_worker_that_nobody_watches_ends_itself(graph: Path) -> None:
    worker = Worker(WorkerOptions(graph=str(graph), alarm=0.2))
    while worker.receive() is None:
        pass  # the graph is open
    worker.send(EXPLODES)
    assert worker.process.wait() == -signal.SIGALRM
    worker.end()


def test_a_worker_ends_with_the_run_that_it_works_for(graph: Path) -> None:
    worker = Worker(WorkerOptions(graph=str(graph)))
    while worker.receive() is None:
        pass  # the graph is open
    worker.send(EXPLODES)
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    assert worker.process.wait(timeout=60) == 1
    worker.end()


def test_a_build_that_nobody_waits_for_ends_itself(tmp_path: Path) -> None:
    graph = tmp_path / "graph.nt"
    os.mkfifo(graph)  # loading it would never end
    worker = Worker(WorkerOptions(graph=str(graph), store=str(tmp_path / "store")))
    assert worker.process.stdin is not None
    worker.process.stdin.close()
    assert worker.process.wait(timeout=60) == 1
    worker.end()


def test_rows_over_the_limit_are_no_answer(opened: Open) -> None:
    runner = opened(row_limit=299)
    everything = "SELECT ?x { ?x wdt:P31 wd:Q5 }"
    assert runner.run([everything]) == [(None, "too large")]
    assert len(opened(row_limit=300).run([everything])[0][0] or ()) == 300  # type: ignore[arg-type]  # a list


def test_memory_over_the_limit_is_no_answer_and_harms_nobody(opened: Open) -> None:
    runner = opened(memory_limit=50, timeout=60)
    greedy = "SELECT (COUNT(DISTINCT ?n) AS ?m) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i BIND(CONCAT(STR(?a), STR(?d), STR(?g)) AS ?n) }"
    assert runner.run([greedy, "ASK { wd:Q101 ?p ?o }"]) == [(None, "too large"), (True, None)]


REFUSED = [
    # name                     query                                                    class
    ("update",                 "DELETE WHERE { ?a ?b ?c }",                             "refused"),
    ("load",                   "LOAD <http://127.0.0.1/>",                              "refused"),
    ("construct",              "CONSTRUCT { ?a ?b ?c } WHERE { ?a ?b ?c }",             "refused"),
    ("describe",               "DESCRIBE wd:Q1",                                        "refused"),
    ("service",                "SELECT ?x { SERVICE <http://a/> { ?x ?y ?z } }",        "refused"),
    ("service in lower case",  "ask { service silent <http://a/> { ?x ?y ?z } }",       "refused"),
    ("service after a string", "ASK { ?x ?y '\\'' . SERVICE <http://a/> {} }",          "refused"),
    ("service in a subquery",  "ASK { { SELECT ?x { SERVICE ?s { ?x ?y ?z } } } }",     "refused"),
    ("service in escapes",     "ASK { \\u0053ERVICE <http://a/> {} }",                  "refused"),
    ("a quote in escapes",     "ASK { ?x ?y '\\u0027 } SERVICE <http://a/> {} #' }",    "refused"),
    ("after a prologue",       "PREFIX a: <urn:b> INSERT DATA { a:a a:b a:c }",         "refused"),
    ("nothing",                "",                                                      "syntax"),
    ("a sentence",             "I do not know",                                         "syntax"),
    ("odd signs",              "ASK { ?x ?y ` }",                                       "syntax"),
    ("include without name",   "SELECT ?x { INCLUDE %a }",                              "syntax"),
    ("defined twice",          "SELECT ?x WITH { SELECT ?x {} } AS %a WITH { SELECT ?x {} } AS %a { INCLUDE %a }", "syntax"),
    ("includes itself",        "SELECT ?x WITH { SELECT ?x { INCLUDE %a } } AS %a { INCLUDE %a }", "syntax"),
    ("include each other",     "SELECT ?x WITH { SELECT ?x { INCLUDE %b } } AS %a WITH { SELECT ?x { INCLUDE %a } } AS %b { INCLUDE %a }", "syntax"),
    ("not closed",             "SELECT ?x WITH { SELECT ?x { AS %a",                    "syntax"),
    ("names have case",        "SELECT ?x WITH { SELECT ?x {} } AS %a { INCLUDE %A }",  "syntax"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "query", "failure"), REFUSED, ids=[r[0] for r in REFUSED])
def test_what_is_not_run(name: str, query: str, failure: str) -> None:
    with pytest.raises(RefusalError) as refusal:
        runnable(query)
    assert refusal.value.failure == failure


ALLOWED = [
    "ASK { wd:Q1 ?service 'SERVICE' }",
    "ASK { ?x <http://a/SERVICE> ?y } # SERVICE",
    "SELECT ?x { ?x wdt:P1 ?y . ?y rdfs:label 'LOAD \\\\u0041' }",
    "PREFIX service: <urn:s> ASK { service:a ?x ?y }",
    'SELECT ?load { ?load wdt:P1 """a "quoted" SERVICE""" }',
]


@pytest.mark.parametrize("query", ALLOWED)
def test_words_in_strings_iris_comments_and_names_are_left_alone(query: str) -> None:
    check(tokens(unescaped(query)))


def test_includes_that_multiply_are_stopped() -> None:
    definitions = "".join(
        f"WITH {{ SELECT ?x {{ INCLUDE %n{i + 1} INCLUDE %n{i + 1} }} }} AS %n{i} "
        for i in range(30)
    )
    last = "WITH { SELECT ?x { ?x ?y ?z } } AS %n30"
    with pytest.raises(RefusalError) as refusal:
        inlined(f"SELECT ?x {definitions} {last} WHERE {{ INCLUDE %n0 }}")
    assert refusal.value.failure == "too large"


def test_includes_without_end_are_stopped() -> None:
    definitions = "".join(
        f"WITH {{ SELECT ?x {{ INCLUDE %n{i + 1} }} }} AS %n{i} " for i in range(3_000)
    )
    last = "WITH { SELECT ?x { ?x ?y ?z } } AS %n3000"
    with pytest.raises(RefusalError) as refusal:
        runnable(f"SELECT ?x {definitions} {last} WHERE {{ INCLUDE %n0 }}")
    assert refusal.value.failure == "too large"


def test_definitions_come_in_any_order_and_leave_texts_alone() -> None:
    query = (
        "SELECT ?x WITH { SELECT ?x { INCLUDE %b } } AS %a "
        "WITH { SELECT ?x { ?x rdfs:label 'INCLUDE %a } { ' } } AS %b # %c\nWHERE { INCLUDE %a }"
    )
    found = inlined(query)
    assert found.count("'INCLUDE %a } { '") == 1
    assert "WITH" not in found
    assert found.count("{") == found.count("}")


def test_ask_with_a_named_subquery(opened: Open) -> None:
    query = "ASK WITH { SELECT ?x { ?x wdt:P31 wd:Q5 } } AS %a WHERE { INCLUDE %a }"
    assert opened().run([query]) == [(True, None)]


def noted(asked: list[str], queries: Any) -> Any:
    asked.extend(queries)
    return queries


def test_equal_queries_run_once(opened: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = opened()
    asked: list[str] = []
    pool: Any = runner._backend
    whole = pool.run
    monkeypatch.setattr(pool, "run", lambda queries: whole(noted(asked, queries)))
    runner.run(["ASK { wd:Q101 ?p ?o }"] * 5 + ["ask { wd: q101 ?p ?o }"])
    runner.run(["ASK { wd:Q101 ?p ?o }"])
    assert asked == ["ASK { wd:Q101 ?p ?o }", "ask { wd:Q101 ?p ?o }"]


def test_replies_are_kept_between_runs(
    opened: Open, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "cache"
    queries = ["SELECT ?x { wd:Q101 wdt:P2 ?x }", "ASK { wd:Q1", EXPLODES]
    first = opened(cache=str(folder), timeout=0.2)
    found = first.run(queries)
    first.close()
    second = opened(cache=str(folder), timeout=0.2)
    pool: Any = second._backend
    asked: list[str] = []
    monkeypatch.setattr(pool, "run", lambda queries: noted(asked, queries))
    assert second.run(queries[:2]) == found[:2]
    assert asked == []
    again = opened(cache=str(folder), refresh=True)
    assert again.run(queries[:1]) == found[:1]


def test_another_graph_has_other_replies(opened: Open, tmp_path: Path) -> None:
    folder, other = str(tmp_path / "cache"), tmp_path / "other.nt"
    other.write_text("<http://a/1> <http://a/2> <http://a/3> .\n")
    query = "SELECT ?o { ?s ?p ?o } LIMIT 1"
    runner = opened(cache=folder)
    assert runner.run([query]) != opened(other, cache=folder).run([query])


def test_large_graphs_go_to_a_store_that_is_built_once(
    opened: Open, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executors, "IN_MEMORY", 0)
    folder = tmp_path / "cache"
    query = "SELECT (COUNT(*) AS ?n) { ?x wdt:P31 wd:Q5 }"
    assert opened(cache=str(folder), workers=2).run([query]) == [(["300"], None)]
    (store,) = (folder / "stores").iterdir()
    made = store.stat().st_mtime_ns
    assert opened(cache=str(folder), refresh=True).run([query]) == [(["300"], None)]
    assert store.stat().st_mtime_ns == made
    graph.write_text(GRAPH + "wd:Q1 wdt:P31 wd:Q5 .\n")
    assert opened(cache=str(folder)).run([query]) == [(["301"], None)]


def emptied(store: Path) -> None:
    for path in store.iterdir():
        path.unlink()


def torn(store: Path) -> None:
    for path in store.glob("*.sst"):
        path.write_bytes(path.read_bytes()[:-20])


@pytest.mark.parametrize("harm", [emptied, torn])
def test_a_damaged_store_is_built_again(
    opened: Open, graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, harm: Any
) -> None:
    monkeypatch.setattr(executors, "IN_MEMORY", 0)
    folder, query = tmp_path / "cache", "SELECT (COUNT(*) AS ?n) { ?x wdt:P31 wd:Q5 }"
    opened(cache=str(folder)).run([query])
    (store,) = (folder / "stores").iterdir()
    harm(store)
    intake = Intake()
    assert opened(intake=intake, cache=str(folder), refresh=True).run([query]) == [(["300"], None)]
    assert intake.warnings == [f"the store of {graph} in {store.parent} was damaged: built again"]
    assert list((folder / "stores").iterdir()) == [store]


def test_a_store_that_another_run_has_built_meanwhile_is_used(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "stores" / "one"

    def slow(path: Path, aside: Path) -> None:
        for folder in (aside, store):
            folder.mkdir()
            (folder / "CURRENT").write_text(folder.name)

    monkeypatch.setattr(stores, "build_store", slow)
    stores.stored_graph(graph, store)
    assert (store / "CURRENT").read_text() == "one"
    assert list(store.parent.iterdir()) == [store]


HOLDS = "import sys, pyoxigraph as o; s = o.Store(sys.argv[1]); print(1, flush=True); input()"


def test_what_killed_runs_left_aside_is_removed(graph: Path, tmp_path: Path) -> None:
    store = tmp_path / "stores" / "one"
    killed, early, fresh, at_work = (store.with_name(f".{n}.part") for n in ("a", "b", "c", "d"))
    for aside in (killed, early, fresh, at_work):
        aside.mkdir(parents=True)
        if aside is not early:
            (aside / "LOCK").touch()
    command = [sys.executable, "-c", HOLDS, str(at_work)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        other.stdout.readline()
        for aside in (killed, early, at_work):
            os.utime(aside, (0, 0))
        stores.stored_graph(graph, store)
        assert set(store.parent.iterdir()) == {store, fresh, at_work}
        other.communicate(b"\n")


def test_limits_hold_for_replies_that_were_kept(opened: Open, tmp_path: Path) -> None:
    query, folder = "SELECT ?x { ?x wdt:P31 wd:Q5 }", str(tmp_path)
    ((answers, _),) = opened(cache=folder).run([query])
    assert isinstance(answers, list)
    assert len(answers) == 300
    assert opened(cache=folder, row_limit=299).run([query]) == [(None, "too large")]


@pytest.mark.parametrize("harm", ["UPDATE replies SET reply = x'7b'", "DROP TABLE replies"])
def test_a_cache_that_fails_does_not_end_the_run(opened: Open, tmp_path: Path, harm: str) -> None:
    query, intake = "SELECT ?x { wd:Q101 wdt:P2 ?x }", Intake()
    first = opened(cache=str(tmp_path))
    found = first.run([query])
    first.close()
    second = opened(intake=intake, cache=str(tmp_path))
    with closing(sqlite3.connect(tmp_path / "replies.sqlite")) as base:
        base.execute(harm)
        base.commit()
    assert second.run([query]) == found
    second.close()
    assert [w.partition(" (")[0] for w in intake.warnings] == [f"the cache {tmp_path} failed"]


@pytest.mark.parametrize("name", ["graph.nt", "graph.nq", "graph.nt.gz", "graph.trig"])
def test_formats(opened: Open, tmp_path: Path, name: str) -> None:
    line = b"<http://www.wikidata.org/entity/Q1> <http://a/p> <http://a/o> .\n"
    if ".nq" in name:
        line = line.replace(b" .", b" <http://a/g> .")
    path = tmp_path / name
    path.write_bytes(gzip.compress(line) if name.endswith(".gz") else line)
    assert opened(path).run(["SELECT ?x { ?x ?y ?z }"]) == [(["Q1"], None)]


@pytest.mark.parametrize("name", ["graph.nt", "graph.ttl.gz"])
def test_a_mark_before_the_first_line_is_no_part_of_the_graph(
    opened: Open, tmp_path: Path, name: str
) -> None:
    line = codecs.BOM_UTF8 + b"<http://www.wikidata.org/entity/Q1> <http://a/p> <http://a/o> .\n"
    path = tmp_path / name
    path.write_bytes(gzip.compress(line) if name.endswith(".gz") else line)
    assert opened(path).run(["SELECT ?x { ?x ?y ?z }"]) == [(["Q1"], None)]


def test_a_graph_that_does_not_parse_has_a_line(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "bad.ttl"
    path.write_text(PREFIX + "wd:Q1 wdt:P2 .\n")
    with pytest.raises(InputError, match=r"bad\.ttl, line 3"):
        opened(path).run(["ASK {}"])


def test_a_graph_that_was_cut_off(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "g.ttl.gz"
    path.write_bytes(gzip.compress(GRAPH.encode())[:500])
    with pytest.raises(InputError, match="ended before"):
        opened(path).run(["ASK {}"])


def test_an_empty_graph_is_said_to_be_empty(opened: Open, tmp_path: Path) -> None:
    path = tmp_path / "g.nt"
    path.write_text("")
    intake = Intake()
    runner = opened(path, intake)
    assert runner.run(["ASK {}"]) == [(True, None)]
    runner.close()
    assert intake.warnings == [f"{path} holds no triples: nothing can be answered"]


@pytest.mark.parametrize("name", ["graph.parquet", "predictions.json"])
def test_a_graph_of_no_known_format(opened: Open, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_text("[]")
    with pytest.raises(InputError, match="no known format"):
        opened(path).run(["ASK {}"])


def test_a_graph_that_is_not_there(opened: Open, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        opened(tmp_path / "nowhere.nt")


MINUS = [
    # name                        query                                                               rewritten
    ("shared and bound",          "SELECT ?x { ?x wdt:P1 ?b FILTER NOT EXISTS { ?x wdt:P2 ?y } }",               True),
    ("filters may follow",        "SELECT ?x { ?x wdt:P1 ?b FILTER NOT EXISTS { ?x wdt:P2 ?y } FILTER(?b > 1) }", True),
    ("nothing shared",            "SELECT ?x { ?x wdt:P1 ?b FILTER NOT EXISTS { ?z wdt:P2 ?y } }",               False),
    ("triples follow",            "SELECT ?x { ?x wdt:P1 ?b FILTER NOT EXISTS { ?x wdt:P2 ?y } ?y wdt:P3 ?x }",  False),
    ("may be unbound",            "SELECT ?x { OPTIONAL { ?x wdt:P1 ?b } FILTER NOT EXISTS { ?x wdt:P2 ?y } }",  False),
    ("one of two may be unbound", "SELECT ?x { ?x wdt:P1 ?b OPTIONAL { ?b wdt:P3 ?y } FILTER NOT EXISTS { ?x wdt:P2 ?y } }", False),
    ("a filter inside",           "SELECT ?x { ?x wdt:P1 ?b FILTER NOT EXISTS { ?x wdt:P2 ?y FILTER(?y > ?b) } }", False),
    ("inside OPTIONAL",           "SELECT ?x { ?x wdt:P1 ?b OPTIONAL { ?b wdt:P3 ?c FILTER NOT EXISTS { ?x wdt:P2 ?c } } }", False),
    ("in both branches",          "SELECT ?x { { ?x wdt:P1 ?b } UNION { ?x wdt:P2 ?b } FILTER NOT EXISTS { ?x wdt:P3 ?y } }", True),
    ("in one branch",             "SELECT ?x { { ?x wdt:P1 ?b } UNION { ?z wdt:P2 ?b } FILTER NOT EXISTS { ?x wdt:P3 ?y } }", False),
    ("a brace in a comment",      "SELECT ?x { ?x wdt:P1 ?b FILTER NOT EXISTS # {\n { ?x wdt:P2 ?y } }",          True),
    ("EXISTS",                    "SELECT ?x { ?x wdt:P1 ?b FILTER EXISTS { ?x wdt:P2 ?y } }",                   False),
    ("UNDEF",                     "SELECT ?x { VALUES ?x { UNDEF } FILTER NOT EXISTS { ?x wdt:P2 ?y } }",        False),
]  # fmt: skip


@pytest.mark.parametrize(("name", "query", "rewritten"), MINUS, ids=[m[0] for m in MINUS])
def test_not_exists_becomes_minus_where_it_may(name: str, query: str, rewritten: bool) -> None:
    found = with_minus(query)
    assert ("MINUS" in found) is rewritten
    assert len(tokens(found)) == len(tokens(query)) - 2 * rewritten  # FILTER NOT EXISTS, MINUS


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("graph") / "g.ttl"
    names = [f"wd:Q{i}" for i in range(1, 6)]
    lines = [
        f"{a} wdt:P{p} {b} ."
        for a in names
        for b in names
        for p in (1, 2, 3)
        if hash((int(a[4:]) * 7 + int(b[4:]) * 3 + p) % 4) == 0
    ]
    path.write_text(PREFIX + "\n".join(lines))
    return open_store(WorkerOptions(graph=str(path)))


VARIABLES = st.sampled_from(["?x", "?y", "?z"])
TRIPLES = st.builds(
    lambda s, p, o: f"{s} wdt:P{p} {o} . ",
    VARIABLES,
    st.integers(1, 3),
    st.one_of(VARIABLES, st.just("wd:Q2")),
)
BEFORE = st.one_of(
    TRIPLES,
    TRIPLES.map(lambda t: f"OPTIONAL {{ {t} }} "),
    TRIPLES.map(lambda t: f"{{ {t} }} "),
    st.tuples(TRIPLES, TRIPLES).map(lambda t: f"{{ {t[0]} }} UNION {{ {t[1]} }} "),
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(
    before=st.lists(BEFORE, min_size=1, max_size=3), inner=st.lists(TRIPLES, min_size=1, max_size=2)
)
def test_minus_gives_the_answers_of_not_exists(
    store: Any, before: list[str], inner: list[str]
) -> None:
    query = f"SELECT ?x {{ {''.join(before)} FILTER NOT EXISTS {{ {''.join(inner)} }} }}"
    plain, rewritten = (answer(store, q, 10**6) for q in (query, with_minus(query)))
    assert plain.failure is None
    assert sorted(plain.values or []) == sorted(rewritten.values or [])

# SPDX-License-Identifier: Apache-2.0
"""No predicted query calls another server, however it is spelt and wherever it is run."""

from __future__ import annotations

import random
import socket
from pathlib import Path
from typing import Any

import pytest

from assay.tasks.sparql.dialect import RefusalError, runnable
from assay.tasks.sparql.pool import Pool
from assay.tasks.sparql.replies import PREFIXES
from assay.tasks.sparql.tokens import tokens
from assay.tasks.sparql.worker import WorkerOptions, open_store

# An engine may want no space around a keyword, and read `<` as a sign where it can.
SPELT = [
    # name                        query
    ("joined to SILENT",          "SELECT ?x { SERVICESILENT<http://a/> { ?x ?y ?z } }"),
    ("joined to a name",          "PREFIX a: <http://a/> SELECT ?x { servicea:b { ?x ?y ?z } }"),
    ("joined to an empty prefix", "PREFIX : <http://a/> SELECT ?x { SERVICE:a { ?x ?y ?z } }"),
    ("joined to a variable",      "SELECT ?x { BIND(<http://a/> AS ?u) SERVICESILENT?u{ ?x ?y ?z } }"),
    ("behind true",               "ASK { ?x ?y trueSERVICE<http://a/> { ?x ?y ?z } }"),
    ("behind a number",           "ASK { ?x ?y 1.SERVICE<http://a/> { ?x ?y ?z } }"),
    ("behind an empty name",      "ASK { ?x ?y wd:.SERVICE <http://a/> { ?x ?y ?z } }"),
    ("behind the second dot",     "ASK { ?x ?y wd:a.b.SERVICE <http://a/> { ?x ?y ?z } }"),
    ("behind a comparison",       "ASK { FILTER(1<2)SERVICE#>\n<http://a/> { ?x ?y ?z } }"),
    ("behind not more than",      "ASK { FILTER(1<=2)SERVICE#>\n<http://a/> { ?x ?y ?z } }"),
    ("behind nested brackets",    "ASK { FILTER((?x)<2)SERVICE#>\n<http://a/> { ?x ?y ?z } }"),
    ("behind EXISTS",             "ASK { FILTER(EXISTS{}<2)SERVICE#>\n<http://a/> { ?x ?y ?z } }"),
    ("in a string that is none",  "ASK { FILTER(1<2)#>'''\nSERVICE <http://a/> { ?x ?y ?z } #'''\n}"),
    ("behind a false condition",  "SELECT(1<2 AS ?k)#>'''\n{ SERVICE <http://a/> { ?x ?y ?z } #'''\n}"),
]  # fmt: skip

HARMLESS = [
    "SELECT ?x { ?x dbo:militaryService ?y }",
    "PREFIX service: <urn:s> SELECT ?x { service:a ?x ?y }",
    "SELECT ?x { ?x wdt:P1 ?y FILTER(?y < 5 && ?x != <http://a/service#b>) }",
    "SELECT ?x { VALUES (?x ?y) { (<http://a/service#a> <http://a/service#b>) } }",
    "SELECT ?x { ?x (wdt:P1|<http://a/service#b>)* ?y }",
    "SELECT ?x { ?x <urn:service#a> 'SERVICE <urn:a> {}' } # SERVICE <urn:a> {}",
]


@pytest.mark.parametrize(("name", "query"), SPELT, ids=[s[0] for s in SPELT])
def test_it_is_refused_in_every_spelling(name: str, query: str) -> None:
    with pytest.raises(RefusalError, match="SERVICE calls another server"):
        runnable(query)


@pytest.mark.parametrize("query", HARMLESS)
def test_the_word_alone_is_not_refused(query: str) -> None:
    assert runnable(query) == query


def test_what_is_compared_is_no_address() -> None:
    found = [t.text for t in tokens("FILTER(?a<=?b||?c>3)")]
    assert found == ["FILTER", "(", "?a", "<=", "?b", "||", "?c", ">", "3", ")"]


BETWEEN = ["", "", "", " ", "\n", "#>\n", "#'''\n", '#"\n', "#)>\n", "#{\n"]
BEFORE = [
    *("FILTER(1<2)", "FILTER('a'<'b')", "FILTER(?x<=1)", "FILTER((1)<<http://a>)", "BIND(1<2 AS ?k)"),
    *("?x ?y true", "?x ?y 1.", "?x ?y wd:a.b.", "?x ?y wd:.", "?x ?y 'a'@en.", "?x ?y [].", "{}"),
    *("OPTIONAL{?x ?y ?z}", "VALUES?v{UNDEF}", "?x ?y <http://a#b>.", "FILTER(EXISTS{}<2)", ""),
]  # fmt: skip
CALLS = ["SERVICE<http://127.0.0.1:9/>{}", "Service h:a{}", "SERVICEh:a{}", "SERVICE:a{?x ?y ?z}"]


def written(rng: random.Random) -> str:
    """A query, as odd as may be, that calls a server wherever the engine can read it so."""
    parts = ["ASK", "{", rng.choice(BEFORE), rng.choice(CALLS), rng.choice(BEFORE), "}"]
    text = "".join(part + rng.choice(BETWEEN) for part in parts)
    return f"PREFIX h: <http://127.0.0.1:9/> PREFIX : <http://127.0.0.1:9/> {text}"


def test_whatever_the_engine_would_call_is_refused(tmp_path: Path) -> None:
    graph = tmp_path / "g.nt"
    graph.write_text("<http://a/x> <http://a/y> <http://a/z> .\n")
    store = open_store(WorkerOptions(graph=str(graph)))
    rng, called = random.Random(5), 0
    for _ in range(6_000):
        query = written(rng)
        if called_out(store, query):
            called += 1
            with pytest.raises(RefusalError):
                runnable(query)
    assert called > 300


def called_out(store: Any, query: str) -> bool:
    """Whether the engine wants to call: it refuses this port, and says so."""
    try:
        store.query(query, prefixes=PREFIXES)
    except OSError as error:
        return "port 9 is not allowed" in str(error)
    except (SyntaxError, ValueError, RuntimeError):
        return False
    return False


@pytest.mark.parametrize("on_disk", [False, True])
def test_a_worker_cannot_call_anybody(tmp_path: Path, on_disk: bool) -> None:
    graph, folder = tmp_path / "g.nt", str(tmp_path / "store")
    graph.write_text("<http://a/x> <http://a/y> <http://a/z> .\n")
    options = WorkerOptions(graph=str(graph))
    if on_disk:
        open_store(WorkerOptions(graph=str(graph), store=folder))
        options = WorkerOptions(store=folder)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        listening.settimeout(0.0)
        address = f"<http://127.0.0.1:{listening.getsockname()[1]}/>"
        pool = Pool(options, size=1, timeout=20, graph=str(graph))
        calls = [f"ASK {{ SERVICE {how} {address} {{ ?x ?y ?z }} }}" for how in ("", "SILENT")]
        replies = pool.run([*calls, "ASK { <http://a/x> ?y ?z }"])
        pool.close()
        with pytest.raises(BlockingIOError):  # nobody knocked
            listening.accept()[0].close()
    assert replies[0].failure is not None
    assert replies[-1].boolean is True

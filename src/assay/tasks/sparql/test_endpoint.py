# SPDX-License-Identifier: Apache-2.0
"""Endpoints: a real server on loopback, and one that misbehaves in every known way."""

from __future__ import annotations

import gzip
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import pytest

import assay
from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.tasks.sparql.endpoint import GIVEN_UP, Endpoint, with_prefixes
from assay.tasks.sparql.executor import Runner

BOOLEAN = json.dumps({"head": {}, "boolean": True}).encode()
Play = Callable[["Fake"], None]


class Fake(BaseHTTPRequestHandler):
    """Answers a query that names a play by playing it; anything else is true."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # one packet per reply
    server: FakeServer

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        query = parse_qs(body)["query"][0]
        with self.server.lock:
            self.server.seen.append(query)
            self.server.ports.add(self.client_address[1])
        name = next((n for n in self.server.plays if n in query), None)
        if name is None:
            self.say(200, BOOLEAN)
        else:
            self.server.plays[name](self)

    def say(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for key, value in headers.items():
            self.send_header(key.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


class FakeServer(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Fake)
        self.lock = threading.Lock()
        self.seen: list[str] = []
        self.ports: set[int] = set()
        self.plays: dict[str, Play] = {}
        self.stop = threading.Event()

    def handle_error(self, request: Any, client_address: Any) -> None:
        pass

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/sparql"


@pytest.fixture
def fake() -> Iterator[FakeServer]:
    server = FakeServer()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server
    server.stop.set()
    server.shutdown()
    thread.join()
    server.server_close()


def endpoint(server: FakeServer, **given: Any) -> tuple[Endpoint, list[float]]:
    pauses: list[float] = []
    return Endpoint(server.url, pause=pauses.append, **given), pauses


def flaky(*statuses: int, **headers: str) -> Play:
    """These statuses one after the other, then an answer."""
    left = list(statuses)

    def play(handler: Fake) -> None:
        if left:
            handler.say(left.pop(0), b"later", **headers)
        else:
            handler.say(200, BOOLEAN)

    return play


def silent(handler: Fake) -> None:
    handler.server.stop.wait()


def trickling(handler: Fake) -> None:
    """A byte now and then: every single one is in time."""
    handler.send_response(200)
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    while not handler.server.stop.wait(0.01):
        handler.wfile.write(b" ")
        handler.wfile.flush()


def endless(handler: Fake) -> None:
    handler.send_response(200)
    handler.send_header("Connection", "close")
    handler.end_headers()
    while not handler.server.stop.is_set():
        handler.wfile.write(b" " * 65_536)


def cut(handler: Fake) -> None:
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"head"')
    handler.wfile.flush()
    handler.connection.shutdown(socket.SHUT_RDWR)


def hang_up(handler: Fake) -> None:
    handler.connection.shutdown(socket.SHUT_RDWR)


BINDING = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"literal","value":%s}}]}}'

PLAYS: list[tuple[str, Play, str]] = [
    # name           what the server does                                        failure
    ("silent", silent, "timeout"),
    ("trickling", trickling, "timeout"),
    ("endless", endless, "too large"),
    ("cut off", cut, "timeout"),
    ("hang up", hang_up, "transport"),
    ("broken JSON", lambda h: h.say(200, b'{"head": {"vars": ["x"'), "timeout"),
    ("a page", lambda h: h.say(200, b"<html>We are moving house</html>"), "transport"),
    ("nothing", lambda h: h.say(200, b""), "timeout"),
    ("packed, cut off", lambda h: h.say(200, gzip.compress(BOOLEAN)[:20], Content_Encoding="gzip"), "timeout"),
    ("not packed", lambda h: h.say(200, BOOLEAN, Content_Encoding="gzip"), "timeout"),
    ("packed far too much", lambda h: h.say(200, gzip.compress(b" " * (2 << 20)), Content_Encoding="gzip"), "too large"),
    ("not found", lambda h: h.say(404, b"nothing here"), "transport"),
    ("malformed", lambda h: h.say(400, b"MalformedQueryException"), "syntax"),
    ("forbidden", lambda h: h.say(403, b"no"), "refused"),
    ("out of time", lambda h: h.say(500, b"Query timed out"), "timeout"),
    ("a part", lambda h: h.say(206, BOOLEAN), "timeout"),
    ("a part with 200", lambda h: h.say(200, BOOLEAN, X_SQL_State="S1TAT"), "timeout"),
    ("moved", lambda h: h.say(301, b"", Location="http://a/"), "transport"),
    ("no results", lambda h: h.say(200, b'{"error": "timeout"}'), "transport"),
    ("a number for a text", lambda h: h.say(200, BINDING % b"5"), "transport"),
    ("nothing for a text", lambda h: h.say(200, BINDING % b"null"), "transport"),
    ("a triple for a text", lambda h: h.say(200, BINDING % b'{"subject": {}}'), "transport"),
    ("nested without end", lambda h: h.say(200, b"[" * 100_000), "transport"),
    ("neither true nor false", lambda h: h.say(200, b'{"head": {}, "boolean": "yes"}'), "transport"),
    ("two columns", lambda h: h.say(200, b'{"head": {"vars": ["x", "y"]}, "results": {"bindings": []}}'), "several variables"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "play", "failure"), PLAYS, ids=[p[0] for p in PLAYS])
def test_misbehaviour_has_a_name(fake: FakeServer, name: str, play: Play, failure: str) -> None:
    fake.plays["Q1 "] = play
    server, _ = endpoint(fake, timeout=0.3, bytes_=1 << 20, workers=1)
    replies = server.run(["ASK { wd:Q1 ?p ?o }", "ASK { wd:Q2 ?p ?o }"])
    server.close()
    assert replies[0].failure == failure
    assert replies[1].boolean is True  # the next query is not harmed


@pytest.mark.parametrize(
    ("statuses", "headers", "pauses"),
    [
        ((503,), {}, [0.5]),
        ((502, 504, 503), {}, [0.5, 1.0, 2.0]),
        ((429,), {"Retry_After": "7"}, [7.0]),
        ((429,), {"Retry_After": "Thu, 01 Jan 1970 00:01:30 GMT"}, [30.0]),
        ((429,), {"Retry_After": "in a while"}, [0.5]),
        ((429,), {"Retry_After": "240"}, [240.0]),
    ],
)
def test_busy_servers_are_asked_again(
    fake: FakeServer, statuses: tuple[int, ...], headers: dict[str, str], pauses: list[float]
) -> None:
    fake.plays["Q1 "] = flaky(*statuses, **headers)
    server, waited = endpoint(fake, workers=1, clock=lambda: 60.0)
    assert server.run(["ASK { wd:Q1 ?p ?o }"])[0].boolean is True
    server.close()
    assert waited == pauses


def test_a_server_that_wants_to_be_left_alone_ends_the_run(fake: FakeServer) -> None:
    fake.plays["Q1 "] = flaky(429, Retry_After="86400")
    server, waited = endpoint(fake, workers=1)
    with pytest.raises(InputError, match="asks to wait 86,400 s"):
        server.run(["ASK { wd:Q1 ?p ?o }"])
    server.close()
    assert waited == []


def test_the_others_wait_too(fake: FakeServer) -> None:
    fake.plays["Q1 "] = flaky(429, Retry_After="30")
    waited: list[float] = []
    asked: list[Any] = []

    def pause(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) == 1:  # while the first query waits, a second one comes
            asked.extend(server.run(["ASK { wd:Q2 ?p ?o }"]))

    server = Endpoint(fake.url, workers=1, pause=pause, clock=lambda: 60.0)
    assert server.run(["ASK { wd:Q1 ?p ?o }", "ASK { wd:Q3 ?p ?o }"])[0].boolean is True
    server.close()
    assert asked[0].boolean is True
    assert waited == [30.0, 30.0]


def test_who_asks_is_told(fake: FakeServer) -> None:
    told: list[str] = []

    def play(handler: Fake) -> None:
        told.extend([handler.headers["User-Agent"], handler.headers["X-BIGDATA-MAX-QUERY-MILLIS"]])
        handler.say(200, BOOLEAN)

    fake.plays["ASK"] = play
    server, _ = endpoint(fake, contact="me@example.org", timeout=2.5)
    server.probe()
    server.close()
    assert told == [f"assay/{assay.__version__} (me@example.org)", "2500"]


def test_wikidata_is_asked_one_query_at_a_time() -> None:
    assert Endpoint("https://query.wikidata.org/sparql").workers == 1
    assert Endpoint("http://localhost:9999/sparql").workers == 4


def test_errors_of_the_query_are_not_asked_again(fake: FakeServer) -> None:
    fake.plays["Q1 "] = lambda h: h.say(400, b"parse error")
    server, waited = endpoint(fake, workers=1)
    server.run(["ASK { wd:Q1 ?p ?o }"])
    server.close()
    assert waited == []
    assert len(fake.seen) == 1


def test_packed_replies_are_unpacked(fake: FakeServer) -> None:
    fake.plays["ASK"] = lambda h: h.say(200, gzip.compress(BOOLEAN), Content_Encoding="gzip")
    server, _ = endpoint(fake, workers=1)
    assert [r.boolean for r in server.run(["ASK {}", "ASK { ?x ?y ?z }"])] == [True, True]
    server.close()


def test_one_connection_is_kept_per_worker(fake: FakeServer) -> None:
    server, _ = endpoint(fake, workers=1)
    server.run([f"ASK {{ wd:Q{i} ?p ?o }}" for i in range(20)])
    server.close()
    assert len(fake.ports) == 1


def test_answers_come_in_the_order_of_the_queries(fake: FakeServer) -> None:
    gate = threading.Event()

    def late(handler: Fake) -> None:
        gate.wait()
        handler.say(200, json.dumps({"head": {}, "boolean": False}).encode())

    def opening(handler: Fake) -> None:
        gate.set()
        handler.say(200, BOOLEAN)

    fake.plays = {"Q100 ": late, "Q101 ": opening}
    server, _ = endpoint(fake, workers=2)
    replies = server.run(["ASK { wd:Q100 ?p ?o }", "ASK { wd:Q101 ?p ?o }"])
    server.close()
    assert [r.boolean for r in replies] == [False, True]


@pytest.mark.parametrize("play", [hang_up, silent, lambda h: h.say(200, b"<html>away</html>")])
def test_an_endpoint_that_dies_ends_the_run(fake: FakeServer, play: Play) -> None:
    server, _ = endpoint(fake, workers=1, timeout=0.2)
    server.probe()
    fake.plays["ASK"] = play
    with pytest.raises(InputError, match="stopped answering"):
        server.run([f"ASK {{ wd:Q{i} ?p ?o }}" for i in range(GIVEN_UP)])
    server.close()


def test_a_server_that_cannot_stand_some_queries_is_not_gone(fake: FakeServer) -> None:
    fake.plays["wd:"] = lambda h: h.say(500, b"internal error: unexpected token")
    server, _ = endpoint(fake, workers=1)
    replies = server.run([f"ASK {{ wd:Q{i} ?p ?o }}" for i in range(3 * GIVEN_UP)])
    server.close()
    assert {reply.failure for reply in replies} == {"transport"}
    assert fake.seen.count("ASK {}") == 3


def test_nobody_there_is_an_error_before_anything_is_scored() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but not listening
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/sparql"
        server = Endpoint(url, pause=lambda seconds: None)
        with pytest.raises(InputError, match="does not answer"):
            server.probe()


def busy(handler: Fake) -> None:
    handler.say(429, b"", Retry_After="300")


@pytest.mark.parametrize("play", [silent, busy])
def test_a_run_that_is_broken_off_does_not_wait(
    fake: FakeServer, monkeypatch: pytest.MonkeyPatch, play: Play
) -> None:
    asked = threading.Event()

    def noted(handler: Fake) -> None:
        asked.set()
        play(handler)

    def interrupted(future: Any) -> Any:
        asked.wait()
        raise KeyboardInterrupt

    fake.plays["wd:"] = noted
    server = Endpoint(fake.url, timeout=60, workers=3)
    monkeypatch.setattr(Future, "result", interrupted)
    started = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        server.run([f"ASK {{ wd:Q{i} ?p ?o }}" for i in range(9)])
    server.close()
    assert time.monotonic() - started < 30
    assert len(fake.seen) <= 3


def test_passwords_do_not_get_into_results() -> None:
    with pytest.raises(UsageError, match="would stand in every result") as error:
        Endpoint("http://me:secret@example.org/sparql")
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("url", ["localhost:9999", "ftp://a/b", "http://", "http://a:b/"])
def test_addresses_that_are_none(url: str) -> None:
    with pytest.raises(UsageError, match="no address"):
        Endpoint(url)


def test_round_numbers_of_rows_are_noted(fake: FakeServer) -> None:
    rows = [{"x": {"type": "uri", "value": f"http://a/{i}"}} for i in range(1000)]
    body = json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": rows}}).encode()
    fake.plays["SELECT"] = lambda h: h.say(200, body)
    server, _ = endpoint(fake, workers=1)
    server.run(["SELECT ?x { ?x ?p ?o }"])
    server.close()
    assert server.warnings()[0].startswith("1 replies have as many rows as servers cut")


def test_rows_that_a_server_says_it_cuts_at_are_noted(fake: FakeServer) -> None:
    rows = [{"x": {"type": "uri", "value": f"http://a/{i}"}} for i in range(7)]
    body = json.dumps({"head": {"vars": ["x"]}, "results": {"bindings": rows}}).encode()
    fake.plays["SELECT"] = lambda h: h.say(200, body, X_SPARQL_MaxRows="7")
    server, _ = endpoint(fake, workers=1)
    server.run(["SELECT ?x { ?x ?p ?o }"])
    server.close()
    assert server.warnings()[0].startswith("1 replies")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<html>welcome</html>", "the reply is not JSON"),
        (b'{"head": {"vars": ["x"]}, "results": {"bindings": []}}', "neither true nor false"),
    ],
)
def test_a_page_is_no_endpoint(fake: FakeServer, body: bytes, said: str) -> None:
    fake.plays["ASK"] = lambda h: h.say(200, body)
    server, _ = endpoint(fake)
    with pytest.raises(InputError, match=said):
        server.probe()


def test_prefixes_are_declared_once() -> None:
    assert with_prefixes("PREFIX wd: <urn:x> ASK { wd:Q1 ?p 'wdt:P1' }").count("PREFIX") == 1


@pytest.fixture(scope="module")
def oxigraph(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The real server on a free port, with two triples."""
    program = shutil.which("oxigraph", path=str(Path(sys.executable).parent))
    assert program is not None, "pip install oxigraph, which is among the tools for development"
    folder = tmp_path_factory.mktemp("oxigraph")
    graph = folder / "graph.ttl"
    graph.write_text(
        "@prefix wd: <http://www.wikidata.org/entity/> .\n"
        "@prefix wdt: <http://www.wikidata.org/prop/direct/> .\n"
        "wd:Q1 wdt:P2 wd:Q3, wd:Q4 .\n"
    )
    store = str(folder / "store")
    subprocess.run(
        [program, "load", "--location", store, "--file", str(graph)],
        check=True,
        capture_output=True,
    )
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    server = subprocess.Popen(
        [program, "serve-read-only", "--location", store, "--bind", address, "--timeout-s", "5"],
        stderr=subprocess.PIPE,
    )
    assert server.stderr is not None
    server.stderr.readline()  # says that it listens
    yield f"http://{address}/query"
    server.terminate()
    server.wait()
    server.stderr.close()


def test_a_real_server(oxigraph: str) -> None:
    runner = Runner(Endpoint(oxigraph), Intake())
    found = runner.run(
        [
            "SELECT ?x WHERE { wd: q1 wdt: p2 ?x . }",
            "ASK { wd:Q1 wdt:P2 wd:Q9 }",
            "SELECT ?x WHERE { wd:Q1",
            "SELECT ?x ?y { ?x ?p ?y }",
            "SELECT ?x { SERVICE <http://127.0.0.1:1/> { ?x ?p ?o } }",
            "DROP ALL",
            "select ?x with { select ?x { wd: q1 wdt: p2 ?x } } as %a where { include %a }",
        ]
    )
    runner.close()
    assert [(sorted(a) if isinstance(a, list) else a, f) for a, f in found] == [
        (["Q3", "Q4"], None),
        (False, None),
        (None, "syntax"),
        (None, "several variables"),
        (None, "refused"),
        (None, "refused"),
        (["Q3", "Q4"], None),
    ]


def test_a_run_on_a_real_server(oxigraph: str) -> None:
    record = {
        "question_type": "Simple Question (Direct)",
        "description": "Simple Question",
        "answer": "",
        "actions": "SELECT ?x WHERE { wd: q1 wdt: p2 ?x . }",
        "results": ["Q3", "Q4"],
        "sparql_delex": None,
        "turnID": "test#1#1#0",
    }
    found = assay.evaluate("sparql", [record], server_link=oxigraph, ci=0)
    assert found.scores["f1"] == 1.0

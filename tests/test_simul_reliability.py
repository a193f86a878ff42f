# SPDX-License-Identifier: Apache-2.0
"""What a server meets in its life: crowds, nonsense, clients that stop half-way, its own death."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import os
import random
import signal
import socket
import string
import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.tasks.simul.live.agents.registry import agent_by_name
from assay.tasks.simul.live.corpus import Corpus, Sentence, load_corpus
from assay.tasks.simul.live.drivers import NativeDriver
from assay.tasks.simul.live.links import HttpLink, LocalLink
from assay.tasks.simul.live.results import scores, tally
from assay.tasks.simul.live.server import evaluation_app
from assay.tasks.simul.live.session import Session
from assay.tasks.simul.live.sessions import Sessions
from assay.web import Access, Address, serving

LIVE = Path(__file__).parents[1] / "examples" / "simul" / "live"
FILES = (str(LIVE / "source.txt"), str(LIVE / "target.txt"))
SMALL = Corpus("text", [Sentence("0", "x y", ("a", "b")), Sentence("1", "z", ("c",))])


def _agent() -> Any:
    return agent_by_name("waitk_text")(
        Namespace(waitk=2, phrase_table=str(LIVE / "phrases.tsv"), max_len=150)
    )


def _in_process(corpus: Corpus) -> dict[str, float | None]:
    session = Session(corpus)
    driver, link = NativeDriver(_agent(), 1_000), LocalLink(session)
    for index in range(len(corpus)):
        driver.translate(index, link)
    return scores(tally(session), "13a")


@contextlib.contextmanager
def _served(corpus: Corpus, output: Path | None = None) -> Iterator[Address]:
    sessions = Sessions(corpus, output)
    with serving(evaluation_app(sessions, access=Access.for_host("127.0.0.1"))) as address:
        yield address
    sessions.close()


def test_two_hundred_clients_at_once_get_their_own_scores() -> None:
    corpus = load_corpus(*FILES)
    short = Corpus("text", corpus.sentences[:2])
    expected = _in_process(short)
    together = threading.Barrier(200)

    def client(number: int, port: int) -> dict[str, Any]:
        link = HttpLink("127.0.0.1", port, session=f"c{number}")
        together.wait()  # all 200 are connected now
        driver = NativeDriver(_agent(), 1_000)
        for index in range(2):
            link.begin(index)
            driver.translate(index, link)
        found = link.result()
        link.close()
        return found

    with _served(short) as address, ThreadPoolExecutor(200) as pool:
        found = list(pool.map(client, range(200), [address.port] * 200))
    assert found == [expected] * 200


# --- death and resurrection ----------------------------------------------------------------------


class _Server:
    """The real command; can be killed and started again on the same port."""

    def __init__(self, output: Path) -> None:
        self.output = output
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    def start(self, *more: str) -> None:
        argv = ["simul", "serve", "--src-file", FILES[0], "--tgt-file", FILES[1], *more]
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "assay",
                *argv,
                "--output",
                str(self.output),
                "--port",
                str(self.port),
            ],
            stderr=subprocess.PIPE,
            text=True,
            env=dict(os.environ),
        )
        assert self.process.stderr is not None
        line = next(line for line in self.process.stderr if "http://" in line)
        self.port = int(line.split("http://127.0.0.1:")[1].split(",")[0])

    def stop(self, how: signal.Signals) -> None:
        assert self.process is not None
        assert self.process.stderr is not None
        self.process.send_signal(how)
        self.process.wait()
        self.process.stderr.close()


class _Killing:
    """A link that kills the server before some steps and starts it again."""

    def __init__(self, link: HttpLink, server: _Server, when: set[int]) -> None:
        self.link, self.server, self.when, self.count = link, server, when, 0
        self.kind, self.rate = link.kind, link.rate

    def _step(self) -> None:
        self.count += 1
        if self.count in self.when:
            self.server.stop(signal.SIGKILL)
            self.server.start("--resume")

    def begin(self, index: int) -> None:
        self.link.begin(index)

    def get(self, index: int, value: Any = None) -> Any:
        self._step()
        return self.link.get(index, value)

    def send(self, index: int, text: str) -> None:
        self._step()
        self.link.send(index, text)

    def speak(self, index: int, content: Any, rate: int) -> None:
        self.link.speak(index, content, rate)

    def close(self) -> None:
        self.link.close()


def test_a_server_that_is_killed_and_started_again_gives_the_same_scores(tmp_path: Path) -> None:
    corpus = load_corpus(*FILES)
    server = _Server(tmp_path)
    server.start()
    try:
        link = _Killing(HttpLink("127.0.0.1", server.port), server, {7, 40})
        driver = NativeDriver(_agent(), 1_000)
        for index in range(len(corpus)):
            link.begin(index)
            driver.translate(index, link)
        found = link.link.result()
        link.close()
    finally:
        server.stop(signal.SIGTERM)
    assert found == _in_process(corpus)


def test_an_answer_that_got_lost_is_given_again_and_not_served_twice() -> None:
    """A proxy swallows every third answer: the request was done, the client cannot know."""
    corpus = load_corpus(*FILES)
    with _served(corpus) as address, _Swallowing(address) as port:
        link = HttpLink("127.0.0.1", port)
        driver = NativeDriver(_agent(), 1_000)
        for index in range(2):
            link.begin(index)
            driver.translate(index, link)
        status = link.status()
        link.close()
        direct = HttpLink("127.0.0.1", address.port)
        found = json.loads(direct._asked("GET", "/result", {"partial": 1}, again=True)[0])
        direct.close()
    assert status is not None
    assert status["finished"] == [0, 1]
    session = Session(corpus)
    for index in range(2):
        NativeDriver(_agent(), 1_000).translate(index, LocalLink(session))
    expected = scores(tally(session, allow_missing=True), "13a")
    assert {name: found[name] for name in expected} == expected


class _Swallowing:
    """A proxy that passes on each request and drops the answer to every third."""

    def __init__(self, address: Address) -> None:
        self.address = address
        self.count = 0

    def __enter__(self) -> int:
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        port: int = self.listener.getsockname()[1]
        return port

    def __exit__(self, *exception: object) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join()

    def _run(self) -> None:
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            with client, socket.create_connection((self.address.host, self.address.port)) as server:
                while request := _whole(client):
                    server.sendall(request)
                    answer = _whole(server)
                    self.count += 1
                    if self.count % 3 == 0:
                        break
                    client.sendall(answer)


def _whole(client: socket.socket) -> bytes:
    """Head and body, which may come in pieces; nothing when the other side has gone."""
    found = client.recv(65536)
    while found:
        head, end, body = found.partition(b"\r\n\r\n")
        lengths = [
            int(line[15:])
            for line in head.lower().split(b"\r\n")
            if line.startswith(b"content-length:")
        ]
        if end and len(body) >= sum(lengths):
            break
        found += client.recv(65536)
    return found


# --- clients that behave badly -------------------------------------------------------------------


def _still_answers(address: Address) -> None:
    connection = http.client.HTTPConnection(address.host, address.port, timeout=20)
    connection.request("GET", "/")
    assert connection.getresponse().status == 200
    connection.close()


def test_a_client_that_never_reads_its_answers_holds_nobody_up() -> None:
    with (
        _served(SMALL) as address,
        socket.create_connection((address.host, address.port)) as client,
    ):
        client.settimeout(0.3)
        many = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" * 1000
        sent = 0
        with contextlib.suppress(TimeoutError):
            while sent < 50_000_000:  # until the server stops taking requests
                sent += client.send(many)
        assert sent < 50_000_000
        _still_answers(address)


def test_a_client_that_goes_away_in_the_middle_of_a_body_has_sent_nothing() -> None:
    with _served(SMALL) as address:
        with socket.create_connection((address.host, address.port)) as client:
            client.sendall(
                b"PUT /hypo?sent_id=0 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 9\r\n\r\nhalf"
            )
        _still_answers(address)
        link = HttpLink(address.host, address.port)
        status = link.status()
        link.close()
    assert status is not None
    assert status["unfinished"] == []


@pytest.mark.parametrize("size", [1_048_577, 10_000_000])
def test_a_body_of_ten_megabytes_is_refused(size: int) -> None:
    with _served(SMALL) as address:
        connection = http.client.HTTPConnection(address.host, address.port, timeout=20)
        connection.request("PUT", "/hypo?sent_id=0", b"x" * size)
        answer = connection.getresponse()
        assert answer.status == 413
        assert "larger than" in json.load(answer)["error"]
        connection.close()
        _still_answers(address)


def test_a_client_that_never_ends_is_stopped() -> None:
    with _served(SMALL) as address:
        connection = http.client.HTTPConnection(address.host, address.port, timeout=20)
        statuses = []
        for _ in range(6):
            connection.request("PUT", "/hypo?sent_id=0", b"w " * 20_000)
            answer = connection.getresponse()
            answer.read()
            statuses.append(answer.status)
        assert statuses == [200] * 5 + [413]
        connection.close()


@pytest.mark.parametrize(
    "data",
    [
        b"\x00" * 100,
        b"GET",
        b"GET / HTTP/9.9\r\n\r\n",
        b"POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ],
)
def test_what_is_not_http(data: bytes) -> None:
    with _served(SMALL) as address:
        with socket.create_connection((address.host, address.port)) as client:
            client.sendall(data)
        _still_answers(address)


# --- nonsense ------------------------------------------------------------------------------------


class _Nonsense:
    """Calls the application without a network in between."""

    def __init__(self) -> None:
        self.app = evaluation_app(Sessions(SMALL), access=Access.for_host("127.0.0.1"))
        self.loop = asyncio.new_event_loop()

    def ask(
        self, method: str, path: str, query: bytes, body: bytes, headers: list[tuple[bytes, bytes]]
    ) -> int:
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "raw_path": path.encode("utf-8", "replace"),
            "query_string": query,
            "root_path": "",
            "scheme": "http",
            "http_version": "1.1",
            "headers": headers,
            "server": ("127.0.0.1", 1),
            "client": ("127.0.0.1", 2),
        }
        status: list[int] = []

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                status.append(message["status"])

        self.loop.run_until_complete(self.app(scope, receive, send))
        return status[0]


@pytest.fixture(scope="module")
def nonsense() -> Iterator[_Nonsense]:
    made = _Nonsense()
    yield made
    made.loop.close()


METHODS = ("GET", "PUT", "POST", "DELETE", "HEAD", "PATCH", "OPTIONS", "get", "")
PATHS = (
    "/",
    "/src",
    "/hypo",
    "/result",
    "/status",
    "/openapi.json",
    "/docs",
    "/audio",
    "/src/",
    "//",
    "/%00",
    "/ä",
)
NAMES = ("sent_id", "instance_id", "segment_size", "step", "session", "partial", "token", "")
VALUES = (
    "0",
    "1",
    "-1",
    "2",
    "",
    " 0 ",
    "1e3",
    "0x1",
    "nan",
    "9" * 30,
    "%00",
    "%ff",
    "+",
    "a" * 70,
    "..",
    "١",
)


def test_no_nonsense_is_our_fault(nonsense: _Nonsense) -> None:
    headers = st.lists(
        st.tuples(
            st.sampled_from([b"host", b"origin", b"content-length", b"cookie", b"content-type"]),
            st.binary(max_size=30),
        ),
        max_size=4,
    )
    query = st.one_of(
        st.binary(max_size=40),
        st.lists(
            st.tuples(
                st.sampled_from(NAMES), st.one_of(st.sampled_from(VALUES), st.text(max_size=6))
            )
        ).map(lambda pairs: "&".join(f"{k}={v}" for k, v in pairs).encode("utf-8", "replace")),
    )

    @settings(max_examples=300, suppress_health_check=list(HealthCheck))
    @given(st.sampled_from(METHODS), st.sampled_from(PATHS), query, st.binary(max_size=60), headers)
    def ask(
        method: str, path: str, query: bytes, body: bytes, headers: list[tuple[bytes, bytes]]
    ) -> None:
        assert nonsense.ask(method, path, query, body, headers) < 500

    ask()


@pytest.mark.slow
def test_a_hundred_thousand_malformed_requests_without_a_fault(nonsense: _Nonsense) -> None:
    rng = random.Random(20)
    letters = string.printable + "äß€\U0001f600\udce4"
    statuses: dict[int, int] = {}
    for _ in range(100_000):
        pairs = []
        for _ in range(rng.randrange(4)):
            value = (
                rng.choice(VALUES)
                if rng.random() < 0.7
                else "".join(rng.choices(letters, k=rng.randrange(8)))
            )
            pairs.append(f"{rng.choice(NAMES)}={value}")
        query = "&".join(pairs).encode("utf-8", "surrogatepass")
        body = rng.randbytes(rng.randrange(30)) if rng.random() < 0.5 else b"w </s>"
        headers = (
            [(rng.choice([b"host", b"origin", b"cookie"]), rng.randbytes(6))]
            if rng.random() < 0.1
            else []
        )
        status = nonsense.ask(rng.choice(METHODS), rng.choice(PATHS), query, body, headers)
        statuses[status] = statuses.get(status, 0) + 1
    assert max(statuses) < 500, statuses
    assert statuses[200] > 1_000
    assert statuses[422] > 1_000


def test_what_the_schema_promises_is_kept() -> None:
    with _served(SMALL) as address:
        schema = schemathesis.openapi.from_url(f"{address.url}/openapi.json")
        operations: list[Any] = [each.ok() for each in schema.get_all_operations()]  # type: ignore[union-attr]  # an error has no ok
        assert len(operations) == 6
        for operation in operations:

            @settings(max_examples=40, suppress_health_check=list(HealthCheck), database=None)
            @given(case=operation.as_strategy())
            def check(case: Any) -> None:
                case.call_and_validate()

            check()

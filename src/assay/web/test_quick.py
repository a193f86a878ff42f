# SPDX-License-Identifier: Apache-2.0
"""Requests that are answered at once are answered as uvicorn would have answered them."""

from __future__ import annotations

import asyncio
import http.client
import socket
from typing import Any

import pytest
import uvicorn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState
from websockets.sync.client import connect

from assay.web import Access, HttpError, application, quick, serving
from assay.web.guard import Guard
from assay.web.plain import Answer, plain_request

PATHS = {b"/src", b"/hypo"}


def _app(access: Access | None = None) -> Guard:
    asked: list[bytes] = []

    def src(query: bytes, body: bytes) -> bytes:
        asked.append(query)
        if query == b"sent_id=refused":
            raise HttpError(404, "there is none", headers={"x-why": "none"}, ids=[1])
        return b'{"query": "%b", "body": %d}' % (query.replace(b'"', b"'"), len(body))

    def hypo(query: bytes, body: bytes) -> bytes:
        return b""

    async def other(request: Request) -> PlainTextResponse:
        return PlainTextResponse(f"{request.method} {len(await request.body())}")

    async def socketed(socket: WebSocket) -> None:
        await socket.accept()
        await socket.send_text(await socket.receive_text())

    paths = ("/", "/src", "/hypo")
    routes = [Route(path, other, methods=["GET", "POST", "PUT"]) for path in paths]
    found = application(
        [*routes, WebSocketRoute("/ws", socketed)],
        access=access,
        body_limit=1_000,
        quick={("GET", "/src"): src, ("PUT", "/hypo"): hypo},
    )
    assert isinstance(found, Guard)
    return found


class _Wire(asyncio.Transport):
    """A connection without a network: keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written = b""
        self.closed = False

    def write(self, data: Any) -> None:
        if not self.closed:
            self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


Answers = list[tuple[bytes, dict[bytes, bytes]]]


async def _exchange(app: Guard, pieces: list[bytes]) -> tuple[Answers, bool]:
    """The answers to these bytes, each with its headers, and whether the connection was closed."""
    config = uvicorn.Config(app, lifespan="off", log_config=None, proxy_headers=False)
    config.load()
    state = ServerState()
    state.default_headers = [(b"date", b"today")]
    protocol = quick.QuickProtocol(config=config, server_state=state, app_state={})
    wire = _Wire()
    protocol.connection_made(wire)
    for piece in pieces:
        if wire.closed:
            break
        protocol.data_received(piece)
        for _ in range(20):  # the application answers without waiting for anything else
            await asyncio.sleep(0)
    found, closed = _parsed(wire.written), wire.closed
    protocol.connection_lost(None)
    await asyncio.gather(*protocol.tasks)
    return found, closed


def _parsed(received: bytes) -> Answers:
    answers = []
    while received:
        head, _, received = received.partition(b"\r\n\r\n")
        status, *lines = head.split(b"\r\n")
        headers = {k.lower(): v for k, _, v in (line.partition(b": ") for line in lines)}
        length = int(headers.get(b"content-length", b"0"))
        body, received = received[:length], received[length:]
        answers.append((status + b"\n" + body, headers))
    return answers


def _both(pieces: list[bytes], access: Access | None = None) -> tuple[Answers, bool]:
    """What is answered, which must be the same where nothing is answered at once."""
    slow = _app(access)
    slow.quick_paths = frozenset()

    async def both() -> tuple[tuple[Answers, bool], tuple[Answers, bool]]:
        return await _exchange(_app(access), pieces), await _exchange(slow, pieces)

    found, usual = asyncio.run(both())
    assert found == usual
    return found


METHODS = (b"GET", b"PUT", b"POST", b"HEAD", b"get", b"G T", b"DELETE")
TARGETS = (
    b"/src?sent_id=1", b"/src", b"/src?sent_id=refused", b"/src?a=%20b", b"/src?a=\xc3\xa4", b"/src?a\tb",
    b'/src?a="b"', b"/src?a=1#f", b"/hypo?sent_id=0", b"/src/", b"/%73rc", b"/", b"http://h/src?x", b"*", b"",
)  # fmt: skip
HEADERS = (
    b"Host: 127.0.0.1", b"host:127.0.0.1", b"Host : x", b"Accept: */*", b"User-Agent: \xff", b"X-Own: 1",
    b"Connection: close", b"Connection: Keep-Alive", b"Connection: upgrade", b"Expect: 100-continue",
    b"Content-Length: 0", b"Content-Length: 3", b"content-length:  3 ", b"Content-Length: 2000",
    b"Content-Length: -1", b"Content-Length: +3", b"Content-Length: 3, 3", b"Transfer-Encoding: chunked",
    b" folded: 1", b"Accept", b": x", b"Origin: http://x", b"Accept: a\rb", b"Accept: a\nb", b"Accept: a\x00b",
)  # fmt: skip


def _written(
    method: bytes, target: bytes, version: bytes, headers: list[bytes], body: bytes
) -> bytes:
    lines = b"".join(header + b"\r\n" for header in headers)
    return b"%b %b %b\r\n%b\r\n%b" % (method, target, version, lines, body)


BODIES = (b"", b"abc", b"ab", b"abcd", b"3\r\nabc\r\n0\r\n\r\n", b"\r\n")
VERSIONS = (b"HTTP/1.1", b"HTTP/1.0", b"HTTP/2.0", b"")
nearly_plain = st.builds(
    _written,
    st.sampled_from(METHODS[:2]),
    st.sampled_from(TARGETS),
    st.just(b"HTTP/1.1"),
    st.lists(st.sampled_from(HEADERS), max_size=2),
    st.sampled_from(BODIES[:3]),
)
anything = st.builds(
    _written,
    st.sampled_from(METHODS),
    st.sampled_from(TARGETS),
    st.sampled_from(VERSIONS),
    st.lists(st.sampled_from(HEADERS), max_size=4),
    st.sampled_from(BODIES),
)
plain = st.builds(
    lambda method, query, headers, body: _written(
        *(method, query, b"HTTP/1.1"), [*headers, b"Content-Length: %d" % len(body)], body
    ),
    st.sampled_from(METHODS[:3]),
    st.sampled_from([t for t in TARGETS if t.startswith((b"/src?", b"/hypo"))]),
    st.lists(st.sampled_from(HEADERS[:5]), max_size=2),
    st.sampled_from(BODIES),
)
requests = st.one_of(plain, plain, nearly_plain, anything)


@pytest.fixture(autouse=True)
def _quietly(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("CRITICAL", "uvicorn.error")  # not a line for each invalid request


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_the_answers_are_those_of_uvicorn(data: Any) -> None:
    each = data.draw(st.lists(requests, min_size=1, max_size=3))
    if data.draw(st.booleans()):  # as clients send them: one after the other, body behind head
        pieces = [piece for one in each for piece in _head_and_body(one)]
    else:
        whole = b"".join(each)
        cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=3)))
        pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    _both([piece for piece in pieces if piece])


def _head_and_body(request: bytes) -> tuple[bytes, bytes]:
    end = request.index(b"\r\n\r\n") + 4
    return request[:end], request[end:]


PLAIN_REQUESTS = [
    b"GET /src?sent_id=1 HTTP/1.1\r\nHost: 127.0.0.1:80\r\nAccept-Encoding: identity\r\n\r\n",
    b"PUT /hypo HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
    b"GET /src HTTP/1.1\r\ncontent-length: 0\r\nConnection: Keep-Alive\r\n\r\n",
]


@pytest.mark.parametrize("data", PLAIN_REQUESTS)
def test_what_old_clients_send_is_plain(data: bytes) -> None:
    found = plain_request(data, PATHS)
    assert not isinstance(found, bool)
    assert found.body in (b"abc", b"")


def test_they_are_answered_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Answer | None] = []
    usual = Guard.at_once

    def noted(self: Guard, request: Any) -> Answer | None:
        seen.append(usual(self, request))
        return seen[-1]

    monkeypatch.setattr(Guard, "at_once", noted)
    with serving(_app()) as address:
        client = http.client.HTTPConnection(address.host, address.port, timeout=20)
        for method, target, body in (("GET", "/src?sent_id=1", None), ("PUT", "/hypo", b"words")):
            client.request(method, target, body)  # head and body go out one after the other
            assert client.getresponse().read() in (b'{"query": "sent_id=1", "body": 0}', b"")
        client.close()
    assert [answer is not None and answer.status for answer in seen] == [200, 200]


NOT_PLAIN = [
    b"GET /src HTTP/1.1\r\n",
    b"GET /src HTTP/1.0\r\n\r\n",
    b"GET /none HTTP/1.1\r\n\r\n",
    b"GET /src HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n",
    b"GET /src HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na",
    b"GET /src HTTP/1.1\r\nContent-Length: 1_0\r\n\r\n" + b"a" * 10,
    b"GET /src HTTP/1.1\r\nContent-Length: \xb2\r\n\r\nab",
    b"GET /src HTTP/1.1\r\n\r\nGET /src HTTP/1.1\r\n\r\n",
    b"GET /src HTTP/1.1\r\nAccept: " + b"a" * 70_000 + b"\r\n\r\n",
    b"GET /src HTTP/1.1\nHost: x\r\n\r\n",
]


@pytest.mark.parametrize("data", NOT_PLAIN)
def test_what_is_not_plain_is_left_alone(data: bytes) -> None:
    assert plain_request(data, PATHS) is False


def test_a_request_may_come_in_pieces() -> None:
    head = b"PUT /hypo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\n"
    (answer,), closed = _both([head, b"a", b"bc"])
    assert answer[0] == b"HTTP/1.1 200 OK\n"
    assert answer[1][b"x-content-type-options"] == b"nosniff"
    assert not closed


SHOWN = [
    (b"GET /src?a=1", b"", b"401"),
    (b"GET /src?a=1", b"Authorization: Bearer secret\r\n", b"200"),
    (b"GET /src?a=1", b"Authorization: Bearer other\r\n", b"401"),
    (b"GET /src?token=secret", b"", b"200"),
]


@pytest.mark.parametrize(("asked", "header", "status"), SHOWN)
def test_access_is_checked_first(asked: bytes, header: bytes, status: bytes) -> None:
    access = Access.for_host("127.0.0.1", "secret")
    data = b"%b HTTP/1.1\r\nHost: 127.0.0.1\r\n%b\r\n" % (asked, header)
    (answer,), _ = _both([data], access)
    assert answer[0].split(b" ")[1] == status
    assert (b"set-cookie" in answer[1]) == (b"token" in asked)


# --- connections that stand still -----------------------------------------------------------------

STUCK = [
    # A request that is not complete goes to uvicorn, and the application stops waiting for it.
    (b"PUT /hypo HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\na", b"HTTP/1.1 408"),
    # Headers that never end, and a client that never says a word, get no answer.
    (b"GET /src HTTP/1.1\r\nHost:", b""),
    (b"", b""),
]


@pytest.mark.parametrize(("data", "answer"), STUCK)
def test_a_client_that_stands_still_is_let_go(
    monkeypatch: pytest.MonkeyPatch, data: bytes, answer: bytes
) -> None:
    monkeypatch.setattr(quick, "TICK_SECONDS", 0.02)
    monkeypatch.setattr(quick, "HEAD_SECONDS", 0.1)
    monkeypatch.setattr(HttpToolsProtocol, "__init__", _impatient)
    app = _app()
    app.body_seconds = 0.05
    with serving(app) as address, socket.create_connection((address.host, address.port)) as client:
        client.settimeout(20)
        client.sendall(data)
        assert client.recv(65536)[:12] == answer


def test_headers_without_an_end_are_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "HEAD_LIMIT", 10_000)
    with (
        serving(_app()) as address,
        socket.create_connection((address.host, address.port)) as client,
    ):
        client.settimeout(20)
        lines = [b"GET /src HTTP/1.1", b"Host: 127.0.0.1", *[b"X-More: " + b"x" * 1_000] * 10]
        client.sendall(b"\r\n".join(lines))
        assert client.recv(65536).startswith(b"HTTP/1.1 431 ")


_patient = HttpToolsProtocol.__init__


def _impatient(self: Any, *args: Any, **options: Any) -> None:
    _patient(self, *args, **options)
    self.timeout_keep_alive = 0.1


def test_a_socket_may_be_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quick, "TICK_SECONDS", 0.01)
    monkeypatch.setattr(HttpToolsProtocol, "__init__", _impatient)
    with serving(_app()) as address, connect(address.url.replace("http", "ws") + "/ws") as client:
        asyncio.run(asyncio.sleep(0.3))  # far longer than an idle connection is kept
        client.send("still here")
        assert client.recv() == "still here"

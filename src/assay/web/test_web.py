# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from assay.core.errors import UsageError
from assay.web import (
    Access,
    Address,
    HttpError,
    application,
    page_policy,
    serve,
    serving,
    url_from_elsewhere,
)


async def _echo(request: Request) -> Response:
    return PlainTextResponse(await request.body())


async def _conflict(request: Request) -> Response:
    raise HttpError(409, "not ready", missing=[3])


async def _page(request: Request) -> Response:
    return Response("<p>x", media_type="text/html", headers=page_policy())


async def _broken(request: Request) -> Response:
    raise ZeroDivisionError


ROUTES = [
    Route("/echo", _echo, methods=["PUT"]),
    Route("/conflict", _conflict),
    Route("/page", _page),
    Route("/broken", _broken),
]


@contextmanager
def _client(**options: Any) -> Iterator[httpx.Client]:
    with (
        serving(application(ROUTES, **options)) as address,
        httpx.Client(base_url=address.url, trust_env=False, timeout=60) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with _client(access=Access.for_host("127.0.0.1")) as client:
        yield client


@pytest.mark.parametrize(
    ("method", "path", "status", "answer"),
    [
        ("GET", "/nothing", 404, {"error": "there is nothing at /nothing"}),
        ("GET", "/echo", 405, {"error": "GET is not possible at /echo"}),
        ("GET", "/echo/", 404, {"error": "there is nothing at /echo/"}),
        ("GET", "/conflict", 409, {"error": "not ready", "missing": [3]}),
        ("GET", "/broken", 500, {"error": "internal error: ZeroDivisionError"}),
    ],
)
def test_every_error_is_json(
    client: httpx.Client, method: str, path: str, status: int, answer: object
) -> None:
    found = client.request(method, path)
    assert (found.status_code, found.json()) == (status, answer)
    assert found.headers["content-type"] == "application/json"


def test_a_fault_of_ours_does_not_cost_the_connection() -> None:
    with serving(application(ROUTES)) as address:
        connection = http.client.HTTPConnection(address.host, address.port)
        connection.connect()
        first = connection.sock
        for _ in range(20):
            for path, status in (("/broken", 500), ("/page", 200)):
                connection.request("GET", path)
                answer = connection.getresponse()
                assert (answer.status, bool(answer.read())) == (status, True)
        assert connection.sock is first
        connection.close()


def test_wrong_method_names_the_right_one(client: httpx.Client) -> None:
    assert client.get("/echo").headers["allow"] == "PUT"


def test_answers_carry_security_headers_and_pages_their_own_policy(client: httpx.Client) -> None:
    error, page = client.get("/nothing"), client.get("/page")
    assert error.headers["x-content-type-options"] == "nosniff"
    assert error.headers["content-security-policy"].startswith("default-src 'none'; frame")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert len(page.headers.get_list("content-security-policy")) == 1


def test_body_limit_holds_with_and_without_a_declared_length() -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(3):
            yield b"12345"

    with _client(body_limit=10) as client:
        assert client.put("/echo", content=b"1234567890").text == "1234567890"
        assert client.put("/echo", content=b"12345678901").status_code == 413
        undeclared = client.put("/echo", content=pieces())
    assert undeclared.status_code == 413
    assert undeclared.json() == {"error": "the body is larger than 10 bytes; send it in parts"}


def test_token_by_query_header_or_cookie() -> None:
    with _client(access=Access.for_host("0.0.0.0", "secret")) as client:
        assert client.get("/page").status_code == 401
        assert client.get("/page?token=wrong").status_code == 401
        assert client.get("/page", headers={"authorization": "Bearer secret"}).status_code == 200
        assert client.get("/page", headers={"x-assay-token": "secret"}).status_code == 200
        first = client.get("/page?token=secret")
        assert "HttpOnly; SameSite=Strict" in first.headers["set-cookie"]
        assert client.get("/page").status_code == 200  # the client kept the cookie
        client.cookies.clear()
        assert client.get("/page", headers={"cookie": "=;;assay_token"}).status_code == 401


def test_several_servers_of_one_host_are_open_in_a_browser_at_once() -> None:
    kept = []
    for token in ("secret", "other"):
        with _client(access=Access.for_host("0.0.0.0", token)) as client:
            kept.append(client.get(f"/page?token={token}").headers["set-cookie"].partition(";")[0])
    jar = f"""_xsrf=2|1:0; user={{"name": "a,b"}}; {kept[0]}; {kept[1]}; x"""
    for token in ("secret", "other", "third"):
        with _client(access=Access.for_host("0.0.0.0", token)) as client:
            status = client.get("/page", headers={"cookie": jar}).status_code
            assert status == (401 if token == "third" else 200)


def test_a_person_gets_a_page_where_a_program_gets_data() -> None:
    person = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    with _client(access=Access.for_host("0.0.0.0", "secret")) as client:
        assert client.get("/page", headers={"accept": "*/*"}).json()["error"].startswith("a token")
        lacking = client.get("/page?token=wrong", headers=person)
        assert lacking.status_code == 401
        assert lacking.headers["content-type"] == "text/html; charset=utf-8"
        assert 'name="token"' in lacking.text
        assert "style-src 'self' 'sha256-" in lacking.headers["content-security-policy"]
        assert "secret" not in lacking.text
        nowhere = client.get("/<b>?token=secret", headers=person)
        assert (nowhere.status_code, "/&lt;b&gt;" in nowhere.text) == (404, True)
        assert client.put("/page?token=secret", headers=person).json()["error"].startswith("PUT is")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "127.0.0.1:8000"}, 200),
        ({"host": "localhost"}, 200),
        ({"host": "[::1]:8000"}, 200),
        ({"host": "evil.example:8000"}, 403),
        ({"host": "localhost.evil.example"}, 403),
    ],
)
def test_a_local_server_answers_to_local_names_only(
    client: httpx.Client, headers: dict[str, str], status: int
) -> None:
    assert client.get("/page", headers=headers).status_code == status


@pytest.mark.parametrize(
    ("origin", "status"),
    [("http://127.0.0.1:1", 200), ("http://evil.example", 403), ("null", 403), ("http://[", 403)],
)
def test_pages_of_other_sites_cannot_change_anything(
    client: httpx.Client, origin: str, status: int
) -> None:
    headers = {"origin": origin, "host": "127.0.0.1:1"}
    assert client.put("/echo", content="x", headers=headers).status_code == status


def test_serving_in_a_thread_gives_the_real_port_and_frees_it_again() -> None:
    with serving(application(ROUTES)) as address:
        connection = http.client.HTTPConnection(address.host, address.port)
        for body in (b"one", b"two"):  # on one connection
            connection.request("PUT", "/echo", body)
            assert connection.getresponse().read() == body
        connection.close()
    with socket.socket() as again:
        assert again.connect_ex((address.host, address.port)) != 0


def test_a_body_that_stops_half_way_is_answered() -> None:
    with (
        serving(application(ROUTES, body_seconds=0.05)) as address,
        socket.create_connection((address.host, address.port)) as client,
    ):
        client.sendall(b"PUT /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n123")
        assert client.recv(4096).startswith(b"HTTP/1.1 408 ")


def test_a_body_that_is_far_too_large_is_answered_on_a_real_connection() -> None:
    with serving(application(ROUTES, body_limit=1000)) as address:
        connection = http.client.HTTPConnection(address.host, address.port)
        connection.request("PUT", "/echo", b"x" * 10_000_000)
        answer = connection.getresponse()
        assert (answer.status, "larger than 1,000" in json.load(answer)["error"]) == (413, True)
        connection.close()


def test_a_taken_port_is_a_usage_error() -> None:
    with serving(application(ROUTES)) as address, pytest.raises(UsageError, match="--port"):
        serve(application(ROUTES), port=address.port)


@pytest.mark.parametrize("bad", [{"port": 70000}, {"host": "no.such.host.invalid"}])
def test_impossible_addresses_are_usage_errors(bad: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        serve(application(ROUTES), **bad)


SCRIPT = """
import sys
from assay.web import application, serve
serve(application([]), ready=lambda address: print(address.port, flush=True))
print("stopped")
"""


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_server_in_good_order(which: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("GET", "/")
        assert connection.getresponse().status == 404
        process.send_signal(which)
        assert process.stdout.read() == "stopped\n"
        connection.close()
    assert process.returncode == 0


def _quick(query: bytes, sent: bytes) -> bytes:
    if sent == b"fault":
        raise ZeroDivisionError
    if sent == b"refused":
        raise HttpError(409, "not now")
    return sent


def test_quick_handlers_have_the_same_manners(caplog: pytest.LogCaptureFixture) -> None:
    with _client(quick={("PUT", "/echo"): _quick}, body_limit=100) as client:
        found = [
            client.put("/echo", content=each) for each in ("1", "", "refused", "fault", "x" * 101)
        ]
        assert client.get("/echo").status_code == 405
    assert [each.status_code for each in found] == [200, 200, 409, 500, 413]
    assert found[0].headers["content-type"] == "application/json"
    assert found[2].json() == {"error": "not now"}
    assert found[3].json() == {"error": "internal error: ZeroDivisionError"}
    assert all(each.headers["x-content-type-options"] == "nosniff" for each in found)
    assert "PUT /echo" in caplog.text


async def _hello(socket: WebSocket) -> None:
    await socket.accept()
    await socket.send_text("hello")
    await socket.close()


def test_websockets_need_the_token_and_the_right_page() -> None:
    access = Access.for_host("127.0.0.1", "secret")
    with serving(application([WebSocketRoute("/ws", _hello)], access=access)) as address:
        url = address.url.replace("http", "ws") + "/ws"
        with connect(f"{url}?token=secret") as socket:
            assert socket.recv() == "hello"
        with pytest.raises(InvalidStatus):
            connect(url)
        with pytest.raises(InvalidStatus):
            connect(f"{url}?token=secret", origin=Origin("http://evil.example"))


def test_address_of_the_new_kind() -> None:
    assert Address("::1", 80).url == "http://[::1]:80"


@pytest.mark.parametrize("token", ["a b", "a&b", "a;b", "ü", "a\nb", "a/b"])
def test_a_token_that_is_no_part_of_an_address_is_a_usage_error(token: str) -> None:
    with pytest.raises(UsageError, match="--token: letters, digits and"):
        Access.for_host("127.0.0.1", token)


def test_where_other_machines_find_a_server() -> None:
    assert url_from_elsewhere(Address("127.0.0.1", 80)) is None
    for everywhere in ("0.0.0.0", "::"):
        found = url_from_elsewhere(Address(everywhere, 81))
        # A machine without a network has no address that others could use.
        assert found is None or (found.endswith(":81") and "127.0.0.1" not in found)

# SPDX-License-Identifier: Apache-2.0
"""What stands before every application: access, bounded bodies, JSON errors, security headers.

Plain ASGI rather than one of starlette's middlewares, because a live run asks for thousands of
small answers per second and each layer costs as much as the answer itself.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from assay.web.errors import PAGE_HEADERS, HttpError, wants_page
from assay.web.headers import SECURITY
from assay.web.plain import Answer, Quick, Request

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from assay.web.access import Access

_SECURITY = [(name.encode(), value.encode()) for name, value in SECURITY.items()]
_JSON = (b"content-type", b"application/json")
_PLAIN = (b"content-type", b"text/plain; charset=utf-8")
_HTML = (b"content-type", b"text/html; charset=utf-8")
_DRAIN = 64 * 1024 * 1024
"""How much of a body that is too large is read and thrown away, so that the client sees why."""


class Guard:
    """Wraps an ASGI application.

    `body_limit` is in bytes; `body_seconds` is how long the next piece of a body may take. `quick`
    are handlers by method and path that are asked before the application, and before there is an
    ASGI message where a request is plain.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        access: Access,
        body_limit: int,
        body_seconds: float,
        quick: Mapping[tuple[str, str], Quick],
    ) -> None:
        self.app = app
        self.quick = quick
        self.quick_paths = frozenset(path.encode() for _, path in quick)
        self.access = access
        self.body_limit = body_limit
        self.body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, or hand it on."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self.app(scope, receive, send)

    def at_once(self, request: Request) -> Answer | None:
        """The answer to a plain request; None where there is more to it than a quick handler."""
        method, path = request.method.decode("latin-1"), request.path.decode("latin-1")
        quick = self.quick.get((method, path))
        if quick is None or len(request.body) > self.body_limit:
            return None
        about = {"type": "http", "method": method}
        scope = {**about, "query_string": request.query, "headers": request.headers}
        try:
            if self.access.check(scope) is not None:
                return None  # a cookie is to be set
        except HttpError as error:
            return _refusal(error)
        return _handled(quick, request.query, request.body, f"{method} {path}")

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = _Body(scope, receive, self.body_limit, self.body_seconds)
        cookie: str | None = None
        started = False

        async def guarded(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _add_headers(message, cookie)
            await send(message)

        try:
            cookie = self.access.check(scope)
            body.check_length()
            quick = self.quick.get((scope["method"], scope["path"]))
            if quick is None:
                await self.app(scope, body.receive, guarded)
            else:
                sent, what = await body.whole(), f"{scope['method']} {scope['path']}"
                await _send(guarded, _handled(quick, scope["query_string"], sent, what))
        except HttpError as error:
            if started:  # the answer is under way: all that is left is to break it off
                raise
            if error.status == 413:
                await body.drain()
            as_page = wants_page(scope["method"], dict(scope["headers"]))
            await _send(guarded, _refusal(error, as_page=as_page))
        except Exception as error:
            if started:
                raise
            await _send(guarded, _fault(error, f"{scope['method']} {scope['path']}"))

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            self.access.check(scope)
        except HttpError as error:
            await receive()
            await send({"type": "websocket.close", "code": 1008, "reason": error.message[:120]})
            return
        await self.app(scope, receive, send)


class _Body:
    """The body of one request as it comes in, counted."""

    def __init__(self, scope: Scope, receive: Receive, limit: int, seconds: float) -> None:
        self._receive = receive
        self._limit = limit
        self._seconds = seconds
        self._seen = 0
        self._more = True
        self._length = next((v for k, v in scope["headers"] if k == b"content-length"), None)

    def check_length(self) -> None:
        """Refuse a body that says itself that it is too large."""
        if self._length is not None and self._length.isdigit() and int(self._length) > self._limit:
            raise self._too_large()

    async def receive(self) -> Message:
        """The next piece."""
        if not self._more:
            return await self._receive()  # waits for the client to go away
        try:
            async with asyncio.timeout(self._seconds):
                message = await self._receive()
        except TimeoutError:
            raise HttpError(408, f"the body did not arrive within {self._seconds:g} s") from None
        if message["type"] == "http.request":
            self._more = message.get("more_body", False)
            self._seen += len(message.get("body", b""))
            if self._seen > self._limit:
                raise self._too_large()
        return message

    async def whole(self) -> bytes:
        """All of it; nothing if the client goes away."""
        parts = []
        while self._more:
            message = await self.receive()
            if message["type"] != "http.request":
                raise HttpError(400, "the client went away before the body was complete")
            parts.append(message.get("body", b""))
        return b"".join(parts)

    async def drain(self) -> None:
        """Read what is still coming, so that the client can finish sending and read the answer."""
        left = _DRAIN
        while self._more and left > 0:
            try:
                message = await asyncio.wait_for(self._receive(), self._seconds)
            except TimeoutError:
                return
            if message["type"] != "http.request":
                return
            self._more = message.get("more_body", False)
            left -= len(message.get("body", b""))

    def _too_large(self) -> HttpError:
        return HttpError(413, f"the body is larger than {self._limit:,} bytes; send it in parts")


def _add_headers(message: MutableMapping[str, Any], cookie: str | None) -> None:
    headers = list(message.get("headers", ()))
    given = {name for name, _ in headers}
    headers += [pair for pair in _SECURITY if pair[0] not in given]
    if cookie is not None:
        headers.append((b"set-cookie", cookie.encode()))
    message["headers"] = headers


def _handled(quick: Quick, query: bytes, body: bytes, what: str) -> Answer:
    """What a quick handler says, whatever happens in it."""
    try:
        found = quick(query, body)
    except HttpError as error:
        return _refusal(error)
    except Exception as error:
        return _fault(error, what)
    return Answer(200, found, [_JSON if found else _PLAIN])


def _refusal(error: HttpError, *, as_page: bool = False) -> Answer:
    given = {**error.headers, **(PAGE_HEADERS if as_page else {})}
    more = [(k.encode(), v.encode()) for k, v in given.items()]
    if as_page:
        return Answer(error.status, error.page(), [_HTML, *more])
    return Answer(error.status, error.body(), [_JSON, *more])


def _fault(error: Exception, what: str) -> Answer:
    logging.getLogger(__name__).error("%s", what, exc_info=error)
    body = HttpError(500, f"internal error: {type(error).__name__}").body()
    return Answer(500, body, [_JSON])


async def _send(send: Send, answer: Answer) -> None:
    headers = [(b"content-length", b"%d" % len(answer.body)), *answer.headers]
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})

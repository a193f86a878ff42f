# SPDX-License-Identifier: Apache-2.0
"""Requests that are answered as they come in: many, small, and whole in one piece or two.

A live run asks for one word at a time, and what a server of any kind does around an answer of forty
bytes costs several times the answer. So a plain request is read and answered here at once; anything
else about it, and uvicorn gets its bytes and does as always.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from assay.web.errors import HttpError
from assay.web.plain import Answer, Request, plain_request

TICK_SECONDS = 5.0
"""How often a connection is looked at: whether it is in use, and whether a request got stuck."""

HEAD_SECONDS = 30.0
"""How long the headers of a request may take to arrive."""

HEAD_LIMIT = 256 * 1024
"""Bytes of headers that are kept while more of them come."""


class QuickProtocol(HttpToolsProtocol):
    """uvicorn's protocol, with an application that may answer plain requests at once.

    The application says so by `at_once(request)`, which gives an answer, or None where it wants
    the request in the usual way, and by `quick_paths`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._paths: Collection[bytes] = getattr(self.app, "quick_paths", ())
        self._held = b""
        self._last = self.loop.time()
        self._begun: float | None = None
        self._is_heading = False
        self._head = 0
        self._timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come; it may not stay for ever without a word."""
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client has gone; what it did not complete never came."""
        self._leave()
        super().connection_lost(exc)

    def handle_websocket_upgrade(self) -> None:
        """The connection is another protocol's from now on."""
        self._leave()
        super().handle_websocket_upgrade()

    def on_message_begin(self) -> None:
        """The parser has the beginning of a request."""
        self._begun, self._is_heading, self._head = self.loop.time(), True, 0
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        """The parser has its headers."""
        self._is_heading = False
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """The parser has all of it."""
        self._begun = None
        super().on_message_complete()

    def data_received(self, data: bytes) -> None:
        """Answer a plain request; hold one that is not complete; leave all else to uvicorn."""
        self._last = self.loop.time()
        if not self._paths or not self._is_idle() or self.flow.write_paused:
            self._usual(data)
            return
        whole = self._held + data if self._held else data
        request = plain_request(whole, self._paths)
        if request is True:
            self._held = whole
            return
        answer = self.app.at_once(request) if isinstance(request, Request) else None
        if answer is None:
            self._usual(data)
            return
        self._held = b""
        self._unset_keepalive_if_required()
        self.transport.write(answer.packet(self.server_state.default_headers))

    def _is_idle(self) -> bool:
        """Whether nothing is under way on this connection that uvicorn knows of."""
        return self._begun is None and (self.cycle is None or self.cycle.response_complete)

    def _usual(self, data: bytes) -> None:
        data, self._held = self._held + data, b""
        super().data_received(data)
        self._head += len(data)
        if self._is_heading and self._head > HEAD_LIMIT and not self.transport.is_closing():
            error = HttpError(431, f"the headers are larger than {HEAD_LIMIT:,} bytes")
            closing = [(b"content-type", b"application/json"), (b"connection", b"close")]
            self.transport.write(Answer(431, error.body(), closing).packet([]))
            self.transport.close()

    def _watch(self) -> None:
        self._timer = self.loop.call_later(TICK_SECONDS, self._tick)

    def _leave(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _tick(self) -> None:
        """A request that got stuck is uvicorn's, which waits for the rest for as long as the
        application says; an idle connection is closed, and one whose headers take too long."""
        if self.transport.is_closing():
            return
        now = self.loop.time()
        if self._held and now - self._last >= TICK_SECONDS:
            self._usual(b"")
        is_slow = self._is_heading and now - (self._begun or now) >= HEAD_SECONDS
        if is_slow or (self._is_idle() and now - self._last >= self.timeout_keep_alive):
            self.transport.close()
        else:
            self._watch()

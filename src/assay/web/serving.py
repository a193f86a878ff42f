# SPDX-License-Identifier: Apache-2.0
"""Running an application: until told to stop, or in a thread while a `with` block lasts.

The socket is bound before anything starts, so a port that is taken is a usage error of one line,
and port 0 is known as the real port by the time `ready` is called.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from assay.core.errors import EngineError, UsageError
from assay.web.access import is_loopback

if TYPE_CHECKING:
    import uvicorn
    from starlette.types import ASGIApp

MESSAGE_LIMIT = 16 * 1024 * 1024
"""Bytes of one WebSocket message."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens.

    >>> Address("::1", 8000).url
    'http://[::1]:8000'
    """

    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as a browser takes it."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}"


def url_from_elsewhere(address: Address) -> str | None:
    """Where other machines find a server that listens on all addresses of this one.

    None for a server that listens on one address only, and where this machine has no other.

    >>> url_from_elsewhere(Address("127.0.0.1", 8000)) is None
    True
    """
    if address.host not in ("0.0.0.0", "::"):
        return None
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Sends nothing: it only asks which of its addresses this machine would use.
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        own = probe.getsockname()[0]
    return None if is_loopback(own) else Address(own, address.port).url


def serve(
    app: ASGIApp,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    ready: Callable[[Address], None] | None = None,
    grace_seconds: int = 5,
) -> None:
    """Answer requests until SIGINT or SIGTERM; requests under way are finished first.

    `ready` is called with the real address once connections are accepted. A second SIGINT stops
    at once.
    """
    listener, address = _bind(host, port)
    with listener:
        _server(app, lambda: ready and ready(address), grace_seconds).run([listener])


@contextmanager
def serving(
    app: ASGIApp, *, host: str = "127.0.0.1", port: int = 0, grace_seconds: int = 2
) -> Iterator[Address]:
    """Answer requests in a thread of this process while the block lasts."""
    listener, address = _bind(host, port)
    started = threading.Event()
    server = _server(app, started.set, grace_seconds)

    def run() -> None:
        try:
            server.run([listener])
        finally:
            started.set()

    thread = threading.Thread(target=run, name=f"assay-web-{address.port}", daemon=True)
    with listener:
        thread.start()
        started.wait()
        if not server.started:
            raise EngineError(f"the server at {address.url} did not start")
        try:
            yield address
        finally:
            server.should_exit = True
            thread.join()


def _bind(host: str, port: int) -> tuple[socket.socket, Address]:
    if not 0 <= port <= 65535:
        raise UsageError(f"{port} is not a port; give one from 1 to 65535, or 0 for any free one")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # A name with both kinds of address gets the old kind: that is where old clients knock.
        family, kind, protocol, _, where = min(found, key=lambda each: each[0] != socket.AF_INET)
        listener = socket.socket(family, kind, protocol)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"{host!r} is not an address of this machine ({error})") from None
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(where)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise UsageError(
            f"cannot listen on {host} port {port} ({error.strerror}); "
            "stop what uses it, or choose another with --port (0: any free one)"
        ) from None
    listener.setblocking(False)
    bound = listener.getsockname()
    return listener, Address(bound[0], bound[1])


def _server(app: ASGIApp, ready: Callable[[], object], grace_seconds: int) -> uvicorn.Server:
    import uvicorn

    from assay.web.quick import QuickProtocol

    class Announcing(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.started:
                ready()

        @contextlib.contextmanager
        def capture_signals(self) -> Generator[None, None, None]:
            """Stopping is how a server ends, so a signal is not passed on after the shutdown."""
            if threading.current_thread() is not threading.main_thread():
                yield
                return
            signals = (signal.SIGINT, signal.SIGTERM)
            before: dict[signal.Signals, Any] = {
                each: signal.signal(each, self.handle_exit) for each in signals
            }
            try:
                yield
            finally:
                for each, handler in before.items():
                    signal.signal(each, handler)

    return Announcing(
        uvicorn.Config(
            app,
            http=QuickProtocol,
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            lifespan="off",
            timeout_keep_alive=75,  # a slow agent thinks between two requests
            timeout_graceful_shutdown=grace_seconds,
            ws_max_size=MESSAGE_LIMIT,
        )
    )

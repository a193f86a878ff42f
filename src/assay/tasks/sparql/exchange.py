# SPDX-License-Identifier: Apache-2.0
"""One query and its reply over HTTP: connections that are kept, with limits on time and bytes."""

from __future__ import annotations

import http.client
import socket
import ssl
import threading
import urllib.parse
import zlib
from contextlib import suppress
from dataclasses import dataclass, field

import assay
from assay.core.errors import UsageError
from assay.tasks.sparql.watch import Watchdog

_READ = 1 << 16


class TooLargeError(Exception):
    """A reply of more bytes than allowed."""


@dataclass(slots=True)
class Answer:
    """What a server sent; `cut` if it announced more than that. Headers that are not there are
    empty."""

    status: int
    body: bytes
    cut: bool = False
    retry_after: str = ""
    location: str = ""
    state: str = ""
    most_rows: str = ""


@dataclass(slots=True)
class Connections:
    """Connections to one server, one for each thread that asks.

    `contact` goes into the User-Agent, which public servers want. Raises TimeoutError,
    TooLargeError, and what `http.client` raises.
    """

    url: str
    timeout: float
    bytes_: int
    contact: str = ""
    _local: threading.local = field(default_factory=threading.local)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _open: list[http.client.HTTPConnection] = field(default_factory=list)
    _hung_up: bool = False
    _watchdog: Watchdog = field(default_factory=Watchdog)
    _parts: urllib.parse.SplitResult = field(init=False)

    def __post_init__(self) -> None:
        try:
            self._parts = urllib.parse.urlsplit(self.url)
            _ = self._parts.port
        except ValueError as error:
            raise UsageError(f"--server_link {self.url} is no address ({error})") from None
        if self._parts.scheme not in ("http", "https") or not self._parts.hostname:
            raise UsageError(
                f"--server_link {self.url} is no address; write http://localhost:9999/sparql"
            )
        if self._parts.username is not None:
            raise UsageError(
                "--server_link has a user or password in it, which would stand in every result; "
                f"leave it out and ask through a proxy that adds it (host {self.host})"
            )

    @property
    def host(self) -> str:
        """The name of the server."""
        return self._parts.hostname or ""

    def post(self, query: str) -> Answer:
        """Send a query and wait for the reply."""
        connection = self._connection()
        fresh = connection.sock is None
        try:
            return self._exchange(connection, query)
        except (http.client.RemoteDisconnected, ConnectionError, BrokenPipeError):
            self._forget(connection)
            if fresh:
                raise
            # The server closed a kept connection between two queries: not a failure.
            return self._exchange(self._connection(), query)

    def _exchange(self, connection: http.client.HTTPConnection, query: str) -> Answer:
        path = urllib.parse.urlunsplit(("", "", self._parts.path or "/", self._parts.query, ""))
        body = urllib.parse.urlencode({"query": query}, errors="surrogatepass")
        about = self.contact or "evaluation of SPARQL queries"
        headers = {
            "Accept": "application/sparql-results+json",
            "Content-Type": "application/x-www-form-urlencoded",
            "User-Agent": f"assay/{assay.__version__} ({about})",
            # Blazegraph then stops working on what nobody waits for any more.
            "X-BIGDATA-MAX-QUERY-MILLIS": str(int(1000 * self.timeout)),
        }
        try:
            if connection.sock is None:
                connection.connect()
            with self._lock:  # either this sees that we have hung up, or hanging up sees the socket
                if self._hung_up:
                    raise ConnectionError("hung up")
            with self._watchdog.watching(connection.sock, self.timeout) as watched:
                try:
                    connection.request("POST", path, body, headers)
                    return self._received(connection.getresponse())
                except (OSError, http.client.HTTPException, ValueError, AttributeError):
                    # A connection that the watchdog closed may fail anywhere in http.client.
                    if watched.expired:
                        raise TimeoutError from None
                    raise
        except BaseException:
            self._forget(connection)
            raise

    def _received(self, response: http.client.HTTPResponse) -> Answer:
        pieces, size = [], 0
        cut = False
        try:
            while piece := response.read1(_READ):
                pieces.append(piece)
                size += len(piece)
                if size > self.bytes_:
                    raise TooLargeError
        except http.client.IncompleteRead:
            cut = True
        if response.length:  # announced, and not sent
            cut = True
        response.close()  # else the connection would not take another query
        if cut or response.will_close:
            self._forget(self._connection())
        body = b"".join(pieces)
        if response.getheader("Content-Encoding", "").lower() in ("gzip", "x-gzip", "deflate"):
            body, broken = self._unpacked(body)
            cut = cut or broken
        names = ("Retry-After", "Location", "X-SQL-State", "X-SPARQL-MaxRows")
        told = [(response.getheader(name) or "").strip() for name in names]
        return Answer(response.status, body, cut, *told)

    def _unpacked(self, body: bytes) -> tuple[bytes, bool]:
        """The bytes that were packed (nobody asked for it), and whether some are missing."""
        unpacker = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)  # gzip or zlib, as it says itself
        try:
            found = unpacker.decompress(body, self.bytes_ + 1)
        except zlib.error:
            return b"", True
        if len(found) > self.bytes_:
            raise TooLargeError
        return found, not unpacker.eof

    def _connection(self) -> http.client.HTTPConnection:
        held: http.client.HTTPConnection | None = getattr(self._local, "connection", None)
        if held is not None:
            return held
        port = self._parts.port
        if self._parts.scheme == "https":
            held = http.client.HTTPSConnection(
                self.host, port, timeout=self.timeout, context=ssl.create_default_context()
            )
        else:
            held = http.client.HTTPConnection(self.host, port, timeout=self.timeout)
        self._local.connection = held
        with self._lock:
            self._open.append(held)
        return held

    def _forget(self, connection: http.client.HTTPConnection) -> None:
        connection.close()
        with self._lock:
            if connection in self._open:
                self._open.remove(connection)
        self._local.connection = None

    def hang_up(self) -> None:
        """End what is under way in other threads, which closing a socket alone would not."""
        with self._lock:
            self._hung_up = True
            for connection in self._open:
                if connection.sock is not None:
                    with suppress(OSError):
                        connection.sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close all connections."""
        with self._lock:
            for connection in self._open:
                connection.close()
            self._open.clear()
        self._watchdog.close()

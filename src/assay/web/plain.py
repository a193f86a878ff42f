# SPDX-License-Identifier: Apache-2.0
"""Requests that are plain in every respect, and their answers, as bytes.

Plain means: a path that is known, headers from a short list, each once, a body of a given length,
and all of it there. Whatever is not is read by a real parser; so nothing has to be right here but
what is very simple.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from http import HTTPStatus
from typing import NamedTuple

from assay.web.headers import SECURITY

Quick = Callable[[bytes, bytes], bytes]
"""A handler that takes query and body and does not wait: gives the JSON of a success, or nothing
for an empty answer, or raises `HttpError`."""

Headers = list[tuple[bytes, bytes]]

PLAIN = frozenset(
    {
        b"accept",
        b"accept-encoding",
        b"accept-language",
        b"authorization",
        b"cache-control",
        b"connection",
        b"content-length",
        b"content-type",
        b"host",
        b"pragma",
        b"user-agent",
        b"x-assay-token",
    }
)
"""Headers of a plain request."""

LONGEST = 1 << 16
"""Bytes of a plain request."""


class Request(NamedTuple):
    """A plain request."""

    method: bytes
    path: bytes
    query: bytes
    headers: Headers
    body: bytes


class Answer(NamedTuple):
    """What is sent back."""

    status: int
    body: bytes
    headers: Headers

    def packet(self, date: Headers) -> bytes:
        """All of it as one piece."""
        lines = [_STATUS[self.status]]
        lines += [b"%b: %b\r\n" % pair for pair in (*date, *self.headers)]
        lines += [_SECURITY, b"content-length: %d\r\n\r\n" % len(self.body), self.body]
        return b"".join(lines)


_STATUS = {s.value: b"HTTP/1.1 %d %b\r\n" % (s.value, s.phrase.encode()) for s in HTTPStatus}
_SECURITY = "".join(f"{name}: {value}\r\n" for name, value in SECURITY.items()).encode()


def plain_request(data: bytes, paths: Collection[bytes]) -> Request | bool:
    """The request that `data` holds, to one of these paths.

    False if there is anything about it that is not plain; True if it may still become one.

    >>> plain_request(b"GET /src?a=1 HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n", {b"/src"})
    Request(method=b'GET', path=b'/src', query=b'a=1', headers=[(b'host', b'x')], body=b'')
    >>> plain_request(b"GET /src HTTP/1.1\\r\\nUpgrade: websocket\\r\\n\\r\\n", {b"/src"})
    False
    >>> plain_request(b"PUT /src HTTP/1.1\\r\\nContent-Length: 2\\r\\n\\r\\na", {b"/src"})
    True
    """
    end = data.find(b"\r\n\r\n")
    first, *lines = data[: max(end, 0)].split(b"\r\n")
    words = first.split(b" ")
    if len(words) != 3 or words[2] != b"HTTP/1.1" or len(data) > LONGEST:
        return False
    path, _, query = words[1].partition(b"?")
    if path not in paths or b"#" in query or not _is_printable(query):
        return False
    headers = _plain_headers(lines)
    if headers is None:
        return False
    given = dict(headers)
    if given.get(b"connection", b"keep-alive").lower() != b"keep-alive":
        return False
    size = given.get(b"content-length", b"0")
    if not size.isdigit() or len(size) > 6:
        return False
    lacking = int(size) - (len(data) - end - 4)
    if lacking:  # fewer than none: another request follows
        return lacking > 0
    return Request(words[0], path, query, headers, data[end + 4 :])


def _plain_headers(lines: list[bytes]) -> Headers | None:
    found: Headers = []
    for line in lines:
        name, colon, value = line.partition(b":")
        name = name.lower()
        if not colon or name not in PLAIN or not _is_printable(value):
            return None
        found.append((name, value.strip(b" \t")))
    return found if len({name for name, _ in found}) == len(found) else None


def _is_printable(value: bytes) -> bool:
    return value.isascii() and value.decode().isprintable()

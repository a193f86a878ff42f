# SPDX-License-Identifier: Apache-2.0
"""Who may talk to a server: anyone on this machine, and whoever has the token from elsewhere."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs, urlsplit

from assay.core.errors import UsageError
from assay.web.errors import HttpError

COOKIE = "assay_token"
_TOKEN = re.compile(r"[A-Za-z0-9._~-]+")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})


@lru_cache(maxsize=256)  # each request names its host, and nearly always the same
def is_loopback(host: str) -> bool:
    """Whether a name or address can only be reached from this machine.

    >>> is_loopback("localhost"), is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("")
    (True, True, True, False)
    """
    name = host.strip("[]").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Access:
    """The rule for one server: `token` is what a client must show, None where none is needed.

    `local` says that the server is bound to a loopback address. It then answers only requests that
    were meant for such an address: a page of some web site whose name has been pointed at this
    machine is turned away.
    """

    token: str | None = None
    local: bool = False

    @classmethod
    def for_host(cls, host: str, token: str | None = None) -> Access:
        """The rule for a server bound to `host`; one that others can reach always has a token.

        >>> Access.for_host("127.0.0.1")
        Access(token=None, local=True)
        >>> len(Access.for_host("0.0.0.0").token or "") > 20
        True
        """
        if token and not _TOKEN.fullmatch(token):
            raise UsageError(
                "--token: letters, digits and . _ ~ - only, because it is part of an address"
            )
        local = is_loopback(host)
        if not local and not token:
            token = secrets.token_urlsafe(24)
        return cls(token or None, local)

    def check(self, scope: Mapping[str, Any]) -> str | None:
        """Raise `HttpError` if the request is not allowed; the cookie to set, if one is wanted."""
        headers: dict[bytes, bytes] = dict(scope["headers"])  # names are in lower case there
        host = headers.get(b"host", b"").decode("latin-1")
        if self.local and self.token is None and host and not is_loopback(_name(host)):
            raise HttpError(403, "this server answers to localhost only; use 127.0.0.1 in the URL")
        origin = headers.get(b"origin")
        if (
            origin is not None
            and (scope["type"] == "websocket" or scope["method"] not in _SAFE)
            and _netloc(origin.decode("latin-1")) != host.lower()
        ):
            raise HttpError(403, "requests from pages of another site are not accepted")
        if self.token is None:
            return None
        return self._check_token(scope, headers)

    def _check_token(self, scope: Mapping[str, Any], headers: Mapping[bytes, bytes]) -> str | None:
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[-1]
        if self._matches(asked):
            return f"{self.cookie}={self.token}; HttpOnly; SameSite=Strict; Path=/"
        bearer = headers.get(b"authorization", b"").decode("latin-1")
        own = headers.get(b"x-assay-token", b"").decode("latin-1")
        if self._matches(bearer.removeprefix("Bearer ").strip()) or self._matches(own):
            return None
        if self._matches(_cookie(headers.get(b"cookie", b"").decode("latin-1"), self.cookie)):
            return None
        raise HttpError(
            401,
            "a token is needed: add ?token=... to the URL or send 'Authorization: Bearer ...'",
            headers={"www-authenticate": "Bearer"},
        )

    @property
    def cookie(self) -> str:
        """The name of the cookie: a browser keeps one for all ports of a host, and several servers
        may be open in it at once."""
        return f"{COOKIE}_{hashlib.sha256((self.token or '').encode()).hexdigest()[:8]}"

    def _matches(self, shown: str) -> bool:
        assert self.token is not None
        return hmac.compare_digest(shown.encode(), self.token.encode())


def _name(host: str) -> str:
    """The host of a Host header, without the port."""
    if host.startswith("["):
        return host.partition("]")[0] + "]"
    return host.partition(":")[0]


def _netloc(origin: str) -> str:
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _cookie(header: str, name: str) -> str:
    """The value of one cookie. Others may be of any form: a browser sends along what other servers
    on this host have set."""
    pairs = (part.strip().partition("=") for part in header.split(";"))
    return next((value for key, _, value in pairs if key == name), "")

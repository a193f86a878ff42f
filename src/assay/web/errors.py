# SPDX-License-Identifier: Apache-2.0
"""Errors as an HTTP client sees them: a status and a JSON object that says what to do.

Who has typed an address into a browser gets the same as a page.
"""

from __future__ import annotations

import hashlib
import json
from base64 import b64encode
from collections.abc import Mapping
from html import escape
from typing import Any

from assay.web.headers import page_policy

_STYLE = (
    "body{font:1.0625rem/1.5 system-ui,sans-serif;max-width:38rem;margin:1.5rem auto;"
    "padding:0 1rem;overflow-wrap:break-word}h1{font-size:1.4rem}"
    "input,button{font:inherit;padding:.4rem .7rem;margin:.2rem .4rem .2rem 0}"
)
_HASH = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
PAGE_HEADERS = page_policy(hashes=[f"sha256-{_HASH}"])
"""Headers of an error that is sent as a page."""
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Not possible</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,">
<style>{style}</style></head>
<body><h1>{title}</h1><p>{message}</p>{more}</body></html>
"""
_TOKEN = """<form><label>Token <input name="token" required autofocus autocomplete="off"></label>
<button>Go on</button></form>"""


class HttpError(Exception):
    """An answer other than success: `raise HttpError(404, "no sentence 7; ids run from 0 to 6")`.

    `details` become further fields of the JSON object beside `error`.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        headers: dict[str, str] | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
        self.details = details

    def body(self) -> bytes:
        """The JSON object of the answer.

        >>> HttpError(409, "not ready", missing=[1, 2]).body()
        b'{"error": "not ready", "missing": [1, 2]}'
        """
        return json.dumps({"error": self.message, **self.details}).encode()

    def page(self) -> bytes:
        """The same for a person; who lacks the token can give it there."""
        if self.status == 401:
            message = "It is part of the address that was printed where the server was started."
            title, more = "This server wants a token", _TOKEN
        else:
            message, title, more = (
                self.message,
                "That is not possible",
                '<p><a href="/">To the start</a>',
            )
        page = _PAGE.format(style=_STYLE, title=title, message=escape(message), more=more)
        return page.encode()


def wants_page(method: str, headers: Mapping[bytes, bytes]) -> bool:
    """Whether a person has asked, through the address line or a link of a browser."""
    return method == "GET" and b"text/html" in headers.get(b"accept", b"")

# SPDX-License-Identifier: Apache-2.0
"""The little HTTP that judging and live runs share.

`application` makes an ASGI application from routes: every error is JSON (or a page, for a browser),
bodies are bounded, access from elsewhere needs a token, every answer carries security headers.
`serve` runs it until it is told to stop; `serving` runs it in a thread while a `with` block lasts.
Starlette and uvicorn are imported when these are called, not before.
"""

from __future__ import annotations

from assay.web.access import Access, is_loopback
from assay.web.application import application
from assay.web.errors import HttpError
from assay.web.headers import page_policy
from assay.web.serving import Address, serve, serving, url_from_elsewhere

__all__ = [
    "Access",
    "Address",
    "HttpError",
    "application",
    "is_loopback",
    "page_policy",
    "serve",
    "serving",
    "url_from_elsewhere",
]

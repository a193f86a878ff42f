# SPDX-License-Identifier: Apache-2.0
"""Headers that tell a browser what an answer may do."""

from __future__ import annotations

from collections.abc import Iterable

SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
"""Sent with every answer, unless the answer sets the header itself."""


def page_policy(*, hashes: Iterable[str] = ()) -> dict[str, str]:
    """The headers of an HTML page that uses our own scripts, styles and pictures and no others.

    `hashes` are those of inline scripts and styles, such as `sha256-...`; nothing else inline runs.

    >>> page_policy()["content-security-policy"].split("; ")[:2]
    ["default-src 'none'", "script-src 'self'"]
    """
    inline = "".join(f" '{value}'" for value in hashes)
    parts = (
        "default-src 'none'",
        f"script-src 'self'{inline}",
        f"style-src 'self'{inline}",
        "img-src 'self' data:",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
    return {"content-security-policy": "; ".join(parts)}

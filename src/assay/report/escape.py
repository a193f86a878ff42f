# SPDX-License-Identifier: Apache-2.0
"""Text as it must be written in HTML and SVG to be read as it is."""

from __future__ import annotations

from html import escape

from assay.report.terminal import spelled


def isolated(text: str) -> str:
    """The text escaped, and kept from reordering its neighbours where it runs right to left.

    Control characters, which HTML does not allow, are spelled out.

    >>> isolated("<b>"), isolated("שלום")
    ('&lt;b&gt;', '<bdi>שלום</bdi>')
    """
    safe = safe_html(text)
    return safe if text.isascii() else f"<bdi>{safe}</bdi>"


def told(text: str) -> str:
    """Words of ours with names in them, escaped: they run left to right whatever the names do.

    >>> told("שלום is better")
    '<bdi dir="ltr">שלום is better</bdi>'
    """
    safe = safe_html(text)
    return safe if text.isascii() else f'<bdi dir="ltr">{safe}</bdi>'


def safe_html(text: str) -> str:
    """The text as it must be written in HTML to be read as it is."""
    return escape(spelled(text, keep_lines=True))

# SPDX-License-Identifier: Apache-2.0
"""Signatures: a line of text from which a number can be computed again."""

from __future__ import annotations

from collections.abc import Mapping


def format_signature(first: str, parts: Mapping[str, object]) -> str:
    """`first|key:value|...` in the order given, leaving out what is None.

    >>> format_signature("bleu(tokenize=13a)", {"n": 2445, "seed": 12345, "cluster": None})
    'bleu(tokenize=13a)|n:2445|seed:12345'
    """
    return "|".join([first, *(f"{k}:{v}" for k, v in parts.items() if v is not None)])


def parse_signature(text: str) -> tuple[str, dict[str, str]]:
    """The first part and the others by key.

    >>> parse_signature("bleu(tokenize=13a)|n:2445|version:0.1.0")
    ('bleu(tokenize=13a)', {'n': '2445', 'version': '0.1.0'})
    """
    first, *rest = text.split("|")
    return first, dict(part.partition(":")[::2] for part in rest)

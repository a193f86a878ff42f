# SPDX-License-Identifier: Apache-2.0
"""SPARQL text as tokens, each with its place, so that a query can be changed without touching
strings, IRIs and comments."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple

TokenKind = Literal[
    "iri", "string", "variable", "blank", "prefixed", "name", "number", "word", "tag", "sign", "odd"
]


class Token(NamedTuple):
    """One token: `text` is `query[start:end]`."""

    kind: TokenKind
    text: str
    start: int
    end: int

    def is_word(self, *words: str) -> bool:
        """Whether this is one of these keywords, in any letter case."""
        return self.kind == "word" and self.text.upper() in words


_LOCAL = r"(?:[\w:%-]|\\[_~.\-!$&'()*+,;=/?#@%]|\.(?=[\w:%-]))*"
_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\#[^\n\r]*)
  | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
  | (?P<string>\"\"\"(?:(?:"|"")?(?:[^"\\]|\\.))*\"\"\"|'''(?:(?:'|'')?(?:[^'\\]|\\.))*'''
      |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
  | (?P<variable>[?$]\w+)
  | (?P<blank>_:\w(?:[\w.-]*[\w-])?)
  | (?P<prefixed>(?:[^\W\d_](?:[\w.-]*[\w-])?)?:"""
    + _LOCAL
    + r""")
  | (?P<name>%\w+)
  | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?)
  | (?P<word>[^\W\d]\w*)
  | (?P<tag>@[A-Za-z]+(?:-[A-Za-z0-9]+)*)
  | (?P<sign>\^\^|&&|\|\||!=|<=|>=|[{}()\[\];,.*/+\-=<>!|^?])
  | (?P<odd>.)
    """,
    re.VERBOSE | re.DOTALL,
)


def tokens(query: str) -> list[Token]:
    """The tokens of a query, without spaces and comments. What belongs nowhere is `odd`.

    >>> [t.text for t in tokens("ASK { <urn:a#b> wdt:P31 '}' } # done")]
    ['ASK', '{', '<urn:a#b>', 'wdt:P31', "'}'", '}']
    """
    found = []
    for match in _TOKEN.finditer(query):
        kind = match.lastgroup
        if kind != "skip":
            found.append(Token(kind, match[0], match.start(), match.end()))  # type: ignore[arg-type]  # the groups are the kinds
    return found


def closing(found: list[Token], start: int) -> int | None:
    """The position of the brace that closes the one at `start`; None if there is none."""
    depth = 0
    for i in range(start, len(found)):
        if found[i].text == "{" and found[i].kind == "sign":
            depth += 1
        elif found[i].text == "}" and found[i].kind == "sign":
            depth -= 1
            if depth == 0:
                return i
    return None

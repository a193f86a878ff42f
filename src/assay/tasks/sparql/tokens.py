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


_ESCAPED = r"\\[_~.\-!$&'()*+,;=/?#@%]"
_LOCAL = rf"(?:(?:[\w:%]|{_ESCAPED})(?:[\w:%-]|{_ESCAPED}|\.(?=[\w:%-]))*)?"
# A prefix has a bound, for without one "a.a.a." would be read to its end from each of its letters.
_TOKEN = re.compile(
    r"""
    (?P<skip>\s+|\#[^\n\r]*)
  | (?P<iri><[^<>"{}|^`\\\x00-\x20]*>)
  | (?P<string>\"\"\"(?:(?:"|"")?(?:[^"\\]|\\.))*\"\"\"|'''(?:(?:'|'')?(?:[^'\\]|\\.))*'''
      |"(?:[^"\\\n\r]|\\.)*"|'(?:[^'\\\n\r]|\\.)*')
  | (?P<variable>[?$]\w+)
  | (?P<blank>_:\w(?:[\w.-]*[\w-])?)
  | (?P<prefixed>(?:[^\W\d_](?:[\w.-]{0,250}[\w-])?)?:"""
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


_ADDRESS = re.compile(r"<[A-Za-z][\w+.-]*://")


def tokens(query: str) -> list[Token]:
    """The tokens of a query, without spaces and comments. What belongs nowhere is `odd`.

    >>> [t.text for t in tokens("ASK { <urn:a#b> wdt:P31 '}' } # done")]
    ['ASK', '{', '<urn:a#b>', 'wdt:P31', "'}'", '}']
    >>> [t.text for t in tokens("FILTER(?a<?b&&?c>?d)")]
    ['FILTER', '(', '?a', '<', '?b', '&&', '?c', '>', '?d', ')']
    """
    found: list[Token] = []
    opened: list[str] = []
    start: int | None = 0
    while start is not None:
        start = _scanned(query, start, found, opened)
    return found


def _scanned(query: str, start: int, found: list[Token], opened: list[str]) -> int | None:
    """Put the tokens from `start` on into `found`; gives back where to go on, None at the end.

    `opened` holds the brackets that are open: between parentheses, `<` behind a value compares.
    """
    for match in _TOKEN.finditer(query, start):
        kind = match.lastgroup
        if kind == "skip":
            continue
        if kind == "sign":
            if match[0] in "([{":
                opened.append(match[0])
            elif match[0] in ")]}" and opened:
                opened.pop()
        elif kind == "iri" and opened and opened[-1] == "(" and _compares(match[0], found):
            end = match.start() + (2 if match[0].startswith("<=") else 1)
            found.append(Token("sign", query[match.start() : end], match.start(), end))
            return end
        found.append(Token(kind, match[0], match.start(), match.end()))  # type: ignore[arg-type]  # the groups are the kinds
    return None


def _compares(text: str, found: list[Token]) -> bool:
    """Whether what looks like an address between parentheses begins with a sign.

    It does behind a value. Two addresses side by side, as in rows of VALUES, are told from that by
    the `//`, which no expression has.
    """
    last = found[-1]
    if last.kind == "sign":
        behind = last.text in ")]}" or (last.text == ">" and found[-2].text == ">")
    else:
        behind = not last.is_word("DISTINCT")
    return behind and _ADDRESS.match(text) is None


def declared(found: list[Token]) -> dict[str, str]:
    """The prefixes that a query declares, and their IRIs.

    >>> declared(tokens("PREFIX a: <urn:a/> ASK { a:b ?x ?y }"))
    {'a': 'urn:a/'}
    """
    return {
        name.text[:-1]: iri.text[1:-1]
        for word, name, iri in zip(found, found[1:], found[2:], strict=False)
        if word.is_word("PREFIX") and name.kind == "prefixed" and iri.kind == "iri"
    }


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

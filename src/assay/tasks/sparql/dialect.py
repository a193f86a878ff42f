# SPDX-License-Identifier: Apache-2.0
"""From a predicted text to a query that may be run: surface form, named subqueries, refusals."""

from __future__ import annotations

import re
from typing import NamedTuple

from assay.tasks.sparql.tokens import Token, closing, tokens

LONGEST = 1 << 20
"""Characters of a query after named subqueries were put in; includes can multiply."""

DEEPEST = 100
"""Named subqueries inside one another; people and systems write two or three."""

_PROLOGUE = r"\s*(?:(?:PREFIX\s+\S*\s*<[^>]*>|BASE\s*<[^>]*>)\s*)*"
_ASK = re.compile(_PROLOGUE + r"ASK\b", re.IGNORECASE)
_COUNT = re.compile(_PROLOGUE + r"SELECT\s*(?:DISTINCT\s*)?\(\s*COUNT\b", re.IGNORECASE)
_ESCAPE = re.compile(r"\\u([0-9A-Fa-f]{4})|\\U([0-9A-Fa-f]{8})")


class RefusalError(Exception):
    """A query that is not run; `failure` is its class."""

    def __init__(self, failure: str, detail: str) -> None:
        super().__init__(detail)
        self.failure = failure


class Definition(NamedTuple):
    """A named subquery: its name and the text between its braces."""

    name: str
    body: str


def is_ask(query: str) -> bool:
    """Whether the answer to a query is yes or no."""
    return _ASK.match(query) is not None


def is_count(query: str) -> bool:
    """Whether the answer to a query is a number of things.

    >>> is_count("PREFIX a: <urn:a> select ( count ( * ) as ?n ) { ?x a:b ?y }"), is_count("ASK {}")
    (True, False)
    """
    return _COUNT.match(query) is not None


def surface_form(text: str, *, declared: bool = False) -> str:
    """The query that a text with blanks between its tokens stands for.

    Split at single spaces; a token after `wd:` or `wdt:` (in any case) is put behind it in upper
    case, unless it is one of the first two. Everything else keeps one space. With `declared` the
    address in `PREFIX wd: <...>` is left alone, which SPICE's script spoils.

    >>> surface_form("select ?x where { wd: q733 wdt: p37 ?x . }")
    'select ?x where { wd:Q733 wdt:P37 ?x . }'
    >>> surface_form("PREFIX wd: <urn:a> ASK { wd: q1 ?x ?y }", declared=True)
    'PREFIX wd: <urn:a> ASK { wd:Q1 ?x ?y }'
    """
    parts = text.split(" ")
    found: list[str] = []
    for i, part in enumerate(parts):
        after = i >= 2 and parts[i - 1].lower() in ("wd:", "wdt:")
        if after and not (declared and part.startswith("<")):
            found.append(part.upper())
        else:
            found.append(f" {part}")
    return "".join(found).strip()


def runnable(text: str, *, compat: bool = False) -> str:
    """The query to run for a predicted text; raises RefusalError for what is not run.

    With `compat` the text is put together exactly as SPICE's script does it.

    >>> runnable("select ?x with { select ?x { ?x wdt: p31 wd: q5 } } as %a where { include %a }")
    'select ?x  where { { select ?x { ?x wdt:P31 wd:Q5 } } }'
    """
    query = inlined(unescaped(surface_form(text, declared=not compat)))
    check(tokens(query))
    return query


def unescaped(query: str) -> str:
    r"""The query without code point escapes, which could hide keywords and quotes.

    >>> unescaped(r"ASK { \u003Curn:a> a ?x }")
    Traceback (most recent call last):
    ...
    assay.tasks.sparql.dialect.RefusalError: an escape stands for a sign of the language
    """
    if "\\" not in query:
        return query

    def letter(match: re.Match[str]) -> str:
        number = int(match[1] or match[2], 16)
        if number > 0x10FFFF or not (char := chr(number)).isalnum():
            raise RefusalError("refused", "an escape stands for a sign of the language")
        return char

    return _ESCAPE.sub(letter, query)


def check(found: list[Token]) -> None:
    """Only SELECT and ASK, and nothing that calls another server."""
    form = next((i for i, t in enumerate(found) if _begins(found, i)), None)
    if form is None:
        raise RefusalError("syntax", "no query form")
    if not found[form].is_word("SELECT", "ASK"):
        word = found[form].text.upper()
        known = word in _OTHER_FORMS
        raise RefusalError("refused" if known else "syntax", f"{word} is not SELECT or ASK")
    for i, token in enumerate(found):
        if _calls(found, i):
            raise RefusalError("refused", "SERVICE calls another server")
        if token.kind == "odd":
            raise RefusalError("syntax", f"{token.text!r} is no part of SPARQL")


_OTHER_FORMS = frozenset(
    (
        "CONSTRUCT",
        "DESCRIBE",
        "INSERT",
        "DELETE",
        "LOAD",
        "CLEAR",
        "DROP",
        "CREATE",
        "COPY",
        "MOVE",
        "ADD",
        "WITH",
    )
)


def _calls(found: list[Token], i: int) -> bool:
    """Whether an engine may read SERVICE at `i`. Some want no space around it, and some end a name
    at its second dot.

    >>> [_calls(tokens(q), 0) for q in ("serviceSilent<urn:a>", "SERVICEwd:Q1 {", "wd:a.b.SERVICE")]
    [True, True, True]
    >>> [_calls(tokens(q), 0) for q in ("service:a ?p", "dbo:service ?x", "?service", "'service'")]
    [False, False, False, False]
    """
    token, text = found[i], found[i].text.upper()
    if "SERVICE" not in text:
        return False
    if token.kind == "prefixed":
        return ".SERVICE" in text or (i + 1 < len(found) and found[i + 1].text == "{")
    return token.kind == "word"


def _begins(found: list[Token], i: int) -> bool:
    """Whether the query form is at `i`: the first word that is not of the prologue."""
    return found[i].kind == "word" and not found[i].is_word("PREFIX", "BASE")


def inlined(query: str) -> str:
    """The query with each `INCLUDE %name` replaced by the named subquery in braces.

    Blazegraph's `WITH { ... } AS %name` stands between the SELECT clause (or ASK) and WHERE. Names
    are case-sensitive, keywords are not. A definition that nothing includes must be in order, too.
    """
    if "%" not in query:
        return query
    found = tokens(query)
    definitions: dict[str, str] = {}
    kept: list[str] = []
    at = i = depth = 0
    has_form = False
    while i < len(found):
        token = found[i]
        opens_group = token.kind == "sign" and token.text == "{"
        if depth == 0 and opens_group:
            break  # the pattern of the query: no definition stands in it or behind it
        if token.kind == "sign" and token.text in "([{":
            depth += 1
        elif token.kind == "sign" and token.text in ")]}":
            depth -= 1
        has_form = has_form or token.is_word("SELECT", "ASK")
        if has_form and depth == 0 and _defines(found, i):
            end, definition = _definition(query, found, i)
            if definition.name in definitions:
                raise RefusalError("syntax", f"{definition.name} is defined twice")
            definitions[definition.name] = definition.body
            kept.append(query[at : token.start])
            at = found[end].end
            i = end + 1
            continue
        i += 1
    kept.append(query[at:])
    put_in = _Includes(definitions)
    for name in definitions:
        put_in.body(name)
    return put_in.into("".join(kept))


def _defines(found: list[Token], i: int) -> bool:
    """Whether a definition begins at `i`."""
    return found[i].is_word("WITH") and i + 1 < len(found) and found[i + 1].text == "{"


def _definition(query: str, found: list[Token], i: int) -> tuple[int, Definition]:
    """The definition whose WITH is at `i`, and the position of its name."""
    end = closing(found, i + 1)
    if end is None or end + 2 >= len(found):
        raise RefusalError("syntax", "WITH { is not closed")
    if not found[end + 1].is_word("AS") or found[end + 2].kind != "name":
        raise RefusalError("syntax", "WITH { ... } is not followed by AS %name")
    body = query[found[i + 1].end : found[end].start]
    return end + 2, Definition(found[end + 2].text, body)


class _Includes:
    """Puts definitions in the place of their names; what each stands for is worked out once."""

    def __init__(self, definitions: dict[str, str]) -> None:
        self._definitions = definitions
        self._bodies: dict[str, str] = {}
        self._inside: list[str] = []

    def body(self, name: str) -> str:
        """What a name stands for, without any name in it."""
        if name in self._bodies:
            return self._bodies[name]
        if name in self._inside:
            raise RefusalError("syntax", f"{name} includes itself")
        if len(self._inside) >= DEEPEST:
            raise RefusalError("too large", "named subqueries include one another too deeply")
        self._inside.append(name)
        self._bodies[name] = self.into(self._definitions[name])
        self._inside.pop()
        return self._bodies[name]

    def into(self, query: str) -> str:
        """The text with a group for every name that it includes."""
        found = tokens(query)
        kept: list[str] = []
        at = 0
        for i, token in enumerate(found):
            if token.kind != "name":
                continue
            if i == 0 or not found[i - 1].is_word("INCLUDE"):
                raise RefusalError("syntax", f"{token.text} without INCLUDE")
            if token.text not in self._definitions:
                raise RefusalError("syntax", f"{token.text} is not defined")
            kept += [query[at : found[i - 1].start], "{", self.body(token.text), "}"]
            at = token.end
            if sum(map(len, kept)) > LONGEST:
                raise RefusalError(
                    "too large", "the query is too long once its includes are put in"
                )
        kept.append(query[at:])
        return "".join(kept)

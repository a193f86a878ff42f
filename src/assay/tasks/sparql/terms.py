# SPDX-License-Identifier: Apache-2.0
"""Terms of queries: variables, IRIs however they are written, and literals."""

from __future__ import annotations

import re
from urllib.parse import urljoin

from assay.tasks.sparql.cursor import Cursor, UnparsableError
from assay.tasks.sparql.replies import PREFIXES
from assay.tasks.sparql.tokens import Token
from assay.tasks.sparql.tree import Term

XSD = "http://www.w3.org/2001/XMLSchema#"

_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_LETTERS = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}


class Terms(Cursor):
    """Reads terms, with the prefixes and the base that the query has declared so far."""

    def __init__(self, found: list[Token]) -> None:
        super().__init__(found)
        self.prefixes = dict(PREFIXES)
        self.base = ""

    def variable(self) -> Term:
        """The next token, which must be a variable."""
        token = self.next()
        return ("var", token.text[1:]) if token.kind == "variable" else self.fail()

    def term(self) -> Term:
        """A variable, an IRI or a literal; a blank node is a variable without a name."""
        token = self.next()
        if token.kind == "variable":
            return ("var", token.text[1:])
        if token.kind == "blank":
            return ("var", token.text)
        if token.kind == "iri":
            return ("iri", self.address(token.text))
        if token.kind == "prefixed":
            return ("iri", self.expanded(token.text))
        if token.kind == "number":
            return _number(token.text)
        if token.kind == "sign" and token.text in "+-" and self.peek().kind == "number":
            return _number(token.text.lstrip("+") + self.next().text)
        if token.is_word("TRUE", "FALSE"):
            return ("literal", token.text.lower(), f"{XSD}boolean")
        if token.kind == "string":
            return self.literal(token)
        self.at -= 1
        self.fail()

    def literal(self, token: Token) -> Term:
        """The literal that begins with this string."""
        width = 3 if token.text[:3] in ('"""', "'''") else 1
        text = _ESCAPED.sub(lambda m: _LETTERS.get(m[1], m[1]), token.text[width:-width])
        if self.at < len(self.tokens) and self.peek().kind == "tag":
            return ("literal", text, self.next().text.lower())
        if self.sees("^^"):
            self.at += 1
            return ("literal", text, self.term()[1])
        return ("literal", text, f"{XSD}string")

    def address(self, text: str) -> str:
        """What stands between `<` and `>`, made absolute."""
        return urljoin(self.base, text[1:-1]) if self.base else text[1:-1]

    def expanded(self, text: str) -> str:
        """The IRI that a prefixed name stands for."""
        prefix, _, local = text.partition(":")
        if prefix not in self.prefixes:
            raise UnparsableError(f"prefix {prefix}: is not declared")
        return self.prefixes[prefix] + local.replace("\\", "")


def _number(text: str) -> Term:
    """A bare number is short for a literal: whole, with a point, or with an exponent."""
    kind = "double" if "e" in text.lower() else "decimal" if "." in text else "integer"
    return ("literal", text, XSD + kind)

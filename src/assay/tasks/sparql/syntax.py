# SPDX-License-Identifier: Apache-2.0
"""SELECT and ASK queries as trees: enough of the grammar to compare and to rewrite queries.

What is not understood raises `UnparsableError`; nothing is guessed.
"""

from __future__ import annotations

from assay.tasks.sparql.cursor import UnparsableError
from assay.tasks.sparql.terms import Terms
from assay.tasks.sparql.tokens import Token, tokens
from assay.tasks.sparql.tree import (
    Bind,
    Element,
    Expression,
    Filter,
    Group,
    Nested,
    Query,
    Term,
    Triple,
    Union,
    Values,
)

RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"


def parse(query: str) -> Query:
    """The tree of a query.

    >>> tree = parse("SELECT ?x { wd:Q1 wdt:P2 ?x ; a ?y }")
    >>> tree.form, len(tree.where.elements)
    ('SELECT', 2)
    """
    parser = _Parser(tokens(query))
    found = parser.query()
    parser.at_end()
    return found


class _Parser(Terms):
    def __init__(self, found: list[Token]) -> None:
        super().__init__(found)
        self.blanks = 0
        self.depth = 0

    # -- queries -----------------------------------------------------------------------------

    def query(self) -> Query:
        while self.sees_word("PREFIX", "BASE"):
            name = self.next() if self.next().is_word("PREFIX") else None
            iri = self.next()
            if iri.kind != "iri":
                self.fail()
            if name is None:
                self.base = self.address(iri.text)
            elif name.kind == "prefixed" and name.text.endswith(":"):
                self.prefixes[name.text[:-1]] = self.address(iri.text)
            else:
                self.fail()
        return self.body()

    def body(self) -> Query:
        if self.take_word("ASK"):
            form, modifier, projection = "ASK", "", []
        elif self.take_word("SELECT"):
            form = "SELECT"
            modifier = self.next().text.upper() if self.sees_word("DISTINCT", "REDUCED") else ""
            projection = self.projection()
        else:
            self.fail()
        self.take_word("WHERE")
        where = self.group()
        rest = self.modifiers()
        values = self.values() if self.take_word("VALUES") else None
        return Query(form, modifier, projection, where, rest, values)

    def projection(self) -> list[Term | tuple[Expression, Term]]:
        if self.sees("*"):
            self.at += 1
            return []
        found: list[Term | tuple[Expression, Term]] = []
        while True:
            if self.peek().kind == "variable":
                found.append(self.variable())
            elif self.sees("("):
                inner = self.bracketed()
                if len(inner) < 3 or inner[-2] != "AS":
                    self.fail()
                name = inner[-1]
                if not isinstance(name, tuple) or name[0] != "var":
                    self.fail()
                found.append((inner[:-2], name))
            else:
                break
        return found or self.fail()

    def modifiers(self) -> list[tuple[str, Expression]]:
        found: list[tuple[str, Expression]] = []
        while self.sees_word("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET"):
            name = self.next().text.upper()
            if name in ("GROUP", "ORDER") and not self.take_word("BY"):
                self.fail()
            parts: list[object] = []
            stops = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET", "VALUES")
            while self.at < len(self.tokens) and not self.sees_word(*stops) and not self.sees("}"):
                parts.append(self.bracketed() if self.sees("(") else self.atom())
            if not parts:
                self.fail()
            found.append((name, tuple(parts)))
        return found

    # -- groups ------------------------------------------------------------------------------

    def group(self) -> Group:
        self.take("{")
        self.depth += 1
        if self.depth > 100:
            raise UnparsableError("groups are nested too deeply")
        found = Group()
        if self.sees_word("SELECT"):
            found.query = self.body()
        while not self.sees("}"):
            self.element(found.elements)
        self.take("}")
        self.depth -= 1
        if found.query is not None and found.elements:
            self.fail()
        return found

    def element(self, into: list[Element]) -> None:
        if self.sees("."):
            self.at += 1
        elif self.sees("{"):
            branches = [self.group()]
            while self.take_word("UNION"):
                branches.append(self.group())
            into.append(Union(branches) if len(branches) > 1 else Nested("GROUP", branches[0]))
        elif self.peek().kind != "word":
            self.triples(into)
        elif self.sees_word("OPTIONAL", "MINUS"):
            into.append(Nested(self.next().text.upper(), self.group()))
        elif self.take_word("GRAPH"):
            term = self.term()
            into.append(Nested("GRAPH", self.group(), term))
        elif self.sees_word("FILTER"):
            into.append(self.filter())
        elif self.take_word("BIND"):
            inner = self.bracketed()
            name = inner[-1] if len(inner) > 2 and inner[-2] == "AS" else None
            if not isinstance(name, tuple) or name[0] != "var":
                self.fail()
            into.append(Bind(inner[:-2], name))
        elif self.take_word("VALUES"):
            into.append(self.values())
        else:
            self.triples(into)

    def filter(self) -> Filter:
        start = self.next().start
        absent, opens = None, start
        if self.sees_word("NOT", "EXISTS"):
            parts: list[object] = []
            if self.take_word("NOT"):
                parts.append("NOT")
            if not self.take_word("EXISTS"):
                self.fail()
            opens = self.peek().start
            group = self.group()
            absent = group if parts else None
            expression: Expression = (*parts, "EXISTS", group)
        elif self.sees("("):
            expression = self.bracketed()
        else:
            expression = (self.atom(), self.bracketed())
        return Filter(expression, absent, start, opens)

    def values(self) -> Values:
        if self.sees("("):
            self.at += 1
            variables = []
            while not self.sees(")"):
                variables.append(self.variable())
            self.at += 1
        else:
            variables = [self.variable()]
            self.take("{")
            rows: list[tuple[Term, ...]] = []
            while not self.sees("}"):
                rows.append((self.value(),))
            self.at += 1
            return Values(variables, rows)
        self.take("{")
        several: list[tuple[Term, ...]] = []
        while not self.sees("}"):
            self.take("(")
            row = []
            while not self.sees(")"):
                row.append(self.value())
            self.at += 1
            several.append(tuple(row))
        self.at += 1
        return Values(variables, several)

    def value(self) -> Term:
        if self.take_word("UNDEF"):
            return ("undef",)
        term = self.term()
        return self.fail() if term[0] == "var" else term

    # -- triples -----------------------------------------------------------------------------

    def triples(self, into: list[Element]) -> None:
        if self.sees("["):
            subject = self.blank_node(into)
            if self.sees(".", "}"):
                return
        else:
            subject = self.term()
        self.properties(subject, into)

    def properties(self, subject: Term, into: list[Element]) -> None:
        while True:
            predicate = self.verb()
            while True:
                target = self.blank_node(into) if self.sees("[") else self.term()
                into.append(_triple(subject, predicate, target))
                if not self.sees(","):
                    break
                self.at += 1
            while self.sees(";"):
                self.at += 1
                if not self.sees(";"):
                    break
            else:
                return
            if self.sees(".", "}", "]"):
                return

    def blank_node(self, into: list[Element]) -> Term:
        self.take("[")
        self.blanks += 1
        node: Term = ("var", f"[{self.blanks}]")
        if not self.sees("]"):
            self.properties(node, into)
        self.take("]")
        return node

    def verb(self) -> Term:
        if self.peek().kind == "variable":
            return self.variable()
        path = self.path()
        if len(path) == 1 and isinstance(path[0], tuple):
            return path[0]
        return ("path", *(f"<{p[1]}>" if isinstance(p, tuple) else p for p in path))

    def path(self) -> list[Term | str]:
        """A property path as a flat list; one step is that step alone."""
        found: list[Term | str] = []
        while True:
            while self.sees("^", "!"):
                found.append(self.next().text)
            if self.sees("("):
                self.at += 1
                inner = self.path()
                found += inner if len(inner) == 1 else ["(", *inner, ")"]
                self.take(")")
            elif self.sees_word("A") and self.peek().text == "a":
                self.at += 1
                found.append(("iri", RDF_TYPE))
            else:
                term = self.term()
                if term[0] != "iri":
                    self.fail()
                found.append(term)
            while self.sees("*", "+", "?"):
                found.append(self.next().text)
            if not self.sees("/", "|"):
                return found
            found.append(self.next().text)

    # -- expressions ---------------------------------------------------------------------------

    def bracketed(self) -> Expression:
        """What stands between parentheses."""
        self.take("(")
        found: list[object] = []
        while not self.sees(")"):
            if self.sees("("):
                found.append(self.bracketed())
            elif self.sees("{"):
                found.append(self.group())
            else:
                found.append(self.atom())
        self.at += 1
        return tuple(found)

    def atom(self) -> object:
        token = self.peek()
        if token.kind == "sign":
            if token.text in "{}[]":
                self.fail()
            return self.next().text
        if token.kind == "word" and not token.is_word("TRUE", "FALSE"):
            return self.next().text.upper()
        return self.term()


def _triple(subject: Term, predicate: Term, target: Term) -> Triple:
    """`a ^p b` is `b p a`."""
    if predicate[:2] == ("path", "^") and len(predicate) == 3:
        return Triple(target, ("iri", predicate[2][1:-1]), subject)
    return Triple(subject, predicate, target)

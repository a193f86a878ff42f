# SPDX-License-Identifier: Apache-2.0
"""Random queries with Blazegraph's named subqueries: put in place, they are the queries that one
would have written without names."""

from __future__ import annotations

import random

import pytest

from assay.tasks.sparql.dialect import RefusalError, inlined
from assay.tasks.sparql.tokens import tokens

Rng = random.Random

DECOYS = (
    '?x rdfs:label "INCLUDE %a } WITH {" .',
    "?x rdfs:label '''a ' INCLUDE %b ''' .",
    "# INCLUDE %a } WITH { ASK {} } AS %a\n",
    "?x ?p <http://a/%a#INCLUDE> .",
    "?include ?with ?as .",
    "?x wdt:P1 wd:a%20b .",
    "FILTER(?x < 5 && ?y > 3) .",
)


def word(rng: Rng, text: str) -> str:
    return rng.choice((text, text.lower(), text.title()))


class Written:
    """A query twice: with names, and with each name replaced by hand."""

    def __init__(self, rng: Rng) -> None:
        self.rng = rng
        self.names = rng.sample(
            ["%a", "%A", "%a1", "%TuplesCounts", "%_x", "%9"], rng.randint(1, 5)
        )
        self.bodies: dict[str, tuple[str, str]] = {}
        for i, name in enumerate(self.names):
            inner, plain = self.group(self.names[:i])
            self.bodies[name] = (f" SELECT ?x WHERE {inner} ", f" SELECT ?x WHERE {plain} ")

    def group(self, known: list[str], depth: int = 0) -> tuple[str, str]:
        """A group that includes some of the names that are known."""
        named = plain = ""
        for _ in range(self.rng.randint(1, 3)):
            kind = self.rng.random()
            if known and kind < 0.5:
                name = self.rng.choice(known)
                named += f" {word(self.rng, 'INCLUDE')}{self.rng.choice((' ', chr(10)))}{name} "
                plain += f" {{{self.bodies[name][1]}}} "
            elif kind < 0.7 and depth < 2:
                a, b = self.group(known, depth + 1)
                opening = self.rng.choice(("", "OPTIONAL ", "{} UNION ", "MINUS "))
                named, plain = f"{named} {opening}{a} ", f"{plain} {opening}{b} "
            else:
                triple = self.rng.choice(("?x wdt:P1 ?y .", *DECOYS))
                named, plain = f"{named} {triple} ", f"{plain} {triple} "
        return f"{{{named}}}", f"{{{plain}}}"

    def texts(self) -> tuple[str, str]:
        head = self.rng.choice(
            ("SELECT ?x", "SELECT (COUNT(*) AS ?n)", "ASK", "PREFIX a: <urn:%a> SELECT *")
        )
        where = self.rng.choice(("WHERE ", "where ", ""))
        named, plain = self.group(self.names)
        definitions = [
            f"{word(self.rng, 'WITH')}{self.rng.choice(('', ' '))}{{{self.bodies[name][0]}}}"
            f" {word(self.rng, 'AS')} {name} "
            for name in self.rng.sample(self.names, len(self.names))
        ]
        end = self.rng.choice(("", " LIMIT 5", " # %a"))
        return f"{head} {''.join(definitions)}{where}{named}{end}", f"{head} {where}{plain}{end}"


@pytest.mark.parametrize("seed", range(300))
def test_names_are_replaced_by_what_they_stand_for(seed: int) -> None:
    named, plain = Written(Rng(f"include {seed}")).texts()
    found = inlined(named)
    assert [t.text for t in tokens(found)] == [t.text for t in tokens(plain)], named


WRONG = [
    # name                     query                                                                 said
    ("unknown",                "SELECT ?x WITH { ASK {} } AS %a { INCLUDE %b }",                     "%b is not defined"),
    ("another case",           "SELECT ?x WITH { ASK {} } AS %a { INCLUDE %A }",                     "%A is not defined"),
    ("no definition",          "SELECT ?x { INCLUDE %a }",                                           "%a is not defined"),
    ("twice",                  "SELECT ?x WITH { ASK {} } AS %a WITH { ASK {} } AS %a { INCLUDE %a }", "%a is defined twice"),
    ("itself",                 "SELECT ?x WITH { SELECT ?x { INCLUDE %a } } AS %a { INCLUDE %a }",   "%a includes itself"),
    ("in a circle",            "SELECT ?x WITH { { INCLUDE %b } } AS %a WITH { { INCLUDE %a } } AS %b { INCLUDE %a }", "includes itself"),
    ("unknown, not used",      "SELECT ?x WITH { { INCLUDE %b } } AS %a { ?x ?y ?z }",               "%b is not defined"),
    ("itself, not used",       "ASK WITH { SELECT ?x { INCLUDE %a } } AS %a { ?x ?y ?z }",           "%a includes itself"),
    ("behind the pattern",     "SELECT ?x { INCLUDE %a } WITH { SELECT ?x { ?x ?y ?z } } AS %a",     "%a is not defined"),
    ("before the form",        "WITH { SELECT ?x { ?x ?y ?z } } AS %a SELECT ?x { INCLUDE %a }",     "%a without INCLUDE"),
    ("in a subquery",          "SELECT ?x { { SELECT ?x WITH { ASK {} } AS %a { INCLUDE %a } } }",   "%a without INCLUDE"),
    ("not closed",             "SELECT ?x WITH { SELECT ?x { ?x ?y %a }",                            "WITH { is not closed"),
    ("no name",                "SELECT ?x WITH { ASK {} } AS a { INCLUDE %a }",                      "not followed by AS %name"),
    ("without INCLUDE",        "SELECT ?x WITH { ASK {} } AS %a { %a }",                             "%a without INCLUDE"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "query", "said"), WRONG, ids=[w[0] for w in WRONG])
def test_names_that_cannot_be_replaced(name: str, query: str, said: str) -> None:
    with pytest.raises(RefusalError) as error:
        inlined(query)
    assert error.value.failure == "syntax"
    assert said in str(error.value)

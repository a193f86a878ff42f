# SPDX-License-Identifier: Apache-2.0
"""Random queries, written in many ways: what is the same is found to be, and what is found to be
the same returns the same on every graph."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pyoxigraph
import pytest

from assay.tasks.sparql.canonical import canonical
from assay.tasks.sparql.minus import with_minus
from assay.tasks.sparql.replies import PREFIXES

Rng = random.Random
Element = tuple[Any, ...]
"""("triple", s, p, o), ("filter", condition...), ("union", group...), ("values", name, terms),
("group", group), ("optional", group), ("minus", group), ("absent", group), ("bind", term, name)."""

NAMES = ("x", "y", "z")
ENTITIES = ("Q1", "Q2", "Q3")
RELATIONS = ("P1", "P2")
JOINED = ("triple", "union", "values", "group")
"""Elements that may change places, as long as nothing else stands between them."""


def triple(rng: Rng) -> Element:
    relation = rng.choice((*RELATIONS, *RELATIONS, "a", "?p"))
    return ("triple", *(rng.choice((*NAMES, *ENTITIES)) for _ in "s"), relation, rng.choice((*NAMES, *ENTITIES)))  # fmt: skip


def group(rng: Rng, depth: int = 0) -> list[Element]:
    found = [triple(rng) for _ in range(rng.randint(1, 3))]
    kinds = ["filter", "values"]
    if depth < 2:
        kinds += ["union", "group", "optional", "minus", "absent"]
    for _ in range(rng.choice((0, 0, 1, 2))):
        kind = rng.choice(kinds)
        if kind == "filter":
            conditions = (f"?{rng.choice(NAMES)} {rng.choice(('=', '!='))} wd:{rng.choice(ENTITIES)}" for _ in range(rng.randint(1, 2)))  # fmt: skip
            found.append(("filter", *conditions))
        elif kind == "values":
            found.append(("values", rng.choice(NAMES), rng.sample(ENTITIES, rng.randint(1, 3))))
        elif kind == "union":
            found.append(("union", *(group(rng, depth + 1) for _ in range(rng.randint(2, 3)))))
        else:
            found.append((kind, group(rng, depth + 1)))
    return found


class Query:
    """SELECT or ASK over a group."""

    def __init__(self, rng: Rng) -> None:
        self.head = rng.choice(
            ("SELECT ?x", "SELECT DISTINCT ?x", "SELECT (COUNT(*) AS ?n)", "ASK")
        )
        self.where = group(rng)


class Writer:
    """One way to write queries: names, order, abbreviations, case and spaces are up to chance.

    With `plain` nothing is changed, not even names.
    """

    def __init__(self, rng: Rng, *, plain: bool = False) -> None:
        self.rng = rng
        self.plain = plain
        names = rng.sample(("a", "b", "x", "y", "Z"), 5)
        self.names = dict(
            zip((*NAMES, "p", "n"), (*NAMES, "p", "n") if plain else names, strict=True)
        )

    def chance(self, share: float = 0.5) -> bool:
        return not self.plain and self.rng.random() < share

    def query(self, query: Query) -> str:
        head = query.head
        for name in ("x", "n"):
            head = head.replace(f"?{name}", self.variable(name))
        text = f"{head} {'' if self.chance() else 'WHERE '}{self.group(query.where)}"
        if self.chance():
            words = ("SELECT", "DISTINCT", "COUNT", " AS ", "WHERE", "ASK", "UNION", "OPTIONAL", "MINUS", "FILTER", "NOT EXISTS", "VALUES")  # fmt: skip
            for word in words:
                text = text.replace(word, word.lower())
        if self.chance(0.3):
            text = f"PREFIX e: <{PREFIXES['wd']}>\n" + text.replace("wd:", "e:")
        if self.chance(0.3):
            text = text.replace(" . ", " .# so\n\t")
        if self.chance(0.2):
            text = text.replace(" wd:", " wd: ").replace(" wdt:", " wdt: ")
        return text

    def variable(self, name: str) -> str:
        return ("$" if self.chance(0.1) else "?") + self.names[name]

    def term(self, name: str) -> str:
        if name in self.names or name.startswith("?"):
            return self.variable(name.removeprefix("?"))
        if name == "a":
            return "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>" if self.chance() else "a"
        prefix = "wd" if name[0] == "Q" else "wdt"
        return f"<{PREFIXES[prefix]}{name}>" if self.chance(0.3) else f"{prefix}:{name}"

    def group(self, elements: Sequence[Element]) -> str:
        ordered = elements if self.plain else self.shuffled(elements)
        parts: list[str] = []
        before: Element | None = None
        for element in ordered:
            if element[0] == "triple":
                same = before is not None and before[0] == "triple" and before[1] == element[1]
                s, p, o = (self.term(name) for name in element[1:])
                if before is not None and same and before[2] == element[2] and self.chance(0.7):
                    parts.append(f", {o}")
                elif same and self.chance(0.7):
                    parts.append(f"; {p} {o}")
                elif self.chance(0.15):
                    parts.append(
                        f"{'. ' if before and before[0] == 'triple' else ''}{{ {s} {p} {o} }}"
                    )
                    before = None
                    continue
                else:
                    parts.append(f"{'. ' if before and before[0] == 'triple' else ''}{s} {p} {o}")
            else:
                stop = " . " if before and before[0] == "triple" and self.chance() else " "
                parts.append(stop + self.element(element))
            before = element
        text = " ".join(parts)
        return f"{{ {{ {text} }} }}" if self.chance(0.15) else f"{{ {text} }}"

    def shuffled(self, elements: Sequence[Element]) -> list[Element]:
        """The joined elements of each run in any order, filters anywhere."""
        filters = [e for e in elements if e[0] in ("filter", "absent")]
        found: list[Element] = []
        run: list[Element] = []
        for element in [e for e in elements if e not in filters]:
            if element[0] in JOINED:
                run.append(element)
            else:
                found += [*self.rng.sample(run, len(run)), element]
                run = []
        found += self.rng.sample(run, len(run))
        for one in filters:
            found.insert(self.rng.randint(0, len(found)), one)
        return found

    def element(self, element: Element) -> str:
        kind = element[0]
        if kind == "filter":
            conditions = list(element[1:])
            if not self.plain:
                self.rng.shuffle(conditions)
            texts = []
            for condition in conditions:
                name, sign, entity = condition.split()
                texts.append(f"{self.term(name)} {sign} {self.term(entity.removeprefix('wd:'))}")
            if self.chance():
                return " ".join(f"FILTER({text})" for text in texts)
            return f"FILTER({' && '.join(f'({t})' if self.chance() else t for t in texts)})"
        if kind == "values":
            terms = list(element[2]) if self.plain else self.rng.sample(element[2], len(element[2]))
            if self.chance():
                rows = " ".join(f"({self.term(t)})" for t in terms)
                return f"VALUES ({self.variable(element[1])}) {{ {rows} }}"
            return f"VALUES {self.variable(element[1])} {{ {' '.join(map(self.term, terms))} }}"
        if kind == "union":
            branches = [self.group(b) for b in element[1:]]
            if not self.plain:
                self.rng.shuffle(branches)
            if len(branches) > 2 and self.chance():
                branches = [f"{{ {' UNION '.join(branches[:2])} }}", branches[2]]
            return " UNION ".join(branches)
        words = {
            "group": "",
            "optional": "OPTIONAL ",
            "minus": "MINUS ",
            "absent": "FILTER NOT EXISTS ",
        }
        return words[kind] + self.group(element[1])


@pytest.mark.parametrize("seed", range(300))
def test_however_a_query_is_written_it_is_the_same(seed: int) -> None:
    rng = Rng(f"same {seed}")
    query = Query(rng)
    plain = Writer(rng, plain=True).query(query)
    for _ in range(3):
        other = Writer(rng).query(query)
        assert canonical(plain) == canonical(other), f"{plain}\n{other}"


def store(rng: Rng) -> pyoxigraph.Store:
    found = pyoxigraph.Store()
    iris = {name: pyoxigraph.NamedNode(PREFIXES["wd"] + name) for name in ENTITIES}
    relations = [pyoxigraph.NamedNode(PREFIXES["wdt"] + name) for name in RELATIONS]
    relations.append(pyoxigraph.NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type"))
    for _ in range(8):
        s, o = (iris[rng.choice(ENTITIES)] for _ in "so")
        found.add(pyoxigraph.Quad(s, rng.choice(relations), o))
    return found


def answers(query: str, graph: pyoxigraph.Store) -> Any:
    found = graph.query(query, prefixes=PREFIXES)
    if isinstance(found, pyoxigraph.QueryBoolean):
        return bool(found)
    assert isinstance(found, pyoxigraph.QuerySolutions)
    return Counter(str(row[0]) for row in found)


def changed(rng: Rng, query: Query) -> Query:
    """The query with one thing about it another."""
    other = Query(Rng(0))
    other.head, other.where = query.head, list(query.where)
    i = rng.randrange(len(other.where))
    element = other.where[i]
    if rng.random() < 0.2:
        other.head = rng.choice(("SELECT ?x", "SELECT ?y", "SELECT DISTINCT ?x", "ASK"))
    elif element[0] == "triple":
        other.where[i] = rng.choice((triple(rng), ("triple", element[3], element[2], element[1])))
    elif element[0] in ("group", "optional", "minus", "absent"):
        kinds = ("group", "optional", "minus", "absent")
        other.where[i] = (rng.choice(kinds), element[1])
    elif element[0] == "union":
        other.where[i] = (
            (*element[:2], *group(rng, 2)) if rng.random() < 0.01 else ("group", element[1])
        )
    else:
        del other.where[i]
    return other


@pytest.mark.parametrize("seed", range(150))
def test_what_is_held_the_same_returns_the_same(seed: int) -> None:
    rng = Rng(f"other {seed}")
    query = Query(rng)
    graphs = [store(rng) for _ in range(6)]
    plain = Writer(rng, plain=True).query(query)
    wanted = [answers(plain, graph) for graph in graphs]
    form = canonical(plain)
    assert form.startswith("(")  # it was understood
    for _ in range(8):
        other = Writer(rng, plain=True).query(changed(rng, query))
        if canonical(other) == form:
            assert [answers(other, graph) for graph in graphs] == wanted, f"{plain}\n{other}"
    assert [answers(with_minus(plain), graph) for graph in graphs] == wanted, plain

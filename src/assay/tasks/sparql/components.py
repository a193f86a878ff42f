# SPDX-License-Identifier: Apache-2.0
"""Parts of queries: how many of the right entities, relations and triples a prediction names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.tasks.sparql.cursor import UnparsableError
from assay.tasks.sparql.dialect import surface_form
from assay.tasks.sparql.replies import PREFIXES
from assay.tasks.sparql.tokens import declared, tokens
from assay.tasks.sparql.tree import Filter, Group, Nested, Query, Term, Triple, Union

PARTS = ("entity", "relation", "triple")

_ID = re.compile(r".*/([QP]\d+)", re.IGNORECASE)


class Parts(NamedTuple):
    """What a query is made of; variables in triples are all alike."""

    entities: frozenset[str]
    relations: frozenset[str]
    triples: frozenset[tuple[Term, ...]]


@lru_cache(maxsize=4_096)
def parts_of(text: str) -> Parts:
    """Ids and triples of a query. A text that cannot be parsed has ids, but no triples.

    >>> parts = parts_of("SELECT ?x { wd:Q1 wdt:P2 ?x }")
    >>> sorted(parts.entities), sorted(parts.relations), len(parts.triples)
    (['Q1'], ['P2'], 1)
    """
    from assay.tasks.sparql.canonical import parsed

    ids = frozenset(_ids(text))
    triples: frozenset[tuple[Term, ...]] = frozenset()
    with suppress(UnparsableError, RecursionError):
        triples = frozenset(
            tuple(("var",) if t[0] == "var" else t for t in (t.subject, t.predicate, t.object))
            for t in _triples(parsed(text))
        )
    return Parts(
        frozenset(i for i in ids if i[0] == "Q"), frozenset(i for i in ids if i[0] == "P"), triples
    )


def _ids(text: str) -> Iterator[str]:
    """Wikidata's ids in a query, whatever prefixes it has declared; not those in its strings."""
    found = tokens(surface_form(text, declared=True))
    prefixes = {**PREFIXES, **declared(found)}
    for token in found:
        iri = token.text[1:-1] if token.kind == "iri" else ""
        if token.kind == "prefixed":
            prefix, _, local = token.text.partition(":")
            iri = prefixes.get(prefix, prefixes.get(prefix.lower(), "")) + local
        known = _ID.fullmatch(iri)
        if known is not None:
            yield known[1].upper()


def _triples(query: Query) -> Iterator[Triple]:
    yield from _in_group(query.where)


def _in_group(group: Group) -> Iterator[Triple]:
    if group.query is not None:
        yield from _triples(group.query)
    for element in group.elements:
        if isinstance(element, Triple):
            yield element
        elif isinstance(element, Nested):
            yield from _in_group(element.group)
        elif isinstance(element, Union):
            for branch in element.branches:
                yield from _in_group(branch)
        elif isinstance(element, Filter):
            for part in element.expression:
                if isinstance(part, Group):
                    yield from _in_group(part)


@dataclass(frozen=True)
class Components(Metric):
    """Precision and recall of the entities, relations and triples that predicted queries name.

    For diagnosis: which part of a wrong query is wrong. Counts are pooled over questions whose
    gold has a query; in triples all variables are alike. From 0 to 1, higher is better,
    undefined where nothing was predicted (precision) or wanted (recall).

    >>> from assay.tasks.sparql.pairs import Gold, Prediction
    >>> gold = Gold("set", "SELECT ?x { wd:Q1 wdt:P2 ?x }", [])
    >>> found = Components().score([(Prediction("SELECT ?y { wd:Q9 wdt:P2 ?y }"), gold)])
    >>> found["entity_recall"], found["relation_recall"], found["triple_recall"]
    (0.0, 1.0, 0.0)
    """

    name: ClassVar[str] = "components"
    columns: ClassVar[tuple[str, ...]] = tuple(
        f"{part}_{what}" for part in PARTS for what in ("hits", "predicted", "gold")
    )
    scores: ClassVar[tuple[Score, ...]] = tuple(
        Score(f"{part}_{what}") for part in PARTS for what in ("precision", "recall")
    )

    def measure(self, batch: Batch) -> Rows:
        """Hits, predicted and gold of each kind of part, per example."""
        rows = np.zeros((len(batch), len(self.columns)))
        for i, (p, g) in enumerate(zip(batch.predictions, batch.gold, strict=True)):
            if g.query is None:
                continue
            right = parts_of(g.query)
            found = parts_of(p.query or "")
            rows[i] = [
                n for a, b in zip(found, right, strict=True) for n in (len(a & b), len(a), len(b))
            ]
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Pooled precision and recall of each kind of part."""
        found: dict[str, Value] = {}
        for part in PARTS:
            hits = totals[f"{part}_hits"]
            found[f"{part}_precision"] = ratio(hits, totals[f"{part}_predicted"])
            found[f"{part}_recall"] = ratio(hits, totals[f"{part}_gold"])
        return found

# SPDX-License-Identifier: Apache-2.0
"""Which variables the solutions of a group bind: always, or possibly."""

from __future__ import annotations

from collections.abc import Sequence

from assay.tasks.sparql.tree import (
    Bind,
    Element,
    Group,
    Nested,
    Query,
    Term,
    Triple,
    Union,
    Values,
)


def of_triple(triple: Triple) -> set[str]:
    """The variables of a triple pattern."""
    terms: tuple[Term, ...] = (triple.subject, triple.predicate, triple.object)
    return {term[1] for term in terms if term[0] == "var"}


def visible(group: Group) -> set[str]:
    """The variables that `SELECT *` gives: all that may be bound and have a name."""
    return {name for name in _possible_in(group) if name[0] not in "[_"}


def certain(elements: Sequence[Element]) -> set[str]:
    """Variables that every solution binds."""
    names: set[str] = set()
    for element in elements:
        if isinstance(element, Triple):
            names |= of_triple(element)
        elif isinstance(element, Values):
            names |= {
                variable[1]
                for i, variable in enumerate(element.variables)
                if all(row[i] != ("undef",) for row in element.rows)
            }
        elif isinstance(element, Nested) and element.kind in ("GROUP", "GRAPH"):
            names |= _certain_in(element.group)
        elif isinstance(element, Union):
            names |= set.intersection(*(_certain_in(b) for b in element.branches))
    return names


def _certain_in(group: Group) -> set[str]:
    if group.query is None:
        return certain(group.elements)
    inside = _certain_in(group.query.where)
    return inside & _given(group.query) if group.query.projection else inside


def possible(elements: Sequence[Element]) -> set[str]:
    """Variables that a solution may bind."""
    names: set[str] = set()
    for element in elements:
        if isinstance(element, Triple):
            names |= of_triple(element)
        elif isinstance(element, Values):
            names |= {variable[1] for variable in element.variables}
        elif isinstance(element, Bind):
            names.add(element.variable[1])
        elif isinstance(element, Union):
            names |= set().union(*(_possible_in(b) for b in element.branches))
        elif isinstance(element, Nested) and element.kind != "MINUS":
            names |= _possible_in(element.group)
            if element.graph is not None and element.graph[0] == "var":
                names.add(element.graph[1])
    return names


def _possible_in(group: Group) -> set[str]:
    if group.query is None:
        return possible(group.elements)
    inside = _possible_in(group.query.where)
    if group.query.values is not None:
        inside |= possible([group.query.values])
    return _given(group.query, computed=True) if group.query.projection else inside


def _given(query: Query, *, computed: bool = False) -> set[str]:
    """The variables that a subquery gives to the outside."""
    names = {str(p[1]) for p in query.projection if isinstance(p[0], str)}
    if computed:
        names |= {p[1][1] for p in query.projection if not isinstance(p[0], str)}
    return names

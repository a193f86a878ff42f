# SPDX-License-Identifier: Apache-2.0
"""Trees of queries as shapes: nested tuples in which what has no meaning is no longer there.

What is left follows the algebra of SPARQL. Filters of a group belong to the whole of it; what is
joined is one bag, whatever braces stood around its parts; a UNION of UNIONs is one UNION.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from assay.tasks.sparql.scope import visible
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

Shape = tuple[object, ...]

MODIFIERS = ("GROUP", "HAVING", "ORDER", "LIMIT", "OFFSET")
"""In the order in which they take effect; a query may have the last two the other way round."""

_TERMS = ("var", "iri", "literal", "undef")


@dataclass(frozen=True, slots=True)
class Bag:
    """Members whose order has no meaning."""

    members: tuple[object, ...]


def shaped(query: Query, scope: str = "") -> Shape:
    """The shape of a query. `scope` is put behind the names that a subquery keeps to itself."""
    where, values = query.where, query.values
    names = {name for name, _ in query.rest}
    plain = all(isinstance(part[0], str) for part in query.projection)
    if values is not None and plain and not names & {"GROUP", "HAVING"}:
        # Behind a query that computes nothing it is joined like any other.
        where, values = Group([Nested("GROUP", where), values]), None
    projection = query.projection
    if query.form == "SELECT" and not projection and len(seen := visible(where)) == 1:
        projection = [("var", *seen)]
    rest = sorted(query.rest, key=lambda modifier: MODIFIERS.index(modifier[0]))
    return (
        query.form,
        query.modifier,
        tuple(_projected(part) for part in projection) or "*",
        _group(where, scope),
        tuple((name, _modifier(parts, scope)) for name, parts in rest),
        _values(values) if values is not None else (),
    )


def _projected(part: Term | tuple[Expression, Term]) -> Shape:
    if isinstance(part[0], str):
        return part
    return (_expression(part[0], ""), part[1])


def _modifier(parts: Expression, scope: str) -> Shape:
    """What stands behind ORDER BY and the like; ascending is what an order is anyway."""
    return _unbracketed(tuple(part for part in _expression(parts, scope) if part != "ASC"))


# -- groups --------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Parts:
    """A group in the making: what is joined so far, and filters."""

    joined: list[object] = field(default_factory=list)
    filters: list[object] = field(default_factory=list)

    def shape(self) -> Shape:
        return ("group", Bag(tuple(self.joined)), Bag(tuple(self.filters)))

    def wrap(self, kind: str, *what: object) -> None:
        """Make one of all that is joined so far, since `kind` depends on what stands before it."""
        self.joined = [(kind, Bag(tuple(self.joined)), *what)]


def _group(group: Group, scope: str) -> Shape:
    return _parts(group, scope).shape()


def _parts(group: Group, scope: str) -> _Parts:
    found = _Parts()
    if group.query is not None:
        found.joined.append(("subquery", _renamed(group.query, scope)))
    alone = sum(not isinstance(element, Filter) for element in group.elements) == 1
    for i, element in enumerate(group.elements):
        _add(element, found, f"{scope}.{i}", alone=alone)
    return found


def _add(element: Element, found: _Parts, scope: str, *, alone: bool) -> None:
    """Put an element into the group; `alone` says that besides it there are only filters."""
    if isinstance(element, Triple):
        found.joined.append((element.subject, element.predicate, element.object))
    elif isinstance(element, Filter):
        found.filters += _conditions(element.expression, scope)
    elif isinstance(element, Values):
        found.joined.append(_values(element))
    elif isinstance(element, Union):
        found.joined.append(("union", Bag(tuple(_branches(element, scope)))))
    elif isinstance(element, Bind):
        found.wrap("bind", _expression(element.expression, scope), element.variable)
    elif element.kind == "GROUP":
        _add_group(_parts(element.group, scope), found, alone=alone)
    elif element.kind == "GRAPH":
        found.joined.append(("graph", element.graph or (), _group(element.group, scope)))
    else:
        found.wrap(element.kind, _group(element.group, scope))


def _add_group(inner: _Parts, found: _Parts, *, alone: bool) -> None:
    """Put a group into another, without its braces where they change nothing."""
    if alone or not inner.filters:
        found.joined += inner.joined
        found.filters += inner.filters
    else:
        found.joined.append(inner.shape())


def _branches(union: Union, scope: str) -> Iterator[object]:
    for i, branch in enumerate(union.branches):
        parts = _parts(branch, f"{scope}.{i}")
        only = parts.joined[0] if len(parts.joined) == 1 else None
        if isinstance(only, tuple) and only[0] == "union" and not parts.filters:
            assert isinstance(only[1], Bag), "a union holds its branches"
            yield from only[1].members
        else:
            yield parts.shape()


def _values(values: Values) -> Shape:
    rows = (Bag(tuple(zip(values.variables, row, strict=False))) for row in values.rows)
    return ("values", Bag(tuple(values.variables)), Bag(tuple(rows)))


# -- expressions ---------------------------------------------------------------------------------


def _conditions(expression: Expression, scope: str) -> list[object]:
    """The conditions that have to hold: a filter of `a && b` is two filters."""
    expression = _unbracketed(expression)
    if "&&" not in expression or "||" in expression:
        return [_expression(expression, scope)]
    found: list[object] = []
    start = 0
    for i, part in enumerate((*expression, "&&")):
        if part == "&&":
            found += _conditions(expression[start:i], f"{scope}.{start}")
            start = i + 1
    return found


def _unbracketed(expression: Expression) -> Expression:
    """`((a > b))` is `(a > b)`."""
    while len(expression) == 1 and isinstance(expression[0], tuple) and not _is_term(expression[0]):
        expression = expression[0]
    return expression


def _expression(expression: Expression, scope: str) -> Shape:
    found: list[object] = []
    for i, part in enumerate(_unbracketed(expression)):
        if isinstance(part, Group):
            found.append(_group(part, f"{scope}.{i}"))
        elif isinstance(part, tuple) and not _is_term(part):
            inner = _expression(part, f"{scope}.{i}")
            lone = len(inner) == 1 and isinstance(inner[0], tuple) and _is_term(inner[0])
            found.append(inner[0] if lone else inner)
        else:
            found.append(part)
    return tuple(found)


def _is_term(part: tuple[object, ...]) -> bool:
    return bool(part) and part[0] in _TERMS


def _renamed(query: Query, scope: str) -> object:
    """A subquery whose inner names cannot be taken for those outside."""
    shape = shaped(query, scope)
    if not query.projection:
        return shape
    given = {p[1] if isinstance(p[0], str) else p[1][1] for p in query.projection}

    def rename(part: object) -> object:
        if isinstance(part, Bag):
            return Bag(tuple(rename(m) for m in part.members))
        if isinstance(part, tuple):
            if len(part) == 2 and part[0] == "var":
                name = str(part[1])
                return part if name in given else ("var", f"{name}{scope}")
            return tuple(rename(m) for m in part)
        return part

    return rename(shape)

# SPDX-License-Identifier: Apache-2.0
"""Queries in a form that does not depend on names of variables and on order that has no meaning."""

from __future__ import annotations

from dataclasses import dataclass

from assay.tasks.sparql.cursor import UnparsableError
from assay.tasks.sparql.dialect import RefusalError, inlined, surface_form, unescaped
from assay.tasks.sparql.syntax import parse
from assay.tasks.sparql.tree import (
    Bind,
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

BRANCHES = 64
"""How many ways to tell look-alike variables apart are tried before the first one is taken."""

Shape = tuple[object, ...]


def parsed(text: str) -> Query:
    """The tree of a predicted text; raises UnparsableError."""
    try:
        return parse(inlined(unescaped(surface_form(text, declared=True))))
    except RefusalError as refusal:
        raise UnparsableError(str(refusal)) from None


def canonical(text: str) -> str:
    """A text that is equal for two queries exactly if they are the same query.

    The same up to names of variables, prefixes and short forms, the order of triples, joined
    groups, UNION branches, VALUES rows and filters. What cannot be parsed stands for itself, letter
    case and spaces aside.

    >>> a = canonical("SELECT ?x { ?x wdt:P31 wd:Q5 . ?x wdt:P27 wd:Q142 }")
    >>> a == canonical("select ?who where { ?who wdt: p27 wd: q142 ; wdt: p31 wd: q5 . }")
    True
    """
    try:
        query = parsed(text)
    except (UnparsableError, RecursionError):
        return "text " + " ".join(text.lower().split())
    names: set[str] = set()
    return _labelled(_template(_shaped(query, ""), names), sorted(names))


def _labelled(template: _Template, names: list[str]) -> str:
    best: str | None = None
    budget = [BRANCHES]

    def search(colours: dict[str, int]) -> None:
        nonlocal best
        colours = _refined(template, colours)
        groups: dict[int, list[str]] = {}
        for name, colour in colours.items():
            groups.setdefault(colour, []).append(name)
        tied = next((groups[c] for c in sorted(groups) if len(groups[c]) > 1), None)
        if tied is None:
            text = _filled(template, {name: f"?{colour}" for name, colour in colours.items()})
            best = text if best is None or text < best else best
            return
        for name in tied:
            if budget[0] <= 0 and best is not None:
                return
            budget[0] -= 1
            search({**colours, name: -1})

    search(dict.fromkeys(names, 0))
    assert best is not None, "every search ends in a text"
    return best


def _refined(template: _Template, colours: dict[str, int]) -> dict[str, int]:
    """Colours that tell variables apart by where they stand, as far as that is possible."""
    while len(colours) > 1:
        labels = {name: f"?{colour}" for name, colour in colours.items()}
        marks = {
            name: (colour, _filled(template, {**labels, name: "?self"}))
            for name, colour in colours.items()
        }
        order = {mark: i for i, mark in enumerate(sorted(set(marks.values())))}
        finer = {name: order[mark] for name, mark in marks.items()}
        if len(order) == len(set(colours.values())) or len(order) == len(colours):
            return finer
        colours = finer
    return dict.fromkeys(colours, 0)


@dataclass(frozen=True, slots=True)
class _Any:
    """Members whose order has no meaning."""

    members: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str


@dataclass(frozen=True, slots=True)
class _Several:
    """Parts of which one at least holds a variable; `free` says that their order has no meaning."""

    parts: tuple[_Template, ...]
    free: bool


_Template = str | _Variable | _Several
"""A shape as text with gaps for its variables. What holds none is one text."""


def _template(shape: object, names: set[str]) -> _Template:
    """The template of a shape; adds the names of its variables."""
    if isinstance(shape, _Any):
        members, free = shape.members, True
    elif isinstance(shape, tuple):
        if len(shape) == 2 and shape[0] == "var":
            names.add(shape[1])
            return _Variable(shape[1])
        if not shape or shape[0] in ("iri", "literal"):
            return repr(shape)
        members, free = shape, False
    else:
        return repr(shape)
    parts = [_template(member, names) for member in members]
    texts = [part for part in parts if isinstance(part, str)]
    if len(texts) == len(parts):
        return _joined(texts, free)
    return _Several(tuple(parts), free)


def _filled(template: _Template, labels: dict[str, str]) -> str:
    """The text with a label for each variable, and free order made fixed."""
    if isinstance(template, str):
        return template
    if isinstance(template, _Variable):
        return labels[template.name]
    return _joined([_filled(part, labels) for part in template.parts], template.free)


def _joined(texts: list[str], free: bool) -> str:
    return f"<{','.join(sorted(texts))}>" if free else f"({','.join(texts)})"


# -- from trees to shapes ------------------------------------------------------------------------


def _shaped(query: Query, scope: str) -> Shape:
    """`scope` is put behind the names that a subquery does not give to the outside."""
    shape: Shape = (
        query.form,
        query.modifier,
        tuple(_projected(p) for p in query.projection) or "*",
        _group(query.where, scope),
        tuple((name, _expression(e, scope)) for name, e in query.rest),
        _values(query.values) if query.values is not None else (),
    )
    return shape


def _projected(one: Term | tuple[Expression, Term]) -> Shape:
    if isinstance(one[0], str):
        return one
    return (_expression(one[0], ""), one[1])


def _group(group: Group, scope: str) -> object:
    if group.query is not None:
        return ("subquery", _renamed(group.query, scope))
    while len(group.elements) == 1 and group.query is None:
        only = group.elements[0]
        if not (isinstance(only, Nested) and only.kind == "GROUP"):
            break
        group = only.group
        if group.query is not None:
            return ("subquery", _renamed(group.query, scope))
    segments: list[object] = []
    joined: list[object] = []
    filters: list[object] = []
    for i, element in enumerate(group.elements):
        inner = f"{scope}.{i}"
        if isinstance(element, Triple):
            joined.append((element.subject, element.predicate, element.object))
        elif isinstance(element, Filter):
            filters.append(_expression(element.expression, inner))
        elif isinstance(element, Values):
            joined.append(_values(element))
        elif isinstance(element, Union):
            branches = (_group(b, f"{inner}.{j}") for j, b in enumerate(element.branches))
            joined.append(("union", _Any(tuple(branches))))
        elif isinstance(element, Bind):
            segments += [
                _Any(tuple(joined)),
                ("bind", _expression(element.expression, inner), element.variable),
            ]
            joined = []
        elif element.kind in ("GROUP", "GRAPH"):
            joined.append((element.kind, element.graph or (), _group(element.group, inner)))
        else:
            segments += [_Any(tuple(joined)), (element.kind, _group(element.group, inner))]
            joined = []
    segments.append(_Any(tuple(joined)))
    return ("group", tuple(segments), _Any(tuple(filters)))


def _values(values: Values) -> Shape:
    return ("values", tuple(values.variables), _Any(tuple(values.rows)))


def _expression(expression: Expression, scope: str) -> Shape:
    while len(expression) == 1 and isinstance(expression[0], tuple) and not _is_term(expression[0]):
        expression = expression[0]  # ((a > b)) is (a > b)
    found: list[object] = []
    for i, part in enumerate(expression):
        if isinstance(part, Group):
            found.append(_group(part, f"{scope}.{i}"))
        elif isinstance(part, tuple) and not _is_term(part):
            found.append(_expression(part, f"{scope}.{i}"))
        else:
            found.append(part)
    return tuple(found)


def _is_term(part: tuple[object, ...]) -> bool:
    return bool(part) and part[0] in _TERMS


_TERMS = ("var", "iri", "literal", "undef")


def _renamed(query: Query, scope: str) -> object:
    """A subquery whose inner names cannot be taken for those outside."""
    shape = _shaped(query, scope)
    if not query.projection:
        return shape
    given = {p[1] if isinstance(p[0], str) else p[1][1] for p in query.projection}

    def rename(part: object) -> object:
        if isinstance(part, _Any):
            return _Any(tuple(rename(m) for m in part.members))
        if isinstance(part, tuple):
            if len(part) == 2 and part[0] == "var":
                name = str(part[1])
                return part if name in given else ("var", f"{name}{scope}")
            return tuple(rename(m) for m in part)
        return part

    return rename(shape)

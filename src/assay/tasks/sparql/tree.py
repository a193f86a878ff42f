# SPDX-License-Identifier: Apache-2.0
"""What a parsed query is made of."""

from __future__ import annotations

from dataclasses import dataclass, field

Term = tuple[str, ...]
"""("var", name), ("iri", text), ("literal", text, type or language), ("path", ...), ("undef",)."""

Expression = tuple[object, ...]
"""Tokens of an expression: terms, texts of signs and keywords, and groups of EXISTS."""


@dataclass(slots=True)
class Triple:
    """A triple pattern."""

    subject: Term
    predicate: Term
    object: Term


@dataclass(slots=True)
class Filter:
    """A filter; `absent` is its group if it is a plain FILTER NOT EXISTS.

    `start` is where it begins in the text, `opens` where the brace of that group is.
    """

    expression: Expression
    absent: Group | None
    start: int
    opens: int


@dataclass(slots=True)
class Nested:
    """OPTIONAL, MINUS, GRAPH or a plain group."""

    kind: str
    group: Group
    graph: Term | None = None


@dataclass(slots=True)
class Union:
    """Branches of which any may hold."""

    branches: list[Group]


@dataclass(slots=True)
class Values:
    """Rows of given values."""

    variables: list[Term]
    rows: list[tuple[Term, ...]]


@dataclass(slots=True)
class Bind:
    """A computed variable."""

    expression: Expression
    variable: Term


Element = Triple | Filter | Nested | Union | Values | Bind


@dataclass(slots=True)
class Group:
    """What stands between braces; `query` if that is a subquery."""

    elements: list[Element] = field(default_factory=list)
    query: Query | None = None


@dataclass(slots=True)
class Query:
    """A query: `projection` holds variables and (expression, variable), or nothing for `*`."""

    form: str
    modifier: str
    projection: list[Term | tuple[Expression, Term]]
    where: Group
    rest: list[tuple[str, Expression]]
    values: Values | None = None

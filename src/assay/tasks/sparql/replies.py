# SPDX-License-Identifier: Apache-2.0
"""What an engine says to a query, and the answers that are taken from it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

PREFIXES = {
    "wd": "http://www.wikidata.org/entity/",
    "wds": "http://www.wikidata.org/entity/statement/",
    "wdv": "http://www.wikidata.org/value/",
    "wdt": "http://www.wikidata.org/prop/direct/",
    "wikibase": "http://wikiba.se/ontology#",
    "p": "http://www.wikidata.org/prop/",
    "ps": "http://www.wikidata.org/prop/statement/",
    "pq": "http://www.wikidata.org/prop/qualifier/",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "bd": "http://www.bigdata.com/rdf#",
}
"""Prefixes that every query may use without declaring them."""

_ENTITY = re.compile(r"https?://www\.wikidata\.org/(?:entity|prop/direct)/([A-Z]\d+)")
_NUMBERS = frozenset(
    "http://www.w3.org/2001/XMLSchema#" + name
    for name in ("integer", "decimal", "double", "float", "int", "long", "nonNegativeInteger")
)


class Reply(msgspec.Struct, omit_defaults=True, gc=False):
    """One reply: a truth value, the terms of the only variable, or the reason for having neither.

    `kinds` has one letter for each of `values`: i for an IRI, n for a number, l for another
    literal, b for a blank node.
    """

    failure: str | None = None
    detail: str = ""
    boolean: Any = None
    values: list[str] | None = None
    kinds: str = ""


def answers_of(reply: Reply, *, compat: bool = False) -> list[str] | bool | None:
    """The answers of a reply: entities by id, other IRIs whole, literals as text.

    With `compat`, whatever follows the last slash of any term, as SPICE's script has it.

    >>> answers_of(Reply(values=["http://www.wikidata.org/entity/Q5", "AC/DC"], kinds="il"))
    ['Q5', 'AC/DC']
    >>> answers_of(Reply(values=["AC/DC"], kinds="l"), compat=True)
    ['DC']
    """
    if reply.failure is not None:
        return None
    if reply.values is None:
        # A server may send a text here; it is no truth value and equals neither.
        return reply.boolean if isinstance(reply.boolean, bool) else None
    if compat:
        return [value.rpartition("/")[2] for value in reply.values]
    return [answer_text(v, k) for v, k in zip(reply.values, reply.kinds, strict=True)]


def answer_text(value: str, kind: str) -> str:
    """One term as it is compared."""
    if kind == "i":
        entity = _ENTITY.fullmatch(value)
        return entity[1] if entity is not None else value
    return plain_number(value) if kind == "n" else value


def plain_number(text: str) -> str:
    """A number without the traces of how it was computed.

    >>> plain_number("12.0"), plain_number("1.50E1"), plain_number("0012"), plain_number("NaN")
    ('12', '15', '12', 'NaN')
    """
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return text
    if not number.is_finite() or abs(number.adjusted()) > 100:
        return text
    plain = format(number, "f")
    return plain.rstrip("0").rstrip(".") if "." in plain else str(int(number))


def term_kind(datatype: str) -> str:
    """The letter of a literal of this type."""
    return "n" if datatype in _NUMBERS else "l"


def read_json(body: bytes, rows: int | None = None) -> Reply:
    """The reply in a SPARQL 1.1 JSON result; `rows` bounds how many are taken.

    A `boolean` counts before any bindings. Raises ValueError where the body is not JSON.

    >>> row = b'{"head":{"vars":["x"]},"results":{"bindings":[{"x":{"type":"uri","value":%s}}]}}'
    >>> read_json(row % b'"Q5"').values, read_json(row % b"5").failure
    (['Q5'], 'transport')
    """
    try:
        data = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(data, dict):
        return Reply("transport", "the reply is not a JSON object")
    if "boolean" in data:
        return Reply(boolean=data["boolean"])
    try:
        variables: Sequence[str] = data["head"]["vars"]
        bindings = data["results"]["bindings"]
        if len(variables) != 1:
            return Reply("several variables", f"{len(variables)} variables")
        terms = [row[variables[0]] for row in bindings if variables[0] in row]
        if rows is not None and len(terms) > rows:
            return Reply("too large", f"more than {rows:,} rows")
        values = [t["value"] for t in terms]
        kinds = "".join(map(_kind, terms))
    except (KeyError, TypeError):
        return Reply("transport", "the reply has no head or no results")
    if not all(isinstance(value, str) for value in values):
        return Reply("transport", "a value in the reply is not a text")
    return Reply(values=values, kinds=kinds)


def _kind(term: Any) -> str:
    kind = term.get("type", "literal")
    if kind == "uri":
        return "i"
    return "b" if kind == "bnode" else term_kind(term.get("datatype", ""))

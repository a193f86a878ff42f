# SPDX-License-Identifier: Apache-2.0
"""Queries in a form that does not depend on names of variables and on order that has no meaning."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

from assay.tasks.sparql.cursor import UnparsableError
from assay.tasks.sparql.dialect import RefusalError, inlined, surface_form, unescaped
from assay.tasks.sparql.shapes import Bag, shaped
from assay.tasks.sparql.syntax import parse
from assay.tasks.sparql.tree import Query

BRANCHES = 64
"""How many ways to tell look-alike variables apart are tried before the first one is taken."""

MOST_VARIABLES = 250
"""Variables of a query that is compared as a query. One with more comes from a system that repeats
itself, and to bring it into order would take long."""


def parsed(text: str) -> Query:
    """The tree of a predicted text; raises UnparsableError."""
    try:
        return parse(inlined(unescaped(surface_form(text, declared=True))))
    except RefusalError as refusal:
        raise UnparsableError(str(refusal)) from None


def canonical(text: str) -> str:
    """A text that is equal for two queries exactly if they are the same query.

    The same up to names of variables, prefixes and short forms, braces that change nothing, the
    order of triples, joined groups, UNION branches, VALUES rows and filters. What cannot be parsed,
    or has too many variables, stands for itself, letter case and spaces aside.

    >>> a = canonical("SELECT ?x { ?x wdt:P31 wd:Q5 . ?x wdt:P27 wd:Q142 }")
    >>> a == canonical("select ?who where { ?who wdt: p27 wd: q142 ; wdt: p31 wd: q5 . }")
    True
    """
    try:
        form = _Form(shaped(parsed(text)))
    except (UnparsableError, RecursionError):
        return _folded(text)
    return form.labelled() if len(form.names) <= MOST_VARIABLES else _folded(text)


def _folded(text: str) -> str:
    return "text " + " ".join(text.lower().split())


@dataclass(frozen=True, slots=True)
class _Variable:
    """A gap, for the variable of this number."""

    number: int


@dataclass(frozen=True, slots=True)
class _Several:
    """Parts of which one at least holds a variable; `free` says that their order has no meaning."""

    parts: tuple[_Template, ...]
    free: bool


_Template = str | _Variable | _Several
"""A shape as text with gaps for its variables. What holds none is one text."""

Colours = list[int]
"""A number for each variable; those that look alike so far have the same."""


class _Form:
    """A shape with gaps for its variables, and the search for the one way to fill them."""

    def __init__(self, shape: object) -> None:
        self.names: dict[str, int] = {}
        self._template = self._of(shape)
        self._best: str | None = None
        self._budget = BRANCHES

    def _of(self, shape: object) -> _Template:
        if isinstance(shape, Bag):
            members, free = shape.members, True
        elif isinstance(shape, tuple):
            if len(shape) == 2 and shape[0] == "var":
                return _Variable(self.names.setdefault(shape[1], len(self.names)))
            if not shape or shape[0] in ("iri", "literal"):
                return repr(shape)
            members, free = shape, False
        else:
            return repr(shape)
        parts = [self._of(member) for member in members]
        texts = [part for part in parts if isinstance(part, str)]
        if len(texts) == len(parts):
            return _joined(texts, free)
        return _Several(tuple(parts), free)

    def labelled(self) -> str:
        """The least text there is, over all ways to number variables that are told apart."""
        self._search([0] * len(self.names))
        assert self._best is not None, "every search ends in a text"
        return self._best

    def _search(self, colours: Colours) -> None:
        colours = self._refined(colours)
        tied = _first_tied(colours)
        if not tied:
            text = _filled(self._template, [f"?{colour}" for colour in colours])
            self._best = text if self._best is None else min(text, self._best)
            return
        for number in tied:
            if self._budget <= 0 and self._best is not None:
                return
            self._budget -= 1
            self._search([-1 if i == number else colour for i, colour in enumerate(colours)])

    def _refined(self, colours: Colours) -> Colours:
        """Colours that tell variables apart by where they stand, as far as that is possible."""
        n_colours = len(set(colours))
        while n_colours < len(colours):
            finer = self._finer(colours)
            n_finer = len(set(finer))
            if n_finer == n_colours:
                return finer
            colours, n_colours = finer, n_finer
        return _ranked(colours)

    def _finer(self, colours: Colours) -> Colours:
        """Colours by the old ones and by all places in which a variable stands."""
        looks: dict[int, str] = {}
        _look(self._template, colours, looks)
        places: dict[int, list[str]] = defaultdict(list)
        _place(self._template, "", looks, places)
        return _ranked([(colour, sorted(places[i])) for i, colour in enumerate(colours)])


def _look(template: _Template, colours: Colours, looks: dict[int, str]) -> str:
    """What a part of the template looks like with these colours, short enough to be put together.

    `looks` holds it for all parts with variables, by their `id`.
    """
    if isinstance(template, str):
        return template
    if isinstance(template, _Variable):
        return f"?{colours[template.number]}"
    inside = [_look(part, colours, looks) for part in template.parts]
    looks[id(template)] = found = _digest(_joined(inside, template.free))
    return found


def _place(
    template: _Template, place: str, looks: dict[int, str], places: dict[int, list[str]]
) -> None:
    """Add the place of each variable: what is around it, from the inside to the whole."""
    if isinstance(template, _Variable):
        places[template.number].append(place)
    elif isinstance(template, _Several):
        around = f"{place} {looks[id(template)]}"
        for i, part in enumerate(template.parts):
            if not isinstance(part, str):
                at = looks.get(id(part), "") if template.free else str(i)
                _place(part, _digest(f"{around} {at}"), looks, places)


def _digest(text: str) -> str:
    """A short stand-in for a text: the same in every process, as `hash` is not."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _ranked(marks: Sequence[object]) -> Colours:
    order = {mark: i for i, mark in enumerate(sorted({str(mark) for mark in marks}))}
    return [order[str(mark)] for mark in marks]


def _first_tied(colours: Colours) -> list[int]:
    """The variables of the first colour that several have."""
    members: dict[int, list[int]] = defaultdict(list)
    for number, colour in enumerate(colours):
        members[colour].append(number)
    return next((members[c] for c in sorted(members) if len(members[c]) > 1), [])


def _filled(template: _Template, labels: Sequence[str]) -> str:
    """The text with a label for each variable, and free order made fixed."""
    if isinstance(template, str):
        return template
    if isinstance(template, _Variable):
        return labels[template.number]
    return _joined([_filled(part, labels) for part in template.parts], template.free)


def _joined(texts: list[str], free: bool) -> str:
    return f"<{','.join(sorted(texts))}>" if free else f"({','.join(texts)})"

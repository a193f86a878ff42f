# SPDX-License-Identifier: Apache-2.0
"""The table of utilities: which flags take an argument, and what the other words are.

The facts are in `utilities.toml`, which explains its own fields.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

_SLOT = re.compile(r"(?P<type>\w+)(?:\{(?P<unless>[^}]*)\})?(?P<many>\*?)")


@dataclass(frozen=True, slots=True)
class Taken:
    """The arguments a flag takes. `attached`: only as part of the same word, and may be absent."""

    types: tuple[str, ...]
    attached: bool = False


@dataclass(frozen=True, slots=True)
class Utility:
    """What the words after a utility's name are; see `utilities.toml` for the fields."""

    name: str
    takes: Mapping[str, Taken] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)
    slots: tuple[str, ...] = ("Regex",)
    unless: frozenset[str] = frozenset()
    repeats: bool = True
    nested: str | None = None
    number: str | None = None
    style: Literal["letters", "words", "bare", "plain"] = "letters"
    ordered: Mapping[str, str] = field(default_factory=dict)
    sets: Mapping[str, frozenset[str]] = field(default_factory=dict)
    placed: frozenset[str] = frozenset()
    moves: Literal["all", "leading", "none"] = "all"
    flags: frozenset[str] = frozenset()
    known: bool = True

    def slot(self, position: int, given: Set[str]) -> str:
        """The type of argument number `position`, from 0, after these flags."""
        slots = self.slots
        if self.unless & given and len(slots) > 1:
            slots = slots[1:]
        return slots[min(position, len(slots) - 1)]


def utility(name: str, *, reference: bool = False) -> Utility:
    """What is known of a utility; the usual rules for one that is not in the table.

    With `reference` as the tool behind the published figures reads it.

    >>> utility("head").takes["-n"].types, utility("head").takes["--lines"].types
    (('Quantity',), ('Quantity',))
    >>> utility("frobnicate").known
    False
    """
    found = _table(reference).get(name)
    return found if found is not None else Utility(name, moves="none", known=False)


def utilities() -> tuple[str, ...]:
    """The names of all utilities in the table."""
    return tuple(_table(False))


@cache
def _table(reference: bool) -> Mapping[str, Utility]:
    text = files(__package__).joinpath("utilities.toml").read_text("utf-8")
    every = tomllib.loads(text).items()
    return {name: _utility(name, _as_read(facts, reference)) for name, facts in every}


def _as_read(facts: Mapping[str, Any], reference: bool) -> Mapping[str, Any]:
    old = facts.get("reference") if reference else None
    if old is None:
        return facts
    if old == "refused":
        return {**facts, "known": False}
    if old == "plain":
        return {**facts, "style": "plain", "takes": "", "same": ""}
    return {**facts, "takes": f"{facts.get('takes', '')}, {old}"}


def _utility(name: str, facts: Mapping[str, Any]) -> Utility:
    takes: dict[str, Taken] = {}
    names: dict[str, str] = {}
    for entry in _entries(facts.get("takes", "")):
        flags = [word for word in entry if word.startswith("-")]
        types = [word for word in entry if not word.startswith("-")]
        attached = types[0].startswith("[")
        taken = Taken(tuple(t.strip("[]") for t in types), attached)
        takes.update(dict.fromkeys(flags, taken))
        names.update(dict.fromkeys(flags, flags[0]))
    for flags in _entries(facts.get("same", "")):
        names.update(dict.fromkeys(flags, flags[0]))
    slots = list(_SLOT.finditer(facts.get("arguments", "Regex*")))
    ordered: dict[str, str] = {}
    for group in _entries(facts.get("ordered", "")):
        ordered.update(dict.fromkeys(group, group[0]))
    return Utility(
        name,
        takes=takes,
        names=names,
        slots=tuple(slot["type"] for slot in slots),
        unless=frozenset((slots[0]["unless"] or "").split()),
        repeats=slots[-1]["many"] == "*",
        nested=facts.get("nested"),
        number=facts.get("number"),
        style=facts.get("style", "letters"),
        ordered=ordered,
        sets={first: frozenset(others) for first, *others in _entries(facts.get("sets", ""))},
        placed=frozenset(facts.get("placed", "").split()),
        moves=facts.get("moves", "all"),
        flags=frozenset(facts.get("flags", "").split()),
        known=facts.get("known", True),
    )


def _entries(text: str) -> list[list[str]]:
    return [entry.split() for entry in text.split(",") if entry.strip()]

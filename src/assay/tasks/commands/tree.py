# SPDX-License-Identifier: Apache-2.0
"""A command understood: utility, flags with their arguments, typed arguments, nested commands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Inner:
    """A substitution: a body inside a word."""

    opening: str
    body: Body


@dataclass(frozen=True, slots=True)
class Argument:
    """A value and its type. `parts` is the value in pieces where it holds substitutions."""

    text: str
    type: str
    parts: tuple[str | Inner, ...] = ()

    @property
    def inner(self) -> tuple[Inner, ...]:
        """The commands inside the value."""
        return tuple(part for part in self.parts if isinstance(part, Inner))


@dataclass(frozen=True, slots=True)
class Flag:
    """A flag, what it takes, and for find -exec the command it runs and how that ends."""

    name: str
    values: tuple[Argument, ...] = ()
    nested: Body = ()
    end: str = ""


@dataclass(frozen=True, slots=True)
class Sign:
    r"""A word that is neither: `!`, `\(`, `\)`, `-or`, `--`."""

    text: str


@dataclass(frozen=True, slots=True)
class Nested:
    """A command that stands as an argument of another: of xargs, nohup, ssh."""

    body: Body


@dataclass(frozen=True, slots=True)
class Command:
    """A utility with its items in the order given."""

    name: str
    items: tuple[Item, ...] = ()
    flat: bool = False
    """Whether the order of flags may matter only between signs and actions (find)."""


@dataclass(frozen=True, slots=True)
class Assigned:
    """A variable that gets a value."""

    name: str
    value: Argument


Item: TypeAlias = "Flag | Argument | Sign | Nested"
Piece: TypeAlias = "str | Argument | Command | Assigned"
Body: TypeAlias = "tuple[Piece, ...]"

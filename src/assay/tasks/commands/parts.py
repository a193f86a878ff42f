# SPDX-License-Identifier: Apache-2.0
"""Parts of commands that metrics count: utilities with their flags, and tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from assay.tasks.commands.tree import Argument, Assigned, Body, Command, Flag, Item, Nested, Sign

_NO_FLAGS = ("-prune",)
"""Words of find that the challenge's trees hold as operators."""


@dataclass(frozen=True, slots=True)
class Used:
    """A utility and the names of the flags that it and the commands inside it were given."""

    name: str
    flags: frozenset[str]


def utilities_used(body: Body) -> list[Used]:
    """The utilities in order of appearance, nested ones after the one they stand in."""
    found: list[Used] = []
    for piece in body:
        if isinstance(piece, Command):
            found.append(Used(piece.name, frozenset(_flags(piece))))
            for item in piece.items:
                found += [used for inner in bodies(item) for used in utilities_used(inner)]
        elif isinstance(piece, Argument):
            found += [used for inner in piece.inner for used in utilities_used(inner.body)]
        elif isinstance(piece, Assigned):
            found += [used for inner in piece.value.inner for used in utilities_used(inner.body)]
    return found


def _flags(command: Command) -> Iterator[str]:
    for item in command.items:
        if isinstance(item, Flag) and item.name not in _NO_FLAGS:
            yield f"{item.name} {item.end}".rstrip()
        for body in bodies(item):
            for piece in body:
                if isinstance(piece, Command):
                    yield from _flags(piece)


def bodies(item: Item) -> list[Body]:
    """The commands inside an item."""
    if isinstance(item, Nested):
        return [item.body]
    if isinstance(item, Argument):
        return [inner.body for inner in item.inner]
    if isinstance(item, Flag):
        inside = [inner.body for value in item.values for inner in value.inner]
        return [*inside, item.nested] if item.nested else inside
    return []


def structure_tokens(body: Body) -> Iterator[str]:
    """What a template consists of besides arguments: a flag is one token with its types."""
    for piece in body:
        if isinstance(piece, str):
            yield piece
        elif isinstance(piece, Command):
            yield piece.name
            for item in piece.items:
                yield from _item_tokens(item)
        elif isinstance(piece, Argument):
            yield from _inner_tokens(piece)
        else:
            yield from _inner_tokens(piece.value)


def _item_tokens(item: Item) -> Iterator[str]:
    if isinstance(item, Sign):
        yield item.text
    elif isinstance(item, Nested):
        yield from structure_tokens(item.body)
    elif isinstance(item, Argument):
        yield from _inner_tokens(item)
    else:
        yield " ".join([item.name, *(value.type for value in item.values)])
        for value in item.values:
            yield from _inner_tokens(value)
        yield from structure_tokens(item.nested)
        if item.end:
            yield item.end


def _inner_tokens(argument: Argument) -> Iterator[str]:
    for inner in argument.inner:
        yield inner.opening
        yield from structure_tokens(inner.body)
        yield ")"

# SPDX-License-Identifier: Apache-2.0
"""`--match loose`: flags in one order where order does not matter, and under one name each."""

from __future__ import annotations

from dataclasses import replace

from assay.tasks.commands.find import ACTIONS
from assay.tasks.commands.table import Utility, utility
from assay.tasks.commands.tree import (
    Argument,
    Assigned,
    Body,
    Command,
    Flag,
    Inner,
    Item,
    Nested,
    Piece,
    Sign,
)


def ordered(body: Body) -> Body:
    """The body with the flags of every command in one order.

    Flags stand before arguments, sorted by name; flags of one name keep their order, and so do
    those whose order matters. The tests of find are sorted between operators, brackets and actions
    only.
    """
    return tuple(_piece(piece) for piece in body)


def _piece(piece: Piece) -> Piece:
    if isinstance(piece, Command):
        return _command(piece)
    if isinstance(piece, Assigned):
        return replace(piece, value=_argument(piece.value))
    return _argument(piece) if isinstance(piece, Argument) else piece


def _argument(argument: Argument) -> Argument:
    if not argument.parts:
        return argument
    parts = tuple(
        part if isinstance(part, str) else Inner(part.opening, ordered(part.body))
        for part in argument.parts
    )
    return replace(argument, parts=parts)


def _command(command: Command) -> Command:
    known = utility(command.name)
    items = [_item(item, known) for item in command.items]
    if command.flat:
        return replace(command, items=tuple(_by_runs(items, known)))
    flags = [item for item in items if isinstance(item, Flag)]
    others = [item for item in items if not isinstance(item, Flag)]
    return replace(command, items=(*_sorted(flags, known), *others))


def _item(item: Item, known: Utility) -> Item:
    if isinstance(item, Flag):
        return replace(
            item,
            name=known.names.get(item.name, item.name),
            values=tuple(_argument(value) for value in item.values),
            nested=ordered(item.nested),
        )
    if isinstance(item, Nested):
        return Nested(ordered(item.body))
    return _argument(item) if isinstance(item, Argument) else item


def _sorted(flags: list[Flag], known: Utility) -> list[Flag]:
    """By name; flags of one name, and those whose order matters, keep their order."""

    def place(flag: Flag) -> str:
        return min(known.ordered) if flag.name in known.ordered else flag.name

    return sorted(flags, key=place)


def _by_runs(items: list[Item], known: Utility) -> list[Item]:
    """Sorts each run of tests; what does something, or joins tests, stays where it is."""
    found: list[Item] = []
    run: list[Flag] = []
    negated = False
    for item in items:
        # The test after `!` belongs to it and does not move either.
        if isinstance(item, Flag) and item.name not in ACTIONS and not negated:
            run.append(item)
            continue
        found += [*_sorted(run, known), item]
        run = []
        negated = item in (Sign("!"), Sign("-not"))
    return found + _sorted(run, known)

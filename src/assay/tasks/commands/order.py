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
    """The body with the flags of every command in one order, as far as the table lets them move.

    Flags stand before arguments, sorted by name; flags of one name keep their order, and so do
    those whose order matters. The tests of find are sorted between operators, brackets and actions
    only, and none is moved across an option that changes what it means.
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
    if known.moves == "none":
        return replace(command, items=tuple(items))
    own = len(items)
    if known.moves == "leading":
        own = next((i for i, item in enumerate(items) if not isinstance(item, Flag)), own)
    flags, others = [], []
    for item in items[:own]:
        if isinstance(item, Flag) and item.name not in known.placed:
            flags.append(item)
        else:
            others.append(item)
    return replace(command, items=(*_sorted(flags, known), *others, *items[own:]))


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
    if isinstance(item, Argument):
        return _argument(item)
    return Sign("!") if item == Sign("-not") else item


def _sorted(flags: list[Flag], known: Utility) -> list[Flag]:
    """By name; flags of one name, and those whose order matters, keep their order."""
    return sorted(flags, key=lambda flag: known.ordered.get(flag.name, flag.name))


def _by_runs(items: list[Item], known: Utility) -> list[Item]:
    """Sorts each run of tests; what does something, or joins tests, stays where it is."""
    found: list[Item] = []
    run: list[Flag] = []
    negated = False
    for item in items:
        if item == Sign("-and") and not negated:
            continue  # what joins two tests where nothing else does
        # The test after `!` belongs to it and does not move either.
        if isinstance(item, Flag) and item.name not in ACTIONS and not negated:
            run.append(item)
            continue
        found += [*_run(run, known), item]
        run = []
        negated = item == Sign("!")
    return found + _run(run, known)


def _run(tests: list[Flag], known: Utility) -> list[Flag]:
    """Tests in one order: each stays behind the last option that changes what it means."""
    stages: list[list[Flag]] = [[]]
    options: list[Flag] = []
    for test in tests:
        if test.name in known.sets:
            options.append(test)
            stages.append([])
            continue
        changed = (i for i, option in enumerate(options) if test.name in known.sets[option.name])
        stages[max(changed, default=-1) + 1].append(test)
    found = _sorted(stages[0], known)
    for option, stage in zip(options, stages[1:], strict=True):
        found += [option, *_sorted(stage, known)]
    return found

# SPDX-License-Identifier: Apache-2.0
"""The printed forms of a command: its template, and the form in which commands are compared."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from assay.tasks.commands import repairs, syntax
from assay.tasks.commands.shape import Shaper, plain
from assay.tasks.commands.syntax import UnparsableError
from assay.tasks.commands.tree import (
    Argument,
    Assigned,
    Body,
    Command,
    Flag,
    Inner,
    Item,
    Nested,
    Sign,
)

Mode = Literal["strict", "loose", "nl2bash"]
"""How commands are compared: in the order given, with flags in one order and under one name each,
or with every quirk of the old program."""

_KEPT = frozenset(("Type", "Option", "Format"))
_SIGNED = frozenset(("Number", "Quantity", "Size", "Timespan", "DateTime", "Permission"))
_IGNORED_AROUND = re.compile(r"[\"']*/?[\"']*")


@dataclass(frozen=True, slots=True)
class Form:
    """A command in the forms that are compared. `body` is empty where it could not be parsed."""

    template: str
    command: str
    body: Body = ()

    @property
    def parsed(self) -> bool:
        """Whether the command could be parsed."""
        return bool(self.body)


@lru_cache(maxsize=1 << 16)  # by the arguments as they are given: hot places name the mode
def form(text: str, mode: Mode = "strict") -> Form:
    """The forms of a command. One that cannot be parsed is compared word by word.

    >>> form('find -name "*.py" -mtime +3 -exec grep -l foo {} \\\\;').template
    'find Path -name Regex -mtime +Timespan -exec grep -l Regex {} \\\\;'
    >>> form("ls -la").command
    'ls -l -a'
    """
    compat = mode == "nl2bash"
    try:
        body = _parsed(text, mode)
    except UnparsableError:
        words = repairs.words(text) if compat else " ".join(text.split())
        return Form(words, words)
    if mode == "loose":
        from assay.tasks.commands.order import ordered

        body = ordered(body)
    return Form(
        " ".join(Printer(values=False, first_only=compat).body(body)),
        " ".join(Printer(values=True, first_only=compat).body(body)),
        body,
    )


def _parsed(text: str, mode: Mode) -> Body:
    shaper = Shaper(reference=mode != "loose", keeps_folders=mode == "nl2bash")
    if mode == "nl2bash":
        from assay.tasks.commands.reference import check, lone_substitution

        script = syntax.parse(repairs.reference(text))
        body = shaper.understand(lone_substitution(script))
        check(body)
        return body
    repaired = repairs.typography(text)
    try:
        script = syntax.parse(repaired)
    except UnparsableError:
        escaped = repairs.brackets(repaired)
        if escaped == repaired:
            raise
        script = syntax.parse(escaped)
    body = shaper.understand(script)
    if not body:
        raise UnparsableError("nothing there")
    return body


class Printer:
    """Writes a body as tokens, with values or with types in their place."""

    def __init__(self, *, values: bool, first_only: bool) -> None:
        self.values = values
        self.first_only = first_only

    def body(self, body: Body) -> Iterator[str]:
        for piece in body:
            if isinstance(piece, str):
                yield piece
            elif isinstance(piece, Command):
                yield from self.command(piece)
            elif isinstance(piece, Assigned):
                yield f"{piece.name}=" if self.values else "Variable="
                yield from self.argument(piece.value)
            else:
                yield from self.argument(piece)

    def command(self, command: Command) -> Iterator[str]:
        yield command.name
        for item in command.items:
            yield from self.item(item)

    def item(self, item: Item) -> Iterator[str]:
        if isinstance(item, Argument):
            yield from self.argument(item)
        elif isinstance(item, Sign):
            yield item.text
        elif isinstance(item, Nested):
            yield from self.body(item.body)
        else:
            yield from self.flag(item)

    def flag(self, flag: Flag) -> Iterator[str]:
        yield flag.name
        for value in flag.values:
            yield from self.argument(value)
        if flag.nested:
            yield from self.body(flag.nested)
        if flag.end:
            yield flag.end

    def argument(self, argument: Argument) -> Iterator[str]:
        if argument.parts:
            yield from self.with_commands(argument)
        elif argument.text == "{}" or (plain(argument.text) == "{}" and not self.first_only):
            yield "{}"
        elif self.values or argument.type in _KEPT:
            yield argument.text
        else:
            text = argument.text
            signed = argument.type in _SIGNED and text[:1] in ("+", "-") and len(text) > 1
            yield f"{text[0]}{argument.type}" if signed else argument.type

    def with_commands(self, argument: Argument) -> Iterator[str]:
        """A value with commands inside; in a template only these are left of it."""
        around = [part for part in argument.parts if isinstance(part, str)]
        bare = not any(_IGNORED_AROUND.fullmatch(text) is None for text in around)
        if self.first_only or (bare and len(argument.inner) == 1):
            yield from self.inner(argument.inner[0])
        elif not self.values:
            for inner in argument.inner:
                yield from self.inner(inner)
        else:
            yield "".join(
                part if isinstance(part, str) else " ".join(self.inner(part))
                for part in argument.parts
            )

    def inner(self, inner: Inner) -> Iterator[str]:
        yield inner.opening
        yield from self.body(inner.body)
        yield ")"

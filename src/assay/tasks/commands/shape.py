# SPDX-License-Identifier: Apache-2.0
"""Shell syntax to a tree of commands, by the table of utilities."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from assay.tasks.commands import syntax
from assay.tasks.commands.syntax import Simple, UnparsableError, Word
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

_FOLDERS = re.compile(r"/(?:usr/)?(?:local/)?s?bin/(?=[\w.-]+$)")
_NUMBER = re.compile(r"-(\d+\w*|[A-Z]{2,}[A-Z0-9]*)")
_SUDO_TAKES = ("-u", "-g", "-h", "-p", "-C", "-r", "-t", "-U")
_SUDO_AS = ("-u", "-g")
DEEPEST = 40
"""Commands inside commands that are followed; what is nested deeper counts as unparsable."""

_GREPS = {"egrep": "-E", "fgrep": "-F"}


class Shaper:
    """Understands commands, with `reference` as the tool behind the published figures does.

    With `keeps_folders` `/sbin/ifconfig` is not `ifconfig`, and a utility that the table lacks.
    """

    def __init__(self, *, reference: bool, keeps_folders: bool = False) -> None:
        self.reference = reference
        self.keeps_folders = keeps_folders
        self.depth = 0

    @contextmanager
    def inside(self) -> Iterator[None]:
        """One command inside another; raises where that goes on too long."""
        self.depth += 1
        try:
            if self.depth > DEEPEST:
                raise UnparsableError("nested too deeply")
            yield
        finally:
            self.depth -= 1

    def understand(self, script: syntax.Script) -> Body:
        """Every command of a script, understood."""
        with self.inside():
            return self._understand(script)

    def _understand(self, script: syntax.Script) -> Body:
        lone = assigned_command(script)
        if lone is not None:
            return self.understand(lone)
        return tuple(self._piece(piece) for piece in script)

    def _piece(self, piece: syntax.Piece) -> Piece:
        if isinstance(piece, Simple):
            if len(piece.words) == 1 and _is_substitution(piece.words[0]):
                return self.argument(piece.words[0], "Program")
            return self.command(piece.words)
        if isinstance(piece, Word):
            return self.argument(piece, "Regex")
        if isinstance(piece, syntax.Assignment):
            return Assigned(piece.name, self.argument(piece.value, "Regex"))
        return piece

    def argument(self, word: Word, type: str) -> Argument:
        """A word as a value of this type."""
        if not word.parts:
            return Argument(word.text, type)
        parts = tuple(
            part if isinstance(part, str) else Inner(part.opening, self.understand(part.script))
            for part in word.parts
        )
        return Argument(word.text, type, parts)

    def command(self, words: Sequence[Word]) -> Command:
        """One command from its words, the name first."""
        words = _without_sudo(words)
        name = words[0].text
        if not words[0].parts:
            name = plain(name) if self.keeps_folders else _FOLDERS.sub("", plain(name))
        rest = list(words[1:])
        if name in _GREPS:
            name, rest = "grep", [Word(_GREPS[name]), *rest]
        known = utility(name, reference=self.reference)
        if name == "find":
            from assay.tasks.commands.find import FindReader

            return Command(name, FindReader(self, known).read(rest), flat=True)
        bare = known.style == "bare" and rest and not rest[0].parts
        if bare and not rest[0].text.startswith("-"):
            rest[0] = Word("-" + rest[0].text)
        items = _Reader(self, known).read(rest)
        if name == "xargs":
            items = _xargs(items)
        return Command(name, tuple(items))

    def nested(self, words: Sequence[Word]) -> Body:
        """A command among the words of another; one quoted word may hold a whole script."""
        if len(words) == 1 and words[0].text[:1] in ("'", '"'):
            inner = self.script_in(words[0].text)
            return inner if inner is not None else (self.argument(words[0], "Program"),)
        with self.inside():
            return (self.command(words),)

    def script_in(self, text: str) -> Body | None:
        """The script that a quoted word holds, if it is one."""
        if text[:1] not in ("'", '"'):
            return None
        try:
            return self.understand(syntax.parse(plain(text))) or None
        except UnparsableError:
            return None


def _is_number(left: deque[Word]) -> bool:
    return bool(left) and left[0].text.isdigit()


def assigned_command(script: syntax.Script) -> syntax.Script | None:
    """`a=$(command)` is that command: what it prints is kept instead of shown."""
    if len(script) != 1 or not isinstance(script[0], syntax.Assignment):
        return None
    parts = script[0].value.parts
    inner = script[0].value.substitutions
    around = "".join(part for part in parts if isinstance(part, str))
    if len(inner) != 1 or inner[0].opening != "$(" or around.strip("\" '"):
        return None
    return inner[0].script


def _is_substitution(word: Word) -> bool:
    """Whether a word is nothing but what a command prints: `$(command)`, or that in quotes."""
    around = "".join(part for part in word.parts if isinstance(part, str))
    return bool(word.parts) and not around.strip('"')


def plain(text: str) -> str:
    """A word without its quotes and backslashes, as the utility would get it.

    >>> plain("'{}'"), plain(r"\\{\\}"), plain('"a b"')
    ('{}', '{}', 'a b')
    """
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    if len(text) > 1 and text[0] == text[-1] == '"':
        return re.sub(r'\\(["\\$`])', r"\1", text[1:-1])
    return re.sub(r"\\(.)", r"\1", text)


def _without_sudo(words: Sequence[Word]) -> Sequence[Word]:
    """The words behind sudo, unless it runs them as somebody else than root."""
    if len(words) < 2 or words[0].text != "sudo":
        return words
    start = 1
    while start < len(words) - 1 and words[start].text.startswith("-"):
        flag = words[start].text
        if flag in _SUDO_AS and plain(words[start + 1].text) != "root":
            return words
        start += 2 if flag in _SUDO_TAKES else 1
    return words[min(start, len(words) - 1) :]


class _Reader:
    """Reads the words of one command from left to right."""

    def __init__(self, shaper: Shaper, known: Utility) -> None:
        self.shaper = shaper
        self.known = known
        self.items: list[Item] = []
        self.given: set[str] = set()
        self.n_arguments = 0
        self.ended = False  # behind `--` nothing is a flag any more

    def read(self, words: Sequence[Word]) -> list[Item]:
        """The items that these words are."""
        left = deque(words)
        while left:
            if self._is_nested(left):
                self.items.append(Nested(self.shaper.nested(list(left))))
                break
            word = left.popleft()
            if self.known.number is not None and word.text == "-" and _is_number(left):
                word = Word(f"-{left.popleft().text}")  # `head - 5`, as templates print `head -5`
            text = word.text
            plain_word = word.parts or len(text) < 2 or text[0] != "-"
            if plain_word or self.ended or self.known.style == "plain":
                self._argument(word)
            elif text == "--":
                self.items.append(Sign(text))
                if not self.shaper.reference:
                    self.ended = True
            elif text.startswith("--"):
                self._long(text, left)
            elif self.known.style == "words":
                self._flag(text, left)
            elif self.known.number is not None and _NUMBER.fullmatch(text):
                value = Argument(text[1:], self.known.number)
                self.items.append(Flag("-", (value,)))
            else:
                self._letters(text, left)
        return self.items

    def _is_nested(self, left: deque[Word]) -> bool:
        if left[0].text.startswith("-") and left[0].text != "-":
            return False
        if self.known.nested == "rest":
            return True
        return self.known.nested == "after-first" and self.n_arguments == 1

    def _argument(self, word: Word) -> None:
        kind = self.known.slot(self.n_arguments, self.given)
        self.items.append(self.shaper.argument(word, kind))
        self.n_arguments += 1

    def _long(self, text: str, left: deque[Word]) -> None:
        name, equals, value = text.partition("=")
        if not equals:
            self._flag(name, left)
            return
        taken = self.known.takes.get(name)
        kind = taken.types[0] if taken is not None else "Regex"
        self._add(name, (Argument(value, kind),))

    def _flag(self, name: str, left: deque[Word]) -> None:
        taken = self.known.takes.get(name)
        if taken is None or taken.attached:
            self._add(name, ())
            return
        values = (self.shaper.argument(left.popleft(), kind) for kind in taken.types if left)
        self._add(name, tuple(values))

    def _letters(self, text: str, left: deque[Word]) -> None:
        """Short flags, perhaps joined, the last perhaps with its argument behind it."""
        for position, letter in enumerate(text[1:], start=1):
            name = f"-{letter}"
            taken = self.known.takes.get(name)
            if taken is None:
                self._add(name, ())
            elif position + 1 < len(text):
                self._add(name, (Argument(text[position + 1 :], taken.types[0]),))
                return
            else:
                self._flag(name, left)

    def _add(self, name: str, values: tuple[Argument, ...]) -> None:
        self.given.add(name)
        first = self.known.names.get(name)
        if first is not None:
            self.given.add(first)
        if values and self.known.nested in (name, first):
            inner = self.shaper.script_in(values[0].text)
            if inner is not None:
                self.items.append(Flag(name, (), inner))
                return
        self.items.append(Flag(name, values))


def _xargs(items: Sequence[Item]) -> list[Item]:
    """The word that stands for the input is always {}, and always there."""
    placed: str | None = None
    held: list[Item] = []
    for item in items:
        if isinstance(item, Flag) and item.name in ("-I", "-i", "--replace"):
            value = plain(item.values[0].text) if item.values else "{}"
            placed = value or "{}"
            item = Flag("-I", (Argument("{}", "Regex"),))
        held.append(item)
    if not held or not isinstance(held[-1], Nested):
        return held
    body = held[-1].body
    if placed is not None:
        body = tuple(_renamed(piece, placed) for piece in body) if placed != "{}" else body
        return [*held[:-1], Nested(body)]
    last = body[-1]
    if isinstance(last, Command):
        given = Argument("{}", "File")
        body = (*body[:-1], replace(last, items=(*last.items, given)))
    return [*held[:-1], Flag("-I", (Argument("{}", "Regex"),)), Nested(body)]


def _renamed(piece: Piece, word: str) -> Piece:
    if isinstance(piece, Command):
        return replace(piece, items=tuple(_renamed_item(item, word) for item in piece.items))
    return piece


def _renamed_item(item: Item, word: str) -> Item:
    if isinstance(item, Argument):
        text = "{}" if plain(item.text) == word else item.text.replace(word, "{}")
        return replace(item, text=text, parts=tuple(_renamed_part(p, word) for p in item.parts))
    if isinstance(item, Flag):
        values = tuple(_renamed_item(value, word) for value in item.values)
        held = tuple(value for value in values if isinstance(value, Argument))
        return replace(
            item, values=held, nested=tuple(_renamed(piece, word) for piece in item.nested)
        )
    if isinstance(item, Nested):
        return Nested(tuple(_renamed(piece, word) for piece in item.body))
    return item


def _renamed_part(part: str | Inner, word: str) -> str | Inner:
    if isinstance(part, str):
        return part.replace(word, "{}")
    return replace(part, body=tuple(_renamed(piece, word) for piece in part.body))

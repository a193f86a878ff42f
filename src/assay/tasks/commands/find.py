# SPDX-License-Identifier: Apache-2.0
"""The words of find: start paths, tests, actions, operators, brackets and the commands it runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import TypeAlias

from assay.tasks.commands.shape import Shaper, plain
from assay.tasks.commands.syntax import Word
from assay.tasks.commands.table import Utility
from assay.tasks.commands.tree import Argument, Flag, Item, Sign

RUNNING = ("-exec", "-execdir", "-ok", "-okdir")

_DOING = """
-print -print0 -printf -fprint -fprint0 -fprintf -ls -fls -delete -prune -quit
-exec -execdir -ok -okdir
"""
ACTIONS = frozenset(_DOING.split())
"""What does something or ends the evaluation: tests may not be moved across it."""

_OPERATORS = {
    "-o": "-or",
    "-a": "-and",
    ",": "-and",
    **{w: w for w in ("-or", "-and", "!", "-not")},
}
_LEADING = ("-H", "-L", "-P")
_OPEN, _CLOSE = Sign("\\("), Sign("\\)")

_Tree: TypeAlias = "list[Item | _Tree]"


class FindReader:
    """Reads the words of find from left to right."""

    def __init__(self, shaper: Shaper, known: Utility) -> None:
        self.shaper = shaper
        self.known = known
        self.left: deque[Word] = deque()

    def read(self, words: Sequence[Word]) -> tuple[Item, ...]:
        """The items in order; without a start path it is the folder one is in."""
        self.left = deque(_detached(word) for word in words)
        items = _flat(self._expression(depth=0), self.shaper.reference)
        if items and not any(isinstance(item, Argument) for item in items):
            place = 0
            while place < len(items) and _leads(items[place]):
                place += 1
            items.insert(place, Argument(".", "Path"))
        return tuple(items)

    def _expression(self, depth: int) -> _Tree:
        """What stands up to the closing bracket, or to the end."""
        found: _Tree = []
        while self.left:
            word = self.left.popleft()
            text = plain(word.text) if not word.parts else word.text
            if text == "(":
                with self.shaper.inside():
                    found.append(self._expression(depth + 1))
            elif text == ")":
                if depth:
                    break
            elif text in _OPERATORS:
                # The old tool takes a list of expressions for one that asks for all of them.
                is_list = text == "," and not self.shaper.reference
                found.append(Sign("," if is_list else _OPERATORS[text]))
            elif text == "-" and self.left and self._knows(f"-{self.left[0].text}"):
                # A dash that came off its test, as word processors leave it: `- perm 644`.
                self.left[0] = Word(f"-{self.left[0].text}")
            elif text in RUNNING:
                found.append(self._running(text))
            elif text.startswith("-") and len(text) > 1 and not word.parts:
                found.extend(self._flags(text))
            else:
                found.append(self.shaper.argument(word, "Path"))
        return found

    def _knows(self, flag: str) -> bool:
        return flag in self.known.takes or flag in self.known.flags

    def _flags(self, text: str) -> list[Flag]:
        """A test or an action with what it takes; a word that is neither is joined letters."""
        if not self._knows(text):
            return [Flag(f"-{letter}") for letter in text.lstrip("-")]
        taken = self.known.takes.get(text)
        kinds = taken.types if taken is not None else ()
        values = (self.shaper.argument(self.left.popleft(), kind) for kind in kinds if self.left)
        return [Flag(text, tuple(values))]

    def _running(self, name: str) -> Flag:
        """The command that is run, up to its end; a missing end is added."""
        words: list[Word] = []
        end = "\\;"
        while self.left:
            word = self.left.popleft()
            text = plain(word.text)
            if text == ";":
                break
            if text == "+" and words and self._ends(words[-1]):
                end = "+"
                break
            words.append(word)
        with self.shaper.inside():
            return Flag(name, (), (self.shaper.command(words),) if words else (), end)

    def _ends(self, before: Word) -> bool:
        """Whether a plus ends the command: after {}, or where nothing else could follow."""
        return plain(before.text) == "{}" or not self.left or self._knows(self.left[0].text)


def _detached(word: Word) -> Word:
    """`-L.` is a slip for `-L .`"""
    return Word(word.text[:2]) if word.text in ("-H.", "-L.", "-P.") else word


def _leads(item: Item) -> bool:
    return isinstance(item, Flag) and item.name in _LEADING


def _flat(tree: _Tree, reference: bool) -> list[Item]:
    """Brackets as signs; those around a single element are left out.

    To the old tool `! -name x` is two.
    """
    items: list[Item] = []
    for node in tree:
        if not isinstance(node, list):
            items.append(node)
            continue
        inner = _flat(node, reference)
        elements = [part for part in node if reference or part not in (Sign("!"), Sign("-not"))]
        items.extend(inner if len(elements) == 1 else [_OPEN, *inner, _CLOSE])
    return items

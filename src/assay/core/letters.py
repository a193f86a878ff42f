# SPDX-License-Identifier: Apache-2.0
"""Words as single characters, so that string kernels can compare sequences of words."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from assay.core.errors import InputError


class Letters(dict[str, str]):
    """Gives every distinct word a character of its own: a sequence of words becomes a string.

    Two words share a character only if they are the same word. There are 1,114,112 characters,
    so a long corpus calls `make_room` before each example, which forgets the words so far when
    those of the next example might not fit.

    >>> letters = Letters()
    >>> a, b = letters.spell("to be or not".split()), letters.spell("or to be".split())
    >>> a == b, a[:2] == b[1:]
    (False, True)
    """

    def __missing__(self, word: str) -> str:
        if len(self) > sys.maxunicode:
            raise InputError(
                f"one example has more than {sys.maxunicode:,} different words",
                hint="split it into shorter examples",
            )
        letter = self[word] = chr(len(self))
        return letter

    def make_room(self, n_words: int) -> None:
        """Forget all words if `n_words` new ones might not fit."""
        if len(self) + n_words > sys.maxunicode:
            self.clear()

    def spell(self, words: Iterable[str]) -> str:
        """One character per word."""
        return "".join(map(self.__getitem__, words))


def spell_pairs(
    left: Iterable[Sequence[str]], right: Iterable[Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Sequences of words as strings; string i of the left compares with string i of the right.

    Both sides are taken one by one, so that the words of a long corpus need not be held.
    """
    letters = Letters()
    spelt: tuple[list[str], list[str]] = ([], [])
    for one, other in zip(left, right, strict=True):
        letters.make_room(len(one) + len(other))
        spelt[0].append(letters.spell(one))
        spelt[1].append(letters.spell(other))
    return spelt

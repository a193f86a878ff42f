# SPDX-License-Identifier: Apache-2.0
"""A small phrase table: enough of a model for a working example."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assay.core.errors import InputError


class PhraseTable:
    """Source phrases and their translations; words that are in none are copied.

    >>> table = PhraseTable({("guten", "tag"): ("good", "day"), ("tag",): ("day",)})
    >>> table.translate(["guten", "tag", "Anna"])
    ['good', 'day', 'Anna']
    """

    def __init__(self, phrases: dict[tuple[str, ...], tuple[str, ...]]) -> None:
        self.phrases = phrases
        self.longest = max(map(len, phrases), default=1)
        self._begun = {phrase[:n] for phrase in phrases for n in range(1, len(phrase))}

    @classmethod
    def read(cls, path: str | None) -> PhraseTable:
        """The table in a file: a phrase, a tab and its translation per line."""
        if path is None:
            return cls({})
        try:
            lines = Path(path).read_text(encoding="utf-8").splitlines()
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", path=path) from None
        except UnicodeDecodeError:
            raise InputError("is not UTF-8 text", path=path) from None
        phrases: dict[tuple[str, ...], tuple[str, ...]] = {}
        for number, line in enumerate(lines, 1):
            source, tab, target = line.partition("\t")
            if not tab or not source.split():
                raise InputError(
                    "is not a phrase, a tab and its translation", path=path, line=number
                )
            phrases[tuple(source.split())] = tuple(target.split())
        return cls(phrases)

    def next(self, words: Sequence[str], *, final: bool) -> tuple[int, tuple[str, ...]] | None:
        """How many of the words the next phrase takes, and its translation.

        None where words are lacking: there are none, or, unless `final`, what there is may be the
        beginning of a longer phrase.
        """
        if not words or (not final and tuple(words) in self._begun):
            return None
        for n in range(min(self.longest, len(words)), 0, -1):
            found = self.phrases.get(tuple(words[:n]))
            if found is not None:
                return n, found
        return 1, (words[0],)

    def translate(self, words: Sequence[str]) -> list[str]:
        """A whole sentence."""
        done = 0
        out: list[str] = []
        while (step := self.next(words[done:], final=True)) is not None:
            done += step[0]
            out += step[1]
        return out

# SPDX-License-Identifier: Apache-2.0
"""What differs between two texts, word by word."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import groupby, zip_longest
from operator import itemgetter
from typing import Any, Literal, NamedTuple

Kind = Literal["same", "deleted", "inserted"]

MOST_CELLS = 400_000_000
"""Of the table that the longest common part is found with, one bit each: 50 MB."""

# Scripts written without spaces between words are compared character by character.
_UNSPACED = (
    "\u0e00-\u0e7f\u1000-\u109f\u1780-\u17ff\u3040-\u30ff"  # Thai, Burmese, Khmer, kana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
)
# Signs that belong to the character before them, and would be lost or drawn wrongly on their own:
# accents, vowel points, tones, variants, colours of skin.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a"
    "\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u102b-\u103e\u1056-\u1059\u17b4-\u17d3\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
    "\u3099\u309a\ufe00-\ufe0f\ufe20-\ufe2f\U0001f3fb-\U0001f3ff"
)
_INDIC = "\u0900-\u0963\u0966-\u0dff"  # letters and vowel signs, which are no letters by themselves
_FLAG = "[\U0001f1e6-\U0001f1ff]{2}"
_JOINED = rf"[^\w\s][{_MARKS}]*(?:\u200d[^\w\s][{_MARKS}]*)*"  # a family is one emoji
_WORD = re.compile(
    rf"(\s*)({_FLAG}|[{_UNSPACED}][{_MARKS}]*"
    rf"|(?:[^\W{_UNSPACED}]+|[{_INDIC}])(?:[{_INDIC}{_MARKS}\u200c\u200d]+[^\W{_UNSPACED}]*)*"
    rf"|{_JOINED}|\Z)"
)


class Piece(NamedTuple):
    """A part of a text: the same on both sides, only on the first, or only on the second."""

    kind: Kind
    text: str


class Sides(NamedTuple):
    """Two texts in pieces: the first has same and deleted ones, the second same and inserted."""

    first: tuple[Piece, ...]
    second: tuple[Piece, ...]


def word_diff(first: str, second: str, split: Split | None = None) -> Sides:
    """Both texts in pieces; joined, the pieces of a side are the text again.

    Words are what is aligned, or what `split` cuts a text into. White space goes with the word
    behind it, and is a difference of its own only where the words around it are the same.

    >>> sides = word_diff("the old cat", "the cat sat")
    >>> [tuple(piece) for piece in sides.first]
    [('same', 'the'), ('deleted', ' old'), ('same', ' cat')]
    >>> [tuple(piece) for piece in sides.second]
    [('same', 'the cat'), ('inserted', ' sat')]
    """
    if first == second:
        whole = (Piece("same", first),) if first else ()
        return Sides(whole, whole)
    cut = split or words
    runs = list(_runs(cut(first), cut(second)))
    return Sides(
        tuple(_pieces(("same" if same else "deleted", a) for same, a, _ in runs)),
        tuple(_pieces(("same" if same else "inserted", b) for same, _, b in runs)),
    )


def merged(first: str, second: str, split: Split | None = None) -> tuple[Piece, ...]:
    """Both texts in one line of pieces: what only the first has is deleted, then comes the rest.

    `split` cuts a text into what is compared; words by default.

    >>> [tuple(piece) for piece in merged("the old cat", "the cat sat")]
    [('same', 'the'), ('deleted', ' old'), ('same', ' cat'), ('inserted', ' sat')]
    """
    if first == second:
        return (Piece("same", first),) if first else ()
    cut = split or words
    parts: list[tuple[Kind, str]] = []
    for same, run in groupby(_runs(cut(first), cut(second)), key=itemgetter(0)):
        gone, come = ("".join(texts) for texts in zip(*((a, b) for _, a, b in run), strict=True))
        parts += [("same", come)] if same else [("deleted", gone), ("inserted", come)]
    return tuple(_pieces(parts))


class Word(NamedTuple):
    """A word, a punctuation mark or a character, and the white space before it."""

    space: str
    text: str


Split = Callable[[str], list[Word]]
"""A way to cut a text into what is compared; what it gives holds the whole text."""


def words(text: str) -> list[Word]:
    """The words of a text; the last one is empty and carries the white space at the end.

    >>> [word.text for word in words("Well, 日本 it's a_b")]
    ['Well', ',', '日', '本', 'it', "'", 's', 'a_b', '']
    """
    return [Word(*found) for found in _WORD.findall(text)]


def cut_by(tokens: Callable[[str], Sequence[str] | None]) -> Split:
    """A way to cut texts at the tokens of some language; words where it finds none.

    What lies between two tokens goes with the one behind it.

    >>> [word.text for word in cut_by(str.split)("a  b:c ")]
    ['a', 'b:c', '']
    """

    def split(text: str) -> list[Word]:
        found = tokens(text)
        if found is None:
            return words(text)
        parts, at = [], 0
        for token in found:
            start = text.find(token, at) if token else -1
            if start < 0:
                continue
            parts.append(Word(text[at:start], token))
            at = start + len(token)
        return [*parts, Word(text[at:], "")]

    return split


def texts_of(value: Any) -> list[str]:
    """A prediction or gold as texts: a list of texts is its candidates, other data its JSON.

    >>> texts_of("a"), texts_of(["a", "b"]), texts_of({"k": 1}), texts_of(None)
    (['a'], ['a', 'b'], ['{"k": 1}'], [])
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence) and all(isinstance(item, str) for item in value):
        return list(value)
    return [json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)]


class Ranked(NamedTuple):
    """One candidate of each side at the same rank, from 1; None where a side has no such rank."""

    rank: int
    first: tuple[Piece, ...] | None
    second: tuple[Piece, ...] | None


def differing(first: Any, second: Any) -> list[Ranked]:
    """The candidates of two predictions rank by rank, those alone that differ.

    Predictions that are equal give their first candidate, unmarked.
    """
    pairs = list(enumerate(zip_longest(texts_of(first), texts_of(second)), start=1))
    differ = [(rank, a, b) for rank, (a, b) in pairs if a != b]
    kept = differ or [(rank, a, b) for rank, (a, b) in pairs[:1]]
    return [_ranked(rank, a, b) for rank, a, b in kept]


def _ranked(rank: int, first: str | None, second: str | None) -> Ranked:
    if first is None or second is None:
        return Ranked(rank, _single(first, "deleted"), _single(second, "inserted"))
    return Ranked(rank, *word_diff(first, second))


def _single(text: str | None, kind: Kind) -> tuple[Piece, ...] | None:
    if text is None:
        return None
    return (Piece(kind, text),) if text else ()


_Run = tuple[bool, str, str]  # whether both sides agree, and the text on each side


def _runs(first: list[Word], second: list[Word]) -> Iterator[_Run]:
    if len(first) * len(second) > MOST_CELLS:
        yield False, _joined(first), _joined(second)
        return
    from rapidfuzz.distance import LCSseq  # late: only a diff needs it

    # Numbers, for texts are compared by hash there, and the empty one has the same as a NUL.
    codes: dict[str, int] = {}
    left, right = (
        [codes.setdefault(word.text, len(codes)) for word in side] for side in (first, second)
    )
    for step in LCSseq.opcodes(left, right):
        old = first[step.src_start : step.src_end]
        new = second[step.dest_start : step.dest_end]
        if step.tag != "equal":
            yield False, _joined(old), _joined(new)
            continue
        for one, other in zip(old, new, strict=True):
            yield one.space == other.space, one.space, other.space
            yield True, one.text, other.text


def _joined(words: Iterable[Word]) -> str:
    return "".join(word.space + word.text for word in words)


def _pieces(parts: Iterable[tuple[Kind, str]]) -> Iterator[Piece]:
    """Pieces without empty ones, neighbours of one kind joined."""
    kind: Kind | None = None
    text = ""
    for next_kind, next_text in parts:
        if not next_text:
            continue
        if next_kind == kind:
            text += next_text
            continue
        if kind is not None:
            yield Piece(kind, text)
        kind, text = next_kind, next_text
    if kind is not None:
        yield Piece(kind, text)

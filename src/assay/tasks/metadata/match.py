# SPDX-License-Identifier: Apache-2.0
"""When is a predicted value right? How a field is compared, chosen per field by `--match`.

A rule is `SHAPE:COMPARISON`, either of which may be left out: `soft`, `set:lastname-initial`,
`partial_ulist:levenshtein@0.9`. The shape says what one item is, the comparison when two items are
the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from assay.core.errors import UsageError
from assay.core.names import unknown
from assay.tasks.metadata.normalise import NORMALISERS, as_known

SHAPES = {
    "values": "each value by itself; repeats as --duplicates says",
    "string": "all values of a field joined by blanks, one string per paper",
    "first": "the first value alone",
    "list": "the whole list, in order: right or wrong",
    "ulist": "the whole list, in any order",
    "set": "the whole list, in any order and without repeats",
    "partial_list": "items one by one, aligned in order",
    "partial_ulist": "items one by one, paired one to one in any order",
    "partial_set": "distinct items one by one, paired one to one",
}
"""What one item is."""

THRESHOLDS = {"levenshtein": 0.8, "ratcliff_obershelp": 0.95}
"""The similarities, and from which value on two items count as the same."""

_SOFT = str.maketrans(
    dict.fromkeys(
        "(（[ •*,:;?.!/)）-−–‐«»„\"“”‘’'`$#@]♦♥♣♠\u00a0。、，・\t\n\r"
        "\u00b7\u25fc\u25b2\u25ba\u25c6\u25cb\u25c7\u25cf\u25ce\u25fd\u25f8\u25f9\u25fa"
    )
)


def base_form(text: str) -> str:
    """Lower case, on one line, without doubled blanks: what "strict" compares.

    >>> base_form(" Deep\\n Learning ")
    'deep learning'
    """
    flat = " ".join(text.replace("\n", " ").replace("\t", " ").strip(_TRIMMED).split(" "))
    while "  " in flat:
        flat = flat.replace("  ", " ")
    return flat.replace("&apos;", "'").strip(_TRIMMED).lower()


_TRIMMED = "".join(map(chr, range(0x21)))


def soft_form(text: str) -> str:
    """The base form without blanks and most punctuation: what "soft" compares.

    >>> soft_form("Semi-supervised: a survey") == soft_form("semi supervised, A Survey")
    True
    """
    return base_form(text).translate(_SOFT).lower()


def units(text: str) -> str:
    """One character per UTF-16 unit, so that lengths and distances are those of Java."""
    if all(c <= "\uffff" for c in text):
        return text
    packed = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(packed[i] | packed[i + 1] << 8) for i in range(0, len(packed), 2))


def levenshtein(gold: str, prediction: str) -> float:
    """1 minus the edit distance over the longer length; 1 for two empty strings.

    >>> levenshtein("abcde", "abcdx")
    0.8
    """
    from rapidfuzz.distance import Levenshtein

    left, right = units(gold), units(prediction)
    longest = max(len(left), len(right))
    return (longest - Levenshtein.distance(left, right)) / longest if longest else 1.0


def ratcliff_obershelp(gold: str, prediction: str) -> float:
    """Twice the length of what both share, found longest piece first, over both lengths.

    >>> round(ratcliff_obershelp("wikimedia", "wikimania"), 4)
    0.7778
    """
    from difflib import SequenceMatcher

    return SequenceMatcher(None, units(gold), units(prediction), autojunk=False).ratio()


def _ratcliff_reaches(gold: str, prediction: str, threshold: float) -> bool:
    from difflib import SequenceMatcher

    matcher = SequenceMatcher(None, units(gold), units(prediction), autojunk=False)
    # Two upper bounds first: most pairs that differ never get to the quadratic part.
    if matcher.real_quick_ratio() < threshold or matcher.quick_ratio() < threshold:
        return False
    return matcher.ratio() >= threshold


FORMS: dict[str, Callable[[str], str]] = {
    "exact": lambda text: text,
    **NORMALISERS,
    "strict": base_form,
    "soft": soft_form,
}
"""Comparisons that are equality of a normal form."""

WHOLE = frozenset({"strict", "soft", "levenshtein", "ratcliff_obershelp"})
"""Comparisons that take a field as one string unless told otherwise."""


class Tally(NamedTuple):
    """Items of one paper and field: right ones, predicted ones, gold ones."""

    hits: int
    predicted: int
    gold: int


@dataclass(frozen=True, slots=True)
class Match:
    """How one field is compared.

    >>> str(Match.parse("soft")), str(Match.parse("set:lastname-initial"))
    ('string:soft', 'set:lastname-initial')
    """

    shape: str = "values"
    by: str = "exact"
    threshold: float | None = None

    @classmethod
    def parse(cls, text: str) -> Match:
        """Read a rule; names what is wrong with it."""
        shape, colon, by = text.strip().rpartition(":")
        if not colon and as_known(by, SHAPES) in SHAPES:
            shape, by = by, "exact"
        by, at, number = by.partition("@")
        shape, by = as_known(shape, SHAPES), as_known(by, [*FORMS, *THRESHOLDS])
        if by not in FORMS and by not in THRESHOLDS:
            raise unknown("comparison", by, [*FORMS, *THRESHOLDS])
        shape = shape or ("string" if by in WHOLE else "values")
        if shape not in SHAPES:
            raise unknown("shape", shape, SHAPES)
        if not at:
            return cls(shape, by, THRESHOLDS.get(by))
        if by not in THRESHOLDS:
            raise UsageError(f"'{text}': {by} has no threshold; {' and '.join(THRESHOLDS)} have")
        try:
            threshold = float(number)
        except ValueError:
            threshold = -1.0
        if not 0 < threshold <= 1:
            raise UsageError(f"'{text}': the threshold must be a number above 0 and at most 1")
        return cls(shape, by, threshold)

    def __str__(self) -> str:
        changed = self.threshold is not None and self.threshold != THRESHOLDS[self.by]
        return f"{self.shape}:{self.by}" + (f"@{self.threshold:g}" if changed else "")

    @property
    def is_equality(self) -> bool:
        """Whether two items are the same exactly if their forms are."""
        return self.by in FORMS

    def form(self, text: str) -> str:
        """The text as it is compared."""
        return FORMS[self.by](text) if self.is_equality else base_form(text)

    def is_empty(self, form: str) -> bool:
        """Whether a compared form holds nothing; punctuation is nothing to soft and similarity."""
        return not (soft_form(form) if not self.is_equality else form)

    def same(self, gold: str, prediction: str) -> bool:
        """Whether two compared forms count as the same."""
        if self.is_equality or gold == prediction:
            return gold == prediction
        assert self.threshold is not None
        if self.by == "levenshtein":
            return levenshtein(gold, prediction) >= self.threshold
        return _ratcliff_reaches(gold, prediction, self.threshold)

    def tally(self, predictions: Sequence[str], gold: Sequence[str], duplicates: str) -> Tally:
        """Count one paper.

        >>> Match.parse("partial_ulist:lastname").tally(["A. Lee", "B. Wu"], ["Bo Wu"], "set")
        Tally(hits=1, predicted=2, gold=1)
        """
        if self.shape in ("string", "first"):
            pick = slice(1) if self.shape == "first" else slice(None)
            return self._one(self._joined(predictions[pick]), self._joined(gold[pick]))
        ours, theirs = [self.form(t) for t in predictions], [self.form(t) for t in gold]
        if self.shape == "values":
            return self._values(ours, theirs, duplicates)
        ours = [form for form in ours if not self.is_empty(form)]
        theirs = [form for form in theirs if not self.is_empty(form)]
        if self.shape.endswith("set"):
            ours, theirs = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
        ordered = self.shape.endswith("_list") or self.shape == "list"
        hits = self.in_order(ours, theirs) if ordered else self.paired(ours, theirs)
        if self.shape.startswith("partial"):
            return Tally(hits, len(ours), len(theirs))
        right = bool(ours) and hits == len(ours) == len(theirs)
        return Tally(int(right), int(bool(ours)), int(bool(theirs)))

    def right(self, predictions: Sequence[str], gold: Sequence[str]) -> tuple[set[str], set[str]]:
        """The predicted values that are right and the gold values that were found.

        >>> Match.parse("lastname").right(["A. Lee", "B. Wu"], ["Bo Wu"])
        ({'B. Wu'}, {'Bo Wu'})
        """
        if self.shape == "values" and self.by == "exact":
            shared = set(predictions) & set(gold)
            return shared, shared
        if self.shape == "values" or self.shape.startswith("partial"):
            ours, theirs = [self.form(t) for t in predictions], [self.form(t) for t in gold]
            if self.is_equality:
                known, given = set(theirs), set(ours)
                return (
                    {t for t, form in zip(predictions, ours, strict=True) if form in known},
                    {t for t, form in zip(gold, theirs, strict=True) if form in given},
                )
            pairs = [
                (i, j) for i, p in enumerate(ours) for j, g in enumerate(theirs) if self.same(g, p)
            ]
            return {predictions[i] for i, _ in pairs}, {gold[j] for _, j in pairs}
        pick = slice(1) if self.shape == "first" else slice(None)
        if self.tally(predictions, gold, "set").hits:
            return set(predictions[pick]), set(gold[pick])
        return set(), set()

    def _joined(self, texts: Sequence[str]) -> str:
        if self.by in NORMALISERS:
            return " ".join(self.form(text) for text in texts).strip()
        return " ".join(texts)

    def _one(self, prediction: str, gold: str) -> Tally:
        """One string against one: a wrong prediction is a false positive and not also a miss."""
        if self.by in NORMALISERS:
            ours, theirs = prediction, gold
        else:
            ours, theirs = self.form(prediction), self.form(gold)
        # Before anything is deleted, two empty strings are nothing to judge.
        bare = (
            (prediction, gold) if self.by == "exact" else (base_form(prediction), base_form(gold))
        )
        if not any(bare):
            return Tally(0, 0, 0)
        if self.same(theirs, ours):
            return Tally(1, 1, 1)
        has_gold = int(not self.is_empty(theirs))
        return Tally(0, int(not self.is_empty(ours)), has_gold)

    def _values(self, ours: list[str], theirs: list[str], duplicates: str) -> Tally:
        if duplicates == "reference":
            hits = sum(any(self.same(g, p) for g in theirs) for p in ours)
            return Tally(hits, len(ours), len(theirs))
        if duplicates == "set":
            ours, theirs = list(dict.fromkeys(ours)), list(dict.fromkeys(theirs))
        return Tally(self.paired(ours, theirs), len(ours), len(theirs))

    def paired(self, ours: Sequence[str], theirs: Sequence[str]) -> int:
        """The most items that can be paired one to one."""
        return sum(g is not None for g in self.pairing(ours, theirs))

    def pairing(self, ours: Sequence[str], theirs: Sequence[str]) -> list[int | None]:
        """For each predicted form the gold form it is paired with, as many pairs as possible."""
        taken: dict[int, int] = {}
        if self.is_equality:
            free: dict[str, list[int]] = {}
            for j in range(len(theirs) - 1, -1, -1):
                free.setdefault(theirs[j], []).append(j)
            return [free[p].pop() if free.get(p) else None for p in ours]
        near = [[j for j, g in enumerate(theirs) if self.same(g, p)] for p in ours]

        partner: dict[int, int] = {}
        for i in range(len(ours)):
            self._place(i, near, taken, partner)
        return [partner.get(i) for i in range(len(ours))]

    @staticmethod
    def _place(
        start: int, near: Sequence[Sequence[int]], taken: dict[int, int], partner: dict[int, int]
    ) -> None:
        """Find predicted item `start` a gold item; others may have to move to free one.

        A search in breadth, without recursion, for author lists can be thousands long.
        """
        came_from: dict[int, int] = {}
        queue = [start]
        for i in queue:
            for j in near[i]:
                if j in came_from:
                    continue
                came_from[j] = i
                if j in taken:
                    queue.append(taken[j])
                    continue
                freed: int | None = j
                while freed is not None:  # hand gold items over, back along the way we came
                    mover = came_from[freed]
                    taken[freed] = mover
                    partner[mover], freed = freed, partner.get(mover)
                return

    def in_order(self, ours: Sequence[str], theirs: Sequence[str]) -> int:
        """The most items that can be paired without crossing: a longest common subsequence."""
        row = [0] * (len(theirs) + 1)
        for p in ours:
            before = row
            row = [0]
            for j, g in enumerate(theirs):
                row.append(before[j] + 1 if self.same(g, p) else max(before[j + 1], row[j]))
        return row[-1]

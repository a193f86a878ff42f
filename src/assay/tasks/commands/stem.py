# SPDX-License-Identifier: Apache-2.0
"""The Snowball stemmer for English, also called Porter2: `directories` and `directory` are one.

Written after the published description of the algorithm
(https://snowballstem.org/algorithms/english/stemmer.html) in the version of 2002 to 2023, which the
keys of stored verdicts were made with.
"""

from __future__ import annotations

import re
from functools import lru_cache

_SPECIAL = {
    "skis": "ski",
    "skies": "sky",
    "dying": "die",
    "lying": "lie",
    "tying": "tie",
    "idly": "idl",
    "gently": "gentl",
    "ugly": "ugli",
    "early": "earli",
    "only": "onli",
    "singly": "singl",
    **dict.fromkeys(("inning", "innings"), "inning"),
    **dict.fromkeys(("outing", "outings"), "outing"),
    **dict.fromkeys(("canning", "cannings"), "canning"),
    **dict.fromkeys(("herring", "herrings"), "herring"),
    **dict.fromkeys(("earring", "earrings"), "earring"),
    **{f"{w}{end}": w for w in ("proceed", "exceed", "succeed") for end in ("", "s", "ed", "ing")},
    **{w: w for w in ("sky", "news", "howe", "atlas", "cosmos", "bias", "andes")},
}
_VOWELS = "aeiouy"
_DOUBLES = ("bb", "dd", "ff", "gg", "mm", "nn", "pp", "rr", "tt")
_REGION = re.compile(r"[aeiouy][^aeiouy]")
_OWN_REGION = ("gener", "commun", "arsen")

# Suffix, what is taken off, what is put on.
_STEP_2 = (
    ("ization", "ization", "ize"), ("ational", "ational", "ate"), ("fulness", "ness", ""),
    ("ousness", "ousness", "ous"), ("iveness", "iveness", "ive"), ("tional", "al", ""),
    ("biliti", "biliti", "ble"), ("lessli", "li", ""), ("entli", "li", ""),
    ("ation", "ation", "ate"), ("alism", "alism", "al"), ("aliti", "aliti", "al"),
    ("ousli", "ousli", "ous"), ("iviti", "iviti", "ive"), ("fulli", "li", ""), ("enci", "i", "e"),
    ("anci", "i", "e"), ("abli", "i", "e"), ("izer", "izer", "ize"), ("ator", "ator", "ate"),
    ("alli", "alli", "al"), ("bli", "bli", "ble"), ("ogi", "i", ""), ("li", "li", ""),
)  # fmt: skip
_STEP_3 = (
    ("ational", "ational", "ate"), ("tional", "al", ""), ("alize", "ize", ""),
    ("icate", "icate", "ic"), ("iciti", "iciti", "ic"), ("ative", "ative", ""),
    ("ical", "ical", "ic"), ("ness", "ness", ""), ("ful", "ful", ""),
)  # fmt: skip
_STEP_4 = (
    "ement", "ance", "ence", "able", "ible", "ment", "ant", "ent", "ism", "ate", "iti", "ous",
    "ive", "ize", "ion", "al", "er", "ic",
)  # fmt: skip


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """The stem of a word, in lower case.

    >>> [stem(w) for w in ("Directories", "running", "files", "recursively", "100M")]
    ['directori', 'run', 'file', 'recurs', '100m']
    """
    word = word.lower()
    if len(word) <= 2:
        return word
    if word in _SPECIAL:
        return _SPECIAL[word]
    word = re.sub("[\u2018\u2019\u201b]", "'", word).removeprefix("'")
    return _Stem(_with_consonants(word)).result()


def _with_consonants(word: str) -> str:
    """A y that sounds like a consonant is written Y until the end."""
    if "y" not in word:
        return word
    letters = list(word)
    for i, letter in enumerate(letters):
        if letter == "y" and (i == 0 or letters[i - 1] in _VOWELS):
            letters[i] = "Y"
    return "".join(letters)


class _Stem:
    """A word on its way through the steps; `r1` and `r2` are how long its regions at the end are.

    A region that a suffix reaches beyond is gone: so it is in the implementation that the keys of
    stored verdicts come from, and only there (`xanizer` becomes `xanize`,
    not `xaniz`), except that -ate and -ive keep their e in it.
    """

    def __init__(self, word: str) -> None:
        self.word = word
        own = next((start for start in _OWN_REGION if word.startswith(start)), None)
        start = len(own) if own is not None else _after_region(word, 0)
        self.r1 = len(word) - start
        self.r2 = len(word) - _after_region(word, start)

    def result(self) -> str:
        for step in (self._step_0, self._step_1a, self._step_1b, self._step_1c):
            step()
        for step in (self._step_2, self._step_3, self._step_4, self._step_5):
            step()
        return self.word.replace("Y", "y")

    def _ends(self, suffix: str, region: int | None = None) -> bool:
        return self.word.endswith(suffix) and (region is None or len(suffix) <= region)

    def _cut(self, suffix: str, new: str = "") -> None:
        self.word = self.word[: len(self.word) - len(suffix)] + new
        change = len(new) - len(suffix)
        self.r1 = self.r1 + change if self.r1 >= len(suffix) else 0
        self.r2 = self.r2 + change if self.r2 >= len(suffix) else 0

    def _add_e(self, *, always: bool) -> None:
        """A region grows with the word, unless the word is short."""
        self.word += "e"
        self.r1 += always or self.r1 > 0
        self.r2 += (len(self.word) > 5 or self.r1 >= 3) if always else self.r2 > 0

    def _step_0(self) -> None:
        for suffix in ("'s'", "'s", "'"):
            if self._ends(suffix):
                self._cut(suffix)
                return

    def _step_1a(self) -> None:
        word = self.word
        if self._ends("sses"):
            self._cut("es")
        elif self._ends("ied") or self._ends("ies"):
            self._cut("ies", "i" if len(word) > 4 else "ie")
        elif self._ends("us") or self._ends("ss"):
            return
        elif self._ends("s") and any(letter in _VOWELS for letter in word[:-2]):
            self._cut("s")

    def _step_1b(self) -> None:
        for suffix in ("eedly", "ingly", "edly", "eed", "ing", "ed"):
            if not self._ends(suffix):
                continue
            if suffix.startswith("eed"):
                if self._ends(suffix, self.r1):
                    self._cut(suffix, "ee")
            elif any(letter in _VOWELS for letter in self.word[: -len(suffix)]):
                self._cut(suffix)
                self._mend()
            return

    def _mend(self) -> None:
        """What is left after -ed or -ing gets its e back, or loses a doubled letter."""
        if self.word.endswith(("at", "bl", "iz")):
            self._add_e(always=True)
        elif self.word.endswith(_DOUBLES):
            self._cut(self.word[-1])
        elif self.r1 == 0 and _ends_short(self.word):
            self._add_e(always=False)

    def _step_1c(self) -> None:
        if len(self.word) > 2 and self.word[-1] in "yY" and self.word[-2] not in _VOWELS:
            self._cut("y", "i")

    def _step_2(self) -> None:
        for suffix, old, new in _STEP_2:
            if not self._ends(suffix):
                continue
            before = self.word[-len(suffix) - 1 : -len(suffix)]
            allowed = {"ogi": "l", "li": "cdeghkmnrt"}.get(suffix)
            if self._ends(suffix, self.r1) and (allowed is None or (before and before in allowed)):
                gone = self.r2 < len(old)
                self._cut(old, new)
                self.r2 += gone and new in ("ate", "ive")
            return

    def _step_3(self) -> None:
        for suffix, old, new in _STEP_3:
            if self._ends(suffix):
                if self._ends(suffix, self.r2 if suffix == "ative" else self.r1):
                    self._cut(old, new)
                return

    def _step_4(self) -> None:
        for suffix in _STEP_4:
            if self._ends(suffix):
                allowed = suffix != "ion" or self.word[-4:-3] in ("s", "t")
                if self._ends(suffix, self.r2) and allowed:
                    self._cut(suffix)
                return

    def _step_5(self) -> None:
        if (
            (self._ends("l", self.r2) and self.word[-2:] == "ll")
            or self._ends("e", self.r2)
            or (self._ends("e", self.r1) and not _ends_short(self.word[:-1]))
        ):
            self.word = self.word[:-1]


def _after_region(word: str, start: int) -> int:
    found = _REGION.search(word, start)
    return found.end() if found is not None else len(word)


def _ends_short(word: str) -> bool:
    """Whether the word ends in a short syllable."""
    if len(word) == 2:
        return word[0] in _VOWELS and word[1] not in _VOWELS
    return (
        len(word) > 2
        and word[-3] not in _VOWELS
        and word[-2] in _VOWELS
        and word[-1] not in "aeiouywxY"
    )

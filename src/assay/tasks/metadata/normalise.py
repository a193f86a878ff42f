# SPDX-License-Identifier: Apache-2.0
"""Normal forms of titles, venues and author names, as the label files of old were made with.

Strings are seen as Java sees them where it matters: an initial is one UTF-16 unit, blanks are the
six ASCII ones, a no-break space is a letter like any other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass

_PUNCTUATION = str.maketrans(
    dict.fromkeys("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~\u2019\u201c\u201d\u2192\u2013\u2014", " ")
)
_BLANKS = re.compile(r"[ \t\n\x0b\f\r]+")
_CONTROL = "".join(map(chr, range(0x21)))
_ACCENTS = re.compile("[\u0300-\u036f]")

PARTICLES = frozenset({"van", "von", "da", "de", "der", "den", "del", "della", "di", "la", "le"})
SUFFIXES = frozenset({"jr", "sr", "ii", "iii", "iv"})


def normalise(text: str) -> str:
    """Lower case, trimmed, without accents, runs of blanks as one; punctuation stays.

    >>> normalise("  Naïve   Bayes! ")
    'naive bayes!'
    """
    lowered = text.lower().strip(_CONTROL)
    if not lowered.isascii():
        lowered = _ACCENTS.sub("", unicodedata.normalize("NFD", lowered))
    return _BLANKS.sub(" ", lowered)


def without_punctuation(text: str) -> str:
    """Every punctuation character as one blank."""
    return text.translate(_PUNCTUATION)


def title(text: str) -> str:
    """The normal form of a title.

    >>> title("Deep Learning: A Review.")
    'deep learning a review'
    """
    return normalise(without_punctuation(text))


venue = normalise
"""The normal form of a venue: like a title, but punctuation stays."""


@dataclass(frozen=True, slots=True)
class Name:
    """An author's name in parts."""

    first: str
    middle: tuple[str, ...]
    last: str

    def full(self) -> str:
        """First, middle and last name with one blank between; a lone last name keeps the blank."""
        parts = [self.first, *self.middle, self.last]
        return _BLANKS.sub(" ", " ".join(map(without_punctuation, parts)))

    def last_normalised(self) -> str:
        """The last name as titles are normalised."""
        return title(self.last)

    def full_normalised(self) -> str:
        """The full name, each part normalised by itself."""
        return _joined(self.first, *self.middle, self.last)

    def initial_normalised(self) -> str:
        """First initial and last name, normalised; middle names do not count."""
        initial = self.first.encode("utf-16-le", "surrogatepass")[:2]
        return _joined(initial.decode("utf-16-le", "surrogatepass"), self.last)


def _joined(*parts: str) -> str:
    return _BLANKS.sub(" ", " ".join(title(part) for part in parts))


def parse_name(text: str, *, careful: bool = False) -> Name:
    """The parts of a name, `Last, First Middle` or `First Middle Last`.

    Without a comma the last word is the last name, hyphens separate words, and nothing is known of
    particles and suffixes; `careful` keeps hyphens, counts particles (van, de, ...) to the last
    name and leaves suffixes (Jr, III, ...) out.

    >>> parse_name("Jan van den Berg").last, parse_name("Jan van den Berg", careful=True).last
    ('Berg', 'van den Berg')
    """
    if careful:
        return _parse_carefully(text)
    last, comma, rest = text.partition(",")
    if comma:
        words = _words(without_punctuation(rest).strip(_CONTROL))
        return Name(words[0], tuple(words[1:]), without_punctuation(last).strip(_CONTROL))
    words = _words(without_punctuation(text))
    if len(words) == 1:
        return Name("", (), words[0])
    return Name(words[0], tuple(words[1:-1]), words[-1])


def _words(text: str) -> list[str]:
    """Split at blanks as Java does: a leading empty piece stays, trailing ones go."""
    words = _BLANKS.split(text)
    while len(words) > 1 and not words[-1]:
        words.pop()
    return words


def _parse_carefully(text: str) -> Name:
    last, comma, rest = text.replace(".", " ").partition(",")
    if comma:
        given = [w for w in rest.replace(",", " ").split() if w.lower() not in SUFFIXES]
        surname = [w for w in last.split() if w.lower() not in SUFFIXES] or last.split()
        return Name(given[0] if given else "", tuple(given[1:]), " ".join(surname))
    words = text.replace(".", " ").split()
    while len(words) > 1 and words[-1].lower() in SUFFIXES:
        words.pop()
    if not words:
        return Name("", (), "")
    start = len(words) - 1
    while start > 1 and words[start - 1].lower() in PARTICLES:
        start -= 1
    given = words[:start]
    return Name(given[0] if given else "", tuple(given[1:]), " ".join(words[start:]))


def last_name(text: str) -> str:
    """The last name as written, punctuation as blanks."""
    return parse_name(text).last


NORMALISERS: dict[str, Callable[[str], str]] = {
    "title": title,
    "venue": venue,
    "author": lambda text: parse_name(text).full_normalised(),
    "lastname": lambda text: parse_name(text).last_normalised(),
    "lastname-initial": lambda text: parse_name(text).initial_normalised(),
    "careful-lastname": lambda text: parse_name(text, careful=True).last_normalised(),
    "careful-initial": lambda text: parse_name(text, careful=True).initial_normalised(),
    "nonempty": lambda text: "x" if text.strip() else "",
}
"""Normal forms by name, for `--match`, `--derive` and `assay metadata normalise`."""

LABEL_FORMS: dict[str, Callable[[str], str]] = {
    **NORMALISERS,
    "fullname-exact": lambda text: parse_name(text).full(),
    "lastname-exact": last_name,
}
"""What the values of a label file can be rewritten to."""


def as_known(name: str, known: Iterable[str]) -> str:
    """The known name that is meant: hyphens, underscores and case do not matter.

    >>> as_known("Last_Name", NORMALISERS), as_known("lastnames", NORMALISERS)
    ('lastname', 'lastnames')
    """
    return {_bare(k): k for k in known}.get(_bare(name), name)


def _bare(name: str) -> str:
    return name.replace("-", "").replace("_", "").lower()

# SPDX-License-Identifier: Apache-2.0
"""The key of a description: what two wordings of one request have in common.

Pairs are grouped by it, and verdicts are found again by it. It follows the old program's rules
without their last step, spelling correction, which changes 1 of 549 groups and no verdict.
"""

from __future__ import annotations

import re
from functools import lru_cache

from assay.tasks.commands.stem import stem

_PLAIN_REPLACEMENTS = (
    ("“", '"'), ("”", '"'), ("‘", "'"), ("’", "'"),
    ("`'", '"'), ("``", '"'), ("''", '"'), ("(", " ( "), (")", " ) "),
    (" `", " '"), ("` ", "' "), ("server`s", "server's"),
)  # fmt: skip
_ALIKE = (
    (r"\"?(?:normal/regular|regular/normal|normal/regualar)\"?", "regular"),
    (r"\"?file/directory\"?", "file or directory"),
    (r"\"?files/directories\"?", "files and directories"),
    (r"\"?(?:name/path|names/paths)\"?", "name or path"),
    (r" pattern' ", " pattern "),
)
_WORD = re.compile(
    r"""(?<!\S)(?:'[^']*')+(?!\S)"""
    r"""|[ugo|]+[+|=][rwxsut|]+(?:,[ugo|]+[+|=][rwxsut|]+)*"""
    r"""|(?:[^\s,"]|"[^"]*")+"""
)
_ENGLISH = re.compile(r"[A-Za-z]+(?:-[A-Za-z]+)*|(?:i\.e|e\.g|s\.a|s\.t)\.?|'s|'t", re.IGNORECASE)
_NOT_STEMMED = re.compile(r"[_.*|\\/~@%#?+${}<>]")
_STOP_WORDS = """
the has have had here there do how i i'd i'll i'm i've me my myself can could did does doing must
should would you you'd you'll you're you've your yours yourself yourselves he he'd he'll he's her
here's hers herself him himself his she she'd she'll she's it's itself we we'd we'll we're we've
their theirs themselves then there's they they'd they'll they're they've let let's this what's how's
"""
_STOP = frozenset(_STOP_WORDS.split())
_UNITS = (
    "zero", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
    "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
    "twenty",
)  # fmt: skip
_TENS = ("thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_NUMBERS = {
    **{word: str(n) for n, word in enumerate(_UNITS) if word},
    **{word: str(n) for n, word in zip(range(30, 100, 10), _TENS, strict=True)},
    "twenty-four": "24",
}


@lru_cache(maxsize=1 << 14)
def description_key(description: str) -> str:
    """The key of a description.

    >>> description_key("Find all the files (case insensitive) in the directory '/tmp x'")
    "find all file in directori '/tmp x'"
    """
    words = (_normal(word) for word in _WORD.findall(_repaired(description)))
    return " ".join(word for word in words if word)


def _repaired(text: str) -> str:
    text = _without_brackets(text.strip())
    for old, new in _PLAIN_REPLACEMENTS:
        text = text.replace(old, new)
    for sign in ",;:.":
        text = re.sub(rf"{re.escape(sign)}(?:\s+|$)", " ", text)
    text = re.sub(r"'(?=s|re|ve|d|t)", " '", text)
    text = re.sub(r"^(?:[Tt]|\|)o ", "", text)
    text = text.replace("${HOME}", "\\$HOME")
    for pattern, new in _ALIKE:
        text = re.sub(pattern, new, text)
    return text


def _without_brackets(text: str) -> str:
    """The text without what stands in brackets, each up to the first that closes."""
    kept, done = [], 0
    while (start := text.find("(", done)) >= 0 and (end := text.find(")", start)) >= 0:
        kept.append(text[done:start])
        done = end + 1
    return "".join([*kept, text[done:]])


def _normal(word: str) -> str:
    word = word.strip()
    if word in ('"', "'"):
        return ""
    quoted = len(word) > 1 and word[0] in "\"'" and word[-1] in "\"'"
    if len(word) > 1 and not quoted and _ENGLISH.fullmatch(word):
        word = word.lower()
    if word.lower() in _STOP:
        return ""
    word = _NUMBERS.get(word, word)
    edges = word[:1] in ("'", '"') or word[-1:] in ("'", '"')
    if not edges and not _NOT_STEMMED.search(word):
        word = stem(word)
    return word.strip()

# SPDX-License-Identifier: Apache-2.0
"""How many units a reference has: words, characters or pieces of a SentencePiece model.

By default the two sides are counted alike: words are what stands between white space, characters
are all but white space. SimulEval counts references its own way, which `counting="simuleval"`
keeps: words are the pieces between single blanks, so that an empty reference has one and double
blanks add some; characters include the blanks inside.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from assay.core.errors import InputError, UsageError
from assay.core.names import unknown
from assay.core.text import Texts
from assay.core.tokens import is_space, plainly_spaced
from assay.tasks.simul.ragged import Numbers

UNITS = ("word", "char", "spm")
COUNTINGS = ("alike", "simuleval")


def check(unit: str, counting: str) -> None:
    """Refuse names that do not exist."""
    if unit not in UNITS:
        raise unknown("unit", unit, UNITS)
    if counting not in COUNTINGS:
        raise unknown("counting", counting, COUNTINGS)


def unit_counts(texts: Texts, unit: str, counting: str = "alike", model: str = "") -> Numbers:
    """The units of each text.

    >>> unit_counts(Texts.of(["a  b c", ""]), "word").tolist()
    [3.0, 0.0]
    >>> unit_counts(Texts.of(["a  b c", ""]), "word", "simuleval").tolist()
    [4.0, 1.0]
    """
    if unit == "word" and counting == "alike":
        return _words(texts)
    if unit == "word":
        return _counted(texts, lambda text: text.removesuffix("\n").count(" ") + 1)
    if unit == "char" and counting == "alike":
        return _counted(texts, lambda text: len("".join(text.split())))
    if unit == "char":
        return _counted(texts, lambda text: len(text.strip()))
    pieces = _pieces(model)
    return _counted(texts, lambda text: len(pieces(text)))


def _words(texts: Texts) -> Numbers:
    """Words between white space, counted on the bytes of all texts at once."""
    packed = texts.compact()
    space = is_space(np.frombuffer(plainly_spaced(packed.data), dtype=np.uint8))
    first = ~space
    first[1:] &= space[:-1]  # a word begins behind white space
    bounds = np.append(packed.starts, len(space))
    return np.diff(np.searchsorted(np.flatnonzero(first), bounds)).astype(np.float64)


def _counted(texts: Texts, count: Callable[[str], int]) -> Numbers:
    return np.array([count(text) for text in texts], dtype=np.float64)


def _pieces(model: str) -> Callable[[str], list[Any]]:
    encode: Callable[[str], list[Any]] = processor(model).EncodeAsPieces
    return encode


@lru_cache(maxsize=4)
def processor(model: str) -> Any:
    """The SentencePiece model of a file."""
    if not model:
        raise UsageError("unit=spm needs the model: give --eval-latency-spm-model FILE")
    try:
        import sentencepiece
    except ImportError:
        raise UsageError(
            "unit=spm needs the package sentencepiece; install it: pip install sentencepiece"
        ) from None
    found = sentencepiece.SentencePieceProcessor()
    try:
        found.Load(model)
    except (OSError, RuntimeError):
        raise InputError(
            "cannot be read as a SentencePiece model",
            path=model,
            hint="give the .model file that the system was trained with",
        ) from None
    return found

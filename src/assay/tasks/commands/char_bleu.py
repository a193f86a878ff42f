# SPDX-License-Identifier: Apache-2.0
"""BLEU of single commands over characters, without smoothing."""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from typing import ClassVar

from assay.tasks.commands.ranked import RankedMetric

ORDER = 4


@dataclass(frozen=True)
class CharacterBleu(RankedMetric):
    """BLEU of each prediction by itself, characters being its words: 1- to 4-grams, no smoothing.

    From 0 to 1, more is better. An order without match gives a number near 1e-77 or less rather
    than 0; no common character, or an empty prediction, gives 0. Equal to `sentence_bleu` of nltk
    on the raw strings. `top1_...` is the mean over first predictions, `topK_...` that of the best
    among the first `k`.

    >>> scores = CharacterBleu().score([(["ls -a x"], ["ls -a y"])])
    >>> round(scores["top1_character_bleu"], 4)  # (6/7 * 5/6 * 4/5 * 3/4) ** (1/4)
    0.8091
    """

    name: ClassVar[str] = "character_bleu"
    what: ClassVar[str] = "character_bleu"
    perfect: ClassVar[bool] = False  # `ls` has no 3-grams to match

    def value(self, prediction: str, references: Sequence[str]) -> float:
        """BLEU of one prediction."""
        if not prediction or not references:
            return 0.0
        length = len(prediction)
        nearest = min((len(text) for text in references), key=lambda n: (abs(n - length), n))
        most = _most(tuple(references))
        logs = []
        for order, (own, limits) in enumerate(zip(_grams(prediction), most, strict=True), start=1):
            found = sum(map(min, own.values(), map(limits.get, own, repeat(0))))
            if order == 1 and found == 0:
                return 0.0
            total = max(1, length - order + 1)
            logs.append(math.log(found / total if found else sys.float_info.min))
        penalty = 1.0 if length > nearest else math.exp(1 - nearest / length)
        return penalty * math.exp(math.fsum(log / ORDER for log in logs))


def _grams(text: str) -> list[Counter[str]]:
    """How often each n-gram occurs, for each order; zip cuts them out faster than slices do."""
    tails = [text[i:] for i in range(ORDER)]
    return [Counter(map("".join, zip(*tails[:n], strict=False))) for n in range(1, ORDER + 1)]


@lru_cache(maxsize=64)
def _most(references: tuple[str, ...]) -> list[Counter[str]]:
    """How often each n-gram may be counted: as often as the gold command that has it most."""
    found = _grams(references[0])
    for text in references[1:]:
        found = [a | b for a, b in zip(found, _grams(text), strict=True)]
    return found

# SPDX-License-Identifier: Apache-2.0
"""Template match score: how much of the utilities, flags and operators two commands share."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, get_args

from assay.core.names import unknown
from assay.tasks.commands.forms import Mode, form
from assay.tasks.commands.parts import structure_tokens
from assay.tasks.commands.ranked import RankedMetric


@dataclass(frozen=True)
class TemplateScore(RankedMetric):
    """Cosine of the counts of utilities, flags, pipes, brackets, operators and substitutions.

    A flag counts together with the types of its arguments; other arguments do not count.

    From 0 (nothing in common, or a command that cannot be parsed) to 1, more is better; the best
    over gold commands. `top1_...` is the mean over first predictions, `topK_...` that of the best
    among the first `k`. Source: Lin et al. 2018, NL2Bash.

    >>> scores = TemplateScore().score([(["ls -a x"], ["ls -a -l y"])])
    >>> round(scores["top1_template_match_score"], 4)  # {ls, -a} and {ls, -a, -l}
    0.8165
    """

    match: str = "strict"

    name: ClassVar[str] = "template_match"
    what: ClassVar[str] = "template_match_score"
    perfect: ClassVar[bool] = False  # a gold command that cannot be parsed matches nothing

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.match not in get_args(Mode):
            raise unknown("way to match", self.match, get_args(Mode))

    def value(self, prediction: str, references: Sequence[str]) -> float:
        """Best cosine over the gold commands."""
        own = _counts(prediction, self.match)
        return max((_cosine(own, _counts(text, self.match)) for text in references), default=0.0)


@lru_cache(maxsize=1 << 14)
def _counts(text: str, mode: str) -> Counter[str]:
    return Counter(structure_tokens(form(text, mode).body))


def _cosine(a: Counter[str], b: Counter[str]) -> float:
    if not a or not b:
        return 0.0
    if a == b:
        return 1.0  # to the last bit
    shared = sum(n * b[token] for token, n in a.items())
    return shared / (math.sqrt(_square(a)) * math.sqrt(_square(b)))


def _square(counts: Counter[str]) -> int:
    return sum(n * n for n in counts.values())

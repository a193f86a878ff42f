# SPDX-License-Identifier: Apache-2.0
"""Translation edit rate.

The fewest edits, as a fixed search finds them, that turn the prediction into a reference: words
put in, left out or replaced, and whole phrases moved, each at a cost of 1. Divided by the length
of the reference.

    ter = 100 x edits / gold words

- The search is that of tercom (Snover et al. 2006) as in sacrebleu 2.6, with its limits: phrases
  of at most 10 words, moved by at most 50 places, 1,000 moves tried per example, a beam of 25.
- Of several references the one with the fewest edits counts; gold words are the mean length of
  all of them. An example without references has an empty one.
- Without any gold word the rate is 100 if there are edits and 0 if there are none, as in
  sacrebleu. Without any example it is undefined.
- A missing prediction is an empty one, which has as many edits as the shortest reference has
  words, and at least one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.core.references import candidates
from assay.metrics.ter.count import edits

_Split = Callable[[str], list[str]]


@dataclass(frozen=True)
class Ter(Metric):
    """Edits, moves of phrases among them, per 100 gold words.

    From 0 (right) without an upper end, lower is better. Words are what white space separates, in
    lower case unless `case_sensitive`. `normalized` sets punctuation apart and resolves a few
    entities, `no_punct` removes punctuation; with `asian_support` both look at East Asian
    characters too (alone it changes nothing).

    >>> Ter().score([("on the mat the cat sat", "the cat sat on the mat")])
    {'ter': 16.666666666666668}
    """

    normalized: bool = False
    no_punct: bool = False
    asian_support: bool = False
    case_sensitive: bool = False

    name: ClassVar[str] = "ter"
    columns: ClassVar[tuple[str, ...]] = ("edits", "gold", "count")
    scores: ClassVar[tuple[Score, ...]] = (
        Score("ter", higher_is_better=False, high=np.inf, unit="%"),
    )
    # Where punctuation is set apart, gold is cut once as a prediction and twice as gold.
    perfect: ClassVar[bool] = False

    def measure(self, batch: Batch) -> Rows:
        """Edits against the nearest reference, and the mean length of all."""
        if len(batch) == 0:
            return np.zeros((0, len(self.columns)))
        pairs = candidates(batch)
        split, split_gold = self._splitters()
        predicted = [split(text) for text in batch.texts()]
        gold = [split_gold(text) for text in pairs.references]
        found = edits([predicted[i] for i in pairs.owner.tolist()], gold)
        firsts = pairs.splits[:-1]
        rows = np.ones((len(batch), len(self.columns)))
        rows[:, 0] = np.minimum.reduceat(found, firsts)
        lengths = np.array([len(words) for words in gold])
        rows[:, 1] = np.add.reduceat(lengths, firsts) / np.diff(pairs.splits)
        if batch.missing is not None:
            rows[batch.missing, 0] = np.maximum(rows[batch.missing, 0], 1)
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Edits over gold words."""
        t = totals
        without_gold = np.where(t["count"] == 0, np.nan, np.where(t.edits > 0, 100.0, 0.0))
        return {"ter": np.where(t.gold > 0, ratio(100 * t.edits, t.gold), without_gold)}

    def _splitters(self) -> tuple[_Split, _Split]:
        """How predictions and how references are cut into words."""
        if not self.normalized and not self.no_punct:
            plain = str.split if self.case_sensitive else _lower_words
            return plain, plain
        from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

        tokenise = TercomTokenizer(
            normalized=self.normalized,
            no_punct=self.no_punct,
            asian_support=self.asian_support,
            case_sensitive=self.case_sensitive,
        )
        # sacrebleu sends references through its tokeniser twice, and the second time finds more to
        # set apart: "John's." is "John's ." at first, then "John 's .". Published scores are so.
        return (
            lambda text: tokenise(text.rstrip()).split(),
            lambda text: tokenise(tokenise(text.rstrip())).split(),
        )


def _lower_words(text: str) -> list[str]:
    return text.lower().split()

# SPDX-License-Identifier: Apache-2.0
"""Word and character error rate.

The prediction is turned into the gold with as few edits as possible, each replacing, leaving out
or adding one word (one character). Seen from the gold side an edit is a substitution, a deletion
(gold that is not predicted) or an insertion (predicted without gold); what is left are hits.

    wer = (substitutions + deletions + insertions) / gold words

- Words are what stands between spaces, after runs of two or more white-space characters have
  become one space and white space at both ends is gone: a single tab or no-break space is part of
  a word. This is how jiwer 4.0 reads text, and so are its numbers. Case and punctuation count.
- Characters are Unicode code points, without white space at both ends.
- Of several references the one with the fewest edits is taken, of equal ones the first. An example
  without references has an empty one.
- Empty gold with a prediction counts insertions. A corpus without any gold is undefined.
- A missing prediction is an empty one, and is held against the shortest reference that is not
  empty: all of it is deleted. Where all gold is empty it costs one insertion, so that it is wrong.

Which of several shortest edit sequences is counted changes hits, not the number of edits. It is
the one rapidfuzz gives, as in jiwer.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch
from assay.core.letters import spell_pairs
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.core.references import candidates, first_lowest
from assay.core.text import Texts

COLUMNS = ("hits", "substitutions", "deletions", "insertions", "gold")

_RUN = re.compile(r"\s\s+")


def split_words(text: str) -> list[str]:
    """The words of a text.

    >>> split_words(" one  two\\tthree ")
    ['one', 'two\\tthree']
    """
    words = text.split()
    if " ".join(words) == text:  # single spaces only, which is nearly all text
        return words
    return [word for word in _RUN.sub(" ", text).strip().split(" ") if word]


class _ErrorRate(Metric):
    """What `Wer` and `Cer` share: they differ in the unit that is edited."""

    columns: ClassVar[tuple[str, ...]] = COLUMNS

    @abstractmethod
    def spell(self, predictions: Texts, gold: Texts) -> tuple[list[str], list[str]]:
        """Both sides as strings with one character per unit."""

    def measure(self, batch: Batch) -> Rows:
        """Count hits and edits of each example against its nearest reference."""
        if len(batch) == 0:
            return np.zeros((0, len(COLUMNS)))
        pairs = candidates(batch)
        predicted, gold = self.spell(pairs.predictions, pairs.references)
        edits = _distances(gold, predicted)
        length = _lengths(gold)
        if batch.missing is not None:
            # An empty reference would make an answer that was never given a right one.
            edits[(length == 0) & batch.missing[pairs.owner]] = np.inf
        chosen = first_lowest(edits, pairs.splits)
        at = chosen.tolist()
        rows = _rows([gold[k] for k in at], [predicted[k] for k in at])
        if batch.missing is not None:
            rows[batch.missing & (length[chosen] == 0), COLUMNS.index("insertions")] = 1
        return rows


def _lengths(texts: list[str]) -> NDArray[np.int64]:
    return np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))


def _distances(gold: list[str], predictions: list[str]) -> NDArray[np.float64]:
    from rapidfuzz.distance import Levenshtein
    from rapidfuzz.process import cpdist

    found = cpdist(gold, predictions, scorer=Levenshtein.distance, dtype=np.int64)
    return np.asarray(found, dtype=np.float64)


def _rows(gold: list[str], predictions: list[str]) -> Rows:
    from rapidfuzz.distance import Levenshtein

    n, m = _lengths(gold), _lengths(predictions)
    edits = np.zeros(len(gold), dtype=np.int64)
    hits = np.zeros(len(gold), dtype=np.int64)
    for i, (right, said) in enumerate(zip(gold, predictions, strict=True)):
        if right == said:
            hits[i] = len(right)
            continue
        operations = Levenshtein.editops(right, said)
        edits[i] = len(operations)
        hits[i] = sum(block.size for block in operations.as_matching_blocks())
    # n = hits + S + D, m = hits + S + I, edits = S + D + I.
    insertions = edits - (n - hits)
    deletions = insertions + n - m
    return np.column_stack([hits, n - hits - deletions, deletions, insertions, n]).astype(float)


def _errors(t: Totals) -> Value:
    return t.substitutions + t.deletions + t.insertions


@dataclass(frozen=True)
class Wer(_ErrorRate):
    """Words to change, per gold word, until the prediction is the gold.

    `wer` runs from 0 (right) without an upper end, lower is better; undefined without gold words.
    Three relatives come from the same counts, each from 0 to 1:
    `mer`, match error rate: the share of edits among hits and edits;
    `wip`, word information preserved: share of gold words hit x share of predicted words hit;
    `wil`, word information lost: 1 - wip. The last two need gold words too.
    Sources: Morris, Maier and Green 2004; values as in jiwer 4.0.

    >>> Wer().score([("the cat sat", "the cat sat down"), ("a dog", "the dog")])["wer"]
    0.3333333333333333
    """

    name: ClassVar[str] = "wer"
    scores: ClassVar[tuple[Score, ...]] = (
        Score("wer", higher_is_better=False, high=np.inf),
        Score("mer", higher_is_better=False),
        Score("wil", higher_is_better=False),
        Score("wip"),
    )

    def spell(self, predictions: Texts, gold: Texts) -> tuple[list[str], list[str]]:
        """One character per distinct word."""
        return spell_pairs(map(split_words, predictions), map(split_words, gold))

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Edits over gold words, and the relatives."""
        t = totals
        predicted = t.hits + t.substitutions + t.insertions
        # Nothing predicted preserves nothing: 0, unless there was nothing to say either.
        preserved = ratio(t.hits, t.gold) * ratio(t.hits, np.maximum(predicted, 1))
        return {
            "wer": ratio(_errors(t), t.gold),
            "mer": ratio(_errors(t), t.hits + _errors(t)),
            "wil": 1 - preserved,
            "wip": preserved,
        }


@dataclass(frozen=True)
class Cer(_ErrorRate):
    """Characters to change, per gold character, until the prediction is the gold.

    From 0 (right) without an upper end, lower is better; undefined without gold characters.
    Values as in jiwer 4.0.

    >>> Cer().score([("kitten", "sitting")])["cer"]
    0.42857142857142855
    """

    name: ClassVar[str] = "cer"
    scores: ClassVar[tuple[Score, ...]] = (Score("cer", higher_is_better=False, high=np.inf),)

    def spell(self, predictions: Texts, gold: Texts) -> tuple[list[str], list[str]]:
        """The characters themselves."""
        return [p.strip() for p in predictions], [g.strip() for g in gold]

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Edits over gold characters."""
        return {"cer": ratio(_errors(totals), totals.gold)}

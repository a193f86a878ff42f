# SPDX-License-Identifier: Apache-2.0
"""Exact match.

An example is right when its prediction equals one of its references, character by character. There
is no normalisation unless asked for; in particular "é" as one character and as "e" with a combining
accent differ, and so do "a b" and "a  b". An example without references is never right, nor is a
missing prediction, even where the gold is empty.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

import numpy as np

from assay.core.answers import bare_answer
from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.core.names import unknown
from assay.core.text import Positions, Texts

Normalize = Literal["none", "squad"]


@dataclass(frozen=True)
class Exact(Metric):
    """The share of examples whose prediction is exactly one of the references.

    From 0 to 1, higher is better; undefined without examples. `lowercase` compares both sides in
    lower case, `strip` without white space at both ends. `normalize=squad` compares them without
    case, ASCII punctuation, English articles and repeated spaces, as answers to questions are
    (Rajpurkar et al. 2016); `squad_exact` is short for it.

    >>> Exact().score([("yes", "yes"), ("Yes", ["yes", "yeah"])])
    {'exact': 0.5}
    >>> Exact(lowercase=True).score([("yes", "yes"), ("Yes", ["yes", "yeah"])])
    {'exact': 1.0}
    >>> Exact(normalize="squad").score([("The U.S.", "US")])
    {'exact': 1.0}
    """

    lowercase: bool = False
    strip: bool = False
    normalize: Normalize = "none"

    name: ClassVar[str] = "exact"
    columns: ClassVar[tuple[str, ...]] = ("hits", "count")
    scores: ClassVar[tuple[Score, ...]] = (Score("exact", proportion=("hits", "count")),)
    aliases: ClassVar[Mapping[str, Mapping[str, str]]] = {"squad_exact": {"normalize": "squad"}}

    def __post_init__(self) -> None:
        if self.normalize not in get_args(Normalize):
            raise unknown("normalize of exact", self.normalize, get_args(Normalize))

    def measure(self, batch: Batch) -> Rows:
        """1 for a hit, out of 1."""
        references = batch.references()[0 : len(batch)]
        predictions, gold = self._normal(batch.texts()), self._normal(references.values)
        owner = np.repeat(np.arange(len(batch)), references.counts())
        same_length = _lengths(predictions)[owner] == _lengths(gold)
        rows = np.zeros((len(batch), 2))
        rows[:, 1] = 1
        said, right = predictions.data, gold.data
        at = np.flatnonzero(same_length)
        i = owner[at]
        spans = (predictions.starts[i], predictions.ends[i], gold.starts[at], gold.ends[at])
        # Slices of bytes compare faster than any gathering of them into arrays.
        equal = [
            said[a:b] == right[c:d] for a, b, c, d in zip(*(s.tolist() for s in spans), strict=True)
        ]
        rows[i[np.array(equal, dtype=bool)], 0] = 1
        if batch.missing is not None:
            rows[batch.missing, 0] = 0
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Hits over examples."""
        return {"exact": ratio(totals.hits, totals["count"])}

    def _normal(self, texts: Texts) -> Texts:
        if self.normalize == "squad":  # lower case and free of outer space too
            return Texts.of(map(bare_answer, texts))
        if not self.lowercase and not self.strip:
            return texts
        held = [text.strip() for text in texts] if self.strip else list(texts)
        return Texts.of(text.lower() for text in held) if self.lowercase else Texts.of(held)


def _lengths(texts: Texts) -> Positions:
    return texts.ends - texts.starts

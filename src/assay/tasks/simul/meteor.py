# SPDX-License-Identifier: Apache-2.0
"""METEOR as fairseq's server had it, where nltk and its WordNet are installed."""

from __future__ import annotations

from collections.abc import Sequence


def meteor_mean(texts: Sequence[str], references: Sequence[str]) -> float | None:
    """The mean of the sentences' METEOR; None where it cannot be computed.

    Lower case, white-space tokens; exact matches, then Porter stems, then WordNet; alpha 0.9,
    beta 3, gamma 0.5.
    """
    try:
        from nltk.translate.meteor_score import meteor_score
    except ImportError:
        return None
    total = 0.0
    try:
        for text, reference in zip(texts, references, strict=True):
            total += meteor_score([reference.lower().split()], text.lower().split())
    except LookupError:  # the data of WordNet are not there
        return None
    return total / len(texts) if texts else None

# SPDX-License-Identifier: Apache-2.0
"""BLEU of two files of lines: `evaluate`, as users call it, against sacrebleu's own class."""

from __future__ import annotations

from functools import partial

from benchmarks.corpora import corpus, lines_of
from benchmarks.harness import Case, Work


def ours(n_lines: int, script: str) -> Work:
    """Files to score through the whole pipeline, without intervals, which the peer lacks here."""
    from assay import evaluate, metrics

    files = corpus(n_lines, script)
    metrics.load("bleu")

    def work() -> float:
        result = evaluate("text", files.predictions, files.gold, metrics=["bleu"], ci=0, keep=False)
        return result.scores["bleu"]

    return work


def peer(n_lines: int, script: str) -> Work:
    """The same files, read in the quickest plain way and given to the peer's class.

    A new object each round: one that is used again remembers the lines it has tokenised.
    """
    from sacrebleu.metrics import BLEU

    files = corpus(n_lines, script)
    return lambda: BLEU().corpus_score(lines_of(files.predictions), [lines_of(files.gold)]).score


CASES = [
    Case(
        "BLEU, 3,000 lines",
        "sacrebleu 2.6",
        ours=partial(ours, 3_000, "latin"),
        peer=partial(peer, 3_000, "latin"),
        must=9,
        memory=120,
    ),
    Case(
        "BLEU, 100,000 lines",
        "sacrebleu 2.6",
        ours=partial(ours, 100_000, "latin"),
        peer=partial(peer, 100_000, "latin"),
        must=14,
        memory=120,
        peer_rounds=1,
    ),
    *(
        Case(
            f"BLEU, 3,000 lines, {script}",
            "sacrebleu 2.6",
            ours=partial(ours, 3_000, script),
            peer=partial(peer, 3_000, script),
            must=9,
            memory=120,
        )
        for script in ("cyrillic", "chinese")
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""TER of 3,000 lines: from files to the score, and the counting alone."""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Case, Work
from benchmarks.noisy import files, lines

N_LINES = 3_000


def ours_evaluate() -> Work:
    """The way users go: files in, scores out."""
    import assay

    made = files(N_LINES)
    assay.evaluate("text", ["a"], ["b"], metrics=["ter"], ci=0)  # what is imported late is now here

    def work() -> float | None:
        return assay.evaluate("text", *made, metrics=["ter"], ci=0).scores["ter"]

    return work


def ours_rows(errors: float = 1.0) -> Work:
    """Texts in memory to rows."""
    from assay.core.batch import Batch
    from assay.core.text import Texts
    from assay.metrics.ter import Ter

    made = files(N_LINES, errors)
    batch = Batch(Texts.of(lines(made.predictions)), Texts.of(lines(made.gold)))
    return lambda: [float(v) for v in Ter().measure(batch)[:, 0]]


def peer_score() -> Work:
    """Files to the score."""
    from sacrebleu.metrics.ter import TER

    made = files(N_LINES)

    def work() -> float:
        return float(TER().corpus_score(lines(made.predictions), [lines(made.gold)]).score)

    return work


def peer_rows(errors: float = 1.0) -> Work:
    """Texts in memory to the edits of each."""
    from sacrebleu.metrics.ter import TER

    made = files(N_LINES, errors)
    predictions, gold = lines(made.predictions), lines(made.gold)

    def work() -> list[float]:
        found = TER()._extract_corpus_statistics(predictions, [gold])
        return [float(row[0]) for row in found]

    return work


CASES = [
    Case(
        "TER, 3k lines from files",
        "sacrebleu TER",
        ours=ours_evaluate,
        peer=peer_score,
        must=12,
        memory=80,
    ),
    Case(
        "TER, 3k lines, edits of each",
        "sacrebleu TER",
        ours=ours_rows,
        peer=peer_rows,
        must=12,
        memory=80,
    ),
    Case(
        "TER, 3k lines with half of the words wrong",
        "sacrebleu TER",
        ours=partial(ours_rows, 3.0),
        peer=partial(peer_rows, 3.0),
        must=12,
        memory=80,
        peer_rounds=1,
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""WER and CER: from files to the scores."""

from __future__ import annotations

from functools import partial

from benchmarks.harness import Case, Work
from benchmarks.noisy import files, lines


def ours(metric: str, n_lines: int) -> Work:
    """The way users go: files in, scores out."""
    import assay

    made = files(n_lines)
    assay.evaluate("text", ["a"], ["b"], metrics=[metric], ci=0)  # what is imported late is here

    def work() -> float | None:
        return assay.evaluate("text", *made, metrics=[metric], ci=0, keep=False).scores[metric]

    return work


def peer(metric: str, n_lines: int) -> Work:
    """Files to the score."""
    import jiwer

    made = files(n_lines)
    score = {"wer": jiwer.wer, "cer": jiwer.cer}[metric]
    return lambda: float(score(lines(made.gold), lines(made.predictions)))


CASES = [
    Case(
        f"{metric.upper()}, {n_lines // 1000}k lines from files",
        f"jiwer {metric}",
        ours=partial(ours, metric, n_lines),
        peer=partial(peer, metric, n_lines),
        must=must,
        memory=110,
    )
    for metric, n_lines, must in (("wer", 3_000, 1.5), ("wer", 30_000, 2), ("cer", 3_000, 4))
]

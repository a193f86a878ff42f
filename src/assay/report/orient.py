# SPDX-License-Identifier: Apache-2.0
"""Which way round differences are told: from the system that the answer is in favour of.

A document holds each pair as it was computed, the later run minus the earlier. Words, pictures and
tables for readers all show what `oriented` gives, so that none of them has to be turned in the
head; JSON and CSV stay as computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from assay.core.comparison import ComparisonDocument, Difference, McNemar, Verdict
from assay.report.entries import score_entries
from assay.report.sections import best_first

_OPPOSITE: Mapping[Verdict, Verdict] = {"better": "worse", "worse": "better"}


def turned(d: Difference) -> Difference:
    """The same difference seen from the other system."""
    low, high = d.interval
    counts = d.mcnemar
    return replace(
        d,
        system=d.baseline,
        baseline=d.system,
        system_score=d.baseline_score,
        baseline_score=d.system_score,
        difference=-d.difference,
        interval=(-high, -low),
        verdict=_OPPOSITE.get(d.verdict, d.verdict),
        mcnemar=counts
        and McNemar(counts.only_baseline, counts.only_system, counts.p_exact, counts.p_mid),
    )


def oriented(document: ComparisonDocument) -> ComparisonDocument:
    """Every pair as the better system minus the other, and the pairs of the best systems first.

    Better is who leads by the first score, decided or not; where that is not decided but latency
    is, the quicker one; where both score the same, who leads by the next score. All scores and
    slices of a pair are turned alike, so a slice may well be worse. Pairs that are the same
    throughout, or that have no score, stay as they were computed.
    """
    if not document.differences:
        return document
    entries = score_entries(*document.systems)
    signs = {e.key: 1.0 if e.higher_is_better else -1.0 for e in entries}
    latency = latency_key(document)
    by_pair: dict[tuple[str, str], dict[str, Difference]] = {}
    for d in document.differences:
        by_pair.setdefault((d.system, d.baseline), {})[d.key] = d
    behind = set()
    for pair, found in by_pair.items():
        keys = [key for key in signs if key in found]
        if latency in found and found[keys[0]].verdict not in _OPPOSITE:
            keys = [latency, *keys] if found[latency].verdict in _OPPOSITE else keys
        gains = (signs[key] * found[key].difference for key in keys)
        # Not a number is neither above nor below: the next score decides there, too.
        if next((gain for gain in gains if gain < 0 or gain > 0), 0.0) < 0:
            behind.add(pair)
    ranks = {s.system: i for i, s in enumerate(best_first(document.systems, entries[0]))}

    def seen(differences: tuple[Difference, ...]) -> list[Difference]:
        return [turned(d) if (d.system, d.baseline) in behind else d for d in differences]

    def place(d: Difference) -> tuple[int, ...]:
        return tuple(sorted((ranks[d.system], ranks[d.baseline])))

    return replace(
        document,
        differences=tuple(sorted(seen(document.differences), key=place)),
        slices=tuple(seen(document.slices)),
    )


def latency_key(document: ComparisonDocument) -> str:
    """The score that says which of two systems is quicker; empty where the task has none."""
    pairs = (s.extra.get("tradeoff") for s in document.systems)
    return next((str(pair["latency"]) for pair in pairs if pair), "")


def foremost(document: ComparisonDocument) -> Difference:
    """The difference that the answer is about: of the two best systems by the first score."""
    entry = score_entries(*document.systems)[0]
    best = {s.system for s in best_first(document.systems, entry)[:2]}
    found = oriented(document).of(entry.key)
    return next(d for d in found if {d.system, d.baseline} == best)

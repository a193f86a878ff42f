# SPDX-License-Identifier: Apache-2.0
"""What every form needs to know of a document: its scores, their labels and digits, its size."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from assay.core.document import ResultDocument, ScoreEntry
from assay.core.signature import parse_signature
from assay.report.numbers import digits_for, format_percent


def score_entries(*documents: ResultDocument) -> list[ScoreEntry]:
    """The scores of the documents in the order of their metrics, each key once.

    A score that no metric declares (a task may add one) is taken to be better when higher.
    """
    declared = {s.key: s for d in documents for m in d.metrics for s in m.scores}
    keys = dict.fromkeys(key for d in documents for key in d.scores)
    return [declared.get(key, ScoreEntry(key, key, True, "")) for key in keys]


def signature_of(document: ResultDocument, key: str) -> str:
    """The signature of one score, or that of the run where no metric declares the score."""
    declared = {s.key for m in document.metrics for s in m.scores}
    return document.signature_of(key) if key in declared else document.signature


def label(entry: ScoreEntry, *, direction: bool = False) -> str:
    """The heading of a score: key, unit, and an arrow down where lower is better.

    >>> label(ScoreEntry("ter", "ter", False, "%"), direction=True)
    'ter (%) ↓'
    """
    unit = f" ({entry.unit})" if entry.unit else ""
    arrow = " ↓" if direction and not entry.higher_is_better else ""
    return f"{entry.key}{unit}{arrow}"


def score_digits(
    entries: Iterable[ScoreEntry], documents: Sequence[ResultDocument], digits: int | None
) -> dict[str, int]:
    """Digits after the point by score key: as asked for, or by what the values look like."""
    if digits is not None:
        return {e.key: digits for e in entries}
    return {e.key: digits_for(e.unit, _values(e.key, documents)) for e in entries}


def scored_examples(document: ResultDocument) -> int:
    """How many examples the scores rest on: the `n` of the signature, else those that matched."""
    n = parse_signature(document.signature)[1].get("n", "")
    return int(n) if n.isdecimal() else document.counts.matched


def interval_words(statistics: Mapping[str, object]) -> str:
    """What to call the intervals: `95 % interval`, or `interval` where the level is unknown.

    >>> interval_words({"ci": 0.95}), interval_words({})
    ('95 % interval', 'interval')
    """
    level = statistics.get("ci")
    if isinstance(level, float) and level > 0:
        return f"{format_percent(level)} interval"
    return "interval"


def _values(key: str, documents: Iterable[ResultDocument]) -> Iterator[float]:
    for document in documents:
        if key in document.scores:
            yield document.scores[key]
        for by_value in document.slices.values():
            yield from (s.scores[key] for s in by_value.values() if key in s.scores)

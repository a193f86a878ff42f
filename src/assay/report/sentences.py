# SPDX-License-Identifier: Apache-2.0
"""A comparison in words: who is better, by how much, how sure, and by which test."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from assay.core.comparison import ComparisonDocument, Difference
from assay.core.document import ScoreEntry
from assay.report.entries import interval_words
from assay.report.numbers import format_number, p_phrase

_CORRECTIONS = {"holm": "Holm", "benjamini-hochberg": "Benjamini-Hochberg"}


MOST_PAIRS = 3
"""Pairs that are told one by one; of more systems than make these, the best against the others."""


def lead(
    document: ComparisonDocument, entries: Mapping[str, ScoreEntry], places: Mapping[str, int]
) -> list[str]:
    """For each pair a sentence on the first score, and one on what the other scores say.

    The pairs must come as they are to be told, those of the best system first.
    """
    pairs = list(dict.fromkeys((d.system, d.baseline) for d in document.differences))
    sentences = []
    for pair in pairs if len(pairs) <= MOST_PAIRS else pairs[:1]:
        first, *rest = [d for d in document.differences if (d.system, d.baseline) == pair]
        correction = correction_words(first.correction, len(document.of(first.key)), "pairs")
        entry, digits = entries[first.key], places[first.key]
        sentences.append(sentence(first, entry, digits, document.statistics, correction))
        if rest:
            sentences.append(others(rest))
    if len(pairs) > MOST_PAIRS:
        sentences.append(_against_the_rest(document, pairs))
    return sentences


def _against_the_rest(document: ComparisonDocument, pairs: Sequence[tuple[str, str]]) -> str:
    """How the best system stands to those behind the second, by the first score."""
    best, second = pairs[0]
    by_verdict: dict[str, list[str]] = {}
    for d in document.of(document.differences[0].key):
        pair = (d.system, d.baseline)
        if best in pair and second not in pair:
            # One that scores the same may stand on the left; then neither of them is better.
            by_verdict.setdefault(d.verdict, []).append(pair[pair[0] == best])
    words = {
        "better": "better than",
        "equivalent": "equivalent to",
        "undecided": "not decided against",
    }
    said = [f"{text} {listed(by_verdict[v])}" for v, text in words.items() if v in by_verdict]
    every = f"the table of differences has all {len(pairs)} pairs"
    return f"{best} against the other systems: {'; '.join(said)}; {every}" if said else every


def sentence(
    d: Difference,
    entry: ScoreEntry,
    digits: int,
    statistics: Mapping[str, object],
    correction: str = "",
) -> str:
    """One difference in words.

    Better and worse are said of the system that wins, by how much it wins. What is not decided is
    called that, and never equal.
    """
    if math.isnan(d.difference):
        scores = {d.system: d.system_score, d.baseline: d.baseline_score}
        lacking = [name for name, score in scores.items() if math.isnan(score)]
        of = f" of {listed(lacking)}" if lacking else ""
        return f"not decided between {d.system} and {d.baseline}: {entry.key}{of} is undefined"
    unit = f" {entry.unit}" if entry.unit and entry.unit != "%" else ""
    name = f"{unit} {entry.key}"
    if d.verdict in ("better", "worse"):
        winner, loser = (d.system, d.baseline) if d.verdict == "better" else (d.baseline, d.system)
        # A win is told as a positive number, whichever way the score runs.
        sign = 1.0 if (d.verdict == "better") == entry.higher_is_better else -1.0
        said = f"{winner} is better than {loser} by {_number(sign * d.difference, digits)}{name}"
        interval = _interval(sorted(sign * bound for bound in d.interval), digits, statistics)
    else:
        said = (
            f"{d.system} minus {d.baseline} is {_number(d.difference, digits, signed=True)}{name}"
        )
        interval = _interval(d.interval, digits, statistics, signed=True)
        if d.verdict == "equivalent":
            within = _margin(d, statistics)
            said = f"{d.system} and {d.baseline} are equivalent within {within}: {said}"
        else:
            said = f"not decided: {said}"
    direction = "" if entry.higher_is_better else "lower is better"
    p = p_phrase(d.p_adjusted, resolution(d, d.p_adjusted, statistics))
    parts = (direction, interval, p, words_of_test(d.test), correction)
    return f"{said} ({', '.join(filter(None, parts))})"


def resolution(d: Difference, p: float, statistics: Mapping[str, object]) -> int | None:
    """Trials of the test where they limit `p`: a randomisation test, before correction."""
    trials = statistics.get("trials")
    limited = "randomisation" in d.test and p == d.p
    return trials if isinstance(trials, int) and limited else None


def others(differences: Sequence[Difference]) -> str:
    """What the remaining scores of a pair say, by verdict.

    All differences must be of the same pair.
    """
    system, baseline = differences[0].system, differences[0].baseline
    by_verdict: dict[str, list[str]] = {}
    for d in differences:
        by_verdict.setdefault(d.verdict, []).append(d.key)
    words = {
        "better": "better by {}",
        "worse": "worse by {}",
        "equivalent": "equivalent within the margin by {}",
        "undecided": "not decided by {}",
    }
    said = [words[v].format(listed(shortened(by_verdict[v]))) for v in words if v in by_verdict]
    return f"{system} against {baseline} by the other scores: {'; '.join(said)}"


def shortened(names: Sequence[str], most: int = 6) -> Sequence[str]:
    """The names, the end of a long list as its number; the table below has them all.

    >>> shortened(["a", "b", "c", "d"], most=3), shortened(["a", "b"], most=3)
    (['a', 'b', '2 more'], ['a', 'b'])
    """
    if len(names) <= most:
        return names
    return [*names[: most - 1], f"{len(names) - most + 1} more"]


def listed(names: Sequence[str]) -> str:
    """Names in a sentence.

    >>> listed(["chrf", "ter", "wer"]), listed(["chrf"])
    ('chrf, ter and wer', 'chrf')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def words_of_test(test: str) -> str:
    """The name of a test as words.

    >>> words_of_test("approximate randomisation"), words_of_test("mcnemar mid-p")
    ('approximate randomisation', 'McNemar mid-p')
    """
    return test.replace("_", " ").replace("mcnemar", "McNemar")


def correction_words(correction: str, n: int, of: str) -> str:
    """The correction with the size of its family; empty where nothing was corrected.

    >>> correction_words("holm", 3, "pairs"), correction_words("none", 3, "pairs")
    ('Holm over 3 pairs', '')
    >>> correction_words("holm", 1, "pairs")
    ''
    """
    name = correction_name(correction)
    return f"{name} over {n} {of}" if name and n > 1 else ""


def correction_name(correction: str) -> str:
    """The name of a correction as people write it; empty for none.

    >>> correction_name("holm"), correction_name("benjamini_hochberg"), correction_name("none")
    ('Holm', 'Benjamini-Hochberg', '')
    """
    plain = correction.replace("_", "-").lower()
    return "" if plain in ("", "none") else _CORRECTIONS.get(plain, correction)


def _interval(
    bounds: Sequence[float], digits: int, statistics: Mapping[str, object], *, signed: bool = False
) -> str:
    low, high = (format_number(bound, digits, signed=signed) for bound in bounds)
    return f"{interval_words(statistics)} {low} to {high}" if low and high else ""


def _number(value: float, digits: int, *, signed: bool = False) -> str:
    return format_number(value, digits, signed=signed) or "undefined"


def _margin(d: Difference, statistics: Mapping[str, object]) -> str:
    margin = statistics.get("margin")
    if isinstance(margin, Mapping):
        margin = margin.get(d.key)
    if isinstance(margin, (int, float)) and math.isfinite(margin):
        return f"{margin:g}"
    return "the margin"

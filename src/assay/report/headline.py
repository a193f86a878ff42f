# SPDX-License-Identifier: Apache-2.0
"""Who is best, by how much, and how sure: the sentence at the head of a report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from assay.core.comparison import ComparisonDocument, Difference
from assay.core.document import ScoreEntry
from assay.report.comparison import beaten
from assay.report.entries import interval_words, score_digits, score_entries, scored_examples
from assay.report.numbers import format_count, format_number, format_percent
from assay.report.orient import foremost, latency_key, oriented
from assay.report.sections import Section, best_first
from assay.report.sentences import correction_words, listed, sentence

FEW = 30
"""Fewer examples than this deserve a word of caution."""
MOST_NAMED = 4

Standing = Literal["decided", "open", "equivalent", "single"]


@dataclass(frozen=True, slots=True)
class Headline:
    """The answer in three parts: short, in full, and whether to believe it."""

    short: str
    text: str
    belief: str
    standing: Standing
    others: str = ""
    barely: bool = False


def headline(section: Section) -> Headline:
    """What a section says, by its first score."""
    comparison = section.comparison
    if comparison is None or not comparison.differences:
        return _single(section)
    comparison = oriented(comparison)
    entries = score_entries(*comparison.systems)
    entry = entries[0]
    places = score_digits(entries, comparison.systems, None)
    between = foremost(comparison)
    first, second = between.system, between.baseline
    correction = correction_words(between.correction, len(comparison.of(entry.key)), "pairs")
    said = sentence(between, entry, places[entry.key], comparison.statistics, correction)
    if len(comparison.systems) > 2:
        said = f"{_highest(comparison, entry, places[entry.key])}{_capital(said)}"
        said += _beaten(comparison, entry.key, first, second)
    said = _capital(said)
    return Headline(
        short=_short(between, comparison),
        text=f"{said}.",
        belief=_belief(between, comparison),
        standing=_standing(between, comparison),
        barely=_barely(between, comparison),
        others=_others(comparison, entry, first, second),
    )


def _single(section: Section) -> Headline:
    brief: list[str] = []
    said = []
    for system in section.systems:
        entries = score_entries(system)
        if not entries:
            continue
        entry = entries[0]
        digits = score_digits(entries, [system], None)[entry.key]
        value = format_number(system.scores[entry.key], digits) or "undefined"
        n = format_count(scored_examples(system))
        bounds = [format_number(b, digits) for b in system.intervals.get(entry.key, ())]
        around = ""
        if bounds and all(bounds):
            around = f" ({interval_words(system.statistics)} {bounds[0]} to {bounds[1]})"
        unit = f" {entry.unit}" if entry.unit and value != "undefined" else ""
        brief.append(f"{system.system}: {value}{unit} {entry.key}")
        said.append(f"{brief[-1]}{around} on {n} examples")
    if len(section.systems) == 1:
        belief = "One system alone: nothing to compare it with. Add a second run of the same gold."
    else:
        belief = "These runs cannot be compared: they share no metric."
    return Headline(
        short="; ".join(brief),
        text=f"{'; '.join(said)}.",
        belief=belief,
        standing="single",
    )


def _highest(comparison: ComparisonDocument, entry: ScoreEntry, digits: int) -> str:
    """Who has the best score, or share it."""
    value = best_first(comparison.systems, entry)[0].scores.get(entry.key, math.nan)
    if math.isnan(value):
        return ""
    names = [s.system for s in comparison.systems if s.scores.get(entry.key) == value]
    high = "highest" if entry.higher_is_better else "lowest"
    have = "has" if len(names) == 1 else "have"
    return f"{_names(names)} {have} the {high} {entry.key}, {format_number(value, digits)}. "


def _standing(d: Difference, comparison: ComparisonDocument) -> Standing:
    if d.verdict in ("better", "worse"):
        return "decided"
    if d.verdict == "equivalent":  # of two that are as good as one another the quicker is better
        return "decided" if _is_quicker(comparison, d) else "equivalent"
    return "open"


def _short(d: Difference, comparison: ComparisonDocument) -> str:
    n = len(comparison.systems)
    if d.verdict == "better":
        if n > 2 and len(beaten(comparison, d.key).get(d.system, ())) == n - 1:
            return f"{d.system} is the best of {n} systems"
        return f"{d.system} is better than {d.baseline}"
    if _is_quicker(comparison, d):
        same = "equivalent" if d.verdict == "equivalent" else "not decided"
        return f"{d.system} is quicker than {d.baseline}, quality {same}"
    if d.verdict == "equivalent":
        return f"{d.system} and {d.baseline} are equivalent"
    return f"Not decided between {d.system} and {d.baseline}"


def _barely(d: Difference, comparison: ComparisonDocument) -> bool:
    """Whether it is decided, but not by much: p within a fifth of the level and the level."""
    alpha = float(comparison.statistics.get("alpha", 0.05))
    return d.verdict in ("better", "worse") and d.p_adjusted > alpha / 5


def _is_quicker(comparison: ComparisonDocument, d: Difference) -> bool:
    """Whether the leading one of two that quality does not tell apart has surely less latency."""
    return any(
        other.verdict == "better" and (other.system, other.baseline) == (d.system, d.baseline)
        for other in comparison.of(latency_key(comparison))
    )


def _belief(d: Difference, comparison: ComparisonDocument) -> str:
    """Whether to believe it, in words."""
    alpha = float(comparison.statistics.get("alpha", 0.05))
    level = format_percent(alpha)
    few = f" There are only {d.n} examples: more would say more." if d.n < FEW else ""
    if math.isnan(d.difference):
        return (
            "Without a score of both there is nothing to compare. Let another lead with --metric."
        )
    if _barely(d, comparison):
        return (
            f"Only just significant at the {level} level on {format_count(d.n)} examples: it may "
            f"not hold on others. More examples would settle it."
        )
    if d.verdict in ("better", "worse"):
        return (
            f"Significant at the {level} level on {format_count(d.n)} examples: a difference this "
            f"large would seldom come by chance.{few}"
        )
    if d.verdict == "undecided" and d.difference == 0:
        return (
            f"They score the same on these {format_count(d.n)} examples, which does not make them "
            f"equal on others.{few}"
        )
    if d.verdict == "equivalent":
        return f"Any difference lies within the margin, on {format_count(d.n)} examples.{few}"
    return (
        f"{format_count(d.n)} examples do not tell them apart: chance alone could explain the "
        f"difference. That is not the same as being equal.{few}"
    )


def _beaten(comparison: ComparisonDocument, key: str, best: str, second: str) -> str:
    """How the best system stands to those behind the second."""
    found: dict[str, list[str]] = {}
    for d in comparison.of(key):
        pair = (d.system, d.baseline)
        if best in pair and second not in pair:
            # One that scores the same may stand on the left; then neither of them is better.
            found.setdefault(d.verdict, []).append(pair[pair[0] == best])
    words = {
        "better": f"{best} is better than",
        "equivalent": f"{best} is equivalent to",
        "undecided": "Not decided against",
    }
    return "".join(f". {text} {_names(found[v])}" for v, text in words.items() if v in found)


def _others(comparison: ComparisonDocument, entry: ScoreEntry, first: str, second: str) -> str:
    """What the remaining scores say of the same two."""
    found: dict[str, list[str]] = {}
    for d in comparison.differences:
        if d.key != entry.key and (d.system, d.baseline) == (first, second):
            found.setdefault(d.verdict, []).append(d.key)
    if not found:
        return ""
    words = {v: v for v in ("better", "worse", "equivalent")} | {"undecided": "not decided"}
    said = [f"{words[v]} by {_names(found[v])}" for v in words if v in found]
    return f"By the other scores {first} against {second} is {'; '.join(said)}."


def _names(names: list[str]) -> str:
    if len(names) <= MOST_NAMED:
        return listed(names)
    return f"{', '.join(names[:MOST_NAMED])} and {len(names) - MOST_NAMED} more"


def _capital(text: str) -> str:
    """With a capital where a sentence of ours begins; names stay as they are."""
    return f"N{text[1:]}" if text.startswith("not decided") else text

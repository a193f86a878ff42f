# SPDX-License-Identifier: Apache-2.0
"""Who is best, by how much, and how sure: the sentence at the head of a report."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from assay.core.comparison import ComparisonDocument, Difference
from assay.core.document import ResultDocument, ScoreEntry
from assay.report.comparison import beaten
from assay.report.entries import interval_words, score_digits, score_entries, scored_examples
from assay.report.numbers import format_count, format_number, format_percent
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
    entries = score_entries(*comparison.systems)
    entry = entries[0]
    places = score_digits(entries, comparison.systems, None)
    ordered = best_first(comparison.systems, entry)
    first, second = ordered[0], ordered[1]
    between = _between(comparison, entry.key, first.system, second.system)
    correction = correction_words(between.correction, len(comparison.of(entry.key)), "pairs")
    said = sentence(between, entry, places[entry.key], comparison.statistics, correction)
    if len(comparison.systems) > 2:
        value = format_number(first.scores[entry.key], places[entry.key]) or "undefined"
        high = "highest" if entry.higher_is_better else "lowest"
        said = f"{first.system} has the {high} {entry.key}, {value}. {_capital(said)}"
        said += _beaten(comparison, entry.key, first.system, second.system)
    said = _capital(said)
    return Headline(
        short=_short(between, first, second, comparison),
        text=f"{said}.",
        belief=_belief(between, comparison),
        standing=_standing(between),
        barely=_barely(between, comparison),
        others=_others(comparison, entry, first.system, second.system),
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


def _between(comparison: ComparisonDocument, key: str, one: str, other: str) -> Difference:
    return next(d for d in comparison.of(key) if {d.system, d.baseline} == {one, other})


def _standing(d: Difference) -> Standing:
    if d.verdict in ("better", "worse"):
        return "decided"
    return "equivalent" if d.verdict == "equivalent" else "open"


def _short(
    d: Difference, first: ResultDocument, second: ResultDocument, comparison: ComparisonDocument
) -> str:
    n = len(comparison.systems)
    if d.verdict in ("better", "worse"):
        winner, loser = (d.system, d.baseline) if d.verdict == "better" else (d.baseline, d.system)
        if n > 2 and len(beaten(comparison, d.key).get(winner, ())) == n - 1:
            return f"{winner} is the best of {n} systems"
        return f"{winner} is better than {loser}"
    both = (first.system, second.system)
    if (quicker := _quicker(comparison, *both)) is not None:
        (slower,) = {*both} - {quicker}
        same = "equivalent" if d.verdict == "equivalent" else "not decided"
        return f"{quicker} is quicker than {slower}, quality {same}"
    if d.verdict == "equivalent":
        return f"{first.system} and {second.system} are equivalent"
    return f"Not decided between {first.system} and {second.system}"


def _barely(d: Difference, comparison: ComparisonDocument) -> bool:
    """Whether it is decided, but not by much: p within a fifth of the level and the level."""
    alpha = float(comparison.statistics.get("alpha", 0.05))
    return d.verdict in ("better", "worse") and d.p_adjusted > alpha / 5


def _quicker(comparison: ComparisonDocument, one: str, other: str) -> str | None:
    """Of two systems that quality does not tell apart, the one whose latency is surely lower."""
    pair = next((s.extra["tradeoff"] for s in comparison.systems if s.extra.get("tradeoff")), None)
    found = [
        d
        for d in comparison.differences
        if pair and d.key == pair["latency"] and {d.system, d.baseline} == {one, other}
    ]
    if not found or found[0].verdict not in ("better", "worse"):
        return None
    return found[0].system if found[0].verdict == "better" else found[0].baseline


def _belief(d: Difference, comparison: ComparisonDocument) -> str:
    """Whether to believe it, in words."""
    alpha = float(comparison.statistics.get("alpha", 0.05))
    level = format_percent(alpha)
    few = f" There are only {d.n} examples: more would say more." if d.n < FEW else ""
    if math.isnan(d.difference):
        return "The score is undefined for one of them, so nothing can be said."
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
    """Which of the remaining systems the best one is better than, for sure."""
    won: list[str] = []
    open_: list[str] = []
    for d in comparison.of(key):
        pair = {d.system, d.baseline}
        if best not in pair or second in pair:
            continue
        (other,) = pair - {best}
        wins = d.verdict == ("better" if d.system == best else "worse")
        (won if wins else open_).append(other)
    said = f". It is better than {_names(won)}" if won else ""
    return said + (f". Not decided against {_names(open_)}" if open_ else "")


def _others(comparison: ComparisonDocument, entry: ScoreEntry, first: str, second: str) -> str:
    """What the remaining scores say of the same two."""
    found: dict[str, list[str]] = {}
    for d in comparison.differences:
        if d.key != entry.key and {d.system, d.baseline} == {first, second}:
            verdict: str = d.verdict
            if d.system != first:
                verdict = {"better": "worse", "worse": "better"}.get(verdict, verdict)
            found.setdefault(verdict, []).append(d.key)
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

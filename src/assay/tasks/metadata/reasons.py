# SPDX-License-Identifier: Apache-2.0
"""Why values failed: paper by paper, as the most frequent errors, and the worst papers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Rows
from assay.tasks.metadata.match import Match, base_form, levenshtein, soft_form
from assay.tasks.metadata.metric import COLUMNS, FieldMetric, as_papers
from assay.tasks.metadata.normalise import normalise, parse_name, title

MOST = 20
"""Errors and papers that a document lists."""

LOOKED_AT = 10_000
"""Papers with errors that are looked at for the most frequent ones."""

ALIKE = 0.5
"""From which similarity on a wrong value is taken to stand for a missed one."""

MOST_PAIRS = 10_000
"""Up to so many pairs of wrong and missed values of one paper are looked at for partners."""

NAME_WORDS = 4
"""Up to so many words a value may be a name."""


class Failure(NamedTuple):
    """One thing wrong: a predicted value, and the gold value it stands for.

    `known` says why where the two values do not tell.
    """

    field: str
    prediction: str | None
    gold: str | None
    known: str = ""

    @property
    def why(self) -> str:
        """Why it is wrong; found out when asked, for many are counted and few are shown."""
        if self.known:
            return self.known
        if self.gold is None:
            return "not in gold"
        if self.prediction is None:
            return "not predicted"
        return difference(self.prediction, self.gold)

    def told(self) -> dict[str, str | None]:
        """The two values and why, as plain data."""
        return {"prediction": self.prediction, "gold": self.gold, "why": self.why}


def difference(prediction: str, gold: str) -> str:
    """In what two values differ, in a word or two; the least difference that explains it.

    >>> difference("deep learning", "Deep Learning"), difference("J. Smith", "John Smith")
    ('case', 'first or middle names')
    >>> difference("Deep Learning", "Deep Learning for All"), difference("Deap Nets", "Deep Nets")
    ('cut off', 'spelling')
    """
    ours, theirs = " ".join(prediction.split()), " ".join(gold.split())
    for what, form in (("blanks", str), ("case", str.lower), ("accents", normalise)):
        if form(ours) == form(theirs):
            return what
    ours, theirs = title(ours).strip(), title(theirs).strip()
    if ours == theirs or soft_form(prediction) == soft_form(gold):
        return "punctuation"
    words = sorted([ours.split(), theirs.split()], key=len)
    if sorted(words[0]) == sorted(words[1]):
        return "order of words"
    if len(words[0]) > 1 and len(words[1]) <= NAME_WORDS:
        one, other = parse_name(prediction), parse_name(gold)
        if one.last_normalised() and one.last_normalised() == other.last_normalised():
            first, second = sorted((title(one.first), title(other.first)), key=len)
            if second.startswith(first):
                return "first or middle names"
            if first[:1] != second[:1]:
                return "first name"
    if ours and f" {ours} " in f" {theirs} ":
        return "cut off"
    if theirs and f" {theirs} " in f" {ours} ":
        return "too long"
    return "spelling" if levenshtein(theirs, ours) >= 0.8 else "another value"


def failures(
    field: str, predictions: Sequence[str], gold: Sequence[str], rule: Match, duplicates: str
) -> list[Failure]:
    """What is wrong with one field of one paper."""
    counted = rule.tally(predictions, gold, duplicates)
    if counted.hits >= counted.predicted and counted.hits >= counted.gold:
        return []
    if rule.shape in ("string", "first", "list", "ulist", "set"):
        pick = slice(1) if rule.shape == "first" else slice(None)
        joiner = " " if rule.shape in ("string", "first") else "; "
        ours, theirs = joiner.join(predictions[pick]), joiner.join(gold[pick])
        return [Failure(field, ours or None, theirs or None)]
    right, found = rule.right(predictions, gold)
    wrong = [p for p in dict.fromkeys(predictions) if p not in right]
    missed = [g for g in dict.fromkeys(gold) if g not in found]
    if not wrong and not missed:
        shown = "; ".join(predictions), "; ".join(gold)
        return [Failure(field, *shown, "order" if "list" in rule.shape else "repeats")]
    return [Failure(field, p, g) for p, g in _partners(wrong, missed)]


def explanations(batch: Batch, metric: FieldMetric) -> list[dict[str, Any]]:
    """For each paper, field by field, what is wrong; nothing where nothing is."""
    found: list[dict[str, Any]] = []
    for of_paper in _by_paper(batch, metric, range(len(batch))):
        by_field: dict[str, list[dict[str, str | None]]] = {}
        for f in of_paper:
            by_field.setdefault(f.field, []).append(f.told())
        found.append(by_field)
    return found


def frequent_errors(
    batches: Sequence[Batch], rows: Rows, metric: FieldMetric
) -> list[dict[str, Any]]:
    """The errors that are made most often, from the first papers that have any."""
    counts: Counter[Failure] = Counter()
    wrong = np.flatnonzero(_errors(rows, metric) > 0)[:LOOKED_AT]
    first = 0
    for batch in batches:
        inside = wrong[(wrong >= first) & (wrong < first + len(batch))] - first
        for of_paper in _by_paper(batch, metric, inside.tolist()):
            counts.update(of_paper)
        first += len(batch)
    ordered = sorted(counts.items(), key=lambda c: (-c[1], *(part or "" for part in c[0])))
    return [{"field": f.field, **f.told(), "n": n} for f, n in ordered[:MOST]]


def looked_at(rows: Rows, metric: FieldMetric) -> dict[str, int]:
    """How many papers have errors, and how many of them the most frequent errors are from."""
    papers = int((_errors(rows, metric) > 0).sum())
    return {"papers": papers, "looked_at": min(papers, LOOKED_AT)}


def worst_papers(batches: Sequence[Batch], rows: Rows, metric: FieldMetric) -> list[dict[str, Any]]:
    """The papers of the lowest F1 over all values, of equal ones those with the most errors."""
    hits, predicted, gold = _values(rows, metric)
    errors = _errors(rows, metric)
    wrong = np.flatnonzero(errors > 0)
    f1 = 2 * hits[wrong] / np.maximum(predicted[wrong] + gold[wrong], 1)
    chosen = np.lexsort((wrong, -errors[wrong], f1))[:MOST]
    bounds = np.cumsum([0, *(len(batch) for batch in batches)])
    found = []
    for at in chosen.tolist():
        paper = int(wrong[at])
        part = int(np.searchsorted(bounds, paper, side="right")) - 1
        name = batches[part].id_of(paper - int(bounds[part]))
        found.append({"id": name, "f1": float(f1[at]), "wrong": int(errors[paper])})
    return found


def _values(rows: Rows, metric: FieldMetric) -> tuple[Rows, Rows, Rows]:
    """Right, predicted and gold values of each paper, over all fields."""
    width = len(COLUMNS)
    found = []
    for column in map(COLUMNS.index, COLUMNS[4:]):
        # Column by column: the rows of a million papers are not copied as a whole.
        total = rows[:, column].copy()
        for k in range(1, len(metric.names)):
            total += rows[:, k * width + column]
        found.append(total)
    hits, predicted, gold = found
    return hits, predicted, gold


def _errors(rows: Rows, metric: FieldMetric) -> Rows:
    hits, predicted, gold = _values(rows, metric)
    errors: Rows = predicted + gold - 2 * hits
    return errors


def _by_paper(
    batch: Batch, metric: FieldMetric, papers: Sequence[int] | range
) -> Iterator[list[Failure]]:
    ours = as_papers(batch.predictions, metric.names).fields
    theirs = as_papers(batch.gold, metric.names).fields
    for paper in papers:
        found: list[Failure] = []
        for name, rule, one, other in zip(metric.names, metric.rules, ours, theirs, strict=True):
            gold = (other.of(paper) or [[]])[0]
            for predictions in one.of(paper) or [[]]:
                found += failures(name, predictions, gold, rule, metric.duplicates)
        yield found


def _partners(
    wrong: Sequence[str], missed: Sequence[str]
) -> Iterator[tuple[str | None, str | None]]:
    """Wrong values with the missed ones they are most like, each used once, the likest first."""
    if len(wrong) == len(missed) == 1:
        yield wrong[0], missed[0]
        return
    likeness: list[tuple[float, int, int]] = []
    if len(wrong) * len(missed) <= MOST_PAIRS:
        ours, theirs = [_Named.of(p) for p in wrong], [_Named.of(g) for g in missed]
        likeness = sorted(
            (-_likeness(p, g), i, j) for i, p in enumerate(ours) for j, g in enumerate(theirs)
        )
    taken: dict[int, int] = {}
    used: set[int] = set()
    for negative, i, j in likeness:
        if -negative >= ALIKE and i not in taken and j not in used:
            taken[i] = j
            used.add(j)
    for i, p in enumerate(wrong):
        yield p, missed[taken[i]] if i in taken else None
    for j, g in enumerate(missed):
        if j not in used:
            yield None, g


class _Named(NamedTuple):
    """A value as it is likened: its base form, and its last name if it is a name."""

    form: str
    last: str

    @classmethod
    def of(cls, value: str) -> _Named:
        return cls(base_form(value), parse_name(base_form(value)).last_normalised())


def _likeness(prediction: _Named, gold: _Named) -> float:
    return 0.9 if prediction.last == gold.last else levenshtein(gold.form, prediction.form)

# SPDX-License-Identifier: Apache-2.0
"""Precision and recall of the fields of papers, averaged over papers and over values."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch, Pair
from assay.core.document import ResultDocument
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Score, Totals, Value, f_score, ratio
from assay.core.names import unknown
from assay.core.text import Positions, TextLists, Texts
from assay.tasks.metadata.kernel import Found, compare
from assay.tasks.metadata.labels import Labels
from assay.tasks.metadata.match import Match, Tally
from assay.tasks.metadata.papers import Field, Papers, side_field
from assay.tasks.metadata.settings import DUPLICATES

COLUMNS = ("precision_sum", "precision_n", "recall_sum", "recall_n", "hits", "predicted", "gold")
"""Columns of one field: two means over papers, and the counts over all values."""

SCORES = ("precision", "recall", "f1", "micro_precision", "micro_recall", "micro_f1")
"""Scores of one field."""

NAMED = 6
"""Scores above 1 that a warning names."""

_ROUNDING = 1e-9  # sums of thirds may pass 1 by their last digit, which means nothing

_RESERVED = re.compile(r"[%+,=()\s]")


def join_names(names: Iterable[str]) -> str:
    """Several names as one parameter: joined by `+`, what would be misread as %-codes.

    >>> join_names(["title", "a+b"])
    'title+a%2Bb'
    """
    coded = (
        _RESERVED.sub(lambda m: "".join(f"%{b:02X}" for b in m[0].encode("utf-8")), name)
        for name in names
    )
    return "+".join(coded)


def split_names(text: str) -> tuple[str, ...]:
    """What `join_names` joined.

    >>> split_names("title+a%2Bb")
    ('title', 'a+b')
    """
    return tuple(unquote(part) for part in text.split("+"))


@dataclass(frozen=True)
class FieldMetric(Metric):
    """How much of what was extracted is right, and how much of what there is was found.

    For each field: the mean precision over the papers with predicted values and the mean recall
    over the papers with gold values, F1 of these two, and the same over all values of all papers
    together (micro). `macro_...` are means over the fields, `micro_...` count all fields together,
    `papers_right` is the share of papers whose every field is completely right. 0 to 1, more is
    better; undefined where there is nothing to average. Source: the README of AllenAI's meta-eval.

    `duplicates` says how a value that a list holds twice counts: `set` once, `multiset` as often
    as both sides have it; `reference` credits every predicted repeat, so that recall can pass 1
    (its micro scores and `papers_right` are those of `multiset`). `match` holds one rule per field,
    or `exact` for exact comparison throughout.

    >>> metric = FieldMetric(fields="authors")
    >>> scores = metric.score([({"authors": ["Ada", "Bob"]}, {"authors": ["Ada", "Cy", "Di"]})])
    >>> round(scores["authors.precision"], 3), round(scores["authors.recall"], 3)
    (0.5, 0.333)
    """

    fields: str = "title"
    duplicates: str = "set"
    match: str = "exact"

    name: ClassVar[str] = "metadata"

    def __post_init__(self) -> None:
        if self.duplicates not in DUPLICATES:
            raise unknown("way to count duplicates", self.duplicates, DUPLICATES)
        if self.match != "exact" and len(split_names(self.match)) != len(self.names):
            raise UsageError(f"'{self.match}' must hold one rule per field of '{self.fields}'")

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The fields."""
        return split_names(self.fields)

    @property
    def perfect(self) -> bool:  # type: ignore[override]  # reference counting has no best value
        """Whether gold given as prediction reaches the best value of every score."""
        return self.duplicates != "reference"

    @cached_property
    def rules(self) -> tuple[Match, ...]:
        """How each field is compared."""
        if self.match == "exact":
            return tuple(Match() for _ in self.names)
        return tuple(Match.parse(rule) for rule in split_names(self.match))

    @cached_property
    def scores(self) -> tuple[Score, ...]:  # type: ignore[override]  # depends on the fields
        """The scores over all fields, F1 first, then six per field.

        The first score is the one that a comparison speaks of first.
        """
        high = float("inf") if self.duplicates == "reference" else 1.0
        over = [
            Score(f"{kind}_{score}", high=high)
            for kind in ("macro", "micro")
            for score in ("f1", "precision", "recall")
        ]
        own = [Score(f"{name}.{score}", high=high) for name in self.names for score in SCORES]
        return (*over, Score("papers_right", proportion=("right", "papers")), *own)

    @property
    def columns(self) -> tuple[str, ...]:
        """Seven columns per field, then papers that are right throughout and papers."""
        return (*(f"{name}.{c}" for name in self.names for c in COLUMNS), "right", "papers")

    def measure(self, batch: Batch) -> Rows:
        """Rows of these papers."""
        predictions = as_papers(batch.predictions, self.names)
        gold = as_papers(batch.gold, self.names)
        rows = np.zeros((len(batch), len(self.columns)))
        right = np.ones(len(batch), dtype=bool)
        known = np.zeros(len(batch), dtype=bool)
        for k, (one, other, rule) in enumerate(
            zip(predictions.fields, gold.fields, self.rules, strict=True)
        ):
            counted = count_field(one, other, rule, self.duplicates)
            rows[:, k * len(COLUMNS) : (k + 1) * len(COLUMNS)] = counted.columns()
            right &= counted.right()
            known |= counted.paper_gold > 0
        rows[:, -2] = right & known
        rows[:, -1] = known
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Divide sums by counts, field by field, then over the fields."""
        found: dict[str, Value] = {}
        for name in self.names:
            t = {c: totals[f"{name}.{c}"] for c in COLUMNS}
            found.update(
                _three(
                    f"{name}.",
                    ratio(t["precision_sum"], t["precision_n"]),
                    ratio(t["recall_sum"], t["recall_n"]),
                )
            )
            micro = ratio(t["hits"], t["predicted"]), ratio(t["hits"], t["gold"])
            found.update(_three(f"{name}.micro_", *micro))
        for score in ("precision", "recall", "f1"):
            found[f"macro_{score}"] = _mean([found[f"{name}.{score}"] for name in self.names])
        sums = {c: sum(totals[f"{n}.{c}"] for n in self.names) for c in COLUMNS[4:]}
        over = ratio(sums["hits"], sums["predicted"]), ratio(sums["hits"], sums["gold"])
        found.update(_three("micro_", *over))
        found["papers_right"] = ratio(totals["right"], totals["papers"])
        return {score.name: found[score.name] for score in self.scores}


def above_one(document: ResultDocument, metric: FieldMetric, rows: Rows | None) -> str | None:
    """A warning if a score, a bound or the recall of a paper is above 1; else None."""
    if metric.duplicates != "reference":
        return None
    scores = [key for key, value in document.scores.items() if value > 1 + _ROUNDING]
    bounds = [key for key, pair in document.intervals.items() if pair[1] > 1 + _ROUNDING]
    papers = 0
    if rows is not None:
        columns = [metric.columns.index(f"{name}.recall_sum") for name in metric.names]
        passed = [rows[:, c] > rows[:, c + 1] * (1 + _ROUNDING) for c in columns]
        papers = int(np.any(passed, axis=0).sum()) if len(rows) else 0
    if not scores and not bounds and not papers:
        return None
    counted = "1 paper has" if papers == 1 else f"{papers:,} papers have"
    what = f"{counted} a recall above 1" if papers else "recall passes 1"
    keys = list(dict.fromkeys([*scores, *bounds]))
    more = [f"{len(keys) - NAMED} more"] if len(keys) > NAMED else []
    shown = f" ({', '.join([*keys[:NAMED], *more])})" if keys else ""
    return (
        f"{what}{shown}: reference counting credits every repeat of a predicted value; "
        "--duplicates set or multiset does not"
    )


def samples() -> list[tuple[Metric, list[Pair]]]:
    """Papers that the metric should be held to its contract on."""
    papers: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"title": ["On Lists"], "authors": ["Ada Lee", "Bo Wu"]},) * 2,
        ({"title": ["on lists"], "authors": ["A. Lee", "A. Lee"]}, {"title": ["On Lists"]}),
        ({}, {"title": ["Gone"], "authors": ["Cy Ng", "Cy Ng", "Di Po"]}),
        ({"authors": ["X"]}, {"title": ["Y"]}),
        ({"title": ["", "a"]}, {"title": ["", "b"]}),
    ]
    pairs = [Pair(prediction, gold) for prediction, gold in papers]
    names = "title+authors"
    return [
        (FieldMetric(names), pairs),
        (FieldMetric(names, "multiset"), pairs),
        (FieldMetric(names, "reference"), pairs),
        (FieldMetric(names, "set", "string:soft+partial_ulist:lastname-initial"), pairs),
        (FieldMetric(names, "set", "string:levenshtein+partial_list:exact"), pairs),
    ]


def _three(prefix: str, precision: Value, recall: Value) -> dict[str, Value]:
    return {
        f"{prefix}precision": precision,
        f"{prefix}recall": recall,
        f"{prefix}f1": f_score(precision, recall),
    }


def _mean(values: Sequence[Value]) -> Value:
    """The mean over the fields where it is defined."""
    table = np.stack(np.broadcast_arrays(*values))
    return ratio(np.nansum(table, axis=0), np.sum(~np.isnan(table), axis=0))


class Counted(NamedTuple):
    """One field of some papers, counted: items per line, and gold items per paper.

    `credited` is what precision and recall of a paper are made of; it differs from `hits` in
    reference counting only. `lines_gold` is what each line was held against; `paper_gold` matters
    where a paper has no line.
    """

    owners: Positions
    credited: Positions
    hits: Positions
    predicted: Positions
    lines_gold: Positions
    paper_gold: Positions
    n_lines: Positions

    def columns(self) -> Rows:
        """The columns of the field; a paper with several lines counts as several."""
        n = len(self.paper_gold)
        alone = self.n_lines == 0
        found = np.zeros((n, len(COLUMNS)))
        precision = ratio(self.credited, self.predicted)
        recall = ratio(self.credited, self.lines_gold)
        sums: list[NDArray[Any]] = [
            np.nan_to_num(precision),
            self.predicted > 0,
            np.nan_to_num(recall),
            self.lines_gold > 0,
            self.hits,
            self.predicted,
            self.lines_gold,
        ]
        if len(self.owners) == n and bool((self.n_lines == 1).all()):
            found[:] = np.stack(sums, axis=1)
            return found
        for k, values in enumerate(sums):
            found[:, k] = np.bincount(self.owners, weights=values, minlength=n)
        found[:, 3] += alone & (self.paper_gold > 0)
        found[:, 6] += np.where(alone, self.paper_gold, 0)
        return found

    def right(self) -> NDArray[np.bool_]:
        """Papers of which nothing is wrong and nothing missing."""
        n = len(self.paper_gold)
        wrong = (self.hits != self.predicted) | (self.hits != self.lines_gold)
        missed = (self.n_lines == 0) & (self.paper_gold > 0)
        clean: NDArray[np.bool_] = np.bincount(self.owners, weights=wrong, minlength=n) == 0
        clean &= ~missed
        return clean


def count_field(predictions: Field, gold: Field, rule: Match, duplicates: str) -> Counted:
    """Count the items of one field of some papers."""
    owners, n_lines = predictions.owners(), predictions.n_lines().astype(np.int64)
    ours, theirs = predictions.lists(), gold.first_lists()
    if rule.shape == "values" and rule.is_equality:
        if rule.by != "exact":
            ours, theirs = mapped_lists(ours, rule), mapped_lists(theirs, rule)
        return _count_values(ours, theirs, owners, n_lines, duplicates)
    gold_lists = [list(texts) for texts in theirs]
    tallies = [
        rule.tally(list(texts), gold_lists[owner], duplicates)
        for texts, owner in zip(ours, owners.tolist(), strict=True)
    ]
    lines = np.array(tallies, dtype=np.int64).reshape(len(tallies), len(Tally._fields))
    paper_gold = [rule.tally([], texts, duplicates).gold for texts in gold_lists]
    credited, predicted, lines_gold = lines.T
    hits = np.minimum(credited, lines_gold)
    return Counted(
        owners, credited, hits, predicted, lines_gold, np.array(paper_gold, np.int64), n_lines
    )


def mapped_lists(lists: TextLists, rule: Match) -> TextLists:
    """The lists with every value in the form that is compared."""
    forms: dict[str, str] = {}
    for text in lists.values:
        if text not in forms:
            forms[text] = rule.form(text)
    return TextLists(Texts.of(forms[text] for text in lists.values), lists.splits)


def _count_values(
    ours: TextLists, theirs: TextLists, owners: Positions, n_lines: Positions, duplicates: str
) -> Counted:
    found = compare(ours, theirs, owners)
    n_ours, n_theirs = ours.counts(), theirs.counts()
    hits = _sums(found.predicted & ~found.predicted_again, ours)
    credited = hits
    if duplicates == "set":
        n_ours = n_ours - _sums(found.predicted_again, ours)
        n_theirs = n_theirs - _sums(found.gold_again, theirs)
    else:
        _count_repeats(hits, found, ours, theirs, owners)
    if duplicates == "reference":
        credited = _sums(found.predicted, ours)
    return Counted(owners, credited, hits, n_ours, n_theirs[owners], n_theirs, n_lines)


def _count_repeats(
    hits: Positions, found: Found, ours: TextLists, theirs: TextLists, owners: Positions
) -> None:
    """Add what both sides repeat, which few papers have: only these are counted one by one."""
    both = (_sums(found.predicted_again, ours) > 0) & (_sums(found.gold_again, theirs)[owners] > 0)
    exact = Match()
    for line in np.flatnonzero(both).tolist():
        gold = list(theirs[int(owners[line])])
        hits[line] = exact.paired(list(ours[line]), gold)


def _sums(flags: NDArray[np.bool_], lists: TextLists) -> Positions:
    """How many flags are set in each list."""
    running = np.zeros(len(flags) + 1, dtype=np.int64)
    np.cumsum(flags, out=running[1:])
    return running[lists.splits[1:]] - running[lists.splits[:-1]]


def as_papers(column: Sequence[Any], names: Sequence[str]) -> Papers:
    """The column as papers with these fields; takes mappings `{field: value or values}` too.

    >>> list(as_papers([{"year": "2007"}, {}], ["year"]))
    [{'year': ['2007']}, {}]
    """
    if isinstance(column, Papers):
        by_name = {field.name: field for field in column.fields}
        return Papers([by_name[name] for name in names])
    return Papers([_field(column, name) for name in names])


def _field(column: Sequence[Any], name: str) -> Field:
    lists: list[tuple[str, list[str]]] = []
    papers: list[int] = []
    for i, item in enumerate(column):
        given = item.get(name) if isinstance(item, Mapping) else None
        if given is None:
            continue
        held = [given] if isinstance(given, str) else list(given)
        nested = bool(held) and not isinstance(held[0], str)
        for values in held if nested else [held]:
            lists.append((str(i), list(values)))
            papers.append(i)
    return side_field(name, Labels.of(lists), np.array(papers, dtype=np.int64), len(column))

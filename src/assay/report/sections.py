# SPDX-License-Identifier: Apache-2.0
"""What a report holds, as plain data: for each gold its systems, their comparison, examples.

`pipeline.report` fills these; `report.page` and `report.forms` show them.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePath
from typing import Any, Literal, get_args

from assay.core.comparison import ComparisonDocument
from assay.core.document import ResultDocument, ScoreEntry
from assay.report.terminal import cut_apart

Kind = Literal["won", "lost", "both wrong", "both right", "alike", "wrong", "right", "undefined"]
"""What an example tells. Of two systems: the leading one won it, lost it, or both are as good:
short of the best score, at it, or there is no best. Of a single one: short of the best score or at
it. Undefined: a score that would tell is."""
KINDS: tuple[Kind, ...] = get_args(Kind)
LONGEST_NAME = 32
"""Of a system within the name of a kind."""


@dataclass(frozen=True, slots=True)
class TellingExample:
    """One example with the predictions of all systems. A prediction that is missing is None."""

    id: str
    kind: Kind
    scores: tuple[float, ...]
    gain: float
    predictions: tuple[Any, ...]
    gold: Any
    slices: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Telling:
    """The examples that tell most, and how many of each kind there are in all.

    `pair` are the places of the two systems that `kind` and `gain` are about, the leading one
    last; the same place twice where there is a single system. `tokens` is how the task cuts texts
    for marking differences.
    """

    systems: tuple[str, ...]
    score: ScoreEntry
    right_wrong: bool
    pair: tuple[int, int]
    counts: Mapping[Kind, int]
    examples: tuple[TellingExample, ...]
    tokens: Callable[[str], Sequence[str] | None]

    @property
    def n(self) -> int:
        """All examples, shown or not."""
        return sum(self.counts.values())

    def called(self, kind: Kind) -> str:
        """The kind in words that need no look back at which system was which."""
        if kind not in ("won", "lost"):
            return kind
        name = self.names[kind == "won"]
        return f"only {name} right" if self.right_wrong else f"{name} better"

    @property
    def names(self) -> list[str]:
        """The two systems, the leading one last, cut where they are long."""
        return cut_apart([self.systems[i] for i in self.pair], LONGEST_NAME)


@dataclass(frozen=True, slots=True)
class Section:
    """Runs on one gold. `comparison` is None for a single run, or runs that share no metric.

    `folders` are those of the runs as they were given, `links` the same as seen from where the page
    lies; both are empty where a run lies in memory alone. `regions` are the outlines of joint
    regions by system, where two scores are drawn against each other. `agreements` tell for each
    question how far judges agree. `part` tells sections of one task apart.
    """

    task: str
    systems: tuple[ResultDocument, ...]
    comparison: ComparisonDocument | None = None
    telling: Telling | None = None
    folders: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    regions: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    agreements: tuple[Mapping[str, Any], ...] = ()
    remarks: tuple[str, ...] = ()
    part: str = ""

    @property
    def name(self) -> str:
        """The task, the data set where the task knows several, and what tells it from others."""
        sets = {str(s.extra.get("dataset") or "") for s in self.systems}
        own = [f"({self.part})"] if self.part else []
        return " ".join([self.task, *sorted(sets - {""}), *own])


@dataclass(frozen=True, slots=True)
class ReportDocument:
    """Everything a report shows. `command` makes it again."""

    title: str
    sections: tuple[Section, ...]
    command: str = ""
    version: str = ""
    remarks: tuple[str, ...] = ()


def told_apart(sections: Sequence[Section]) -> list[Section]:
    """The sections with names of their own: by gold files, else by systems, else counted."""
    found = list(sections)
    for name, many in Counter(s.name for s in sections).items():
        where = [i for i, s in enumerate(sections) if s.name == name]
        if many > 1:
            alike = [sections[i] for i in where]
            choices = ([_gold_files(s) for s in alike], [_named(s) for s in alike])
            counted = [f"part {n}" for n in range(1, many + 1)]
            own = next((c for c in choices if all(c) and len(set(c)) == many), counted)
            for i, part in zip(where, own, strict=True):
                found[i] = replace(sections[i], part=part)
    return found


def _gold_files(section: Section) -> str:
    files = {PurePath(i.path).name for s in section.systems for i in s.inputs if i.role == "gold"}
    return ", ".join(sorted(files))


def _named(section: Section) -> str:
    names = cut_apart([s.system for s in section.systems], LONGEST_NAME)
    return ", ".join([*names[:3], *([f"{len(names) - 3} more"] if len(names) > 3 else [])])


def led_by(document: ResultDocument, key: str | None) -> ResultDocument:
    """The document with this score before the others; as it is where it has no such score."""
    if key is None or key not in document.scores:
        return document
    scores = {key: document.scores[key], **document.scores}
    return replace(document, scores=scores)


def comparison_led_by(document: ComparisonDocument, key: str | None) -> ComparisonDocument:
    """The comparison with this score before the others."""
    differences = sorted(document.differences, key=lambda d: d.key != key)
    slices = sorted(document.slices, key=lambda d: d.key != key)
    return replace(
        document,
        systems=tuple(led_by(s, key) for s in document.systems),
        differences=tuple(differences),
        slices=tuple(slices),
    )


def best_first(systems: Sequence[ResultDocument], entry: ScoreEntry) -> list[ResultDocument]:
    """The systems by this score, best first, undefined last; equal ones as they come."""
    sign = -1.0 if entry.higher_is_better else 1.0

    def rank(system: ResultDocument) -> tuple[bool, float]:
        value = system.scores.get(entry.key, math.nan)
        return math.isnan(value), 0.0 if math.isnan(value) else sign * value

    return sorted(systems, key=rank)

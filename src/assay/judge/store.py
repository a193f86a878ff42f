# SPDX-License-Identifier: Apache-2.0
"""A folder of verdicts: who said what, what is final, and where people contradict themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from assay.core.errors import InputError
from assay.judge.log import log_judge, moment, read_log
from assay.judge.sheets import (
    COMMAND,
    STRUCTURE,
    KeyOf,
    read_sheet,
    sheet_judge,
    sheet_paths,
    sheet_verdicts,
)
from assay.judge.verdict import DECIDED, StructureOf, Verdict, reread, written_down

Place = tuple[str, str, str]
"""Question, key, and the text that was judged: a prediction or a structure."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Verdicts on the same thing that do not agree, in the order they were read."""

    place: Place
    verdicts: tuple[Verdict, ...]

    def __str__(self) -> str:
        question, _, text = self.place
        by_answer: dict[str, list[Verdict]] = {}
        for verdict in self.verdicts:
            by_answer.setdefault(verdict.answer, []).append(verdict)
        said = "; ".join(
            f"{len(those)} x {answer} ({those[0].judge}, {those[0].source or those[0].time})"
            for answer, those in by_answer.items()
        )
        return f"{question} of '{text}': {said}"


@dataclass(frozen=True, slots=True)
class SheetFacts:
    """A sheet that was read."""

    path: Path
    rows: int


class Store:
    """All verdicts of a folder that are in force.

    `sheets` is what CSV files say: there the last row wins, whoever wrote it. `judges` is what
    each judge says in a log of their own: there the judge's last word counts.
    """

    def __init__(
        self, sheet_verdicts: Iterable[Verdict] = (), logs: Mapping[str, Iterable[Verdict]] = {}
    ) -> None:
        self.facts: tuple[SheetFacts, ...] = ()
        self.sheets: dict[Place, Verdict] = {}
        self.sheet_conflicts: list[Conflict] = []
        self.judges: dict[str, dict[Place, Verdict]] = {}
        self.history: dict[str, list[Verdict]] = {}
        self._take_sheets(sheet_verdicts)
        self._words: dict[str, Words] = {}
        for judge, verdicts in logs.items():
            self._enter(judge)
            for verdict in verdicts:
                self.take(judge, verdict)

    def take(self, judge: str, verdict: Verdict) -> None:
        """One more verdict of a judge's log."""
        self._enter(judge)
        self.history[judge].append(verdict)
        self._words[judge].take(verdict)

    def _enter(self, judge: str) -> None:
        if judge not in self._words:
            self._words[judge] = Words()
            self.history[judge] = []
            self.judges[judge] = self._words[judge].in_force

    def find(self, question: str, key: str, text: str) -> Verdict | None:
        """The verdict that counts: that of the judges if they have a final one, else the sheets'.

        `text` is the prediction, or the structure for a question about structures.
        """
        place = (question, key, text)
        return final_verdict(self.of_judges(place)) or self.sheets.get(place)

    def of_judges(self, place: Place) -> list[Verdict]:
        """What each judge says about one thing, by the time they said it."""
        said = (verdicts[place] for verdicts in self.judges.values() if place in verdicts)
        return sorted(said, key=moment)

    def places(self) -> list[Place]:
        """Everything that any judge or sheet says something about, in a fixed order."""
        found = dict.fromkeys(self.sheets)
        for judge in sorted(self.judges):
            found.update(dict.fromkeys(self.judges[judge]))
        return list(found)

    def count(self, question: str) -> int:
        """How many different texts have a verdict on this question."""
        return sum(place[0] == question for place in self.places())

    def disagreements(self) -> list[Conflict]:
        """Where judges say different things, whether or not a third one has settled it."""
        found = []
        for place in self.places():
            said = self.of_judges(place)
            if len({v.answer for v in said if v.answer in DECIDED}) > 1:
                found.append(Conflict(place, tuple(said)))
        return found

    def unsettled(self) -> list[Conflict]:
        """Where a further judge is needed: judges differ, or are unsure, and nobody settled it."""
        found = []
        for place in self.places():
            said = [v for v in self.of_judges(place) if v.answer != "skip"]
            if said and final_verdict(said) is None:
                found.append(Conflict(place, tuple(said)))
        return found

    @property
    def conflicts(self) -> list[Conflict]:
        """Rows of sheets that contradict one another, and judges who do and are not settled."""
        return [*self.sheet_conflicts, *self.unsettled()]

    def _take_sheets(self, verdicts: Iterable[Verdict]) -> None:
        said: dict[Place, list[Verdict]] = {}
        for verdict in verdicts:
            self.sheets[verdict.place] = verdict
            said.setdefault(verdict.place, []).append(verdict)
        for place, all_said in said.items():
            if len({verdict.answer for verdict in all_said}) > 1:
                self.sheet_conflicts.append(Conflict(place, tuple(all_said)))


class Words:
    """What one judge says: their last word on everything; what was withdrawn is gone.

    What a judge says to settle a disagreement comes before what they said as one among others, and
    taking it back brings the other back. Repeats of an item, which measure how steady a judge is,
    do not change their verdict.
    """

    def __init__(self) -> None:
        self.in_force: dict[Place, Verdict] = {}
        self._own: dict[Place, Verdict] = {}
        self._settled: dict[Place, Verdict] = {}

    def take(self, verdict: Verdict) -> None:
        """The next thing the judge says."""
        if verdict.purpose in ("control", "repeat"):
            return
        place = verdict.place
        last = self._settled if verdict.purpose == "adjudication" else self._own
        if verdict.answer == "withdrawn":
            last.pop(place, None)
        else:
            last[place] = verdict
        counts = self._settled.get(place) or self._own.get(place)
        if counts is None:
            self.in_force.pop(place, None)
        else:
            self.in_force[place] = counts


def in_force(verdicts: Iterable[Verdict]) -> dict[Place, Verdict]:
    """The last word of one judge on everything."""
    words = Words()
    for verdict in verdicts:
        words.take(verdict)
    return words.in_force


def final_verdict(said: Sequence[Verdict]) -> Verdict | None:
    """The rule for several judges: what all say, else what the one says who was asked to settle it.

    `said` holds at most one verdict per judge, in the order of time. The first two judges decide if
    they agree; if not, the third does. One who adjudicates decides alone. Unsure and skipped are
    no answers; None is returned where nothing is decided.
    """
    settled = [v for v in said if v.purpose == "adjudication" and v.answer in DECIDED]
    if settled:
        return settled[-1]
    unsure = any(v.answer == "unsure" for v in said)
    decided = [v for v in said if v.answer in DECIDED]
    if not decided:
        return None
    if len(decided) == 1:
        return None if unsure else decided[0]
    if decided[0].answer == decided[1].answer:
        return decided[0]
    return decided[2] if len(decided) > 2 else None


def is_party(store: Store, place: Place, judge: str) -> bool:
    """Whether a judge is one of those whose disagreement is to be settled."""
    said = store.of_judges(place)
    return any(v.judge == judge and v.purpose != "adjudication" for v in said)


def read_store(
    folder: Path,
    *,
    key_of: KeyOf = str.strip,
    structure_of: StructureOf = written_down,
    questions: tuple[str, str] = (STRUCTURE, COMMAND),
    also: Mapping[str, Iterable[str]] = {},
    reading: Callable[[Path], None] | None = None,
) -> Store:
    """Read a folder: logs of judges, and sheets in place.

    `key_of` and `questions` say how the cells of a sheet are understood, `structure_of` how
    structures are printed now, which logs and sheets may do otherwise. `also` gives further keys
    that what is said under a key is said under. `reading` is told of each sheet before it is read.
    """
    if not folder.is_dir():
        raise InputError(
            "is not a folder" if folder.exists() else "does not exist",
            path=folder,
            hint="give the folder that holds the verdicts",
        )
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=folder) from None
    facts: list[SheetFacts] = []

    def all_sheets() -> Iterable[Verdict]:
        for path in sheet_paths(folder):
            if reading is not None:
                reading(path)
            rows = list(read_sheet(path))
            facts.append(SheetFacts(path, len(rows)))
            said = sheet_verdicts(
                rows,
                judge=sheet_judge(path),
                key_of=key_of,
                structure_of=structure_of,
                questions=questions,
            )
            yield from _under_all_keys(said, also)

    logs = {
        judge: list(
            _under_all_keys((reread(verdict, structure_of) for verdict in read_log(path)), also)
        )
        for path in paths
        if (judge := log_judge(path)) is not None and path.is_file()
    }
    store = Store(all_sheets(), logs)
    store.facts = tuple(facts)
    return store


def _under_all_keys(
    verdicts: Iterable[Verdict], also: Mapping[str, Iterable[str]]
) -> Iterator[Verdict]:
    for verdict in verdicts:
        yield verdict
        for key in also.get(verdict.key, ()):
            yield msgspec.structs.replace(verdict, key=key)

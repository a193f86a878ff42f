# SPDX-License-Identifier: Apache-2.0
"""What there is to judge in some runs, and what verdicts say about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay import tasks
from assay.core.errors import MismatchError, UsageError
from assay.core.judging import Item, Question
from assay.judge.answers import value_of
from assay.judge.queue import distinct, place_of
from assay.judge.sheets import KeyOf
from assay.judge.store import Place, Store, read_store
from assay.judge.verdict import StructureOf
from assay.pipeline.result import Result
from assay.pipeline.runs import load_run, read_document

FOLDER = "judgements"


@dataclass(frozen=True)
class SystemItems:
    """The items of one system, by example, best prediction first."""

    run: Result
    by_example: Mapping[str, tuple[Item, ...]]

    @property
    def name(self) -> str:
        """The name of the system."""
        return self.run.system


class Rivals(NamedTuple):
    """The first predictions of two systems for an example: none or one on each side.

    `needed` are, for each that no rule settles, the places under which an answer may be found.
    """

    sides: tuple[tuple[Item, ...], tuple[Item, ...]]
    needed: tuple[frozenset[Place], ...]


@dataclass(frozen=True)
class Worklist:
    """All that could be judged of some runs on the same gold.

    `only` are the examples to judge, None stands for all; `most` is how many of the predictions for
    each are judged.
    """

    task: str
    questions: tuple[Question, ...]
    guidelines: str
    examples: tuple[str, ...]
    systems: tuple[SystemItems, ...]
    only: frozenset[str] | None = field(default=None)
    most: int | None = field(default=None)

    @cached_property
    def items(self) -> list[Item]:
        """Every prediction once, whichever systems made it; of `only` some examples."""
        return distinct(item for items in self.lists for item in items)

    @property
    def lists(self) -> list[tuple[Item, ...]]:
        """The predictions of each system for each example, best first; of `only` some examples."""
        kept = self.examples if self.only is None else [e for e in self.examples if e in self.only]
        return [
            system.by_example.get(example, ())[: self.most]
            for example in kept
            for system in self.systems
        ]

    @cached_property
    def places(self) -> frozenset[Place]:
        """Everything that a verdict could be about."""
        return frozenset(place_of(item, q) for item in self.items for q in self.questions)

    @cached_property
    def rivals(self) -> list[Rivals]:
        """The first predictions of the first two systems, where these differ."""
        last, found = self.questions[-1].name, []
        for example in self.examples:
            one, two = (s.by_example.get(example, ())[:1] for s in self.systems[:2])
            if [item.prediction for item in one] != [item.prediction for item in two]:
                needed = tuple(
                    frozenset(place_of(item, question) for question in self.questions)
                    for item in (*one, *two)
                    if last not in item.matched
                )
                found.append(Rivals((one, two), needed))
        return found

    @cached_property
    def structure_of(self) -> StructureOf:
        """How the structure of a prediction is printed, as the runs were scored."""
        options = self.systems[0].run.document.options
        return partial(tasks.load(self.task).structure, **options)

    @property
    def ranks(self) -> int:
        """The largest number of predictions for one example."""
        sizes = (len(items) for s in self.systems for items in s.by_example.values())
        return max(sizes, default=1)

    def same(self) -> NDArray[np.bool_]:
        """Per example: whether the first two systems predict the same."""
        first, second = self.systems[:2]
        return np.array([self._texts(first, e) == self._texts(second, e) for e in self.examples])

    def _texts(self, system: SystemItems, example: str) -> list[str]:
        return [item.prediction for item in system.by_example.get(example, ())[: self.most]]


def worklist(runs: Sequence[str | Path | Result], guidelines: str | None = None) -> Worklist:
    """The items of some runs, which must be of one task and on the same gold."""
    loaded = [run if isinstance(run, Result) else load_run(run) for run in runs]
    if not loaded:
        raise UsageError("give a run to judge: the folder that was written with --save")
    first = loaded[0].document
    for other in loaded[1:]:
        if other.document.task != first.task:
            raise MismatchError(
                f"{first.system} is a run of task {first.task}, {other.system} of "
                f"{other.document.task}; runs that are judged together must be of one task"
            )
        if other.document.gold_sha256 != first.gold_sha256:
            raise MismatchError(
                f"{first.system} and {other.system} were scored against different gold; judge "
                "them one by one"
            )
    task = tasks.load(first.task)
    systems = []
    examples: list[str] = []
    for run in loaded:
        options = run.document.options
        by_example: dict[str, tuple[Item, ...]] = {}
        for example in run.iter_examples():
            if example.id in by_example:
                raise UsageError(f"the id '{example.id}' is there twice; judging needs unique ids")
            by_example[example.id] = tuple(task.items(example, **options))
        systems.append(SystemItems(run, by_example))
        examples = examples or list(by_example)
    return Worklist(
        first.task,
        task.questions,
        task.guidelines if guidelines is None else guidelines,
        tuple(examples),
        tuple(systems),
    )


def verdicts_folder(runs: Sequence[str | Path], given: str | Path | None) -> Path:
    """Where verdicts are kept: where it was said, now or when the run was scored, else beside the
    run; never inside it, because a run that is scored again is replaced as a whole."""
    if given:
        return Path(given)
    run = Path(runs[0])
    scored = read_document(run).options.get("judgements")
    if isinstance(scored, str) and Path(scored).is_dir():
        return Path(scored)
    beside = run.parent if run.name not in ("", "..") else run.absolute().parent
    return beside / FOLDER


def open_store(folder: Path, work: Worklist) -> Store:
    """The verdicts of a folder; none where there is no such folder yet."""
    if not folder.exists():
        return Store()
    task = tasks.load(work.task)
    names = [question.name for question in work.questions]
    return read_store(
        folder,
        key_of=task.description_key,
        structure_of=work.structure_of,
        questions=(names[0] if len(names) > 1 else "structure", names[-1]),
        also=_given_keys(work, task.description_key),
    )


def _given_keys(work: Worklist, key_of: KeyOf) -> dict[str, list[str]]:
    """By the key that a description has, the keys that were given to examples in place of it: what
    was said before they had one still counts."""
    found: dict[str, list[str]] = {}
    firsts = (items[0] for s in work.systems for items in s.by_example.values() if items)
    given = {item.key: item.description for item in firsts}
    for key, description in given.items():
        own = key_of(description)
        if own != key:
            found.setdefault(own, []).append(key)
    return found


def values(
    work: Worklist, system: SystemItems, store: Store, question: Question, top: int
) -> NDArray[np.float64]:
    """Per example: 1 if one of the first `top` predictions is right, 0 if none is, NaN unknown."""
    return np.array(
        [
            value_of(store, system.by_example.get(example, ())[:top], question, work.questions)
            for example in work.examples
        ]
    )


def measures(work: Worklist) -> list[tuple[str, Question, int]]:
    """Name, question and number of predictions that may be right: `top3_command`."""
    if work.ranks == 1:
        return [(question.name, question, 1) for question in work.questions]
    return [
        (f"top{top}_{question.name}", question, top)
        for question in reversed(work.questions)
        for top in (1, work.ranks)
    ]

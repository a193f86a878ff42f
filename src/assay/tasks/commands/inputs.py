# SPDX-License-Identifier: Apache-2.0
"""From files to batches: read, pair, draw, look verdicts up, and ask for those that are missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.batch import BLOCK, Batch
from assay.core.console import console
from assay.core.document import InputFile, Intake
from assay.core.errors import UsageError
from assay.core.names import amount, unknown
from assay.core.task import Examples, Missing
from assay.core.text import TextLists
from assay.tasks.commands.accuracy import COMMAND_LETTERS, TEMPLATE_LETTERS
from assay.tasks.commands.align import Example, drawn, paired
from assay.tasks.commands.files import Group, read_gold, read_predictions
from assay.tasks.commands.forms import Mode
from assay.tasks.commands.judging import judging_facts
from assay.tasks.commands.pictured import top_shares
from assay.tasks.commands.verdicts import COMMAND, STRUCTURE, Known, Verdicts, letters

DESCRIPTION = "description"
KEY = "key"
CONFIDENCES = "confidences"


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of the task, as they are used."""

    judgements: str | None = None
    num_examples: int = 100
    seed: int = 100
    top_k: int = 3
    match: Mode = "strict"
    manual_eval: bool = False
    judge: str = "author"
    write: str = "jsonl"
    automatic: bool = False
    compat: bool = False
    ci: float = 0.95

    @classmethod
    def of(cls, options: dict[str, Any]) -> Settings:
        """The settings of these options; the old program's where compatibility is asked for."""
        mode = options.pop("compat", None)
        if mode not in (None, "nl2bash"):
            raise unknown("program to be compatible with", mode, ["nl2bash"])
        compat = mode is not None
        given = {name: value for name, value in options.items() if value is not None}
        if compat and given.get("match", "strict") != "strict":
            raise UsageError("--compat nl2bash has its own way to match; leave out --match")
        if compat:
            given |= {"match": "nl2bash", "write": given.get("write") or "csv"}
        strange = next((name for name in given if name not in cls.__slots__), None)
        if strange is not None:
            raise unknown("option", strange, cls.__slots__)
        if given.get("automatic"):
            given["num_examples"] = 0
        settings = cls(compat=compat, **given)
        if settings.top_k < 1:
            raise UsageError(f"--top-k {settings.top_k} must be at least 1")
        return settings


def open_examples(predictions: Any, gold: Any, missing: Missing, settings: Settings) -> Examples:
    """The drawn examples with everything that is known about their predictions."""
    intake = Intake()
    groups = read_gold(gold, intake)
    listed = read_predictions(predictions, intake, line_feeds=settings.compat, most=settings.top_k)
    shown = predictions if isinstance(predictions, (str, Path)) else "memory"
    console().note(f"{len(listed)} predictions loaded from {shown}")
    examples = paired(groups, listed, missing=missing, intake=intake)
    if settings.manual_eval and intake.standard_input is not None:
        raise UsageError(
            f"--manual_eval takes answers from standard input, and {intake.standard_input} are "
            "read from there; give a file"
        )
    verdicts = _verdicts(settings, intake)
    sample = drawn(examples, settings.num_examples, settings.seed)
    if settings.manual_eval:
        from assay.tasks.commands.dialogue import judge_sample

        judge_sample(examples, sample, verdicts, settings)
    # Where nothing was to be asked nobody has made the folder.
    if settings.judgements is not None and Path(settings.judgements).exists():
        intake.inputs.extend(_judgement_files(Path(settings.judgements)))
    known = {i: _known(examples[i], verdicts) for i in sample}
    intake.extra["top_k"] = top_shares(known.values(), settings.top_k)
    intake.extra["judging"] = judging_facts(examples, sample, known, verdicts, settings)
    if settings.compat and settings.automatic:
        # The old program prints the best of three only if its last group has more than one.
        intake.extra["best_shown"] = any(len(e.candidates.commands) > 1 for e in examples[-1:])
    _warn(intake, verdicts)
    # People are asked in the order of the draw; where all are drawn, results have that of gold.
    order = sample if len(sample) < len(examples) else range(len(examples))
    return Examples(_batches(examples, order, known), intake)


def _known(example: Example, verdicts: Verdicts) -> list[Known]:
    """What is known about every prediction; a metric may count more of them than are judged."""
    return [verdicts.about(example.group, text) for text in example.candidates.commands]


def _verdicts(settings: Settings, intake: Intake) -> Verdicts:
    note = console().note
    if settings.judgements is None:
        if settings.manual_eval:
            raise UsageError("--manual_eval needs a folder for the verdicts; give --judgements DIR")
        found = Verdicts(settings.match)
    else:
        folder = Path(settings.judgements)
        if settings.manual_eval and not folder.exists():
            found = Verdicts(settings.match)
        else:
            found = Verdicts.read(
                folder,
                settings.match,
                settings.automatic,
                lambda path: note(f"reading cached evaluations from {path}"),
            )
    note(f"{found.count(STRUCTURE)} structure evaluation results loaded")
    note(f"{found.count(COMMAND)} command evaluation results loaded")
    return found


def _judgement_files(folder: Path) -> Iterator[InputFile]:
    import hashlib

    from assay.judge.log import log_judge
    from assay.judge.sheets import sheet_paths

    logs = (path for path in sorted(folder.iterdir()) if log_judge(path) is not None)
    for path in (*sheet_paths(folder), *logs):
        yield InputFile("verdicts", str(path), hashlib.sha256(path.read_bytes()).hexdigest())


def _warn(intake: Intake, verdicts: Verdicts) -> None:
    if verdicts.store is not None:
        conflicts = verdicts.store.conflicts
        if conflicts:
            intake.warnings.append(
                f"verdicts contradict one another in {amount(len(conflicts), 'place')}, the last "
                f"one counts in sheets; first: {conflicts[0]}"
            )
    against = list(verdicts.against)
    if against:
        intake.warnings.append(
            f"{amount(len(against), 'command')} judged wrong although equal to gold by rule, and "
            f"counted as wrong; first: {against[0][1]!r}"
        )


def _batches(
    examples: Sequence[Example], sample: Sequence[int], known: dict[int, list[Known]]
) -> Iterator[Batch]:
    for start in range(0, len(sample), BLOCK):
        chosen = sample[start : start + BLOCK]
        yield _batch([examples[i] for i in chosen], [known[i] for i in chosen], start)


def _batch(examples: Sequence[Example], known: Sequence[list[Known]], first: int) -> Batch:
    both = [letters(k) for k in known]
    columns: dict[str, list[str]] = {
        DESCRIPTION: [e.group.description for e in examples],
        KEY: [e.group.key for e in examples],
        TEMPLATE_LETTERS: [templates for templates, _ in both],
        COMMAND_LETTERS: [commands for _, commands in both],
    }
    if any(e.candidates.confidences is not None for e in examples):
        columns[CONFIDENCES] = [_confidences(e) for e in examples]
    for name in dict.fromkeys(name for e in examples for name in e.group.columns):
        columns.setdefault(name, [e.group.columns.get(name, "") for e in examples])
    missing = np.array([e.missing for e in examples], dtype=np.bool_)
    return Batch(
        TextLists.of(e.candidates.commands for e in examples),
        TextLists.of(e.group.references for e in examples),
        [e.group.id for e in examples],
        columns,
        missing if missing.any() else None,
        first,
    )


def _confidences(example: Example) -> str:
    given = example.candidates.confidences or (1.0,) * len(example.candidates.commands)
    return " ".join(repr(value) for value in given)


def group_of(id: str, description: str, key: str, references: Sequence[str]) -> Group:
    """A group from what a stored example holds."""
    return Group(id, description, (key,), tuple(references))

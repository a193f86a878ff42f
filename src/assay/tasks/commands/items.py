# SPDX-License-Identifier: Apache-2.0
"""Predictions as items to be judged, and why each example has the scores it has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assay.core.batch import Batch
from assay.core.judging import Item, Kept, texts
from assay.core.metric import Metric
from assay.tasks.commands.accuracy import CommandAccuracy
from assay.tasks.commands.find import RUNNING
from assay.tasks.commands.forms import Form, Mode, form
from assay.tasks.commands.keys import description_key
from assay.tasks.commands.parts import bodies
from assay.tasks.commands.table import utility
from assay.tasks.commands.tree import Assigned, Body, Command, Flag
from assay.tasks.commands.verdicts import COMMAND, STRUCTURE, matched


def items(example: Kept, **options: Any) -> list[Item]:
    """One item per prediction of an example, best first."""
    mode = mode_of(options)
    description = example.slices.get("description", "")
    references = tuple(texts(example.gold))
    key = example.slices.get("key") or description_key(description)
    found = []
    for rank, prediction in enumerate(texts(example.prediction), start=1):
        if rank > (options.get("top_k") or 3) or not prediction.strip():
            continue
        by_rule = matched(prediction, references, mode)
        own = form(prediction, mode)
        right = {STRUCTURE: by_rule.template == "m", COMMAND: by_rule.command == "m"}
        found.append(
            Item(
                id=f"{example.id}/{rank}",
                key=key,
                prediction=prediction,
                references=references,
                prompt=description,
                structure=own.template,
                example=example.id,
                rank=rank,
                matched=frozenset(name for name, is_right in right.items() if is_right),
                # What the old tool refuses is shell syntax nevertheless.
                notes=_notes(form(prediction, "strict") if mode == "nl2bash" else own),
                slices=example.slices,
            )
        )
    return found


def mode_of(options: Mapping[str, Any]) -> Mode:
    """How commands are compared in a run that was scored with these options."""
    compat = options.get("compat") is not None
    return "nl2bash" if compat else options.get("match") or "strict"


def _notes(own: Form) -> tuple[str, ...]:
    """What a judge should know about a command."""
    if not own.parsed:
        return ("does not parse as shell syntax",)
    every = list(_commands(own.body))
    tools = dict.fromkeys(c.name for c in every if not utility(c.name).known)
    flags = dict.fromkeys((c.name, flag) for c in every for flag in _unknown_flags(c))
    return (
        *(f"unknown utility: {name}" for name in tools),
        *(f"unknown flag of {name}: {flag}" for name, flag in flags),
    )


def _commands(body: Body) -> Iterator[Command]:
    """All commands, those inside others after the one they stand in."""
    for piece in body:
        if isinstance(piece, Command):
            yield piece
            for item in piece.items:
                for inside in bodies(item):
                    yield from _commands(inside)
        elif not isinstance(piece, str):
            value = piece.value if isinstance(piece, Assigned) else piece
            for inner in value.inner:
                yield from _commands(inner.body)


def _unknown_flags(command: Command) -> Iterator[str]:
    """Flags that a utility does not have, where the table lists all of them (find)."""
    known = utility(command.name)
    if not known.flags:
        return
    letters = ""
    for item in (*command.items, None):
        name = item.name if isinstance(item, Flag) else ""
        is_known = name in known.takes or name in known.flags or name in RUNNING
        if name and not is_known and len(name) == 2:
            letters += name[1]  # a word that find does not know was read as joined letters
            continue
        if letters:
            yield f"-{letters}"
            letters = ""
        if name and not is_known:
            yield name


def explanations(batch: Batch, metrics: Sequence[Metric]) -> list[Mapping[str, Any]]:
    """Templates of gold and predictions, and what is known of each."""
    mode = next((m.match for m in metrics if isinstance(m, CommandAccuracy)), "strict")
    known = batch.columns.get("template_verdicts"), batch.columns.get("command_verdicts")
    found: list[Mapping[str, Any]] = []
    for i, pair in enumerate(batch.pairs()):
        predictions = texts(
            pair.prediction if isinstance(pair.prediction, str) else list(pair.prediction)
        )
        templates, commands = (column[i] if column is not None else "" for column in known)
        found.append(
            {
                "gold_templates": [form(text, mode).template for text in pair.references],
                "predictions": [
                    {
                        "command": text,
                        "template": form(text, mode).template,
                        "template_verdict": templates[rank : rank + 1],
                        "command_verdict": commands[rank : rank + 1],
                    }
                    for rank, text in enumerate(predictions)
                ],
            }
        )
    return found

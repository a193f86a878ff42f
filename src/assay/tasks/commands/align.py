# SPDX-License-Identifier: Apache-2.0
"""Which predictions belong to which description, and which descriptions are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.align.near import near_miss
from assay.core.document import Intake
from assay.core.errors import AlignError, InputError
from assay.core.names import amount
from assay.core.task import Missing
from assay.tasks.commands.files import Candidates, Group


@dataclass(frozen=True, slots=True)
class Example:
    """A description with its gold, and what was predicted for it."""

    group: Group
    candidates: Candidates
    missing: bool = False


def paired(
    groups: Sequence[Group],
    predictions: Sequence[Candidates],
    *,
    missing: Missing,
    intake: Intake,
) -> list[Example]:
    """Every description with its predictions: by id where predictions have ids, else by order."""
    counts = intake.counts
    counts.gold, counts.predictions = len(groups), len(predictions)
    if not groups:
        raise AlignError("gold holds no descriptions", hint="check the gold file")
    if predictions and all(p.id is not None for p in predictions):
        return _by_id(groups, predictions, missing, intake)
    if any(p.id is not None for p in predictions):
        raise AlignError("some predictions have an id and some do not", hint="give all of them ids")
    if len(groups) != len(predictions):
        raise AlignError(
            "ground truth and predictions length must be equal: "
            f"{len(groups)} vs. {len(predictions)}{_places(intake)}",
            hint="line i of the predictions belongs to description i (pairs are grouped by the key "
            "of their description and sorted by it); JSONL with ids needs no order",
        )
    counts.matched = len(groups)
    return [Example(*both) for both in zip(groups, predictions, strict=True)]


def _places(intake: Intake) -> str:
    """The files of both sides, gold first, where they are known."""
    paths = [f.path for role in ("gold", "predictions") for f in intake.inputs if f.role == role]
    return f" ({', '.join(paths)})" if paths else ""


def _by_id(
    groups: Sequence[Group], predictions: Sequence[Candidates], missing: Missing, intake: Intake
) -> list[Example]:
    counts = intake.counts
    by_id: dict[str, Candidates] = {}
    lines: dict[str, int] = {}
    for number, candidates in enumerate(predictions, start=1):
        assert candidates.id is not None, "all predictions have ids here"
        if candidates.id in by_id:
            raise InputError(
                f"the id {candidates.id!r} was on line {lines[candidates.id]:,} already",
                path=next((f.path for f in intake.inputs if f.role == "predictions"), None),
                line=number,
                hint="give one record per description",
            )
        lines[candidates.id] = number
        by_id[candidates.id] = candidates
    lost = [group.id for group in groups if group.id not in by_id]
    known = {group.id for group in groups}
    extra = [id for id in by_id if id not in known]
    counts.missing, counts.extra = len(lost), len(extra)
    counts.matched = len(groups) - len(lost)
    if missing == "error" and (lost or extra):
        raise _unpaired(lost, extra, len(groups))
    if extra:
        intake.warnings.append(f"{amount(len(extra), 'prediction')} without gold left out")
    nothing = Candidates(None, ())
    every = [Example(g, by_id.get(g.id, nothing), g.id not in by_id) for g in groups]
    return [e for e in every if not e.missing] if missing == "skip" else every


def _unpaired(lost: Sequence[str], extra: Sequence[str], n: int) -> AlignError:
    near = near_miss(lost[:1000], extra[:1000])
    why = f" ({near})" if near is not None else ""
    if lost:
        return AlignError(
            f"{len(lost):,} of {n:,} gold ids have no prediction, first: {lost[0]!r}{why}",
            hint="use --missing wrong to count them as wrong, or --missing skip to leave them out",
        )
    return AlignError(
        f"{amount(len(extra), 'prediction')} without gold, first: {extra[0]!r}{why}",
        hint="use --missing wrong to leave them out",
    )


def drawn(examples: Sequence[Example], size: int, seed: int) -> list[int]:
    """The positions of the sample in the order of the draw; 0 and less means all of them."""
    from assay.judge.sample import draw_order

    order = draw_order(len(examples), seed)
    return order[:size] if size > 0 else order

# SPDX-License-Identifier: Apache-2.0
"""How far the scores can be trusted: what is unjudged, the bounds, and the whole set's estimate."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.core.errors import UsageError
from assay.tasks.commands.accuracy import (
    command_possible,
    command_right,
    template_possible,
    template_right,
)
from assay.tasks.commands.verdicts import COMMAND, STRUCTURE, Known, Verdicts, matched

if TYPE_CHECKING:
    from assay.tasks.commands.align import Example
    from assay.tasks.commands.inputs import Settings

Right = Callable[[Known], bool]

_QUESTIONS: tuple[tuple[str, Right, Right], ...] = (
    ("command", command_right, command_possible),
    ("template", template_right, template_possible),
)


def judging_facts(
    examples: Sequence[Example],
    sample: Sequence[int],
    known: Mapping[int, Sequence[Known]],
    verdicts: Verdicts,
    settings: Settings,
) -> dict[str, Any]:
    """What goes into the document besides the scores."""
    every = [k for i in sample for k in known[i][: settings.top_k]]
    asks = [k.asks for k in every]
    structures, commands = asks.count(STRUCTURE), asks.count(COMMAND)
    ranks = dict.fromkeys((1, settings.top_k))
    by_rule = cache(partial(_by_rule, examples, settings))  # once for all scores, where wanted
    facts: dict[str, Any] = {
        "population": len(examples),
        "sample": {"size": len(sample), "seed": settings.seed},
        "drawn": [examples[i].group.id for i in sample] if len(sample) < len(examples) else None,
        "predictions": len(every),
        "unjudged": {
            "predictions": structures + commands,
            "structure": structures,
            "command_only": commands,
        },
        "deciding": sum(_deciding(known[i], ranks) for i in sample),
        "by_match": {
            "command": sum(k.command == "m" for k in every),
            "template": sum(k.template == "m" for k in every),
        },
        "matches_judged_wrong": len(verdicts.against),
        "bounds": {},
        "estimates": {},
    }
    for what, right, possible in _QUESTIONS:
        for rank in ranks:
            name = f"top{rank}_{what}_accuracy"
            low = [any(right(k) for k in known[i][:rank]) for i in sample]
            high = [any(possible(k) for k in known[i][:rank]) for i in sample]
            n = len(sample)
            facts["bounds"][name] = [sum(low) / n, sum(high) / n] if n else None
            facts["estimates"][name] = _estimate(
                examples, sample, low, high, right, rank, by_rule, settings
            )
    return facts


def _by_rule(examples: Sequence[Example], settings: Settings) -> list[list[Known]]:
    """What the rule says of every prediction, whoever judged it."""
    return [
        [
            matched(command, e.group.references, settings.match)
            for command in e.candidates.commands[: settings.top_k]
        ]
        for e in examples
    ]


def _deciding(known: Sequence[Known], ranks: Iterable[int]) -> int:
    """How many open predictions of an example can still change a score.

    Where one of the first k is right already, answers about the others change nothing in top k.
    """
    undecided = [
        (rank, possible)
        for _, right, possible in _QUESTIONS
        for rank in ranks
        if not any(right(k) for k in known[:rank])
    ]
    return sum(
        one.asks is not None and any(at < rank and possible(one) for rank, possible in undecided)
        for at, one in enumerate(known)
    )


def _estimate(
    examples: Sequence[Example],
    sample: Sequence[int],
    low: Sequence[bool],
    high: Sequence[bool],
    right: Right,
    rank: int,
    by_rule: Callable[[], list[list[Known]]],
    settings: Settings,
) -> dict[str, Any]:
    """What people would say about the whole set, or why that cannot be told."""
    from assay.judge.estimate import estimate

    if settings.compat:
        return {"why_not": "the old program makes none"}
    undecided = sum(a != b for a, b in zip(low, high, strict=True))
    if undecided:
        return {"why_not": f"{undecided:,} of the {len(sample):,} drawn examples are undecided"}
    chosen = np.zeros(len(examples), dtype=bool)
    chosen[list(sample)] = True
    others = [e for e, inside in zip(examples, chosen, strict=True) if not inside]
    if others and not any(e.candidates.commands for e in others):
        return {"why_not": "there are predictions for the drawn examples only"}
    judged = np.full(len(examples), np.nan)
    judged[list(sample)] = low
    automatic = [any(right(k) for k in those[:rank]) for those in by_rule()]
    try:
        found = estimate(
            judged,
            np.array(automatic, dtype=np.float64),
            drawn=chosen,
            known=None if others else chosen,
            level=settings.ci or 0.95,
        )
    except UsageError as error:
        return {"why_not": str(error)}
    return {
        "value": found.value,
        "interval": list(found.finite),
        "future_interval": list(found.future),
        "level": found.level,
        "method": found.method,
        "judged": len(sample),
        "population": len(examples),
        "judged_only": float(np.mean(low)),
        "weight": found.weight,
    }

# SPDX-License-Identifier: Apache-2.0
"""The metrics of the task, by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.core.errors import UsageError
from assay.core.metric import Metric, build
from assay.tasks.sparql.components import Components
from assay.tasks.sparql.conversations import Conversations
from assay.tasks.sparql.execution import Execution
from assay.tasks.sparql.gerbil import Gerbil
from assay.tasks.sparql.match import Answers, ExactQuery
from assay.tasks.sparql.normalised import NormalisedQuery
from assay.tasks.sparql.unknown_ids import UnknownIds

CLASSES: tuple[type[Metric], ...] = (
    ExactQuery,
    Answers,
    Gerbil,
    Execution,
    NormalisedQuery,
    Components,
    Conversations,
    UnknownIds,
)

NEED_ANSWERS = ("answers", "gerbil", "execution", "conversations")


def metric(text: str) -> Metric:
    """The metric whose text this is."""
    return build(text, CLASSES)


def chosen_metrics(
    names: Sequence[str],
    *,
    em_only: bool = False,
    compat: str | None = None,
    max_results: int = 1_000,
    answer_limit: int = 0,
    check_ids: bool = False,
    **_: Any,
) -> list[Metric]:
    """What to measure: exact match always, answers where there are any."""
    if answer_limit < 0:
        raise UsageError(f"--answer_limit {answer_limit} must not be negative; 0 is no limit")
    if max_results < 1:
        raise UsageError(f"--max_results {max_results} must be above 0")
    asked = [metric(name) for name in names]
    for one in asked:
        if em_only and one.name in NEED_ANSWERS:
            raise UsageError(f"{one.name} needs answers; leave --em_only out and give --kg")
        if one.name == UnknownIds.name and not check_ids:
            raise UsageError(f"{one.name} needs --check_ids, which looks them up in the graph")
    found: list[Metric] = [ExactQuery()]
    if compat is not None:
        found.append(Answers(limit=max_results, compat=True))
    elif not em_only:
        found.append(Answers(limit=answer_limit))
        if not asked:
            found += [Gerbil(), Execution()]
    if check_ids:
        found.append(UnknownIds())
    there = {one.name for one in found}
    return found + [one for one in asked if one.name not in there]

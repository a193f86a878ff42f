# SPDX-License-Identifier: Apache-2.0
"""What `assay judge` prints with `--json`: agreement, estimates, the state of the work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from assay.core.document import plain_document
from assay.judge.agreement import Agreement
from assay.judge.answers import JudgeFacts
from assay.judge.estimate import Estimate


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which judges differ, and whether somebody has settled it."""

    id: str
    question: str
    text: str
    answers: Mapping[str, str]
    reasons: Mapping[str, str]
    final: str | None


@dataclass(frozen=True, slots=True)
class AgreementDocument:
    """How far the judges agree, question by question. NaN is undefined.

    `unsettled` is the number of items that somebody has to settle, on one question or more.
    `reasons` counts the reasons given for a no, most frequent first.
    """

    task: str
    questions: Mapping[str, Agreement]
    judges: tuple[JudgeFacts, ...]
    disagreements: tuple[Disagreement, ...]
    unsettled: int
    reasons: tuple[tuple[str, int], ...] = ()
    statistics: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    schema: str = "assay.agreement/1"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, undefined as None; coefficients by name."""
        data = plain_document(self)
        for question in data["questions"].values():
            question["coefficients"] = {c.pop("name"): c for c in question["coefficients"]}
        return data


@dataclass(frozen=True, slots=True)
class SystemEstimate:
    """What people would say about one system; `automatic` is the score that helped."""

    system: str
    automatic: float
    estimates: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class ScoreValidity:
    """How well an automatic score foretells people, on the examples that were drawn and judged.

    `same` is the share on which a score of right and wrong says what people say; undefined for
    other scores. `worth` is how many verdicts would be needed without the score.
    """

    system: str
    question: str
    score: str
    correlation: float
    same: float
    worth: float


@dataclass(frozen=True, slots=True)
class EstimateDocument:
    """Human accuracy of one or two systems on the whole set, from a judged sample."""

    task: str
    metric: str
    systems: tuple[SystemEstimate, ...]
    sample: Mapping[str, Any]
    difference: Mapping[str, Estimate] = field(default_factory=dict)
    validity: tuple[ScoreValidity, ...] = ()
    signature: str = ""
    warnings: tuple[str, ...] = ()
    schema: str = "assay.estimate/1"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, undefined as None."""
        return plain_document(self)


@dataclass(frozen=True, slots=True)
class ErrorsDocument:
    """Where two systems go wrong: `overlap` counts examples by question, the first system's answer
    first (`yn` is right and wrong); `categories` the reasons for a no, most frequent first."""

    task: str
    systems: tuple[str, ...]
    overlap: Mapping[str, Mapping[str, int]]
    categories: Mapping[str, tuple[tuple[str, int], ...]]
    schema: str = "assay.errors/1"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return plain_document(self)

# SPDX-License-Identifier: Apache-2.0
"""One answer of one person about one prediction."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal

import msgspec

from assay.core.errors import UsageError
from assay.core.judging import Item, Question

Answer = Literal["yes", "no", "unsure", "skip", "withdrawn"]
Purpose = Literal["", "control", "repeat", "adjudication"]

DECIDED: frozenset[Answer] = frozenset({"yes", "no"})
"""Answers that count. Unsure is an answer that asks for another judge."""

LONGEST_NAME = 200
"""Bytes; file names have a limit, too."""

StructureOf = Callable[[str, str | None], str | None]
"""The structure of a prediction; the second text is how it was written down, if it was."""

_NAME = re.compile(r"\w[\w.@+-]{0,63}")


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True, kw_only=True):
    """Who answered what about which prediction, when, and how the item came to be asked.

    A later verdict of the same judge on the same question and text takes the place of an earlier
    one; `withdrawn` takes it back. `undoes` is the time of the answer that was taken back by this
    record, which puts things as they were before. `sample` names the draw that the item belongs
    to. `raw` is the cell of an old file as it was written there, `source` its file and line.
    """

    id: str
    question: str
    answer: Answer
    key: str
    prediction: str
    judge: str
    time: str = ""
    reason: str = ""
    structure: str | None = None
    about: Literal["prediction", "structure"] = "prediction"
    purpose: Purpose = ""
    sample: str | None = None
    seconds: float | None = None
    undoes: str | None = None
    description: str = ""
    raw: str | None = None
    source: str | None = None

    @property
    def subject(self) -> str:
        """The text that the answer is about."""
        if self.about == "structure" and self.structure is not None:
            return self.structure
        return self.prediction

    @property
    def place(self) -> tuple[str, str, str]:
        """Question, key and text: two verdicts of the same place are about the same thing."""
        return self.question, self.key, self.subject

    @property
    def is_yes(self) -> bool:
        """Whether the answer is yes."""
        return self.answer == "yes"


def written_down(prediction: str, structure: str | None) -> str | None:
    """The structure as it was written down, for tasks that cannot compute it."""
    return structure


def reread(verdict: Verdict, structure_of: StructureOf) -> Verdict:
    """A kept verdict with its structure as it is printed now.

    How structures are printed may have changed since it was given, by an option or with a new
    version. What was judged has not: the structure of this prediction.
    """
    if verdict.about != "structure":
        return verdict
    now = structure_of(verdict.prediction, verdict.structure)
    return verdict if now == verdict.structure else msgspec.structs.replace(verdict, structure=now)


def verdict_on(
    item: Item,
    question: Question,
    answer: Answer,
    *,
    judge: str,
    time: str,
    reason: str = "",
    purpose: Purpose = "",
    sample: str | None = None,
    seconds: float | None = None,
) -> Verdict:
    """The verdict of `judge` on an item."""
    return Verdict(
        id=item.id,
        question=question.name,
        answer=answer,
        key=item.key,
        prediction=item.prediction,
        judge=judge,
        time=time,
        reason=reason,
        structure=item.structure,
        about=question.about if item.structure is not None else "prediction",
        purpose=purpose,
        sample=sample,
        seconds=seconds,
        description=item.prompt,
    )


def answer_of(cell: str) -> tuple[Answer, str]:
    """Answer and reason of what a person typed: y is yes, anything else no and the reason for it.

    >>> answer_of("y"), answer_of(" Y "), answer_of("n"), answer_of("wrong flags")
    (('yes', ''), ('yes', ''), ('no', ''), ('no', 'wrong flags'))
    """
    bare = cell.strip()
    if bare.casefold() == "y":
        return "yes", ""
    return "no", "" if bare.casefold() == "n" else bare


def judge_name(name: str) -> str:
    """The name of a judge, fit for a file name.

    >>> judge_name(" anna ")
    'anna'
    """
    bare = unicodedata.normalize("NFC", name.strip())  # one person, however the keyboard spells it
    if not _NAME.fullmatch(bare) or len(bare.encode()) > LONGEST_NAME:
        raise UsageError(
            f"'{bare[:80]}' is not a name for a judge; use up to 64 letters, digits or . _ - @ +, "
            "the first one a letter or digit"
        )
    return bare

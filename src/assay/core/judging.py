# SPDX-License-Identifier: Apache-2.0
"""What people are asked about predictions: questions and items, the same for every task.

A task says which questions it asks (`Task.questions`) and how one of its examples becomes items
(`Task.items`); everything else about judging knows these two records alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol


@dataclass(frozen=True, slots=True)
class Question:
    """One question, answered with yes or no.

    An answer is about the `prediction`, or about its `structure`, which several predictions of one
    description may share. A question that `needs` another is asked only after a yes to that one; a
    no there is a no here too.
    """

    name: str
    text: str
    about: Literal["prediction", "structure"] = "prediction"
    needs: str | None = None


CORRECT = Question("correct", "Is the prediction correct?")

GUIDELINES = """\
Say yes if a careful person could use the prediction in place of the gold.
Wording may differ; what is said, asked or done may not.
When in doubt say unsure, with a reason: somebody else will look at it too.
"""


@dataclass(frozen=True, slots=True)
class Item:
    """One prediction to be judged.

    `key` stands for what was asked for: verdicts are found again by key and prediction, or by key
    and structure, whatever system made the prediction. `matched` holds the questions that need no
    person because the prediction agrees with gold by rule. `prompt` is what the system was given,
    where the run knows it; `rank` is the place of the prediction among those of its example.
    """

    id: str
    key: str
    prediction: str
    references: tuple[str, ...] = ()
    prompt: str = ""
    structure: str | None = None
    example: str = ""
    rank: int = 1
    matched: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    slices: Mapping[str, str] = field(default_factory=dict)

    @property
    def description(self) -> str:
        """What stands for the key in a sheet of verdicts."""
        return self.prompt if self.structure is not None and self.prompt else self.key

    def subject(self, question: Question) -> str:
        """The text that an answer to `question` is about."""
        if question.about == "structure" and self.structure is not None:
            return self.structure
        return self.prediction


class Kept(Protocol):
    """An example as a run folder keeps it."""

    @property
    def id(self) -> str:
        """The id of the example."""

    @property
    def prediction(self) -> Any:
        """What was predicted, as data."""

    @property
    def gold(self) -> Any:
        """What is right, as data."""

    @property
    def slices(self) -> Mapping[str, str]:
        """Columns of the example."""

    @property
    def missing(self) -> bool:
        """Whether there is no prediction."""


PROMPTS = ("prompt", "question", "utterance", "source", "description", "nl", "input")
"""Columns that hold what a system was given, the first found is shown to judges."""


def as_it_is(value: Any) -> Any:
    """A stored prediction or gold, for tasks that keep what their readers should see."""
    return value


def default_items(example: Kept, shown: Callable[[Any], Any] = as_it_is) -> list[Item]:
    """The first prediction of an example as an item; none where the prediction is missing.

    `shown` gives what of a stored prediction or gold a reader should see.

    The key holds the id and a digest of the gold, so that verdicts on one test set are not found
    for another one that numbers its examples the same way.
    """
    if example.missing:
        return []
    candidates = texts(shown(example.prediction))
    references = tuple(dict.fromkeys(texts(shown(example.gold))))
    prediction = candidates[0] if candidates else ""
    column = next((name for name in PROMPTS if example.slices.get(name)), None)
    return [
        Item(
            id=example.id,
            key=item_key(example.id, references),
            prediction=prediction,
            references=references,
            prompt=example.slices[column] if column else "",
            example=example.id,
            matched=frozenset({CORRECT.name} if prediction in references else ()),
            slices=example.slices,
        )
    ]


def item_key(id: str, references: Sequence[str]) -> str:
    """What was asked for, by the id of the example and its gold.

    >>> item_key("s01", ["a cat"])
    's01#51e46741'
    """
    import hashlib  # late, like all that `assay --help` does not need

    content = "\x00".join(references).encode("utf-8", "surrogatepass")
    return f"{id}#{hashlib.sha256(content).hexdigest()[:8]}"


def texts(value: Any) -> list[str]:
    """A prediction or gold as texts: a list of texts is its candidates, other data is written out.

    >>> texts("a"), texts(["a", "b"]), texts({"title": "A", "authors": ["B", "C"]})
    (['a'], ['a', 'b'], ['title: A\\nauthors: B; C'])
    """
    if value is None:
        return []
    if isinstance(value, str):
        return [value]
    if isinstance(value, Sequence) and all(isinstance(item, str) for item in value):
        return list(value)
    if isinstance(value, Mapping):
        return ["\n".join(f"{name}: {_written(part)}" for name, part in value.items())]
    return [_written(value)]


def _written(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and all(isinstance(item, (str, int, float)) for item in value):
        return "; ".join(map(str, value))
    import json

    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)

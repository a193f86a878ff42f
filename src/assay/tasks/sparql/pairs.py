# SPDX-License-Identifier: Apache-2.0
"""What one example holds: the gold query and answer, the predicted query and what it returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import msgspec

SHOWN_ANSWERS = 12

Failure = Literal[
    "missing",
    "placeholder",
    "syntax",
    "refused",
    "timeout",
    "too large",
    "several variables",
    "transport",
    "unexplained",
]
"""Why a prediction has no answer. `missing`: there is no predicted query. `placeholder`: it holds
the token `entity`, which stands for an entity that was not found. `too large`: it went over the
limit of rows, bytes or memory. `unexplained`: the file says that there was no answer, not why."""

FAILURES: tuple[Failure, ...] = (
    "missing",
    "placeholder",
    "syntax",
    "refused",
    "timeout",
    "too large",
    "several variables",
    "transport",
    "unexplained",
)

Measured = Literal["set", "boolean", "count", "equal"]
"""How an answer is compared. `equal` is a set that is right or wrong as a whole."""


class Gold(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What is right: `answers` is a list for a set, true or false, or a number.

    `asked` is the question in words, where the file has it: people who judge want to read it.
    """

    kind: Measured
    query: str | None
    answers: list[str] | bool | int
    asked: str | None = None


class Prediction(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """What was predicted and what it returned; `answers` is None where nothing came back.

    `taken` is the query that SPICE's script compares in place of a missing one. `unknown` are the
    ids of the query that the graph does not have, where that was looked up.
    """

    query: str | None
    answers: list[str] | bool | None = None
    failure: str | None = None
    taken: str | None = None
    unknown: list[str] | None = None

    @property
    def compared(self) -> str | None:
        """The text that exact match looks at."""
        if self.query is None:
            return self.taken
        return None if self.failure == "placeholder" else self.query


def is_exact(prediction: Prediction, gold: Gold) -> bool:
    """Whether both queries are there and are the same text, apart from letter case.

    >>> is_exact(Prediction("select ?x"), Gold("set", "SELECT ?x", []))
    True
    """
    text = prediction.compared
    if text is None or gold.query is None:
        return False
    return text == gold.query or text.lower() == gold.query.lower()


def number_of(text: object) -> int | None:
    """The whole number that a text of digits stands for; None for any other text.

    >>> number_of("12"), number_of("-3"), number_of("half"), number_of("½")
    (12, None, None, None)
    """
    if isinstance(text, bool):
        return None
    if isinstance(text, int):
        return text
    if isinstance(text, float):
        return int(text) if text.is_integer() else None
    if isinstance(text, str) and text.isnumeric():
        try:
            return int(text)
        except ValueError:  # numeric, but no digit: ½, Roman numerals
            return None
    return None


def count_of(answers: list[str] | bool | None) -> int | None:
    """The number that an answer gives to a counting question.

    One row that is a number is that number, any other list its number of rows. A truth value
    and no answer are None.

    >>> count_of(["12"]), count_of(["Q5"]), count_of(["Q1", "Q2"]), count_of(True)
    (12, 1, 2, None)
    """
    if answers is None or isinstance(answers, bool):
        return None
    if len(answers) == 1:
        number = number_of(answers[0])
        if number is not None:
            return number
    return len(answers)


def answer_set(answers: list[str] | bool | int | None, kind: Measured) -> frozenset[str]:
    """Any answer as a set, for measures that know only sets: numbers and truth values are sets of
    one."""
    if answers is None:
        return frozenset()
    if isinstance(answers, bool):
        return frozenset(("true" if answers else "false",))
    if isinstance(answers, int):
        return frozenset((str(answers),))
    if kind == "count":
        return frozenset((str(count_of(answers)),))
    return frozenset(answers)


def shown(value: object) -> object:
    """A stored prediction or gold for a reader: the query, and what it returned on the next line.

    >>> print(shown({"query": "ASK {}", "answers": False}))
    ASK {}
    returns: false
    """
    if not isinstance(value, Mapping):
        return value
    said = returned(value.get("answers"), value.get("failure"))
    return f"{value.get('query') or ''}\nreturns: {said}"


def returned(answers: list[str] | bool | int | None, failure: str | None = None) -> str:
    """What a query returned, in few words.

    >>> returned(["Q1", "Q2"]), returned([]), returned(3), returned(None, "timeout")
    ('Q1 Q2', 'nothing', '3', 'no answer (timeout)')
    """
    if not isinstance(answers, list):
        return str(answers).lower() if answers is not None else f"no answer ({failure or 'none'})"
    more = f" and {len(answers) - SHOWN_ANSWERS:,} more" if len(answers) > SHOWN_ANSWERS else ""
    return (" ".join(map(str, answers[:SHOWN_ANSWERS])) or "nothing") + more

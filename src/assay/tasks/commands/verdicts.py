# SPDX-License-Identifier: Apache-2.0
"""What is known about each prediction: matches by rule, and what people said.

One letter per prediction and question: `m` right because it matches gold, `y` and `n` what people
said, `?` nobody has said anything. What people said counts, also where it contradicts a match.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from assay.tasks.commands.files import Group
from assay.tasks.commands.forms import Mode, form

if TYPE_CHECKING:
    from assay.judge.store import Store
    from assay.judge.verdict import Verdict

STRUCTURE = "structure"
COMMAND = "command"

RIGHT = "my"
UNKNOWN = "?"

Letter = Literal["m", "y", "n", "?"]


class Known(NamedTuple):
    """What is known about one prediction: about its template, and about the command."""

    template: Letter
    command: Letter

    @property
    def asks(self) -> str | None:
        """The first question that is open: structure, command, or none.

        A wrong template makes the command wrong, so that nothing is left to ask.
        """
        if self.command in RIGHT:
            return None
        if self.template == UNKNOWN:
            return STRUCTURE
        return COMMAND if self.template in RIGHT and self.command == UNKNOWN else None


def matched(prediction: str, references: Iterable[str], mode: Mode) -> Known:
    """What the rule says: equal commands, equal templates, or nothing.

    >>> matched("ls -la", ["ls -l -a"], "strict")
    Known(template='m', command='m')
    >>> matched("ls -a x", ["ls -a y"], "strict")
    Known(template='m', command='?')
    """
    own = form(prediction, mode)
    empty = mode == "nl2bash"  # there, two commands that nothing could be made of are equal
    gold = [form(reference, mode) for reference in references]
    if (own.command or empty) and any(own.command == g.command for g in gold):
        return Known("m", "m")
    if (own.template or empty) and any(own.template == g.template for g in gold):
        return Known("m", "?")
    return Known("?", "?")


@dataclass
class Verdicts:
    """Stored verdicts, and those given during this run.

    `mode` is how commands are compared; with `nl2bash` only the exact answer `y` is a yes, or `Y`
    too where the old program does not ask (`automatic`).
    """

    mode: Mode
    store: Store | None = None
    automatic: bool = False
    written: Mapping[str, Collection[str]] = field(default_factory=dict)
    """Templates as sheets have them, by how they are printed now, where the two differ."""
    said: dict[tuple[str, str, str], str | None] = field(default_factory=dict)
    against: dict[tuple[str, str], None] = field(default_factory=dict)
    """Matches that people found wrong: key and prediction, in the order they were met."""

    @classmethod
    def read(
        cls, folder: Path, mode: Mode, automatic: bool, reading: Callable[[Path], None] | None
    ) -> Verdicts:
        """The verdicts of a folder: logs of judges and CSV sheets."""
        from assay.judge.store import read_store
        from assay.tasks.commands.keys import description_key

        written: dict[str, set[str]] = {}

        def structure_of(prediction: str, template: str | None) -> str:
            now = structure(prediction, template, mode)
            if mode != "nl2bash" or template is None or template == now:
                return now
            # The old program goes by the cell, and by an empty one finds nothing again.
            if template:
                written.setdefault(now, set()).add(template)
            return template

        store = read_store(
            folder, key_of=description_key, structure_of=structure_of, reading=reading
        )
        return cls(mode, store, automatic, written)

    def about(self, group: Group, prediction: str) -> Known:
        """What is known about a prediction."""
        rule = matched(prediction, group.references, self.mode)
        template = self._find(STRUCTURE, group, form(prediction, self.mode).template)
        command = self._find(COMMAND, group, prediction)
        if rule.command == "m" and command == "n":
            self.against[group.key, prediction] = None
        return Known(template or rule.template, command or rule.command)

    def remember(self, question: str, group: Group, text: str, answer: str | None) -> None:
        """Keep an answer of this run as typed; None is none, so that the question is open again."""
        self.said[question, group.key, text] = answer

    def count(self, question: str) -> int:
        """How many texts have a stored verdict on this question."""
        return self.store.count(question) if self.store is not None else 0

    def answer(self, question: str, group: Group, text: str) -> str | None:
        """What was said about a text, as it was typed or stands in a sheet; None if nothing was."""
        for key in group.keys:
            place = (question, key, text)
            found = self.said[place] if place in self.said else self._stored(place)
            if found is not None:
                return found
        also = sorted(self.written.get(text, ())) if question == STRUCTURE else ()
        stored = (self._stored((question, key, each)) for each in also for key in group.keys)
        return next((found for found in stored if found is not None), None)

    def _stored(self, place: tuple[str, str, str]) -> str | None:
        verdict = self.store.find(*place) if self.store is not None else None
        return None if verdict is None else _typed(verdict)

    def is_yes(self, answer: str) -> bool:
        """Whether an answer as it was typed is a yes; anything else is a no."""
        if self.mode == "nl2bash":
            return (answer.lower() if self.automatic else answer) == "y"
        return answer.strip().casefold() == "y"

    def _find(self, question: str, group: Group, text: str) -> Letter | None:
        answer = self.answer(question, group, text)
        return None if answer is None else "y" if self.is_yes(answer) else "n"


def _typed(verdict: Verdict) -> str:
    """A verdict as somebody at the terminal would have typed it."""
    if verdict.raw is not None:
        return verdict.raw
    if verdict.is_yes:
        return "y"
    return "n" if verdict.reason.strip().casefold() in ("", "y") else verdict.reason


def structure(prediction: str, template: str | None, mode: Mode) -> str:
    """The template that verdicts on a row of a sheet are found by.

    It is computed again from the prediction, because the sheet's own may come from another parser.
    The old program finds verdicts on what it cannot parse under the cell, which is empty then.
    """
    found = form(prediction, mode)
    if template is not None and not (found.template if mode != "nl2bash" else found.parsed):
        return template
    return found.template if found.parsed or mode != "nl2bash" else ""


def letters(known: Sequence[Known]) -> tuple[str, str]:
    """The columns of a batch: what is known about templates and about commands, rank by rank.

    >>> letters([Known("m", "n"), Known("?", "?")])
    ('m?', 'n?')
    """
    return "".join(k.template for k in known), "".join(k.command for k in known)


def from_letters(templates: str, commands: str) -> list[Known]:
    """What `letters` wrote."""
    return [Known(t, c) for t, c in zip(templates, commands, strict=True)]  # type: ignore[arg-type]

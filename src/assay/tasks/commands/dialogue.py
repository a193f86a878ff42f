# SPDX-License-Identifier: Apache-2.0
"""`--manual_eval`: the two documented questions, in the documented order, for what is unjudged.

Every answer is on disk before the next question is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from assay.core.console import console
from assay.core.errors import AssayError, InputError
from assay.core.names import amount
from assay.tasks.commands.align import Example
from assay.tasks.commands.forms import form
from assay.tasks.commands.verdicts import COMMAND, STRUCTURE, Known, Verdicts

if TYPE_CHECKING:
    from assay.judge.log import VerdictLog
    from assay.judge.sheets import SheetWriter
    from assay.tasks.commands.inputs import Settings

ASK_STRUCTURE = "CORRECT STRUCTURE? [y/reason] "
ASK_COMMAND = "CORRECT COMMAND? [y/reason] "


class StoppedError(AssayError):
    """The judge stopped; what was answered is kept."""

    exit_code = 130


class _Keeper(Protocol):
    """Where answers are kept."""

    path: Path

    def keep(self, example: Example, rank: int, structure: str, command: str) -> None:
        """Keep the answers about one prediction, as typed."""

    def keep_half(self, example: Example, rank: int, structure: str) -> None:
        """Keep the answer about the structure alone, where that can be written down."""


class _Sheet:
    """Rows of a CSV file of the old kind."""

    def __init__(self, writer: SheetWriter, settings: Settings) -> None:
        self.path = writer.path
        self._writer = writer
        self._mode = settings.match

    def keep(self, example: Example, rank: int, structure: str, command: str) -> None:
        prediction = example.candidates.commands[rank - 1]
        found = form(prediction, self._mode)
        template = found.template if found.parsed or self._mode != "nl2bash" else ""
        self._writer.append(example.group.description, prediction, template, structure, command)

    def keep_half(self, example: Example, rank: int, structure: str) -> None:
        """A row holds both answers."""


class _Log:
    """A judge's log; a match by rule is no answer and is not written down as one."""

    def __init__(self, log: VerdictLog, settings: Settings, sample: str | None) -> None:
        self.path = log.path
        self._log = log
        self._settings = settings
        self._sample = sample

    def keep(self, example: Example, rank: int, structure: str, command: str) -> None:
        prediction = example.candidates.commands[rank - 1]
        from assay.judge.verdict import Verdict, answer_of

        mode = self._settings.match
        template = form(prediction, mode).template
        for question, given in ((STRUCTURE, structure), (COMMAND, command)):
            if not given:
                continue
            answer, reason = answer_of(given)
            self._log.append(
                Verdict(
                    id=f"{example.group.id}/{rank}",
                    question=question,
                    answer=answer,
                    key=example.group.key,
                    prediction=prediction,
                    judge=self._log.judge,
                    time=_now(),
                    reason=reason,
                    structure=template,
                    about="structure" if question == STRUCTURE else "prediction",
                    sample=self._sample,
                    description=example.group.description,
                )
            )

    def keep_half(self, example: Example, rank: int, structure: str) -> None:
        self.keep(example, rank, structure, "")


def judge_sample(
    examples: Sequence[Example], sample: Sequence[int], verdicts: Verdicts, settings: Settings
) -> None:
    """Ask about every prediction of the sample that is open; raises where the answers end early."""
    drawn = [examples[i] for i in sample]
    if not _n_open(drawn, verdicts, settings):
        return  # who is asked nothing needs no file for the answers
    with ExitStack() as stack:
        session = _Session(_keeper(stack, settings, examples), verdicts, settings)
        try:
            for position, example in enumerate(drawn):
                for rank in range(1, len(example.candidates.commands[: settings.top_k]) + 1):
                    session.judge(position, example, rank)
        except EOFError:
            console().say("")
            raise InputError(
                f"standard input ended: {session.said(drawn)}",
                hint="run the same command again to go on",
            ) from None
        except KeyboardInterrupt:
            raise StoppedError(
                f"interrupted: {session.said(drawn)}; run the same command again to go on"
            ) from None


def _n_open(examples: Sequence[Example], verdicts: Verdicts, settings: Settings) -> int:
    """How many predictions somebody has to be asked about."""
    return sum(
        verdicts.about(example.group, prediction).asks is not None
        for example in examples
        for prediction in example.candidates.commands[: settings.top_k]
    )


def _keeper(stack: ExitStack, settings: Settings, examples: Sequence[Example]) -> _Keeper:
    from assay.judge.log import VerdictLog
    from assay.judge.sheets import SheetWriter

    assert settings.judgements is not None, "checked where verdicts are read"
    folder = Path(settings.judgements)
    if settings.write == "csv":
        writer = stack.enter_context(SheetWriter(folder, settings.judge))
        return _Sheet(writer, settings)
    log = stack.enter_context(VerdictLog(folder, settings.judge))
    return _Log(log, settings, _recorded_draw(folder, settings, examples))


def _recorded_draw(folder: Path, settings: Settings, examples: Sequence[Example]) -> str | None:
    """Put the draw on record beside the verdicts; None where everything is judged."""
    from assay.judge.sample import draw, read_samples, record

    if not 0 < settings.num_examples < len(examples):
        return None
    units = [example.group.id for example in examples]
    sample = draw(units, seed=settings.seed, size=settings.num_examples, time=_now())
    if all(held.name != sample.name for held in read_samples(folder)):
        record(folder, sample)
    return sample.name


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


class _Session:
    """One person at the keyboard, or at the other end of a pipe."""

    def __init__(self, keeper: _Keeper, verdicts: Verdicts, settings: Settings) -> None:
        self.keeper = keeper
        self.verdicts = verdicts
        self.settings = settings
        self.console = console()
        self.n_kept = 0

    def judge(self, position: int, example: Example, rank: int) -> None:
        """Ask what is open about one prediction."""
        prediction = example.candidates.commands[rank - 1]
        known = self.verdicts.about(example.group, prediction)
        if known.asks is None:
            return
        self._show(position, example, prediction)
        structure = "" if known.asks == COMMAND else self._ask(ASK_STRUCTURE)
        try:
            command = self._command(known, structure)
        except (EOFError, KeyboardInterrupt):
            self.keeper.keep_half(example, rank, structure)
            raise
        self.keeper.keep(example, rank, *self._cells(known, structure, command))
        self.n_kept += 1
        self._remember(example, prediction, known, structure, command)
        self.console.say(f"new judgement added to {self.keeper.path}")
        self.console.say("")

    def _show(self, position: int, example: Example, prediction: str) -> None:
        self._say(f"#{position}. {example.group.description}")
        for number, reference in enumerate(example.group.references):
            self._say(f"- GT{number}: {reference}")
        self._say(f"> {prediction}")

    def _say(self, text: str) -> None:
        """Show a text from elsewhere; what it holds must not steer the terminal."""
        from assay.report.terminal import spelled

        self.console.say(spelled(text, keep_lines=True))

    def _ask(self, question: str) -> str:
        return self.console.ask(question)

    def _command(self, known: Known, structure: str) -> str:
        """The answer about the command; a no to the structure is one, and so is what is stored."""
        if known.asks == STRUCTURE and not self._yes(structure):
            return "n"
        if known.command == "n" and not self.settings.compat:
            return ""
        return self._ask(ASK_COMMAND)

    def _cells(self, known: Known, structure: str, command: str) -> tuple[str, str]:
        """What is written: the old files hold an answer for both, a log only what was said."""
        if self.settings.write == "csv":
            return structure if known.asks == STRUCTURE else "y", command
        typed = structure or "n" if known.asks == STRUCTURE else ""
        return typed, command if command or known.command == "n" else "n"

    def _remember(
        self, example: Example, prediction: str, known: Known, structure: str, command: str
    ) -> None:
        if known.asks == STRUCTURE:
            template = form(prediction, self.settings.match).template
            self.verdicts.remember(STRUCTURE, example.group, template, self._answer(structure))
        if command or known.command != "n":
            self.verdicts.remember(COMMAND, example.group, prediction, self._answer(command))

    def _answer(self, answer: str) -> bool | None:
        """Yes or no. To the old program an empty answer is none, though its row says n."""
        return None if self.settings.compat and not answer else self._yes(answer)

    def _yes(self, answer: str) -> bool:
        return answer == "y" if self.settings.compat else answer.strip().casefold() == "y"

    def said(self, examples: Sequence[Example]) -> str:
        """What was kept, and what is left."""
        left = _n_open(examples, self.verdicts, self.settings)
        kept = f"{amount(self.n_kept, 'judgement')} kept in {self.keeper.path}"
        return f"{kept}; {amount(left, 'prediction')} left to judge"

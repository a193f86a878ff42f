# SPDX-License-Identifier: Apache-2.0
"""`--manual_eval`: the two documented questions, in the documented order, for what is unjudged.

Every answer is on disk before the next question is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from assay.core.console import console
from assay.core.errors import AssayError, InputError
from assay.core.names import amount
from assay.tasks.commands.align import Example
from assay.tasks.commands.forms import form
from assay.tasks.commands.verdicts import COMMAND, STRUCTURE, Verdicts

if TYPE_CHECKING:
    from assay.judge.log import VerdictLog
    from assay.judge.sheets import SheetWriter
    from assay.tasks.commands.inputs import Settings

ASK_STRUCTURE = "CORRECT STRUCTURE? [y/reason] "
ASK_COMMAND = "CORRECT COMMAND? [y/reason] "


class StoppedError(AssayError):
    """The judge stopped; what was answered is kept."""

    exit_code = 130


class _Answers(NamedTuple):
    """What was typed about one prediction, None where nothing was asked.

    `before` is what had been said about the command already: a no, and why.
    """

    structure: str | None
    command: str | None
    before: str | None


class _Keeper(Protocol):
    """Where answers are kept."""

    path: Path

    def keep_structure(self, example: Example, rank: int, answer: str) -> bool:
        """Keep the answer about the structure, before the command is asked about, if it can be."""

    def keep(self, example: Example, rank: int, answers: _Answers) -> None:
        """Keep the rest, when all was asked about a prediction."""

    def keep_half(self, example: Example, rank: int, structure: str) -> bool:
        """Keep the answer about the structure where none came about the command, if it can be."""


class _Sheet:
    """Rows of a CSV file of the old kind. A row holds both answers, so it waits for the second."""

    def __init__(self, writer: SheetWriter, settings: Settings) -> None:
        self.path = writer.path
        self._writer = writer
        self._mode = settings.match

    def keep_structure(self, example: Example, rank: int, answer: str) -> bool:
        return False  # half a row cannot be written

    def keep(self, example: Example, rank: int, answers: _Answers) -> None:
        structure = "y" if answers.structure is None else answers.structure
        command = answers.before if answers.command is None else answers.command
        self._append(example, rank, structure, command or "")

    def keep_half(self, example: Example, rank: int, structure: str) -> bool:
        if self._mode == "nl2bash":
            return False
        self._append(example, rank, structure, None)
        return True

    def _append(self, example: Example, rank: int, structure: str, command: str | None) -> None:
        prediction = example.candidates.commands[rank - 1]
        found = form(prediction, self._mode)
        template = found.template if found.parsed or self._mode != "nl2bash" else ""
        self._writer.append(example.group.description, prediction, template, structure, command)


class _Log:
    """A judge's log; a match by rule is no answer and is not written down as one."""

    def __init__(
        self, log: VerdictLog, settings: Settings, sample: str | None, is_yes: Callable[[str], bool]
    ) -> None:
        self.path = log.path
        self._log = log
        self._mode = settings.match
        self._sample = sample
        self._is_yes = is_yes

    def keep_structure(self, example: Example, rank: int, answer: str) -> bool:
        self._append(example, rank, STRUCTURE, answer)
        return True

    def keep_half(self, example: Example, rank: int, structure: str) -> bool:
        return False  # it is there already

    def keep(self, example: Example, rank: int, answers: _Answers) -> None:
        command = answers.command
        if command is None and answers.structure is not None:
            command = None if self._is_yes(answers.structure) else "n"
        if command is not None:
            self._append(example, rank, COMMAND, command)

    def _append(self, example: Example, rank: int, question: str, given: str) -> None:
        from assay.judge.verdict import Verdict, answer_of

        prediction = example.candidates.commands[rank - 1]
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
                structure=form(prediction, self._mode).template,
                about="structure" if question == STRUCTURE else "prediction",
                sample=self._sample,
                description=example.group.description,
            )
        )


def judge_sample(
    examples: Sequence[Example], sample: Sequence[int], verdicts: Verdicts, settings: Settings
) -> None:
    """Ask about every prediction of the sample that is open; raises where the answers end early."""
    drawn = [examples[i] for i in sample]
    if not _n_open(drawn, verdicts, settings):
        return  # who is asked nothing needs no file for the answers
    with ExitStack() as stack:
        session = _Session(_keeper(stack, settings, examples, verdicts), verdicts, settings)
        try:
            for position, example in enumerate(drawn):
                for rank in range(1, len(example.candidates.commands[: settings.top_k]) + 1):
                    session.judge(position, example, rank)
        except EOFError:
            if not settings.compat:  # the old program's output ends with the open question
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


def _keeper(
    stack: ExitStack, settings: Settings, examples: Sequence[Example], verdicts: Verdicts
) -> _Keeper:
    from assay.judge.log import VerdictLog
    from assay.judge.sheets import SheetWriter

    assert settings.judgements is not None, "checked where verdicts are read"
    folder = Path(settings.judgements)
    if settings.write == "csv":
        writer = stack.enter_context(SheetWriter(folder, settings.judge))
        return _Sheet(writer, settings)
    log = stack.enter_context(VerdictLog(folder, settings.judge))
    return _Log(log, settings, _recorded_draw(folder, settings, examples), verdicts.is_yes)


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
        structure, is_kept = None, False
        if known.asks == STRUCTURE:
            structure = self._ask(ASK_STRUCTURE)
            is_kept = self.keeper.keep_structure(example, rank, structure)
            self.n_kept += is_kept
        before = self.verdicts.answer(COMMAND, example.group, prediction)
        # What was said about the command holds; the old program asks again.
        wanted = before is None or self.settings.compat
        if structure is not None and not self.verdicts.is_yes(structure):
            wanted = False
        try:
            command = self._ask(ASK_COMMAND) if wanted else None
        except (EOFError, KeyboardInterrupt):
            if structure is not None and not is_kept:
                self.n_kept += self.keeper.keep_half(example, rank, structure)
            raise
        answers = _Answers(structure, command, before)
        self.keeper.keep(example, rank, answers)
        self.n_kept += not is_kept
        self._remember(example, prediction, answers)
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

    def _remember(self, example: Example, prediction: str, answers: _Answers) -> None:
        group = example.group
        if answers.structure is not None:
            template = form(prediction, self.settings.match).template
            self.verdicts.remember(STRUCTURE, group, template, self._kept(answers.structure))
        if answers.command is not None:
            self.verdicts.remember(COMMAND, group, prediction, self._kept(answers.command))
        elif answers.before is None:
            self.verdicts.remember(COMMAND, group, prediction, self._kept(""))

    def _kept(self, answer: str) -> str | None:
        """The answer. To the old program an empty one is none, though its row says n."""
        return None if self.settings.compat and not answer else answer

    def said(self, examples: Sequence[Example]) -> str:
        """What was kept, and what is left."""
        left = _n_open(examples, self.verdicts, self.settings)
        kept = f"{amount(self.n_kept, 'judgement')} kept in {self.keeper.path}"
        return f"{kept}; {amount(left, 'prediction')} left to judge"

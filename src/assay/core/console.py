# SPDX-License-Identifier: Apache-2.0
"""Where a task that talks to people during a run says things, and gets its answers.

The command line decides what that is: standard output, or standard error where standard output is
kept for a document. Without a command line nothing is said.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol, TextIO


class Console(Protocol):
    """Somebody to talk to."""

    def say(self, line: str) -> None:
        """Show a line."""

    def note(self, line: str) -> None:
        """Show a line that can be done without."""

    def ask(self, question: str) -> str:
        """Show a question on a line of its own and wait for the answer; EOFError at the end."""


@dataclass(frozen=True, slots=True)
class Streams:
    """A console of two streams: a terminal, or plain pipes. A `quiet` one drops notes."""

    out: TextIO
    answers: TextIO
    quiet: bool = False

    def say(self, line: str) -> None:
        """Write a line at once: a person may be waiting for it."""
        self.out.write(line + "\n")
        self.out.flush()

    def note(self, line: str) -> None:
        """Write a line, unless notes are not wanted."""
        if not self.quiet:
            self.say(line)

    def ask(self, question: str) -> str:
        """Write the question, read a line."""
        if self.answers is sys.stdin and self.out is sys.stdout and self.answers.isatty():
            return input(question)  # with the line editing that people expect
        self.out.write(question)
        self.out.flush()
        answer = self.answers.readline()
        if not answer:
            raise EOFError
        return answer.removesuffix("\n").removesuffix("\r")


class Silence:
    """Nobody there: nothing is shown, and there are no answers."""

    def say(self, line: str) -> None:
        """Show nothing."""

    def note(self, line: str) -> None:
        """Show nothing."""

    def ask(self, question: str) -> str:
        """There is nobody to answer."""
        raise EOFError


_current: ContextVar[Console] = ContextVar("console")


def console() -> Console:
    """The console of this run."""
    return _current.get(Silence())


@contextmanager
def talking(to: Console) -> Iterator[None]:
    """Make `to` the console while a run lasts."""
    before = _current.set(to)
    try:
        yield
    finally:
        _current.reset(before)

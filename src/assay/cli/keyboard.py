# SPDX-License-Identifier: Apache-2.0
"""Where a judge sits: at a terminal, where one key is one answer, or behind a pipe."""

from __future__ import annotations

import os
import sys
from types import TracebackType
from typing import Any, Protocol, Self

import click

from assay.judge.terminal import fitted
from assay.report.terminal import columns_of

END = "\x04"


class Console(Protocol):
    """Either of the two, to be entered and left."""

    def __enter__(self) -> Any: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

    def say(self, text: str) -> None: ...

    def command(self, prompt: str) -> str | None: ...

    def line(self, prompt: str) -> str | None: ...


def console() -> Console:
    """The console that standard input is; a process may have been started without one."""
    streams = (sys.stdin, sys.stdout)
    return Keyboard() if all(s is not None and s.isatty() for s in streams) else Pipe()


class Pipe:
    """Plain input: one line is one answer."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def say(self, text: str) -> None:
        """Show a line."""
        click.echo(text)

    def command(self, prompt: str) -> str | None:
        """The next line."""
        return self.line(prompt)

    def line(self, prompt: str) -> str | None:
        """The next line, shown behind the prompt as it would be at a terminal."""
        click.echo(prompt, nl=False)
        data = sys.stdin.buffer.readline() if sys.stdin is not None else b""
        line = data.decode("utf-8", "replace").strip("\r\n\ufeff") if data else None
        click.echo("" if line is None else line)
        return line


class Keyboard:
    """A terminal. Keys are read one by one while it is entered, and none is lost in between:
    what was typed ahead stays typed."""

    def __enter__(self) -> Self:
        import termios
        import tty

        self._file = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._file)
        self._ahead = ""
        tty.setcbreak(self._file, termios.TCSADRAIN)  # Ctrl-C still interrupts
        return self

    def __exit__(self, *error: object) -> None:
        self._cooked()

    def say(self, text: str) -> None:
        """Show a line; a plain one is broken where the terminal ends."""
        width = columns_of(sys.stdout, os.environ)
        is_plain = "\x1b" not in text
        for line in fitted(text, width) if is_plain and width is not None else [text]:
            click.echo(line)

    def command(self, prompt: str) -> str | None:
        """The next key."""
        click.echo(prompt, nl=False)
        key = self._key()
        if key in ("", END):
            click.echo("")
            return None
        click.echo(key if key.isprintable() else "")
        return key

    def line(self, prompt: str) -> str | None:
        """A line, edited as usual."""
        import termios
        import tty

        self._cooked()
        click.echo(prompt, nl=False)
        data = sys.stdin.buffer.readline()
        tty.setcbreak(self._file, termios.TCSADRAIN)
        return data.decode("utf-8", "replace").rstrip("\r\n") if data else None

    def _cooked(self) -> None:
        import termios

        termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    def _key(self) -> str:
        import termios
        import tty

        while not self._ahead:
            tty.setcbreak(self._file, termios.TCSADRAIN)  # again: a shell resets what it stopped
            data = os.read(self._file, 1024)
            if not data:
                return ""
            # Arrows and the like come as a sequence that begins with Escape; they are no keys here.
            self._ahead = "" if data.startswith(b"\x1b") else data.decode("utf-8", "replace")
        key, self._ahead = self._ahead[0], self._ahead[1:]
        return key

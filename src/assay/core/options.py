# SPDX-License-Identifier: Apache-2.0
"""Options and verbs as a task declares them; the command line is built from these alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "integer", "number", "flag", "switch", "path", "choice"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `flags` as typed, `name` as the keyword argument of the function behind it.

    Underscores and hyphens are the same to the command line: a flag is declared once, in the
    spelling that help should show. A `switch` is a flag that may also be given a value: yes or no,
    true or false, 1 or 0. An integer may have bounds, which help shows. An option with `several`
    takes all words up to the next option, as many tools written with argparse do:
    `--latency-metrics AL LAAL`. Words that `ignores` names may stand behind a flag and mean
    nothing: left-overs in the documented command lines of replaced tools. Where `flags` is one name
    without a hyphen in front, the option is an argument, known by its place. `executes` says that
    the file it names is a program, which is run: whoever gives it on the command line wants that,
    and a stored run that names it need not.
    """

    name: str
    flags: tuple[str, ...]
    help: str
    kind: Kind = "text"
    default: Any = None
    choices: tuple[str, ...] = ()
    required: bool = False
    multiple: bool = False
    hidden: bool = False
    metavar: str | None = None
    low: int | None = None
    high: int | None = None
    several: bool = False
    ignores: tuple[str, ...] = ()
    executes: bool = False

    @property
    def is_argument(self) -> bool:
        """Whether it is known by its place on the command line, not by a flag."""
        return not self.flags[0].startswith("-")


@dataclass(frozen=True, slots=True)
class Verb:
    """Something a task does besides scoring: `assay TASK VERB`.

    `run` takes the options as keyword arguments and gives back the text for standard output.
    `arguments` are the positional ones, each a list of file names. Where `runs` names one of them,
    its files are run folders, which are read and handed over as what `evaluate` gives.

    A verb that `talks` also takes `say`, which shows a line on standard error at once, and one that
    `progresses` takes `progress`, to be called with how much is done of how much. `rest` is the
    keyword under which a verb gets words that are no options of its own, for a program it runs in
    turn; after `rest_marker` all words are such.
    """

    name: str
    help: str
    run: Callable[..., str]
    options: tuple[Option, ...] = ()
    arguments: tuple[str, ...] = ()
    runs: str | None = None
    talks: bool = False
    progresses: bool = False
    rest: str | None = None
    rest_marker: str = "--"

# SPDX-License-Identifier: Apache-2.0
"""Options and verbs as a task declares them; the command line is built from these alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

Kind = Literal["text", "integer", "number", "flag", "path", "choice"]


@dataclass(frozen=True, slots=True)
class Option:
    """One option: `flags` as typed, `name` as the keyword argument of the function behind it.

    >>> Option("dataset", ("--dataset_name",), "Which dataset.").spellings
    ('--dataset_name', '--dataset-name')
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

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every accepted spelling: underscores and hyphens are the same."""
        found: list[str] = []
        for flag in self.flags:
            found.append(flag)
            if flag.startswith("--"):
                found.append("--" + flag[2:].replace("_", "-"))
        return tuple(dict.fromkeys(found))


@dataclass(frozen=True, slots=True)
class Verb:
    """Something a task does besides scoring: `assay TASK VERB`.

    `run` takes the options as keyword arguments and gives back the text for standard output.
    `arguments` are the positional ones, each a list of file names.
    """

    name: str
    help: str
    run: Callable[..., str]
    options: tuple[Option, ...] = ()
    arguments: tuple[str, ...] = ()

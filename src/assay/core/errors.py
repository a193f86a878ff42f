# SPDX-License-Identifier: Apache-2.0
"""Every error a user can meet.

    AssayError                 exit code
    ├── UsageError        2    an option, metric, task or column that does not exist or does not fit
    ├── InputError        2    a file that cannot be read as what it should be: file, line, column
    │   └── AlignError    2    predictions and gold do not line up
    ├── OutputError       2    something could not be written: permission, full disk
    ├── MismatchError     2    two runs that cannot be compared
    ├── AgentError        2    an agent broke off, broke a rule, or took too long
    ├── LinkError         2    another program on the network does not answer as it should
    ├── StoppedError    130    interrupted half-way; says what is kept and how to go on
    ├── FindingError      1    a gate was missed, or a verification differs
    └── EngineError       3    our own fault or the machine's: a worker died

A message says what is wrong and where, and ends with what to do next, on one line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class AssayError(Exception):
    """Base of all errors that Assay reports without a traceback."""

    exit_code = 3


class UsageError(AssayError):
    """Something was asked for that does not exist or does not fit together."""

    exit_code = 2


class InputError(AssayError):
    """A file cannot be read as what it should be.

    >>> str(InputError("not JSON", path="gold.jsonl", line=3, hint="each line must be an object"))
    'gold.jsonl, line 3: not JSON; each line must be an object'
    """

    exit_code = 2

    def __init__(
        self,
        problem: str,
        *,
        path: str | Path | None = None,
        line: int | None = None,
        column: int | None = None,
        hint: str | None = None,
    ) -> None:
        place = [str(path)] if path is not None else []
        if line is not None:
            place.append(f"line {line:,}")
        if column is not None:
            place.append(f"column {column:,}")
        message = f"{', '.join(place)}: {problem}" if place else problem
        super().__init__(f"{message}; {hint}" if hint else message)
        self.path = path
        self.line = line
        self.column = column
        self.hint = hint


class AlignError(InputError):
    """Predictions and gold do not line up."""


class OutputError(AssayError):
    """A result could not be written."""

    exit_code = 2


class MismatchError(AssayError):
    """Two runs cannot be compared with each other."""

    exit_code = 2


class AgentError(AssayError):
    """A system that was run live broke off, broke a rule, or took too long."""

    exit_code = 2


class LinkError(AssayError):
    """Another program on the network cannot be reached or does not answer as it should."""

    exit_code = 2


class StoppedError(AssayError):
    """The user interrupted work of which a part is done and kept."""

    exit_code = 130


class FindingError(AssayError):
    """The work was done and the answer is bad news: a gate was missed, a verification differs."""

    exit_code = 1


class EngineError(AssayError):
    """The place where rows are computed broke down."""

    exit_code = 3

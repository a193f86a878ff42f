# SPDX-License-Identifier: Apache-2.0
"""What a user may name as an input: a file, a pattern, several files, `-`, or records in memory."""

from __future__ import annotations

import errno
import glob
import io
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, Literal

from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.read.naming import OURS, Naming

Role = Literal["predictions", "gold"]
Breaks = Literal["lf", "any", "unicode"]
Format = Literal["lines", "csv", "tsv", "jsonl", "parquet"]

STDIN = "standard input"

KEYS: dict[str, str] = {"predictions": "prediction", "gold": "gold"}
"""The key or column that holds the value of a record, by role."""


@dataclass(frozen=True, slots=True)
class Source:
    """One stream of bytes: `name` is how messages speak of it, `path` what the document records.

    `naming` says what its columns are called.
    """

    name: str
    path: str
    open: Callable[[], BinaryIO]
    naming: Naming = OURS


def sources(source: Any, role: Role, intake: Intake) -> list[Source] | None:
    """The files that `source` names, checked to exist; None where it is records in memory.

    A string is a path or a pattern (`*`, `?`, `[...]`; matches in order of code points), `-` is
    standard input, a list of `Path` is several files one after the other. Everything else that can
    be iterated holds records.
    """
    if isinstance(source, str):
        return _named(source, role, intake)
    if isinstance(source, os.PathLike):
        return _named(os.fspath(source), role, intake)
    if isinstance(source, io.IOBase):
        return [_handle(source, role)]
    if isinstance(source, (bytes, bytearray)) or not isinstance(source, Iterable):
        raise UsageError(
            f"{role} cannot be read from {type(source).__name__}; "
            "give a path, a list of Path, or an iterable of strings or mappings"
        )
    if isinstance(source, Sequence) and source and isinstance(source[0], os.PathLike):
        strange = next((s for s in source if not isinstance(s, os.PathLike)), None)
        if strange is not None:
            raise UsageError(
                f"{role} mix paths and {type(strange).__name__}; give paths alone or records alone"
            )
        return [item for path in source for item in _named(os.fspath(path), role, intake)]
    return None


def conversion(encoding: str, name: str) -> str:
    """The command that makes UTF-8 of a file, or of what is piped in.

    >>> conversion("UTF-16", "my file.txt")
    "convert it: iconv -f UTF-16 -t UTF-8 'my file.txt'"
    """
    file = "" if name == STDIN else f" {shlex.quote(name)}"
    return f"convert it: iconv -f {encoding} -t UTF-8{file}"


def _named(name: str, role: Role, intake: Intake) -> list[Source]:
    if name == "-":
        return [_stdin(role, intake)]
    if glob.has_magic(name) and not os.path.lexists(name):
        found = sorted(path for path in glob.glob(name) if not os.path.isdir(path))
        if not found:
            raise InputError(
                "no file matches this pattern",
                path=name,
                hint="check the folder, and quote the pattern so that the shell leaves it alone",
            )
        return [_file(path) for path in found]
    return [_file(name)]


def _file(name: str) -> Source:
    if not name:
        raise InputError("the name of a file is empty", hint="name a file, or - for standard input")
    if os.path.isdir(name):
        raise InputError(
            "this is a folder, not a file",
            path=name,
            hint=f"name a file in it, or all of them: '{os.path.join(name, '*')}'",
        )
    if not os.path.exists(name):
        raise InputError("no such file", path=name, hint=_near(name))
    return Source(name, name, lambda: _opened(name))


def _opened(file: str | int) -> BinaryIO:
    """A file as the system reads it. A descriptor is not ours, so it stays open.

    Without a buffer of Python's: while that waits for a slow pipe to fill it, Ctrl-C goes unheard.
    """
    return open(file, "rb", buffering=0, closefd=isinstance(file, str))


def _near(name: str) -> str:
    """What to do about a missing file: the nearest name in its folder, or the nearest folder."""
    if os.path.islink(name):
        try:
            os.stat(name)
        except OSError as error:
            if error.errno == errno.ELOOP:
                return "it is a link that leads back to itself"
        return f"it is a link to {os.readlink(name)}, which does not exist"
    folder, base = os.path.split(name)
    if not os.path.isdir(folder or "."):
        return f"there is no folder {folder}"
    try:
        others = sorted(os.listdir(folder or "."))
    except OSError:
        others = []
    import difflib  # only when something went wrong

    by_lower = {other.lower(): other for other in others}
    near = difflib.get_close_matches(base.lower(), by_lower, n=1, cutoff=0.6)
    if near:
        return f"did you mean {os.path.join(folder, by_lower[near[0]])}?"
    return f"check the name; relative names start from {Path.cwd()}"


def _stdin(role: Role, intake: Intake) -> Source:
    if intake.standard_input is not None:
        raise UsageError(
            f"'-' is given for {intake.standard_input} and for {role}; "
            "standard input can be read once, so give a file for one of them"
        )
    intake.standard_input = role

    def open_stdin() -> BinaryIO:
        stream: Any = sys.stdin
        if stream is None or stream.closed:
            raise InputError("it is closed", path=STDIN, hint="pipe a file in, or name a file")
        return _opened(stream.fileno()) if _has_fileno(stream) else _bytes(stream)

    return Source(STDIN, "-", open_stdin)


def _has_fileno(stream: Any) -> bool:
    try:
        stream.fileno()
    except (OSError, AttributeError):
        return False
    return not hasattr(stream, "getvalue")


def _handle(stream: io.IOBase, role: Role) -> Source:
    name = getattr(stream, "name", None)
    shown = name if isinstance(name, str) else role
    return Source(shown, shown, lambda: _bytes(stream))


def _bytes(stream: Any) -> BinaryIO:
    """The bytes under a stream that somebody else opened."""
    if isinstance(stream, io.TextIOBase):
        under = getattr(stream, "buffer", None)
        stream = under if under is not None else io.BytesIO(stream.read().encode("utf-8"))
    return _Kept(stream)  # type: ignore[return-value]  # reads like a file, which is all that is used


class _Kept:
    """A stream of somebody else's that closing leaves open."""

    def __init__(self, stream: Any) -> None:
        self.read = stream.read
        self.fileno = getattr(stream, "fileno", None)

    def close(self) -> None:
        """Leave it open."""

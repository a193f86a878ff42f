# SPDX-License-Identifier: Apache-2.0
"""Files that are only ever added to: what was added is on the device before anybody is told so."""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from assay.core.errors import OutputError, UsageError

ATTRIBUTES = ".gitattributes"
UNION = b"*.jsonl merge=union\n"
"""For git: what two people have added to a file is all of it."""


class Appender:
    """A file that is one judge's, open for adding to it and locked against a second process."""

    def __init__(self, path: Path, judge: str) -> None:
        self.path = path
        self._file = opened(path)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.close()
            raise UsageError(
                f"somebody is judging as '{judge}' already ({path} is in use); finish there, or "
                "judge under another name"
            ) from None
        try:
            self._mend()
        except BaseException:
            self.close()  # who mends the file by hand can come back
            raise

    def add(self, data: bytes) -> None:
        """Write at the end, all of it or nothing; it is on the device when this returns."""
        if not self.is_current:
            raise OutputError(
                f"{self.path} was replaced while it was in use, by git or an editor; the last "
                "answer was not kept: start again to go on"
            )
        write_through(self._file, data, self.path)

    @property
    def is_current(self) -> bool:
        """Whether the file is still the one of that name: what is written to one that was replaced
        or deleted is lost."""
        try:
            return os.path.samestat(os.stat(self.path), os.fstat(self._file))
        except OSError:
            return False

    def close(self) -> None:
        """Let others write."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _mend(self) -> None:
        """Make sure that the file ends as it should before anything is added."""
        raise NotImplementedError


def opened(path: Path) -> int:
    """The file, made if need be, open for appending."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        if new:
            if path.suffix == ".jsonl":
                _let_git_merge(path.parent)
            _flush_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    return file


def write_through(file: int, data: bytes, path: Path) -> None:
    """Append whole lines and flush them to the device; on failure nothing of them stays."""
    before = os.fstat(file).st_size
    try:
        done = 0
        while done < len(data):
            done += os.write(file, data[done:])
        os.fsync(file)
    except OSError as error:
        with suppress(OSError):
            os.ftruncate(file, before)
        raise OutputError(
            f"{path} cannot be written ({error.strerror}); the last answer was not kept"
        ) from None


def writable_folder(folder: Path) -> None:
    """Make the folder of the verdicts if need be; raises where nothing could be kept in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _unwritable(folder, error) from None


def _let_git_merge(folder: Path) -> None:
    """Draws and orders of all judges are in one file each, which git would call a conflict."""
    with suppress(FileExistsError), (folder / ATTRIBUTES).open("xb") as file:
        file.write(UNION)


def _flush_folder(folder: Path) -> None:
    """Make the name of a new file last, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{path} cannot be written ({error.strerror}); choose a folder for the verdicts that is "
        "writable"
    )

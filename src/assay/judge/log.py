# SPDX-License-Identifier: Apache-2.0
"""One person's verdicts on disk: a JSONL file that is only ever appended to.

A verdict that was acknowledged is on disk: each is written with one call and flushed to the device
before `append` returns. A last line that a crash tore is not a verdict that anybody was told of; it
is ignored on reading and cut off before the next one is written.
"""

from __future__ import annotations

import errno
import fcntl
import os
from contextlib import suppress
from datetime import MAXYEAR, datetime
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

import msgspec

from assay.core.errors import InputError, OutputError, UsageError
from assay.judge.verdict import StructureOf, Verdict, judge_name, reread, written_down

PREFIX = "verdicts."
SUFFIX = ".jsonl"
ATTRIBUTES = ".gitattributes"
UNION = b"*.jsonl merge=union\n"
"""For git: what two people have added to a file is all of it."""

Record = TypeVar("Record")

_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Verdict)


def log_path(folder: Path, judge: str) -> Path:
    """Where the verdicts of a judge are kept.

    >>> log_path(Path("judgements"), "anna").as_posix()
    'judgements/verdicts.anna.jsonl'
    """
    return folder / f"{PREFIX}{judge_name(judge)}{SUFFIX}"


def log_judge(path: Path) -> str | None:
    """The judge whose log this file is, or None if it is something else."""
    name = path.name
    if name.startswith(PREFIX) and name.endswith(SUFFIX) and len(name) > len(PREFIX + SUFFIX):
        return name[len(PREFIX) : -len(SUFFIX)]
    return None


def read_log(path: Path) -> list[Verdict]:
    """The verdicts of a log in the order of time, withdrawn ones and all.

    A file that only one process has written is in that order already; one that was merged from two
    machines need not be.
    """
    found = read_records(path, _decoder, "a verdict")
    for number, verdict in enumerate(found, start=1):
        if verdict.time and not _is_time(verdict.time):
            problem = f"verdict {number} has '{verdict.time[:40]}' for its time"
            raise InputError(problem, path=path, hint="write it like 2026-01-31T12:00:00Z")
    return sorted(found, key=moment)


def _is_time(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).year < MAXYEAR
    except ValueError:
        return False


def moment(verdict: Verdict) -> str:
    """What verdicts are put in the order of time by; times with and without fractions of a second
    compare.

    >>> "2026-01-01T00:00:05Z" < "2026-01-01T00:00:05.5Z"
    False
    """
    return verdict.time.removesuffix("Z")


def read_records(path: Path, decoder: msgspec.json.Decoder[Record], kind: str) -> list[Record]:
    """The records of a file, one per line; a last line that a crash tore is none."""
    found = []
    for number, line in enumerate(whole_lines(path), start=1):
        if not line.strip():
            continue
        try:
            found.append(decoder.decode(line))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(
                f"not {kind} ({error})",
                path=path,
                line=number,
                hint="mend or remove the line; a merge may have left its marks",
            ) from None
    return found


def whole_lines(path: Path) -> list[bytes]:
    """The lines of a file, without a last one that a crash tore; none where there is no file."""
    try:
        lines = path.read_bytes().splitlines(keepends=True)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    if lines and not lines[-1].endswith(b"\n") and not _is_whole(lines[-1]):
        lines.pop()
    return lines


def append_line(path: Path, data: bytes) -> None:
    """Add a line to a file that several processes may add to; it is on disk when this returns."""
    file = _opened(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX)
        _mend_end(file)
        write_through(file, data + b"\n", path)
    finally:
        os.close(file)


class VerdictLog:
    """The log of one judge, open for writing and locked against a second writer.

    `structure_of` says how structures are printed now; see `reread`.
    """

    def __init__(
        self, folder: Path, judge: str, *, structure_of: StructureOf = written_down
    ) -> None:
        self.judge = judge_name(judge)
        self.path = log_path(folder, self.judge)
        _refuse_namesake(folder, self.judge)
        self._file = locked(self.path, self.judge)
        self.verdicts = [reread(verdict, structure_of) for verdict in read_log(self.path)]
        _mend_end(self._file)

    def append(self, *verdicts: Verdict) -> None:
        """Write what was said at once, all of it or nothing; it is on disk when this returns."""
        assert all(v.judge == self.judge for v in verdicts), "a log is that of one judge"
        lines = b"".join(_encoder.encode(verdict) + b"\n" for verdict in verdicts)
        write_through(self._file, lines, self.path)
        self.verdicts += verdicts

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


def _refuse_namesake(folder: Path, judge: str) -> None:
    """Raise where somebody has judged whose name differs by nothing but capitals.

    It will be the same person, who would agree with themselves.
    """
    with suppress(OSError):  # no such folder yet, or one that the log will stumble over
        for path in folder.iterdir():
            known = log_judge(path)
            if known is not None and known != judge and known.casefold() == judge.casefold():
                raise UsageError(
                    f"somebody has judged as '{known}'; write the name like that, or use one that "
                    f"differs from it by more than capitals"
                )


def locked(path: Path, judge: str) -> int:
    """The file of a judge, open for appending and locked until it is closed."""
    file = _opened(path)
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(file)
        raise UsageError(
            f"somebody is judging as '{judge}' already ({path} is in use); finish there, or judge "
            "under another name"
        ) from None
    return file


def writable_folder(folder: Path) -> None:
    """Make the folder of the verdicts if need be; raises where nothing could be kept in it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise _unwritable(folder, error) from None


def _opened(path: Path) -> int:
    """The file, made if need be, open for appending."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = not path.exists()
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        if new:
            if path.suffix == SUFFIX:
                _let_git_merge(path.parent)
            _flush_folder(path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    return file


def _let_git_merge(folder: Path) -> None:
    """Draws and orders of all judges are in one file each, which git would call a conflict."""
    with suppress(FileExistsError), (folder / ATTRIBUTES).open("xb") as file:
        file.write(UNION)


def _unwritable(path: Path, error: OSError) -> OutputError:
    return OutputError(
        f"{path} cannot be written ({error.strerror}); choose a folder for the verdicts that is "
        "writable"
    )


def _mend_end(file: int) -> None:
    """Cut off what a crash left of a last line; a whole one that lacks its end gets it."""
    size = os.fstat(file).st_size
    start = size
    tail = b""
    while start > 0 and b"\n" not in tail:
        start = max(0, start - 65_536)
        tail = os.pread(file, size - start, start)
    torn = tail[tail.rfind(b"\n") + 1 :]
    if not torn:
        return
    if _is_whole(torn):
        os.write(file, b"\n")
    else:
        os.ftruncate(file, size - len(torn))
    os.fsync(file)


def _is_whole(line: bytes) -> bool:
    """Whether a line that lacks its end is all there nevertheless."""
    try:
        msgspec.json.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


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


def _flush_folder(folder: Path) -> None:
    """Make the name of a new file last, too."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)

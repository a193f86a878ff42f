# SPDX-License-Identifier: Apache-2.0
"""Files and folders that appear whole or not at all: written aside, then renamed into place."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

from assay.core.errors import OutputError

RUN_FILES = DOCUMENT, ROWS, EXAMPLES = ("run.json", "rows.npy", "examples.jsonl")
"""What a run folder holds."""

_SPARED: ContextVar[frozenset[str]] = ContextVar("files that nothing is written over")


@contextmanager
def sparing(inputs: Iterable[str | Path]) -> Iterator[None]:
    """Let no file take the place of one of these, which were read, while this lasts."""
    before = _SPARED.set(frozenset(os.path.realpath(path) for path in inputs))
    try:
        yield
    finally:
        _SPARED.reset(before)


def _check_spared(path: Path) -> None:
    if os.path.realpath(path) in _SPARED.get(frozenset()):
        raise OutputError(f"{path} is an input of this run; choose another name to write to")
    # A run folder is written as a whole: what comes alone is another thing under a wrong name.
    if path.name in RUN_FILES and all((path.parent / name).is_file() for name in RUN_FILES):
        raise OutputError(f"{path} belongs to a saved run; choose another name to write to")


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Yield a path beside `path` to write to; it takes the place of `path` if nothing went wrong.

    A link stays a link: what it leads to is written.

    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "scores.csv"
    >>> with atomic_file(target) as aside:
    ...     _ = aside.write_text("bleu,31.2")
    ...     target.exists()
    False
    >>> target.read_text()
    'bleu,31.2'
    """
    with _written(path):
        if path.is_dir():
            raise OutputError(f"{path} is a folder; give the name of a file to write")
        _check_spared(path)
        if path.exists() and not path.is_file():
            yield path  # a pipe or a device is written to as it is: nothing may take its place
            return
        place = _resolved(path)
        with _parents(place):
            aside = _aside(place)
            try:
                yield aside
                os.replace(aside, place)
            finally:
                aside.unlink(missing_ok=True)


def write_texts(contents: Mapping[Path, str]) -> None:
    """Write each text to its file, or nothing if one of them would take the place of an input."""
    for path in contents:
        _check_spared(path)
    for path, text in contents.items():
        with atomic_file(path) as aside:
            aside.write_text(text, encoding="utf-8")


def check_file(path: Path) -> None:
    """Find out before the work that a file could not be written to `path`."""
    if path.is_dir():
        raise OutputError(f"{path} is a folder; give the name of a file to write")
    _check_place(path, path.absolute().parent)


def check_folder(path: Path) -> None:
    """Find out before the work that files could not be written into the folder `path`."""
    _check_place(path, path.absolute())


def _check_place(path: Path, folder: Path) -> None:
    """Make sure that `folder`, or what is there of the way to it, is a folder one may write to."""
    there = next((f for f in (folder, *folder.parents) if f.exists()), folder)
    if not there.is_dir():
        raise OutputError(
            f"{path} cannot be written ({there} is a file, not a folder); choose another place"
        )
    if not os.access(there, os.W_OK | os.X_OK):
        raise OutputError(
            f"{path} cannot be written ({there} is not writable); choose another place"
        )


@contextmanager
def atomic_folder(path: Path) -> Iterator[Path]:
    """Yield a new folder beside `path`; it takes the place of `path` if nothing went wrong.

    A folder that was at `path` before is removed only when the new one stands there. What it held
    under names that the new one does not have is somebody else's, and moves over.
    """
    with _written(path):
        if path.exists() and not path.is_dir():
            raise OutputError(f"{path} is a file; give the name of a folder to write")
        place = _resolved(path)
        if place.is_dir() and place.samefile("."):
            raise OutputError(f"{path} is the folder you are in; go to another one, and name it")
        with _parents(place):
            aside = _aside(place)
            aside.mkdir()
            try:
                yield aside
                _put_in_place(aside, place)
            finally:
                shutil.rmtree(aside, ignore_errors=True)


def _put_in_place(aside: Path, path: Path) -> None:
    if not path.exists():
        aside.rename(path)
        return
    old = _aside(path)
    path.rename(old)
    try:
        aside.rename(path)
    except BaseException:
        old.rename(path)
        raise
    for other in old.iterdir():
        if not os.path.lexists(path / other.name):
            other.rename(path / other.name)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _parents(path: Path) -> Iterator[None]:
    """Make the folders above `path`; those that were not there go again if something went wrong."""
    parent = path.parent
    new = [folder for folder in (parent, *parent.parents) if not folder.exists()]
    try:
        parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in new:  # from the inside out; one that somebody else has used stays
            with suppress(OSError):
                folder.rmdir()
        raise


def _resolved(path: Path) -> Path:
    """Where `path` leads, so that a link is not what a new file or folder takes the place of."""
    return Path(os.path.realpath(path))


def _aside(path: Path) -> Path:
    short = path.name[:40]  # a long name has no room for more
    return path.parent / f".{short}.{secrets.token_hex(4)}.part"


@contextmanager
def _written(path: Path) -> Iterator[None]:
    """Turn what the operating system says into one line; readers have errors of their own."""
    try:
        yield
    except (ConnectionError, InterruptedError):
        raise
    except OSError as error:
        # numpy reports a short write without an error number.
        why = error.strerror or "no space left on the device"
        with suppress(OSError):
            above = next((p for p in path.absolute().parents if p.exists()), None)
            if above is not None and not above.is_dir():
                why = f"{above} is a file, not a folder"
            elif above is not None and not os.access(above, os.W_OK):
                why = f"{above} is not writable"
        raise OutputError(
            f"{path} cannot be written ({why}); choose another place, or make room"
        ) from error

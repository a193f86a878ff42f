# SPDX-License-Identifier: Apache-2.0
"""Stores on disk of large graphs: built once, found again by the digest of the graph."""

from __future__ import annotations

import secrets
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from assay.core.document import Intake
from assay.core.errors import EngineError, InputError, OutputError
from assay.tasks.sparql.pool import Pool, build_store

SETTLED = 60.0
"""Seconds after which a store in the making is locked by whoever makes it."""


def opened_store(graph: Path, store: Path, pool: Callable[[], Pool], intake: Intake) -> Pool:
    """A pool on the store of this graph, which is built if it is not there, or is damaged."""
    was_there = store.is_dir()
    if not was_there:
        stored_graph(graph, store)
    found = pool()
    try:
        found.open()
    except (EngineError, InputError):
        found.close()
        if not was_there:
            raise
        intake.warnings.append(f"the store of {graph} in {store.parent} was damaged: built again")
        _remove(store)
        return opened_store(graph, store, pool, intake)
    except BaseException:
        found.close()
        raise
    return found


def stored_graph(graph: Path, store: Path) -> None:
    """Build the store of a graph.

    It is built aside and then renamed, so that two runs at once do not harm each other. What runs
    that were killed have left aside is removed.
    """
    aside = _aside(store)
    try:
        aside.parent.mkdir(parents=True, exist_ok=True)
        for left in aside.parent.glob(f".*{_PART}"):
            if _is_abandoned(left):
                shutil.rmtree(left, ignore_errors=True)
        build_store(graph, aside)
        try:
            aside.rename(store)
        except OSError:
            if not store.is_dir():  # else another run was quicker
                raise
    except OSError as error:
        raise OutputError(
            f"the store of {graph} cannot be kept in {store.parent} ({error.strerror}); "
            "choose a folder with --cache"
        ) from None
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _remove(store: Path) -> None:
    """Remove a store at once, since another run may look for it while its files go."""
    aside = _aside(store)
    try:
        store.rename(aside)
    except OSError as error:
        raise OutputError(
            f"the damaged store {store} cannot be removed ({error.strerror}); "
            "choose another folder with --cache"
        ) from None
    shutil.rmtree(aside, ignore_errors=True)


_PART = ".part"


def _aside(store: Path) -> Path:
    return store.with_name(f".{store.name}.{secrets.token_hex(4)}{_PART}")


def _is_abandoned(aside: Path) -> bool:
    """Whether nobody works on a store in the making any more: its engine would hold its lock."""
    try:
        import fcntl
    except ImportError:  # not on Windows, where such folders stay
        return False
    try:
        if time.time() - aside.stat().st_mtime < SETTLED:
            return False
        with (aside / "LOCK").open("r+b") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True

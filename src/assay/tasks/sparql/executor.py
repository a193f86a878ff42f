# SPDX-License-Identifier: Apache-2.0
"""Running predicted queries: each distinct one once, on a graph or on an endpoint."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, Protocol

from assay.core.document import InputFile, Intake
from assay.core.errors import InputError, UsageError
from assay.tasks.sparql.cache import ReplyCache, default_folder
from assay.tasks.sparql.dialect import RefusalError, runnable
from assay.tasks.sparql.minus import with_minus
from assay.tasks.sparql.replies import Reply, answers_of

IN_MEMORY = 20 << 20
"""Bytes up to which a graph is held in memory by each worker; larger ones go to a store on disk."""

REMEMBERED = 1_000_000
"""Values of replies held in memory for queries that come again."""

KEPT_AT_ONCE = 256
"""Queries that are run before their replies are put into the cache."""

ENGINE = "pyoxigraph"


class Backend(Protocol):
    """What queries run on."""

    def run(self, queries: Sequence[str]) -> list[Reply]:
        """The reply to each query, in order."""

    def close(self) -> None:
        """End what runs."""

    def warnings(self) -> list[str]:
        """What a reader of the scores should know."""


class Runner:
    """From predicted texts to answers."""

    def __init__(
        self,
        backend: Backend,
        intake: Intake,
        *,
        compat: bool = False,
        cache: ReplyCache | None = None,
        rewrite: Callable[[str], str] = str,
    ) -> None:
        self._backend = backend
        self._intake = intake
        self._compat = compat
        self._cache = cache
        self._rewrite = rewrite
        self._replies: dict[str, Reply] = {}
        self._held = 0
        self._closed = False

    def run(self, queries: Sequence[str]) -> list[tuple[list[str] | bool | None, str | None]]:
        """Answers and failure of each query, in order."""
        replies = self.replies(queries)
        return [(answers_of(r, compat=self._compat), r.failure) for r in replies]

    def replies(self, queries: Sequence[str]) -> list[Reply]:
        """The reply to each predicted text."""
        prepared = [self._prepared(text) for text in queries]
        wanted = dict.fromkeys(p for p in prepared if isinstance(p, str))
        found = {q: self._replies[q] for q in wanted if q in self._replies}
        fresh = [q for q in wanted if q not in found]
        if fresh and self._cache is not None:
            known = self._cache.known(fresh)
            found.update(known)
            fresh = [q for q in fresh if q not in known]
        # Whatever ends the run, replies that were kept need not be asked for again.
        step = KEPT_AT_ONCE if self._cache is not None else len(fresh) or 1
        for start in range(0, len(fresh), step):
            part = fresh[start : start + step]
            made = dict(zip(part, self._backend.run(part), strict=True))
            if self._cache is not None:
                self._cache.keep(made)
            found.update(made)
        self._remember(found)
        return [found[p] if isinstance(p, str) else p for p in prepared]

    def _prepared(self, text: str) -> str | Reply:
        try:
            return self._rewrite(runnable(text, compat=self._compat))
        except RefusalError as refusal:
            return Reply(refusal.failure, str(refusal))

    def _remember(self, found: dict[str, Reply]) -> None:
        new = {q: r for q, r in found.items() if q not in self._replies}
        size = sum(1 + len(r.values or ()) for r in new.values())
        if self._held + size > REMEMBERED:
            self._replies.clear()
            self._held = 0
        if size <= REMEMBERED:
            self._replies.update(new)
            self._held += size

    def close(self) -> None:
        """End workers or connections."""
        if self._closed:
            return
        self._closed = True
        self._backend.close()
        self._intake.warnings += self._backend.warnings()
        if self._cache is not None:
            self._intake.warnings += self._cache.warnings()
            self._cache.close()


def open_executor(
    kg: str | None,
    server_link: str | None,
    intake: Intake,
    *,
    compat: bool = False,
    timeout: float = 10.0,
    row_limit: int = 1_000_000,
    memory_limit: int = 2_000,
    workers: int | None = None,
    cache: str | None = None,
    refresh: bool = False,
    contact: str | None = None,
    **_: Any,
) -> Runner:
    """What `--kg` or `--server_link` asks for, checked to be there."""
    for name, value in (
        ("timeout", timeout),
        ("row_limit", row_limit),
        ("memory_limit", memory_limit),
        ("workers", workers),
    ):
        if value is not None and not value > 0:
            raise UsageError(f"--{name} {value} must be above 0")
    folder = Path(cache) if cache else None
    if kg is None:
        from assay.tasks.sparql.endpoint import Endpoint

        assert server_link is not None, "one of the two is given"
        endpoint = Endpoint(
            server_link,
            timeout=timeout,
            rows=row_limit,
            bytes_=memory_limit << 20,
            workers=workers,
            compat=compat,
            contact=contact or "",
        )
        endpoint.probe()
        asked = datetime.fromtimestamp(endpoint.clock(), UTC).isoformat(timespec="seconds")
        intake.extra["endpoint"] = {"url": server_link, "asked": asked}
        # With --compat a reply counts whatever its status is.
        source = f"{server_link} compat" if compat else server_link
        kept = ReplyCache(folder, source, rows=row_limit, refresh=refresh) if folder else None
        return Runner(endpoint, intake, compat=compat, cache=kept)
    path = Path(kg)
    digest = _digest(path)
    intake.inputs.append(InputFile("graph", kg, digest))
    backend = _graph_backend(
        path,
        digest,
        folder or default_folder(),
        intake,
        timeout=timeout,
        rows=row_limit,
        memory=memory_limit,
        workers=workers or min(4, os.cpu_count() or 1),
    )
    source = f"{digest} {ENGINE} {version(ENGINE)}"
    kept = ReplyCache(folder, source, rows=row_limit, refresh=refresh) if folder else None
    return Runner(backend, intake, compat=compat, cache=kept, rewrite=with_minus)


def _digest(path: Path) -> str:
    found = hashlib.sha256()
    try:
        with path.open("rb") as file:
            while piece := file.read(1 << 20):
                found.update(piece)
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror})", path=path, hint="--kg names a graph file"
        ) from None
    return found.hexdigest()


def _graph_backend(
    path: Path,
    digest: str,
    folder: Path,
    intake: Intake,
    *,
    timeout: float,
    rows: int,
    memory: int,
    workers: int,
) -> Backend:
    from assay.tasks.sparql.pool import Pool
    from assay.tasks.sparql.stores import opened_store
    from assay.tasks.sparql.worker import WorkerOptions

    def pool(**source: str) -> Pool:
        # The pool kills a late worker at once; the alarm is for workers that have lost their pool.
        options = WorkerOptions(**source, rows=rows, memory=memory, alarm=2 * timeout + 1)
        return Pool(options, size=workers, timeout=timeout, graph=str(path))

    packed = path.name.endswith(".gz")
    if path.stat().st_size * (8 if packed else 1) <= IN_MEMORY:
        return pool(graph=str(path))
    store = folder / "stores" / f"{digest[:32]}-{version(ENGINE)}"
    return opened_store(path, store, lambda: pool(store=str(store)), intake)

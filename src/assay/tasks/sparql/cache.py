# SPDX-License-Identifier: Apache-2.0
"""Replies kept from run to run, by graph or endpoint, query and engine version."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from assay.core.errors import OutputError
from assay.tasks.sparql.replies import Reply

KEPT = (None, "syntax", "several variables", "refused")
"""Outcomes that a second try would not change; the others depend on limits and on the network."""

_AT_ONCE = 500

_decoder = msgspec.json.Decoder(Reply)


def default_folder() -> Path:
    """Where stores of large graphs go unless told otherwise: the user's cache folder."""
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "assay" / "sparql"


class ReplyCache:
    """A small database of replies. `source` says what was asked: a graph's digest, or a URL.

    Replies of more than `rows` rows are over the limit, as they would be if they came now. A
    database that fails on the way costs its replies and not the run.
    """

    def __init__(self, folder: Path, source: str, *, rows: int, refresh: bool = False) -> None:
        self._source = source
        self._rows = rows
        self._refresh = refresh
        self._folder = folder
        self._fault = ""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._base = sqlite3.connect(folder / "replies.sqlite", timeout=30)
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS replies (key BLOB PRIMARY KEY, reply BLOB, made REAL)"
            )
        except (OSError, sqlite3.Error) as error:
            raise OutputError(f"the cache {folder} cannot be used ({error})") from None

    def known(self, queries: Sequence[str]) -> dict[str, Reply]:
        """The replies that are there."""
        found: dict[str, Reply] = {}
        if self._refresh or self._fault:
            return found
        try:
            for start in range(0, len(queries), _AT_ONCE):
                keys = {self._key(q): q for q in queries[start : start + _AT_ONCE]}
                marks = ",".join("?" * len(keys))
                rows = self._base.execute(
                    f"SELECT key, reply FROM replies WHERE key IN ({marks})", list(keys)
                )
                for key, reply in rows:
                    found[keys[key]] = self._limited(_decoder.decode(reply))
        except (sqlite3.Error, msgspec.MsgspecError, UnicodeDecodeError) as error:
            self._fault = str(error)
        return found

    def _limited(self, reply: Reply) -> Reply:
        if len(reply.values or ()) > self._rows:
            return Reply("too large", f"more than {self._rows:,} rows")
        return reply

    def keep(self, replies: Mapping[str, Reply]) -> None:
        """Add replies, with the time."""
        if self._fault:
            return
        now = time.time()
        rows = [
            (self._key(q), msgspec.json.encode(r), now)
            for q, r in replies.items()
            if r.failure in KEPT
        ]
        try:
            with self._base:
                self._base.executemany("INSERT OR REPLACE INTO replies VALUES (?, ?, ?)", rows)
        except sqlite3.Error as error:
            self._fault = str(error)

    def warnings(self) -> list[str]:
        """That the database failed on the way."""
        if not self._fault:
            return []
        return [
            f"the cache {self._folder} failed ({self._fault}), and the run went on without it; "
            "remove replies.sqlite there"
        ]

    def close(self) -> None:
        """Let go of the database."""
        self._base.close()

    def _key(self, query: str) -> bytes:
        text = f"{self._source}\n{query}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(text).digest()

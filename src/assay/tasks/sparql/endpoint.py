# SPDX-License-Identifier: Apache-2.0
"""SPARQL 1.1 endpoints: whom to ask again, when to give up, and what a reply means."""

from __future__ import annotations

import email.utils
import http.client
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from assay.core.errors import InputError
from assay.tasks.sparql.exchange import Answer, Connections, TooLargeError
from assay.tasks.sparql.replies import PREFIXES, Reply, read_json
from assay.tasks.sparql.tokens import declared, tokens

RETRIED = (429, 502, 503, 504)
TRIES = 4
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 60.0
LONGEST_WAIT = 600.0
"""Seconds that a server may ask us to wait; one that asks for more ends the run."""

GIVEN_UP = 5
"""Queries in a row that do not get through before the server is asked whether it is still there."""

ROUND = frozenset((1_000, 5_000, 10_000, 50_000, 100_000, 1_000_000))
"""Numbers of rows at which servers are known to cut results off without a word."""

ONE_AT_A_TIME = ("query.wikidata.org",)
"""Servers that shut out who asks several queries at once."""


@dataclass(slots=True)
class Endpoint:
    """A server at `url`. `pause` waits that many seconds, or until the run is broken off; `clock`
    tells the time of day.

    Replies do not depend on the order in which queries are finished.
    """

    url: str
    timeout: float = 10.0
    rows: int = 1_000_000
    bytes_: int = 2_000 << 20
    workers: int | None = None
    compat: bool = False
    contact: str = ""
    pause: Callable[[float], object] | None = None
    clock: Callable[[], float] = time.time
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _lost: int = 0
    _suspicious: int = 0
    _quiet_until: float = 0.0
    _broken_off: threading.Event = field(default_factory=threading.Event)
    _wait: Callable[[float], object] = field(init=False)
    _connections: Connections = field(init=False)

    def __post_init__(self) -> None:
        self._wait = self.pause or self._broken_off.wait
        self._connections = Connections(self.url, self.timeout, self.bytes_, self.contact)
        if self.workers is None:
            self.workers = 1 if self._connections.host in ONE_AT_A_TIME else 4

    def probe(self) -> None:
        """Find out that somebody answers there, before anything is scored."""
        reply = self._ask("ASK {}")
        if reply.failure is None and isinstance(reply.boolean, bool):
            self._lost = 0
            return
        self.close()
        said = reply.detail or "its reply to ASK {} is neither true nor false"
        raise InputError(
            f"the endpoint does not answer ({said})",
            path=self.url,
            hint="check the address, and that the server runs; nothing was scored",
        )

    def run(self, queries: Sequence[str]) -> list[Reply]:
        """The reply to each query, in order, several under way at once."""
        if len(queries) == 1 or self.workers == 1:
            return [self._counted(query) for query in queries]
        with ThreadPoolExecutor(self.workers, thread_name_prefix="sparql") as pool:
            waiting = [pool.submit(self._counted, query) for query in queries]
            try:
                return [one.result() for one in waiting]
            except BaseException:
                # Nobody waits any more for what is under way, be it Ctrl-C or an error.
                self._broken_off.set()
                self._connections.hang_up()
                pool.shutdown(cancel_futures=True)
                raise

    def _counted(self, query: str) -> Reply:
        """Run a query; an endpoint that is gone ends the run instead of lowering the score."""
        reply = self._ask(query)
        with self._lock:
            self._lost = self._lost + 1 if reply.failure in ("transport", "timeout") else 0
            self._suspicious += len(reply.values or ()) in ROUND
            gone = self._lost >= GIVEN_UP
        if gone and not self._broken_off.is_set():
            # Some servers have such a reply to a query that is wrong, and are well.
            if not isinstance(self._ask("ASK {}").boolean, bool):
                raise InputError(
                    f"the endpoint stopped answering ({reply.detail})",
                    path=self.url,
                    hint="nothing was scored; try again, with --cache to keep what was answered",
                )
            with self._lock:
                self._lost = 0
        return reply

    def _ask(self, query: str) -> Reply:
        text = with_prefixes(query)
        wait = FIRST_PAUSE
        for left in reversed(range(TRIES)):
            self._keep_quiet()
            if self._broken_off.is_set():
                break
            try:
                answer = self._connections.post(text)
            except TimeoutError:
                return Reply("timeout", f"more than {self.timeout:g} s")
            except TooLargeError:
                return Reply("too large", f"more than {self.bytes_:,} bytes")
            except (OSError, http.client.HTTPException) as error:
                if left == 0:
                    return Reply("transport", str(error) or type(error).__name__)
                self._wait(wait)
            else:
                if answer.status not in RETRIED or left == 0:
                    return self._read(answer)
                self._back_off(wait, self._asked_for(answer.retry_after))
            wait = min(LONGEST_PAUSE, 2 * wait)
        return Reply("transport", "the run was broken off")

    def _back_off(self, wait: float, asked_for: float) -> None:
        """Wait as long as the server asks for, and let the others wait as well."""
        if asked_for > LONGEST_WAIT:
            raise InputError(
                f"the endpoint asks to wait {asked_for:,.0f} s before the next query",
                path=self.url,
                hint="nothing was scored; try again then, with --cache to keep what was answered",
            )
        seconds = max(wait, asked_for)
        with self._lock:
            self._quiet_until = max(self._quiet_until, self.clock() + asked_for)
        self._wait(seconds)
        with self._lock:
            self._quiet_until = 0.0

    def _keep_quiet(self) -> None:
        with self._lock:
            left = self._quiet_until - self.clock() if self._quiet_until else 0.0
        if left > 0:
            self._wait(left)

    def _asked_for(self, header: str) -> float:
        """Seconds that a server asks to wait: a number, or a date."""
        if header.isdigit():
            return float(header)
        try:
            return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - self.clock())
        except (TypeError, ValueError):
            return 0.0

    def _read(self, answer: Answer) -> Reply:
        if answer.cut:
            return Reply("timeout", "the reply was cut off")
        if answer.status == 206 or answer.state == "S1TAT":
            return Reply("timeout", "the server sent a part of the result")
        if answer.status != 200 and not self.compat:
            return _refused(answer)
        try:
            reply = read_json(answer.body, self.rows)
        except ValueError:
            if answer.status != 200:
                return _refused(answer)
            start = answer.body[:100].strip()
            if start and not start.startswith(b"{"):
                return Reply("transport", f"the reply is not JSON, it begins with {_shown(start)}")
            # Servers that run out of time have sent their status long before.
            return Reply("timeout", "the reply is not JSON, or not all of it")
        bare = reply.failure is None and reply.values is None
        if bare and not isinstance(reply.boolean, bool) and not self.compat:
            return Reply("transport", "the reply is neither true nor false")
        most = answer.most_rows
        if most.isdigit() and len(reply.values or ()) >= int(most) > 0:
            with self._lock:
                self._suspicious += int(most) not in ROUND
        return reply

    def warnings(self) -> list[str]:
        """Replies that may have been cut off."""
        if not self._suspicious:
            return []
        return [
            f"{self._suspicious:,} replies have as many rows as servers cut results off at: "
            f"{self.url} may not have sent all; compare with a COUNT of the same pattern"
        ]

    def close(self) -> None:
        """Close all connections."""
        self._connections.close()


def _shown(text: bytes) -> str:
    return " ".join(text.decode("utf-8", "replace").split())


def _refused(answer: Answer) -> Reply:
    said = _shown(answer.body[:200])
    detail = f"status {answer.status}: {said}"
    lower = said.lower()
    if answer.location and 300 <= answer.status < 400:
        return Reply("transport", f"status {answer.status}: it has moved to {answer.location}")
    if answer.status == 400 or "malformed" in lower or "parse error" in lower:
        return Reply("syntax", detail)
    if answer.status in (401, 403, 405):
        return Reply("refused", detail)
    if answer.status == 500 and ("timeout" in lower or "timed out" in lower):
        return Reply("timeout", detail)
    return Reply("transport", detail)


def with_prefixes(query: str) -> str:
    """The query with the prefixes that it uses and does not declare.

    >>> with_prefixes("ASK { wd:Q1 ?p ?o }")
    'PREFIX wd: <http://www.wikidata.org/entity/> ASK { wd:Q1 ?p ?o }'
    """
    found = tokens(query)
    used = {t.text.partition(":")[0] for t in found if t.kind == "prefixed"}
    wanted = [p for p in PREFIXES if p in used - declared(found).keys()]
    return "".join(f"PREFIX {p}: <{PREFIXES[p]}> " for p in wanted) + query

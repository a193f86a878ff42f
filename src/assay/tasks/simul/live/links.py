# SPDX-License-Identifier: Apache-2.0
"""How an agent reaches a session: in the same process, or over HTTP."""

from __future__ import annotations

import http.client
import itertools
import json
import socket
import time
from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlencode

from assay.core.errors import LinkError, UsageError
from assay.tasks.simul.live.corpus import Kind
from assay.tasks.simul.live.session import Session
from assay.tasks.simul.live.voice import as_samples

STEPS = "x-assay-steps"
SILENT = "servers take text only; run an agent that speaks in process, without --port"
WAIT_SECONDS = 0.2


class Link(Protocol):
    """Reads and writes for an agent. Answers to reads are those of the server, as dictionaries."""

    kind: Kind
    rate: int

    def begin(self, index: int) -> None:
        """A sentence is about to be translated from its beginning."""

    def get(self, index: int, value: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The next piece of a sentence."""

    def send(self, index: int, text: str) -> None:
        """Words of its translation."""

    def speak(self, index: int, content: Any, rate: int) -> None:
        """Spoken output: samples from -1 to 1."""

    def close(self) -> None:
        """No more."""


class LocalLink:
    """A session in this process."""

    def __init__(self, session: Session, *, exact: bool = False) -> None:
        self.session = session
        self.kind = session.corpus.kind
        self.rate = session.corpus.rate
        self.exact = exact

    def begin(self, index: int) -> None:
        """Forget what was begun."""
        self.session.forget(index)

    def get(self, index: int, value: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Read."""
        size = None if value is None else value.get("segment_size")
        if self.kind == "speech" and size is not None:
            size = self._checked(size)
        served = self.session.read(index, size, exact=self.exact)
        segment = served.segment if isinstance(served.segment, str) else served.segment.tolist()
        return {
            "sent_id": index,
            "segment_id": served.segment_id,
            "segment": segment,
            "finished": served.finished,
        }

    def send(self, index: int, text: str) -> None:
        """Write."""
        self.session.write(index, text)

    def speak(self, index: int, content: Any, rate: int) -> None:
        """Write audio."""
        self.session.speak(index, as_samples(content), rate)

    def close(self) -> None:
        """Nothing to do."""

    def _checked(self, size: Any) -> int:
        least = 1 if self.exact else self.session.corpus.block_ms
        if not isinstance(size, int) or size < least:
            raise UsageError(f"the agent asks for {size!r} ms; the least is {least}")
        return size


class HttpLink:
    """A server. One connection is kept; a request that got no answer is sent again.

    Servers of ours number the steps of a sentence, so that a repeated request is done once. With
    others a request is sent again only if it cannot have arrived.
    """

    def __init__(
        self,
        host: str,
        port: int,
        *,
        token: str | None = None,
        session: str | None = None,
        retry_seconds: float = 30.0,
        answer_seconds: float = 600.0,
        kind: Kind = "text",
        rate: int = 16_000,
    ) -> None:
        self.where = f"{host} port {port}"
        self.retry_seconds = retry_seconds
        self._connection = http.client.HTTPConnection(host, port, timeout=answer_seconds)
        self._headers = {} if token is None else {"authorization": f"Bearer {token}"}
        self._session = {} if session is None else {"session": session}
        self._steps: dict[int, int] = {}
        about, headers = self._asked("GET", "/", {}, again=True)
        self.numbered = STEPS in headers
        try:
            found = json.loads(about)
            self.count = int(found["num_sentences"])
            if self.count < 0:
                raise ValueError("a negative number of sentences")
        except (ValueError, TypeError, KeyError):
            self.close()
            raise LinkError(f"what answers at {self.where} is not an evaluation server") from None
        told = found.get("data_type")  # old servers do not say
        self.kind: Kind = told if told in ("text", "speech") else kind
        self.rate = rate

    def begin(self, index: int) -> None:
        """Start counting steps; forget what the server may have of this sentence."""
        self._steps[index] = 0
        if self.numbered:
            self._asked("POST", "/", {"sent_id": index}, again=True)

    def get(self, index: int, value: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Read."""
        text = self._step("GET", "/src", index, dict(value or {}), None)
        try:
            found: dict[str, Any] = json.loads(text)
        except ValueError:
            raise LinkError(f"the server at {self.where} answered {text[:80]!r}") from None
        return found

    def send(self, index: int, text: str) -> None:
        """Write."""
        self._step("PUT", "/hypo", index, {}, text.encode())

    def speak(self, index: int, content: Any, rate: int) -> None:
        """Not possible: the protocol has only text."""
        raise UsageError(SILENT)

    def reset(self) -> None:
        """Forget everything."""
        self._asked("POST", "/", {}, again=True)

    def result(self) -> dict[str, Any]:
        """The scores."""
        text, _ = self._asked("GET", "/result", {}, again=True)
        found: dict[str, Any] = json.loads(text)
        return found

    def status(self) -> dict[str, Any] | None:
        """What is finished; None where the server does not say."""
        if not self.numbered:
            return None
        text, _ = self._asked("GET", "/status", {}, again=True)
        found: dict[str, Any] = json.loads(text)
        return found

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _step(
        self, method: str, path: str, index: int, more: dict[str, Any], body: bytes | None
    ) -> str:
        query = {"sent_id": index, **more}
        if self.numbered:
            query["step"] = self._steps[index]
        text, _ = self._asked(method, path, query, body, again=self.numbered)
        self._steps[index] = self._steps.get(index, 0) + 1
        return text

    def _asked(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any],
        body: bytes | None = None,
        *,
        again: bool,
    ) -> tuple[str, dict[str, str]]:
        asked = {**query, **self._session}
        url = f"{path}?{urlencode(asked)}" if asked else path
        give_up = time.monotonic() + self.retry_seconds
        for attempt in itertools.count():
            arrived = False
            try:
                if self._connection.sock is None:
                    self._connection.connect()
                    # Requests are small and answered one by one: waiting to fill packets costs.
                    opened: Any = self._connection.sock
                    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                arrived = True
                self._connection.request(method, url, body, self._headers)
                answer = self._connection.getresponse()
                text = answer.read().decode()
            except (OSError, http.client.HTTPException) as error:
                self._connection.close()
                if (arrived and not again) or time.monotonic() > give_up:
                    raise self._lost(error, arrived and not again) from None
                if attempt:  # a connection that was merely closed is opened again at once
                    time.sleep(WAIT_SECONDS)
                continue
            if answer.status >= 400:
                raise self._refused(method, url, answer.status, text)
            return text, {k.lower(): v for k, v in answer.getheaders()}
        raise AssertionError("unreachable")

    def _lost(self, error: Exception, unsafe: bool) -> LinkError:
        why = getattr(error, "strerror", None) or type(error).__name__
        if unsafe:
            return LinkError(
                f"the connection to {self.where} broke ({why}) and the server cannot tell whether "
                "the last step was done; run again with --reset-server"
            )
        return LinkError(
            f"no server answers at {self.where} ({why}); start one with 'assay simul serve', or "
            "check --hostname and --port"
        )

    def _refused(self, method: str, url: str, status: int, text: str) -> LinkError:
        try:
            why = json.loads(text)["error"]
        except (ValueError, TypeError, KeyError):
            why = text.strip()[:200] or "no reason given"
        return LinkError(f"the server at {self.where} refused {method} {url} ({status}): {why}")

# SPDX-License-Identifier: Apache-2.0
"""Driving an agent that runs as a service of SimulEval 1.1: `/reset`, `/input`, `/output`."""

from __future__ import annotations

import http.client
import json
import re
from collections.abc import Sequence
from typing import Any

from assay.core.errors import LinkError
from assay.tasks.simul.live.drivers import SegmentDriver
from assay.tasks.simul.live.settings import Types
from assay.tasks.simul.live.shims import segments as wire

_TYPES = re.compile(r"\[(\w+) -> (\w+)\]\s*$")


class RemoteAgent(SegmentDriver):
    """The same loop as for an agent in process; one connection is kept."""

    def __init__(
        self,
        host: str,
        port: int,
        limit: int,
        segment_ms: int = 1,
        languages: Sequence[str] = (),
        *,
        seconds: float = 300.0,
    ) -> None:
        super().__init__(None, limit, segment_ms, languages)
        self.where = f"{host} port {port}"
        self._connection = http.client.HTTPConnection(host, port, timeout=seconds)

    def segments(self) -> Any:
        """What goes over the wire is ours on this side."""
        return wire

    def about(self) -> str:
        """The name of the agent and what it translates."""
        try:
            info: str = json.loads(self._asked("GET", "/"))["info"]
        except (ValueError, KeyError, TypeError):
            raise LinkError(f"what answers at {self.where} is not an agent service") from None
        return info

    def start(self) -> None:
        """A sentence begins."""
        self._asked("POST", "/reset")

    def exchange(self, segment: wire.Segment) -> Any:
        """A segment goes in and one comes out."""
        self._asked("PUT", "/input", segment.json().encode())
        text = self._asked("GET", "/output")
        try:
            return wire.segment_from_json_string(text)
        except (ValueError, TypeError, AttributeError):
            raise LinkError(f"the agent at {self.where} answered {text[:80]!r}") from None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def _asked(self, method: str, path: str, body: bytes | None = None) -> str:
        try:
            self._connection.request(method, path, body)
            answer = self._connection.getresponse()
            text = answer.read().decode()
        except (OSError, http.client.HTTPException, UnicodeDecodeError) as error:
            self._connection.close()
            why = getattr(error, "strerror", None) or type(error).__name__
            raise LinkError(
                f"no agent answers at {self.where} ({why}); "
                "check --remote-address and --remote-port, then go on with --resume"
            ) from None
        if answer.status >= 400:
            raise LinkError(
                f"the agent at {self.where} refused {method} {path} ({answer.status}); see its log"
            )
        return text


def types_of_service(host: str, port: int) -> Types:
    """What a service says that it reads and writes: `Name[speech -> text]`."""
    agent = RemoteAgent(host, port, 1)
    try:
        found = _TYPES.search(agent.about())
    finally:
        agent.close()
    return Types.named(*found.groups()) if found is not None else Types()

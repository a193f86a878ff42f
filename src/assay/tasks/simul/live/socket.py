# SPDX-License-Identifier: Apache-2.0
"""One sentence over a WebSocket: audio as 16-bit little-endian samples instead of JSON numbers.

The client sends JSON: `{"get": 200}` for the next 200 ms (`{"get": null}` for the least), and
`{"send": "words"}`. Audio comes back as a binary message; words, the end mark and acknowledgements
as JSON. A message that cannot be understood gets `{"error": ...}` and changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from assay.core.errors import AssayError
from assay.web import HttpError

if TYPE_CHECKING:
    from starlette.websockets import WebSocket

    from assay.tasks.simul.live.server import Evaluation
    from assay.tasks.simul.live.session import Served, Session

POLICY_VIOLATION = 1008


def audio_socket(evaluation: Evaluation) -> Callable[[WebSocket], Awaitable[None]]:
    """The handler of `WS /audio`."""

    async def handle(socket: WebSocket) -> None:
        from starlette.websockets import WebSocketDisconnect

        from assay.tasks.simul.live.server import Asked

        asked = Asked(socket.scope["query_string"])
        await socket.accept()
        try:
            client = evaluation.client(asked)
            index = asked.index(evaluation.corpus, client)
            assert index is not None
        except HttpError as error:
            await socket.send_text(json.dumps({"error": error.message}))
            await socket.close(POLICY_VIOLATION)
            return
        try:
            while True:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    return
                answer = _answer(evaluation, client.session, index, message.get("text"))
                if isinstance(answer, bytes):
                    await socket.send_bytes(answer)
                else:
                    await socket.send_text(json.dumps(answer))
        except WebSocketDisconnect:
            return

    return handle


def _answer(
    evaluation: Evaluation, session: Session, index: int, text: str | None
) -> bytes | dict[str, Any]:
    asked = _understood(text)
    if "get" in asked:
        size = asked["get"]
        if size is not None and (isinstance(size, bool) or not isinstance(size, int)):
            return {"error": "get wants milliseconds as a whole number, or null"}
        try:
            evaluation.check_size(size, middle=True)
            served = session.read(index, size, exact=True)
        except HttpError as error:
            return {"error": error.message}
        except AssayError as error:
            return {"error": str(error)}
        return _packed(served)
    if isinstance(asked.get("send"), str):
        try:
            session.write(index, asked["send"])
        except AssayError as error:
            return {"error": str(error)}
        exchange = session.exchanges[index]
        return {"words": len(exchange.words), "position": exchange.position}
    return {"error": 'send {"get": milliseconds} or {"send": "words"}'}


def _understood(text: str | None) -> dict[str, Any]:
    try:
        found = json.loads(text or "")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _packed(served: Served) -> bytes | dict[str, Any]:
    if isinstance(served.segment, str):
        return {
            "segment": served.segment,
            "segment_id": served.segment_id,
            "finished": served.finished,
        }
    packed: bytes = served.segment.astype("<i2").tobytes()
    return packed

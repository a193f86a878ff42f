# SPDX-License-Identifier: Apache-2.0
"""The evaluation server: the routes of the 2020 protocol, of SimulEval 1.0, and some of our own.

    GET  /                     how many sentences there are
    POST /                     forget everything (of this session)
    GET  /src?sent_id=I        the next word, or slice of audio
    PUT  /hypo?sent_id=I       words of the translation, as plain text
    GET  /result               the scores; writes the output files
    GET  /status               which sentences are finished, begun, untouched
    WS   /audio?sent_id=I      the same exchange with audio as 16-bit samples

`instance_id` may stand for `sent_id` and gets the answers of SimulEval 1.0. `session` names the
session, `step` counts the steps of a sentence so that a repeated request is not done twice.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from assay.core.errors import AssayError, InputError, OutputError
from assay.tasks.simul.live import results
from assay.tasks.simul.live.corpus import END
from assay.tasks.simul.live.openapi import MOST_MS
from assay.tasks.simul.live.session import OutOfStepError, Served, TooLongError
from assay.tasks.simul.live.sessions import DEFAULT, LIMIT, Client, Sessions, is_name
from assay.web import Access, HttpError, application

if TYPE_CHECKING:
    from collections.abc import Iterator

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import ASGIApp

_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*", re.ASCII)

BODY_LIMIT = 1024 * 1024
STEPS = "x-assay-steps"
"""The header by which a client knows that steps may be repeated."""


class Evaluation:
    """The handlers of one server."""

    def __init__(self, sessions: Sessions, *, tokenizer: str = "13a") -> None:
        self.sessions = sessions
        self.corpus = sessions.corpus
        self.tokenizer = tokenizer

    async def about(self, request: Request) -> Response:
        """`GET /`."""
        asked = Asked(request.scope["query_string"])
        self.client(asked)
        found: dict[str, Any] = {"num_sentences": len(self.corpus)}
        if not self.sessions.old:
            found["data_type"] = self.corpus.kind
        answer = _json(found)
        answer.headers[STEPS] = "1"
        return answer

    async def reset(self, request: Request) -> Response:
        """`POST /`; with an id only that sentence is forgotten."""
        asked = Asked(request.scope["query_string"])
        client = self.client(asked)
        index = asked.index(self.corpus, client, needed=False)
        if index is None:
            with _answered():
                self.sessions.reset(asked.session)
        else:
            client.session.forget(index)
        return _empty()

    def src(self, query: bytes, body: bytes) -> bytes:
        """`GET /src`."""
        asked = Asked(query)
        client = self.client(asked)
        index = asked.index(self.corpus, client)
        assert index is not None
        size = asked.number("segment_size")
        self.check_size(size, asked.middle)
        with _answered():
            served = client.session.read(index, size, step=asked.step(), exact=asked.middle)
        return json.dumps(self.segment(asked, index, served)).encode()

    def hypo(self, query: bytes, body: bytes) -> bytes:
        """`PUT /hypo`."""
        asked = Asked(query)
        client = self.client(asked)
        index = asked.index(self.corpus, client, writing=True)
        assert index is not None
        try:
            text = body.decode()
        except UnicodeDecodeError:
            raise HttpError(422, "the body is not UTF-8 text") from None
        with _answered():
            client.session.write(index, text, step=asked.step())
        return b""

    async def result(self, request: Request) -> Response:
        """`GET /result`."""
        from starlette.concurrency import run_in_threadpool

        asked = Asked(request.scope["query_string"])
        client = self.client(asked)
        index = asked.index(self.corpus, client, needed=False)
        ids = None if index is None else [index % len(self.corpus)]
        with _answered():
            found = results.tally(client.session, ids, allow_missing=asked.flag("partial"))
            return _json(await run_in_threadpool(self.scored, client, found, asked, index))

    def scored(
        self, client: Client, found: results.Tally, asked: Asked, index: int | None
    ) -> dict[str, Any]:
        """Scores in the dialect of the client; the whole corpus is also written to files."""
        speech = self.corpus.kind == "speech"
        if index is not None:
            source = self.corpus.sentences[found.ids[0]].source
            return results.middle_instance(found, self.tokenizer, source=source, speech=speech)
        plain = results.scores(found, self.tokenizer, old=self.sessions.old)
        if client.folder is not None:
            with client.writing:  # files of two requests must not be mixed
                results.write(client.folder, found, plain)
        answer: dict[str, Any] = dict(plain)
        if asked.middle or client.middle:
            answer = results.middle_scores(found, self.tokenizer, speech=speech)
        if not self.sessions.old:
            lists = {"unfinished": found.unfinished, "missing": found.missing}
            answer |= {name: ids for name, ids in lists.items() if ids}
        return answer

    async def status(self, request: Request) -> Response:
        """`GET /status`."""
        asked = Asked(request.scope["query_string"])
        session = self.client(asked).session
        begun = {i for i in session.exchanges if 0 <= i < len(self.corpus)}
        finished = sorted(i for i in begun if session.finished(i))
        return _json(
            {
                "session": asked.session,
                "num_sentences": len(self.corpus),
                "finished": finished,
                "unfinished": sorted(begun.difference(finished)),
            }
        )

    def client(self, asked: Asked) -> Client:
        """The session that a request belongs to."""
        if not is_name(asked.session):
            raise HttpError(422, "session must be 1 to 64 letters, digits, '.', '_' or '-'")
        with _answered():
            found = self.sessions.get(asked.session)
        if found is None:
            raise HttpError(429, f"there are {LIMIT:,} sessions already; use one of them")
        if asked.middle:
            found.middle = True
        return found

    def check_size(self, size: int | None, middle: bool) -> None:
        """Refuse a slice of audio that cannot be served."""
        if size is None or self.corpus.kind == "text":
            return
        least = 1 if middle else self.corpus.block_ms
        if not least <= size <= MOST_MS:
            raise HttpError(422, f"segment_size must be from {least} to {MOST_MS} ms, not {size}")

    def segment(self, asked: Asked, index: int, served: Served) -> dict[str, Any]:
        """The answer to a read."""
        segment = served.segment if isinstance(served.segment, str) else served.segment.tolist()
        name = "instance_id" if asked.middle else "sent_id"
        found = {name: index, "segment_id": served.segment_id, "segment": segment}
        if asked.middle and self.corpus.kind == "speech":
            found |= {"sample_rate": self.corpus.rate, "dtype": "int16"}
            found["finished"] = served.finished
        elif "step" in asked.values:
            found["finished"] = served.finished
        return found


class Asked:
    """The query of a request; of a name that is given twice the last value counts."""

    __slots__ = ("middle", "session", "values")

    def __init__(self, query: bytes) -> None:
        self.values = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
        self.middle = "instance_id" in self.values and "sent_id" not in self.values
        self.session = self.values.get("session", DEFAULT)

    def number(self, name: str) -> int | None:
        """A whole number; None where it is not given, or empty."""
        text = self.values.get(name, "")
        if not text:
            return None
        if _NUMBER.fullmatch(text) is None:
            raise HttpError(422, f"{name} must be a whole number, not {text[:40]!r}")
        return int(text)

    def flag(self, name: str) -> bool:
        """Whether a name is given as 1 or true."""
        text = self.values.get(name, "").lower()
        if text not in ("", "0", "1", "true", "false"):
            raise HttpError(422, f"{name} must be 1, true, 0 or false, not {text[:40]!r}")
        return text in ("1", "true")

    def step(self) -> int | None:
        """The client's count of steps."""
        step = self.number("step")
        if step is None and "step" in self.values:
            raise HttpError(422, "step must be a whole number, and it is empty")
        return step

    def index(
        self, corpus: Any, client: Client, *, needed: bool = True, writing: bool = False
    ) -> int | None:
        """The sentence: 400 if none is named, 422 if that is no number, 404 if there is none."""
        name = "instance_id" if self.middle else "sent_id"
        if name not in self.values:
            if needed:
                raise HttpError(400, "which sentence? add ?sent_id=0 to the URL")
            return None
        index = self.number(name)
        if index is None:
            raise HttpError(422, f"{name} must be a whole number, and it is empty")
        if not client.session.knows(index) and not (writing and client.session.old):
            raise HttpError(404, f"there is no sentence {index}; they are 0 to {len(corpus) - 1}")
        return index


@contextmanager
def _answered() -> Iterator[None]:
    """What can go wrong in a session, as an answer."""
    try:
        yield
    except results.NotReadyError as error:
        details: dict[str, Any] = {"missing": error.missing}
        details |= {"extra": error.extra} if error.extra else {}
        raise HttpError(409, str(error), **details) from None
    except OutOfStepError as error:
        raise HttpError(409, str(error)) from None
    except TooLongError as error:
        raise HttpError(413, str(error)) from None
    except InputError as error:  # an audio file that is gone, or was never there
        raise HttpError(404, str(error)) from None
    except OutputError as error:
        raise HttpError(507, str(error)) from None
    except AssayError as error:
        raise HttpError(422, str(error)) from None


def _json(found: dict[str, Any]) -> Response:
    from starlette.responses import Response

    return Response(json.dumps(found, allow_nan=False), media_type="application/json")


def _empty() -> Response:
    from starlette.responses import Response

    return Response(b"", media_type="text/plain")


def evaluation_app(
    sessions: Sessions,
    *,
    tokenizer: str = "13a",
    access: Access | None = None,
    body_limit: int = BODY_LIMIT,
) -> ASGIApp:
    """The server as an ASGI application."""
    from starlette.routing import Route, WebSocketRoute

    from assay.tasks.simul.live.openapi import docs_page, schema_of
    from assay.tasks.simul.live.socket import audio_socket

    evaluation = Evaluation(sessions, tokenizer=tokenizer)

    async def schema(request: Request) -> Response:
        return _json(schema_of(sessions.corpus))

    def route(path: str, handler: Callable[[Request], Awaitable[Response]], method: str) -> Route:
        made = Route(path, handler, methods=[method], include_in_schema=False)
        made.methods = {method}  # without HEAD: a read changes something, and so does /result
        return made

    routes = [
        route("/src", _quickly, "GET"),
        route("/hypo", _quickly, "PUT"),
        route("/result", evaluation.result, "GET"),
        route("/status", evaluation.status, "GET"),
        route("/openapi.json", schema, "GET"),
        route("/docs", docs_page, "GET"),
        _root(evaluation),
        WebSocketRoute("/audio", audio_socket(evaluation)),
    ]
    quick = {("GET", "/src"): evaluation.src, ("PUT", "/hypo"): evaluation.hypo}
    return application(routes, access=access, body_limit=body_limit, quick=quick)


async def _quickly(request: Request) -> Response:
    """Stands for a quick handler, so that a wrong method is told which one is right."""
    allow = "PUT" if request.scope["path"] == "/hypo" else "GET"
    raise HttpError(
        405,
        f"{request.method} is not possible at {request.scope['path']}",
        headers={"allow": allow},
    )


def _root(evaluation: Evaluation) -> Any:
    """`GET /` and `POST /` in one route, so that another method is told of both."""
    from starlette.routing import Route

    async def root(request: Request) -> Response:
        if request.method == "POST":
            return await evaluation.reset(request)
        return await evaluation.about(request)

    return Route("/", root, methods=["GET", "POST"], include_in_schema=False)


__all__ = ["END", "Evaluation", "evaluation_app"]

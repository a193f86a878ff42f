# SPDX-License-Identifier: Apache-2.0
"""The server's routes as an OpenAPI document, and a page that shows it."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import assay
from assay.tasks.simul.live.corpus import Corpus

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

MOST_MS = 3_600_000
"""The longest slice of audio that is served at once."""

MOST = 999_999_999_999_999_999
_WHOLE = {"type": "integer", "minimum": -MOST, "maximum": MOST}
_FLAG = {"enum": ["0", "1", "true", "false"]}
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {"error": {"type": "string"}},
}


def schema_of(corpus: Corpus) -> dict[str, Any]:
    """The OpenAPI document of a server of this corpus."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Assay: simultaneous translation",
            "version": assay.__version__,
            "description": "Serves a source piece by piece, takes the translation, scores both.",
        },
        "paths": {
            "/": {"get": _about(), "post": _reset()},
            "/src": {"get": _src(corpus)},
            "/hypo": {"put": _hypo()},
            "/result": {"get": _result()},
            "/status": {"get": _status()},
        },
    }


def _about() -> dict[str, Any]:
    fields = {
        "num_sentences": {"type": "integer", "minimum": 1},
        "data_type": {"enum": ["text", "speech"]},
    }
    return _operation(
        "How many sentences there are, and of what kind.",
        [_session()],
        _object(fields, ["num_sentences"]),
        errors=(422, 429, 507),
    )


def _reset() -> dict[str, Any]:
    return _operation(
        "Forget all that was read and sent in this session; with sent_id that sentence alone.",
        [_sentence(required=False), _session()],
        None,
        errors=(404, 422, 429, 507),
    )


def _src(corpus: Corpus) -> dict[str, Any]:
    size = {**_WHOLE, "minimum": corpus.block_ms, "maximum": MOST_MS}
    if corpus.kind == "text":
        size = _WHOLE
    parameters = [
        _sentence(required=True),
        _query(
            "segment_size",
            {"anyOf": [size, {"const": ""}]},
            "Milliseconds of audio; words come one by one.",
        ),
        _step(),
        _session(),
    ]
    number = {"type": "integer", "minimum": -32768, "maximum": 32767}
    samples = {"type": "array", "items": number}
    segment = (
        {"type": "string"} if corpus.kind == "text" else {"oneOf": [{"const": "</s>"}, samples]}
    )
    fields = {
        "sent_id": {"type": "integer"},
        "segment_id": {"type": "integer", "minimum": 0},
        "segment": segment,
    }
    return _operation(
        "The next word, or the next slice of audio as 16-bit samples; </s> at the end.",
        parameters,
        _object(fields, list(fields)),
        errors=(400, 404, 409, 422, 429, 507),
    )


def _hypo() -> dict[str, Any]:
    operation = _operation(
        "Words of the translation; </s> closes the sentence.",
        [_sentence(required=True), _step(), _session()],
        None,
        errors=(400, 404, 408, 409, 413, 422, 429, 507),
    )
    operation["requestBody"] = {"content": {"text/plain": {"schema": {"type": "string"}}}}
    return operation


def _result() -> dict[str, Any]:
    names = ("BLEU", "TER", "METEOR", "DAL", "AL", "AP")
    fields: dict[str, Any] = {name: {"type": ["number", "null"]} for name in names}
    fields["unfinished"] = {
        "type": "array",
        "items": {"type": "integer"},
        "description": "Sentences that have words but no end mark.",
    }
    parameters = [
        _sentence(required=False),
        _query(
            "partial",
            {"enum": ["0", "1", "true", "false"]},
            "Score although sentences are missing.",
        ),
        _session(),
    ]
    return _operation(
        "Scores of the whole corpus; with sent_id those of one sentence. Writes the output files.",
        parameters,
        {"type": "object", "properties": fields},
        errors=(404, 409, 422, 429, 507),
    )


def _status() -> dict[str, Any]:
    ids = {"type": "array", "items": {"type": "integer", "minimum": 0}}
    fields = {
        "session": {"type": "string"},
        "num_sentences": {"type": "integer", "minimum": 1},
        "finished": ids,
        "unfinished": ids,
    }
    return _operation(
        "Which sentences are finished and which are under way.",
        [_session()],
        _object(fields, list(fields)),
        errors=(422, 429, 507),
    )


def _object(fields: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": fields, "required": required}


def _query(
    name: str, schema: dict[str, Any], about: str, *, required: bool = False
) -> dict[str, Any]:
    return {
        "name": name,
        "in": "query",
        "required": required,
        "description": about,
        "schema": schema,
    }


def _sentence(*, required: bool) -> dict[str, Any]:
    return _query("sent_id", _WHOLE, "The sentence, from 0.", required=required)


def _step() -> dict[str, Any]:
    about = "The client's count of requests in this sentence; one that is repeated is done once."
    return _query("step", _WHOLE, about)


def _session() -> dict[str, Any]:
    schema = {"type": "string", "pattern": "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"}
    return _query("session", schema, "Whose state; clients that name none share one.")


def _operation(
    summary: str,
    parameters: list[dict[str, Any]],
    answer: dict[str, Any] | None,
    *,
    errors: tuple[int, ...],
) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done."}
    if answer is not None:
        good["content"] = {"application/json": {"schema": answer}}
    bad = {
        str(status): {
            "description": _STATUS[status],
            "content": {"application/json": {"schema": _ERROR}},
        }
        for status in sorted({401, 403, *errors})
    }
    return {"summary": summary, "parameters": parameters, "responses": {"200": good, **bad}}


_STATUS = {
    400: "No sentence was named.",
    401: "A token is needed.",
    403: "Requests from there are not accepted.",
    404: "There is no such sentence, or its audio is gone.",
    408: "The body did not arrive in time.",
    409: "Not ready, or out of step; the answer says what is missing.",
    413: "Too much at once.",
    422: "A parameter or the body is not what it should be.",
    429: "Too many sessions.",
    507: "The log or the output files cannot be written.",
}


async def docs_page(request: Request) -> Response:
    """`GET /docs`: the routes as a page, without any script."""
    from starlette.responses import Response

    from assay.web import page_policy

    return Response(_page(), media_type="text/html", headers=page_policy())


def _page() -> str:
    document = schema_of(Corpus("text", ()))
    parts = [
        "<!doctype html><html lang=en><meta charset=utf-8>"
        '<meta name=viewport content="width=device-width"><title>Assay server</title>'
        f"<h1>{html.escape(document['info']['title'])}</h1>"
        f"<p>{html.escape(document['info']['description'])} "
        '<a href="openapi.json">The same as OpenAPI</a>.</p>'
    ]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            parts.append(f"<h2><code>{method.upper()} {html.escape(path)}</code></h2>")
            parts.append(f"<p>{html.escape(operation['summary'])}</p><ul>")
            for each in operation["parameters"]:
                need = "" if not each["required"] else " (needed)"
                parts.append(
                    f"<li><code>{html.escape(each['name'])}</code>{need}: "
                    f"{html.escape(each['description'])}</li>"
                )
            for status, answer in operation["responses"].items():
                parts.append(f"<li>{status}: {html.escape(answer['description'])}</li>")
            parts.append("</ul>")
    parts.append(
        "<h2><code>WS /audio?sent_id=I</code></h2><p>Send <code>{&quot;get&quot;: 200}</code> and "
        "receive 16-bit samples, send <code>{&quot;send&quot;: &quot;words&quot;}</code>.</p>"
    )
    return "".join(parts)

# SPDX-License-Identifier: Apache-2.0
"""An application from routes, with what all our servers have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from assay.web.access import Access
from assay.web.errors import PAGE_HEADERS, HttpError, wants_page

if TYPE_CHECKING:
    from starlette.exceptions import HTTPException
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute
    from starlette.types import ASGIApp

    from assay.web.plain import Quick

BODY_LIMIT = 1024 * 1024
BODY_SECONDS = 30.0


def application(
    routes: Sequence[BaseRoute],
    *,
    access: Access | None = None,
    body_limit: int = BODY_LIMIT,
    body_seconds: float = BODY_SECONDS,
    quick: Mapping[tuple[str, str], Quick] | None = None,
) -> ASGIApp:
    """An ASGI application that answers every error as JSON `{"error": ...}`, to a person as a page.

    Handlers raise `HttpError`; an unknown path is 404, a wrong method 405 with `Allow`. Without
    `access` everyone may call it: that is for tests in the same process. `quick` are handlers by
    method and path that are asked before any route is looked for, where requests are many and
    small, and must not wait; each has a route too, for other methods to be told.
    """
    from starlette.applications import Starlette
    from starlette.exceptions import HTTPException

    from assay.web.guard import Guard

    app = Starlette(
        routes=list(routes),
        exception_handlers={
            HttpError: _http_error,  # type: ignore[dict-item]
            HTTPException: _starlette_error,  # type: ignore[dict-item]
            Exception: _left_to_the_guard,
        },
    )
    # "/src/" is not "/src": a redirect would turn a PUT into a second request.
    app.router.redirect_slashes = False
    return Guard(
        app,
        access=access or Access(),
        body_limit=body_limit,
        body_seconds=body_seconds,
        quick=quick or {},
    )


def _response(request: Request, error: HttpError) -> Response:
    from starlette.responses import Response

    as_page = wants_page(request.method, dict(request.scope["headers"]))
    return Response(
        error.page() if as_page else error.body(),
        status_code=error.status,
        headers={**error.headers, **(PAGE_HEADERS if as_page else {})},
        media_type="text/html" if as_page else "application/json",
    )


async def _http_error(request: Request, error: HttpError) -> Response:
    return _response(request, error)


async def _starlette_error(request: Request, error: HTTPException) -> Response:
    message = {
        404: f"there is nothing at {request.scope['path']}",
        405: f"{request.method} is not possible at {request.scope['path']}",
    }.get(error.status_code, error.detail)
    return _response(
        request, HttpError(error.status_code, message, headers=dict(error.headers or {}))
    )


async def _left_to_the_guard(request: Request, error: Exception) -> Response:
    """Starlette would answer, raise again all the same, and so cost the client its connection."""
    raise error

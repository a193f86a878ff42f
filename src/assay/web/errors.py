# SPDX-License-Identifier: Apache-2.0
"""Errors as an HTTP client sees them: a status and a JSON object that says what to do."""

from __future__ import annotations

import json
from typing import Any


class HttpError(Exception):
    """An answer other than success: `raise HttpError(404, "no sentence 7; ids run from 0 to 6")`.

    `details` become further fields of the JSON object beside `error`.
    """

    def __init__(
        self,
        status: int,
        message: str,
        *,
        headers: dict[str, str] | None = None,
        **details: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
        self.details = details

    def body(self) -> bytes:
        """The JSON object of the answer.

        >>> HttpError(409, "not ready", missing=[1, 2]).body()
        b'{"error": "not ready", "missing": [1, 2]}'
        """
        return json.dumps({"error": self.message, **self.details}).encode()

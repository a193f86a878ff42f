# SPDX-License-Identifier: Apache-2.0
"""Documents as JSON, and the JSON Schemas that describe them."""

from __future__ import annotations

import json
import re
from importlib.resources import files
from typing import Any, Protocol

from assay.core.names import unknown

SCHEMAS = (
    *("result-1", "results-1", "comparison-1", "diff-1", "gate-1", "leaderboard-1"),
    *("agreement-1", "estimate-1", "errors-1"),
)

# JSON lets pass what a terminal obeys and what UTF-8 cannot hold: control characters beyond ASCII,
# those that reorder a line, and halves of a pair. They can stand in strings only.
_UNSAFE = re.compile("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_NAMED = "urn:assay:schema:"
_BUILDS_ON = {
    "comparison-1": ("result-1",),
    "diff-1": ("result-1",),
    "gate-1": ("comparison-1",),
    "leaderboard-1": ("result-1",),
    "results-1": ("result-1",),
}


class Document(Protocol):
    """Anything that can give itself as plain data."""

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, undefined as None."""


def to_json(document: Document) -> str:
    """One JSON document: full precision, null for undefined, keys always in the same order.

    Numbers are written with as many digits as it takes to read the same bits back.
    """
    # Options may hold paths; they are for people to read and have no other form in JSON.
    text = json.dumps(
        document.as_dict(), ensure_ascii=False, indent=2, allow_nan=False, default=str
    )
    return _UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text) + "\n"


def schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of a kind of document, complete in itself.

    The files in `schema/` refer to one another by name; here a schema holds those it refers to.

    >>> schema("result-1")["title"]
    'Assay result'
    """
    if name not in SCHEMAS:
        raise unknown("schema", name, SCHEMAS)
    text = files("assay.report").joinpath("schema", f"{name}.json").read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text)
    for other in _BUILDS_ON.get(name, ()):
        held = schema(other)
        inner = held["$defs"]
        # A schema that is held is found by its name wherever it stands; one level is enough.
        below = {key: inner.pop(key) for key in list(inner) if key.startswith(_NAMED)}
        found["$defs"].update({held["$id"]: held, **below})
    return found

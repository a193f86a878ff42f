# SPDX-License-Identifier: Apache-2.0
"""What is wrong with text that is not JSON, and where.

The quick decoder says only that it failed. The one of the standard library is asked a second time,
because it knows the place; it is laxer than JSON, so what it lets pass is looked at here.
"""

from __future__ import annotations

import json
import re

import msgspec
import numpy as np

from assay.core.errors import InputError
from assay.core.text import Texts
from assay.read import utf8

# A string, or one of the words that Python and JavaScript write for numbers that JSON lacks.
_WORDS = re.compile(r'"(?:[^"\\]|\\.)*"|(-?\b(?:NaN|nan|Infinity|inf)\b)')
_HALF = re.compile(r"[\ud800-\udfff]")
_HALF_ESCAPED = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}")


def malformed(data: bytes, name: str, example: str, line: int = 1) -> InputError:
    r"""The error for bytes that were refused as JSON, the first of them on line `line`.

    >>> str(malformed(b'{"id": NaN}', "gold.jsonl", "one object per line"))
    'gold.jsonl, line 1, column 8: NaN is not JSON; write null, or a number'
    >>> str(malformed(b'{\n"id": "\xe4"}', "gold.json", "an object")).partition(";")[0]
    'gold.json, line 2, column 8: byte 0xE4 is not UTF-8'
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        return _misencoded(data, name, line)
    at, why, hint = _diagnosed(text, example)
    before = text[:at]
    return InputError(
        why,
        path=name,
        line=line + before.count("\n"),
        column=at - (before.rfind("\n") + 1) + 1,
        hint=hint,
    )


def _misencoded(data: bytes, name: str, line: int) -> InputError:
    """The error for bytes that are not UTF-8."""
    breaks = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
    lines = Texts(data, np.append(0, breaks + 1), np.append(breaks, len(data)))
    try:
        utf8.check(lines, name, line)
    except InputError as error:
        return error
    raise AssertionError("bytes that cannot be decoded are found")


def _diagnosed(text: str, example: str) -> tuple[int, str, str]:
    """Where in the text, what is wrong, and what to do."""
    word = next((found for found in _WORDS.finditer(text) if found[1]), None)
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        if word is not None and word.start() <= error.pos:
            return word.start(), f"{word[0]} is not JSON", "write null, or a number"
        return error.pos, *_explained(text, error, example)
    except RecursionError:
        return 0, "lists or objects nested too deeply", f"write {example}"
    if word is not None:
        return word.start(), f"{word[0]} is not JSON", "write null, or a number"
    if _HALF.search(json.dumps(value, ensure_ascii=False)):
        half = _HALF_ESCAPED.search(text)
        return (
            half.start() if half else 0,
            "half of a surrogate pair, which is no character",
            "write the character itself in UTF-8, or both halves",
        )
    return 0, *_decoded(text, example)


def _decoded(text: str, example: str) -> tuple[str, str]:
    """What is wrong with text that is JSON for Python: a number, or the kind of value it is.

    >>> _decoded('["ls"]', '{"id": "1"}')
    ('a list where an object must be', 'write {"id": "1"}')
    """
    try:
        value = msgspec.json.decode(text)
    except msgspec.DecodeError:
        return "a number out of range", "write it as a string"
    if isinstance(value, dict):
        return "an object with other fields than wanted", f"write {example}"
    kind = {list: "a list", str: "a string", type(None): "null"}.get(type(value), "a lone value")
    return f"{kind} where an object must be", f"write {example}"


def _explained(text: str, error: json.JSONDecodeError, example: str) -> tuple[str, str]:
    rest = text[error.pos :]
    if not rest.strip() or error.msg.startswith("Unterminated string"):
        if text.strip() in ("{", "["):
            return "not JSON: it breaks off", "an object must not be spread over several lines"
        return "not JSON: it breaks off", f"write {example}"
    if rest.startswith("'"):
        return "not JSON: strings need double quotes", f"write {example}"
    if error.msg == "Extra data":
        return "not JSON: something follows the end of the value", f"write {example}"
    if error.msg.startswith("Invalid control character"):
        return (
            f"not JSON: the control character U+{ord(rest[0]):04X} inside a string",
            f"write it as \\u{ord(rest[0]):04x}",
        )
    return f"not JSON: {error.msg[0].lower()}{error.msg[1:]}", f"write {example}"

# SPDX-License-Identifier: Apache-2.0
"""Prediction files: JSON arrays or JSONL of conversation turns, read without holding the file.

An array of any layout is cut into blocks at a `}, {`. Whether a cut is at the top level is not
guessed: the block up to it decodes as an array exactly if it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.read.source import Role, Source, sources
from assay.read.stream import pieces

BLOCK_BYTES = 1 << 19
"""Bytes read and decoded at once: what becomes of them should fit into the processor's cache."""

_CUT = re.compile(rb"\}\s*,\s*\{")
_AT = re.compile(r"`?\$\[(\d+)\](?:\.([\w]+))?")
_BYTE = re.compile(r"\(byte (\d+)\)")
_TRIES = 8
_SHOWN = 20  # bytes of a file in a message
_NEAR = 1 << 12  # bytes before the end in which a cut is looked for first


class Record(msgspec.Struct, gc=False):
    """One turn: the user's question, what is right, and the predicted query (`actions`).

    `predicted_answers` are the answers of the predicted query where they were obtained elsewhere:
    a list, true or false, or null where there are none. `question` is shown to people who judge;
    anything but text is passed over there.
    """

    question_type: str | list[str]
    description: str
    answer: str | int | float | None
    actions: str | None
    results: list[str]
    sparql_delex: str | None = None
    turn: str | None = msgspec.field(default=None, name="turnID")
    predicted_answers: list[str] | bool | msgspec.UnsetType | None = msgspec.UNSET
    question: Any = None

    @property
    def asked(self) -> str | None:
        """The question in words, if there is one."""
        return self.question if isinstance(self.question, str) else None


def read_records(source: Any, intake: Intake, role: Role = "predictions") -> Iterator[list[Record]]:
    """Blocks of records of all files, in the order of their names.

    >>> turn = {"question_type": "Clarification", "description": "", "answer": "", "results": []}
    >>> (block,) = read_records([{**turn, "actions": "ASK {}"}], Intake())
    >>> block[0].actions
    'ASK {}'
    """
    found = sources(source, role, intake)
    if found is None:
        return _from_memory(source, role)
    return _from_files(found, role, intake)


def _from_memory(source: Any, role: Role) -> Iterator[list[Record]]:
    try:
        yield msgspec.convert(list(source), list[Record])
    except msgspec.ValidationError as error:
        raise _explained(error, role, 0) from None


def _from_files(found: list[Source], role: Role, intake: Intake) -> Iterator[list[Record]]:
    for item in found:
        stream = pieces(item, role, intake, lone=len(found) == 1, size=BLOCK_BYTES)
        yield from _file(stream, item.name)


def _file(stream: Iterator[bytes], name: str) -> Iterator[list[Record]]:
    head = b""
    for piece in stream:
        head += piece
        if head.lstrip():
            break
    start = head.lstrip()
    if start[:1] == b"[":
        yield from _array(start[1:], stream, name)
    elif start[:1] == b"{" and (_is_lines(name) or _looks_like_lines(start)):
        yield from _lines(head, stream, name)
    elif start[:1] == b"{" and b'"questions"' in start:
        raise InputError(
            "this looks like QALD, which is scored against a gold file",
            path=name,
            hint="give it with --gold FILE",
        )
    elif start:
        what = "a single JSON object" if start[:1] == b"{" else "not JSON"
        raise InputError(
            f"this is {what}, not an array of records",
            path=name,
            hint="a prediction file is [{...}, {...}], or one record per line (.jsonl)",
        )


def _is_lines(name: str) -> bool:
    plain = name.lower().removesuffix(".gz").removesuffix(".zst")
    return plain.endswith((".jsonl", ".ndjson"))


def _looks_like_lines(start: bytes) -> bool:
    """Whether a text is lines of records, of which this is the beginning, whatever its name is."""
    line, _, rest = start.partition(b"\n")
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        _record_decoder.decode(line)
        return rest.lstrip()[:1] == b"{"
    return False


_array_decoder = msgspec.json.Decoder(list[Record])
_record_decoder = msgspec.json.Decoder(Record)


def _array(rest: bytes, stream: Iterator[bytes], name: str) -> Iterator[list[Record]]:
    """The blocks of an array whose opening bracket has been read."""
    held = bytearray(b"[" + rest)
    done, wanted = 0, BLOCK_BYTES
    for piece in stream:
        held += piece
        del piece
        while len(held) >= wanted:
            block = _cut_off(held)
            if block is None:
                wanted = 2 * len(held)
                break
            wanted = BLOCK_BYTES
            done += len(block)
            yield block
            del block  # its memory is what the next one is made in
    block = _decoded(held, name, done)
    if block:
        yield block


def _cut_off(held: bytearray) -> list[Record] | None:
    """Take off the records up to the last top-level cut that can be found.

    The comma at the cut becomes the bracket that closes one array, then the one that opens the
    next, so that nothing is copied.
    """
    cuts = list(_CUT.finditer(held, max(0, len(held) - _NEAR))) or list(_CUT.finditer(held))
    cuts = cuts[-_TRIES:]
    commas = [held.index(b",", cut.start()) for cut in reversed(cuts)]
    del cuts  # a match holds on to the buffer, which could not shrink then
    for comma in commas:
        held[comma] = ord("]")
        try:
            with memoryview(held)[: comma + 1] as part:
                block = _array_decoder.decode(part)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            held[comma] = ord(",")  # inside a record, or the block is wrong: the last decode says
            continue
        held[comma] = ord("[")
        del held[:comma]
        return block
    return None


def _decoded(data: bytearray, name: str, done: int) -> list[Record]:
    try:
        return _array_decoder.decode(data)
    except msgspec.DecodeError as error:
        raise _explained(error, name, done, data) from None
    except UnicodeDecodeError as error:
        after = f" after record {done:,}" if done else ""
        raise _not_utf8(error, name, after) from None
    except RecursionError:
        raise _too_deep(name) from None


def _not_utf8(
    error: UnicodeDecodeError, name: str, place: str, line: int | None = None
) -> InputError:
    byte = error.object[error.start]
    return InputError(
        f"not UTF-8 (byte 0x{byte:02x}{place})",
        path=name,
        line=line,
        hint=f"convert it: iconv -f LATIN1 -t UTF-8 {name}",
    )


def _too_deep(name: str, line: int | None = None) -> InputError:
    return InputError(
        "lists or objects nested too deeply", path=name, line=line, hint="write flat records"
    )


def _lines(rest: bytes, stream: Iterator[bytes], name: str) -> Iterator[list[Record]]:
    done = 0
    for piece in _whole_lines(rest, stream):
        block: list[Record] = []
        for line in piece.split(b"\n"):
            done += 1
            if not line.strip():
                continue
            try:
                block.append(_record_decoder.decode(line))
            except msgspec.DecodeError as error:
                raise InputError(
                    _reason(error, line), path=name, line=done, hint="each line is one record"
                ) from None
            except UnicodeDecodeError as error:
                raise _not_utf8(error, name, "", done) from None
            except RecursionError:
                raise _too_deep(name, done) from None
        if block:
            yield block


def _whole_lines(rest: bytes, stream: Iterator[bytes]) -> Iterator[bytes]:
    for piece in stream:
        rest += piece
        end = rest.rfind(b"\n")
        if end >= 0:
            yield rest[:end]
            rest = rest[end + 1 :]
    if rest:
        yield rest


def _explained(
    error: msgspec.DecodeError, name: str, done: int, data: bytearray | None = None
) -> InputError:
    """The error with the record it is in, counted from 1 in its file."""
    place = _AT.search(str(error))
    if place is None:
        done += _whole_records(data, error) if data is not None else 0
        where = f"after record {done:,}" if done else "record 1"
        return InputError(
            f"{where}: {_reason(error, data or b'')}",
            path=name,
            hint="a prediction file is [{...}, {...}]",
        )
    number = done + int(place[1]) + 1
    return InputError(
        f"record {number:,}: {_reason(error)}",
        path=name,
        hint="a record has question_type, description, answer, actions and results",
    )


def _whole_records(data: bytearray, error: msgspec.DecodeError) -> int:
    """How many records there are before the place where JSON ends."""
    at = _BYTE.search(str(error))
    cuts = list(_CUT.finditer(data, 0, int(at[1]) if at is not None else len(data)))
    for cut in reversed(cuts[-_TRIES:]):
        with suppress(msgspec.DecodeError):
            return len(_array_decoder.decode(data[: cut.start() + 1] + b"]"))
    return 0


def _reason(error: msgspec.DecodeError, data: bytes | bytearray = b"") -> str:
    text = str(error)
    if text == "Input data was truncated":
        return "the file breaks off"
    key = re.search(r"missing required field `(\w+)`", text)
    if key is not None:
        return f"the key '{key[1]}' is missing"
    byte = _BYTE.search(text)
    if byte is not None:  # counted from where the last block ended, which says nothing to anybody
        rest = data[int(byte[1]) :][:_SHOWN].decode("utf-8", "replace")
        for word in ("NaN", "Infinity"):
            if rest.startswith(word):
                return f'{word} is not JSON; write null or "nan"'
        return f"{text[: byte.start()].rstrip()} at {rest!r}"
    place = re.search(r"\$(?:\[\d+\])?\.(\w+)", text)
    what = text.partition(" - at ")[0]
    return f"'{place[1]}': {what}" if place is not None else what

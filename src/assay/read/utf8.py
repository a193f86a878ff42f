# SPDX-License-Identifier: Apache-2.0
"""UTF-8, strictly: where a byte is wrong, and what it probably is."""

from __future__ import annotations

import re

import numpy as np

from assay.core.errors import InputError
from assay.core.text import Texts
from assay.read.source import conversion

_HOLE = b"\0" * 16


def check(texts: Texts, name: str, line: int, *, last: bool = False) -> None:
    """Raise InputError if the buffer of `texts`, beginning with line `line`, is not UTF-8 text.

    `last` says that the file ends here, so that a character cut in two can be named as such.
    """
    data = texts.data
    if b"\0" in data:
        _check_holes(texts, name, line)
    if data.isascii():
        return
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad_byte(texts, error, name, line, last) from None


def check_piece(piece: bytes, name: str, line: int) -> None:
    """Raise InputError for a line that goes on and on and is no text: a device, a disk image."""
    if _HOLE in piece:
        raise _hole(name, line)


def _hole(name: str, line: int) -> InputError:
    return InputError(
        "a run of NUL bytes: not a text file, or a damaged one",
        path=name,
        line=line,
        hint="check the step that wrote it",
    )


def _row(texts: Texts, at: int) -> int:
    """Which of the texts byte `at` belongs to."""
    return int(np.searchsorted(texts.starts, at, side="right")) - 1


def _check_holes(texts: Texts, name: str, line: int) -> None:
    # One NUL is a character like another; rows of them are a binary file, or one that a crash of
    # the machine left behind. Every second byte NUL is UTF-16 without a mark.
    head = texts.data[:512]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if max(even, odd) * 3 > len(head) and min(even, odd) * 10 <= max(even, odd):
        order = "UTF-16LE" if odd > even else "UTF-16BE"
        raise InputError(
            "every second byte is NUL: this looks like UTF-16, not UTF-8",
            path=name,
            line=line,
            hint=conversion(order, name),
        )
    hole = texts.data.find(_HOLE)
    if hole >= 0:
        raise _hole(name, line + _row(texts, hole))


def _bad_byte(
    texts: Texts, error: UnicodeDecodeError, name: str, line: int, last: bool
) -> InputError:
    data, at = texts.data, error.start
    row = _row(texts, at)
    start, end = int(texts.starts[row]), int(texts.ends[row])
    column = len(data[start:at].decode("utf-8")) + 1
    if last and row == len(texts) - 1 and at + _wants(data[at]) > end == error.end:
        return InputError(
            "the file ends in the middle of a character",
            path=name,
            line=line + row,
            column=column,
            hint="it may be cut off: copy or write it again",
        )
    return InputError(
        f"byte 0x{data[at]:02X} is not UTF-8",
        path=name,
        line=line + row,
        column=column,
        hint=_guess(data[start:end], at - start, name),
    )


def _wants(first: int) -> int:
    """How many bytes the character takes that begins with this one."""
    return 4 if first >= 0xF0 else 3 if first >= 0xE0 else 2 if first >= 0xC2 else 1


def _guess(line: bytes, at: int, name: str) -> str:
    """What the line may be encoded in."""
    if re.match(rb"\xed[\xa0-\xbf][\x80-\xbf]", line[at : at + 3]):
        return "half of a surrogate pair, as Java and some databases write it: write it as UTF-8"
    high = [byte for byte in line if byte >= 0x80]
    if all(byte >= 0xA0 for byte in high):
        encoding, label = "iso-8859-1", "ISO-8859-1"
    else:
        encoding, label = "cp1252", "WINDOWS-1252"
    shown = line[at : at + 1].decode(encoding, "replace")
    if len(high) * 2 > len(line) or not shown.isprintable() or shown == "\ufffd":
        return f"find out its encoding and {conversion('ENCODING', name)}"
    return f"if it is {label} ('{shown}'), {conversion(label, name)}"

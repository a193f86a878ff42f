# SPDX-License-Identifier: Apache-2.0
"""Plain lines: one record per line, as columns over the bytes that were read."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import BLOCK
from assay.core.document import Intake
from assay.core.errors import UsageError
from assay.core.places import places
from assay.core.records import Records
from assay.core.text import Positions, TextLists, Texts
from assay.read import utf8
from assay.read.source import Breaks, Role, Source, sources
from assay.read.stream import READ, pieces

LIMIT = 16 << 20
"""Bytes after which a block ends even if it has fewer lines than BLOCK: long lines need room."""

# Bytes that str.splitlines breaks at, besides those that UTF-8 writes as two or three bytes.
_SINGLE = np.zeros(256, dtype=np.bool_)
_SINGLE[[0x0A, 0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E]] = True
_RARE = (0x0B, 0x0C, 0x0D, 0x1C, 0x1D, 0x1E)


class LineBlock(NamedTuple):
    """Some lines of a file; `first` is the number of lines before them."""

    texts: Texts
    first: int


def lines(source: Any, role: Role, intake: Intake, breaks: Breaks = "lf") -> Iterator[Records]:
    """The lines of one or several files as records without ids.

    With `breaks="lf"` a line ends at a line feed, and one carriage return before it is dropped with
    a remark; with `breaks="any"` without one.
    With `breaks="unicode"` it ends wherever `str.splitlines` says so. A last line without a break
    is a line.
    """
    found = sources(source, role, intake)
    if found is None:
        raise UsageError(f"{role} are records in memory; lines are read from files")
    return of_files(found, role, intake, breaks)


def open_text(source: Any, *, role: Role, intake: Intake, breaks: Breaks = "lf") -> Iterator[Texts]:
    r"""The lines of one or several files as columns of text.

    >>> import io
    >>> [list(t) for t in open_text(io.BytesIO(b"a\nb"), role="gold", intake=Intake())]
    [['a', 'b']]
    """
    return (records.values.values for records in lines(source, role, intake, breaks))  # type: ignore[attr-defined]  # always TextLists here


def of_files(
    found: list[Source],
    role: Role,
    intake: Intake,
    breaks: Breaks,
    *,
    lone: bool | None = None,
    keep_mark: bool = False,
) -> Iterator[Records]:
    """The lines of some files, one file after the other."""
    lone = len(found) == 1 if lone is None else lone
    for source in found:
        stream = pieces(source, role, intake, lone=lone, keep_mark=keep_mark)
        for texts, first in blocks_of(stream, source.name, intake, breaks=breaks):
            yield Records(TextLists.single(texts), path=source.name, first=first)


def line_blocks(
    source: Source,
    role: Role,
    intake: Intake,
    *,
    breaks: Breaks = "lf",
    lone: bool = True,
    size: int = READ,
    block: int = BLOCK,
    limit: int = LIMIT,
) -> Iterator[LineBlock]:
    """The lines of one file, `block` at a time."""
    stream = pieces(source, role, intake, lone=lone, size=size)
    return blocks_of(stream, source.name, intake, breaks=breaks, block=block, limit=limit)


def blocks_of(
    stream: Iterable[bytes],
    name: str,
    intake: Intake,
    *,
    breaks: Breaks = "lf",
    block: int = BLOCK,
    limit: int = LIMIT,
) -> Iterator[LineBlock]:
    """The lines of a stream of bytes, `block` at a time, each block with a buffer of its own.

    The buffer has the layout of `Texts.of` where lines end in line feeds, so that kernels take it
    as it is. Bytes are looked at a constant number of times, however long a line is.
    """
    cutter = _Cutter(name, intake, breaks, block)
    held: list[bytes] = []
    n_breaks = n_bytes = 0
    for piece in stream:
        held.append(piece)
        n_bytes += len(piece)
        n_breaks += int(np.count_nonzero(np.frombuffer(piece, dtype=np.uint8) == 10))
        if n_bytes >= limit and not n_breaks:
            cutter.check_open(piece)
        if n_breaks >= block or (n_breaks and n_bytes >= limit):
            data = b"".join(held)
            whole = data.rfind(b"\n") + 1
            rest = yield from cutter.cut(data[:whole], keep=n_bytes < limit)
            held = [rest, data[whole:]]
            n_bytes = sum(map(len, held))
            n_breaks = int(np.count_nonzero(np.frombuffer(rest, dtype=np.uint8) == 10))
    if data := b"".join(held):
        cut_off = not data.endswith(b"\n")
        yield from cutter.cut(cutter.closed(data), keep=False, last=cut_off)


class _Cutter:
    """Cuts bytes into blocks of lines and counts the lines."""

    def __init__(self, name: str, intake: Intake, breaks: Breaks, block: int) -> None:
        self._name = name
        self._intake = intake
        self._breaks = breaks
        self._block = block
        self._first = 0
        self._noted = False

    def check_open(self, piece: bytes) -> None:
        """Look at a piece of a line whose end has not been seen for long."""
        utf8.check_piece(piece, self._name, self._first + 1)

    def closed(self, data: bytes) -> bytes:
        """The end of a file, with a break after the last line."""
        if self._breaks == "unicode":
            ends, nexts = unicode_breaks(data)
            return data if len(ends) and nexts[-1] == len(data) else data + b"\n"
        if data.endswith(b"\n"):
            return data
        if data.endswith(b"\r"):
            self._note_returns()
            data = data[:-1]
        return data + b"\n"

    def cut(
        self, data: bytes, *, keep: bool, last: bool = False
    ) -> Generator[LineBlock, None, bytes]:
        """Yield full blocks of `data`; return the lines left over if `keep`, else yield them."""
        if self._breaks == "unicode":
            ends, nexts = unicode_breaks(data)
        else:
            if b"\r\n" in data:
                self._note_returns()
                data = data.replace(b"\r\n", b"\n")
            ends = places(np.frombuffer(data, dtype=np.uint8) == 10)
            nexts = ends + 1
        n_cut = len(ends) - len(ends) % self._block if keep else len(ends)
        at = 0
        for start in range(0, n_cut, self._block):
            stop = min(start + self._block, n_cut)
            after = int(nexts[stop - 1])
            own = data[at:after] if after - at < len(data) else data
            starts = np.zeros(stop - start, dtype=np.int64)
            np.subtract(nexts[start : stop - 1], at, out=starts[1:])
            texts = Texts(own, starts, ends[start:stop] - at)
            utf8.check(texts, self._name, self._first + 1, last=last and stop == n_cut)
            yield LineBlock(texts, self._first)
            self._first += stop - start
            at = after
        return data[at:]

    def _note_returns(self) -> None:
        if not self._noted and self._breaks == "lf":
            self._noted = True
            self._intake.warnings.append(
                f"{self._name}: lines end in CR LF; the carriage returns were dropped"
            )


def unicode_breaks(data: bytes) -> tuple[Positions, Positions]:
    r"""Where lines end in the sense of `str.splitlines`, and where the next ones begin.

    >>> ends, nexts = unicode_breaks("a\u2028b\r\nc\x0bd".encode())
    >>> ends.tolist(), nexts.tolist()
    ([1, 5, 8], [4, 7, 9])
    """
    view = np.frombuffer(data, dtype=np.uint8)
    # Most files have line feeds only, and a search for a byte is far quicker than a table.
    feeds = view == 10
    controls = int(np.count_nonzero(view < 0x20))
    plain = controls == int(np.count_nonzero(feeds)) or not any(byte in data for byte in _RARE)
    ends = places(feeds if plain else _SINGLE[view])
    widths = np.ones(len(ends), dtype=np.int64)
    if len(ends) > 1 and not plain:
        # A carriage return and the line feed after it are one break.
        pair = (view[ends[:-1]] == 13) & (view[ends[1:]] == 10) & (np.diff(ends) == 1)
        widths[:-1] += pair
        keep = np.append(True, ~pair)
        ends, widths = ends[keep], widths[keep]
    if not data.isascii():
        found = [ends]
        sizes = [widths]
        for mark in (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9"):
            marks = _places(view, mark)
            found.append(marks)
            sizes.append(np.full(len(marks), len(mark), dtype=np.int64))
        ends, widths = np.concatenate(found), np.concatenate(sizes)
        order = np.argsort(ends, kind="stable")
        ends, widths = ends[order], widths[order]
    return ends, ends + widths


def _places(view: NDArray[np.uint8], mark: bytes) -> Positions:
    """Where `mark` begins; it cannot overlap itself."""
    n = len(view) - len(mark) + 1
    if n <= 0:
        return np.zeros(0, dtype=np.int64)
    hit = view[:n] == mark[0]
    for offset, byte in enumerate(mark[1:], 1):
        hit &= view[offset : offset + n] == byte
    return np.flatnonzero(hit)

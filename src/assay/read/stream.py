# SPDX-License-Identifier: Apache-2.0
"""Bytes of a file: unpacked, without byte order mark, with a digest taken on the way."""

from __future__ import annotations

import select
import zlib
from collections.abc import Callable, Generator, Iterator
from itertools import chain
from typing import Any

from assay.core.document import InputFile, Intake
from assay.core.errors import InputError
from assay.read.digest import Digest, digest_for
from assay.read.source import Role, Source, conversion

READ = 1 << 20
"""Bytes asked for at a time."""

_HEAD = 16  # more than the longest magic number

_ZSTD_READ = 1 << 16  # what lies behind the end of a frame is copied, so pieces are not too big
_ZSTD_STEP = 256  # zstd has no limit on what one call gives back: 4 bytes can stand for 128 kB

_FOREIGN = (
    (b"PK\x03\x04", "a zip archive", "unpack it first (unzip), or use gzip or zstd"),
    (b"\xfd7zXZ\x00", "packed with xz", "unpack it first (xz -d), or use gzip or zstd"),
    (b"BZh", "packed with bzip2", "unpack it first (bzip2 -d), or use gzip or zstd"),
    (b"\x89PNG", "an image", "name a text file"),
    (b"%PDF-", "a PDF", "name a text file"),
    (b"\x93NUMPY", "a numpy array", "name a text file"),
    (b"PAR1", "a Parquet file", "let its name end in .parquet, or use --input-format parquet"),
    (b"SQLite format 3\x00", "an SQLite database", "name a text file"),
)


def pieces(
    source: Source,
    role: Role,
    intake: Intake,
    *,
    lone: bool = True,
    size: int = READ,
    keep_mark: bool = False,
) -> Iterator[bytes]:
    """The bytes of a file in pieces of at most about `size`, gzip and zstd unpacked.

    What the file holds decides, not its name: neither magic number can begin UTF-8 text. The digest
    of the bytes on disk is added to `intake.inputs` when the end is reached. `lone` says that an
    empty file is an error; an empty shard among others is only noted. `keep_mark` leaves a byte
    order mark where it is.
    """
    digest = digest_for(intake)
    raw = raw_pieces(source, digest, size)
    head = b""
    for piece in raw:  # a pipe of somebody else's may give a byte at a time
        head += piece
        if len(head) >= _HEAD:
            break
    unpacked = _unpacked(chain([head] if head else [], raw), head, source, intake, size)
    empty = True
    for piece in _text_start(unpacked, source, intake, keep_mark):
        empty = False
        yield piece
    if empty:
        if lone:
            raise InputError(
                "the file is empty", path=source.name, hint="check the step that wrote it"
            )
        intake.warnings.append(f"{source.name}: the file is empty")
    intake.inputs.append(InputFile(role, source.path, digest.hexdigest()))


def raw_pieces(source: Source, digest: Digest, size: int) -> Generator[bytes]:
    """The bytes of a file as they lie on disk, each also given to `digest`."""
    try:
        file = source.open()
        try:
            while piece := _next_piece(file, size):
                digest.update(piece)
                yield piece
        finally:
            file.close()
    except PermissionError:
        raise InputError(
            "no permission to read it", path=source.name, hint="check its owner and mode (ls -l)"
        ) from None
    except OSError as error:
        raise InputError(
            f"reading failed ({error.strerror or error})",
            path=source.name,
            hint="check the disk or the program that writes to the pipe",
        ) from error


def _next_piece(file: Any, size: int) -> bytes:
    """Some bytes, as soon as there are any; none at the end."""
    while (piece := file.read(size)) is None:  # a pipe that does not wait, and is empty just now
        select.select([file], [], [])
    return bytes(piece)


def _unpacked(
    raw: Iterator[bytes], head: bytes, source: Source, intake: Intake, size: int
) -> Iterator[bytes]:
    name = source.name.lower()
    if head[:2] == b"\x1f\x8b":
        return _inflated(raw, source, "gzip", lambda: _Gzip(size))
    if head[:4] == b"\x28\xb5\x2f\xfd" or (
        name.endswith(".zst") and head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5
    ):
        return _inflated(_small(raw), source, "zstd", lambda: _Zstd(size))
    for magic, what, hint in _FOREIGN:
        if head.startswith(magic) and not (magic == b"BZh" and head[4:10] != b"1AY&SY"):
            raise InputError(f"this is {what}, not text", path=source.name, hint=hint)
    if head and name.endswith((".gz", ".zst")):
        intake.warnings.append(f"{source.name}: not packed, in spite of its name; read as it is")
    return raw


def _small(raw: Iterator[bytes]) -> Iterator[bytes]:
    for piece in raw:
        for start in range(0, len(piece), _ZSTD_READ):
            yield piece[start : start + _ZSTD_READ]


class _Gzip:
    """One gzip member, giving back at most `size` bytes a time."""

    def __init__(self, size: int) -> None:
        self._unpacker = zlib.decompressobj(wbits=31)
        self._size = size

    def unpack(self, data: bytes) -> Iterator[bytes]:
        while True:
            found = self._unpacker.decompress(data, self._size)
            data = self._unpacker.unconsumed_tail
            if found:
                yield found
            if not data and len(found) < self._size:
                return

    @property
    def eof(self) -> bool:
        return self._unpacker.eof

    @property
    def rest(self) -> bytes:
        return self._unpacker.unused_data


class _Zstd:
    """One zstd frame, giving back little more than `size` bytes a time."""

    def __init__(self, size: int) -> None:
        import zstandard

        self._unpacker = zstandard.ZstdDecompressor(max_window_size=1 << 31).decompressobj()
        self._size = size
        self._behind = b""

    def unpack(self, data: bytes) -> Iterator[bytes]:
        view = memoryview(data)
        held: list[bytes] = []
        n_held = 0
        for start in range(0, len(data), _ZSTD_STEP):
            found = self._unpacker.decompress(view[start : start + _ZSTD_STEP])
            if found:
                held.append(found)
                n_held += len(found)
            if n_held >= self._size:
                yield b"".join(held)
                held, n_held = [], 0
            if self._unpacker.eof:
                self._behind = bytes(view[start + _ZSTD_STEP :])
                break
        if held:
            yield b"".join(held)

    @property
    def eof(self) -> bool:
        return bool(self._unpacker.eof)

    @property
    def rest(self) -> bytes:
        return bytes(self._unpacker.unused_data) + self._behind


def _inflated(
    raw: Iterator[bytes], source: Source, kind: str, new: Callable[[], _Gzip | _Zstd]
) -> Iterator[bytes]:
    """All members or frames of a packed file, one after the other."""
    errors: tuple[type[Exception], ...] = (zlib.error,)
    if kind == "zstd":
        import zstandard

        errors = (zstandard.ZstdError,)
    unpacker = None
    for piece in raw:
        data = piece
        while data:
            if unpacker is None:
                data = data.lstrip(b"\0")  # padding between members, as tape archives leave it
                if not data:
                    break
                unpacker = new()
            try:
                yield from unpacker.unpack(data)
            except errors as error:
                raise InputError(
                    f"the {kind} archive is damaged ({error})",
                    path=source.name,
                    hint="copy or download it again",
                ) from None
            data = unpacker.rest if unpacker.eof else b""
            if unpacker.eof:
                unpacker = None
    if unpacker is not None:
        raise InputError(
            f"the {kind} archive is cut off",
            path=source.name,
            hint="copy or download it again",
        )


def _text_start(
    unpacked: Iterator[bytes], source: Source, intake: Intake, keep_mark: bool
) -> Iterator[bytes]:
    """Leave out a byte order mark, and refuse what another encoding's mark announces."""
    start = b""
    for piece in unpacked:  # the mark may be spread over pieces
        start += piece
        if len(start) >= 4:
            break
    wide = None
    if start[:4] in (b"\xff\xfe\0\0", b"\0\0\xfe\xff"):
        wide = "UTF-32"
    elif start[:2] in (b"\xff\xfe", b"\xfe\xff"):
        wide = "UTF-16"
    if wide is not None:
        raise InputError(
            f"this is {wide}, not UTF-8",
            path=source.name,
            hint=conversion(wide, source.name),
        )
    if start.startswith(b"\xef\xbb\xbf") and not keep_mark:
        intake.warnings.append(f"{source.name}: byte order mark removed")
        start = start[3:]
    if start:
        yield start
    yield from unpacked

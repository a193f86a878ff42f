# SPDX-License-Identifier: Apache-2.0
"""What a user may give as one side: a folder of label files, XML or JSON, one file, or records."""

from __future__ import annotations

import hashlib
import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assay.core.document import InputFile, Intake
from assay.core.errors import InputError, UsageError
from assay.read.source import Role, Source, sources
from assay.read.stream import pieces
from assay.tasks.metadata.labels import BOM, Labels, parse_labels
from assay.tasks.metadata.objects import as_text, decoded, decoded_lines
from assay.tasks.metadata.settings import Settings

STDIN = "-"
"""The name that stands for standard input."""

Loader = Callable[[], Labels]
Fields = dict[str, Loader]


class Record(NamedTuple):
    """A paper with its fields, and the line it stands on; 0 where there is no line to name."""

    id: str
    fields: Mapping[str, Sequence[str]]
    line: int = 0


_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
_BLANK = b" \t\r\n\xef\xbb\xbf"
_LINES = (".jsonl", ".ndjson")
_MARKUP = (".xml", ".nxml", ".cermxml")
_BESIDE = (".pdf", ".md", ".log", ".html")
"""What often lies beside extracted papers and says nothing about their format."""


@dataclass(frozen=True, slots=True)
class Side:
    """One side before it is paired: label files by full name, or the fields of other formats.

    `single` says that one label file was given, not a folder; `folders` are the names of folders
    inside the given one, which are not entered.
    """

    files: Mapping[str, Path] = field(default_factory=dict)
    fields: Fields = field(default_factory=dict)
    single: bool = False
    folders: frozenset[str] = frozenset()

    @property
    def is_files(self) -> bool:
        """Whether fields are files that pair by name."""
        return not self.fields


def open_side(source: Any, role: Role, settings: Settings, intake: Intake) -> Side:
    """Look at what was given and find the fields; label files are read later, when paired."""
    given = settings.input_format if role == "predictions" else settings.truth_format
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        if str(path) != STDIN and not path.exists():
            raise InputError("no such file or folder", path=path, hint=f"check --{_flag(role)}")
        form = given or (_folder_format(path) if path.is_dir() else _file_format(path))
        if form != "labels":
            return Side(fields=_collected(_records(path, form, role, intake), str(path)))
        if not path.is_dir():
            return Side(files={path.name: path}, single=True)
        folders = frozenset(entry.name for entry in path.iterdir() if entry.is_dir())
        return Side(files=_label_files(path, settings), folders=folders)
    if isinstance(source, Iterable) and not isinstance(source, (bytes, Mapping)):
        return Side(fields=_collected(_in_memory(source, role), role))
    raise UsageError(
        f"{role} cannot be read from {type(source).__name__}; give a folder, a file, or records "
        "such as {'id': 'p1', 'title': '...'}"
    )


def load_labels(path: Path, role: Role, settings: Settings, intake: Intake) -> Labels:
    """Read one label file, noting what was mended."""
    data = read_bytes(path, role, intake)
    if not settings.quirks and data.startswith(BOM):
        intake.warnings.append(f"{path}: byte-order mark left out")
    labels = parse_labels(data, path, quirks=settings.quirks)
    return labels.without_empty() if settings.empty_values == "drop" else labels


def field_name(file: str) -> str:
    """The field a label file holds: its name up to the first dot.

    >>> field_name("year.2014.tsv"), field_name("noext")
    ('year', 'noext')
    """
    return file.partition(".")[0]


def read_bytes(path: Path, role: Role, intake: Intake) -> bytes:
    """The bytes of a file, or of standard input for `-`; gzip and zstd unpacked, digest noted."""
    if str(path) == STDIN:
        given = sources(STDIN, role, intake)
        assert given is not None, "standard input is a stream, not records"
        return b"".join(pieces(given[0], role, intake, lone=False))
    try:
        data = path.read_bytes()
    except OSError as error:
        hints = {
            FileNotFoundError: "check the name",
            IsADirectoryError: "give a file, not a folder",
        }
        raise InputError(
            f"cannot be read ({error.strerror})",
            path=path,
            hint=hints.get(type(error), "check its owner and mode (ls -l)"),
        ) from None
    if data.startswith(_PACKED):
        source = Source(str(path), str(path), lambda: io.BytesIO(data))
        return b"".join(pieces(source, role, intake, lone=False))
    intake.inputs.append(InputFile(role, str(path), hashlib.sha256(data).hexdigest()))
    return data


def _flag(role: Role) -> str:
    return "input" if role == "predictions" else "truth"


def _label_files(path: Path, settings: Settings) -> dict[str, Path]:
    return {
        entry.name: entry
        for entry in sorted(path.iterdir(), key=lambda p: p.name)
        if entry.is_file() and (settings.quirks or not entry.name.startswith("."))
    }


def _file_format(path: Path) -> str:
    ending = Path(_unpacked_name(path)).suffix
    if ending in _LINES:
        return "jsonl"
    if ending in _MARKUP:
        return "jats" if _is_jats(path) else "tei"
    return "science-parse" if ending == ".json" else "labels"


def _folder_format(path: Path) -> str:
    """By the endings of the files: XML or JSON throughout is one file per paper."""
    files = [p for p in path.iterdir() if p.is_file() and not p.name.startswith(".")]
    files = [p for p in files if Path(_unpacked_name(p)).suffix not in _BESIDE]
    endings = {Path(_unpacked_name(p)).suffix for p in files}
    if endings and endings <= set(_MARKUP):
        return "jats" if _is_jats(min(files)) else "tei"
    if endings and endings <= set(_LINES):
        return "jsonl"
    return "science-parse" if endings == {".json"} else "labels"


def _unpacked_name(path: Path) -> str:
    return path.name.lower().removesuffix(".gz").removesuffix(".zst")


def _is_jats(path: Path) -> bool:
    if Path(_unpacked_name(path)).suffix in (".nxml", ".cermxml"):
        return True
    head = read_bytes(path, "predictions", Intake())[:4096]
    return b"<article" in head and b"<TEI" not in head


def _records(path: Path, form: str, role: Role, intake: Intake) -> Iterator[Record]:
    if form == "jsonl":
        for file in _paper_files(path, _LINES):
            for record in _jsonl(file, role, intake):
                yield record if file == path else record._replace(line=0)
        return
    from assay.tasks.metadata.extracted import READERS

    endings = {"science-parse": (".json",)}.get(form, _MARKUP)
    for file in _paper_files(path, endings):
        data = read_bytes(file, role, intake)
        if form == "science-parse" and path.is_file() and data.lstrip(_BLANK).startswith(b"["):
            yield from _json_list(data, file)
        else:
            yield Record(field_name(file.name), READERS[form](data, file).fields())


def _paper_files(path: Path, endings: tuple[str, ...]) -> list[Path]:
    if not path.is_dir():
        return [path]
    found = [
        p
        for p in sorted(path.iterdir(), key=lambda p: p.name)
        if p.is_file() and not p.name.startswith(".") and _unpacked_name(p).endswith(endings)
    ]
    if not found:
        raise InputError(f"holds no {' or '.join(endings)} file", path=path, hint="check the name")
    return found


def _jsonl(path: Path, role: Role, intake: Intake) -> Iterator[Record]:
    data = read_bytes(path, role, intake)
    for number, item in decoded_lines(data, path, "one object per line"):
        yield _record(item, None, path, number)._replace(line=number)


def _json_list(data: bytes, path: Path) -> Iterator[Record]:
    """The records of a file that holds one list of them."""
    for item in decoded(data, path, "one list of objects"):
        yield _record(item, None, path, None)


def _in_memory(items: Iterable[Any], role: Role) -> Iterator[Record]:
    for number, item in enumerate(items, start=1):
        yield _record(item, str(number), role, number)


def _record(item: Any, default: str | None, path: Any, number: int | None) -> Record:
    if not isinstance(item, Mapping):
        raise InputError(
            "not an object", path=path, line=number, hint='write {"id": ..., "title": ...}'
        )
    name = item.get("id", default)
    if not isinstance(name, (str, int)) or isinstance(name, bool):
        raise InputError("has no id", path=path, line=number, hint='add "id" to every object')
    values = {}
    for key, value in item.items():
        if key != "id":
            values[str(key)] = _values(value, key, path, number)
    return Record(str(name), values)


def _values(value: Any, key: Any, path: Any, number: int | None) -> list[str]:
    if value is None:
        return []
    held = value if isinstance(value, (list, tuple)) else [value]
    return [as_text(item, key, path, number) for item in held]


def _collected(records: Iterable[Record], path: str) -> Fields:
    """Records turned on their side: one column of labels per field, every paper in each."""
    held = list(records)
    names = dict.fromkeys(name for record in held for name in record.fields)

    def loaded(name: str) -> Labels:
        having = [record for record in held if name in record.fields]
        labels = Labels.of(((r.id, r.fields[name]) for r in having), path)
        labels.numbers = np.array([r.line for r in having], dtype=np.int64)
        return labels

    return {name: partial(loaded, name) for name in names}

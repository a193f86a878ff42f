# SPDX-License-Identifier: Apache-2.0
"""Gold and prediction files: JSONL with ids, and the old line formats."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay import read
from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.read.lines import line_blocks
from assay.read.malformed import malformed
from assay.read.source import Role, Source, sources
from assay.tasks.commands import parallel
from assay.tasks.commands.keys import description_key

SEPARATOR = "|||"

_OBJECT = msgspec.json.Decoder(dict[str, Any])
_GOLD = '{"id": "1", "nl": "list all files", "references": ["ls -a"]}'
_PREDICTION = '{"id": "1", "predictions": ["ls -a", "ls"]}'
_PREDICTED = {"predictions", "prediction"}
_OWN = ("id", "nl", "references", "key", "command", "predictions", "prediction", "confidences")


@dataclass(frozen=True, slots=True)
class Group:
    """One description with its gold commands.

    `keys` are the keys that verdicts on it are looked up by: the given one, then its own.
    """

    id: str
    description: str
    keys: tuple[str, ...]
    references: tuple[str, ...]
    columns: Mapping[str, str] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """The key that new verdicts get."""
        return self.keys[0]


class Candidates(NamedTuple):
    """What was predicted for one description, best first; `id` is None where lines are counted."""

    id: str | None
    commands: tuple[str, ...]
    confidences: tuple[float, ...] | None = None


class _Line(NamedTuple):
    """A line, where it is from, and its number there."""

    text: str
    name: str
    number: int

    def error(self, problem: str, hint: str) -> InputError:
        return InputError(problem, path=self.name, line=self.number, hint=hint)


def read_gold(source: Any, intake: Intake) -> list[Group]:
    """The gold groups: of a JSONL file in its order, of pairs in the order of their keys."""
    if source is None:
        raise UsageError("gold is missing; give it with --gold")
    paths = _paths(source)
    if paths is None:
        return _groups([_held_row(row, n) for n, row in enumerate(_held(source), 1)])
    if len(paths) > 2:
        raise UsageError(
            f"--gold was given {len(paths)} times; give one .jsonl file, or the two files of "
            "descriptions (.nl) and commands (.cm)"
        )
    if len(paths) == 1 and read.format_of(paths[0]) == "jsonl":
        return _groups(_rows(paths[0], "gold", intake, _GOLD))
    if len(paths) == 2 and any(read.format_of(path) == "jsonl" for path in paths):
        raise UsageError(
            "--gold was given twice; give one .jsonl file, or the two files of descriptions (.nl) "
            "and commands (.cm)"
        )
    return _grouped(_parallel(paths, intake))


def read_predictions(
    source: Any, intake: Intake, *, line_feeds: bool = False, most: int = 0
) -> list[Candidates]:
    """The predictions, one entry per line or record.

    With `line_feeds` a line keeps its line feed and empty parts, and only its first `most` parts
    count, as in the old program.
    """
    if source is None:
        raise UsageError("predictions are missing; give them with --predictions")
    paths = _paths(source)
    if paths is None:
        return [_from_memory(row, n) for n, row in enumerate(_held(source), 1)]
    if len(paths) != 1:
        raise UsageError("predictions are one file; give --predictions once")
    if read.format_of(paths[0]) == "jsonl":
        rows = _rows(paths[0], "predictions", intake, _PREDICTION)
        if rows and not any(_PREDICTED & row.data.keys() for row in rows):
            raise rows[0].line.error("there is no 'predictions'", f"write {_PREDICTION}")
        return [_record(row) for row in rows]
    lines = list(_lines(paths[0], "predictions", intake))
    if lines and _is_record(lines[0]):  # on standard input, or under another name
        return [_record(_row(line, _PREDICTION)) for line in lines]
    texts = [line.text for line in lines]
    if line_feeds:
        ended = _ends_with_line_feed(paths[0])
        last = len(texts) - 1
        whole = [text + "\n" if i < last or ended else text for i, text in enumerate(texts)]
        return [Candidates(None, tuple(text.split(SEPARATOR)[:most])) for text in whole]
    parts = ((p for part in text.split(SEPARATOR) if (p := part.strip())) for text in texts)
    return [Candidates(None, tuple(each)) for each in parts]


def _ends_with_line_feed(path: str) -> bool:
    """Whether the last line of a plain file has its end; of other inputs it is taken to have."""
    if not os.path.isfile(path) or not os.path.getsize(path):
        return True
    with open(path, "rb") as file:
        head = file.read(2)
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n" or head in (b"\x1f\x8b", b"\x28\xb5")  # packed


def _paths(source: Any) -> list[str] | None:
    if isinstance(source, (str, os.PathLike)):
        return [os.fspath(source)]
    if isinstance(source, Sequence) and source and all(isinstance(s, Path) for s in source):
        return [os.fspath(path) for path in source]
    return None


def _held(source: Any) -> Iterable[Any]:
    if isinstance(source, (bytes, Mapping)) or not isinstance(source, Iterable):
        raise UsageError(f"cannot be read from {type(source).__name__}; give a path or a list")
    return source


def _held_row(value: Any, number: int) -> _Row:
    if not isinstance(value, Mapping):
        raise UsageError(f"gold {number} is {type(value).__name__} {value!r:.40}; give {_GOLD}")
    return _Row(value, _Line("", "gold", number))


def _lines(name: str, role: Role, intake: Intake) -> Iterator[_Line]:
    found = sources(name, role, intake)
    assert found is not None, "a path names files"
    for source in found:
        yield from _lines_of(source, role, intake, lone=len(found) == 1)


def _lines_of(source: Source, role: Role, intake: Intake, *, lone: bool) -> Iterator[_Line]:
    for texts, first in line_blocks(source, role, intake, lone=lone):
        for offset, text in enumerate(texts, start=1):
            yield _Line(text, source.name, first + offset)


class _Row(NamedTuple):
    """A JSON object and its line."""

    data: Mapping[str, Any]
    line: _Line


def _rows(name: str, role: Role, intake: Intake, example: str) -> list[_Row]:
    return [_row(line, example) for line in _lines(name, role, intake)]


def _row(line: _Line, example: str) -> _Row:
    data = line.text.encode("utf-8", "surrogatepass")
    try:
        return _Row(_OBJECT.decode(data), line)
    except (msgspec.MsgspecError, RecursionError):
        if not line.text.strip():
            raise line.error("a blank line", "remove it, or write a record") from None
        raise malformed(data, line.name, f"one object per line: {example}", line.number) from None


def _is_record(line: _Line) -> bool:
    """Whether a line is no command but a JSON object that holds some."""
    if not line.text.lstrip().startswith("{"):
        return False
    try:
        return bool(_PREDICTED & _OBJECT.decode(line.text.encode("utf-8", "surrogatepass")).keys())
    except (msgspec.MsgspecError, RecursionError):
        return False


def _groups(rows: Sequence[_Row]) -> list[Group]:
    """Records with references are groups already; records with a command are pairs."""
    if rows and "references" not in rows[0].data and "command" in rows[0].data:
        return _grouped([_pair(row) for row in rows])
    seen: dict[str, int] = {}
    found = []
    for position, (data, line) in enumerate(rows):
        id = _id(data, line, str(position + 1))
        if id in seen:
            raise line.error(f"the id {id!r} was on line {seen[id]:,} already", "ids must differ")
        seen[id] = line.number
        found.append(_group(id, data, line))
    return found


def _group(id: str, data: Mapping[str, Any], line: _Line) -> Group:
    description = _text(data, "nl", line)
    references = data.get("references")
    if isinstance(references, str):
        references = [references]
    if not isinstance(references, list) or not all(isinstance(r, str) for r in references):
        raise line.error("'references' must be a list of commands", f"write {_GOLD}")
    if not references:
        raise line.error("'references' is empty", "give at least one gold command")
    given = _given_key(_Row(data, line))
    own = description_key(description)
    keys = (own,) if given is None else tuple(dict.fromkeys((given, own)))
    return Group(id, description.strip(), keys, tuple(references), _columns(data))


def _columns(data: Mapping[str, Any]) -> dict[str, str]:
    """What else is there, as columns for slices."""
    others = {name: value for name, value in data.items() if name not in _OWN}
    return {
        name: value if isinstance(value, str) else msgspec.json.encode(value).decode()
        for name, value in others.items()
    }


class _Pair(NamedTuple):
    """A description with one command, and the key it is grouped by."""

    description: str
    command: str
    key: str


def _pair(row: _Row) -> _Pair:
    description, command = (_text(row.data, name, row.line) for name in ("nl", "command"))
    given = _given_key(row)
    return _Pair(description, command, description_key(description) if given is None else given)


def _given_key(row: _Row) -> str | None:
    given = row.data.get("key")
    if given is not None and not isinstance(given, str):
        raise row.line.error("'key' must be text", "leave it out to have it computed")
    return given


def _parallel(paths: Sequence[str], intake: Intake) -> list[_Pair]:
    """The two files of parallel data; one of them is enough to find the other."""
    named = parallel.in_order(*paths) if len(paths) == 2 else parallel.both(paths[0])
    if named is None:
        raise UsageError(
            f"{paths[0]} is neither .jsonl nor one of two files named .nl and .cm; give gold as "
            f".jsonl with one object per line ({_GOLD}), or both files, descriptions first"
        )
    first, second = named
    descriptions = [line.text.strip() for line in _lines(first, "gold", intake)]
    commands = [line.text.strip() for line in _lines(second, "gold", intake)]
    if len(descriptions) != len(commands):
        raise InputError(
            f"{len(descriptions):,} descriptions, but {len(commands):,} commands in {second}",
            path=first,
            hint="line i of both files must belong together",
        )
    keys = map(description_key, descriptions)
    return [_Pair(*pair) for pair in zip(descriptions, commands, keys, strict=True)]


def _grouped(pairs: Sequence[_Pair]) -> list[Group]:
    """Pairs by the key of their description, groups in the order of their keys."""
    by_key: dict[str, list[_Pair]] = {}
    for pair in pairs:
        by_key.setdefault(pair.key, []).append(pair)
    return [
        Group(
            str(n),
            those[0].description.strip(),
            tuple(dict.fromkeys((key, *(description_key(p.description) for p in those)))),
            tuple(p.command.strip() for p in those),
        )
        for n, (key, those) in enumerate(sorted(by_key.items()), start=1)
    ]


def _record(row: _Row) -> Candidates:
    data, line = row
    if data.keys() - {"id"} and not _PREDICTED & data.keys():  # an id alone is no prediction
        raise line.error("there is no 'predictions'", f"write {_PREDICTION}")
    value = data.get("predictions", data.get("prediction"))
    if isinstance(value, str):
        value = [value]
    if value is None:
        value = []
    if not isinstance(value, list):
        raise line.error("'predictions' must be a list of commands", f"write {_PREDICTION}")
    commands, confidences = [], []
    for entry in value:
        command, confidence = entry, 1.0
        if isinstance(entry, dict):
            command, confidence = entry.get("command"), entry.get("confidence", 1.0)
        if not isinstance(command, str) or not isinstance(confidence, (int, float)):
            raise line.error(
                "a prediction must be a command, or an object with command and confidence",
                f"write {_PREDICTION}",
            )
        if not 0 <= confidence <= 1:
            raise line.error(f"a confidence of {confidence}", "confidences are from 0 to 1")
        if command.strip():
            commands.append(command.strip())
            confidences.append(float(confidence))
    given = any(isinstance(entry, dict) for entry in value)
    id = _id(data, line, None)
    return Candidates(id, tuple(commands), tuple(confidences) if given else None)


def _from_memory(value: Any, number: int) -> Candidates:
    if isinstance(value, Mapping):
        return _record(_Row(value, _Line("", "predictions", number)))
    commands = [value] if isinstance(value, str) else [] if value is None else value
    if not isinstance(commands, Sequence) or not all(isinstance(c, str) for c in commands):
        raise UsageError(
            f"prediction {number} is {type(value).__name__} {value!r:.40}; give a command, a list "
            f"of commands, or {_PREDICTION}"
        )
    return Candidates(None, tuple(c.strip() for c in commands if c.strip()))


def _id(data: Mapping[str, Any], line: _Line, otherwise: str | None) -> Any:
    id = data.get("id", otherwise)
    if id is None:
        return None
    if isinstance(id, bool) or not isinstance(id, (str, int)):
        raise line.error("'id' must be text or a whole number", "mend the record")
    return str(id)


def _text(data: Mapping[str, Any], name: str, line: _Line) -> str:
    value = data.get(name)
    if not isinstance(value, str):
        problem = f"there is no '{name}'" if value is None else f"'{name}' must be text"
        raise line.error(problem, f"write {_GOLD}")
    return value

# SPDX-License-Identifier: Apache-2.0
"""The reference segments of long recordings: a list of recording, offset and duration.

Read from YAML as it is usual for speech translation (a list of mappings with `wav`, `offset` and
`duration`, on one line each or on several), from JSON, or from lines `docid=D,segid=S` for
documents of text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from assay.core.document import Intake
from assay.core.errors import AlignError, InputError
from assay.tasks.simul.files import lines_of

_ITEM = re.compile(
    r"""\s*(?P<key>[\w-]+)\s*:\s*(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^,]*)\s*(?:,|$)"""
)
_TOKEN = re.compile(r"""(?<![^\s{\[:,])(?:"(?:[^"\\]|\\.)*"|'[^']*')|[{}#]|[^\s{}#]+|\s+""")
_DOCUMENT = re.compile(r"^docid=(?P<doc>[^,]+),\s*segid=(?P<seg>\S+)$")
HINT = "write - {wav: talk.wav, offset: 1.5, duration: 3.2}, one line per segment"


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a recording with its reference; times in milliseconds.

    Segments of documents of text have no times: they are NaN.
    """

    recording: str
    offset: float
    duration: float
    reference: str


@dataclass(frozen=True, slots=True)
class Recording:
    """The segments of one recording, with their places in the list of all."""

    name: str
    segments: Sequence[Segment]
    places: Sequence[int]

    @property
    def end(self) -> float:
        """Where the last segment ends."""
        return max(s.duration + s.offset for s in self.segments)


def read_recordings(
    path: Path, references: Sequence[str], intake: Intake, *, from_first: bool = False
) -> list[Recording]:
    """The recordings, in order of appearance; `from_first` counts from their first segments."""
    lines = lines_of(path, intake, "gold")
    entries = list(_entries(lines, path))
    if len(entries) != len(references):
        raise AlignError(
            f"{len(entries):,} segments, but {len(references):,} references",
            path=path,
            hint="give one line of reference per segment",
        )
    groups: dict[str, list[int]] = {}
    for place, (name, _, _) in enumerate(entries):
        groups.setdefault(name, []).append(place)
    found = []
    for name, places in groups.items():
        start = entries[places[0]][1] if from_first else 0.0
        segments = [
            Segment(name, (entries[p][1] - start) * 1000, entries[p][2] * 1000, references[p])
            for p in places
        ]
        found.append(Recording(name, segments, places))
    return found


def _entries(lines: Sequence[str], path: Path) -> Iterator[tuple[str, float, float]]:
    filled = [line for line in lines if line.strip()]
    if filled and all(_DOCUMENT.match(line.strip()) for line in filled):
        for line in filled:
            match = _DOCUMENT.match(line.strip())
            assert match is not None, "all lines match"
            yield match["doc"], float("nan"), float("nan")
        return
    text = "\n".join(lines).lstrip()
    if text.startswith("["):
        yield from _of_list(lines, path)
        return
    for number, mapping in _mappings(lines, path):
        yield _entry(mapping, path, number)


def _of_list(lines: Sequence[str], path: Path) -> Iterator[tuple[str, float, float]]:
    """A list in brackets: of JSON, or of YAML on as many lines as it wants."""
    try:
        held = msgspec.json.decode("\n".join(lines).encode(), type=list[dict[str, Any]])
    except msgspec.MsgspecError as error:
        found = " ".join(_joined_lines(lines, path).values())
        inside = [part.partition("}")[0] for part in found.split("{")[1:]]
        # What is JSON but for a slip is told where the slip is.
        if not inside or '"wav"' in found:
            raise InputError(f"is not a JSON list ({error})", path=path, hint=HINT) from None
        held = [dict(_pairs(text, path, None)) for text in inside]
    for mapping in held:
        yield _entry(mapping, path, None)


def _tokens(line: str) -> Iterator[str]:
    """The parts of a line, quoted ones whole, without a comment."""
    for match in _TOKEN.finditer(line):
        token = match[0]
        if token.startswith("#") and (match.start() == 0 or line[match.start() - 1].isspace()):
            return
        yield token


def _joined_lines(lines: Sequence[str], path: Path) -> dict[int, str]:
    """The lines without comments, by their numbers; those of a mapping in braces are one."""
    found: dict[int, str] = {}
    first, depth = 0, 0
    for number, line in enumerate(lines, start=1):
        tokens = list(_tokens(line))
        text = "".join(tokens).strip()
        if depth:
            found[first] += f" {text}"
        else:
            first = number
            found[first] = text
        depth += tokens.count("{") - tokens.count("}")
    if depth > 0:
        raise InputError("a brace that is not closed", path=path, line=first, hint=HINT)
    return found


def _mappings(lines: Sequence[str], path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The mappings of a YAML list, each with the line that it begins on."""
    held: dict[str, str] = {}
    first = 0
    for number, text in _joined_lines(lines, path).items():
        if not text or text == "---":
            continue
        if text.startswith("- ") or text == "-":
            if held:
                yield first, held
            held, first = {}, number
            text = text[1:].strip()
        elif first == 0:
            raise InputError("not a list of segments", path=path, line=number, hint=HINT)
        inside = text[1:-1] if text.startswith("{") and text.endswith("}") else text
        held.update(_pairs(inside, path, number))
    if held:
        yield first, held


def _pairs(text: str, path: Path, line: int | None) -> Iterator[tuple[str, str]]:
    position = 0
    while position < len(text):
        match = _ITEM.match(text, position)
        if match is None:
            raise InputError("not of the form key: value", path=path, line=line, hint=HINT)
        value = match["value"].strip()
        if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
            value = value[1:-1]
        yield match["key"], value
        position = match.end()


def _entry(mapping: Mapping[str, Any], path: Path, line: int | None) -> tuple[str, float, float]:
    try:
        name = str(mapping["wav"])
        offset, duration = float(mapping["offset"]), float(mapping["duration"])
    except KeyError as error:
        raise InputError(
            f"a segment without {error.args[0]}", path=path, line=line, hint=HINT
        ) from None
    except (TypeError, ValueError):
        raise InputError(
            "offset and duration must be seconds", path=path, line=line, hint=HINT
        ) from None
    if not (math.isfinite(offset) and math.isfinite(duration)):
        raise InputError(
            f"offset {offset} and duration {duration} are no seconds",
            path=path,
            line=line,
            hint=HINT,
        )
    return name, offset, duration


def found_under(name: str, names: Sequence[str]) -> str | None:
    """Which of `names` a recording goes by: as it is, without folders, without its ending.

    >>> found_under("/data/talk.wav", ["other", "talk"])
    'talk'
    """
    for form in (str, _base, _stem, _base_stem):
        for other in names:
            if form(name) == form(other):
                return other
    return None


_ENDINGS = (".wav", ".flac", ".mp3", ".ogg", ".opus", ".m4a", ".mp4", ".aac", ".webm", ".txt")


def _base(name: str) -> str:
    return name.replace("\\", "/").rpartition("/")[2]


def _stem(name: str) -> str:
    """Without the ending of an audio file; other dots are part of a name: `2022.acl-long.268`."""
    ending = next((e for e in _ENDINGS if name.lower().endswith(e)), "")
    return name[: len(name) - len(ending)]


def _base_stem(name: str) -> str:
    return _stem(_base(name))

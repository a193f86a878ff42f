# SPDX-License-Identifier: Apache-2.0
"""simulstream's log: tokens as they are written and taken back, step by step, of many streams."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NamedTuple

import msgspec

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.tasks.simul.files import json_blocks
from assay.tasks.simul.streams import Emission

Detokenizer = Literal["word", "char", "spm"]

EXAMPLE = (
    '{"id": 0, "total_audio_processed": 1.0, "computation_time": 0.1, "generated_tokens": [], '
    '"deleted_tokens": []}'
)


class _Line(msgspec.Struct, gc=False):
    id: Any = None
    metadata: dict[str, Any] | None = None
    total_audio_processed: float | None = None
    computation_time: float = 0.0
    generated_tokens: list[str] = []
    deleted_tokens: list[str] = []


@dataclass(slots=True)
class _Word:
    text: str
    start: int
    delay: float
    aware: float


class Step(NamedTuple):
    """A step as it was logged: tokens that were taken back are counted."""

    at: float
    took: float
    deleted: int
    new: Sequence[str]


@dataclass(slots=True)
class Talk:
    """One stream under way: the text so far, and when each unit of it got its form."""

    name: str
    detokenizer: Detokenizer = "spm"
    unit: str = "word"
    ca_times: str = "chunk"
    tokens: list[str] = field(default_factory=list)
    text: str = ""
    words: list[_Word] = field(default_factory=list)
    deleted: int = 0
    computing: float = 0.0
    audio: float = 0.0
    done: float = 0.0
    steps: list[Step] = field(default_factory=list)

    def step(
        self,
        at: float,
        took: float,
        deleted: Sequence[str],
        new: Sequence[str],
        aware: float | None = None,
    ) -> None:
        """Take back tokens, then append new ones; times in milliseconds.

        `aware` is the computation-aware time of what is written, where it is known.
        """
        self.steps.append(Step(at, took, len(deleted), new))
        self.computing += took
        self.audio = at
        self.done = max(at, self.done) + took
        if aware is None:
            known = {"queue": self.done, "simuleval": at + self.computing}
            aware = known.get(self.ca_times, at + took)
        if deleted:
            if self.tokens[len(self.tokens) - len(deleted) :] != list(deleted):
                raise ValueError("deleted_tokens are not what stands at the end")
            del self.tokens[len(self.tokens) - len(deleted) :]
            self.deleted += len(self._units(_joined(deleted, self.detokenizer)))
            gone = sum(len(self._written(t, first=False)) for t in deleted)
            self._change(self.text[: max(0, len(self.text) - gone)], at, aware)
        if new:
            added = []
            for token in new:
                added.append(self._written(token, first=not self.tokens))
                self.tokens.append(token)
            self._change(self.text + "".join(added), at, aware)

    def _written(self, token: str, *, first: bool) -> str:
        """What a token adds to the text."""
        if self.detokenizer == "spm":
            return token.replace("▁", " ")
        return token if self.detokenizer == "char" or first else f" {token}"

    def _units(self, text: str) -> list[str]:
        return text.split() if self.unit == "word" else list("".join(text.split()))

    def _change(self, text: str, at: float, aware: float) -> None:
        """The text is now `text`: units that are new or differ get the time of this step."""
        common = min(len(text), len(self.text))
        if self.unit != "word":
            del self.words[common:]
            for place in range(len(self.words), len(text)):
                self.words.append(_Word(text[place], place, at, aware))
            self.text = text
            return
        touched: list[_Word] = []
        while self.words and self.words[-1].start + len(self.words[-1].text) >= common:
            touched.append(self.words.pop())
        position = self.words[-1].start + len(self.words[-1].text) if self.words else 0
        before = {word.start: word for word in touched}
        for start, word in _words_from(text, position):
            old = before.get(start)
            if old is not None and old.text == word:
                self.words.append(old)
            else:
                self.words.append(_Word(word, start, at, aware))
        self.text = text

    def emission(self) -> Emission:
        """The stream as it is scored, in milliseconds."""
        words = self.words
        if self.unit != "word":
            words = [w for w in words if not w.text.isspace()]
        return Emission(
            self.text.strip(),
            [word.delay for word in words],
            self.audio,
            [word.aware for word in words],
            deleted=float(self.deleted),
            computing=self.computing,
        )


def _words_from(text: str, position: int) -> list[tuple[int, str]]:
    """The words behind `position`, each with its place."""
    found = []
    rest = text[position:]
    at = 0
    for word in rest.split():
        at = rest.index(word, at)
        found.append((position + at, word))
        at += len(word)
    return found


def _joined(tokens: Sequence[str], detokenizer: Detokenizer) -> str:
    if detokenizer == "word":
        return " ".join(tokens)
    return "".join(tokens).replace("▁", " ") if detokenizer == "spm" else "".join(tokens)


def is_simulstream(objects: Sequence[dict[str, Any]]) -> bool:
    """Whether a log that begins with these objects is simulstream's."""
    return any("total_audio_processed" in o for o in objects) or any(
        isinstance(o.get("metadata"), dict) and "wav_name" in o["metadata"] for o in objects
    )


def read_talks(path: Path, make: Callable[[str], Talk], intake: Intake) -> list[Talk]:
    """The streams of a log, in order of their first lines; `make` begins one by its name."""
    talks: dict[str, Talk] = {}
    for objects, first in json_blocks(path, _Line, intake, EXAMPLE):
        for number, line in enumerate(objects, start=first + 1):
            key = msgspec.json.encode(line.id).decode()
            if line.metadata is not None and "wav_name" in line.metadata:
                stem = Path(str(line.metadata["wav_name"])).stem
                talks[key] = make(stem)
            elif line.total_audio_processed is not None:
                if key not in talks:
                    raise InputError(
                        f"a step of stream {key} before its metadata line",
                        path=path,
                        line=number,
                        hint='a stream begins with {"id": 0, "metadata": {"wav_name": "talk.wav"}}',
                    )
                try:
                    talks[key].step(
                        line.total_audio_processed * 1000,
                        line.computation_time * 1000,
                        line.deleted_tokens,
                        line.generated_tokens,
                    )
                except ValueError as error:
                    raise InputError(
                        str(error), path=path, line=number, hint="the log is damaged"
                    ) from None
    return list(talks.values())

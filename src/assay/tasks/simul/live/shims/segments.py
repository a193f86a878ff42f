# SPDX-License-Identifier: Apache-2.0
"""Pieces of source and target as SimulEval 1.1 has them, with their JSON."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass
class Segment:
    """A piece of text or speech; fields in the order of the JSON."""

    index: int = 0
    content: Any = field(default_factory=list)
    finished: bool = False
    is_empty: bool = False
    data_type: str | None = None
    tgt_lang: str | None = None
    config: dict[str, Any] = field(default_factory=dict)

    def json(self) -> str:
        """The segment as it goes over the wire.

        >>> EmptySegment().json()[:34]
        '{"index": 0, "content": [], "finis'
        """
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> Segment:
        """The segment of a JSON object."""
        return cls(**json.loads(text))


@dataclass
class EmptySegment(Segment):
    """Nothing, or the end if `finished`."""

    is_empty: bool = True


@dataclass
class TextSegment(Segment):
    """A word, or some."""

    content: str = ""
    data_type: str | None = "text"


@dataclass
class SpeechSegment(Segment):
    """Samples from -1 to 1."""

    sample_rate: int = -1
    data_type: str | None = "speech"


@dataclass
class SpeechTextSegment(Segment):
    """Samples, and a text that goes with them in `config`."""

    sample_rate: int = -1
    data_type: str | None = "speech_text"


_KINDS: dict[str | None, type[Segment]] = {
    "text": TextSegment,
    "speech": SpeechSegment,
    "speech_text": SpeechTextSegment,
}


def segment_from_json_string(text: str) -> Segment:
    """The segment of a JSON object, of the class that fits.

    >>> segment_from_json_string(TextSegment(content="a", finished=True).json())
    TextSegment(index=0, content='a', finished=True, is_empty=False, data_type='text', \
tgt_lang=None, config={})
    """
    found = json.loads(text)
    if found.get("is_empty"):  # one that might have been audio has a rate, which nothing has
        found.pop("sample_rate", None)
        return EmptySegment(**found)
    return _KINDS.get(found.get("data_type"), Segment)(**found)

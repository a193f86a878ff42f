# SPDX-License-Identifier: Apache-2.0
"""What an agent says: pieces of audio, and the WAV file in which they are heard when they come.

A piece begins when it was said, or when the one before has ended; between them is silence. The file
begins with the first piece.
"""

from __future__ import annotations

import wave
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import AgentError
from assay.core.files import atomic_file
from assay.tasks.simul.spoken import intervals, wav_name

if TYPE_CHECKING:
    from assay.tasks.simul.events import Header, Stream
    from assay.tasks.simul.live.wav import Samples

LOUDEST = 32_767
LIMIT_MS = 6 * 3_600_000.0
"""Audio that one sentence may get: an agent that never ends must not fill the memory."""


def as_samples(content: Any) -> Samples:
    """Numbers from -1 to 1 as 16-bit samples; louder ones are cut off.

    >>> as_samples([0.0, 0.5, -1.0, 1.5]).tolist()
    [0, 16384, -32768, 32767]
    """
    import numpy as np

    try:
        given = np.asarray(content, dtype=np.float64)
    except (TypeError, ValueError):
        raise AgentError(f"the agent wrote {_kind(content)}, not audio; write samples") from None
    if given.ndim != 1:
        raise AgentError("the agent wrote audio of several channels; write one row of samples")
    if not np.isfinite(given).all():
        raise AgentError("the agent wrote audio with samples that are no numbers")
    return np.clip(np.rint(given * (LOUDEST + 1)), -LOUDEST - 1, LOUDEST).astype(np.int16)


def _kind(content: Any) -> str:
    first = content[0] if isinstance(content, (list, tuple)) and content else content
    return f"{type(content).__name__} of {type(first).__name__}"


@dataclass(slots=True)
class Speech:
    """The output for one sentence so far; `durations` and their sum are milliseconds."""

    rate: int = 0
    pieces: list[Samples] = field(default_factory=list)
    durations: list[float] = field(default_factory=list)
    lasting: float = 0.0

    def add(self, samples: Samples, rate: int) -> float:
        """One more piece; how long it lasts."""
        if self.rate not in (0, rate):
            raise AgentError(
                f"the agent wrote audio of {rate:,} Hz after audio of {self.rate:,} Hz; "
                "it has to keep to one sample rate"
            )
        duration = 1000 * len(samples) / rate
        if self.lasting + duration > LIMIT_MS:
            raise AgentError("the agent has spoken for hours in one sentence; does it ever end?")
        self.rate = rate
        self.lasting += duration
        self.pieces.append(samples)
        self.durations.append(duration)
        return duration


@dataclass(frozen=True)
class Voice:
    """Keeps what was said in a folder."""

    folder: Path

    def save(self, index: int, speech: Speech, delays: list[float]) -> None:
        """Write the audio of a sentence; a sentence without any has no file."""
        if not speech.pieces:
            return
        path = self.folder / wav_name(str(index))
        heard = intervals(delays, speech.durations)
        with atomic_file(path) as aside, wave.open(str(aside), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(speech.rate)
            for (start, _), samples in zip(heard, speech.pieces, strict=True):
                begins = int(speech.rate * (start - heard[0][0]) / 1000)
                file.writeframes(bytes(2 * max(0, begins - file.tell())))
                file.writeframes(samples.astype("<i2").tobytes())


def finished_streams(folder: Path, header: Header, streams: Iterable[Stream]) -> list[Stream]:
    """Streams that are done; one whose audio is not there has to be run again."""
    spoken = header.target_type == "speech"
    return [
        stream
        for stream in streams
        if stream.finished
        and not (spoken and stream.delays and not (folder / wav_name(stream.id)).is_file())
    ]

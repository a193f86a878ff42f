# SPDX-License-Identifier: Apache-2.0
"""Audio files as 16-bit samples of one channel.

PCM with 16 bits is read by the standard library; floats, 24 bits and other containers need the
package soundfile (extra `speech`).
"""

from __future__ import annotations

import os
import wave
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.core.errors import InputError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Samples = NDArray[np.int16]

_UNKNOWN = 0x7FFF_0000
"""Bytes of audio in a file whose head cannot know its length."""

EXTRA = "install soundfile (pip install 'assay[speech]'), or convert it to 16-bit PCM WAV"


@dataclass(frozen=True, slots=True)
class Header:
    """What the head of an audio file says; `plain` is 16-bit PCM.

    `frames` are those that are there, `lacking` those that the head promises besides.
    """

    rate: int
    channels: int
    frames: int
    plain: bool
    lacking: int = 0

    @property
    def length_ms(self) -> int:
        """Whole milliseconds of audio."""
        return self.frames * 1000 // self.rate

    @property
    def exact_ms(self) -> float:
        """Milliseconds of audio to the last sample."""
        return self.frames * 1000 / self.rate


def header(path: Path) -> Header:
    """Read the head of an audio file only."""
    try:
        with path.open("rb") as file:
            plain = _plain_header(file)
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    if plain is not None:
        return plain
    sound = _soundfile(path)
    try:
        about = sound.info(str(path))
    except Exception:  # soundfile has an error class of its own per version
        raise _strange(path) from None
    return Header(about.samplerate, about.channels, about.frames, plain=False)


def samples(path: Path, *, raw: bool = False) -> Samples:
    """All samples: channels mixed down, floats scaled to 16 bits.

    With `raw` they are as fairseq's server had them: channels side by side, and floats cut to
    whole numbers without scaling, which leaves silence.
    """
    import numpy as np

    about = header(path)
    data: NDArray[Any]
    if about.plain:
        with path.open("rb") as file, wave.open(file) as audio:
            found = audio.readframes(about.frames)
        whole = len(found) // (2 * about.channels) * (2 * about.channels)
        data = np.frombuffer(found[:whole], dtype="<i2").reshape(-1, about.channels)
    else:
        sound = _soundfile(path)
        try:
            is_float = sound.info(str(path)).subtype in ("FLOAT", "DOUBLE")
            kind = "float64" if is_float else "int16"
            data, _ = sound.read(str(path), dtype=kind, always_2d=True)
        except Exception:
            raise _strange(path) from None
        if is_float and raw:
            data = np.trunc(data)
        elif is_float:
            data = np.clip(np.rint(data * 32768), -32768, 32767)
    if raw and data.shape[1] > 1:
        return data.astype(np.int16)
    if data.shape[1] > 1:
        data = np.rint(data.mean(axis=1, dtype=np.float64))
    return data.reshape(-1).astype(np.int16)


def _plain_header(file: Any) -> Header | None:
    """The head of 16-bit PCM; None for anything else."""
    try:
        with wave.open(file) as audio:
            if audio.getsampwidth() != 2 or audio.getnchannels() < 1 or audio.getframerate() < 1:
                return None
            said, start = audio.getnframes(), file.tell()
            width = 2 * audio.getnchannels()
            frames = min(said, (file.seek(0, os.SEEK_END) - start) // width)
            # What was written into a pipe has no length: its head says the greatest number.
            lacking = said - frames if said * width < _UNKNOWN else 0
            return Header(audio.getframerate(), audio.getnchannels(), frames, True, lacking)
    except (wave.Error, EOFError):
        return None


def _soundfile(path: Path) -> Any:
    with path.open("rb") as file:
        head = file.read(12)
    if head[:4] not in (b"RIFF", b"RIFX", b"RF64", b"fLaC", b"OggS", b"FORM", b".snd"):
        raise _strange(path)
    try:
        import soundfile
    except ImportError:
        raise InputError("is not 16-bit PCM", path=path, hint=EXTRA) from None
    return soundfile


def _strange(path: Path) -> InputError:
    return InputError(
        "is not an audio file that can be read", path=path, hint="convert it to 16-bit PCM WAV"
    )

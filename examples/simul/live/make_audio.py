# SPDX-License-Identifier: Apache-2.0
"""Writes the sample audio: numbers as telephones dial them. `python make_audio.py`."""

from __future__ import annotations

import wave
from pathlib import Path

from assay.tasks.simul.live.agents.tones import dial

HERE = Path(__file__).parent
NUMBERS = {"one": "31415", "two": "27182", "three": "16180"}


def main() -> None:
    """One WAV file per number."""
    for name, digits in NUMBERS.items():
        with wave.open(str(HERE / "wav" / f"{name}.wav"), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(16_000)
            file.writeframes(dial(digits).astype("<i2").tobytes())


if __name__ == "__main__":
    main()

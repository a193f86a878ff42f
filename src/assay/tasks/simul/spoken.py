# SPDX-License-Identifier: Apache-2.0
"""Spoken output as SimulEval logs it: when each piece is heard, and the line of `instances.log`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.tasks.simul.streams import Emission

FOLDER = "wavs"
"""Where the audio lies, beside the log."""


def wav_name(id: str) -> str:
    """The file with the output of a stream.

    >>> wav_name("3")
    'wavs/3_pred.wav'
    """
    return f"{FOLDER}/{id}_pred.wav"


def intervals(delays: Sequence[float], durations: Sequence[float]) -> list[list[float]]:
    """Start and length of each piece as it is heard: one waits until the one before has ended.

    >>> intervals([100, 200, 1000], [300, 50, 20])
    [[100, 300], [400, 50], [1000, 20]]
    """
    found: list[list[float]] = []
    end = float("-inf")
    for delay, duration in zip(delays, durations, strict=True):
        start = max(end, delay)
        end = start + duration
        found.append([start, duration])
    return found


def spoken_line(
    number: str, folder: Path, emission: Emission, reference: str | None, source: Any = None
) -> str:
    """A line of `instances.log`, keys in SimulEval's order; `folder` is where `wavs` lies.

    `prediction_length` is in seconds, from the first sound to the last, silence between included.
    """
    durations = emission.durations or []
    heard = intervals(emission.delays, durations)
    offset = heard[0][0] if heard else 0
    lasting = sum(heard[-1]) - offset if heard else 0
    return json.dumps(
        {
            "index": int(number) if number.isdecimal() else number,
            "prediction": str((folder / wav_name(number)).absolute()),
            "delays": emission.delays,
            "durations": durations,
            "prediction_offset": offset,
            "elapsed": [],
            "intervals": heard,
            "prediction_length": lasting / 1000,
            "source_length": emission.source_length,
            "reference": reference,
            "source": source,
        }
    )

# SPDX-License-Identifier: Apache-2.0
"""Output for long recordings, divided among their reference segments: read and written.

`instances.resegmented.jsonl` is OmniSTEval's file: one segment per line, times in milliseconds from
the start of the segment.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.document import Intake
from assay.tasks.simul.files import json_blocks
from assay.tasks.simul.log import Block
from assay.tasks.simul.streams import Emission

FILE = "instances.resegmented.jsonl"
EXAMPLE = (
    '{"index": 0, "docid": 0, "segid": 0, "prediction": "...", "reference": "...", '
    '"source_length": 3000.0, "emission_cu": [...], "emission_ca": [...], '
    '"time_to_recording_end": 90000.0}'
)


class _Line(msgspec.Struct, gc=False):
    index: int | str
    prediction: str
    reference: str
    source_length: float
    emission_cu: list[float]
    emission_ca: list[float] | None = None
    time_to_recording_end: float | None = None
    docid: Any = 0
    segid: Any = 0


def read_resegmented(path: Path, intake: Intake) -> Iterator[Block]:
    """The segments of such a file."""
    for objects, first in json_blocks(path, _Line, intake, EXAMPLE):
        yield Block(
            [str(o.index) for o in objects],
            Block.of([], [_emission(o) for o in objects]).streams,
            [o.reference for o in objects],
            {"recording": [str(o.docid) for o in objects]},
            range(first + 1, first + len(objects) + 1),
        )


def _emission(line: _Line) -> Emission:
    return Emission(
        line.prediction,
        line.emission_cu,
        line.source_length,
        line.emission_ca or [],
        to_end=line.time_to_recording_end,
    )


def resegmented_text(
    ids: Sequence[str],
    recordings: Sequence[str],
    emissions: Sequence[Emission],
    references: Sequence[str],
) -> str:
    """The file, byte for byte as OmniSTEval writes it."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(recordings))}
    seen: dict[str, int] = {}
    lines = []
    for one, recording, emission, reference in zip(
        ids, recordings, emissions, references, strict=True
    ):
        place = seen[recording] = seen.get(recording, -1) + 1
        line = {
            "index": int(one) if one.isdecimal() else one,
            "docid": numbers[recording],
            "segid": place,
            "prediction": emission.text,
            "reference": reference,
            "source_length": _number(emission.source_length),
            "emission_cu": emission.delays,
            "emission_ca": emission.elapsed,
            "time_to_recording_end": _number(emission.to_end),
        }
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    return "".join(lines)


def _number(value: float | None) -> float | None:
    return None if value is None or np.isnan(value) else value

# SPDX-License-Identifier: Apache-2.0
"""What `assay doctor` says of a log."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.core.document import Intake
from assay.core.errors import AssayError
from assay.core.task import Inspection
from assay.tasks.simul.files import first_objects
from assay.tasks.simul.formats import is_known, open_log
from assay.tasks.simul.log import Block
from assay.tasks.simul.settings import Settings


def inspect(path: str) -> Inspection | None:
    """The kind of a log, how much it holds, and streams that look wrong; None for other files."""
    file = Path(path)
    try:
        if not file.is_file() or not is_known(first_objects(file)):
            return None
        intake = Intake()
        log = open_log(file, Settings(), intake, "error")
        n, findings = 0, _Findings()
        for block in log.blocks:
            findings.add(block)
            n += len(block)
    except AssayError as error:
        return Inspection(0, (), (str(error),))
    notes = [f"log of {log.kind}: {log.source_type} to {log.target_type}, {n:,} streams"]
    return Inspection(n, (*notes, *intake.warnings), tuple(findings.lines()))


class _Findings:
    """Ids of streams by what is odd about them."""

    def __init__(self) -> None:
        self._ids: dict[str, list[str]] = {}

    def add(self, block: Block) -> None:
        """Look at the streams of a block."""
        streams, delays = block.streams, block.streams.delays
        falling = delays.like((delays.values < delays.previous(-np.inf)).astype(float)).sums() > 0
        words = np.array([len(text.split()) for text in streams.texts])
        letters = np.array([len("".join(text.split())) for text in streams.texts])
        has_text = words > 0
        late = delays.lasts() > streams.source + streams.of_text
        odd = {
            "without output": delays.counts == 0,
            "without source": streams.source == 0,
            "whose delays fall": falling,
            "that wrote after the end of the source": late,
            "with another number of delays than words or characters": has_text
            & (delays.counts != words)
            & (delays.counts != letters),
        }
        for what, where in odd.items():
            for i in np.flatnonzero(where):
                self._ids.setdefault(what, []).append(block.ids[int(i)])

    def lines(self) -> list[str]:
        """One line for each kind."""
        return [
            f"{len(ids):,} streams {what} (first: '{ids[0]}')" for what, ids in self._ids.items()
        ]

# SPDX-License-Identifier: Apache-2.0
"""What `assay doctor` says of a log."""

from __future__ import annotations

from pathlib import Path

from assay.core.document import Intake
from assay.core.errors import AssayError
from assay.core.task import Inspection
from assay.tasks.simul.files import first_objects
from assay.tasks.simul.formats import is_known, open_log
from assay.tasks.simul.log import Block
from assay.tasks.simul.oddities import Oddities, odd_counts, odd_times
from assay.tasks.simul.ragged import Mask
from assay.tasks.simul.settings import Settings


def inspect(path: str) -> Inspection | None:
    """The kind of a log, how much it holds, and streams that look wrong; None for other files."""
    file = Path(path)
    try:
        if not file.is_file() or not is_known(first_objects(file)):
            return None
        intake = Intake()
        log = open_log(file, Settings(), intake, "error")
        n, findings = 0, Oddities()
        for block in log.blocks:
            findings.add(block, _odd(block))
            n += len(block)
    except AssayError as error:
        return Inspection(0, (), (str(error),))
    notes = [f"log of {log.kind}: {log.source_type} to {log.target_type}, {n:,} streams"]
    return Inspection(n, (*notes, *intake.warnings), tuple(findings.lines()))


def _odd(block: Block) -> dict[str, Mask]:
    """What is odd, whatever the log is scored by."""
    streams = block.streams
    return {
        "without output": streams.delays.counts == 0,
        "without source": streams.source == 0,
        "that wrote after the end of the source": streams.delays.lasts()
        > streams.source + streams.of_text,
        **odd_times(streams),
        **odd_counts(streams, "word"),
    }

# SPDX-License-Identifier: Apache-2.0
"""Context distances: how many turns back a question refers, by turn."""

from __future__ import annotations

import re
from pathlib import Path

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.read.source import sources
from assay.read.stream import pieces

_BREAK = re.compile("\r\n|\r|\n")

NONE = "none"
"""The distance of a turn that is not in the file."""


def read_distances(path: str | Path, intake: Intake) -> dict[str, str]:
    """Distance by turn: lines of turn, distance and question, with tabs between them.

    Distances stay text; of two lines for one turn the later counts; blank lines are passed over.
    """
    item = (sources(str(path), "gold", intake) or [])[0]
    data = b"".join(pieces(item, "gold", intake, lone=False))
    found: dict[str, str] = {}
    try:
        lines = _BREAK.split(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        wrong = len(_BREAK.split(data[: error.start].decode("utf-8")))
        raise InputError("not UTF-8", path=path, line=wrong, hint="save it as UTF-8") from None
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text:
            continue
        turn, tab, rest = text.partition("\t")
        if not tab:
            raise InputError(
                "no tab in this line",
                path=path,
                line=number,
                hint="a line is turnID, tab, distance, tab, question",
            )
        found[turn] = rest.partition("\t")[0]
    return found

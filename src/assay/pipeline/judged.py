# SPDX-License-Identifier: Apache-2.0
"""How far judges agree about the runs of a report, as plain data for its pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.document import plain
from assay.core.errors import AssayError
from assay.pipeline.agreements import agreements
from assay.pipeline.result import Result
from assay.pipeline.worklist import open_store, verdicts_folder, worklist


def judged(runs: Sequence[Result], judgements: str | None = None) -> list[Mapping[str, Any]]:
    """For each question its measures and pairs of judges, as `report.extras` draws them.

    Verdicts are looked for in `judgements`, in the folder the runs were scored with, and where
    `assay judge` keeps them. Fewer than two judges have nothing to agree on: the list is empty.
    """
    folders = [run.folder for run in runs if run.folder is not None]
    if len(folders) != len(runs):
        return []
    given = judgements or runs[0].document.options.get("judgements")
    folder = verdicts_folder(folders, given)
    if not folder.is_dir():
        return []
    try:
        work = worklist(runs)
        found = agreements(work, open_store(Path(folder), work))
    except AssayError:
        return []  # one judge, say, or a folder of that name that holds something else
    several = len(found.questions) > 1
    return [
        {
            "question": name if several else "",
            "interval": float(found.statistics["ci"]),
            "measures": [
                {"name": c.name, "value": plain(c.value), "interval": plain(c.interval)}
                for c in one.coefficients
            ],
            "pairs": [
                {"judges": list(p.judges), "value": plain(p.percent), "n": p.n} for p in one.pairs
            ],
        }
        for name, one in found.questions.items()
    ]

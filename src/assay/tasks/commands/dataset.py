# SPDX-License-Identifier: Apache-2.0
"""The data folder of the old program: what is read where gold is not given.

`data/NAME` holds the files of descriptions and of commands, and the folder of verdicts. The old
scripts are run beside that folder, or from a folder next to `data`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.core.console import console
from assay.core.errors import UsageError

PLACES = (Path("data"), Path("..", "data"))
USUAL = "bash"
VERDICTS = "manual_judgements"

WRITERS = (
    "sheets and tables are made from saved runs: score each system with --save DIR, then use "
    "'assay judge DIR... --export csv' for a sheet of verdicts, 'assay judge DIR DIR --errors' for "
    "errors, and 'assay compare DIR DIR' for a table"
)


def with_dataset(gold: Any, options: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Gold and options with what the data folder holds, and without the options that name it."""
    left = dict(options)
    name, test = left.pop("dataset", None), left.pop("test_set", False)
    left.pop("gpu", None)
    if left.pop("old_writers", False):
        raise UsageError(WRITERS)
    if gold is not None:
        if test:
            raise UsageError("--test chooses a file of --dataset; with --gold give the test set")
        return gold, left
    folder, files = _found(name or USUAL, "test" if test else "dev")
    if left.get("compat") is None:  # its console says nothing of the kind
        console().note(f"gold read from {files[0]} and {files[1].name}")
    verdicts = folder / VERDICTS
    if left.get("judgements") is None and (left.get("manual_eval") or verdicts.is_dir()):
        left["judgements"] = str(verdicts)
    return files, left


def _found(name: str, part: str) -> tuple[Path, list[Path]]:
    for place in PLACES:
        folder = place / name
        files = [folder / f"{part}.{kind}.filtered" for kind in ("nl", "cm")]
        if all(file.is_file() for file in files):
            return folder, files
    looked = PLACES[0] / name / f"{part}.nl.filtered"
    raise UsageError(f"gold is missing; give it with --gold (there is no {looked} here either)")

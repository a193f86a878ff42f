# SPDX-License-Identifier: Apache-2.0
"""`leaderboard`: all runs below a folder, grouped by gold, the best first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay import tasks
from assay.core.errors import AssayError, InputError
from assay.core.files import DOCUMENT
from assay.core.names import unknown
from assay.pipeline.comparable import comparable, leading
from assay.pipeline.report import Report, grouped, make_report
from assay.pipeline.result import Result
from assay.pipeline.runs import load_run
from assay.report.entries import score_entries
from assay.report.sections import best_first


def leaderboard(
    folder: str | Path,
    *,
    metric: str | None = None,
    task: str | None = None,
    folder_of_page: Path | None = None,
    command: str | None = None,
    **options: Any,
) -> Report:
    """Rank all runs below a folder, those on the same gold together; options as for `make_report`.

    A folder that cannot be read as a run is left out, and the report says so. `task` keeps the
    runs of one task alone.
    """
    root = Path(folder)
    runs, remarks = found_runs(root)
    if task is not None:
        known = {run.document.task for run in runs}
        if task not in known:
            raise unknown("task of these runs", task, known)
        runs = [run for run in runs if run.document.task == task]
    if not runs:
        left_out = f"; left out: {'; '.join(remarks)}" if remarks else ""
        raise InputError(
            f"has no runs below it{left_out}", path=root, hint="save runs there with --save"
        )
    ranked = [run for group in grouped(runs) for run in _ranked(group, metric)]
    title = options.pop("title", None) or f"Leaderboard of {root}"
    return make_report(
        *ranked,
        title=title,
        metric=metric,
        folder=folder_of_page,
        command=command,
        remarks=remarks,
        ranked=True,
        **options,
    )


def found_runs(root: Path) -> tuple[list[Result], list[str]]:
    """All runs below a folder in the order of their paths, and why others were left out."""
    if not root.is_dir():
        raise InputError("is not a folder", path=root, hint="give the folder that holds the runs")
    runs: list[Result] = []
    remarks: list[str] = []
    for path in sorted(root.rglob(DOCUMENT)):
        if any(part.startswith(".") for part in path.relative_to(root).parts):
            continue  # written aside and not finished
        try:
            run = load_run(path.parent)
            next(run.iter_examples(), None)  # which the report looks at to know its columns
            runs.append(run)
        except AssayError as error:
            remarks.append(f"left out: {error}")
    return runs, remarks


def _ranked(group: Sequence[Result], metric: str | None) -> list[Result]:
    """Best first by the leading score; runs that lack it come last, in an order of their own."""
    task = tasks.load(group[0].document.task)
    ranked: list[Result] = []
    for part in comparable(group, task, metric, ranked=True):
        key = leading(part, task, metric)
        places = {id(run.document): run for run in part}
        entry = next((e for e in score_entries(*(r.document for r in part)) if e.key == key), None)
        documents = [run.document for run in part]
        ordered = documents if entry is None else best_first(documents, entry)
        ranked += [places[id(d)] for d in ordered]
    return ranked

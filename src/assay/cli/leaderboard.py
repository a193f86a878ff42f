# SPDX-License-Identifier: Apache-2.0
"""`assay leaderboard DIR`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.output import finished, show, warn
from assay.cli.parameters import OUTPUT, click_options
from assay.cli.report import COMPARING
from assay.core.options import Option

OPTIONS = (
    Option(
        "output",
        ("--output", "-o"),
        "Also write a page: tables, pictures and how it was measured, in one HTML file.",
        kind="path",
        metavar="FILE",
    ),
    Option("title", ("--title",), "The title of the page."),
    Option("task", ("--task",), "Runs of this task only."),
    Option(
        "metric",
        ("--metric", "-m"),
        "The score that ranks; default: the task's choice.",
        metavar="KEY",
    ),
    *COMPARING,
    *OUTPUT,
)


def _leaderboard(
    folder: str,
    *,
    output: str | None,
    json: bool,
    format: str,
    digits: int | None,
    quiet: bool,
    **given: Any,
) -> None:
    from assay.core.files import atomic_file
    from assay.pipeline.leaderboard import leaderboard
    from assay.report.leaderboard import board, render_leaderboard
    from assay.report.measured import warnings

    target = Path(output) if output is not None else None
    command = click.get_current_context().find_root().obj
    # A page links to the runs from where it lies; a table names them as the user would.
    beside = target.parent if target is not None else Path()
    found = leaderboard(folder, folder_of_page=beside, command=command, examples=0, **given)
    warn(found.document.remarks, quiet)
    for section in found.document.sections:
        warn(warnings(section), quiet)
    if target is not None:
        with atomic_file(target) as aside:
            aside.write_text(found.to_html(), encoding="utf-8", newline="\n")
        finished({"page": target}, quiet)
    document: Any = board(found.document) if json else found.document
    show(document, render_leaderboard, json=json, format=format, digits=digits)


command = click.Command(
    "leaderboard",
    callback=_leaderboard,
    params=[
        click.Argument(["folder"], metavar="DIR"),
        *click_options(OPTIONS),
    ],
    help="List all runs below a folder, those on the same gold together and the best first, with "
    "intervals and tests between all pairs.",
)

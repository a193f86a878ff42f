# SPDX-License-Identifier: Apache-2.0
"""`assay compare RUN RUN...`."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.output import show, warn
from assay.cli.parameters import OUTPUT, STATISTICS, click_options
from assay.core.options import Option

OPTIONS = (
    Option("metrics", ("--metric", "-m"), "Compare by this score only. Repeatable.", multiple=True),
    Option(
        "slices",
        ("--slice",),
        "Also compare by each value of this column, corrected by Benjamini-Hochberg. Repeatable.",
        multiple=True,
    ),
    Option(
        "macros",
        ("--macro",),
        "Also compare by this mean over slices: one that the runs declare, or the name of a column "
        "for the mean over its values. Repeatable.",
        multiple=True,
    ),
    Option("cluster", ("--cluster",), "Resample and swap whole groups of this column."),
    *STATISTICS,
    Option(
        "trials",
        ("--trials",),
        "Trials of the approximate randomisation test.",
        kind="integer",
        default=10_000,
    ),
    Option("alpha", ("--alpha",), "Level of the verdicts.", kind="number", default=0.05),
    Option(
        "margin",
        ("--margin",),
        "Differences below this do not matter: systems within it are equivalent. In units of the "
        "score; KEY=0.5 for one score. Repeatable.",
        multiple=True,
        metavar="NUMBER",
    ),
    Option(
        "test",
        ("--test",),
        "McNemar for plain shares and randomisation for the rest (auto), or randomisation for all.",
        kind="choice",
        choices=("auto", "randomisation"),
        default="auto",
    ),
    *OUTPUT,
)


def _compare(
    runs: tuple[str, ...],
    *,
    json: bool,
    format: str,
    digits: int | None,
    quiet: bool,
    **given: Any,
) -> None:
    from assay.pipeline.compare import compare
    from assay.report.comparison import render_comparison

    comparison = compare(*runs, **given)
    warn(comparison.document.warnings, quiet)
    show(comparison.document, render_comparison, json=json, format=format, digits=digits)


command = click.Command(
    "compare",
    callback=_compare,
    params=[
        click.Argument(["runs"], nargs=-1, required=True, metavar="RUN RUN..."),
        *click_options(OPTIONS),
    ],
    help="Say which of several runs is better, by how much, how sure, and by which test. Each pair "
    "is told from its better system; in JSON and CSV the earlier run is the baseline. Runs must "
    "have been scored against the same gold.",
)

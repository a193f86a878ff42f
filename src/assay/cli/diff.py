# SPDX-License-Identifier: Apache-2.0
"""`assay diff RUN RUN`."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.output import show, warn
from assay.cli.parameters import OUTPUT, click_options
from assay.core.options import Option

CHANGES = ("fixed", "broken", "changed", "same")

OPTIONS = (
    Option(
        "metric",
        ("--metric", "-m"),
        "The score to go by; default: the first one of the runs.",
        metavar="KEY",
    ),
    Option(
        "slices",
        ("--slice",),
        "Also count by each value of this column. Repeatable.",
        multiple=True,
        metavar="COLUMN",
    ),
    Option(
        "only",
        ("--only",),
        "List examples of this kind; default: all but the same. Repeatable.",
        kind="choice",
        choices=CHANGES,
        multiple=True,
    ),
    Option(
        "limit",
        ("--limit",),
        "List at most so many examples; 0 for all.",
        kind="integer",
        default=10,
    ),
    Option(
        "min_change",
        ("--min-change",),
        "A score that moves by no more than this counts as unmoved.",
        kind="number",
        default=0.0,
    ),
    Option(
        "format",
        ("--format",),
        "Form of the printed result.",
        kind="choice",
        choices=("table", "markdown", "csv"),
        default="table",
    ),
    *OUTPUT,
)


def _diff(
    baseline: str,
    system: str,
    *,
    limit: int,
    json: bool,
    format: str,
    digits: int | None,
    quiet: bool,
    **given: Any,
) -> None:
    from assay.pipeline.diff import diff
    from assay.report.diff import render_diff

    found = diff(baseline, system, limit=limit or None, **given)
    warn(found.document.warnings, quiet)
    show(found.document, render_diff, json=json, format=format, digits=digits)


command = click.Command(
    "diff",
    callback=_diff,
    params=[
        click.Argument(["baseline"], metavar="RUN"),
        click.Argument(["system"], metavar="RUN"),
        *click_options(OPTIONS),
    ],
    help="List what changed from the first run to the second, example by example. By the chosen "
    "score an example is fixed (better than before: of a right/wrong score, wrong before and right "
    "now), broken (worse than before), changed (another prediction, neither better nor worse) or "
    "the same. The largest change comes first, of equal ones the broken first. Runs must have been "
    "scored against the same gold.",
)

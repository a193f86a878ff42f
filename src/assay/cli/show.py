# SPDX-License-Identifier: Apache-2.0
"""`assay show RUN`."""

from __future__ import annotations

import click

from assay.cli.output import show, warn
from assay.cli.parameters import OUTPUT, click_options


def _show(run: str, *, json: bool, format: str, digits: int | None, quiet: bool) -> None:
    from assay.pipeline.runs import load_run
    from assay.report.result import render_result

    result = load_run(run)
    warn(result.document.warnings, quiet)
    show(result.document, render_result, json=json, format=format, digits=digits)


command = click.Command(
    "show",
    callback=_show,
    params=[click.Argument(["run"], metavar="RUN"), *click_options(OUTPUT)],
    help="Show a saved run: scores, intervals, slices, signature.",
)

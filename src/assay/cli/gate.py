# SPDX-License-Identifier: Apache-2.0
"""`assay gate RUN --baseline RUN`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.output import finished, show, warn
from assay.cli.parameters import OUTPUT, STATISTICS, click_options
from assay.core.options import Option

OPTIONS = (
    Option("baseline", ("--baseline",), "The run to hold it against.", kind="path", metavar="RUN"),
    Option(
        "max_drop",
        ("--max-drop",),
        "How much worse a score may be: 0.5 in its own units (BLEU points, 0.01 of a share), 2% of "
        "the baseline's score, or KEY=0.5 for one score. Default 0. Repeatable.",
        multiple=True,
        metavar="X",
    ),
    Option(
        "mode",
        ("--mode",),
        "significant: fail a loss above --max-drop that is statistically significant. "
        "noninferior: fail unless the interval excludes a loss of --max-drop or more.",
        kind="choice",
        choices=("significant", "noninferior"),
        default="significant",
    ),
    Option(
        "metrics",
        ("--metric", "-m"),
        "Compare by this score; default: all that both runs have. Repeatable.",
        multiple=True,
        metavar="KEY",
    ),
    Option(
        "slices",
        ("--slice",),
        "Also check each value of this column. Repeatable.",
        multiple=True,
        metavar="COLUMN",
    ),
    Option(
        "minimum",
        ("--min",),
        "Fail if this score is below the value. Repeatable.",
        multiple=True,
        metavar="KEY=VALUE",
    ),
    Option(
        "maximum",
        ("--max",),
        "Fail if this score, of those where lower is better, is above the value. Repeatable.",
        multiple=True,
        metavar="KEY=VALUE",
    ),
    Option("junit", ("--junit",), "Write JUnit XML to this file.", kind="path", metavar="FILE"),
    Option(
        "markdown",
        ("--markdown",),
        "Write a Markdown summary to this file.",
        kind="path",
        metavar="FILE",
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
    Option("alpha", ("--alpha",), "Level of the tests.", kind="number", default=0.05),
    *OUTPUT,
)


def _gate(
    run: str,
    *,
    max_drop: tuple[str, ...],
    minimum: tuple[str, ...],
    maximum: tuple[str, ...],
    junit: str | None,
    markdown: str | None,
    json: bool,
    format: str,
    digits: int | None,
    quiet: bool,
    **given: Any,
) -> None:
    from assay.core.files import atomic_file
    from assay.pipeline.gate import gate
    from assay.pipeline.limits import parse_limits
    from assay.report.gate import render_gate

    found = gate(
        run,
        max_drop=max_drop,
        minimum=parse_limits("--min", minimum),
        maximum=parse_limits("--max", maximum),
        **given,
    )
    warn(found.document.warnings, quiet)
    written: dict[str, Path] = {}
    if junit is not None:
        written["JUnit XML"] = Path(junit)
        with atomic_file(Path(junit)) as aside:
            aside.write_text(found.to_junit(), encoding="utf-8")
    if markdown is not None:
        written["Markdown summary"] = Path(markdown)
        with atomic_file(Path(markdown)) as aside:
            aside.write_text(found.to_text("markdown", digits), encoding="utf-8")
    finished(written, quiet)
    show(found.document, render_gate, json=json, format=format, digits=digits)
    found.demand()


command = click.Command(
    "gate",
    callback=_gate,
    params=[click.Argument(["run"], metavar="RUN"), *click_options(OPTIONS)],
    help="Check a run against its baseline, against fixed limits, or both. Exit code 0 if it "
    "passes, 1 if it does not, 2 for wrong usage or input.",
)

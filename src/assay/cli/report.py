# SPDX-License-Identifier: Apache-2.0
"""`assay report RUN... -o report.html`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.output import finished, warn
from assay.cli.parameters import STATISTICS, click_options
from assay.core.options import Option

FORMATS = ("html", "markdown", "latex")
ENDINGS = {".md": "markdown", ".markdown": "markdown", ".tex": "latex"}

COMPARING = (
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
)

OPTIONS = (
    Option(
        "output",
        ("--output", "-o"),
        "The file to write. HTML goes to report.html by default, other forms to standard output.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "format",
        ("--format",),
        "One HTML page, Markdown for a pull request, or LaTeX tables; default: by the file's name.",
        kind="choice",
        choices=FORMATS,
    ),
    Option("title", ("--title",), "The title of the report."),
    Option(
        "metric",
        ("--metric", "-m"),
        "The score that leads; default: the task's choice.",
        metavar="KEY",
    ),
    Option(
        "slices",
        ("--slice",),
        "Also compare by each value of this column. Repeatable.",
        multiple=True,
        metavar="COLUMN",
    ),
    Option(
        "examples",
        ("--examples",),
        "Show so many telling examples for each gold; 0 for none.",
        kind="integer",
        default=150,
    ),
    Option(
        "judgements",
        ("--judgements",),
        "Folder of verdicts, to show how far judges agree; default: where assay judge keeps them.",
        kind="path",
        metavar="DIR",
    ),
    *COMPARING,
    Option("digits", ("--digits",), "Digits behind the point in tables.", kind="integer"),
    Option("quiet", ("--quiet", "-q"), "No notes or warnings on stderr.", kind="flag"),
)


def _report(
    runs: tuple[str, ...],
    *,
    output: str | None,
    format: str | None,
    digits: int | None,
    quiet: bool,
    **given: Any,
) -> None:
    from assay.core.files import atomic_file
    from assay.pipeline.report import make_report
    from assay.report.measured import warnings

    form = format or ENDINGS.get(Path(output or "").suffix.lower(), "html")
    target = Path(output) if output else (Path("report.html") if form == "html" else None)
    command = click.get_current_context().find_root().obj
    folder = target.parent if target is not None else None
    found = make_report(*runs, folder=folder, command=command, **given)
    for section in found.document.sections:
        warn(warnings(section), quiet)
    text = found.to_html() if form == "html" else found.to_text(form, digits)
    if target is None or str(target) == "-":
        click.echo(text, nl=False)
        return
    with atomic_file(target) as aside:
        aside.write_text(text, encoding="utf-8", newline="\n")
    finished({"report": target}, quiet)


command = click.Command(
    "report",
    callback=_report,
    params=[
        click.Argument(["runs"], nargs=-1, required=True, metavar="RUN..."),
        *click_options(OPTIONS),
    ],
    help="Make one page of runs: who is best, by how much and how sure, tables with intervals, "
    "pictures, telling examples, how it was measured. The page is a single file that needs no "
    "network. Runs on the same gold are compared, others get sections of their own.",
)

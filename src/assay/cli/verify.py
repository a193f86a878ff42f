# SPDX-License-Identifier: Apache-2.0
"""`assay verify RUN`."""

from __future__ import annotations

import click

from assay.cli.parameters import click_options
from assay.core.errors import FindingError
from assay.core.options import Option

OPTIONS = (
    Option(
        "root",
        ("--root",),
        "Where relative paths of the inputs start; default: the current folder.",
        kind="path",
        metavar="DIR",
    ),
    Option("jobs", ("--jobs", "-j"), "Worker processes.", kind="integer", default=1),
)


def _verify(run: str, root: str | None, jobs: int) -> None:
    from assay.pipeline.verify import verify

    found = verify(run, root=root, jobs=jobs)
    for finding in found.findings:
        click.echo(finding)
    if found.findings:
        n = len(found.findings)
        raise FindingError(
            f"{run} does not hold: {n:,} statement{'s differ' if n > 1 else ' differs'}"
        )
    click.echo(f"{run} holds: {found.numbers:,} numbers computed again and found equal")


command = click.Command(
    "verify",
    callback=_verify,
    params=[click.Argument(["run"], metavar="RUN"), *click_options(OPTIONS)],
    help="Compute a saved run again from its inputs and compare every number. Exit code 1 if "
    "anything differs.",
)

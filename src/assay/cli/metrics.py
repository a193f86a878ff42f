# SPDX-License-Identifier: Apache-2.0
"""`assay metrics`."""

from __future__ import annotations

import inspect

import click


def _metrics() -> None:
    from assay import metrics

    for cls in [*metrics.builtin(), *metrics.plugins()]:
        summary = (inspect.getdoc(cls) or "").partition("\n")[0]
        click.echo(f"{cls.from_parameters({}).signature}")
        click.echo(f"    {summary}")
        scores = ", ".join(
            f"{s.name} ({s.low:g} to {s.high:g}, {'higher' if s.higher_is_better else 'lower'} is "
            "better)"
            for s in cls.scores
        )
        click.echo(f"    scores: {scores}")
        if cls.aliases:
            click.echo(f"    also: {', '.join(cls.aliases)}")


command = click.Command(
    "metrics",
    callback=_metrics,
    help="List the metrics of the text families with their parameters and defaults.",
)

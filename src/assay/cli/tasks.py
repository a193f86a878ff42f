# SPDX-License-Identifier: Apache-2.0
"""`assay tasks`."""

from __future__ import annotations

import click


def _tasks() -> None:
    from assay import tasks

    for name in tasks.names():
        click.echo(f"{name:<12}{tasks.summary(name)}")
    for name, task in tasks.plugins().items():
        click.echo(f"{name:<12}{task.summary}")


command = click.Command("tasks", callback=_tasks, help="List the tasks.")

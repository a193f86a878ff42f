# SPDX-License-Identifier: Apache-2.0
"""The `assay` command and the list of what is below it."""

from __future__ import annotations

import importlib

import click

import assay
from assay.cli.front import COMMANDS, HELP_FLAGS, WIDEST, front_page


class Root(click.Group):
    """Finds commands by name: modules of this package, then tasks by folder, then plug-ins."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Tasks first, then what works on any run."""
        from assay import tasks

        return [*tasks.names(), *COMMANDS]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name, imported now."""
        if name in COMMANDS:
            module = importlib.import_module(f"assay.cli.{name}")
            found: click.Command = module.command
            return found
        from assay import tasks
        from assay.cli.scoring import task_group

        if name in tasks.names():
            return task_group(tasks.load(name))
        outside = tasks.plugins()
        return task_group(outside[name]) if name in outside else None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Like click, but an unknown name gets the nearest one as a suggestion."""
        found = self.get_command(ctx, args[0])
        if found is None:
            from assay.core.names import unknown

            raise unknown("command", args[0], self.list_commands(ctx))
        return args[0], found, args[1:]

    def get_help(self, ctx: click.Context) -> str:
        """The front page, which is there without click as well."""
        return front_page(ctx.terminal_width).rstrip()


@click.command(
    cls=Root,
    context_settings={
        "help_option_names": list(HELP_FLAGS),
        # The replaced tools spell their options both ways: --dataset_name is --dataset-name.
        "token_normalize_func": lambda name: name.replace("_", "-"),
        "max_content_width": WIDEST,
    },
)
@click.version_option(assay.__version__, "--version", message="assay %(version)s")
def root() -> None:
    """Measure predictions against gold, and know how sure you are."""

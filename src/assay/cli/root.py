# SPDX-License-Identifier: Apache-2.0
"""The `assay` command and the list of what is below it."""

from __future__ import annotations

import importlib

import click

import assay

COMMANDS = {
    "compare": "Say which of several runs is better, by how much and how sure.",
    "demo": "Score and compare sample systems of every task, as one page.",
    "diff": "List what changed between two runs, example by example.",
    "doctor": "Say what files are, what is wrong with them, and whether two line up.",
    "gate": "Fail (exit code 1) when a run is worse than its baseline.",
    "judge": "Ask people whether predictions are right; agreement, estimates.",
    "leaderboard": "List all runs below a folder, the best first.",
    "metrics": "List the metrics with their parameters.",
    "plan": "How many examples a comparison needs, or what it can show.",
    "report": "Make one page of runs: the answer, tables, pictures, examples.",
    "show": "Show a saved run.",
    "tasks": "List the tasks.",
    "verify": "Compute a saved run again from its inputs and compare.",
}
"""What works on any run: name -> one line; each is `command` of the module of that name."""


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

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Two sections, written without importing the commands."""
        from assay import tasks

        with formatter.section("Tasks"):
            formatter.write_dl([(name, tasks.summary(name)) for name in tasks.names()])
        with formatter.section("On any run"):
            formatter.write_dl(list(COMMANDS.items()))


@click.command(
    cls=Root,
    context_settings={
        "help_option_names": ["-h", "--help"],
        # The replaced tools spell their options both ways: --dataset_name is --dataset-name.
        "token_normalize_func": lambda name: name.replace("_", "-"),
        "max_content_width": 100,
    },
)
@click.version_option(assay.__version__, "--version", message="assay %(version)s")
def root() -> None:
    """Measure predictions against gold, and know how sure you are.

    \b
    assay text score --predictions system.txt --gold reference.txt -m bleu --save runs/system
    assay compare runs/baseline runs/system
    """

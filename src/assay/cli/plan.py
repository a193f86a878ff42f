# SPDX-License-Identifier: Apache-2.0
"""`assay plan`: before the work, what can it show?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import click

from assay.cli.parameters import click_options
from assay.core.errors import UsageError
from assay.core.options import Option

if TYPE_CHECKING:
    from assay.aggregate.plan import Plan

OPTIONS = (
    Option("examples", ("--examples", "-n"), "How many examples there are.", kind="integer"),
    Option("difference", ("--difference",), "The difference that should be found.", kind="number"),
    Option(
        "discordance",
        ("--discordance",),
        "Share of examples that exactly one of the systems gets right, if there is no pilot.",
        kind="number",
    ),
    Option(
        "metric", ("--metric", "-m"), "The score of the pilot runs to plan for; default: the first."
    ),
    Option("cluster", ("--cluster",), "Column of the pilot runs whose groups belong together."),
    Option(
        "systems",
        ("--systems",),
        "How many systems will be compared, each with each; more need more examples.",
        kind="integer",
        default=2,
    ),
    Option("alpha", ("--alpha",), "Level of the test.", kind="number", default=0.05),
    Option("power", ("--power",), "Wanted chance of finding it.", kind="number", default=0.8),
)


def _plan(
    pilot: tuple[str, ...],
    examples: int | None,
    difference: float | None,
    discordance: float | None,
    metric: str | None,
    cluster: str | None,
    systems: int,
    alpha: float,
    power: float,
) -> None:
    from assay.aggregate.plan import Shares

    if systems < 2:
        raise UsageError(f"--systems {systems} must be at least 2")
    pairs = math.comb(systems, 2)
    # Holm asks this much of the first pair it decides, and less of the others.
    strict = alpha / pairs
    plan: Plan
    if pilot and discordance is not None:
        raise UsageError("give two pilot runs or --discordance, not both")
    if pilot:
        plan, n_pilot, source = _from_pilot(pilot, metric, cluster, strict)
        examples = examples if examples is not None or difference is not None else n_pilot
    elif discordance is not None:
        plan, source = Shares(discordance, strict), f"discordance {discordance:g}"
    else:
        raise UsageError("give two pilot runs, or --discordance; see 'assay plan --help'")
    level = f"{alpha:g}" if pairs == 1 else f"{alpha:g} over {pairs:,} pairs"
    given = f"(two-sided {level}, from {source})"
    if examples is None and difference is None:
        raise UsageError("give --examples, --difference, or both")
    if examples is not None and difference is not None:
        chance = plan.chance(examples, difference)
        click.echo(
            f"{examples:,} examples find a difference of {difference:g} "
            f"with chance {chance:.2f} {given}"
        )
    if difference is not None:
        n = plan.needed(difference, power)
        click.echo(
            f"{n:,} examples find a difference of {difference:g} with chance {power:g} {given}"
        )
    if examples is not None:
        least = plan.detectable(examples, power)
        found = "no difference" if math.isnan(least) else f"a difference of {least:.3g} or more"
        click.echo(f"{examples:,} examples find {found} with chance {power:g} {given}")


def _from_pilot(
    given: tuple[str, ...], metric: str | None, cluster: str | None, alpha: float
) -> tuple[Plan, int, str]:
    from assay.aggregate.plan import pilot
    from assay.core.names import unknown
    from assay.pipeline.pairing import paired

    if len(given) != 2:
        raise UsageError(f"a pilot is two runs, not {len(given)}")
    runs = paired(given)
    keys = {
        score.key: (kind, score.name, where)
        for kind, entry, where in runs.layout.parts()
        for score in entry.scores
    }
    key = metric or next(iter(keys))
    if key not in keys:
        raise unknown("score of the pilot", key, keys)
    if cluster is None:
        # Runs that were clustered alike are planned for alike.
        columns = {run.document.statistics.get("cluster") for run in runs.runs}
        cluster = columns.pop() if len(columns) == 1 else None
    codes = runs.grouping(cluster).codes if cluster is not None else None
    kind, name, where = keys[key]
    baseline, system = (rows[:, where] for rows in runs.rows)
    plan = pilot(kind, name, system, baseline, clusters=codes, alpha=alpha)
    source = f"{key} of {runs.runs[0].system} and {runs.runs[1].system}"
    if cluster is not None:
        source += f" by {cluster}"
    return plan, len(system), source


command = click.Command(
    "plan",
    callback=_plan,
    params=[
        click.Argument(["pilot"], nargs=-1, metavar="[RUN RUN]"),
        *click_options(OPTIONS),
    ],
    help="How many examples a comparison needs, how small a difference a number of examples can "
    "show, or (with both) how likely they are to show it: from two pilot runs by any of their "
    "scores, or for right-or-wrong answers from an assumed discordance.",
)

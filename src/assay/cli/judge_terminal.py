# SPDX-License-Identifier: Apache-2.0
"""`assay judge RUN...` at a terminal, or with answers from a pipe."""

from __future__ import annotations

import getpass
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay import tasks
from assay.cli.judgements import presenter
from assay.cli.keyboard import console
from assay.core.errors import InputError, UsageError
from assay.judge.keys import keys_of, reasons_of
from assay.judge.log import VerdictLog
from assay.judge.queue import place_of
from assay.judge.store import is_party
from assay.judge.terminal import judge_at, spell_time
from assay.pipeline.agreements import said_by_others
from assay.pipeline.queues import Plan, running_line
from assay.report.terminal import columns_of, wants_colour
from assay.report.words import cut_by

if TYPE_CHECKING:
    from assay.core.judging import Question
    from assay.judge.agenda import Progress
    from assay.judge.needs import Which
    from assay.judge.queue import Entry
    from assay.judge.sample import Sample
    from assay.judge.session import Session
    from assay.judge.store import Store
    from assay.pipeline.worklist import Worklist


def judge_at_terminal(work: Worklist, store: Store, folder: Path, **given: Any) -> None:
    """Ask until all is answered, decided, or the judge leaves."""
    judge = _login() if given["judge"] is None else given["judge"]
    keys, reasons = keys_of(given["keys"]), reasons_of(given["reasons"])
    plan = Plan.of(given)
    with VerdictLog(folder, judge, structure_of=work.structure_of) as log:
        session, queue = plan.session(work, store, folder, log)
        opening = [_opening(queue.entries, queue.sample, judge, folder)]
        if not queue.entries:
            click.echo(opening[0])
            return
        if plan.adjudicate and (own := _own(queue.entries, work.questions, store, judge)):
            opening.append(
                f"{judge} is one of those who differ on {own:,} of them; a third person should "
                "settle these"
            )
        if told := _deciding(session.progress, plan.deciding):
            opening.append(told)
        colour = wants_colour(sys.stdout, os.environ)
        width = columns_of(sys.stdout, os.environ) or 100
        before = session.progress.done
        present = presenter(
            colour=colour,
            width=width,
            split=cut_by(tasks.load(work.task).tokens),
            said=(lambda item: said_by_others(work, store, item)) if plan.adjudicate else None,
        )

        def running() -> tuple[str, bool]:
            return running_line(work, store, log, plan.alpha)

        try:
            with console() as where:
                for line in opening:
                    where.say(line)
                end = judge_at(
                    where,
                    session,
                    present=present,
                    keys=keys,
                    guidelines=work.guidelines,
                    reasons=reasons,
                    running=running if plan.until_decided else None,
                )
        except (KeyboardInterrupt, click.Abort):
            click.echo(f"\nassay: interrupted; {_kept(session, before)}", err=True)
            raise click.exceptions.Exit(130) from None
    if end == "closed":
        raise InputError(f"the input ended; {_kept(session, before)}")
    click.echo("")
    click.echo(f"{'decided' if end == 'decided' else end}: {_kept(session, before)}")


def _login() -> str:
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # a container whose user has no name
        raise UsageError("say who judges: --judge NAME") from None


def _opening(entries: list[Entry], sample: Sample | None, judge: str, folder: Path) -> str:
    drawn = ""
    if sample is not None:
        drawn = (
            f", {len(sample.drawn)} of {sample.population:,} examples drawn with seed {sample.seed}"
        )
    if not entries:
        return f"nothing is left to judge for {judge}{drawn}; verdicts are in {folder}"
    n = len(entries)
    return f"{judge}: {n:,} item{'' if n == 1 else 's'} to judge{drawn}; verdicts go to {folder}"


def _own(entries: Sequence[Entry], questions: Sequence[Question], store: Store, judge: str) -> int:
    """How many items the judge has an opinion on that is to be settled."""
    return sum(
        any(is_party(store, place_of(entry.item, question), judge) for question in questions)
        for entry in entries
    )


def _deciding(progress: Progress, which: Which | None) -> str:
    """How much of what is open can still change a score; nothing where all of it can."""
    if which == "only" and progress.spared:
        return f"not asked, because no score can change by it: {progress.spared:,}"
    if not progress.idle:
        return ""
    time = spell_time(progress.deciding * progress.seconds_per_item)
    left = progress.deciding + progress.idle
    n = f"{progress.deciding:,} of {left:,} open items can still change a score"
    if which == "first":
        return f"{n} and come first (about {time})"
    return f"{n} (about {time}): --deciding first asks these first, --deciding only no others"


def _kept(session: Session, before: int) -> str:
    progress = session.progress
    new = progress.done - before
    again = "; run the same command to go on" if progress.left else ""
    items = "item is" if new == 1 else "items are"
    spared = progress.spared
    less = f" ({spared} need{'s' if spared == 1 else ''} no answer)" if spared else ""
    kept = f"{new} {items} newly judged and kept"
    return f"{kept}, {progress.left} of {progress.total} left{less}{again}"

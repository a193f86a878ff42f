# SPDX-License-Identifier: Apache-2.0
"""`assay judge RUN...`: people's verdicts on the predictions of any run."""

from __future__ import annotations

import getpass
import os
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.output import show, warn
from assay.cli.parameters import OUTPUT, STATISTICS, click_options
from assay.core.errors import InputError, UsageError
from assay.core.options import Option

if TYPE_CHECKING:
    from assay.judge.documents import ErrorsDocument
    from assay.judge.queue import Entry
    from assay.judge.sample import Sample
    from assay.judge.store import Store
    from assay.pipeline.worklist import Worklist

OPTIONS = (
    Option("judge", ("--judge",), "Who judges; default: your login name.", metavar="NAME"),
    Option(
        "judgements",
        ("--judgements",),
        "Folder of the verdicts; default: 'judgements' beside the run.",
        kind="path",
        metavar="DIR",
    ),
    Option("web", ("--web",), "Judge in the browser; several people can, by name.", kind="flag"),
    Option(
        "host",
        ("--host",),
        "Address for --web; one that others can reach needs a token.",
        default="127.0.0.1",
    ),
    Option(
        "port", ("--port",), "Port for --web; 0 is any free one.", kind="integer", default=12380
    ),
    Option("token", ("--token",), "Token for --web; default: a new one where one is needed."),
    Option(
        "sample",
        ("--sample",),
        "Judge this many examples, drawn with --seed and put on record, so that --estimate can "
        "speak for all.",
        kind="integer",
        metavar="N",
    ),
    Option(
        "differing",
        ("--differing",),
        "Of two runs judge only examples on which they differ.",
        kind="flag",
    ),
    Option(
        "until_decided",
        ("--until-decided",),
        "Of two runs judge until it is clear which is better, and no longer.",
        kind="flag",
    ),
    Option(
        "alpha",
        ("--alpha",),
        "Chance of a false decision with --until-decided.",
        kind="number",
        default=0.05,
    ),
    Option(
        "overlap",
        ("--overlap",),
        "Leave out what this many others have decided; default: everybody judges everything.",
        kind="integer",
        metavar="N",
    ),
    Option(
        "controls",
        ("--controls",),
        "Strew in this many items whose answer is known.",
        kind="integer",
        default=0,
    ),
    Option(
        "repeats",
        ("--repeats",),
        "Ask this many items a second time, to see how steady a judge is.",
        kind="integer",
        default=0,
    ),
    Option(
        "adjudicate",
        ("--adjudicate",),
        "Judge what others disagree on or are unsure about; your answer is final.",
        kind="flag",
    ),
    Option("keys", ("--keys",), "Other keys: 'yes=j,no=k'.", metavar="KEYS"),
    Option(
        "guidelines",
        ("--guidelines",),
        "Text file with guidelines for judges, one key away.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "reasons",
        ("--reasons",),
        "Ready-made reasons for the keys 1 to 9: 'wrong flag,wrong utility'.",
        metavar="LIST",
    ),
    Option("agreement", ("--agreement",), "Print how far judges agree.", kind="flag"),
    Option(
        "weights",
        ("--weights",),
        "For Cohen's kappa; other than nominal takes unsure for a step between no and yes.",
        kind="choice",
        choices=("nominal", "linear", "quadratic"),
        default="nominal",
    ),
    Option(
        "errors",
        ("--errors",),
        "Print where two systems go wrong, together or alone, and for which reasons.",
        kind="flag",
    ),
    Option(
        "estimate",
        ("--estimate",),
        "Print what people would say about the whole set, from the judged sample.",
        kind="flag",
    ),
    Option(
        "metric",
        ("--metric", "-m"),
        "The automatic score that --estimate builds on; default: the first that tells examples "
        "apart whose verdicts are not known, right/wrong ones first.",
        metavar="KEY",
    ),
    Option(
        "export",
        ("--export",),
        "Print the verdicts: csv has the old columns, jsonl everything.",
        kind="choice",
        choices=("csv", "jsonl"),
    ),
    Option("order_seed", ("--order-seed",), "Seed of your own order of items.", kind="integer"),
    Option(
        "format",
        ("--format",),
        "Form of the printed result.",
        kind="choice",
        choices=("table", "markdown", "latex"),
        default="table",
    ),
    Option("ci", ("--ci",), "Level of the intervals.", kind="number", default=0.95),
    Option(
        "seed", ("--seed",), "Seed of --sample and of resampling.", kind="integer", default=12345
    ),
    *STATISTICS,
    *OUTPUT,
)


def _judge(runs: tuple[str, ...], **given: Any) -> None:
    from assay.pipeline.worklist import open_store, verdicts_folder, worklist

    modes = [m for m in ("web", "agreement", "errors", "estimate", "export") if given[m]]
    if len(modes) > 1:
        raise UsageError(f"--{modes[0]} and --{modes[1]} are two things; ask for one at a time")
    if given["agreement"] and len(runs) == 1 and Path(runs[0]).is_file():
        _agreement_of_file(Path(runs[0]), **given)
        return
    folder = verdicts_folder(runs, given["judgements"])
    if modes and modes[0] != "web" and not folder.exists():
        raise InputError(
            "does not exist, so nobody has judged yet",
            path=folder,
            hint="judge first, or name the folder of the verdicts with --judgements",
        )
    if given["estimate"]:
        _estimate(runs, folder, **given)
        return
    work = worklist(runs, _guidelines(given["guidelines"]))
    store = open_store(folder, work)
    warn([f"{c}; the last one counts" for c in store.sheet_conflicts[:5]], given["quiet"])
    if given["agreement"]:
        _agreement(work, store, **given)
        return
    if given["errors"]:
        from assay.pipeline.errors import errors_of_runs

        _errors(errors_of_runs(work, store), **given)
        return
    if given["export"]:
        _export(work, store, given["export"])
        return
    if given["web"]:
        from assay.cli.judge_web import serve_judging

        serve_judging(work, folder, **given)
        return
    _at_terminal(work, store, folder, **given)


# -- what has been judged -------------------------------------------------------------------------


def _agreement(work: Worklist, store: Store, **given: Any) -> None:
    from assay.cli.judgements import render_agreement
    from assay.pipeline.agreements import agreements

    document = agreements(
        work,
        store,
        weights=given["weights"],
        level=given["ci"],
        resamples=given["resamples"],
        seed=given["seed"],
    )
    show(document, render_agreement, **_form(given))


def _agreement_of_file(path: Path, **given: Any) -> None:
    from assay.cli.judgements import render_agreement
    from assay.pipeline.columns import agreements_of_columns

    document = agreements_of_columns(
        path,
        weights=given["weights"],
        level=given["ci"],
        resamples=given["resamples"],
        seed=given["seed"],
    )
    show(document, render_agreement, **_form(given))


def _errors(document: ErrorsDocument, **given: Any) -> None:
    from assay.cli.judgements import render_errors

    show(document, render_errors, **_form(given))


def _estimate(runs: tuple[str, ...], folder: Path, **given: Any) -> None:
    from assay.cli.judgements import render_estimate
    from assay.pipeline.estimates import estimates

    document = estimates(runs, folder, metric=given["metric"], level=given["ci"])
    show(document, render_estimate, **_form(given))


def _export(work: Worklist, store: Store, form: str) -> None:
    from assay.judge.export import to_lines, to_sheet

    lines = (to_sheet if form == "csv" else to_lines)(work.items, work.questions, store)
    for line in lines:
        click.echo(line, nl=False)


def _form(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("json", "format", "digits")}


# -- judging --------------------------------------------------------------------------------------


def _at_terminal(work: Worklist, store: Store, folder: Path, **given: Any) -> None:
    from assay.cli.judgements import presenter
    from assay.cli.keyboard import console
    from assay.judge.keys import keys_of, reasons_of
    from assay.judge.log import VerdictLog
    from assay.judge.session import Session
    from assay.judge.terminal import judge_at
    from assay.pipeline.agreements import said_by_others
    from assay.pipeline.queues import Plan, running_line

    judge = given["judge"] or _login()
    keys, reasons = keys_of(given["keys"]), reasons_of(given["reasons"])
    plan = Plan.of(given)
    with VerdictLog(folder, judge) as log:
        queue = plan.queue(work, store, folder, judge)
        session = Session(
            log,
            queue.entries,
            work.questions,
            settled=store.sheets,
            sample=queue.sample.name if queue.sample else None,
            adjudicates=plan.adjudicate,
        )
        click.echo(_opening(queue.entries, queue.sample, judge, folder))
        if not queue.entries:
            return
        colour = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else 100
        before = session.progress.done
        present = presenter(
            colour=colour,
            width=width,
            said=(lambda item: said_by_others(work, store, item)) if plan.adjudicate else None,
        )

        def running() -> tuple[str, bool]:
            return running_line(work, store, log, plan.alpha)

        try:
            with console() as where:
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


def _kept(session: Any, before: int) -> str:
    progress = session.progress
    new = progress.done - before
    again = "; run the same command to go on" if progress.left else ""
    items = "item is" if new == 1 else "items are"
    return f"{new} {items} newly judged and kept, {progress.left} of {progress.total} left{again}"


def _guidelines(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read ({error})", path=path) from None


command = click.Command(
    "judge",
    callback=_judge,
    params=[
        click.Argument(["runs"], metavar="RUN...", nargs=-1, required=True),
        *click_options(OPTIONS),
    ],
    help="Ask people whether predictions are right: at the terminal, or in the browser with --web. "
    "Works on runs of any task. Verdicts are kept one by one in a folder, are found again for the "
    "same prediction of any system, and can be taken up again at any time. With several runs of "
    "the same gold each different prediction is judged once, and nobody sees whose it is. "
    "Afterwards --agreement says how far judges agree, --errors where two systems go wrong, "
    "--estimate what people would say about all examples, --export hands the verdicts on.",
)

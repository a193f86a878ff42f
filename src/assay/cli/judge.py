# SPDX-License-Identifier: Apache-2.0
"""`assay judge RUN...`: people's verdicts on the predictions of any run."""

from __future__ import annotations

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
        "deciding",
        ("--deciding",),
        "Ask what can still change a score first, or only that.",
        kind="choice",
        choices=("first", "only"),
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
        "between",
        ("--between",),
        "With --agreement: of these judges alone, 'anna,bert'; default: all.",
        metavar="NAMES",
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
    conflicts = list(dict.fromkeys(map(str, store.sheet_conflicts)))
    warn([f"{c}; the last one counts" for c in conflicts[:5]], given["quiet"])
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
    from assay.cli.judge_terminal import judge_at_terminal

    judge_at_terminal(work, store, folder, **given)


# -- what has been judged -------------------------------------------------------------------------


def _agreement(work: Worklist, store: Store, **given: Any) -> None:
    from assay.cli.judgements import render_agreement
    from assay.pipeline.agreements import agreements

    show(agreements(work, store, **_statistics(given)), render_agreement, **_form(given))


def _agreement_of_file(path: Path, **given: Any) -> None:
    from assay.cli.judgements import render_agreement
    from assay.pipeline.columns import agreements_of_columns

    show(agreements_of_columns(path, **_statistics(given)), render_agreement, **_form(given))


def _statistics(given: dict[str, Any]) -> dict[str, Any]:
    """What agreement is computed by."""
    between = (name.strip() for name in (given["between"] or "").split(","))
    return {
        "weights": given["weights"],
        "level": given["ci"],
        "resamples": given["resamples"],
        "seed": given["seed"],
        "between": [name for name in between if name],
    }


def _errors(document: ErrorsDocument, **given: Any) -> None:
    from assay.cli.judgements import render_errors

    show(document, render_errors, **_form(given))


def _estimate(runs: tuple[str, ...], folder: Path, **given: Any) -> None:
    from assay.cli.judgements import render_estimate
    from assay.pipeline.estimates import estimates

    document = estimates(runs, folder, metric=given["metric"], level=given["ci"])
    warn(document.warnings, given["quiet"])
    show(document, render_estimate, **_form(given))


def _export(work: Worklist, store: Store, form: str) -> None:
    from assay.judge.export import to_lines, to_sheet
    from assay.report.terminal import spelled

    what = work.items, work.questions, store
    shown = sys.stdout is not None and sys.stdout.isatty()
    for line in to_sheet(*what) if form == "csv" else to_lines(*what):
        # Data in a file is handed on as it is, but not to steer a terminal with.
        click.echo(spelled(line, keep_lines=True) if shown else line, nl=False, color=True)


def _form(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in ("json", "format", "digits")}


def _guidelines(path: str | None) -> str | None:
    if path is None:
        return None
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path, hint="save it as UTF-8") from None


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

# SPDX-License-Identifier: Apache-2.0
"""`assay TASK score` and the other verbs of a task, built from the task's declaration."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.output import bar, finished, note, progress_line, show, warn
from assay.cli.parameters import SCORING, SeveralWords, WithRest, click_options
from assay.core.console import Streams, talking
from assay.core.errors import UsageError
from assay.core.options import Verb
from assay.core.task import Task

if TYPE_CHECKING:
    from assay.pipeline.result import Result


def task_group(task: Task) -> click.Group:
    """The commands of one task."""
    group = click.Group(task.name, help=task.summary)
    group.add_command(_score_command(task))
    for verb in task.verbs:
        group.add_command(_verb_command(verb))
    return group


def _score_command(task: Task) -> click.Command:
    def score(**given: Any) -> None:
        _score(task, **given)

    return SeveralWords(
        "score",
        callback=score,
        params=click_options([*task.options, *SCORING]),
        help=f"Score predictions. {task.summary}",
        short_help="Score predictions.",
    )


def _score(
    task: Task, *, json: bool, format: str, digits: int | None, quiet: bool, **given: Any
) -> None:
    from assay.report.result import render_result

    given["missing"] = given["missing"] or task.missing
    given["predictions"] = given.get("predictions")
    given["gold"] = _paths(given.get("gold"))
    chosen = {o.name: given.get(o.name) for o in task.options}
    unseen = format == task.own_format and not json and given["save"] is None
    if unseen and not task.shows_intervals(**{**given, **chosen}):
        given["ci"] = 0.0
    several = task.systems(**{**chosen, "predictions": given["predictions"]})
    if several is not None:
        _score_systems(task, several, given, json, format, digits, quiet)
        return
    data = json or format not in ("table", task.own_format)
    result = _evaluated(task, given, data, quiet, digests=json)
    own = None
    if format == task.own_format and not json:
        own = task.render(result.document, digits=digits, **chosen)
    if own is not None:
        click.echo(own)
    else:
        show(result.document, render_result, json=json, format=format, digits=digits)
        if format == "table" and not json and (below := task.details(result.document, **chosen)):
            click.echo(f"\n{below}")


def _console(data: bool, quiet: bool) -> Streams:
    """What a task says and asks during a run; standard output belongs to data where there are any:
    a document, or a table for another program.
    """
    answers = io.StringIO() if sys.stdin is None else sys.stdin  # None where it was closed before
    return Streams(sys.stderr if data else sys.stdout, answers, quiet)


def _evaluated(
    task: Task,
    given: dict[str, Any],
    data: bool,
    quiet: bool,
    name: str = "",
    *,
    digests: bool,
) -> Result:
    """The result of one system; what is worth saying goes to standard error.

    `digests`: what is shown holds digests. What is saved always does.
    """
    from assay.pipeline.evaluate import evaluate

    with talking(_console(data, quiet)), progress_line(quiet) as progress:
        command = click.get_current_context().find_root().obj
        wanted = digests or given["save"] is not None
        result = evaluate(
            task, keep=False, digests=wanted, progress=progress, command=command, **given
        )
    said = result.document.warnings
    warn([f"{name}: {w}" for w in said] if name else said, quiet)
    finished(result.written, quiet)
    return result


def _score_systems(
    task: Task,
    several: Mapping[str, Any],
    given: dict[str, Any],
    json: bool,
    format: str,
    digits: int | None,
    quiet: bool,
) -> None:
    """One system after the other; what is written for each goes to a folder of its name."""
    from assay.core.document import ResultsDocument
    from assay.report.systems import render_systems

    if given.get("per_example"):
        raise UsageError("--per-example is for one system; give the log of one")
    documents = []
    for name, predictions in several.items():
        own = {**given, "predictions": predictions, "system": name}
        for folder in ("save", "output"):
            if given.get(folder):
                own[folder] = str(Path(given[folder]) / name)
        data = json or format != "table"
        documents.append(_evaluated(task, own, data, quiet, name, digests=json).document)
    show(ResultsDocument(tuple(documents)), render_systems, json=json, format=format, digits=digits)


def _paths(given: Any) -> Any:
    """Several files of one option are paths, so that they are not taken for texts in memory."""
    if isinstance(given, tuple):
        return [Path(path) for path in given] or None
    return given


def _verb_command(verb: Verb) -> click.Command:
    def run(**given: Any) -> None:
        if verb.runs is not None:
            from assay.pipeline.runs import load_run

            given[verb.runs] = [load_run(folder) for folder in given[verb.runs]]
        if verb.talks:
            given["say"] = note
        with bar(verb.progresses) as progress:
            if verb.progresses:
                given["progress"] = progress
            text = verb.run(**given)
        if text:
            click.echo(text)

    names = [*verb.arguments, *([verb.rest] if verb.rest is not None else [])]
    arguments: list[click.Parameter] = [
        click.Argument(
            [name], nargs=-1, type=click.UNPROCESSED if name == verb.rest else click.STRING
        )
        for name in names
    ]
    params = [*arguments, *click_options(verb.options)]
    if verb.rest is not None:
        return WithRest(verb.name, verb.rest, verb.rest_marker, run, params, verb.help)
    return SeveralWords(verb.name, callback=run, params=params, help=verb.help)

# SPDX-License-Identifier: Apache-2.0
"""`make_report`: runs to one page that says who is best, by how much, how sure, and shows why."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import assay
from assay import tasks
from assay.core.errors import UsageError
from assay.core.names import unknown
from assay.core.task import Task
from assay.pipeline.comparable import comparable, leading
from assay.pipeline.compare import compare
from assay.pipeline.judged import judged
from assay.pipeline.limits import Margin, Margins, parse_margins
from assay.pipeline.pairing import paired
from assay.pipeline.regions import joint_regions
from assay.pipeline.result import Result
from assay.pipeline.runs import load_run
from assay.pipeline.telling import telling_of_pair, telling_of_run
from assay.report.orient import foremost
from assay.report.sections import (
    ReportDocument,
    Section,
    Telling,
    comparison_led_by,
    led_by,
    told_apart,
)

EXAMPLES = 150
"""Examples that a section shows, if there are that many."""


@dataclass(frozen=True)
class Report:
    """What `make_report` made: `to_html()` is the page."""

    document: ReportDocument

    def to_html(self) -> str:
        """The whole page, to be written to one file."""
        from assay.report.page import report_page

        return report_page(self.document)

    def to_text(self, format: str = "markdown", digits: int | None = None) -> str:
        """The same as Markdown or as LaTeX tables."""
        from assay.report.forms import report_text

        return report_text(self.document, format, digits)

    def __str__(self) -> str:
        return self.to_text()


def make_report(
    *runs: Result | str | Path,
    title: str | None = None,
    metric: str | None = None,
    slices: Sequence[str] = (),
    examples: int = EXAMPLES,
    judgements: str | None = None,
    folder: Path | None = None,
    command: str | None = None,
    remarks: Sequence[str] = (),
    ranked: bool = False,
    **statistics: Any,
) -> Report:
    """Put runs together into one report; those on the same gold are compared.

    `metric` is the score that leads; by default the task's choice. `slices` are columns to compare
    by, where a gold has them. `examples` is how many a section shows. `judgements` is a folder of
    verdicts, where they do not lie beside the runs. `folder` is where the page will lie: links to
    run folders start from there. `remarks` are said on top. `ranked` sets runs apart that lack the
    leading score, where else all are compared by what they share. Further arguments are those of
    `compare`.

    >>> from assay.pipeline.evaluate import evaluate
    >>> gold = ["a", "b", "c", "d"]
    >>> worse = evaluate("text", ["a", "x", "x", "x"], gold, metrics=["exact"], system="A")
    >>> print(str(make_report(worse, title="Mine")).splitlines()[2])
    ## text: A: 0.2500 exact
    """
    if not runs:
        raise UsageError("a report needs at least one run")
    if examples < 0:
        raise UsageError(f"--examples {examples} must not be negative; 0 leaves examples out")
    loaded = [r if isinstance(r, Result) else load_run(r) for r in runs]
    if metric is not None and not any(metric in run.document.scores for run in loaded):
        raise unknown("score of these runs", metric, {k for r in loaded for k in r.scores})
    groups = grouped(loaded)
    columns = [_columns(group) for group in groups]
    for column in slices:
        if not any(column in known for known in columns):
            raise unknown("column", column, {c for known in columns for c in known})
    margins = _known_margins(statistics.pop("margin", None), loaded)
    judges = _judged(groups, judgements)
    sections = [
        replace(section, agreements=agreements)
        for group, known, agreements in zip(groups, columns, judges, strict=True)
        for section in _sections(
            group,
            metric,
            examples,
            folder,
            {
                **statistics,
                "slices": [column for column in slices if column in known],
                "margin": margins,
            },
            ranked,
        )
    ]
    named = title or f"Assay report: {', '.join(dict.fromkeys(s.task for s in sections))}"
    return Report(
        ReportDocument(
            named, tuple(told_apart(sections)), command or "", assay.__version__, tuple(remarks)
        )
    )


def _known_margins(given: Margin | None, runs: Sequence[Result]) -> Margins:
    """The margins, whose scores at least one run must have."""
    margins = parse_margins(given)
    keys = {key for run in runs for key in run.scores}
    for key in margins.by_key:
        if key not in keys:
            raise unknown("score in --margin", key, keys)
    return margins


def grouped(runs: Sequence[Result]) -> list[list[Result]]:
    """Runs of one task on the same gold together, in the order they come."""
    groups: dict[tuple[str, str | None], list[Result]] = {}
    for run in runs:
        groups.setdefault((run.document.task, run.document.gold_sha256), []).append(run)
    return list(groups.values())


def _sections(
    group: Sequence[Result],
    metric: str | None,
    examples: int,
    folder: Path | None,
    statistics: Mapping[str, Any],
    ranked: bool,
) -> list[Section]:
    task = tasks.load(group[0].document.task)
    if any(run.rows is None for run in group):
        return [_alone(run, task, metric, examples, folder) for run in group]
    sections: list[Section] = []
    for part in comparable(group, task, metric, ranked=ranked):
        if len(part) == 1:
            section = _alone(part[0], task, metric, examples, folder)
        else:
            section = _compared(part, task, metric, examples, folder, statistics)
        if sections:
            first = sections[0].systems[0].system
            section = replace(section, remarks=(_set_apart(part, first),))
        sections.append(section)
    return sections


def _set_apart(part: Sequence[Result], first: str) -> str:
    names = [run.system for run in part]
    shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    held = ", ".join(dict.fromkeys(e.text for run in part for e in run.layout.entries))
    return (
        f"{shown}: on the same gold as {first}, but without its leading score ({held}); score them "
        "alike to compare them"
    )


def _columns(group: Sequence[Result]) -> set[str]:
    """The columns of the examples of a gold."""
    first = next(group[0].iter_examples(), None)
    return set(first.slices) if first is not None else set()


def _judged(
    groups: Sequence[Sequence[Result]], judgements: str | None
) -> list[tuple[Mapping[str, Any], ...]]:
    """How far judges agree on each gold; a folder that was named must be of use to one of them."""
    found = [tuple(judged(group, judgements)) for group in groups]
    if judgements is not None and not any(found):
        raise UsageError(
            f"{judgements} has no verdicts of two judges on these runs; give the folder that "
            "assay judge writes to"
        )
    return found


def _alone(
    run: Result, task: Task, metric: str | None, examples: int, folder: Path | None
) -> Section:
    key = leading([run], task, metric)
    telling = None
    if examples and key is not None:
        telling = telling_of_run(run, key, examples, task)
    return Section(
        task=run.document.task,
        systems=(led_by(run.document, key),),
        telling=telling,
        folders=_folders([run]),
        links=_links([run], folder),
    )


def _compared(
    group: Sequence[Result],
    task: Task,
    metric: str | None,
    examples: int,
    folder: Path | None,
    statistics: Mapping[str, Any],
) -> Section:
    side_by_side = paired(group)
    keys = [score.key for entry in side_by_side.layout.entries for score in entry.scores]
    here = {**statistics, "margin": statistics["margin"].among(keys)}
    comparison = compare(*side_by_side.runs, **here).document
    key = leading(side_by_side.runs, task, metric)
    if key not in comparison.systems[0].scores:
        key = next(iter(comparison.systems[0].scores), None)
    led = comparison_led_by(comparison, key)
    telling: Telling | None = None
    if examples and key is not None:
        names = [s.system for s in led.systems]
        answer = foremost(led)
        pair = (names.index(answer.baseline), names.index(answer.system))
        telling = telling_of_pair(side_by_side, key, pair, examples, task)
    return Section(
        task=comparison.task,
        systems=led.systems,
        comparison=led,
        telling=telling,
        folders=_folders(group),
        links=_links(group, folder),
        regions=joint_regions(side_by_side.runs, seed=int(comparison.statistics["seed"])),
    )


def _folders(runs: Sequence[Result]) -> tuple[str, ...]:
    """The run folders as given; none where one run lies in memory alone."""
    held = [str(run.folder) for run in runs if run.folder is not None]
    return tuple(held) if len(held) == len(runs) else ()


def _links(runs: Sequence[Result], folder: Path | None) -> tuple[str, ...]:
    """The run folders as seen from the folder of the page."""
    start = folder or Path()
    return tuple(Path(os.path.relpath(path, start)).as_posix() for path in _folders(runs))

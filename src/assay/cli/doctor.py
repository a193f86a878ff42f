# SPDX-License-Identifier: Apache-2.0
"""`assay doctor FILE...`: what are these files, and what is wrong with them?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from assay.cli.parameters import click_options
from assay.core.errors import AssayError, FindingError, UsageError
from assay.core.options import Option

if TYPE_CHECKING:
    from assay.read.facts import Facts

OPTIONS = (
    Option(
        "input_format",
        ("--input-format",),
        "Read the files as this format, whatever their names end in.",
        kind="choice",
        choices=("lines", "csv", "tsv", "jsonl", "parquet"),
    ),
    Option("json", ("--json",), "Print one JSON document and nothing else.", kind="flag"),
)

_NAMES = {
    "lines": "plain lines",
    "csv": "CSV",
    "tsv": "TSV",
    "jsonl": "JSONL",
    "json": "JSON",
    "parquet": "Parquet",
}


def _doctor(files: tuple[str, ...], *, input_format: str | None, json: bool) -> None:
    names = [name for file in files for name in _expanded(file)]
    found = [_looked_at(name, input_format) for name in names]
    pair = None
    if len(found) == 2 and all(facts.readable and facts.task is None for facts in found):
        pair = _paired(found[0], found[1], input_format)
    problems = sum(len(facts.findings) for facts in found) + (pair is not None and not pair[0])
    if json:
        click.echo(_document(found, pair))
    else:
        for facts in found:
            click.echo("\n".join(_described(facts)))
        if pair is not None:
            click.echo(pair[1] if pair[0] else f"finding: {pair[1]}")
    if problems:
        count = "1 finding" if problems == 1 else f"{problems:,} findings"
        raise FindingError(f"{count} in {', '.join(names)}; mend the files, then look again")


def _looked_at(name: str, format: str | None) -> Facts:
    """What a file is; a task that knows the format as its own says what is odd in it."""
    from dataclasses import replace

    from assay import tasks
    from assay.read import format_of
    from assay.read.facts import look

    facts = look(name, format or format_of(name))
    cannot = facts.format == "lines" and not facts.readable
    if format is not None or facts.role is not None or cannot:
        return facts
    for task in map(tasks.load, [*tasks.names(), *tasks.plugins()]):
        found = task.inspect(name)
        if found is not None:
            return replace(
                facts,
                readable=True,
                task=task.name,
                n_records=found.n_records,
                notes=[*facts.notes, *found.notes],
                findings=list(found.findings),
            )
    return facts


def _expanded(file: str) -> list[str]:
    from assay.core.document import Intake
    from assay.core.errors import InputError
    from assay.read.source import sources

    if file == "-":
        raise UsageError("standard input can be read once only; give files to look at")
    try:
        return [source.name for source in sources(file, "predictions", Intake()) or ()]
    except InputError:
        return [file]  # looking at it says what is wrong


def _paired(first: Facts, second: Facts, format: str | None) -> tuple[bool, str] | None:
    """Whether two files line up, and how; None where they are not two sides of anything."""
    from assay import align, read
    from assay.core.document import Intake

    if first.role is not None and first.role == second.role:
        return None
    swapped = first.role == "gold" or second.role == "predictions"
    left, right = (second, first) if swapped else (first, second)
    intake = Intake()
    chosen: Any = format
    try:
        batches = align.examples(
            read.records(left.name, role="predictions", intake=intake, format=chosen),
            read.records(right.name, role="gold", intake=intake, format=chosen),
            intake=intake,
        )
        n = sum(len(batch) for batch in batches)
    except AssayError as error:
        return False, str(error)
    way = "by id" if left.has_ids and right.has_ids else "by order"
    noun = "pair" if n == 1 else "pairs"
    return True, f"{left.name} and {right.name} line up {way}: {n:,} {noun}"


def _described(facts: Facts) -> Iterator[str]:
    kind = _NAMES[facts.format]
    packed = f", packed with {facts.packed}" if facts.packed else ""
    if facts.n_lines:
        noun = "line" if facts.n_lines == 1 else "lines"
        yield f"{facts.name}: {kind}{packed}, {facts.encoding}, {facts.n_lines:,} {noun}"
    else:
        yield f"{facts.name}: read as {kind}{packed}"
    if facts.task is not None:
        noun = "record" if facts.n_records == 1 else "records"
        yield f"  {facts.n_records:,} {noun} for assay {facts.task}"
    if facts.role is not None and facts.n_records:
        sides = "predictions and gold" if facts.carries_gold else facts.role
        ids = "with ids" if facts.has_ids else "without ids"
        noun = "record" if facts.n_records == 1 else "records"
        yield f"  {facts.n_records:,} {noun} of {sides}, {ids}"
    if facts.columns:
        yield f"  columns for slices and clusters: {', '.join(facts.columns)}"
    for note in facts.notes:
        yield f"  note: {note}"
    for finding in facts.findings:
        yield f"  finding: {finding}"


def _document(found: list[Facts], pair: tuple[bool, str] | None) -> str:
    import msgspec

    from assay.core.document import plain

    return msgspec.json.encode(
        {
            "schema": "assay.doctor/1",
            "files": plain(found),
            "pair": None if pair is None else {"aligned": pair[0], "message": pair[1]},
        }
    ).decode()


command = click.Command(
    "doctor",
    callback=_doctor,
    params=[
        click.Argument(["files"], nargs=-1, required=True, metavar="FILE..."),
        *click_options(OPTIONS),
    ],
    help="Look at files and say what they are: format, encoding, lines, columns, ids; what reading "
    "takes care of (notes) and what is wrong (findings); of two files, whether they line up. Exit "
    "code 1 if there is a finding.",
)

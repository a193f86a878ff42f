# SPDX-License-Identifier: Apache-2.0
"""How agreement, estimates and items look in a terminal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.core.judging import Item
from assay.judge.agreement import Agreement
from assay.judge.coefficients import NAMES
from assay.judge.documents import (
    AgreementDocument,
    Disagreement,
    ErrorsDocument,
    EstimateDocument,
    ScoreValidity,
)
from assay.judge.estimate import Estimate
from assay.report.numbers import format_count, format_interval, format_number, format_percent
from assay.report.tables import Block, Cell, Table, Words, cells, left, render_blocks, right

if TYPE_CHECKING:
    from assay.report.words import Split

NOTHING_TWICE = "no prediction has two verdicts yet, so there is nothing to compare."
MOST = 10


def render_agreement(
    document: AgreementDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """The agreement of judges: coefficients, judges, and where they differ."""
    places = 4 if digits is None else digits
    blocks: list[Block] = []
    for each in document.questions.values():
        blocks.append(_coefficients(each, places) if each.rated_twice else _nothing_twice(each))
        if each.rated_twice and len(each.pairs) > 1:
            blocks.append(_pairs(each, places))
    blocks.append(_judges(document))
    differing = document.disagreements
    if differing:
        rows = tuple(_differing(each) for each in differing[:MOST])
        more = f"{len(differing) - MOST:,} more; --json lists all."
        notes = (more,) if len(differing) > MOST else ()
        titles = left("item", "question", "answers", "final")
        blocks.append(Table("where judges differ", titles, rows, notes))
    if document.reasons:
        why = tuple(cells(reason, format_count(n)) for reason, n in document.reasons[:MOST])
        blocks.append(Table("reasons for a no", (*left("reason"), *right("verdicts")), why))
    if document.unsettled:
        n = format_count(document.unsettled)
        blocks.append(Words(f"{n} to settle; a third person does it with --adjudicate."))
    return render_blocks(blocks, format, colour=colour, width=width)


def _differing(found: Disagreement) -> tuple[Cell, ...]:
    answers = ", ".join(f"{judge}: {answer}" for judge, answer in found.answers.items())
    return cells(found.id, found.question, answers, found.final or "")


def _nothing_twice(found: Agreement) -> Words:
    who = ", ".join(found.judges)
    return Words(f"{found.question}: {who}; {NOTHING_TWICE}")


def _coefficients(found: Agreement, places: int) -> Table:
    rows = []
    notes = []
    for c in found.coefficients:
        rows.append(
            cells(
                NAMES[c.name],
                format_number(c.value, places),
                format_interval(c.interval, places),
                format_count(c.n),
            )
        )
        if c.why:
            notes.append(f"{NAMES[c.name]}: {c.why}.")
    n = f"{format_count(found.items)} item{'' if found.items == 1 else 's'}"
    title = f"{found.question}: {', '.join(found.judges)}, {n}"
    return Table(
        title,
        (*left("coefficient"), *right("value", "interval", "items")),
        tuple(rows),
        tuple(notes),
    )


def _pairs(found: Agreement, places: int) -> Table:
    rows = tuple(
        cells(
            " and ".join(pair.judges),
            format_number(pair.percent, places),
            format_number(pair.cohen, places),
            format_count(pair.n),
        )
        for pair in found.pairs
    )
    titles = (*left("pair"), *right("agreement", "Cohen's kappa", "items"))
    return Table(f"{found.question}: pairs of judges", titles, rows)


def _judges(document: AgreementDocument) -> Table:
    checked = any(j.repeats or j.controls for j in document.judges)
    timed = any(not math.isnan(j.seconds_each) for j in document.judges)
    rows = []
    for j in document.judges:
        counts = [format_count(n) for n in (j.yes, j.no, j.unsure, j.skipped)]
        if timed:
            counts.append(format_number(j.seconds_each, 1))
        if checked:
            counts.append(f"{j.steady} of {j.repeats}" if j.repeats else "")
            counts.append(f"{j.right} of {j.controls}" if j.controls else "")
        rows.append(cells(j.judge, *counts))
    titles = ["yes", "no", "unsure", "skipped"]
    titles += ["seconds each"] if timed else []
    titles += ["repeats same", "controls right"] if checked else []
    return Table("judges", (*left("judge"), *right(*titles)), tuple(rows))


def render_estimate(
    document: EstimateDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """Human accuracy on the whole set, with both intervals."""
    places = 4 if digits is None else digits
    blocks: list[Block] = []
    rows = []
    for system in document.systems:
        rows += [_row(system.system, name, e, places) for name, e in system.estimates.items()]
    titles = (
        *left("system", "question"),
        *right("human accuracy", "this set", "future data", "judged", "known", "worth"),
    )
    sample = document.sample
    notes = [
        _rests_on(sample),
        f"Brackets: {_level(document)} intervals, for these examples and for new ones like them.",
    ]
    if sample["seed"] is not None:
        helped = f"without {document.metric} on everything"
        notes.append(f"Worth: verdicts that would be needed {helped}.")
    if rows:
        blocks.append(Table("what people would say", titles, tuple(rows), tuple(notes)))
    if document.difference:
        first, second = (s.system for s in document.systems)
        differences = tuple(
            _row(f"{first} - {second}", name, e, places, signed=True)
            for name, e in document.difference.items()
        )
        blocks.append(Table("difference", titles, differences, () if rows else tuple(notes)))
    told = [each for each in document.validity if not math.isnan(each.correlation)]
    if len(told) > 1:
        blocks.append(_validity(told, places))
    blocks.append(Words(document.signature, "signature"))
    return render_blocks(blocks, format, colour=colour, width=width)


def _validity(found: Sequence[ScoreValidity], places: int) -> Table:
    rows = tuple(
        cells(
            each.system,
            each.question,
            each.score,
            format_number(each.correlation, places),
            format_number(each.same, places),
            "" if math.isnan(each.worth) else format_count(round(each.worth)),
        )
        for each in found[:MOST]
    )
    titles = (*left("system", "question", "score"), *right("correlation", "as people", "worth"))
    note = (
        "As people: share of the judged examples on which a score of right and wrong says the same."
    )
    more = (f"{len(found) - MOST:,} more; --json lists all.",) if len(found) > MOST else ()
    return Table("how well scores foretell people", titles, rows, (note, *more))


def _rests_on(sample: Mapping[str, Any]) -> str:
    """Which verdicts an estimate rests on."""
    population = format_count(sample["population"])
    if sample["seed"] is not None:
        drawn = f"{sample['size']} examples drawn with seed {sample['seed']}"
        return f"{drawn} from {population}; {sample['known']:,} known before."
    if sample["differing"]:
        which = f"Of {population} examples all on which the systems differ"
    else:
        which = f"All {population} examples"
    return f"{which} have verdicts: counted, not estimated."


def _level(document: EstimateDocument) -> str:
    every = [e for s in document.systems for e in s.estimates.values()]
    return format_percent((every or list(document.difference.values()))[0].level)


def _row(
    system: str, name: str, e: Estimate, places: int, *, signed: bool = False
) -> tuple[Cell, ...]:
    worth = "" if math.isnan(e.worth) else format_count(round(e.worth))
    return cells(
        system,
        name,
        format_number(e.value, places, signed=signed),
        format_interval(e.finite, places, signed=signed),
        format_interval(e.future, places, signed=signed),
        format_count(e.sampled),
        format_count(e.known),
        worth,
    )


def render_errors(
    document: ErrorsDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """What two systems have right and wrong, and the reasons for what is wrong."""
    first, second = document.systems
    titles = ("both right", f"only {first}", f"only {second}", "both wrong")
    rows = tuple(
        cells(question, *(format_count(counts[key]) for key in ("yy", "yn", "ny", "nn")))
        for question, counts in document.overlap.items()
    )
    blocks: list[Block] = [
        Table(f"{first} and {second}", (*left("question"), *right(*titles)), rows)
    ]
    for system, counted in document.categories.items():
        if counted:
            why = tuple(cells(reason, format_count(n)) for reason, n in counted[:MOST])
            blocks.append(Table(f"{system}: reasons", (*left("reason"), *right("times")), why))
    return render_blocks(blocks, format, colour=colour, width=width)


def presenter(
    *,
    colour: bool,
    width: int | None,
    split: Split,
    said: Callable[[Item], Sequence[tuple[str, str]]] | None = None,
) -> Callable[[Item], Sequence[str]]:
    """How an item is shown: what was asked for, gold, and the prediction with what differs.

    `split` cuts texts into what is compared. `said` gives names of judges and what they say, for
    one who settles disagreements.
    """
    from assay.judge.nearest import nearest
    from assay.report.sidebyside import Labelled, stacked
    from assay.report.words import Piece, word_diff

    def present(item: Item) -> list[str]:
        rows: list[Labelled] = []
        if item.prompt:
            rows.append(("asked for", [Piece("same", item.prompt)]))
        near = nearest(item.prediction, item.references)
        sides = None if near is None else word_diff(item.references[near], item.prediction, split)
        for place, text in enumerate(item.references):
            label = "gold" if len(item.references) == 1 else f"gold {place + 1}"
            shown = sides.first if sides is not None and place == near else [Piece("same", text)]
            rows.append((label, shown))
        rows.append(("prediction", sides.second if sides else [Piece("same", item.prediction)]))
        rows += [("note", [Piece("same", note)]) for note in item.notes]
        rows += [(who, [Piece("same", what)]) for who, what in (said(item) if said else ())]
        return stacked(rows, colour=colour, width=width, whole=True)

    return present

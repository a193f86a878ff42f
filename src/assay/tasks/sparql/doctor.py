# SPDX-License-Identifier: Apache-2.0
"""What is odd in prediction files: nothing that stops a run, all of it worth knowing before one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.ledger import Ledger
from assay.core.task import Inspection
from assay.read.source import sources
from assay.read.stream import pieces
from assay.tasks.sparql.kinds import PHENOMENA, TYPES, unlisted
from assay.tasks.sparql.pairs import number_of
from assay.tasks.sparql.records import Record, read_records


def inspected(records: Iterable[Record]) -> Inspection:
    """Everything odd about these records: faults of gold, and notes on what was predicted."""
    gold, predicted = Ledger("record"), Ledger("record")
    turns: set[str] = set()
    subtypes: dict[str, None] = {}
    n = 0
    for n, record in enumerate(records, start=1):
        for what in _of_gold(record):
            gold.add(what, n)
        for what in _of_prediction(record):
            predicted.add(what, n)
        subtypes[record.description] = None
        if record.turn is not None:
            if record.turn in turns:
                gold.add("turnID was there before", n)
            turns.add(record.turn)
    unlike = [
        f"sub-type '{name}' looks like {phenomenon} and is not in its list (--phenomena)"
        for phenomenon, names in unlisted(PHENOMENA, subtypes).items()
        for name in names
    ]
    return Inspection(n, [*predicted.lines(), *unlike], gold.lines())


def _of_prediction(record: Record) -> Iterator[str]:
    if record.actions is None:
        yield "no predicted query"
    elif "entity" in record.actions.split():
        yield "prediction holds the placeholder 'entity'"


def _of_gold(record: Record) -> Iterator[str]:
    given = record.question_type
    types = [given] if isinstance(given, str) else given
    yield from (f"question type '{name}' is none of the ten" for name in types if name not in TYPES)
    kinds = {TYPES[name] for name in types if name in TYPES}
    gold = record.sparql_delex
    if gold is None:
        yield "no gold query: never an exact match"
    elif gold.strip().lower() == "nan":
        yield "gold query is the text 'nan': never an exact match"
    if record.description.strip().lower() in ("", "nan"):
        yield "sub-type is empty or 'nan'"
    if record.turn is None:
        yield "no turnID: in no conversation and in no context group"
    if len(set(record.results)) < len(record.results):
        yield "gold answers come twice"
    if "boolean" in kinds and record.answer not in ("YES", "NO"):
        yield "yes-no answer is neither YES nor NO: counts as NO"
    if "count" in kinds:
        if number_of(record.answer) is None:
            yield "answer to a counting question is no number: the number of gold answers counts"
        elif not record.results and number_of(record.answer):
            yield "answer is a number above 0, and the list of gold answers is empty"
    if "set" in kinds and not record.results:
        yield "the list of gold answers is empty: F1 is 0 whatever is predicted"


def inspect(path: str) -> Inspection | None:
    """What is odd in a prediction file; None for a file that is none."""
    if not _is_predictions(path):
        return None
    try:
        return inspected(record for block in read_records(Path(path), Intake()) for record in block)
    except InputError as error:
        return Inspection(0, findings=[str(error)])


_KEYS = {b'"question_type"', b'"description"', b'"actions"', b'"sparql_delex"', b'"results"'}


def _is_predictions(path: str) -> bool:
    """Whether the beginning of the file has most of the keys of a conversation turn."""
    found = sources(path, "predictions", Intake()) or []
    head = next(pieces(found[0], "predictions", Intake(), lone=False), b"") if found else b""
    return sum(key in head for key in _KEYS) >= 3

# SPDX-License-Identifier: Apache-2.0
"""What is odd in prediction files: nothing that stops a run, all of it worth knowing before one."""

from __future__ import annotations

import re
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
from assay.tasks.sparql.qald import Question, read_questions
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


def inspected_questions(questions: Iterable[Question]) -> Inspection:
    """Everything odd about questions of QALD or LC-QuAD, be they gold or predictions."""
    faults, notes = Ledger("question"), Ledger("question")
    seen: set[str] = set()
    n = 0
    for n, (key, query, answers, _) in enumerate(questions, start=1):
        if key in seen:
            faults.add("id was there before: the first one counts", n)
        seen.add(key)
        if query is None and answers is None:
            faults.add("neither a query nor answers", n)
        elif query is None:
            notes.add("no query: never an exact match", n)
        elif answers is None:
            notes.add("no answers that can be read: its query is run for them", n)
        if answers == []:
            notes.add("the list of answers is empty", n)
    return Inspection(n, notes.lines(), faults.lines())


def inspect(path: str) -> Inspection | None:
    """What is odd in a file of turns, or of questions; None for a file that is neither."""
    found = sources(path, "predictions", Intake()) or []
    head = next(pieces(found[0], "predictions", Intake(), lone=False), b"") if found else b""
    try:
        if sum(key in head for key in _OF_TURNS) >= 3:
            return inspected(r for block in read_records(Path(path), Intake()) for r in block)
        if any(looks.search(head) for looks in _OF_QUESTIONS):
            return inspected_questions(read_questions(path, "gold", Intake()))
    except InputError as error:
        return Inspection(0, findings=[str(error)])
    return None


_OF_TURNS = (b'"question_type"', b'"description"', b'"actions"', b'"sparql_delex"', b'"results"')
"""Keys of a turn, most of which stand at the beginning of a prediction file."""

_OF_QUESTIONS = (
    re.compile(rb'"questions"\s*:\s*\[\s*\{.*"(?:query|answers)"\s*:', re.DOTALL),
    re.compile(rb'"(?:sparql_wikidata|sparql_query)"'),
    re.compile(rb'\A\s*\{\s*"[^"]*"\s*:\s*"\s*(?:SELECT|ASK|PREFIX)\b', re.IGNORECASE),
)
"""What QALD, LC-QuAD, and an object of queries by id look like at the beginning."""

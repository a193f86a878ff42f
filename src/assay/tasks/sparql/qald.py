# SPDX-License-Identifier: Apache-2.0
"""QALD and LC-QuAD files as records, so that they are scored like conversation turns.

Gold is a QALD JSON (`questions` with `query` and `answers`) or an LC-QuAD JSON (an array with
`sparql_query` or `sparql_wikidata`). Predictions are the same, or a JSON object that maps ids to
queries. The question type follows from the gold query: ASK, COUNT, or a set.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from assay.core.document import Intake
from assay.core.errors import AlignError, InputError, UsageError
from assay.read.source import Role, sources
from assay.read.stream import pieces
from assay.tasks.sparql.dialect import is_ask, is_count
from assay.tasks.sparql.records import Record
from assay.tasks.sparql.replies import Reply, answers_of, read_json
from assay.tasks.sparql.setting import Executor

SET, COUNT, BOOLEAN = (
    "Simple Question (Direct)",
    "Quantitative Reasoning (Count) (All)",
    "Verification (Boolean) (All)",
)

Answers = list[str] | bool | None


class Question(NamedTuple):
    """Id, query and answers, and the question in words; None for what the file does not have."""

    id: str
    query: str | None
    answers: Answers
    asked: str | None = None


def read_pairs(
    predictions: Any,
    gold: Any,
    intake: Intake,
    *,
    executor: Executor | None = None,
    em_only: bool = False,
    compat: bool = False,
) -> Iterator[list[Record]]:
    """One record per gold question; answers that gold does not hold come from its queries."""
    wanted = _questions(gold, "gold", intake, compat)
    if not em_only:
        _answer(wanted, executor, intake)
    given = _questions(predictions, "predictions", intake, compat)
    intake.counts.extra = len(given.keys() - wanted.keys())
    if wanted and not given.keys() & wanted.keys():
        raise AlignError(
            "no prediction has the id of a gold question",
            path=str(predictions),
            hint=f"gold ids look like '{next(iter(wanted))}'",
        )
    yield [_record(question, given.get(key)) for key, question in wanted.items()]


def _answer(wanted: dict[str, Question], executor: Executor | None, intake: Intake) -> None:
    """Fill in the answers of questions that have a query alone, as those of LC-QuAD do."""
    bare = [key for key, question in wanted.items() if question.answers is None]
    if not bare:
        return
    if executor is None:
        raise UsageError(
            f"{len(bare):,} gold questions have no answers (first: '{bare[0]}'); give --kg GRAPH "
            "or --server_link URL to run their queries, or --em_only"
        )
    found = executor.run([wanted[key].query or "" for key in bare])
    failed = 0
    for key, (answers, failure) in zip(bare, found, strict=True):
        failed += failure is not None
        wanted[key] = wanted[key]._replace(answers=answers if failure is None else [])
    lost = f"; {failed:,} of these failed, and count as having none" if failed else ""
    intake.warnings.append(
        f"{len(bare):,} gold questions have no answers in the file: "
        f"the answers of their queries were taken{lost}"
    )


def _record(question: Question, found: Question | None) -> Record:
    answers = question.answers
    kind = _kind(question.query, answers)
    results = answers if isinstance(answers, list) else []
    answer: str | None = ("YES" if answers else "NO") if isinstance(answers, bool) else None
    if kind == COUNT:
        answer = results[0] if len(results) == 1 else None
    predicted, returned = (found.query, found.answers) if found is not None else (None, None)
    if predicted is None and returned is not None:
        predicted = ""  # answered without a query: not missing
    return Record(
        question_type=kind,
        description=kind,
        answer=answer,
        actions=predicted,
        results=results,
        sparql_delex=question.query,
        turn=f"#{question.id}",
        predicted_answers=returned,
        question=question.asked,
    )


def _kind(query: str | None, answers: Answers) -> str:
    text = query or ""
    if isinstance(answers, bool) or is_ask(text):
        return BOOLEAN
    return COUNT if is_count(text) else SET


def _questions(source: Any, role: Role, intake: Intake, compat: bool) -> dict[str, Question]:
    by_id: dict[str, Question] = {}
    for question in read_questions(source, role, intake, compat=compat):
        if question.id in by_id:
            intake.counts.duplicate += 1
        by_id.setdefault(question.id, question)
    return by_id


def read_questions(
    source: Any, role: Role, intake: Intake, *, compat: bool = False
) -> list[Question]:
    """The questions of a QALD or LC-QuAD file, or of what such a file holds, one by one."""
    data, name = source, str(role)
    if isinstance(source, (str, Path)):
        found = sources(str(source), role, intake) or []
        data, name = _decoded(b"".join(pieces(found[0], role, intake)), str(source)), str(source)
    if isinstance(data, Mapping) and isinstance(data.get("questions"), list):
        return [_qald(q, name, i, compat) for i, q in enumerate(data["questions"], start=1)]
    if isinstance(data, Mapping):
        return [Question(str(k), q if isinstance(q, str) else None, None) for k, q in data.items()]
    if isinstance(data, list):
        read = [_lcquad(q, name, i, compat) for i, q in enumerate(data, start=1)]
        if all(question.answers in ([], None) for question in read):
            # LC-QuAD 2.0 has a list of answers with every question, and nothing in any of them.
            return [question._replace(answers=None) for question in read]
        return read
    raise InputError("neither QALD nor LC-QuAD", path=name, hint="see docs/metrics/sparql.md")


def _decoded(data: bytes, name: str) -> Any:
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"not JSON ({error})", path=name) from None


def _qald(question: Any, name: str, number: int, compat: bool) -> Question:
    if not isinstance(question, Mapping) or "id" not in question:
        raise InputError(f"question {number:,} has no id", path=name)
    query = question.get("query")
    text = query.get("sparql") if isinstance(query, Mapping) else None
    answers: Answers = None
    held = question.get("answers")
    if isinstance(held, list):
        answers = _in_result(held[0], compat) if held else []
    return Question(
        str(question["id"]),
        text if isinstance(text, str) else None,
        answers,
        _worded(question.get("question")),
    )


def _worded(held: Any) -> str | None:
    """The English wording of a question that is worded in several languages, or the first.

    >>> _worded([{"language": "de", "string": "Wer?"}, {"language": "en", "string": "Who?"}])
    'Who?'
    """
    every = [one for one in held if isinstance(one, Mapping)] if isinstance(held, list) else []
    every.sort(key=lambda one: one.get("language") != "en")
    return next((s for one in every if isinstance(s := one.get("string"), str)), None)


_LCQUAD_IDS = ("_id", "uid", "id")
_LCQUAD_QUERIES = ("sparql_wikidata", "sparql_query", "sparql", "query")
_LCQUAD_ANSWERS = ("answers", "answer")
_LCQUAD_WORDS = ("corrected_question", "question", "NNQT_question")


def _lcquad(question: Any, name: str, number: int, compat: bool) -> Question:
    if not isinstance(question, Mapping):
        raise InputError(f"question {number:,} is no object", path=name)
    key = next((question[k] for k in _LCQUAD_IDS if k in question), None)
    if key is None:
        raise InputError(f"question {number:,} has none of {', '.join(_LCQUAD_IDS)}", path=name)
    query = next((question[k] for k in _LCQUAD_QUERIES if isinstance(question.get(k), str)), None)
    held = next((question[k] for k in _LCQUAD_ANSWERS if k in question), None)
    answers = _listed(held, compat)
    if is_ask(query or "") and isinstance(answers, list) and len(answers) == 1:
        answers = {"true": True, "false": False}.get(answers[0].lower(), answers)
    asked = next((question[k] for k in _LCQUAD_WORDS if isinstance(question.get(k), str)), None)
    return Question(str(key), query, answers, asked)


def _listed(held: Any, compat: bool) -> Answers:
    """Answers that are a list, or a list of one truth value or of one SPARQL result.

    >>> _listed(["http://www.wikidata.org/entity/Q5", 3.0], False), _listed([True], False)
    (['Q5', '3'], True)
    """
    alone = held[0] if isinstance(held, list) and len(held) == 1 else held
    if isinstance(alone, bool):
        return alone
    if isinstance(alone, Mapping):
        return _in_result(alone, compat)
    if not isinstance(held, list):
        return None
    kinds = ("n" if isinstance(one, (int, float)) else "i" for one in held)
    return answers_of(Reply(values=list(map(str, held)), kinds="".join(kinds)), compat=compat)


def _in_result(held: Any, compat: bool) -> Answers:
    """The answers in a SPARQL result; without rows there are none, whatever its variables are."""
    results = held.get("results") if isinstance(held, Mapping) else None
    if isinstance(results, Mapping) and not results.get("bindings") and "boolean" not in held:
        return []
    return answers_of(read_json(msgspec.json.encode(held)), compat=compat)

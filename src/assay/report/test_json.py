# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

import jsonschema
import pytest

from assay.core.boards import BoardDocument, BoardGroup, BoardRun
from assay.core.comparison import ComparisonDocument, Difference, McNemar
from assay.core.diffs import ChangeCounts, DiffDocument, ExampleChange
from assay.core.document import (
    Counts,
    InputFile,
    MetricEntry,
    ResultDocument,
    ScoreEntry,
    SliceEntry,
)
from assay.core.errors import UsageError
from assay.core.gates import Check, GateDocument, Reason
from assay.report.json import SCHEMAS, schema, to_json

if TYPE_CHECKING:
    from assay.report.conftest import Samples

KINDS = {
    **{"result": "result-1", "empty": "result-1", "comparison": "comparison-1"},
    **{"pair": "comparison-1", "right_wrong": "diff-1", "graded": "diff-1"},
    **{"failed": "gate-1", "passed": "gate-1", "limits": "gate-1", "board": "leaderboard-1"},
}
RECORDS: list[tuple[str, str | None, type]] = [
    ("result-1", None, ResultDocument),
    ("result-1", "counts", Counts),
    ("result-1", "input", InputFile),
    ("result-1", "metric", MetricEntry),
    ("result-1", "score", ScoreEntry),
    ("result-1", "slice", SliceEntry),
    ("comparison-1", None, ComparisonDocument),
    ("comparison-1", "difference", Difference),
    ("comparison-1", "mcnemar", McNemar),
    ("diff-1", None, DiffDocument),
    ("diff-1", "changes", ChangeCounts),
    ("diff-1", "example", ExampleChange),
    ("gate-1", None, GateDocument),
    ("gate-1", "check", Check),
    ("leaderboard-1", None, BoardDocument),
    ("leaderboard-1", "group", BoardGroup),
    ("leaderboard-1", "run", BoardRun),
]
Broken = Callable[[dict[str, Any]], Any]
BROKEN: list[tuple[str, str, Broken]] = [
    ("result", "no schema", lambda d: d.pop("schema")),
    ("result", "another schema", lambda d: d.update(schema="assay.result/2")),
    ("result", "a key that is not known", lambda d: d.update(score={})),
    ("result", "no counts", lambda d: d.pop("counts")),
    ("result", "a count below 0", lambda d: d["counts"].update(missing=-1)),
    ("result", "a score as text", lambda d: d["scores"].update(bleu="34.5")),
    ("result", "an interval of one number", lambda d: d["intervals"].update(bleu=[1.0])),
    ("result", "a slice without n", lambda d: d["slices"]["type"]["simple"].pop("n")),
    ("result", "a digest that is none", lambda d: d["inputs"][0].update(sha256="abc")),
    ("comparison", "one system", lambda d: d.update(systems=d["systems"][:1])),
    ("comparison", "a system that is no result", lambda d: d["systems"][1].pop("scores")),
    ("comparison", "a verdict that is none", lambda d: d["differences"][0].update(verdict="equal")),
    ("comparison", "p above 1", lambda d: d["differences"][0].update(p=1.5)),
    ("comparison", "a slice without value", lambda d: d["slices"][0].update(slice=["type"])),
    ("right_wrong", "a change that is none", lambda d: d["examples"][0].update(change="better")),
    ("right_wrong", "a count as text", lambda d: d["counts"].update(fixed="1")),
    ("right_wrong", "an example without gold", lambda d: d["examples"][0].pop("gold")),
    ("failed", "a status that is none", lambda d: d["checks"][0].update(status="ok")),
    ("failed", "a drop without difference", lambda d: d["checks"][0].update(difference=None)),
    ("failed", "no checks", lambda d: d.update(checks=[])),
    ("board", "a group without runs", lambda d: d["groups"][0].update(runs=[])),
    ("board", "a rank of 0", lambda d: d["groups"][0]["runs"][0].update(rank=0)),
]


def _validator(name: str) -> Any:
    return jsonschema.Draft202012Validator(schema(name))


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_one(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$id"] == f"urn:assay:schema:{name}"


def test_every_file_is_a_schema_that_can_be_asked_for() -> None:
    folder = Path(__file__).parent / "schema"
    assert sorted(p.name for p in folder.iterdir()) == sorted(f"{name}.json" for name in SCHEMAS)


def test_an_unknown_schema_is_named() -> None:
    with pytest.raises(UsageError, match="did you mean 'gate-1'"):
        schema("gates-1")


@pytest.mark.parametrize("name", KINDS)
def test_documents_are_valid(name: str, samples: Samples) -> None:
    _validator(KINDS[name]).validate(json.loads(to_json(getattr(samples, name))))


@pytest.mark.parametrize(
    ("name", "broken"), [(b[0], b[2]) for b in BROKEN], ids=[b[1] for b in BROKEN]
)
def test_a_broken_document_is_refused(name: str, broken: Broken, samples: Samples) -> None:
    data = copy.deepcopy(json.loads(to_json(getattr(samples, name))))
    broken(data)
    assert not _validator(KINDS[name]).is_valid(data)


@pytest.mark.parametrize(("name", "part", "record"), RECORDS)
def test_schema_and_record_have_the_same_fields(name: str, part: str | None, record: type) -> None:
    found = schema(name) if part is None else schema(name)["$defs"][part]
    declared = {f.name for f in fields(record)}
    assert set(found["properties"]) == declared
    assert set(found["required"]) == declared


def test_schema_and_gate_know_the_same_reasons() -> None:
    check = schema("gate-1")["$defs"]["check"]
    assert set(check["properties"]["reason"]["enum"]) == set(get_args(Reason))


def test_json_keeps_every_bit_and_nan_is_null(samples: Samples) -> None:
    third = replace(samples.result, scores={"bleu": 1 / 3, "ter": float("nan"), "exact": 5e-324})
    data = json.loads(to_json(third))
    assert data["scores"] == {"bleu": 1 / 3, "ter": None, "exact": 5e-324}
    assert ResultDocument.from_dict(data).scores["bleu"] == 1 / 3


def test_json_steers_no_terminal_and_can_be_written(samples: Samples) -> None:
    evil = "\x1b[2J\x7f\x9b2J\u202e\u2066\ud800é日"
    text = to_json(replace(samples.result, system=evil))
    assert all(c.isprintable() or c == "\n" for c in text)
    text.encode("utf-8")
    assert json.loads(text)["system"] == evil
    assert "é日" in text

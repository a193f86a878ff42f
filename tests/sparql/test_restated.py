# SPDX-License-Identifier: Apache-2.0
"""Random prediction files: the command writes what the rules, written down again, give."""

from __future__ import annotations

import json
import random
import re
from pathlib import Path
from typing import Any

import pytest

from assay.cli import run
from tests.sparql import restated
from tests.sparql.restated import ELLIPSIS, MULTI_ENTITY, SETS, TYPES, Evaluation, Record

ORACLES = Path(__file__).parents[3] / "shared" / "oracles" / "sparql"
Rng = random.Random

SUBTYPES = (
    *("Simple Question", "nan", "", "a_b", "fscore_none", "Clarification", "none", "é\u2028\"x\""),
    *("Incomplete|only subject is changed, parent and predicate remains same", *ELLIPSIS[:3]),
    *(ELLIPSIS[-1], *MULTI_ENTITY[:2], MULTI_ENTITY[-1]),
)  # fmt: skip
DISTANCES = ("1", "1", "2", "3", "0", "-1", "none", "1_2", "", "one", "1 ")
NUMBERS = ("0", "1", "2", "3", "12", "007", "٣", "½", "²", "三", "-1", "2.5", "", "1e3", "3 groups")
"""Texts that some would take for a number. The last field of what a line holds may be empty."""

ENTITIES = [f"Q{i}" for i in range(1, 7)]
RELATIONS = ["P1", "P2", "P31"]
TERMS = ('"½"', '"²"', '"12"', '"٣"', "12", "-3", "2.5", "wd: q3")
LABELS = ('"AC/DC"', '"Q1"', '"12"', '"x/"')


def graph_of(rng: Rng) -> list[restated.Triple]:
    wd, wdt, rdfs = restated.NAMES["wd:"], restated.NAMES["wdt:"], restated.NAMES["rdfs:"]
    links = {
        (
            f"<{wd}{rng.choice(ENTITIES)}>",
            f"<{wdt}{rng.choice(RELATIONS)}>",
            f"<{wd}{rng.choice(ENTITIES)}>",
        )
        for _ in range(14)
    }
    names = {(f"<{wd}{e}>", f"<{rdfs}label>", rng.choice(LABELS)) for e in ENTITIES[:4]}
    other = {(f"<{wd}Q1>", f"<{wdt}P9>", "<http://example.org/a/Q7>")}
    return sorted(links | names | other)


def pattern(rng: Rng, *, bound: bool = False) -> str:
    e, f, p = rng.choice(ENTITIES), rng.choice(ENTITIES), rng.choice(RELATIONS)
    if bound:
        return f"wd: {e} wdt: {p} wd: {f}"
    return rng.choice(
        (
            f"wd: {e} wdt: {p} ?x",
            f"?x wdt: {p} wd: {e}",
            f"?x wdt: {p} ?y",
            f"wd: {e} rdfs:label ?x",
            "wd: Q1 wdt: P9 ?x",
            f"?x wdt: {p} ?y . ?y wdt: {rng.choice(RELATIONS)} wd: {e}",
        )
    )


def query(rng: Rng) -> str:
    """A query as a parser writes it; some have no answer, or several, or are none at all."""
    x = pattern(rng)
    shape = rng.choice(
        (
            f"SELECT ?x WHERE {{ {x} . }}",
            f"SELECT ?x WHERE {{ {x} }}",
            f"SELECT DISTINCT ?x WHERE {{ {x} . }}",
            f"SELECT ?x WHERE {{ {{ {x} }} UNION {{ {pattern(rng)} }} }}",
            f"SELECT (COUNT(*) AS ?n) WHERE {{ {x} . }}",
            f"ASK {{ {pattern(rng, bound=True)} . }}",
            f"ASK {{ {x} }}",
            f"SELECT ?x WHERE {{ VALUES ?x {{ {' '.join(rng.choices(TERMS, k=rng.randint(0, 3)))} }} }}",
            f"SELECT ?x ?y WHERE {{ {x} . }}",
            f"SELECT ?x WHERE {{ {x} ",
            "INSERT DATA { wd: Q1 wdt: P1 wd: Q2 }",
            "",
        )
    )
    kind = rng.random()
    if kind < 0.08:
        return shape.replace("wd: Q", "wd:q")  # not put together: another, unknown entity
    if kind < 0.16:
        return shape.replace("wd: Q", "wd:Q")
    if kind < 0.2:
        return shape.replace("wd: Q", "WD: q")
    if kind < 0.26:
        return shape.replace("wd: Q", "wd: q")
    if kind < 0.3:
        return shape.replace("wd: Q", "wd:  Q", 1)
    return shape


def record(rng: Rng, number: int, graph: list[restated.Triple] | None) -> Record:
    kinds = rng.choice((rng.choice(TYPES), rng.choice(TYPES), "Simple Question", "nan"))
    given: Any = kinds
    if rng.random() < 0.2:
        given = [rng.choice((*TYPES, "Simple")) for _ in range(rng.randint(0, 3))]
    gold_query = rng.choice((query(rng), query(rng), query(rng), "nan", None))
    actions = rng.choice((gold_query, gold_query, query(rng), (gold_query or "").swapcase(), None))
    if rng.random() < 0.08:
        actions = rng.choice(("entity", "SELECT ?x WHERE { entity wdt: P1 ?x }", "an_entity"))
    pool = [f"Q{i}" for i in range(1, rng.choice((3, 9)))]
    results = [rng.choice(pool) for _ in range(rng.choice((0, 1, 1, 2, 3, 8)))]
    found: Record = {
        "question_type": given,
        "description": rng.choice(SUBTYPES),
        "question": "?",
        "answer": rng.choice(("YES", "NO", "yes", "NO and YES respectively", *NUMBERS)),
        "actions": actions,
        "results": results,
        "sparql_delex": gold_query,
        "turnID": f"test#QA_{number // 8}#QA_{number // 4}#{number % 4}",
    }
    if rng.random() < 0.1:
        del found["sparql_delex"]
    if rng.random() < 0.1:
        found["turnID"] = None
    elif rng.random() < 0.1:
        del found["turnID"]
    if graph is None:
        near = [r for r in results if rng.random() < 0.8] + [rng.choice(pool)] * rng.randint(0, 2)
        found["predicted_answers"] = rng.choice(
            (results[::-1], near, [rng.choice(NUMBERS)], [], None, True, False, pool)
        )
    return found


class Case:
    """Prediction files, a context file, a graph, and the options of one run."""

    def __init__(self, seed: str, folder: Path, *, executed: bool, native: bool = False) -> None:
        rng = random.Random(seed)
        self.folder = folder
        self.graph = graph_of(rng) if executed else None
        self.compat = not native and rng.random() < 0.5
        self.em_only = not (native or executed) and rng.random() < 0.3
        self.limit = rng.choice((0, 0, 1, 2, 3))
        n = rng.choice((0, 1, 5, 40)) if not executed else 150
        records = [record(rng, i, self.graph) for i in range(n)]
        self.arguments = ["--ci", "0", "--quiet"]
        if rng.random() < 0.3:
            cut = rng.randint(0, n)
            for name, part in (("10-19.json", records[cut:]), ("0-9.json", records[:cut])):
                self._write(f"p.{name}", part, rng)
            self.arguments += ["--file_path", str(folder / "p.*.json"), "--read_all"]
        else:
            self._write("p.json", records, rng)
            self.arguments += ["--file_path", str(folder / "p.json")]
        self.distances: dict[str, str] | None = None
        if rng.random() < 0.6:
            self.distances = self._contexts(records, rng)
        if self.compat:
            self.arguments += ["--compat", "spice"]
        if self.em_only:
            self.arguments.append("--em_only")
        elif self.limit:
            name = "--max_results" if self.compat else "--answer_limit"
            self.arguments += [name, str(self.limit)]
        if self.graph is not None:
            lines = "".join(f"{' '.join(triple)} .\n" for triple in self.graph)
            (folder / "kg.nt").write_text(lines, encoding="utf-8")
            self.arguments += ["--kg", str(folder / "kg.nt"), "--workers", "1"]

    def _write(self, name: str, records: list[Record], rng: Rng) -> None:
        layout: Any = rng.choice(({}, {"indent": 1}, {"ensure_ascii": False}))
        (self.folder / name).write_text(json.dumps(records, **layout), encoding="utf-8")

    def _contexts(self, records: list[Record], rng: Rng) -> dict[str, str]:
        lines = [
            f"{r['turnID']}\t{rng.choice(DISTANCES)}\tquestion"
            for r in records
            if r.get("turnID") and rng.random() < 0.8
        ]
        end = rng.choice(("\n", "\r\n", "\r"))
        text = "".join(line + end for line in rng.sample(lines + lines[:3], len(lines + lines[:3])))
        (self.folder / "context.tsv").write_bytes(text.encode())
        self.arguments += ["--context_dist_file", str(self.folder / "context.tsv")]
        return restated.distances_of(text)

    def evaluation(self, question_type: str) -> Evaluation:
        return Evaluation(
            restated.records_of(list(self.folder.glob("p.*json"))),
            question_type,
            compat=self.compat,
            em_only=self.em_only,
            limit=0 if self.em_only else self.limit,
            distances=self.distances,
            graph=self.graph,
        )


def printed(text: str) -> dict[str, int]:
    found = re.findall(r"^(NA actions|Total samples): (\d+)$", text, re.MULTILINE)
    return {name: int(number) for name, number in found}


@pytest.mark.parametrize("seed", range(150))
def test_one_type(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    case = Case(f"one {seed}", tmp_path, executed=False)
    rng = random.Random(seed)
    question_type = rng.choice(TYPES)
    out = tmp_path / "out.json"
    given = [*case.arguments, "--question_type", question_type, "--out_eval_file", str(out)]
    assert run(["sparql", "score", *given]) == 0, capsys.readouterr().err
    wanted = case.evaluation(question_type)
    assert out.read_text(encoding="utf-8") == restated.text_of(wanted.entries)
    lines = capsys.readouterr().out
    assert printed(lines) == {"NA actions": wanted.unanswered, "Total samples": wanted.total}
    if question_type in SETS and not (case.em_only and not case.compat):
        shown = re.findall(r"^\|.*\| +(\d+) +\|$", lines, re.MULTILINE)
        assert shown == [str(meter.mismatched) for meter in wanted.meters.values()]


@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_all_types_and_the_summary(
    seed: int, executed: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = Case(f"all {seed} {executed}", tmp_path, executed=executed)
    out = tmp_path / "eval"
    assert run(["sparql", "score", *case.arguments, "--out_eval_file", str(out)]) == 0
    wanted = [case.evaluation(name) for name in TYPES]
    for one in wanted:
        name = "-".join(re.findall(r"\w+", one.type.lower()))
        found = (out / f"{name}.json").read_text(encoding="utf-8")
        assert found == restated.text_of(one.entries), one.type
    total = {
        "NA actions": sum(one.unanswered for one in wanted),
        "Total samples": sum(one.total for one in wanted),
    }
    assert printed(capsys.readouterr().out) == total
    summary = restated.text_of(restated.summary([w.entries for w in wanted], compat=case.compat))
    assert (out / "eval_summary.json").read_text(encoding="utf-8") == summary
    (out / "eval_summary.json").unlink()
    mode = ["--compat", "spice"] if case.compat else []
    assert run(["sparql", "summarise", "--file_path", str(out), *mode]) == 0
    files = [
        json.loads(p.read_text()) for p in sorted(out.glob("*.json")) if p.stem != "eval_summary"
    ]
    wanted_summary = restated.text_of(restated.summary(files, compat=case.compat))
    assert (out / "eval_summary.json").read_text(encoding="utf-8") == wanted_summary


@pytest.mark.parametrize("executed", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_measures_beyond_the_script(seed: int, executed: bool, tmp_path: Path) -> None:
    case = Case(f"beyond {seed} {executed}", tmp_path, executed=executed, native=True)
    pairs = [pair for name in TYPES for pair in case.evaluation(name).pairs]
    assert run(["sparql", "score", *case.arguments, "--save", str(tmp_path / "run")]) == 0
    found = json.loads((tmp_path / "run" / "run.json").read_text(encoding="utf-8"))["scores"]
    for name, value in restated.beyond(pairs).items():
        assert found[name] == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize(
    "path", sorted(ORACLES.glob("*/expected.json")), ids=lambda p: p.parent.name
)
def test_the_rules_give_what_the_script_wrote(path: Path) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    for one in case.get("runs", [case]):
        args = one["args"]
        if not isinstance(args, dict) or not args.get("em_only"):
            continue
        distances = None
        if "context_dist_file" in args:
            text = (path.parent / args["context_dist_file"]).read_text(encoding="utf-8")
            distances = restated.distances_of(text)
        found = Evaluation(
            restated.records_of(list(path.parent.glob(args["file_path"]))),
            args["question_type"],
            compat=True,
            em_only=True,
            distances=distances,
        )
        expected = one["expected"]
        assert found.entries == expected.get("out_eval_file", expected)

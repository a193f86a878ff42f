# SPDX-License-Identifier: Apache-2.0
"""Conversation turns: 200,000 records against json and meters that are updated one by one, and
executed questions against one HTTP exchange per question."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.harness import DATA, Case, Work

RECORDS = 200_000
TYPE = "Simple Question (Direct)"
SUBTYPES = [f"Simple Question|kind {i}" for i in range(12)]
SCORES = ("precision", "recall", "f1", "macro_f1", "em", "mismatch")
LIMIT = 1_000  # answers of a wrong set above which SPICE's script keeps the right ones alone
QUESTIONS = 2_000
FLOOR = 25
"""MB that Python and numpy take before anything is read."""


def records(lines: bool) -> Path:
    """Turns with made-up queries and answers, 150 MB; one record per line, or indented.

    Like those that a parser writes, they hold more than is looked at: the answers of the turn
    before, and whether a query was right.
    """
    path = DATA / ("conversation-lines.json" if lines else "conversation.json")
    if path.exists():
        return path
    DATA.mkdir(exist_ok=True)
    rng = random.Random(5)
    with path.open("w", encoding="utf-8") as file:
        file.write("[\n")
        before: list[str] = []
        for i in range(RECORDS):
            gold = [f"Q{rng.randrange(5_000_000)}" for _ in range(rng.choice((1, 1, 2, 5, 12)))]
            found = gold if rng.random() < 0.6 else [*gold[:1], f"Q{rng.randrange(9_999)}"]
            entity, relation = rng.randrange(5_000_000), rng.randrange(600)
            query = (
                f"SELECT ?x WHERE {{ wd: Q{entity} wdt: P{relation} ?x . "
                f"?x wdt: P31 wd: Q{rng.randrange(5_000)} . }}"
            )
            record = {
                "question_type": TYPE,
                "description": rng.choice(SUBTYPES),
                "question": f"Which one is number {i}? " * 4,
                "answer": ", ".join(f"name of {g}" for g in gold),
                "actions": query if rng.random() < 0.7 else query.replace("?x", "?y"),
                "results": gold,
                "sparql_delex": query,
                "turnID": f"test#QA_{i // 90}#QA_{i // 9}#{i % 9}",
                "predicted_answers": found,
                "prev_results": before,
                "is_correct": found == gold,
            }
            before = gold
            file.write(json.dumps(record, indent=None if lines else 1))
            file.write(",\n" if i + 1 < RECORDS else "\n]\n")
    return path


def ours(lines: bool) -> Callable[[], Work]:
    """The whole pipeline, with slices by type, sub-type and context; no intervals."""

    def side() -> Work:
        import assay

        path = records(lines)

        def work() -> Any:
            found = assay.evaluate(
                "sparql",
                str(path),
                question_type=TYPE,
                metrics=["em", "answers"],
                ci=0,
                keep=False,
            )
            parts = found.document.slices["sub_type"]
            return {
                name.partition("_")[2]: [part.n, *(part.scores[score] for score in SCORES)]
                for name, part in parts.items()
            }

        return work

    return side


class Meter:
    """The running values that SPICE's script keeps for a type, a sub-type or a context group: what
    its evaluation file and its table hold, brought up to date with each record."""

    def __init__(self) -> None:
        self.number_of_instance = self.mismatch = 0.0
        self.hits = self.wrong = self.missed = self.exact = 0
        self.precision_sum = self.f1_sum = 0.0
        self.precision = self.recall = self.f1_score = self.exact_match = 0.0
        self.macro_precision = self.macro_f1 = 0.0

    def update(self, gold: set[str], found: set[str], is_exact: bool) -> None:
        """Take in one record, and bring all values up to date."""
        self.number_of_instance += 1
        hits = len(gold & found)
        self.hits += hits
        self.wrong += len(found - gold)
        self.missed += len(gold - found)
        if self.hits + self.wrong:
            self.precision = self.hits / (self.hits + self.wrong)
        if self.hits + self.missed:
            self.recall = self.hits / (self.hits + self.missed)
        if self.precision + self.recall:
            self.f1_score = 2 * self.precision * self.recall / (self.precision + self.recall)
        p = hits / len(found) if found else 0.0
        r = hits / len(gold) if gold else 0.0
        self.precision_sum += p
        self.f1_sum += 2 * p * r / (p + r) if p + r else 0.0
        self.macro_precision = self.precision_sum / self.number_of_instance
        self.macro_f1 = self.f1_sum / self.number_of_instance
        if is_exact:
            self.exact += 1
            if gold != found:
                self.mismatch += 1
        self.exact_match = self.exact / self.number_of_instance


def meters(lines: bool) -> Callable[[], Work]:
    """The standard library's json, then what SPICE's script does with a record whose answers are
    known, step by step: selected by type, compared as text, three meters updated."""

    def side() -> Work:
        path = records(lines)

        def work() -> Any:
            found: dict[str, Meter] = {}
            missing = 0
            with path.open(encoding="utf-8") as file:
                data = json.load(file)
            for record in data:
                if TYPE not in record["question_type"]:
                    continue
                gold, query = set(record["results"]), record["actions"]
                answers: set[str] = set()
                if query is None or "entity" in query.split():
                    missing += 1
                    query = None
                elif record["predicted_answers"] is None:
                    missing += 1
                else:
                    answers = set(record["predicted_answers"])
                if answers != gold and len(answers) > LIMIT:
                    answers &= gold
                right = record["sparql_delex"]
                is_exact = bool(right and query) and right.lower() == query.lower()
                for key in (TYPE, f"{TYPE}_{record['description']}", "fscore_none"):
                    if key not in found:
                        found[key] = Meter()
                    found[key].update(gold, answers, is_exact)
            return {
                name.partition("_")[2]: [
                    m.number_of_instance,
                    m.precision,
                    m.recall,
                    m.f1_score,
                    m.macro_f1,
                    m.exact_match,
                    m.mismatch / m.number_of_instance,
                ]
                for name, m in found.items()
                if name.startswith(f"{TYPE}_")
            }

        return work

    return side


def graph() -> Path:
    """A small graph with Wikidata's prefixes."""
    path = DATA / "graph.nt"
    if not path.exists():
        DATA.mkdir(exist_ok=True)
        rng = random.Random(6)
        entity, direct = "http://www.wikidata.org/entity/", "http://www.wikidata.org/prop/direct/"
        with path.open("w", encoding="utf-8") as file:
            for i in range(20_000):
                file.write(f"<{entity}Q{i}> <{direct}P31> <{entity}Q{rng.randrange(50)}> .\n")
                for _ in range(3):
                    file.write(
                        f"<{entity}Q{i}> <{direct}P{rng.randrange(2, 40)}> "
                        f"<{entity}Q{rng.randrange(20_000)}> .\n"
                    )
    return path


def questions() -> list[str]:
    """Distinct simple questions."""
    rng = random.Random(7)
    return [
        f"SELECT ?x WHERE {{ wd: Q{i} wdt: P{rng.randrange(2, 40)} ?x . }}"
        for i in range(QUESTIONS)
    ]


def embedded() -> Work:
    """One worker process on the graph."""
    from assay.core.document import Intake
    from assay.tasks.sparql.executor import open_executor

    def work() -> int:
        # A runner remembers replies, so each round has one of its own.
        runner = open_executor(str(graph()), None, Intake(), workers=1)
        found = runner.run(questions())
        runner.close()
        return sum(len(a) for a, _ in found if isinstance(a, list))

    return work


def exchanges() -> Work:
    """One connection per question to a server on loopback, one after the other."""
    import shutil
    import socket
    import subprocess
    import sys
    import tempfile
    import time
    import urllib.parse
    import urllib.request

    from assay.tasks.sparql.dialect import surface_form
    from assay.tasks.sparql.endpoint import with_prefixes

    program = shutil.which("oxigraph", path=str(Path(sys.executable).parent))
    if program is None:
        raise SystemExit("pip install oxigraph: its server is the peer")

    def work() -> int:
        folder = tempfile.mkdtemp()
        load = [program, "load", "--location", folder, "--file", str(graph())]
        subprocess.run(load, check=True, capture_output=True)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        serve = [program, "serve-read-only", "--location", folder, "--bind", address]
        server = subprocess.Popen(serve, stderr=subprocess.PIPE)
        assert server.stderr is not None
        server.stderr.readline()
        time.sleep(0.1)
        total = 0
        for question in questions():
            body = urllib.parse.urlencode({"query": with_prefixes(surface_form(question))}).encode()
            request = urllib.request.Request(
                f"http://{address}/query", body, {"Accept": "application/sparql-results+json"}
            )
            with urllib.request.urlopen(request) as reply:
                total += len(json.load(reply)["results"]["bindings"])
        server.terminate()
        server.wait()
        shutil.rmtree(folder)
        return total

    return work


CASES = [
    Case(
        "200,000 turns, one per line",
        "json + meters per record",
        ours=ours(True),
        peer=meters(True),
        must=4.5,
        memory=FLOOR + 32,
        tolerance=1e-9,
        rounds=15,
        peer_rounds=7,
    ),
    Case(
        "200,000 turns, indented",
        "json + meters per record",
        ours=ours(False),
        peer=meters(False),
        must=4.5,
        memory=FLOOR + 32,
        tolerance=1e-9,
        rounds=15,
        peer_rounds=7,
    ),
    Case(
        "2,000 questions executed, start and load included",
        "one HTTP exchange each",
        ours=embedded,
        peer=exchanges,
        must=2,
        rounds=2,
    ),
]

# SPDX-License-Identifier: Apache-2.0
"""Writes the files of this folder: an invented island as a graph, and conversations about it.

Everything is made up, with a fixed seed. Gold answers come from running the gold queries.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from assay.core.document import Intake
from assay.tasks.sparql.executor import Runner, open_executor

HERE = Path(__file__).parent
TOWN, RIVER, LAKE, GUILD, PERSON = "Q901", "Q902", "Q903", "Q904", "Q905"
ON, FLOWS, MEMBER, BORN = "P901", "P902", "P903", "P904"  # lies on, flows into, member, born in


def graph(rng: random.Random) -> dict[str, list[str]]:
    """Write the graph; gives back its entities by type."""
    by_type = {
        TOWN: [f"Q{1000 + i}" for i in range(12)],
        RIVER: [f"Q{2000 + i}" for i in range(8)],
        LAKE: [f"Q{3000 + i}" for i in range(4)],
        GUILD: [f"Q{4000 + i}" for i in range(5)],
        PERSON: [f"Q{5000 + i}" for i in range(30)],
    }
    triples = [(e, "P31", kind) for kind, entities in by_type.items() for e in entities]
    triples += [(t, ON, rng.choice(by_type[RIVER] + by_type[LAKE])) for t in by_type[TOWN]]
    triples += [(r, FLOWS, rng.choice(by_type[LAKE])) for r in by_type[RIVER]]
    for person in by_type[PERSON]:
        triples.append((person, BORN, rng.choice(by_type[TOWN])))
        triples += [(person, MEMBER, g) for g in rng.sample(by_type[GUILD], rng.randint(0, 2))]
    lines = ["@prefix wd: <http://www.wikidata.org/entity/> ."]
    lines += ["@prefix wdt: <http://www.wikidata.org/prop/direct/> ."]
    lines += [f"wd:{s} wdt:{p} wd:{o} ." for s, p, o in triples]
    (HERE / "island.ttl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return by_type


Turn = tuple[str, str, str, str]
"""Question type, sub-type, question, query."""


def turns(by_type: dict[str, list[str]], rng: random.Random) -> list[Turn]:
    """One conversation."""
    person, town, guild = (rng.choice(by_type[kind]) for kind in (PERSON, TOWN, GUILD))
    other = rng.choice([t for t in by_type[TOWN] if t != town])
    born = f"SELECT ?x WHERE {{ ?x wdt: {BORN} wd: {town} . ?x wdt: P31 wd: {PERSON} . }}"
    either = (
        f"SELECT DISTINCT ?x WHERE {{ ?x wdt: {BORN} ?y . VALUES ?y {{ wd: {town} wd: {other} }} . "
        f"?x wdt: P31 wd: {PERSON} . }}"
    )
    counts = (
        f"SELECT ?x WITH {{ SELECT ?x ( COUNT ( * ) AS ?n ) WHERE {{ ?y wdt: {MEMBER} ?x . "
        f"?x wdt: P31 wd: {GUILD} . }} GROUP BY ?x }} AS %counts WHERE {{ INCLUDE %counts . "
        f"FILTER ( ?n >= {rng.randint(4, 9)} ) }}"
    )
    return [
        ("Simple Question (Direct)", "Simple Question|Single Entity", "Where was this person born?",
         f"SELECT ?x WHERE {{ wd: {person} wdt: {BORN} ?x . ?x wdt: P31 wd: {TOWN} . }}"),
        ("Simple Question (Coreferenced)", "Simple Question|Single Entity|Indirect",
         "Who else was born there?", born),
        ("Simple Question (Coreferenced)", "Simple Question|Mult. Entity",
         "And who was born in either of these towns?", either),
        ("Verification (Boolean) (All)", "Verification|2 entities, both direct",
         "Is this person a member of that guild?",
         f"ASK {{ wd: {person} wdt: {MEMBER} wd: {guild} . }}"),
        ("Quantitative Reasoning (Count) (All)", "Quantitative|Count|Single entity type",
         "How many members does the guild have?",
         f"SELECT ( COUNT ( * ) AS ?n ) WHERE {{ ?x wdt: {MEMBER} wd: {guild} . }}"),
        ("Quantitative Reasoning (Count) (All)", "Incomplete count-based ques",
         "And how many were born in the town?",
         f"SELECT ( COUNT ( * ) AS ?n ) WHERE {{ ?x wdt: {BORN} wd: {town} . }}"),
        ("Quantitative Reasoning (All)",
         "Quantitative|Atleast/ Atmost/ Approx. the same/Equal|Single entity type",
         "Which guilds have at least that many members?", counts),
        ("Logical Reasoning (All)", "Logical|Union|Multiple_Relation",
         "Who was born in the town or is a member of the guild?",
         f"SELECT DISTINCT ?x WHERE {{ {{ ?x wdt: {BORN} wd: {town} . }} UNION "
         f"{{ ?x wdt: {MEMBER} wd: {guild} . }} }}"),
    ]  # fmt: skip


def _neighbour(match: re.Match[str]) -> str:
    return f"wd: Q{match[1]}0{(int(match[2]) + 1) % 5:02d}"


def careless(query: str, rng: random.Random) -> str | None:
    """A system that often names the wrong entity, writes what does not parse, or gives up."""
    luck = rng.random()
    if luck < 0.55:
        return query
    if luck < 0.75:
        return re.sub(r"wd: Q([145])0(\d\d)", _neighbour, query, count=1)
    if luck < 0.85:
        return query.rpartition("}")[0]
    return query.replace("?x", "?answer") if luck < 0.95 else None


def careful(query: str, rng: random.Random) -> str | None:
    """A system that is mostly right, and sometimes writes the same query in other words."""
    luck = rng.random()
    if luck < 0.72:
        return query
    if luck < 0.87:
        return query.replace("?x", "?answer")
    return query.replace("wdt: P904", "wdt: P901") if luck < 0.95 else query.rpartition("}")[0]


System = Callable[[str, random.Random], str | None]


def records(conversations: list[list[Turn]], system: System, runner: Runner) -> list[Any]:
    """The records of one system."""
    rng = random.Random(system.__name__)
    found = []
    for number, conversation in enumerate(conversations):
        for place, (kind, subtype, question, query) in enumerate(conversation):
            answers = runner.run([query])[0][0]
            results = answers if isinstance(answers, list) else []
            answer = ", ".join(results)
            if isinstance(answers, bool):
                answer = "YES" if answers else "NO"
            found.append(
                {
                    "question_type": kind,
                    "description": subtype,
                    "question": question,
                    "answer": answer,
                    "actions": system(query, rng),
                    "results": results,
                    "sparql_delex": query,
                    "turnID": f"test#QA_{number}#QA_{number}#{place}",
                }
            )
    return found


def main() -> None:
    """Write all files."""
    rng = random.Random(11)
    by_type = graph(rng)
    conversations = [turns(by_type, rng) for _ in range(25)]
    runner = open_executor(str(HERE / "island.ttl"), None, Intake(), workers=1)
    for system in (careless, careful):
        held = records(conversations, system, runner)
        lines = ",\n".join(json.dumps(record) for record in held)
        (HERE / f"{system.__name__}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    runner.close()
    with (HERE / "context.tsv").open("w", encoding="utf-8") as file:
        for number in range(len(conversations)):
            for place, distance in ((1, 1), (2, 2), (5, 1), (6, rng.choice((1, 2, 3)))):
                file.write(f"test#QA_{number}#QA_{number}#{place}\t{distance}\t\n")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""What SPICE's scripts do with prediction files, and what is mended, written down a second time.

Nothing here is shared with the task `sparql` or with the peer of its benchmark: records one after
the other, sets, and running sums; queries are read by pattern and answered by trying all triples.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import product
from pathlib import Path
from typing import Any

Record = dict[str, Any]
Entry = dict[str, float]
Triple = tuple[str, str, str]
Pair = tuple[set[str], set[str] | None, bool, bool]
"""Gold and predicted answers, whether a number was asked for, and whether one came back."""

SETS = (
    "Clarification",
    "Comparative Reasoning (All)",
    "Logical Reasoning (All)",
    "Quantitative Reasoning (All)",
    "Simple Question (Coreferenced)",
    "Simple Question (Direct)",
    "Simple Question (Ellipsis)",
)
YES_NO = "Verification (Boolean) (All)"
COUNTS = ("Quantitative Reasoning (Count) (All)", "Comparative Reasoning (Count) (All)")
TYPES = (*SETS, YES_NO, *COUNTS)

ELLIPSIS = (
    "Logical|Difference|Single_Relation|Incomplete",
    "Logical|Intersection|Single_Relation|Incomplete",
    "Logical|Union|Single_Relation|Incomplete",
    "Comparative|More/Less|Mult. entity type|Incomplete",
    "Comparative|More/Less|Single entity type|Incomplete",
    "Comparative|Count over More/Less|Mult. entity type|Incomplete",
    "Comparative|Count over More/Less|Single entity type|Incomplete",
    "Incomplete|object parent is changed, subject and predicate remain same",
    "Incomplete count-based ques",
)
MULTI_ENTITY = (
    "Logical|Difference|Multiple_Relation",
    "Logical|Intersection|Multiple_Relation",
    "Logical|Union|Multiple_Relation",
    "Quantitative|Atleast/ Atmost/ Approx. the same/Equal|Mult. entity type",
    "Quantitative|Min/Max|Mult. entity type",
    "Comparative|More/Less|Mult. entity type",
    "Comparative|More/Less|Mult. entity type|Incomplete",
    "Comparative|More/Less|Mult. entity type|Indirect",
    "Comparative|Count over More/Less|Mult. entity type",
    "Comparative|Count over More/Less|Mult. entity type|Incomplete",
    "Comparative|Count over More/Less|Mult. entity type|Indirect",
    "Simple Question|Mult. Entity|Indirect",
    "Simple Question|Mult. Entity",
    "Verification|one entity, multiple entities (as object) referred indirectly",
    "Quantitative|Count over Atleast/ Atmost/ Approx. the same/Equal|Mult. entity type",
    "Quantitative|Count|Mult. entity type",
)


# Answers on a graph

ENTITY = "http://www.wikidata.org/entity/"
NAMES = {
    "wd:": ENTITY,
    "wdt:": "http://www.wikidata.org/prop/direct/",
    "rdfs:": "http://www.w3.org/2000/01/rdf-schema#",
}


class NoAnswerError(Exception):
    """Nothing comes back for this query."""


def surface(text: str) -> str:
    """The query that is sent for a predicted text."""
    tokens = text.split(" ")
    found = ""
    for i, token in enumerate(tokens):
        if i >= 2 and tokens[i - 1].lower() in ("wd:", "wdt:"):
            found += token.upper()
        else:
            found += " " + token
    return found.strip()


def read(shape: str, text: str) -> re.Match[str] | None:
    """Case matters in names, not in keywords; there are no keywords in a name's place."""
    return re.fullmatch(shape, text, re.IGNORECASE)


def term(text: str) -> str:
    """A term as the graph holds it; variables keep their sign."""
    if text.startswith(("?", '"', "<")):
        return text
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return text
    name = re.fullmatch(r"(\w+:)(\w+)", text)
    if name is None or name[1] not in NAMES:
        raise NoAnswerError
    return f"<{NAMES[name[1]]}{name[2]}>"


def matches(patterns: Sequence[Triple], graph: Sequence[Triple]) -> Iterator[dict[str, str]]:
    """Every way in which triples of the graph are the patterns."""
    for triples in product(graph, repeat=len(patterns)):
        bound: dict[str, str] = {}
        if all(
            bound.setdefault(want, have) == have if want.startswith("?") else want == have
            for pattern, triple in zip(patterns, triples, strict=True)
            for want, have in zip(pattern, triple, strict=True)
        ):
            yield bound


def group(body: str, graph: Sequence[Triple]) -> list[dict[str, str]]:
    values = read(r"VALUES (\?\w+) \{ (.*?) ?\}", body)
    if values is not None:
        listed = re.findall(r'"[^"]*"|\S+', values[2])
        return [{values[1]: term(one)} for one in listed]
    branches = read(r"\{ (.*) \} UNION \{ (.*) \}", body)
    if branches is not None:
        return group(branches[1], graph) + group(branches[2], graph)
    patterns = []
    for part in filter(None, (part.strip() for part in body.split(" . "))):
        words = part.removesuffix(" .").split()
        if len(words) != 3:
            raise NoAnswerError
        patterns.append((term(words[0]), term(words[1]), term(words[2])))
    return list(matches(patterns, graph))


def run(query: str, graph: Sequence[Triple]) -> list[str] | bool:
    """Terms of the only variable, or whether anything matches."""
    ask = read(r"ASK \{ (.*?) ?\}", query)
    if ask is not None:
        return bool(group(ask[1], graph))
    select = read(r"SELECT (DISTINCT )?(.*?) WHERE \{ (.*?) ?\}", query)
    if select is None:
        raise NoAnswerError
    found = group(select[3], graph)
    if read(r"\(COUNT\(\*\) AS \?n\)", select[2]):
        return [str(len(found))]
    if re.fullmatch(r"\?\w+", select[2]) is None:
        raise NoAnswerError  # several variables, or none
    terms = [row[select[2]] for row in found if select[2] in row]
    return list(dict.fromkeys(terms)) if select[1] else terms


def shown(value: str, *, compat: bool) -> str:
    """An answer as it is compared."""
    plain = value[1:-1] if value[0] in '"<' else value
    if compat:
        return plain.split("/")[-1]
    if value.startswith("<"):
        return re.sub(rf"^{ENTITY}(?=[A-Z]\d+$)", "", plain)
    if value.startswith('"'):
        return plain
    number = Decimal(plain).normalize()
    return format(number, "f")


# Files


def distances_of(text: str) -> dict[str, str]:
    found = {}
    for line in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        fields = line.strip().split("\t")
        if fields != [""]:
            found[fields[0]] = fields[1]
    return found


class Meter:
    """The running values of one group of questions."""

    def __init__(self, *, of_sets: bool) -> None:
        self.of_sets = of_sets
        self.n = self.exact = self.right = 0
        self.hits = self.wrong = self.missed = self.mismatched = 0
        self.macro = 0.0

    def entry(self, *, answered: bool) -> Entry:
        em = self.exact / self.n
        if not self.of_sets:
            return {
                "instances": self.n,
                **({"accuracy": self.right / self.n} if answered else {}),
                "em": em,
            }
        if not answered:
            return {"instances": float(self.n), "em": em}
        p = self.hits / (self.hits + self.wrong) if self.hits + self.wrong else 0
        r = self.hits / (self.hits + self.missed) if self.hits + self.missed else 0
        return {
            "instances": float(self.n),
            "precision": p,
            "recall": r,
            "f1score": 2 * p * r / (p + r) if p + r else 0,
            "macro-f1score": self.macro / self.n,
            "em": em,
        }


class Evaluation:
    """One question type: what the file of the script holds, and what is printed above its table."""

    def __init__(
        self,
        records: Sequence[Record],
        question_type: str,
        *,
        compat: bool,
        em_only: bool = False,
        limit: int = 0,
        distances: dict[str, str] | None = None,
        graph: Sequence[Triple] | None = None,
    ) -> None:
        self.type = question_type
        self.compat, self.em_only = compat, em_only
        self.limit = limit or (1_000 if compat else 0)
        self.distances = distances
        self.graph = graph
        self.meters: dict[str, Meter] = {}
        self.unanswered = self.total = 0
        self.pairs: list[Pair] = []
        self.query_before: str | None = None
        self.distance_before = "none"
        for record in records:
            given = record["question_type"]
            if question_type == given or (isinstance(given, list) and question_type in given):
                self.take(record, several=isinstance(given, list))

    def take(self, record: Record, *, several: bool) -> None:
        self.total += 1
        query, found = self.predicted(record)
        exact = None not in (query, record.get("sparql_delex")) and (
            str(query).lower() == str(record["sparql_delex"]).lower()
        )
        self.pairs.append(self.pair(record, query, found))
        subtype = f"{self.type}_{record['description']}"
        family = "fscore" if self.type in SETS else "accuracy"
        for name in (self.type, subtype, f"{family}_{self.distance(record)}"):
            meter = self.meters.setdefault(name, Meter(of_sets=self.type in SETS))
            meter.n += 1
            meter.exact += exact
            if self.type in SETS:
                self.count_set(meter, record, found, exact=exact)
            else:
                meter.right += self.is_right(record, found, several=several)

    def pair(self, record: Record, query: str | None, found: Any) -> Pair:
        """Gold and predicted answers as sets, whatever they are; None where nothing came back."""
        gold = set(record["results"])
        counts = self.type in COUNTS
        number = len(record["results"])
        if self.type == YES_NO:
            gold = {"true" if record["answer"] == "YES" else "false"}
        elif counts and (given := digits(record["answer"])) is not None:
            number = given
        elif self.type in SETS and re.match(
            r"SELECT \(COUNT", record.get("sparql_delex") or "", re.I
        ):
            counts, number = True, len(gold)
        if counts:
            gold = {str(number)}
        if found is None:
            return gold, None, counts and self.type in COUNTS, False
        real = isinstance(found, list) and len(found) == 1 and digits(found[0]) is not None
        if isinstance(found, bool):
            answers = {"true" if found else "false"}
        elif counts:
            answers = {str(digits(found[0]) if real else len(found))}
        else:
            answers = set(found)
        return gold, answers, counts and self.type in COUNTS, real

    def predicted(self, record: Record) -> tuple[str | None, list[str] | bool | None]:
        """The text that is compared, and the answers."""
        text = record["actions"]
        if text is None:
            self.unanswered += 1
            return (self.query_before if self.compat else None), None
        if self.em_only:
            self.query_before = text
            return text, [] if self.compat else None
        if "entity" in text.split():
            self.unanswered += 1
            self.query_before = None
            return None, None
        self.query_before = text
        if self.graph is None:
            self.unanswered += record["predicted_answers"] is None
            return text, record["predicted_answers"]
        try:
            found = run(surface(text), self.graph)
        except NoAnswerError:
            self.unanswered += 1
            return text, None
        if isinstance(found, bool):
            return text, found
        return text, [shown(one, compat=self.compat) for one in found]

    def distance(self, record: Record) -> str:
        turn = record.get("turnID")
        if turn is None:
            return self.distance_before if self.compat else "none"
        self.distance_before = (self.distances or {}).get(turn, "none")
        return self.distance_before

    def sets(self, record: Record, found: list[str] | bool | None) -> tuple[set[str], set[str]]:
        gold = set() if self.em_only else set(record["results"])
        return gold, set(found) if isinstance(found, list) else set()

    def count_set(
        self, meter: Meter, record: Record, found: list[str] | bool | None, *, exact: bool
    ) -> None:
        gold, answers = self.sets(record, found)
        hits = len(gold & answers)
        size = len(answers)
        if self.limit and self.compat and answers != gold and size > self.limit:
            size = hits
        elif self.limit and not self.compat:
            size = max(hits, min(size, self.limit))
        meter.hits += hits
        meter.wrong += size - hits
        meter.missed += len(gold) - hits
        if hits:
            p, r = hits / size, hits / len(gold)
            meter.macro += 2 * p * r / (p + r)
        meter.mismatched += exact and not hits == size == len(gold)

    def is_right(self, record: Record, found: list[str] | bool | None, *, several: bool) -> bool:
        if several and self.compat:
            gold, answers = self.sets(record, found)
            if answers != gold and len(answers) > self.limit:
                answers &= gold
            return answers == gold
        if self.type == YES_NO:
            return isinstance(found, bool) and found == (record["answer"] == "YES")
        if not isinstance(found, list):
            return False
        number = digits(found[0]) if len(found) == 1 else None
        gold_number = digits(record["answer"])
        return (len(found) if number is None else number) == (
            len(record["results"]) if gold_number is None else gold_number
        )

    @property
    def entries(self) -> dict[str, Entry]:
        answered = self.compat or not self.em_only
        found = {name: meter.entry(answered=answered) for name, meter in self.meters.items()}
        if self.distances is not None:
            found |= self.contexts(found)
        for name, listed in (("ellipsis", ELLIPSIS), ("multi_entity", MULTI_ENTITY)):
            members = [found[n] for n in self.meters if n.removeprefix(f"{self.type}_") in listed]
            if members:
                found[name] = mean(members)
        return found

    def contexts(self, found: dict[str, Entry]) -> dict[str, Entry]:
        family = "fscore_" if self.type in SETS else "accuracy_"
        near = found.get(f"{family}1")
        far = [
            e
            for n, e in found.items()
            if n.startswith(family) and n[len(family) :] not in ("1", "none")
        ]
        return {
            "Ctx=-1": {
                "instances": near["instances"] if near else 0.0,
                "em": near["em"] if near else 0.0,
            },
            "Ctx<-1": mean(far) if far else {"instances": 0.0, "em": 0},
        }


def beyond(pairs: Sequence[Pair]) -> dict[str, float | None]:
    """GERBIL's scores and their like, from gold sets and predicted sets of all questions."""
    n = len(pairs)
    if not n:
        return {"gerbil_micro_f1": None, "answer_accuracy": None, "jaccard": None, "qald_f1": None}
    sums = dict.fromkeys(("p", "r", "f", "qald_p", "qald_r", "equal", "jaccard"), 0.0)
    hits = wrong = missed = 0
    for gold, given, _, _ in pairs:
        found = given or set()
        both = gold & found
        hits, wrong, missed = (
            hits + len(both),
            wrong + len(found - gold),
            missed + len(gold - found),
        )
        p, r, f = prf(len(both), len(found - gold), len(gold - found))
        for name, value in (("p", p), ("r", r), ("f", f), ("qald_r", r)):
            sums[name] += value
        sums["qald_p"] += 1 if gold and not found else p
        sums["equal"] += gold == found
        sums["jaccard"] += len(both) / len(gold | found) if gold | found else 1
    means = {name: value / n for name, value in sums.items()}
    micro = prf(hits, wrong, missed)
    counted = [real for _, _, counts, real in pairs if counts]
    a, b = means["qald_p"], means["qald_r"]
    return {
        **dict(
            zip([f"gerbil_micro_{x}" for x in ("precision", "recall", "f1")], micro, strict=True)
        ),
        "gerbil_macro_precision": means["p"],
        "gerbil_macro_recall": means["r"],
        "gerbil_macro_f1": means["f"],
        "qald_precision": a,
        "qald_recall": b,
        "qald_f1": 2 * a * b / (a + b) if a + b else None,
        "answer_accuracy": means["equal"],
        "jaccard": means["jaccard"],
        "executable": sum(given is not None for _, given, _, _ in pairs) / n,
        "real_numbers": sum(counted) / len(counted) if counted else None,
    }


def prf(hits: int, wrong: int, missed: int) -> tuple[float, float, float]:
    """Precision, recall and F1 of one question, or of all counts; nothing for nothing is right."""
    if hits == 0:
        return (1, 1, 1) if wrong == missed == 0 else (0, 0, 0)
    p, r = hits / (hits + wrong), hits / (hits + missed)
    return p, r, 2 * p * r / (p + r)


def digits(text: Any) -> int | None:
    """The number that a text of digits is."""
    try:
        return int(text) if text.isnumeric() else None
    except ValueError:  # ½ and the like are numeric, and no digits
        return None


def mean(members: Sequence[Entry]) -> Entry:
    return {
        "instances": float(sum(e["instances"] for e in members)),
        "em": sum(e["em"] for e in members) / len(members),
    }


def summary(files: Sequence[dict[str, Entry]], *, compat: bool) -> dict[str, Entry]:
    found = {}
    for name in ("multi_entity", "ellipsis", "Ctx=-1", "Ctx<-1"):
        held = [f[name] for f in files if name in f and (compat or f[name]["instances"])]
        found[name] = {"em": sum(e["em"] for e in held) / len(held) if held else 0}
    return found


def text_of(data: Any) -> str:
    return json.dumps(data)


def records_of(paths: Sequence[Path]) -> list[Record]:
    return [r for path in sorted(paths) for r in json.loads(path.read_text(encoding="utf-8"))]

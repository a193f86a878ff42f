# SPDX-License-Identifier: Apache-2.0
"""Random lines scored by the command and by the rules restated in plain Python with real nltk."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from assay import evaluate
from benchmarks import plur

WORDS = (
    *("get", "Get", "name", "size", "a", "b", "", "<OOV>", "<pad>", "é", "ΑΣ", "İ", "x" * 9, "x" * 20),
    *("getName(", ")", "'a'", '"a"', "self.x", "=", "\u00a0", "HTTPServer", "_1"),
)  # fmt: skip

Lines = tuple[list[str], list[str]]


def words(rng: random.Random, most: int) -> str:
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, most)))


def near(rng: random.Random, gold: str, most: int) -> str:
    if rng.random() < 0.3:
        return gold
    kept = [word for word in gold.split(" ") if rng.random() < 0.8]
    return " ".join(kept) if rng.random() < 0.7 else words(rng, most)


def names(rng: random.Random, candidates: int, most: int = 6) -> Lines:
    gold = [words(rng, most) for _ in range(200)]
    return ["\t".join(near(rng, g, most) for _ in range(candidates)) for g in gold], gold


def drawn(
    rng: random.Random, gold: tuple[str, ...], odd: tuple[str, ...], candidates: int = 1
) -> Lines:
    wanted = [rng.choice(gold) for _ in range(200)]
    every = (*gold, *odd)
    return [
        "\t".join(w if rng.random() < 0.3 else rng.choice(every) for _ in range(candidates))
        for w in wanted
    ], wanted  # fmt: skip


BUGS = ("NO_BUG", "POINTER(2,x) y", "POINTER(3,x) y", "POINTER(2,x) z w", "POINTER(2,x)")
POINTED = (
    "POINTER(1,f) f",
    "POINTER(4,x) y",
    "POINTER(04,x) y ",
    " POINTER(5,x) z",
    "POINTER(0,x)",
)
UNPOINTED = ("BUG_FREE", "ERROR_LOCATION_4 y", "ERROR_LOCATION_5", "ERROR_LOCATION_0 z")
ODD = ("", "?", "POINTER(,x)", "POINTER(4)", "ERROR_LOCATION_1", "BUG_FREEDOM", "POINTER(٤,x) y")
CLASSES = ("CLASS_Correct", "CLASS_Incorrect", " CLASS_Correct", "InCLASS_correct")
EDITS = ("add_node 1", "add_node 2", "del_node 1", "replace_val x", "replace_type y", "NoOp", "")

Make = Callable[[random.Random], Lines]
Rules = Callable[..., plur.Scores]
CASES: list[tuple[str, Make, Rules]] = [
    ("code2seq", lambda rng: names(rng, 1), plur.code2seq),
    ("convattn", lambda rng: names(rng, 3), plur.convattn),
    ("ogb_code", lambda rng: names(rng, 1), plur.convattn),
    ("funcom", lambda rng: names(rng, 1, 12), plur.funcom),
    ("retrieve_and_edit", lambda rng: names(rng, 2, 12), plur.retrieve_and_edit),
    ("great_var_misuse", lambda rng: drawn(rng, BUGS, ODD), plur.great),
    (
        "cubert_function_docstring_classification",
        lambda rng: drawn(rng, CLASSES[:3], ODD),
        plur.classes,
    ),
    (
        "cubert_variable_misuse_repair_nocopy",
        lambda rng: drawn(rng, POINTED, ODD),
        lambda b, t: plur.misuse_repair(b, t, pointed=True),
    ),
    (
        "cubert_variable_misuse_repair_unpointed",
        lambda rng: drawn(rng, UNPOINTED, ODD),
        lambda b, t: plur.misuse_repair(b, t, pointed=False),
    ),
    ("hoppity_single_ast_diff", lambda rng: drawn(rng, EDITS, ODD, 3), plur.hoppity),
    ("manysstubs4j", lambda rng: drawn(rng, CLASSES, ODD, 2), plur.manysstubs4j),
]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize(("dataset", "make", "rules"), CASES, ids=[case[0] for case in CASES])
def test_scores_are_those_of_the_plain_rules(
    dataset: str, make: Make, rules: Rules, seed: int, tmp_path: Path
) -> None:
    predictions, gold = make(random.Random(seed))
    files = tmp_path / "p", tmp_path / "g"
    for path, lines in zip(files, (predictions, gold), strict=True):
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    found = evaluate("code", *map(str, files), dataset_name=dataset, ci=0).scores
    wanted = rules(*plur.read_pairs(*map(str, files)))
    assert {key: found[key] for key in wanted} == pytest.approx(wanted, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("top_n", [2, 3])
def test_ranks_of_comments_are_chosen_as_by_the_plain_rules(top_n: int, tmp_path: Path) -> None:
    predictions, gold = names(random.Random(top_n), 3, 12)
    beams = [line.split("\t") for line in predictions]
    found = evaluate("code", beams, gold, dataset_name="funcom", top_n_beam_search=top_n, ci=0)
    assert found.scores == pytest.approx(plur.funcom(beams, gold, top_n), rel=1e-9)


@pytest.mark.parametrize(
    ("dataset", "rules", "candidates"),
    [("code2seq", plur.code2seq, 1), ("convattn", plur.convattn, 2), ("funcom", plur.funcom, 1)],
)
def test_intervals_are_those_of_the_plain_rules(
    dataset: str, rules: Rules, candidates: int
) -> None:
    predictions, gold = names(random.Random(8), candidates, 9)
    beams = [line.split("\t") for line in predictions]
    extra = evaluate(
        "code", beams, gold, dataset_name=dataset, interval="plur", resamples=40, seed=42
    ).document.extra["plur_intervals"]
    wanted = plur.resampled(rules, beams, gold, 40)
    for side in ("lower", "upper"):
        found = {key: list(extra[side][key]) for key in wanted[side]}
        for key, values in wanted[side].items():
            assert found[key] == pytest.approx(values, rel=1e-9), key

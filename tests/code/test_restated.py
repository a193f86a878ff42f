# SPDX-License-Identifier: Apache-2.0
"""Random files of every data set: the command prints what the rules, written down again, give."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypedDict

import pytest

from tests.code import restated
from tests.code.conftest import Score, Write

Rng = random.Random
GOLDEN = Path(__file__).parents[2] / "src" / "assay" / "tasks" / "code" / "golden"

WORDS = (
    *("get", "Get", "GET", "name", "size", "a", "b", "", "<OOV>", "<pad>", "<PAD>", "<oov>", "é"),
    *("É", "ΑΣ", "ας", "ασ", "İ", "i̇", "x" * 8, "x" * 9, "X" * 9, "x" * 17, "x" * 16 + "y", "y" * 90),
    *("getName(", ")", "'a'", '"a"', "self.x", "=", "\u00a0", "HTTPServer", "getURL2", "_1", "日本"),
    *("a\u200bb", "a\x1fb", "a\0", "a\u0300", "ß", "SS", "ss", "\ufeff", "\U0001f600", "\u3000"),
)  # fmt: skip


def words(rng: Rng, most: int = 6) -> str:
    if rng.random() < 0.02:
        most = 40
    pool = rng.sample(WORDS, 6) if rng.random() < 0.7 else WORDS
    return " ".join(rng.choice(pool) for _ in range(rng.randint(0, most)))


def near(rng: Rng, gold: str) -> str:
    kind = rng.random()
    if kind < 0.3:
        return gold
    if kind < 0.4:
        return gold.upper()
    kept = [word for word in gold.split(" ") if rng.random() < 0.8]
    if kind < 0.6:
        rng.shuffle(kept)
    elif kind < 0.7:
        kept += kept[:1]
    return " ".join(kept) if kind < 0.8 else words(rng)


def names(rng: Rng) -> tuple[str, str]:
    gold = words(rng)
    return near(rng, gold), gold


def texts(golds: Sequence[str], odd: Sequence[str]) -> Callable[[Rng], tuple[str, str]]:
    """Gold of these forms; predictions are right, of another form, or odd."""

    def one(rng: Rng) -> tuple[str, str]:
        gold = rng.choice(golds)
        kind = rng.random()
        return (gold if kind < 0.4 else rng.choice(golds if kind < 0.7 else odd)), gold

    return one


def spaced(rng: Rng, text: str) -> str:
    blanks = ("", "", "", " ", "\u00a0", "\x1f", "\u3000", "  ")
    return rng.choice(blanks) + text + rng.choice(blanks)


def trimmed(golds: Sequence[str], odd: Sequence[str]) -> Callable[[Rng], tuple[str, str]]:
    def one(rng: Rng) -> tuple[str, str]:
        prediction, gold = texts(golds, odd)(rng)
        return spaced(rng, prediction), spaced(rng, gold)

    return one


ODD = (
    *("", " ", "?", "POINTER(,x)", "POINTER(4)", "POINTER(-4,x)", "pointer(4,x)", "POINTER(4 ,x)"),
    *("ERROR_LOCATION_1", "ERROR_LOCATION_01 y", "ERROR_LOCATION_", "ERROR_LOCATION_4y", "BUG_FRE"),
    *("NO_BUG ", "no_bug", "CLASS_", "CLASS_None", "Correct", "xPOINTER(4,x) y", "BUG_FREEDOM"),
    *("ERROR_LOCATION_٤\u2003y", "ERROR_LOCATION_4\x1fy", "POINTER(٤,x) y", "ERROR_LOCATION_²"),
)  # fmt: skip
POINTERS = (
    "NO_BUG",
    "POINTER(2,x) y",
    "POINTER(3,x) y",
    "POINTER(2,x) z w",
    "POINTER(2,x)",
    "POINTER(",
)
PLACES = (
    "NO_BUG",
    "ERROR_LOCATION_2 y",
    "ERROR_LOCATION_3 y",
    "ERROR_LOCATION_2  y",
    "ERROR_LOCATION_",
)
POINTED = (
    *("POINTER(1,f) f", "POINTER(01,f) g", "POINTER(4,x) y", "POINTER(04,x) y", "POINTER(٤,x) y"),
    *("POINTER(5,x) z", "POINTER(0,x)", "POINTER(00,x) y", "POINTER(123456789012345678901,x) y"),
)  # fmt: skip
UNPOINTED = (
    *("BUG_FREE", "BUG_FREEDOM", "BUG_FREE x", "ERROR_LOCATION_4 y", "ERROR_LOCATION_04 y"),
    *("ERROR_LOCATION_5", "ERROR_LOCATION_0 z", "ERROR_LOCATION_4\u00a0y", "ERROR_LOCATION_١١"),
)  # fmt: skip
EDITS = (
    *("add_node 1", "add_node 2", "add_node", "del_node 1", "replace_val x", "replace_type y"),
    *("NoOp", "", " add_node 1", "add_nodes 1", "ADD_NODE 1", "replace_val  x"),
)  # fmt: skip


def classes(labels: Sequence[str]) -> Callable[[Rng], tuple[str, str]]:
    marked = [f"CLASS_{label}" for label in labels]
    split = [f"{label[:2]}CLASS_{label[2:]}" for label in labels[:2]]
    again = [text.lower() for text in marked] + list(labels)
    return trimmed([*marked, *marked, *split], (*ODD, *again))


MAKE: dict[str, Callable[[Rng], tuple[str, str]]] = {
    "code2seq_dataset": names,
    "convattn_dataset": names,
    "ogb_code_dataset": names,
    "retrieve_and_edit_dataset": names,
    "funcom_dataset": names,
    "great_var_misuse_dataset": texts(POINTERS, ODD),
    "great_var_misuse_unpointed_dataset": texts(PLACES, ODD),
    **{name: classes(labels) for name, labels in restated.LABELS.items()},
    **{n: trimmed(POINTED if p else UNPOINTED, ODD) for n, p in restated.POINTED.items()},
    "hoppity_single_ast_diff_dataset": texts(EDITS, ODD),
    "manysstubs4j_dataset": texts(EDITS, ODD),
}
SEVERAL = ("convattn", "ogb_code", "retrieve_and_edit", "funcom", "hoppity", "manysstubs4j")


class Options(TypedDict, total=False):
    """Options of a case, by their names in the rules."""

    top_n: int
    raw: tuple[int, int]
    times: int
    seed: int
    levels: tuple[float, ...]


class Case:
    """Two sides of random files and the options that go with them."""

    def __init__(self, dataset: str, rng: Rng) -> None:
        self.dataset = dataset
        pairs = [MAKE[dataset](rng) for _ in range(rng.choice((0, 1, 2, 5, 12, 30)))]
        self.golds = [gold for _, gold in pairs]
        self.beams = [[prediction] for prediction, _ in pairs]
        self.options: Options = {}
        if dataset.startswith(SEVERAL) and rng.random() < 0.6:
            self._add_candidates(rng)
        if dataset == "funcom_dataset" and rng.random() < 0.4:
            self.options["top_n"] = rng.choice((0, 1, 2, 3))
        if dataset in restated.POINTED and rng.random() < 0.4:
            self.options["raw"] = rng.choice(((40, 20), (1, 1), (7, 3)))
        if rng.random() < 0.3 and not dataset.startswith("cubert"):
            self.options["times"] = rng.choice((2, 3, 20, 33))
            self.options["seed"] = rng.choice((0, 1, 42, 2**31, 2**40 + 7))
            self.options["levels"] = rng.choice(((90, 95, 99), (50, 97.5), (66.6,)))
        if rng.random() < 0.2:
            self._spoil(rng)
        self.files = self._side(rng, ["\t".join(beam) for beam in self.beams], "p")
        self.gold_files = self._side(rng, self.golds, "g")

    def _add_candidates(self, rng: Rng) -> None:
        few = rng.choice((1, 2, 3))
        for beam, gold in zip(self.beams, self.golds, strict=True):
            for _ in range(few - 1 if rng.random() < 0.8 else rng.randint(0, 5)):
                beam.append(rng.choice((near(rng, gold), gold, "", rng.choice(self.golds))))
            rng.shuffle(beam)

    def _spoil(self, rng: Rng) -> None:
        """Something that may have to be refused."""
        kind, at = rng.randrange(6), rng.randrange(max(1, len(self.golds)))
        if kind == 0:
            self.golds.append("one more")
        elif kind == 1 and self.golds:
            self.golds[at] = rng.choice((*ODD, "CLASS_ Correct", "CLASS_CLASS_Correct"))
        elif kind == 2 and self.beams:
            self.beams[at] = [*self.beams[at], ""]
        elif kind == 3:
            self.options["top_n"] = rng.choice((-1, 0, 2))
        elif kind == 4 and self.golds:
            self.golds[at] += rng.choice(("\f", "\u2028", "\x1c", "\x85", "\r", "\v")) + "x"
        elif self.dataset in restated.POINTED:
            self.options["raw"] = rng.choice(((3, 0), (0, 3)))

    @staticmethod
    def _side(rng: Rng, lines: Sequence[str], name: str) -> dict[str, bytes]:
        """The lines, in one file or in shards, with breaks of several kinds."""
        ends = (
            ("\n",) if rng.random() < 0.6 else ("\n", "\r\n", "\r", "\u2028", "\f", "\x1e", "\x85")
        )
        shards = rng.choice((1, 1, 1, 2, 12))
        found = {}
        numbers = sorted(f"{name}-{i + 1}" for i in range(shards))
        cuts = sorted(rng.randint(0, len(lines)) for _ in range(shards - 1))
        for number, start, stop in zip(numbers, [0, *cuts], [*cuts, len(lines)], strict=True):
            written = [line + rng.choice(ends) for line in lines[start:stop]]
            if written and lines[stop - 1] and rng.random() < 0.3:
                written[-1] = lines[stop - 1]
            found[number] = "".join(written).encode()
        return found

    @property
    def arguments(self) -> list[str]:
        """The options as the command has them."""
        found = []
        if "top_n" in self.options:
            found.append(f"--top_n_beam_search={self.options['top_n']}")
        if "raw" in self.options:
            total, buggy = self.options["raw"]
            found.append(f"--cubert_vmr_raw_test_total_examples={total}")
            found.append(f"--cubert_vmr_raw_test_total_buggy_examples={buggy}")
        if "times" in self.options:
            found += ["--interval=plur", f"--resamples={self.options['times']}"]
            found.append(f"--seed={self.options['seed']}")
            found.append(f"--plur-levels={','.join(map(str, self.options['levels']))}")
        return found


def check(dataset: str, seed: int, folder: Path, score: Score) -> bool:
    case = Case(dataset, random.Random(f"{dataset} {seed}"))
    for path in folder.iterdir():
        path.unlink()
    for name, data in (case.files | case.gold_files).items():
        (folder / name).write_bytes(data)
    code, out, err = score(dataset, *case.arguments, p="p-*", g="g-*")
    try:
        wanted = restated.output(dataset, case.files, case.gold_files, **case.options)
    except restated.RefusedError:
        assert (code, out) == (2, ""), f"seed {seed} has no score: {case.arguments}"
        assert err.startswith("assay: ")
        return False
    assert code == 0, f"seed {seed}: {err}"
    assert out == wanted, f"seed {seed}: {case.arguments}"
    return True


@pytest.mark.parametrize("dataset", restated.DATASETS)
def test_the_command_prints_what_the_rules_give(dataset: str, tmp_path: Path, score: Score) -> None:
    scored = [check(dataset, seed, tmp_path, score) for seed in range(40)]
    assert sum(scored) > 20, "most cases have a score"


@pytest.mark.parametrize(
    "dataset", ["code2seq_dataset", "convattn_dataset", "hoppity_single_ast_diff_dataset"]
)
def test_long_files_are_counted_across_blocks(dataset: str, write: Write, score: Score) -> None:
    rng = random.Random(dataset)
    pairs = [MAKE[dataset](rng) for _ in range(9_000)]
    sides = ["".join(f"{line}\n" for line in side).encode() for side in zip(*pairs, strict=True)]
    write(p=sides[0], g=sides[1])
    wanted = restated.output(dataset, {"p": sides[0]}, {"g": sides[1]})
    assert score(dataset).out == wanted


@pytest.mark.parametrize(
    "folder", sorted(GOLDEN.glob("*/expected.json")), ids=lambda p: p.parent.name
)
def test_the_rules_give_what_the_original_printed(folder: Path) -> None:
    case = json.loads(folder.read_text(encoding="utf-8"))
    args, expected = case["args"], case["expected"]
    sides = [
        {path.name: path.read_bytes() for path in folder.parent.glob(args[f"{side}_file_pattern"])}
        for side in ("prediction", "target")
    ]
    raw = [
        args.get(f"cubert_vmr_raw_test_total_{kind}", 0) for kind in ("examples", "buggy_examples")
    ]
    options: Options = {
        "top_n": args.get("top_n_beam_search", 1),
        "raw": (raw[0], raw[1]),
        "times": args.get("num_bootstraps", 0),
        "seed": args.get("seed", 42),
        "levels": tuple(args.get("ci_intervals", (90, 95, 99))),
    }
    if "error" in expected:
        with pytest.raises(restated.RefusedError):
            restated.output(args["dataset_name"], sides[0], sides[1], **options)
        return
    summary = f"{expected['pooled']['line']}\n" if "pooled" in expected else ""
    found = restated.output(args["dataset_name"], sides[0], sides[1], **options)
    assert found == summary + expected["reference_stdout"]

# SPDX-License-Identifier: Apache-2.0
"""Random folders of label files: the command writes and prints what the rules give."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from tests.metadata import restated as rules
from tests.metadata.conftest import Command, Outcome

Rng = random.Random
Files = dict[str, bytes]
GOLDEN = Path(__file__).parents[2] / "src" / "assay" / "tasks" / "metadata" / "golden"

VALUES = (
    *("A", "B", "A ", "a", "", "", "Ada Lee", "Lee, Ada", "Ada  Lee", "éa", "e\u0301a", "ﬁ", "\U0001f600"),
    *("x\u2028y", "x\x0cy", "x\x85y", "\u00a0A", "a" * 8, "a" * 9, "a" * 17, "a" * 16 + "b", "A\0", "1"),
    *("b" * 300, "b" * 299 + "c", "\ufeff", "日本", "0.5"),
)  # fmt: skip
IDS = (
    *("p1", "p2", "p3", "p4", "p5", "p6", "p7", " p1", "p1 ", "P1", "ü", "u\u0308", "\U0001f600", ""),
    *("long-id-0001", "long-id-0002", "long-id-0001x", "\u2028", "10.1/x"),
)  # fmt: skip
NAMES = (
    "title.tsv",
    "title.txt",
    "year.2014.tsv",
    "year",
    "noext",
    ".hidden",
    "ünï.tsv",
    "a b.tsv",
)


def label_file(rng: Rng) -> bytes:
    """Lines of every kind: empty, of TABs alone, with repeated ids and values, with odd ends."""
    ids = rng.sample(IDS, rng.choice((3, 8, len(IDS))))
    values = rng.sample(VALUES, rng.choice((3, 8, len(VALUES))))
    text = ""
    for _ in range(rng.choice((0, 1, 3, 7, 20))):
        kind = rng.random()
        if kind < 0.05:
            line = rng.choice(("", "\t", "\t\t"))
        else:
            count = rng.choice((0, 1, 1, 2, 3, 6))
            line = "\t".join([rng.choice(ids), *(rng.choice(values) for _ in range(count))])
            line += rng.choice(("", "", "", "\t", "\t\t"))
        text += line + rng.choice(("\n", "\n", "\n", "\r\n", "\r"))
    if rng.random() < 0.2:
        text = text.rstrip("\r\n")
    mark = "\ufeff" if rng.random() < 0.1 else ""
    data = (mark + text).encode()
    return data + b"\xff" if rng.random() < 0.02 else data


def folder(rng: Rng) -> Files:
    names = rng.sample(NAMES, rng.choice((1, 2, 3)))
    return {name: label_file(rng) for name in dict.fromkeys(["title.tsv", *names])}


def related(rng: Rng, gold: Files) -> Files:
    """Predictions that share lines with the gold."""
    found = folder(rng)
    for name in [name for name in found if name in gold]:
        if rng.random() < 0.6:
            lines = gold[name].split(b"\n") + found[name].split(b"\n")
            found[name] = b"\n".join(rng.sample(lines, rng.randint(0, len(lines))))
    return found


def write(sides: dict[str, Files]) -> None:
    for side, files in sides.items():
        Path(side).mkdir(exist_ok=True)
        for path in Path(side).iterdir():
            path.unlink()
        for name, data in files.items():
            (Path(side) / name).write_bytes(data)


def joined(
    ours: Files, theirs: Files, *, old: bool, merge: bool = False, drop: bool = False
) -> dict[str, list[rules.Example]]:
    """The examples of every field, by its name."""
    found = {}
    paired = rules.pairs(ours, theirs, old)
    if not paired:
        raise rules.RefusedError("nothing to compare")
    for one, other in sorted(paired.items(), key=lambda pair: rules.named(pair[0])):
        left, right = rules.read(ours[one], old, drop), rules.read(theirs[other], old, drop)
        found[rules.named(one)] = rules.join(left, right, merge=merge, scala=old)
    if not old and not any(found.values()):
        raise rules.RefusedError("both sides are empty")
    return found


def refused(found: Outcome) -> bool:
    return found.code == 2 and found.out == "" and found.err.count("\n") >= 1


def check_old(seed: int, assay: Command) -> bool:
    """Everything that `--compat meta-eval` writes and prints, to the byte."""
    rng = random.Random(f"old {seed}")
    gold = folder(rng)
    ours = related(rng, gold)
    write({"p": ours, "g": gold})
    found = assay(
        *["score", "--input", "p", "--truth", "g", "--output", "o", "--compat", "meta-eval"]
    )
    try:
        fields = joined(ours, gold, old=True)
    except rules.RefusedError:
        assert refused(found), f"seed {seed} has no score: {found}"
        return False
    assert found.code == 0, f"seed {seed}: {found.err}"
    scores = {name: rules.running(examples) for name, examples in fields.items()}
    skipped = sorted(set(ours) - set(gold))
    assert found.out == rules.console(scores, skipped, "o"), f"seed {seed}"
    assert Path("o/PR.txt").read_bytes().decode() == rules.pr_file(scores), f"seed {seed}"
    written = {path.name for path in Path("o/details").iterdir()}
    assert written == {f"{name}-labels.txt" for name in fields}, f"seed {seed}"
    for name, examples in fields.items():
        text = Path(f"o/details/{name}-labels.txt").read_bytes().decode()
        assert text == rules.details(examples), f"seed {seed}, {name}"
    return True


def check_default(seed: int, assay: Command) -> bool:
    """Scores, files and counts without `--compat`."""
    rng = random.Random(f"default {seed}")
    gold = folder(rng)
    ours = related(rng, gold)
    write({"p": ours, "g": gold})
    counting = rng.choice(("set", "set", "multiset", "reference"))
    merge, drop = rng.random() < 0.3, rng.random() < 0.3
    given = [
        *["score", "--input", "p", "--truth", "g", "--output", "o", "--ci", "0", "--json"],
        "--duplicates",
        counting,
    ]
    given += ["--duplicate-ids", "merge"] if merge else []
    given += ["--empty-values", "drop"] if drop else []
    found = assay(*given)
    try:
        fields = joined(ours, gold, old=False, merge=merge, drop=drop)
    except rules.RefusedError:
        assert refused(found), f"seed {seed} has no score: {found}"
        return False
    assert found.code == 0, f"seed {seed}: {found.err}"
    scores = json.loads(found.out)["scores"]
    small = "multiset" if counting == "reference" else counting
    rows = Path("o/PR.txt").read_bytes().decode().splitlines()[1:]
    assert len(rows) == len(fields)
    for row, (name, examples) in zip(rows, fields.items(), strict=True):
        wanted = dict(zip(("precision", "recall"), rules.means(examples, counting), strict=True))
        together = zip(
            ("micro_precision", "micro_recall"), rules.micro(examples, small), strict=True
        )
        wanted |= dict(together)
        wanted["f1"] = rules.f1(wanted["precision"], wanted["recall"])
        wanted["micro_f1"] = rules.f1(wanted["micro_precision"], wanted["micro_recall"])
        for key, value in wanted.items():
            given_value = scores[f"{name}.{key}"]
            where = f"seed {seed}, {name}.{key}"
            if math.isnan(value):
                assert given_value is None, where
            else:
                assert given_value == pytest.approx(value, rel=1e-9, abs=1e-12), where
        written = row.split("\t")
        assert written[0] == name
        for text, key in zip(written[1:], ("precision", "recall"), strict=True):
            value = wanted[key]
            assert (text == "") == math.isnan(value)
            if text:
                assert float(text) == pytest.approx(value, rel=1e-9, abs=1e-12)
                assert text == rules.java(float(text))
        details = Path(f"o/details/{name}-labels.txt").read_bytes().decode()
        assert details == rules.details(examples), f"seed {seed}, {name}"
    return True


def test_the_old_program_is_met_to_the_byte(assay: Command) -> None:
    assert sum(check_old(seed, assay) for seed in range(120)) > 60


def test_default_scores_and_files_are_those_of_the_rules(assay: Command) -> None:
    assert sum(check_default(seed, assay) for seed in range(120)) > 60


def check_scored(seed: int, assay: Command) -> None:
    rng = random.Random(f"scored {seed}")
    ids, values = ["p1", "p2", "p3", "p4"], ["A", "B", "C", "D"]
    truth = {
        name: [rng.choice(values) for _ in range(rng.randint(0, 3))]
        for name in rng.sample(ids, rng.randint(1, 3))
    }
    confidences = rng.choice(((0.1, 0.5, 0.9), (0.99, 0.5), (0.2,), (1e-3, 0.33, 3.0, -1.0)))
    scored = [
        (rng.choice(ids), rng.choice(values), rng.choice(confidences))
        for _ in range(rng.randint(1, 12))
    ]
    Path("t.tsv").write_text("".join("\t".join([n, *v]) + "\n" for n, v in truth.items()))
    Path("s.tsv").write_text("".join(f"{n}\t{v}\t{c!r}\n" for n, v, c in scored))
    bins = rng.choice((None, None, 1, 3, 10))
    given = [
        "score",
        "--scored",
        "s.tsv",
        "--truth",
        "t.tsv",
        "--output",
        "o",
        "--ci",
        "0",
        "--duplicates",
        "reference",
    ]
    found = assay(*given, *([] if bins is None else ["--bins", str(bins)]))
    assert found.code == 0, f"seed {seed}: {found.err}"
    wanted = rules.scan(truth, scored, bins)
    rows = [row.split("\t") for row in Path("o/PR-curve.tsv").read_text().splitlines()]
    assert rows[0] == ["Threshold", "Precision", "Recall"]
    assert len(rows) == len(wanted) + 1, f"seed {seed}"
    for row, point in zip(rows[1:], wanted, strict=True):
        assert row[0] == (rules.java(point[0]) if point[0] >= 0 else f"-{rules.java(-point[0])}")
        for text, value in zip(row[1:], point[1:], strict=True):
            shown = float(text) if text else math.nan
            assert shown == pytest.approx(value, abs=1e-12, nan_ok=True), f"seed {seed}"


def test_curves_are_those_of_the_rules(assay: Command) -> None:
    for seed in range(60):
        check_scored(seed, assay)


PIECES = (
    *("Ada", "LEE", "van", "Jr.", "O'Neil", "Callison-Burch", ",", ".", " ", "  ", "\t", "É", "e\u0301"),
    *("ø", "ł", "ß", "ﬁ", "İ", "Σ", "\u00a0", "\u2003", "’", "‘", "–", "—", "→", "…", "(", "_", "1999"),
    *("한국", "\u0301", "\x0b", "\U0001f600", "“x”", "：", "J", "&"),
)  # fmt: skip


@pytest.mark.parametrize("form", rules.FORMS)
def test_normal_forms_are_those_of_the_rules(form: str, assay: Command) -> None:
    rng = random.Random(form)
    rows = [
        f"p{i}\t" + "".join(rng.choice(PIECES) for _ in range(rng.randint(0, 7)))
        for i in range(400)
    ]
    Path("in.tsv").write_bytes("\n".join(rows).encode())
    assert assay("normalise", form, "in.tsv", "out.tsv").code == 0
    wanted = rules.normalised(Path("in.tsv").read_bytes(), form)
    assert Path("out.tsv").read_bytes().decode() == wanted


@pytest.mark.parametrize(
    "case", sorted(GOLDEN.glob("*/expected/PR.txt")), ids=lambda p: p.parents[1].name
)
def test_the_rules_give_what_the_old_program_wrote(case: Path) -> None:
    folder = case.parents[1]
    ours, gold = (
        {path.name: path.read_bytes() for path in (folder / side).iterdir() if path.is_file()}
        for side in ("input", "truth")
    )
    fields = joined(ours, gold, old=True)
    scores = {name: rules.running(examples) for name, examples in fields.items()}
    # Rows come as the disk lists the files.
    assert sorted(rules.pr_file(scores).splitlines()) == sorted(case.read_text().splitlines())
    for name, examples in fields.items():
        wanted = case.parent / "details" / f"{name}-labels.txt"
        assert rules.details(examples).encode() == wanted.read_bytes()

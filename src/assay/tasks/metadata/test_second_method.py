# SPDX-License-Identifier: Apache-2.0
"""The old program a second time, line by line and without arrays, on random label files.

What is written down here is its documented behaviour; files and numbers of `--compat meta-eval`
must be the same bytes.
"""

from __future__ import annotations

import re
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from assay import evaluate
from assay.tasks.metadata.reference import hash_place, java_number

Example = tuple[str, list[str], list[str]]

PIECES = ["", "", "A", "B", "A ", "ab", "\u00e9", "e\u0301", "\U0001f600", "\ufb01", "x\u2028y"]
IDS = ["p1", "p2", "p3", "p4", "p5", " p1", "", "\u00fc", "long-id-0001", "long-id-0002"]
line = st.builds(
    lambda name, values, tabs: "\t".join([name, *values]) + tabs,
    st.sampled_from(IDS),
    st.lists(st.sampled_from(PIECES), max_size=5),
    st.sampled_from(["", "", "\t", "\t\t"]),
).filter(lambda text: text == "" or text.strip("\t") != "")  # a line of TABs stops it
file = st.builds(
    lambda lines, end, last: end.join(lines) + (end if last else ""),
    st.lists(line, max_size=9),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
)


def read(text: str) -> list[tuple[str, list[str]]]:
    lines = re.split("\r\n|\r|\n", text)
    if lines[-1] == "":
        lines.pop()
    rows = []
    for given_line in lines:
        name, *values = given_line.split("\t")
        while values and not values[-1]:
            values.pop()
        rows.append((name, values))
    return rows


def paired(predictions: str, gold: str) -> list[Example]:
    truth = dict(read(gold))  # of two lines the last counts, where the first stood
    found = [(name, truth.get(name, []), values) for name, values in read(predictions)]
    seen = {name for name, _, _ in found}
    absent = [name for name in truth if name not in seen]
    if len(truth) > 4:
        absent.sort(key=hash_place)
    return found + [(name, truth[name], []) for name in absent]


def running(examples: list[Example]) -> tuple[float | None, float | None]:
    precision = recall = 0.0
    for _, truth, predictions in examples:
        hits = 0
        for taken, value in enumerate(predictions):
            before, hits = hits, hits + (value in set(truth))
            precision += hits / (taken + 1) - (before / taken if taken else 0.0)
            if truth:
                recall += hits / len(truth) - before / len(truth)
    n_precision = sum(1 for _, _, p in examples if p)
    n_recall = sum(1 for _, t, _ in examples if t)
    return (
        precision / n_precision if n_precision else None,
        recall / n_recall if n_recall else None,
    )


def details(examples: list[Example]) -> str:
    rows = ["ID\tAccuracy\tLabelType\tLabel\n"]
    for name, truth, predictions in examples:
        for kind, values, others in (("true", truth, predictions), ("pred", predictions, truth)):
            ordered = sorted(set(values), key=lambda v: v.encode("utf-16-be"))
            rows += [f"{name}\t{int(value in others)}\t{kind}\t{value}\n" for value in ordered]
    return "".join(rows)


def means(examples: list[Example], counting: str) -> tuple[float | None, float | None]:
    """Plain means over examples: distinct values on both sides, or counted overlap."""
    precisions, recalls = [], []
    for _, truth, predictions in examples:
        if counting == "set":
            ours, theirs = list(set(predictions)), list(set(truth))
        else:
            ours, theirs = predictions, truth
        hits = sum(min(ours.count(v), theirs.count(v)) for v in set(ours))
        if ours:
            precisions.append(hits / len(ours))
        if theirs:
            recalls.append(hits / len(theirs))
    return (
        sum(precisions) / len(precisions) if precisions else None,
        sum(recalls) / len(recalls) if recalls else None,
    )


def write(folder: Path, predictions: str, gold: str) -> None:
    for side, text in (("p", predictions), ("g", gold)):
        (folder / side).mkdir()
        (folder / side / "v.tsv").write_bytes(text.encode("utf-8"))


@settings(max_examples=150, deadline=None)
@given(file, file)
@example("p1\tA\tA\n", "p1\tA\n")
def test_files_of_the_old_program_on_any_labels(predictions: str, gold: str) -> None:
    examples = paired(predictions, gold)
    precision, recall = running(examples)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, predictions, gold)
        evaluate(
            "metadata", folder / "p", folder / "g", ci=0, compat="meta-eval", output=folder / "o"
        )
        pr = (folder / "o" / "PR.txt").read_bytes().decode()
        shown = "\t".join("" if v is None else java_number(v) for v in (precision, recall))
        assert pr == f"Metric\tPrecision\tRecall\nv\t{shown}\n"
        written = (folder / "o" / "details" / "v-labels.txt").read_bytes().decode()
        assert written == details(examples)


@pytest.mark.parametrize("counting", ["set", "multiset"])
@settings(max_examples=80, deadline=None)
@given(file, file)
def test_other_counting_on_any_labels(counting: str, predictions: str, gold: str) -> None:
    wanted = means(paired(predictions, gold), counting)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, predictions, gold)
        found = evaluate(
            "metadata", folder / "p", folder / "g", ci=0, compat="meta-eval", duplicates=counting
        ).scores
    for key, value in zip(("v.precision", "v.recall"), wanted, strict=True):
        assert found[key] == pytest.approx(float("nan") if value is None else value, nan_ok=True)

# SPDX-License-Identifier: Apache-2.0
"""Metadata: a million papers with three authors each, joined by id, against plain Python."""

from __future__ import annotations

import random
import shutil
import zlib
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import DATA, Case, Work

FIRST = ("Ada", "Bo", "Chen", "Dalia", "Emeka", "Fatima", "Göran", "Hana", "Ivan", "José", "Kirsi")
PARTS = ("an", "ber", "chi", "dor", "el", "fin", "gar", "hol", "in", "kov", "lund", "mar", "ner")


class Labels(NamedTuple):
    """A pair of label files."""

    predictions: Path
    gold: Path


def labels(n_papers: int, *, shuffled: bool) -> Labels:
    """Gold with three distinct authors per paper; predictions with errors, gaps and strangers."""
    order = "shuffled" if shuffled else "ordered"
    folder = DATA / f"metadata-{n_papers}-{order}"
    files = Labels(folder / "predictions.tsv", folder / "gold.tsv")
    if not files.gold.exists():
        folder.mkdir(parents=True, exist_ok=True)
        rng = random.Random(20_150_702)
        predicted = []
        # Gold is written line by line: making the files must not take more memory than a side.
        with files.gold.open("w", encoding="utf-8") as gold:
            for i in range(n_papers):
                name = f"{rng.getrandbits(40):010x}{i:07x}"
                authors = _authors(rng)
                gold.write("\t".join([name, *authors]) + "\n")
                kind = rng.random()
                if kind > 0.97:
                    continue
                said = list(authors)
                if kind < 0.25:
                    said[rng.randrange(3)] = _author(rng)
                elif kind < 0.3:
                    said.pop()
                predicted.append("\t".join([name if kind < 0.965 else f"{name}x", *said]) + "\n")
        if shuffled:
            rng.shuffle(predicted)
        with files.predictions.open("w", encoding="utf-8") as lines:
            lines.writelines(predicted)
    return files


def ours(n_papers: int, shuffled: bool) -> Work:
    """The whole pipeline from files to scores, without intervals and files, which peers lack."""
    from assay import evaluate

    files = labels(n_papers, shuffled=shuffled)

    def work() -> list[float]:
        found = evaluate("metadata", files.predictions, files.gold, ci=0, keep=False).scores
        return [found["gold.precision"], found["gold.recall"]]

    return work


def port(n_papers: int, shuffled: bool) -> Work:
    """The old program's own procedure in Python."""
    files = labels(n_papers, shuffled=shuffled)
    return lambda: reference_port(files)


def dictionary(n_papers: int, shuffled: bool) -> Work:
    """The definition in plain Python: a dictionary of gold, and one look-up per predicted paper."""
    files = labels(n_papers, shuffled=shuffled)
    return lambda: dictionary_pass(files)


def ours_with_details(n_papers: int, fields: tuple[str, ...]) -> Work:
    """Scores and all files."""
    from assay import evaluate

    sides = folders(n_papers, fields)
    output = DATA / "metadata-details-ours"

    def work() -> list[float]:
        found = evaluate("metadata", *sides, ci=0, keep=False, output=output).scores
        written = (output / "details" / "authors-labels.txt").read_bytes()
        return [found["authors.precision"], found["authors.recall"], zlib.crc32(written)]

    return work


def dictionary_with_details(n_papers: int, fields: tuple[str, ...]) -> Work:
    """The dictionary pass, and the details of each field written as it goes."""
    predictions, gold = folders(n_papers, fields)
    output = DATA / "metadata-details-peer"
    output.mkdir(exist_ok=True)

    def work() -> list[float]:
        for name in fields:
            files = Labels(predictions / f"{name}.tsv", gold / f"{name}.tsv")
            found = dictionary_pass(files, output / f"{name}-labels.txt")
        written = (output / "authors-labels.txt").read_bytes()
        return [*found, zlib.crc32(written)]

    return work


def folders(n_papers: int, fields: tuple[str, ...]) -> tuple[Path, Path]:
    """A folder with a label file for each field, on each side."""
    files = labels(n_papers, shuffled=True)
    folder = DATA / f"metadata-{n_papers}-{'-'.join(fields)}"
    sides = folder / "predictions", folder / "gold"
    for side, file in zip(sides, files, strict=True):
        side.mkdir(parents=True, exist_ok=True)
        for name in fields:
            if not (side / f"{name}.tsv").exists():
                shutil.copy(file, side / f"{name}.tsv")
    return sides


class Example(NamedTuple):
    """A paper as the old program holds it."""

    id: str
    gold: list[str]
    predictions: list[tuple[str, float]]


def reference_port(files: Labels) -> list[float]:
    """Examples first, then all predictions of all papers in one list by falling confidence (1 for
    all), each of which moves the two sums by what it changes in its paper."""
    gold = {name: values for name, values in _lines(files.gold)}
    examples = [
        Example(name, gold.get(name, []), [(value, 1.0) for value in values])
        for name, values in _lines(files.predictions)
    ]
    predicted = {example.id for example in examples}
    examples += [Example(name, gold[name], []) for name in gold if name not in predicted]
    known = [set(example.gold) for example in examples]
    everything = [
        (confidence, k, value)
        for k, example in enumerate(examples)
        for value, confidence in example.predictions
    ]
    everything.sort(key=lambda item: -item[0])
    taken, hits = [0] * len(examples), [0] * len(examples)
    precision = recall = 0.0
    for _, k, value in everything:
        before = hits[k] / taken[k] if taken[k] else 0.0
        found = hits[k]
        taken[k] += 1
        hits[k] += value in known[k]
        precision += hits[k] / taken[k] - before
        if examples[k].gold:
            recall += hits[k] / len(examples[k].gold) - found / len(examples[k].gold)
    n_precision = sum(1 for example in examples if example.predictions)
    n_recall = sum(1 for example in examples if example.gold)
    return [precision / n_precision, recall / n_recall]


def dictionary_pass(files: Labels, details: Path | None = None) -> list[float]:
    """Mean precision and recall over papers, as sets of values."""
    gold = {name: values for name, values in _lines(files.gold)}
    seen: set[str] = set()
    precision = recall = 0.0
    n_precision = n_recall = 0
    with details.open("w", encoding="utf-8") if details else nullcontext() as file:
        if file is not None:
            file.write("ID\tAccuracy\tLabelType\tLabel\n")
        for name, values in _lines(files.predictions):
            seen.add(name)
            ours, theirs = set(values), set(gold.get(name, ()))
            hits = len(ours & theirs)
            if ours:
                precision += hits / len(ours)
                n_precision += 1
            if theirs:
                recall += hits / len(theirs)
                n_recall += 1
            if file is not None:
                file.write(_details(name, ours, theirs))
        for name, values in gold.items():
            if values and name not in seen:
                n_recall += 1
                if file is not None:
                    file.write(_details(name, set(), set(values)))
    return [precision / n_precision, recall / n_recall]


def _details(name: str, ours: set[str], theirs: set[str]) -> str:
    rows = [f"{name}\t{int(v in ours)}\ttrue\t{v}\n" for v in sorted(theirs)]
    rows += [f"{name}\t{int(v in theirs)}\tpred\t{v}\n" for v in sorted(ours)]
    return "".join(rows)


def _lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            name, *values = line.rstrip("\n").split("\t")
            yield name, values


def _authors(rng: random.Random) -> list[str]:
    found: dict[str, None] = {}
    while len(found) < 3:
        found[_author(rng)] = None
    return list(found)


def _author(rng: random.Random) -> str:
    last = "".join(rng.choices(PARTS, k=4)).capitalize()
    return f"{rng.choice(FIRST)} {rng.choice('ABCDEFGHJKLM')}. {last}"


def _case(
    title: str, peer: str, side: Callable[[int, bool], Work], shuffled: bool, must: float
) -> Case:
    return Case(
        title,
        peer,
        ours=partial(ours, 1_000_000, shuffled),
        peer=partial(side, 1_000_000, shuffled),
        must=must,
        memory=450,
    )


TITLE = "metadata, 1,000,000 papers x 3 values"
# The port is what the old program does; the dictionary pass is the least that plain Python can do
# for the same numbers, and holds no examples.
CASES = [
    _case(TITLE, "port of the old program", port, False, 5.5),
    _case(f"{TITLE}, shuffled", "port of the old program", port, True, 5.5),
    _case(f"{TITLE}, again", "dictionary pass", dictionary, False, 2),
    _case(f"{TITLE}, shuffled, again", "dictionary pass", dictionary, True, 2),
    # Ours also looks for the most frequent errors and the worst papers.
    *(
        Case(
            f"metadata, {len(fields)} x {n_papers:,} papers, details written",
            "dictionary pass",
            ours=partial(ours_with_details, n_papers, fields),
            peer=partial(dictionary_with_details, n_papers, fields),
            must=1,
            memory=450,
        )
        for n_papers, fields in ((200_000, ("authors", "editors")), (1_000_000, ("authors",)))
    ),
]

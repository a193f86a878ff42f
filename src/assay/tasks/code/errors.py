# SPDX-License-Identifier: Apache-2.0
"""The examples that are not right, worst first, as a file to read through."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.errors import UsageError
from assay.core.files import atomic_file
from assay.core.metric import Metric, Rows
from assay.core.task import Outcome
from assay.tasks.code.beams import candidates, gold_texts
from assay.tasks.code.datasets import Dataset
from assay.tasks.code.hits import ranks

ENDINGS = (".jsonl", ".tsv")


def write_errors(path: str | Path, dataset: Dataset, outcome: Outcome) -> Path:
    """Write the list; examples of the same score keep their order."""
    target = Path(path)
    if target.suffix not in ENDINGS:
        raise UsageError(f"--errors {target} must end in {' or '.join(ENDINGS)}")
    with (
        atomic_file(target) as aside,
        aside.open("w", encoding="utf-8", newline="") as file,
    ):
        if target.suffix == ".jsonl":
            for record in sorted_errors(dataset, outcome):
                file.write(msgspec.json.encode(record).decode() + "\n")
        else:
            writer = csv.writer(file, delimiter="\t", lineterminator="\n")
            writer.writerow(["id", dataset.family.main, "prediction", "gold"])
            for record in sorted_errors(dataset, outcome):
                texts = record["prediction"]
                shown = texts if isinstance(texts, str) else msgspec.json.encode(texts).decode()
                score = record[dataset.family.main]
                writer.writerow([record["id"], repr(score), shown, record["gold"]])
    return target


def sorted_errors(dataset: Dataset, outcome: Outcome) -> Iterator[dict[str, Any]]:
    """One record per example that is not right, by the main score of the data set."""
    main = dataset.family.main
    scores = _main_scores(main, outcome)
    best = max(s.high for m in outcome.metrics for s in m.scores if s.name == main)
    right = np.zeros(len(scores), dtype=np.bool_)
    held = [(batch, i) for batch in outcome.batches for i in range(len(batch))]
    at = 0
    for batch in outcome.batches:
        right[at : at + len(batch)] = ranks(batch) > 0
        at += len(batch)
    for index in np.argsort(scores, kind="stable").tolist():
        if right[index] or scores[index] >= best:
            continue
        batch, i = held[index]
        texts = list(candidates(batch)[i])
        yield {
            "id": batch.id_of(i),
            main: float(scores[index]),
            "prediction": texts[0] if len(texts) == 1 else texts,
            "gold": gold_texts(batch)[i],
        }


def _main_scores(main: str, outcome: Outcome) -> Rows:
    """The main score of each example."""
    assert outcome.rows is not None, "the list of errors was asked for, so rows were kept"
    metric, rows = next(_with_rows(main, outcome.metrics, outcome.rows))
    return np.asarray(metric.per_example(rows)[main], dtype=np.float64)


def _with_rows(main: str, metrics: Any, rows: Rows) -> Iterator[tuple[Metric, Rows]]:
    start = 0
    for metric in metrics:
        stop = start + len(metric.columns)
        if any(score.name == main for score in metric.scores):
            yield metric, rows[:, start:stop]
        start = stop

# SPDX-License-Identifier: Apache-2.0
"""The files of an evaluation: `PR.txt`, `details/<field>-labels.txt` and the curves."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from assay.core.batch import Batch
from assay.core.files import atomic_file
from assay.tasks.metadata.curve import curve_text
from assay.tasks.metadata.details import HEAD, detail_rows
from assay.tasks.metadata.labels import flat
from assay.tasks.metadata.metric import FieldMetric
from assay.tasks.metadata.papers import Field, Papers
from assay.tasks.metadata.reference import PR, java_number, running_scores

DETAILS = "details"
ENDING = "-labels.txt"
CURVE = "PR-curve"


def whole(batches: Sequence[Batch], metric: FieldMetric) -> Iterator[tuple[Field, Field]]:
    """Predictions and gold of each field of the metric, over all batches."""
    for name in metric.names:
        ours = [_named(batch.predictions, name) for batch in batches]
        theirs = [_named(batch.gold, name) for batch in batches]
        yield _together(ours), _together(theirs)


def field_scores(
    batches: Sequence[Batch], metric: FieldMetric, scores: Mapping[str, float]
) -> dict[str, PR]:
    """Precision and recall of each field for `PR.txt`.

    Counted as the old program does they are its running sums, to the last digit; else the scores.
    """
    found = {n: PR(scores[f"{n}.precision"], scores[f"{n}.recall"]) for n in metric.names}
    if metric.duplicates != "reference":
        return found
    for name, rule, (ours, theirs) in zip(
        metric.names, metric.rules, whole(batches, metric), strict=True
    ):
        if rule.shape == "values" and rule.is_equality:
            found[name] = running_scores(ours, theirs, rule)
    return found


def pr_text(scores: Mapping[str, PR]) -> str:
    """The content of `PR.txt`.

    >>> pr_text({"title": PR(0.5, float("nan"))})
    'Metric\\tPrecision\\tRecall\\ntitle\\t0.5\\t\\n'
    """
    rows = [
        f"{flat(n)}\t{java_number(s.precision)}\t{java_number(s.recall)}" for n, s in scores.items()
    ]
    return "\n".join(["Metric\tPrecision\tRecall", *rows]) + "\n"


def write_files(
    output: Path,
    batches: Sequence[Batch],
    metric: FieldMetric,
    scores: Mapping[str, PR],
    order: str,
) -> None:
    """Write the details, then `PR.txt`; what an earlier run left of other fields is removed."""
    folder = output / DETAILS
    written = set()
    for name, rule, (ours, theirs) in zip(
        metric.names, metric.rules, whole(batches, metric), strict=True
    ):
        path = folder / f"{file_name(name)}{ENDING}"
        written.add(path.name)
        with atomic_file(path) as aside, aside.open("wb") as file:
            file.write(HEAD)
            file.writelines(detail_rows(ours, theirs, rule, order))
    with atomic_file(output / "PR.txt") as aside:
        aside.write_text(pr_text(scores), encoding="utf-8", newline="\n")
    remove_stale(folder, f"*{ENDING}", written)


def remove_stale(folder: Path, pattern: str, written: Collection[str]) -> None:
    """Remove files of an earlier run: those of this pattern that were not written now."""
    for old in folder.glob(pattern):
        if old.name not in written and old.is_file():
            old.unlink()


def write_curves(output: Path, curves: Mapping[str, Mapping[str, Any]]) -> dict[str, Path]:
    """Write the curve of each field as numbers and as a picture; gives back what was written."""
    from assay.report.charts import Curve, curve_chart

    written: dict[str, Path] = {}
    for name, curve in curves.items():
        suffix = "" if len(curves) == 1 else f"-{file_name(name)}"
        chart = curve_chart([Curve.of(name, curve)], f"precision and recall of {name}")
        for ending, text in ((".tsv", curve_text(curve["points"])), (".svg", chart.file())):
            path = output / f"{CURVE}{suffix}{ending}"
            with atomic_file(path) as aside:
                aside.write_text(text, encoding="utf-8", newline="\n")
            written[f"curve of {name} ({ending[1:]})"] = path
    names = {path.name for path in written.values()}
    for ending in (".tsv", ".svg"):
        remove_stale(output, f"{CURVE}*{ending}", names)
    return written


def file_name(field: str) -> str:
    """The field's name as part of a file's name.

    >>> file_name("title"), file_name("a/b")
    ('title', 'a%2Fb')
    """
    return quote(field, safe=" !#$&'()+,;=@[]{}~^`%|<>\"*?") if set(field) & set("/\\\0") else field


def _named(side: Sequence[object], name: str) -> Field:
    assert isinstance(side, Papers), "papers are kept as they were read"
    return next(field for field in side.fields if field.name == name)


def _together(parts: Sequence[Field]) -> Field:
    """The field that these are parts of, one after the other: they share its lines."""
    first = parts[0]
    assert all(part.lines is first.lines for part in parts), "batches are cut from one field"
    splits = np.concatenate([first.splits[:1], *(part.splits[1:] for part in parts)])
    firsts = None
    if first.firsts is not None:
        firsts = np.concatenate([part.firsts for part in parts if part.firsts is not None])
    return Field(first.name, first.labels, first.lines, splits, firsts)

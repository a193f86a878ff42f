# SPDX-License-Identifier: Apache-2.0
"""`verify`: compute a saved run again from its inputs and compare every number."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from assay import tasks
from assay.core.batch import CHUNK
from assay.core.document import ResultDocument, plain
from assay.core.errors import InputError, UsageError
from assay.core.files import DOCUMENT, EXAMPLES, ROWS
from assay.pipeline.evaluate import evaluate
from assay.pipeline.runs import folder_of, read_document, read_rows
from assay.pipeline.stored import DAMAGED

PARTS = (
    "counts", "metrics", "scores", "intervals", "slices", "macros", "statistics", "gold_sha256"
)  # fmt: skip
"""What a second computation must find again. Warnings and the versions used may change."""

TOLERANCE = 1e-12
"""Relative; the same machine gives the same bits, another one may round a logarithm otherwise."""


@dataclass(frozen=True)
class Verification:
    """What a second computation found: how many numbers agree, and each thing that does not."""

    numbers: int
    findings: tuple[str, ...]


def verify(run: str | Path, *, root: str | Path | None = None, jobs: int = 1) -> Verification:
    """Score the inputs of a run again, with its options, and compare document, rows and examples.

    Inputs are looked for where the run names them; relative paths start at `root`, by default the
    current folder. A document by itself, printed by `--json`, is held against its inputs as well.
    """
    run = folder_of(Path(run))
    stored = read_document(run)
    options = dict(stored.options)
    predictions = options.pop("predictions", None)
    gold = options.pop("gold", None)
    files = {file.role for file in stored.inputs}
    if predictions == "-" or (predictions is None and "predictions" not in files):
        raise UsageError(
            f"{run} was made from data that is not in a file, so it cannot be computed again"
        )
    _check_options(stored, run)
    statistics = stored.statistics
    with TemporaryDirectory(prefix="assay-verify-") as folder:
        second = Path(folder) / "run"
        with _inside(root):
            _check_inputs(stored, run)
            again = evaluate(
                stored.task,
                _source(predictions),
                _source(gold),
                system=stored.system,
                metrics=options.pop("metrics"),
                slices=statistics["slices"],
                cluster=statistics["cluster"],
                missing=options.pop("missing"),
                ci=statistics["ci"],
                interval=statistics["interval"],
                resamples=statistics["resamples"],
                seed=statistics["seed"],
                jobs=jobs,
                keep=False,
                own_files=False,
                save=second,
                **options,
            ).document
        findings = [*_changed_inputs(stored, again), *_document_findings(stored, again)]
        if run.is_dir():
            findings += _rows_findings(run / ROWS, second / ROWS)
            findings += _examples_findings(run / EXAMPLES, second / EXAMPLES)
    return Verification(_count(stored), tuple(findings))


def _check_options(stored: ResultDocument, run: Path) -> None:
    """Refuse options that no command line gives (numbers for words, words for numbers), and those
    that would run a program because a folder says so."""
    numbers: dict[str, type | tuple[type, ...]] = {
        "integer": int,
        "number": (int, float),
        "flag": bool,
        "switch": bool,
    }
    for option in tasks.load(stored.task).options:
        value = stored.options.get(option.name)
        if option.executes and value is not None:
            raise UsageError(
                f"{run} was scored by a program, {value}, and none is started because a folder "
                f"names it; score again with {option.flags[0]} {value} if it is yours"
            )
        for one in value if isinstance(value, list) else [value]:
            plain_value = isinstance(one, (str, int, float))  # what Python hands over may be more
            if plain_value and not isinstance(one, numbers.get(option.kind, str)):
                raise InputError(
                    f"option {option.name} is {one!r}", path=run / DOCUMENT, hint=DAMAGED
                )


def _check_inputs(stored: ResultDocument, run: Path) -> None:
    """Refuse inputs that can be read once only: whoever opens a pipe waits for its writer."""
    for file in stored.inputs:
        if os.path.exists(file.path) and not os.path.isfile(file.path):
            raise UsageError(
                f"{run} was made from {file.path}, which is no plain file and cannot be read "
                "again; score from a file what is to be verified"
            )


def _changed_inputs(stored: ResultDocument, again: ResultDocument) -> Iterator[str]:
    digests = {i.path: i.sha256 for i in again.inputs}
    for file in stored.inputs:
        if digests.get(file.path) != file.sha256:
            yield f"{file.path} has changed since the run (SHA-256 differs)"


def _document_findings(stored: ResultDocument, again: ResultDocument) -> Iterator[str]:
    """Every statement of the two that differs, by its place in the document."""
    same_version = stored.made.get("assay") == again.made["assay"]  # a signature names it
    for part in (*PARTS, "signature") if same_version else PARTS:
        yield from _differing(part, plain(getattr(stored, part)), plain(getattr(again, part)))


def _differing(place: str, was: Any, now: Any) -> Iterator[str]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in dict.fromkeys([*was, *now]):
            yield from _differing(f"{place}.{key}", was.get(key), now.get(key))
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for i, (one, other) in enumerate(zip(was, now, strict=True)):
            yield from _differing(f"{place}[{i}]", one, other)
    elif not _same(was, now):
        yield f"{place} was {_told(was)}, now {_told(now)}"


def _same(was: Any, now: Any) -> bool:
    if isinstance(was, float) and isinstance(now, float):
        return math.isclose(was, now, rel_tol=TOLERANCE, abs_tol=0)
    return bool(was == now)


def _told(value: Any) -> str:
    return "undefined" if value is None else repr(value)


def _rows_findings(stored: Path, again: Path) -> Iterator[str]:
    now = np.load(again, mmap_mode="r", allow_pickle=False)
    try:
        was = read_rows(stored, now.shape)
    except InputError as error:
        yield str(error)
        return
    for start in range(0, len(now), CHUNK):
        block = slice(start, start + CHUNK)
        same = np.isclose(was[block], now[block], rtol=TOLERANCE, atol=0, equal_nan=True)
        if not same.all():
            first = start + int(np.flatnonzero(~same.all(axis=1))[0])
            yield f"{stored}: the row of example {first + 1:,} differs"
            return


def _examples_findings(stored: Path, again: Path) -> Iterator[str]:
    try:
        with stored.open("rb") as left, again.open("rb") as right:
            for number, (was, now) in enumerate(zip_longest(left, right), start=1):
                if was != now:
                    yield f"{stored}, line {number:,}: differs from the inputs"
                    return
    except OSError as error:
        yield f"{stored}: cannot be read ({error.strerror})"


def _count(document: ResultDocument) -> int:
    slices = [e for by_value in document.slices.values() for e in by_value.values()]
    entries = [*slices, *document.macros.values()]
    return (
        len(document.scores)
        + 2 * len(document.intervals)
        + sum(len(e.scores) + 2 * len(e.intervals) for e in entries)
    )


def _source(stored: Any) -> Any:
    return [Path(p) for p in stored] if isinstance(stored, list) else stored


@contextmanager
def _inside(root: str | Path | None) -> Iterator[None]:
    """Relative paths of a run are relative to where it was made."""
    if root is None:
        yield
        return
    before = os.getcwd()
    try:
        os.chdir(root)
    except OSError as error:
        raise UsageError(f"--root {root} cannot be entered ({error.strerror})") from None
    try:
        yield
    finally:
        os.chdir(before)

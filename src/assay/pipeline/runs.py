# SPDX-License-Identifier: Apache-2.0
"""Run folders: `run.json`, `rows.npy` and `examples.jsonl`, written aside and then put in place."""

from __future__ import annotations

import json
from contextlib import ExitStack
from pathlib import Path
from tokenize import TokenError
from types import TracebackType
from typing import Any, Self

import msgspec
import numpy as np

from assay import tasks
from assay.aggregate.totals import total
from assay.core.batch import Batch
from assay.core.document import RESULT_SCHEMA, ResultDocument
from assay.core.errors import InputError, OutputError, UsageError
from assay.core.files import DOCUMENT, EXAMPLES, ROWS, atomic_folder
from assay.core.metric import Rows
from assay.pipeline.measuring import Layout
from assay.pipeline.result import Result
from assay.pipeline.stored import DAMAGED, encode, stored, unreadable

TOLERANCE = 1e-9
"""How far a stored score may be from the one that the stored rows give; relative."""


class _Statistics(msgspec.Struct):
    """What later commands rely on in `statistics`."""

    n: int
    ci: float
    interval: str
    resamples: int
    seed: int
    slices: list[str]
    cluster: str | None
    extra: int = 0
    methods: dict[str, str] = {}
    macros: dict[str, _Macro] = {}


class _Macro(msgspec.Struct):
    column: str
    weights: dict[str, float]


class _Score(msgspec.Struct):
    key: str
    name: str
    higher_is_better: bool
    unit: str


class _Entry(msgspec.Struct):
    text: str
    signature: str
    columns: list[str]
    scores: list[_Score]


class _Slice(msgspec.Struct):
    n: int
    scores: dict[str, float | None]
    intervals: dict[str, tuple[float | None, float | None]] = {}


class _Options(msgspec.Struct):
    """Those that every run has; what a task adds is its own."""

    predictions: str | list[str] | None
    gold: str | list[str] | None
    metrics: list[str]
    missing: str


class _Shape(msgspec.Struct):
    """The types of a document, which a file from anywhere need not have."""

    task: str
    system: str
    signature: str
    counts: dict[str, int]
    scores: dict[str, float | None]
    metrics: list[_Entry]
    intervals: dict[str, tuple[float | None, float | None]]
    slices: dict[str, dict[str, _Slice]]
    macros: dict[str, _Slice]
    statistics: _Statistics
    options: _Options
    inputs: list[dict[str, str]]
    gold_sha256: str | None
    warnings: list[str]
    extra: dict[str, Any]
    made: dict[str, Any]


class RunWriter:
    """Writes a run folder while a run is under way; without `finish` nothing is left behind.

    A run that stands there already is replaced; any other folder with something in it is not.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        if self.path.is_dir() and any(self.path.iterdir()) and not is_run(self.path):
            raise OutputError(
                f"{self.path} exists and is not a run folder; choose another folder for --save"
            )
        with ExitStack() as stack:  # unwound, should the second not open
            self._aside = stack.enter_context(atomic_folder(self.path))
            self._examples = stack.enter_context((self._aside / EXAMPLES).open("wb"))
            self._stack = stack.pop_all()
        return self

    def add(self, batch: Batch, rows: Rows, cluster: str | None) -> None:
        """Write the examples of a batch."""
        self._examples.write(encode(stored(batch, cluster)))

    def finish(self, document: ResultDocument, rows: Rows) -> None:
        """Write rows and document."""
        from assay.report.json import to_json

        np.save(self._aside / ROWS, rows, allow_pickle=False)
        (self._aside / DOCUMENT).write_text(to_json(document), encoding="utf-8")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return self._stack.__exit__(kind, error, trace)


def is_run(path: Path) -> bool:
    """Whether this folder looks like a run."""
    return (path / DOCUMENT).is_file()


def folder_of(path: Path) -> Path:
    """The run folder that is meant: its `run.json` may be named instead."""
    return path.parent if path.name == DOCUMENT and is_run(path.parent) else path


def load_run(path: str | Path) -> Result:
    """Read a run folder back. Rows are mapped, examples are read when they are asked for.

    Rows must give the scores of the document: what is compared is what was shown.
    """
    folder = folder_of(Path(path))
    document = read_document(folder)
    if not folder.is_dir():
        raise InputError(
            "is a result without its rows", path=folder, hint="give a folder written with --save"
        )
    layout = _layout(document, folder / DOCUMENT)
    rows = read_rows(folder / ROWS, (document.statistics["n"], len(layout.columns)))
    with np.errstate(all="ignore"):  # damaged rows may hold anything
        again = layout.all_scores(total(rows), rows)
    for key, score in document.scores.items():
        if not np.isclose(score, again.get(key, np.nan), rtol=TOLERANCE, atol=0, equal_nan=True):
            raise InputError(
                f"{ROWS} gives {key} {again.get(key)!r}, {DOCUMENT} says {score!r}",
                path=folder,
                hint=DAMAGED,
            )
    return Result(document, layout, rows, folder=folder)


def _layout(document: ResultDocument, path: Path) -> Layout:
    """The metrics of a stored document, as this version has them."""
    try:
        task = tasks.load(document.task)
        metrics = tuple(task.metric(entry.text) for entry in document.metrics)
    except UsageError as error:
        raise InputError(str(error), path=path) from None
    for metric, entry in zip(metrics, document.metrics, strict=True):
        if tuple(metric.columns) != entry.columns:
            made = document.made.get("assay")
            raise InputError(
                f"{entry.text} has other columns in this version than in {made}",
                path=path,
                hint="score again with --save",
            )
        if [score.name for score in metric.scores] != [score.name for score in entry.scores]:
            raise InputError(f"{entry.text} has other scores", path=path, hint=DAMAGED)
    keys = [score.key for entry in document.metrics for score in entry.scores]
    if set(keys) != set(document.scores) or len(set(keys)) < len(keys):
        raise InputError("metrics and scores do not agree", path=path, hint=DAMAGED)
    return Layout(metrics, document.metrics)


def read_document(folder: Path) -> ResultDocument:
    """The document of a run folder, or the one that `--json` printed into a file."""
    path = folder / DOCUMENT if folder.is_dir() else folder
    hint = DAMAGED if path.name == DOCUMENT else "give the folder that was written with --save"
    try:
        # Not msgspec, which refuses what a file name that is not UTF-8 has become in JSON.
        data = json.loads(path.read_bytes(), parse_constant=_no_constant)
    except FileNotFoundError:
        what = "has no run.json" if folder.is_dir() else "does not exist"
        raise InputError(
            what, path=folder, hint="give the folder that was written with --save"
        ) from None
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"not a run ({error})", path=path, hint=hint) from None
    if not isinstance(data, dict) or "schema" not in data:
        raise InputError("not a run", path=path, hint=hint)
    if data["schema"] != RESULT_SCHEMA:
        raise InputError(
            f"schema is {data['schema']!r}",
            path=path,
            hint=f"this version reads {RESULT_SCHEMA}; use the one that wrote it, or score again",
        )
    try:
        msgspec.convert(data, _Shape)
        return ResultDocument.from_dict(data)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"a part is missing or wrong ({error})", path=path, hint=DAMAGED) from None


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def read_rows(path: Path, shape: tuple[int, ...]) -> Rows:
    """The rows of a run folder, which must have this shape."""
    try:
        rows: Rows = np.lib.format.open_memmap(path, mode="r")  # arrays only: no pickle, no archive
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, EOFError, TokenError):  # its header is a line of Python
        raise InputError("is not a whole array of numbers", path=path, hint=DAMAGED) from None
    if rows.shape != shape or rows.dtype != np.float64:
        found = f"{rows.dtype} of shape {rows.shape}"
        raise InputError(f"holds {found}, not float64 of {shape}", path=path, hint=DAMAGED)
    return rows

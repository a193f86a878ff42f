# SPDX-License-Identifier: Apache-2.0
"""The result document: what a run found, in a form that is printed, stored and read back.

Documents are plain data: full precision inside, `null` for undefined in JSON. The JSON Schema is
`assay/report/schema/result-1.json`, and tests hold the two together.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, fields
from typing import Any

RESULT_SCHEMA = "assay.result/1"


@dataclass(slots=True)
class Counts:
    """How many examples there were on each side, and how they met."""

    gold: int = 0
    predictions: int = 0
    matched: int = 0
    missing: int = 0
    extra: int = 0
    duplicate: int = 0


@dataclass(frozen=True, slots=True)
class InputFile:
    """A file that was read, with the digest of its bytes as they lie on disk.

    The digest is None where nothing was to be kept or to be shown that has one.
    """

    role: str
    path: str
    sha256: str | None


_digests: ContextVar[bool] = ContextVar("digests", default=True)


@dataclass(slots=True)
class Intake:
    """What reading and aligning found out; complete once all batches have been consumed.

    `standard_input` is the role that reads standard input, which can be read once only. `extra` is
    for what a task learns besides scores; it goes into the document as it is. `digests` says
    whether files are to be hashed.
    """

    counts: Counts = field(default_factory=Counts)
    inputs: list[InputFile] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    standard_input: str | None = None
    extra: dict[str, Any] = field(default_factory=dict)
    digests: bool = field(default_factory=_digests.get)


@contextmanager
def hashing(wanted: bool) -> Iterator[None]:
    """Whether what is read is hashed, for whatever begins to read meanwhile.

    >>> with hashing(False):
    ...     intake = Intake()
    >>> intake.digests, Intake().digests
    (False, True)
    """
    before = _digests.set(wanted)
    try:
        yield
    finally:
        _digests.reset(before)


@dataclass(frozen=True, slots=True)
class ScoreEntry:
    """One score of a document: its key, and what tables and verdicts must know of it."""

    key: str
    name: str
    higher_is_better: bool
    unit: str


@dataclass(frozen=True, slots=True)
class MetricEntry:
    """One metric of a document: `text` rebuilds it, `columns` are its columns of `rows.npy`."""

    text: str
    signature: str
    columns: tuple[str, ...]
    scores: tuple[ScoreEntry, ...]


@dataclass(frozen=True, slots=True)
class SliceEntry:
    """The scores of the examples that share one value of a column."""

    n: int
    scores: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ResultDocument:
    """Everything a run found except rows and examples. NaN is undefined."""

    task: str
    system: str
    signature: str
    counts: Counts
    scores: Mapping[str, float]
    metrics: tuple[MetricEntry, ...]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    slices: Mapping[str, Mapping[str, SliceEntry]] = field(default_factory=dict)
    macros: Mapping[str, SliceEntry] = field(default_factory=dict)
    statistics: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[InputFile, ...] = ()
    gold_sha256: str | None = None
    warnings: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    made: Mapping[str, Any] = field(default_factory=dict)
    schema: str = RESULT_SCHEMA

    def entry(self, key: str) -> ScoreEntry:
        """What is known of the score `key`."""
        return next(s for m in self.metrics for s in m.scores if s.key == key)

    def signature_of(self, key: str) -> str:
        """The signature of one number: metric, then what the whole run has in common."""
        metric = next(m for m in self.metrics if any(s.key == key for s in m.scores))
        return f"{metric.signature}|{self.signature.partition('|')[2]}"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the schema first and undefined as None."""
        return plain_document(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ResultDocument:
        """Read back what `as_dict` gave; raises KeyError or TypeError where a part is missing."""
        known = {f.name for f in fields(cls)}
        values = {k: v for k, v in data.items() if k in known}
        values["counts"] = Counts(**data["counts"])
        values["scores"] = {k: _number(v) for k, v in data["scores"].items()}
        values["intervals"] = {k: _pair(v) for k, v in data.get("intervals", {}).items()}
        values["inputs"] = tuple(InputFile(**i) for i in data.get("inputs", ()))
        values["warnings"] = tuple(data.get("warnings", ()))
        values["metrics"] = tuple(
            MetricEntry(
                m["text"],
                m["signature"],
                tuple(m["columns"]),
                tuple(ScoreEntry(**s) for s in m["scores"]),
            )
            for m in data["metrics"]
        )
        values["slices"] = {
            column: {value: _slice(s) for value, s in by_value.items()}
            for column, by_value in data.get("slices", {}).items()
        }
        values["macros"] = {k: _slice(s) for k, s in data.get("macros", {}).items()}
        return cls(**values)


@dataclass(frozen=True, slots=True)
class ResultsDocument:
    """The results of several systems that were scored by one command."""

    results: tuple[ResultDocument, ...]
    schema: str = "assay.results/1"

    def as_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {"schema": self.schema, "results": [one.as_dict() for one in self.results]}


def plain_document(document: Any) -> dict[str, Any]:
    """A document as JSON data, its schema first."""
    names = [f.name for f in fields(document)]
    ordered = sorted(names, key=lambda name: name != "schema")
    return {name: plain(getattr(document, name)) for name in ordered}


def plain(value: Any) -> Any:
    """Dataclasses, tuples and arrays' numbers as JSON data; NaN and infinities as None."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "__dataclass_fields__"):
        return plain({k: v for k, v in asdict(value).items()})
    if hasattr(value, "item"):  # a numpy scalar
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _pair(value: list[float | None]) -> tuple[float, float]:
    return _number(value[0]), _number(value[1])


def _slice(data: Mapping[str, Any]) -> SliceEntry:
    return SliceEntry(
        int(data["n"]),
        {k: _number(v) for k, v in data["scores"].items()},
        {k: _pair(v) for k, v in data.get("intervals", {}).items()},
    )

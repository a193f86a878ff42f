# SPDX-License-Identifier: Apache-2.0
"""The metric contract: rows that add up, and a function of their sum.

measure : batch of examples -> rows (examples x columns)   the only place that looks at text
finalise: totals (columns)  -> scores                      the only place that divides
"""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, get_type_hints

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.core.batch import Batch, Pair
from assay.core.errors import UsageError
from assay.core.names import format_metric, parse_metric, unknown

Rows = NDArray[np.float64]
Value = NDArray[np.float64]
"""A score: one number for one set of totals, an array of numbers for many."""


class Totals:
    """Sums of rows, read by column name: `t.hits`.

    Holds one set of totals, shape (columns,), or many at once, shape (resamples, columns);
    `t.hits` is then a number or an array of numbers. Arithmetic on it works for both.

    >>> t = Totals(("hits", "gold"), np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> ratio(t.hits, t.gold)
    array([0.5 , 0.75])
    """

    __slots__ = ("columns", "values")

    def __init__(self, columns: Sequence[str], values: ArrayLike) -> None:
        self.columns = tuple(columns)
        self.values: Rows = np.asarray(values, dtype=np.float64)
        assert self.values.shape[-1] == len(self.columns), "one value per column"

    def __getitem__(self, column: str) -> Value:
        return np.asarray(self.values[..., self.columns.index(column)])

    def __getattr__(self, column: str) -> Value:
        if column.startswith("__") or column not in self.columns:
            raise AttributeError(column)
        return self[column]


def ratio(part: ArrayLike, whole: ArrayLike) -> Value:
    """`part / whole`, undefined (NaN) where `whole` is 0.

    >>> ratio([1.0, 0.0], [2.0, 0.0])
    array([0.5, nan])
    """
    top, bottom = np.asarray(part, dtype=np.float64), np.asarray(whole, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bottom == 0, np.nan, np.divide(top, bottom))


def f_score(precision: ArrayLike, recall: ArrayLike, beta: float = 1.0) -> Value:
    """Weighted harmonic mean; 0 where both are 0, undefined where either is."""
    p, r = np.asarray(precision, dtype=np.float64), np.asarray(recall, dtype=np.float64)
    weight = beta * beta
    with np.errstate(divide="ignore", invalid="ignore"):
        value = (1 + weight) * p * r / (weight * p + r)
    return np.where((p == 0) & (r == 0), 0.0, value)


@dataclass(frozen=True, slots=True)
class Score:
    """What one number of a metric means, for tests, tables and verdicts.

    `low` and `high` bound it. `proportion` names its two columns where it is a plain share of
    examples, each row being 0 or 1 out of 0 or 1; it then gets a Wilson interval and McNemar's
    test.
    `unit` is printed behind the name: "%" for 0 to 100, "ms".
    """

    name: str
    higher_is_better: bool = True
    low: float = 0.0
    high: float = 1.0
    unit: str = ""
    proportion: tuple[str, str] | None = None


class Metric(ABC):
    """One way to measure predictions against gold.

    Subclasses are frozen dataclasses: their fields are the parameters, all with defaults, of type
    str, int, float or bool (or `| None` of these). `name` and the parameters together are the text
    of the metric, `bleu(tokenize=13a)`, which parses back to it.

    `perfect` says whether gold given as prediction must reach the best value of every score;
    contract tests hold it to that. `version` is raised whenever a number changes. `uses_verdicts`
    says that rows may rest on what people said, so that they cannot serve to predict it.
    """

    name: ClassVar[str]
    scores: ClassVar[tuple[Score, ...]]
    merge: ClassVar[Literal["sum", "concat"]] = "sum"
    aliases: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    perfect: ClassVar[bool] = True
    version: ClassVar[int] = 1
    uses_verdicts: ClassVar[bool] = False

    @property
    @abstractmethod
    def columns(self) -> tuple[str, ...]:
        """Names of the columns of a row; a class attribute does too."""

    @abstractmethod
    def measure(self, batch: Batch) -> Rows:
        """Rows of these examples: float64, one row per example, one column per name.

        A row depends on its example alone, never on its neighbours.
        """

    @abstractmethod
    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The scores, by the names declared in `scores`.

        For `merge = "sum"` totals have shape (..., columns) and each score shape (...). For
        `merge = "concat"` they are the rows themselves and each score is one number.
        """

    def per_example(self, rows: Rows) -> Mapping[str, Value]:
        """The scores of each example by itself. By default a corpus of one example."""
        if self.merge == "concat":
            single = [self.finalise(Totals(self.columns, row[None])) for row in rows]
            return {s.name: np.array([float(v[s.name]) for v in single]) for s in self.scores}
        return self.finalise(Totals(self.columns, rows))

    def score(self, pairs: Iterable[Pair | tuple[Any, Any]]) -> dict[str, float]:
        """Score pairs held in memory, for tests, docs and notebooks."""
        held = [p if isinstance(p, Pair) else Pair(*p) for p in pairs]
        missing = np.array([p.missing for p in held], dtype=bool)
        batch = Batch([p.prediction for p in held], [p.gold for p in held], missing=missing)
        rows = self.measure(batch)
        totals = rows if self.merge == "concat" else rows.sum(axis=0)
        return {k: float(v) for k, v in self.finalise(Totals(self.columns, totals)).items()}

    # -- the text of a metric ---------------------------------------------------------------

    def parameters(self) -> dict[str, object]:
        """All parameters with their values, in the order they are declared."""
        if not dataclasses.is_dataclass(self):
            return {}
        return {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}

    @property
    def text(self) -> str:
        """Name and the parameters that differ from the default; parses back to this metric."""
        if not dataclasses.is_dataclass(self):
            return self.name
        changed = {
            f.name: getattr(self, f.name)
            for f in dataclasses.fields(self)
            if getattr(self, f.name) != f.default
        }
        return format_metric(self.name, changed)

    @property
    def signature(self) -> str:
        """Name and every parameter, so that a later default cannot change its meaning."""
        versioned = {"v": self.version} if self.version > 1 else {}
        return format_metric(self.name, {**self.parameters(), **versioned})

    @classmethod
    def from_parameters(cls, given: Mapping[str, str]) -> Self:
        """Build the metric from parameters as text, naming what is wrong with them."""
        fields: set[str] = set()
        if dataclasses.is_dataclass(cls):
            fields = {f.name for f in dataclasses.fields(cls)}
        hints = get_type_hints(cls) if fields else {}
        values: dict[str, object] = {}
        for key, value in given.items():
            if key not in fields:
                raise unknown(f"parameter of {cls.name}", key, fields)
            values[key] = _convert(cls.name, key, value, hints[key])
        return cls(**values)

    def __str__(self) -> str:
        return self.text


class PairMetric(Metric):
    """A metric that is simplest to write for one pair at a time."""

    @abstractmethod
    def measure_pair(self, pair: Pair) -> Sequence[float]:
        """The row of one pair."""

    def measure(self, batch: Batch) -> Rows:
        """Rows of these examples, one `measure_pair` after the other."""
        rows = [tuple(self.measure_pair(pair)) for pair in batch.pairs()]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.columns))


def build(text: str, classes: Iterable[type[Metric]]) -> Metric:
    """The metric that `text` names, among `classes`; names and aliases ignore case."""
    name, params = parse_metric(text)
    known: dict[str, tuple[type[Metric], Mapping[str, str]]] = {}
    for cls in classes:
        known[cls.name.lower()] = (cls, {})
        for alias, preset in cls.aliases.items():
            known[alias.lower()] = (cls, preset)
    if name.lower() not in known:
        raise unknown("metric", name, known)
    cls, preset = known[name.lower()]
    return cls.from_parameters({**preset, **params})


def _convert(metric: str, key: str, value: str, hint: Any) -> object:
    options = [hint, *getattr(hint, "__args__", ())]
    if value.lower() == "none" and type(None) in options:
        return None
    try:
        if bool in options:
            return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[
                value.lower()
            ]
        if int in options:
            return int(value)
        if float in options:
            number = float(value)
            if math.isnan(number):
                raise ValueError(value)
            return number
    except (KeyError, ValueError):
        wanted = "true or false" if bool in options else "a number"
        raise UsageError(f"{key}={value} of {metric} must be {wanted}") from None
    return value

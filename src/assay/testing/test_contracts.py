# SPDX-License-Identifier: Apache-2.0
"""The contracts themselves: what is wrong is caught, by the test that is there for it."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from assay.core.batch import Batch, Pair
from assay.core.metric import Metric, PairMetric, Rows, Score, Totals, Value, ratio
from assay.engine import Answer, Engine, Item
from assay.engine.serial import SerialEngine
from assay.testing import EngineContract, MetricContract, answered, contracts, variants
from assay.testing.metric import drawn


@dataclass(frozen=True)
class Share(Metric):
    """A metric that keeps the contract: the share of examples that are right."""

    lowercase: bool = False

    name: ClassVar[str] = "share"
    columns: ClassVar[tuple[str, ...]] = ("hits", "count")
    scores: ClassVar[tuple[Score, ...]] = (Score("share", proportion=("hits", "count")),)

    def measure_pair(self, pair: Pair) -> Sequence[float]:
        gold = [pair.gold] if isinstance(pair.gold, str) else list(pair.gold)
        said = pair.prediction
        if self.lowercase:
            gold, said = [text.lower() for text in gold], said.lower()
        return float(said in gold and not pair.missing), 1.0

    def measure(self, batch: Batch) -> Rows:
        texts = (
            Pair(p, list(g), m)
            for p, g, (*_, m) in zip(batch.texts(), batch.references(), batch.pairs(), strict=True)
        )
        return np.array([self.measure_pair(p) for p in texts], dtype=np.float64).reshape(-1, 2)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"share": ratio(totals.hits, totals["count"])}


class TestShare(MetricContract):
    metric = Share()


# -- metrics that break one promise each -----------------------------------------------------


class Forgetful(Share):
    """Its text does not say all there is to know."""

    @property
    def text(self) -> str:
        return "share"


class Unpicklable(Share):
    def __reduce__(self) -> str | tuple[Any, ...]:
        raise AssertionError("holds an open file")


class TwiceTheSame(Share):
    columns = ("hits", "hits")


class NoRange(Share):
    scores = (Score("share", low=1.0, high=1.0),)


class UnknownColumn(Share):
    scores = (Score("share", proportion=("hits", "examples")),)


class FailsOnNothing(Share):
    def measure(self, batch: Batch) -> Rows:
        return super().measure(batch)[:, : 2 if len(batch) else 1]


class Integers(Share):
    def measure(self, batch: Batch) -> Rows:
        rows: Any = super().measure(batch).astype(np.int64)
        return rows  # type: ignore[no-any-return]  # wrong on purpose


class Infinite(Share):
    def measure(self, batch: Batch) -> Rows:
        with np.errstate(divide="ignore"):
            return np.log(super().measure(batch))


class LooksAtNeighbours(Share):
    def measure(self, batch: Batch) -> Rows:
        rows = super().measure(batch)
        rows[1:, 0] += rows[:-1, 0] / 1000
        return rows


class Remembers(Share):
    """Counts less of what comes later."""

    calls: ClassVar[list[int]] = []

    def measure(self, batch: Batch) -> Rows:
        self.calls.append(len(batch))
        return super().measure(batch) / [1, len(self.calls)]


class CountsPositions(Share):
    def measure(self, batch: Batch) -> Rows:
        rows = super().measure(batch)
        rows[:, 0] *= np.arange(len(rows), 0, -1)
        return rows


class FirstReferenceOfLists(Share):
    """Sees fewer references in a packed column than in a list."""

    def measure(self, batch: Batch) -> Rows:
        gold = batch.gold if isinstance(batch.gold, list) else list(batch.references().firsts())
        return super().measure(Batch(batch.predictions, gold, missing=batch.missing))


class TwoForms(Share):
    def measure(self, batch: Batch) -> Rows:
        return super().measure(batch) * [0.5, 1]


class BatchMean(Share):
    """Divides too early: the rows of a batch are its mean."""

    def measure(self, batch: Batch) -> Rows:
        rows = super().measure(batch)
        rows[:, 1] = 1 / max(1, len(rows))
        return rows


class Percent(Share):
    """Says 0 to 1 and gives 0 to 100."""

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"share": 100 * ratio(totals.hits, totals["count"])}


class OtherName(Share):
    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"share": ratio(totals.hits, totals["count"]), "accuracy": totals.hits}


class HalfHits(Share):
    """A proportion that does not count 0 or 1."""

    def measure(self, batch: Batch) -> Rows:
        return super().measure(batch) * 0.5


class Smoothed(Share):
    """Says that it is a plain share of its columns, and is not."""

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"share": ratio(totals.hits + 1, totals["count"] + 2)}


class ChangesTotals(Share):
    """Works in the memory of others, who still need it."""

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        found = super().finalise(totals)
        totals.values[..., 0] /= np.maximum(totals.values[..., 1], 1)
        return found


class OneTotalOnly(Share):
    """Sums over the resamples."""

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"share": ratio(np.sum(totals.hits), np.sum(totals["count"]))}


class OneForAll(Share):
    """Each example gets the score of the corpus."""

    def per_example(self, rows: Rows) -> Mapping[str, Value]:
        share = ratio(rows[:, 0].sum(), rows[:, 1].sum())
        return {"share": np.full(len(rows), float(share))}


class NeverRight(Share):
    def measure(self, batch: Batch) -> Rows:
        return super().measure(batch) * [0, 1]


class MissingIsEmpty(Share):
    """Takes a missing prediction for an empty one, which empty gold makes right."""

    def measure(self, batch: Batch) -> Rows:
        return super().measure(Batch(batch.predictions, batch.gold))


BROKEN: list[tuple[Metric, str]] = [
    # metric                        the test that has to fail
    (Forgetful(lowercase=True), "test_text_parses_back"),
    (Unpicklable(), "test_survives_pickling"),
    (TwiceTheSame(), "test_declares_columns_and_scores"),
    (NoRange(), "test_declares_columns_and_scores"),
    (UnknownColumn(), "test_declares_columns_and_scores"),
    (FailsOnNothing(), "test_an_empty_batch_has_no_rows_and_can_be_scored"),
    (Integers(), "test_rows_are_finite_and_float64"),
    (Infinite(), "test_rows_are_finite_and_float64"),
    (LooksAtNeighbours(), "test_a_row_depends_on_its_example_alone"),
    (Remembers(), "test_a_row_depends_on_its_example_alone"),
    (CountsPositions(), "test_order_does_not_matter"),
    (FirstReferenceOfLists(), "test_columns_of_text_are_measured_like_lists"),
    (TwoForms(), "test_measure_equals_measure_pair"),
    (BatchMean(), "test_parts_add_up_to_the_whole"),
    (Percent(), "test_scores_are_those_declared_and_in_range"),
    (OtherName(), "test_scores_are_those_declared_and_in_range"),
    (HalfHits(), "test_scores_are_those_declared_and_in_range"),
    (Smoothed(), "test_scores_are_those_declared_and_in_range"),
    (ChangesTotals(), "test_many_totals_are_finalised_like_each_alone"),
    (OneTotalOnly(), "test_many_totals_are_finalised_like_each_alone"),
    (OneForAll(), "test_each_example_has_its_own_scores"),
    (NeverRight(), "test_gold_as_prediction_is_perfect"),
    (MissingIsEmpty(), "test_a_missing_prediction_is_never_perfect"),
]


@pytest.mark.parametrize(
    ("metric", "test"), BROKEN, ids=[type(metric).__name__ for metric, _ in BROKEN]
)
def test_a_broken_metric_is_caught(metric: Metric, test: str) -> None:
    ((_, contract),) = contracts([metric])
    run = getattr(contract, test)
    if hasattr(run, "hypothesis"):
        # Always the same examples, and no search for the smallest: to be caught is enough.
        same = settings(drawn, max_examples=200, derandomize=True, phases=[Phase.generate])
        run = same(given(st.data())(run.hypothesis.inner_test))
    with pytest.raises(AssertionError):
        run(contract())


def test_every_test_of_the_contract_has_a_metric_that_fails_it() -> None:
    tests = {name for name in vars(MetricContract) if name.startswith("test_")}
    assert tests == {test for _, test in BROKEN}


# -- a metric of something else than text, and one that keeps its rows ------------------------


@dataclass(frozen=True)
class MedianError(PairMetric):
    """The median distance between two numbers: not a function of a sum."""

    name: ClassVar[str] = "median_error"
    columns: ClassVar[tuple[str, ...]] = ("error",)
    scores: ClassVar[tuple[Score, ...]] = (
        Score("median_error", higher_is_better=False, high=np.inf),
    )
    merge = "concat"

    def measure_pair(self, pair: Pair) -> Sequence[float]:
        return (100.0 if pair.missing else abs(pair.prediction - pair.gold),)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        errors = totals.values[:, 0]
        return {"median_error": np.asarray(np.median(errors) if len(errors) else np.nan)}


class TestMedianError(MetricContract):
    metric = MedianError()

    def pairs(self) -> SearchStrategy[Pair]:
        return st.builds(Pair, st.integers(0, 9), st.integers(0, 9))

    # One missing prediction of three does not move a median.
    test_a_missing_prediction_is_never_perfect = None  # type: ignore[assignment]
    # Numbers are no text.
    test_columns_of_text_are_measured_like_lists = None  # type: ignore[assignment]


SAMPLES = [Pair(["b", "a"], "a"), Pair(["b"], "a"), Pair([], "b"), Pair(["a", "b"], "a")]


@dataclass(frozen=True)
class FirstOfList(PairMetric):
    """Predictions are ranked lists: the share whose first element is right."""

    name: ClassVar[str] = "first_of_list"
    columns: ClassVar[tuple[str, ...]] = ("hits", "count")
    scores: ClassVar[tuple[Score, ...]] = (Score("first_of_list"),)

    def measure_pair(self, pair: Pair) -> Sequence[float]:
        said = list(pair.prediction)
        gold = pair.gold if isinstance(pair.gold, str) else pair.gold[0]
        return float(said[:1] == [gold]), 1.0

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"first_of_list": ratio(totals.hits, totals["count"])}


globals().update(contracts([FirstOfList()], SAMPLES))


def test_variants_take_each_alias_and_each_value_once() -> None:
    assert [metric.text for metric in variants(Share)] == ["share", "share(lowercase=true)"]


ANSWERED = [
    # name                   prediction  gold          expected
    ("text", "x", "a", "a"),
    ("several references", "x", ["a", "b"], "a"),
    ("several candidates", ["x", "y"], "a", ["a"]),
    ("lists on both sides", ["x"], ["a", "b"], ["a", "b"]),
    ("numbers", 3, 4, 4),
]


@pytest.mark.parametrize(
    ("name", "prediction", "gold", "expected"), ANSWERED, ids=[c[0] for c in ANSWERED]
)
def test_gold_takes_the_shape_of_the_prediction(
    name: str, prediction: object, gold: object, expected: object
) -> None:
    assert answered(Pair(prediction, gold)) == Pair(expected, gold)


# -- engines that break one promise each ------------------------------------------------------


class Backwards(SerialEngine):
    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        return iter([function(item) for item in reversed(list(items))])


class TakesAll(SerialEngine):
    """Takes many items before it gives the first result."""

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        held = [item for item, _ in zip(items, range(1_000), strict=False)]
        return map(function, held)


class Rounds(SerialEngine):
    """Sends numbers in single precision."""

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        for answer in map(function, items):
            sent: Any = answer
            if isinstance(sent, np.ndarray):
                sent = sent.astype(np.float32).astype(np.float64)
            yield sent


class Wraps(SerialEngine):
    """Hides what went wrong."""

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        try:
            yield from map(function, items)
        except Exception as error:
            raise RuntimeError("something failed") from error


class LeavesWorkers(Engine):
    """Never shuts its pool down, and lets a broken pool speak for itself."""

    name = "leaves"
    pools: ClassVar[list[ProcessPoolExecutor]] = []

    def map(self, function: Callable[[Item], Answer], items: Iterable[Item]) -> Iterator[Answer]:
        pool = ProcessPoolExecutor(1)
        self.pools.append(pool)
        for item in items:
            yield pool.submit(function, item).result()


@pytest.fixture
def _cleared() -> Iterator[None]:
    yield
    while LeavesWorkers.pools:
        LeavesWorkers.pools.pop().shutdown(wait=True, cancel_futures=True)


def contract_of(engine: Engine) -> Any:
    class Contract(EngineContract):
        def engine(self, jobs: int) -> Engine:
            return engine

    return Contract()


BROKEN_ENGINES: list[tuple[Engine, str, dict[str, object]]] = [
    # engine         the test that has to fail                                      with
    (Backwards(), "test_results_come_in_the_order_of_the_items", {"n": 23, "jobs": 2}),
    (
        Rounds(),
        "test_rows_have_the_same_bits_for_any_jobs_and_any_size_of_item",
        {"size": 7, "jobs": 2},
    ),
    (TakesAll(), "test_items_are_taken_only_a_little_ahead", {}),
    (LeavesWorkers(), "test_closing_early_leaves_no_process", {"jobs": 2}),
    (LeavesWorkers(), "test_finishing_leaves_no_process", {}),
]


@pytest.mark.usefixtures("_cleared")
@pytest.mark.parametrize(
    ("engine", "test", "given"),
    BROKEN_ENGINES,
    ids=[f"{type(engine).__name__}, {test}" for engine, test, _ in BROKEN_ENGINES],
)
def test_a_broken_engine_is_caught(engine: Engine, test: str, given: dict[str, object]) -> None:
    with pytest.raises(AssertionError):
        getattr(contract_of(engine), test)(**given)


def test_an_engine_that_hides_an_error_is_caught() -> None:
    contract = contract_of(Wraps())
    with pytest.raises(RuntimeError, match="something failed"):
        contract.test_an_error_of_the_callable_arrives_as_itself(ValueError("x"), jobs=1)


@pytest.mark.usefixtures("_cleared")
def test_an_engine_that_does_not_explain_a_dead_worker_is_caught() -> None:
    contract = contract_of(LeavesWorkers())
    before = os.getpid()
    with pytest.raises(RuntimeError, match="terminated abruptly"):
        contract.test_a_worker_killed_half_way_is_an_engine_error_and_no_hang(jobs=1)
    assert os.getpid() == before

# SPDX-License-Identifier: Apache-2.0
"""What every metric has to keep, as tests that a metric's own test class inherits.

    class TestShoutiness(MetricContract):
        metric = Shoutiness()

Examples are texts with references, unless the class gives others by `pairs`.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from assay.core.batch import Batch, Pair
from assay.core.metric import Metric, PairMetric, Rows, Score, Totals, Value, build, ratio
from assay.core.text import TextLists, Texts
from assay.testing.samples import answered, text_pairs

TOLERANCE = 1e-9

# Each subclass is another executor of the same test, and that is meant; without a database no
# failure of one metric is replayed on another. Explaining a failure takes longer than reading it.
drawn = settings(
    max_examples=15,
    deadline=None,
    database=None,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow],
)


def batch_of(pairs: Sequence[Pair]) -> Batch:
    """Pairs side by side."""
    missing = np.array([p.missing for p in pairs], dtype=bool)
    return Batch([p.prediction for p in pairs], [p.gold for p in pairs], missing=missing)


class MetricContract:
    """Tests of one metric. Subclasses set `metric`, and `pairs` where it does not measure text.

    A class has only the tests that say something about its metric: those of gold as prediction are
    left out where the metric does not promise that it is perfect, for one.
    """

    metric: ClassVar[Metric]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if hasattr(cls, "metric"):
            for test in set(_of_no_use(cls.metric)) - set(vars(cls)):
                setattr(cls, test, None)  # pytest then does not see it

    def pairs(self) -> SearchStrategy[Pair]:
        """One example: a prediction and its gold, of any kind that the metric can measure."""
        return text_pairs()

    # -- what it says about itself ----------------------------------------------------------

    def test_text_parses_back(self) -> None:
        metric = self.metric
        again = build(metric.text, [type(metric)])
        assert again == metric, f"'{metric.text}' gave {again.signature}"
        assert again.signature == metric.signature
        assert type(metric).from_parameters(_as_text(metric.parameters())) == metric

    def test_survives_pickling(self) -> None:
        again = pickle.loads(pickle.dumps(self.metric))
        assert again.signature == self.metric.signature

    def test_declares_columns_and_scores(self) -> None:
        metric = self.metric
        names = [score.name for score in metric.scores]
        assert metric.columns, "a row needs a column"
        assert len(set(metric.columns)) == len(metric.columns), "two columns have one name"
        assert names, "a metric needs a score"
        assert len(set(names)) == len(names), "two scores have one name"
        for score in metric.scores:
            assert score.low < score.high, f"nothing lies between low and high of {score.name}"
            assert set(score.proportion or ()) <= set(metric.columns), "proportion names columns"

    # -- rows -------------------------------------------------------------------------------

    def test_an_empty_batch_has_no_rows_and_can_be_scored(self) -> None:
        rows = self.metric.measure(batch_of([]))
        assert rows.shape == (0, len(self.metric.columns))
        assert rows.dtype == np.float64
        self._check_range(self._scores(rows))
        each = self.metric.per_example(rows)
        assert [np.shape(each[score.name]) for score in self.metric.scores] == [(0,)] * len(each)

    @drawn
    @given(st.data())
    def test_rows_are_finite_and_float64(self, data: st.DataObject) -> None:
        held = self._draw(data)
        rows = self.metric.measure(batch_of(held))
        assert rows.shape == (len(held), len(self.metric.columns))
        assert rows.dtype == np.float64
        assert np.isfinite(rows).all(), f"{rows[~np.isfinite(rows).all(axis=1)]}"

    @drawn
    @given(st.data())
    def test_a_row_depends_on_its_example_alone(self, data: st.DataObject) -> None:
        held = self._draw(data)
        rows = self.metric.measure(batch_of(held))
        for pair, row in zip(held, rows, strict=True):
            assert self.metric.measure(batch_of([pair]))[0].tolist() == row.tolist(), pair

    @drawn
    @given(st.data())
    def test_order_does_not_matter(self, data: st.DataObject) -> None:
        held = self._draw(data)
        order = data.draw(st.permutations(range(len(held))))
        rows = self.metric.measure(batch_of(held))
        turned = self.metric.measure(batch_of([held[i] for i in order]))
        assert turned.tolist() == rows[order].tolist()
        _check_equal(self._scores(turned), self._scores(rows))

    @drawn
    @given(st.data())
    def test_columns_of_text_are_measured_like_lists(self, data: st.DataObject) -> None:
        held = self._draw(data)
        if not all(is_text(p.prediction) and is_text(p.gold) for p in held):
            pytest.skip("the metric does not measure text")
        batch = batch_of(held)
        packed = dataclasses.replace(
            batch,
            predictions=_packed(batch.predictions),
            gold=_packed(batch.gold),
        )
        rows = self.metric.measure(batch)
        assert self.metric.measure(packed).tolist() == rows.tolist()
        cut = data.draw(st.integers(0, len(held)))
        assert self.metric.measure(packed.part(cut, len(held))).tolist() == rows[cut:].tolist()

    @drawn
    @given(st.data())
    def test_measure_equals_measure_pair(self, data: st.DataObject) -> None:
        one: Any = self.metric  # that has both forms, or the test would not be here
        held = self._draw(data)
        rows = self.metric.measure(batch_of(held))
        wanted = [[float(v) for v in one.measure_pair(pair)] for pair in batch_of(held).pairs()]
        assert rows.tolist() == wanted

    # -- scores -----------------------------------------------------------------------------

    @drawn
    @given(st.data())
    def test_parts_add_up_to_the_whole(self, data: st.DataObject) -> None:
        held = self._draw(data)
        cut = data.draw(st.integers(0, len(held)))
        whole = self._scores(self.metric.measure(batch_of(held)))
        parts = [self.metric.measure(batch_of(part)) for part in (held[:cut], held[cut:])]
        if self.metric.merge == "concat":
            _check_equal(self._scores(np.concatenate(parts)), whole)
        else:
            _check_equal(self._finalised(parts[0].sum(axis=0) + parts[1].sum(axis=0)), whole)

    @drawn
    @given(st.data())
    def test_scores_are_those_declared_and_in_range(self, data: st.DataObject) -> None:
        rows = self.metric.measure(batch_of(self._draw(data)))
        found = self._scores(rows)
        assert list(found) == [score.name for score in self.metric.scores]
        self._check_range(found)
        for score in self.metric.scores:
            if score.proportion is not None:
                hits, of = (rows[:, self.metric.columns.index(c)] for c in score.proportion)
                assert set(hits) | set(of) <= {0.0, 1.0}, "a proportion counts 0 or 1"
                assert (hits <= of).all(), "a proportion counts hits among examples"
                # Its interval and its test come from these two columns alone. Of nothing at all it
                # may be 0 instead of undefined.
                share = score.low + (score.high - score.low) * ratio(hits.sum(), of.sum())
                if of.any():
                    _check_equal({score.name: found[score.name]}, {score.name: share})

    @drawn
    @given(st.data())
    def test_many_totals_are_finalised_like_each_alone(self, data: st.DataObject) -> None:
        rows = self.metric.measure(batch_of(self._draw(data)))
        counts = st.lists(st.integers(0, 3), min_size=len(rows), max_size=len(rows))
        weights = data.draw(st.lists(counts, min_size=1, max_size=4))
        # Nothing drawn at all is a resample too.
        totals = np.array([*weights, [0] * len(rows)], dtype=np.float64) @ rows
        many = self._finalised(totals)
        self._check_range(many)
        for k, row in enumerate(totals):
            alone = self._finalised(row)
            for name, value in alone.items():
                assert np.shape(value) == (), f"{name} of one set of totals is one number"
                assert np.shape(many[name]) == (len(totals),), f"{name} of many is one each"
            _check_equal({name: values[k] for name, values in many.items()}, alone)

    @drawn
    @given(st.data())
    def test_each_example_has_its_own_scores(self, data: st.DataObject) -> None:
        held = self._draw(data)
        rows = self.metric.measure(batch_of(held))
        each = self.metric.per_example(rows)
        assert list(each) == [score.name for score in self.metric.scores]
        assert all(np.shape(values) == (len(held),) for values in each.values())
        self._check_range(each)
        for i in range(len(held)):
            alone = self.metric.per_example(rows[i : i + 1])
            _check_equal({k: v[0] for k, v in alone.items()}, {k: v[i] for k, v in each.items()})

    @drawn
    @given(st.data())
    def test_gold_as_prediction_is_perfect(self, data: st.DataObject) -> None:
        held = [answered(pair) for pair in self._draw(data)]
        found = self._scores(self.metric.measure(batch_of(held)))
        for score in self.metric.scores:
            value = float(found[score.name])
            assert np.isnan(value) or value == pytest.approx(_best(score)), score.name

    @drawn
    @given(st.data())
    def test_a_missing_prediction_is_never_perfect(self, data: st.DataObject) -> None:
        held = [answered(pair) for pair in self._draw(data)]
        first = held[0]
        nothing: Any = [] if isinstance(first.prediction, list) else ""
        held[0] = Pair(nothing, first.gold, missing=True)
        found = self._scores(self.metric.measure(batch_of(held)))
        reached = [
            float(found[score.name]) == pytest.approx(_best(score), abs=TOLERANCE)
            for score in self.metric.scores
        ]
        assert not all(reached), "an example without a prediction counts as right"

    # -- shared -----------------------------------------------------------------------------

    def _draw(self, data: st.DataObject) -> list[Pair]:
        return data.draw(st.lists(self.pairs(), min_size=1, max_size=6))

    def _scores(self, rows: Rows) -> Mapping[str, Value]:
        return self._finalised(rows if self.metric.merge == "concat" else rows.sum(axis=0))

    def _finalised(self, totals: Rows) -> Mapping[str, Value]:
        before = totals.copy()
        found = self.metric.finalise(Totals(self.metric.columns, totals))
        assert np.array_equal(totals, before, equal_nan=True), "finalise changed its totals"
        return found

    def _check_range(self, found: Mapping[str, Value]) -> None:
        for score in self.metric.scores:
            values = np.asarray(found[score.name], dtype=np.float64)
            known = values[~np.isnan(values)]
            low, high = score.low - TOLERANCE, score.high + TOLERANCE
            assert ((known >= low) & (known <= high)).all(), f"{score.name} {known}"


def _of_no_use(metric: Metric) -> Iterator[str]:
    """The tests of things that the metric does not have, or does not promise."""
    if not metric.perfect:
        yield "test_gold_as_prediction_is_perfect"
        yield "test_a_missing_prediction_is_never_perfect"
    if metric.merge == "concat":
        yield "test_many_totals_are_finalised_like_each_alone"
    if not hasattr(metric, "measure_pair") or type(metric).measure is PairMetric.measure:
        yield "test_measure_equals_measure_pair"


def _best(score: Score) -> float:
    return score.high if score.higher_is_better else score.low


def _check_equal(found: Mapping[str, Value], wanted: Mapping[str, Value]) -> None:
    plain = {name: float(value) for name, value in wanted.items()}
    assert {name: float(value) for name, value in found.items()} == pytest.approx(
        plain, rel=TOLERANCE, abs=TOLERANCE, nan_ok=True
    )


def _as_text(parameters: Mapping[str, object]) -> dict[str, str]:
    return {name: str(value) for name, value in parameters.items()}


def is_text(value: Any) -> bool:
    """Whether a prediction or gold is a text or a list of them."""
    return isinstance(value, str) or (
        isinstance(value, list) and all(isinstance(text, str) for text in value)
    )


def _packed(values: Sequence[Any]) -> Texts | TextLists:
    if all(isinstance(value, str) for value in values):
        return Texts.of(values)
    return TextLists.of([value] if isinstance(value, str) else value for value in values)

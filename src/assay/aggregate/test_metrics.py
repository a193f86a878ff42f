# SPDX-License-Identifier: Apache-2.0
"""Metrics for the tests of this folder: one of each kind, with rows made up on the spot."""

from collections.abc import Mapping

import numpy as np
import pytest

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, f_score, ratio


class RowMetric(Metric):
    """Tests hand over rows, so there is no text to measure."""

    def measure(self, batch: Batch) -> Rows:
        raise NotImplementedError


class Accuracy(RowMetric):
    """A plain share of examples."""

    name = "accuracy"
    columns = ("right", "n")
    scores = (Score("accuracy", proportion=("right", "n")),)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"accuracy": ratio(totals.right, totals.n)}


class ErrorPercent(RowMetric):
    """The same in percent, and the wrong way round."""

    name = "error-percent"
    columns = ("wrong", "n")
    scores = (
        Score("error", higher_is_better=False, high=100.0, unit="%", proportion=("wrong", "n")),
    )

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"error": 100 * ratio(totals.wrong, totals.n)}


class MicroF1(RowMetric):
    """Ratios of sums, with several scores."""

    name = "micro-f1"
    columns = ("hits", "predicted", "gold")
    scores = (Score("precision"), Score("recall"), Score("f1"))

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        precision = ratio(totals.hits, totals.predicted)
        recall = ratio(totals.hits, totals.gold)
        return {"precision": precision, "recall": recall, "f1": f_score(precision, recall)}


class Mean(RowMetric):
    """A mean over the examples where something is defined."""

    name = "mean"
    columns = ("sum", "count")
    scores = (Score("mean"),)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        return {"mean": ratio(totals.sum, totals.count)}


class Median(RowMetric):
    """Cannot be summed."""

    name = "median"
    columns = ("value",)
    scores = (Score("median"),)
    merge = "concat"

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        values = totals.value
        return {"median": np.asarray(np.median(values) if values.size else np.nan)}


class Bleu(RowMetric):
    """Corpus BLEU of sacrebleu's ten statistics, with its default smoothing."""

    name = "bleu"
    columns = ("length", "gold_length", *(f"{kind}{i}" for kind in "ct" for i in range(1, 5)))
    scores = (Score("bleu", high=100.0),)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        values = totals.values
        correct, possible = values[..., 2:6], values[..., 6:10]
        missed = correct == 0
        # Each order without a match counts half as much as the one before it did.
        halved = 2.0 ** -np.cumsum(missed, axis=-1)
        precision = ratio(np.where(missed, halved, correct), possible)
        brevity = np.exp(np.minimum(0.0, 1 - ratio(totals.gold_length, totals.length)))
        score = 100 * brevity * np.exp(np.log(precision).mean(axis=-1))
        return {"bleu": np.where(missed.all(axis=-1), 0.0, score)}


def accuracy_rows(right: list[int]) -> Rows:
    return np.stack([np.array(right, dtype=np.float64), np.ones(len(right))], axis=1)


def f1_rows(rng: np.random.Generator, n: int) -> Rows:
    """Sets of one to several gold values, some found, some invented."""
    gold = 1 + rng.poisson(2, n)
    hits = rng.binomial(gold, rng.beta(2, 1.5, n))
    return np.stack([hits, hits + rng.poisson(1, n), gold], axis=1).astype(np.float64)


def sentences(n: int, seed: int) -> tuple[list[str], list[str], list[str]]:
    """Gold sentences, and two systems that each change some words of them."""
    rng = np.random.default_rng(seed)
    words = [f"w{i}" for i in range(60)]
    gold: list[str] = []
    systems: tuple[list[str], list[str]] = ([], [])
    for _ in range(n):
        text = rng.choice(words, rng.integers(6, 20)).tolist()
        gold.append(" ".join(text))
        for system, noise in zip(systems, (0.25, 0.28), strict=True):
            system.append(
                " ".join(rng.choice(words) if rng.random() < noise else word for word in text)
            )
    return gold, *systems


def bleu_rows(system: list[str], gold: list[str]) -> Rows:
    """sacrebleu's own statistics."""
    bleu = pytest.importorskip("sacrebleu.metrics").BLEU()
    return np.array(bleu._extract_corpus_statistics(system, [gold]), dtype=np.float64)


def test_bleu_is_sacrebleu_s() -> None:
    sacrebleu = pytest.importorskip("sacrebleu.metrics")
    gold, system, _ = sentences(50, 1)
    rows = bleu_rows(system, gold)
    assert rows.shape == (50, len(Bleu().columns))
    found = Bleu().finalise(Totals(Bleu().columns, rows.sum(axis=0)))["bleu"]
    assert float(found) == pytest.approx(sacrebleu.BLEU().corpus_score(system, [gold]).score, 1e-12)

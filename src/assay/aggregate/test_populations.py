# SPDX-License-Identifier: Apache-2.0
"""Made-up examples for the simulations, whose own score is the truth to be found."""

import os
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from assay.aggregate.test_metrics import Accuracy, Mean, MicroF1, accuracy_rows, sentences
from assay.core.batch import Batch
from assay.core.metric import Metric, Rows
from assay.metrics.bleu import Bleu

SEED = int(os.environ.get("ASSAY_SIMULATION_SEED", "0"))
"""Another one makes other draws everywhere: what holds must not hang on these."""

POPULATION = 4_000
TRIALS = 999
Rates = dict[str, float]


class Systems(NamedTuple):
    """Two systems on the same examples, and the metrics whose columns the rows hold."""

    metrics: Sequence[Metric]
    first: Rows
    second: Rows


def stream(*key: int) -> np.random.Generator:
    """The random numbers of one simulation."""
    return np.random.default_rng([*key, SEED])


@cache
def population() -> Systems:
    """Hard and easy examples, shared by two systems of which the second is a little worse."""
    rng = stream(20)
    n = POPULATION
    ease = rng.beta(3, 2, n)
    gold = 1 + rng.poisson(2, n)
    reference, *texts = sentences(n, 21 + 1_000 * SEED)
    sides = []
    for worse, text in zip((0.0, 0.02), texts, strict=True):
        chance = np.clip(ease - worse, 0, 1)
        hits = rng.binomial(gold, chance)
        parts = [
            accuracy_rows((rng.random(n) < chance).astype(int).tolist()),
            accuracy_rows((rng.random(n) < 0.95 - worse).astype(int).tolist()),
            np.column_stack([rng.beta(6 * ease + 0.5, 6 * (1 - ease) + 0.5), np.ones(n)]),
            np.column_stack([rng.exponential(1 + ease, n), np.ones(n)]),
            np.column_stack([hits, hits + rng.poisson(1, n), gold]),
            Bleu().measure(Batch(text, reference)),
        ]
        sides.append(np.concatenate(parts, axis=1))
    return Systems((Accuracy(), Accuracy(), Mean(), Mean(), MicroF1(), Bleu()), *sides)


KINDS = ("share", "share near 1", "mean", "skewed mean", "F1", "BLEU")
SCORES = ("accuracy", "accuracy", "mean", "mean", "f1", "bleu")

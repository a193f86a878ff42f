# SPDX-License-Identifier: Apache-2.0
"""Resampling: intervals and paired tests of corpus BLEU, against sacrebleu's.

Both sides get the same statistics per example, counted beforehand, and draw the same resamples from
the same seed. Their answers agree to the single precision in which sacrebleu scores resamples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.harness import Case, Work

SEED = 12345
SINGLE = 2e-6
"""How far apart the answers may be: sacrebleu sums and divides in single precision."""


def statistics(n: int, system: int) -> Any:
    """BLEU statistics of `n` made-up sentences; systems share the sentences' difficulty."""
    import numpy as np

    shared = np.random.default_rng([SEED, n])
    gold = np.clip(shared.normal(24, 10, n).round(), 4, 90).astype(np.int64)
    ease = shared.beta(6, 3, n)
    own = np.random.default_rng([SEED, n, system])
    length = np.maximum(4, gold + own.integers(-2, 3, n))
    columns = [length, gold]
    found = np.minimum(length, gold)
    for order in range(4):
        # Of what matched so far, longer and longer runs still match.
        found = own.binomial(np.minimum(found, length - order), ease * (1 - 0.004 * system))
        columns.append(found)
    columns += [length - order for order in range(4)]
    return np.column_stack(columns).astype(np.float64)


def ours_interval(n: int, resamples: int) -> Callable[[], Work]:
    """The interval of one system."""

    def side() -> Work:
        from assay.aggregate.interval import percentile_interval
        from assay.aggregate.resample import bootstrap_scores
        from assay.metrics.bleu import Bleu

        rows = statistics(n, 0)

        def work() -> float:
            ((found,),) = bootstrap_scores([Bleu()], [rows], resamples=resamples, seed=SEED)
            percentile_interval(found["bleu"], n=n)
            return float(found["bleu"].mean())

        return work

    return side


def peer_interval(n: int, resamples: int) -> Callable[[], Work]:
    """sacrebleu's resamples of one system, and its interval from them."""

    def side() -> Work:
        import numpy as np
        from sacrebleu.metrics import BLEU
        from sacrebleu.significance import _bootstrap_resample, estimate_ci

        rows = statistics(n, 0)

        def work() -> float:
            _, scores = _bootstrap_resample(rows, BLEU(), n_samples=resamples)
            mean, _ = estimate_ci(np.array([score.score for score in scores]))
            return float(mean)

        return work

    return side


def ours_paired(n: int, resamples: int) -> Callable[[], Work]:
    """The same resamples of two systems, the interval of their difference, and sacrebleu's p."""

    def side() -> Work:
        import numpy as np

        from assay.aggregate.interval import percentile_interval
        from assay.aggregate.resample import bootstrap_scores
        from assay.aggregate.totals import scores_of
        from assay.metrics.bleu import Bleu

        systems = [statistics(n, s) for s in (0, 1)]

        def work() -> list[float]:
            found = bootstrap_scores([Bleu()], systems, resamples=resamples, seed=SEED)
            first, second = (scores["bleu"] for (scores,) in found)
            differences = second - first
            percentile_interval(differences, n=n)
            percentile_interval(second, n=n)
            # Assay's own p-value comes from randomisation; this rule is sacrebleu's.
            one, other = (scores_of(Bleu(), rows)["bleu"] for rows in systems)
            real = abs(one - other)
            sizes = np.abs(differences)
            as_large = int((sizes - sizes.mean() > real).sum())
            return [float(second.mean()), (as_large + 1) / (resamples + 1)]

        return work

    return side


def ours_randomised(n: int, trials: int) -> Callable[[], Work]:
    """Approximate randomisation of two systems."""

    def side() -> Work:
        from assay.aggregate.paired import randomisation_test
        from assay.metrics.bleu import Bleu

        first, second = (statistics(n, s) for s in (0, 1))

        def work() -> float:
            (found,) = randomisation_test([Bleu()], second, first, trials=trials, seed=SEED)
            return found["bleu"].p

        return work

    return side


def peer_paired(n: int, samples: int, kind: str) -> Callable[[], Work]:
    """sacrebleu's PairedTest, handed the statistics instead of text."""

    def side() -> Work:
        from sacrebleu.metrics import BLEU
        from sacrebleu.significance import PairedTest

        systems = {name: statistics(n, s) for s, name in enumerate(("first", "second"))}

        class Counted(BLEU):
            """A "sentence" is the name of its system, whose statistics are known."""

            def __init__(self) -> None:
                super().__init__()
                self.num_refs = 1

            def _extract_corpus_statistics(self, hypotheses: Any, references: Any) -> Any:
                return systems[hypotheses[0]]

        named: list[tuple[str, Any]] = [(name, [name] * n) for name in systems]

        def work() -> list[float] | float:
            test = PairedTest(
                named,
                {"BLEU": Counted()},
                references=[[""] * n],
                test_type=kind,
                n_samples=samples,
            )
            found: Any = test()[1]["BLEU"][1]
            return found.p_value if kind == "ar" else [found.mean, found.p_value]

        return work

    return side


def interval(n: int, resamples: int, must: float, peer_rounds: int) -> Case:
    """One interval."""
    return Case(
        f"BLEU interval, {n:,} examples x {resamples:,} resamples",
        "sacrebleu bootstrap",
        ours=ours_interval(n, resamples),
        peer=peer_interval(n, resamples),
        must=must,
        memory=80,
        tolerance=SINGLE,
        peer_rounds=peer_rounds,
    )


def paired(n: int, resamples: int, must: float, peer_rounds: int) -> Case:
    """One paired bootstrap."""
    return Case(
        f"BLEU paired bootstrap, {n:,} examples x {resamples:,} resamples",
        "sacrebleu PairedTest bs",
        ours=ours_paired(n, resamples),
        peer=peer_paired(n, resamples, "bs"),
        must=must,
        memory=100,
        tolerance=SINGLE,
        peer_rounds=peer_rounds,
    )


CASES = [
    interval(3_000, 1_000, must=3, peer_rounds=5),
    interval(100_000, 1_000, must=20, peer_rounds=1),
    paired(3_000, 1_000, must=8, peer_rounds=5),
    paired(3_000, 10_000, must=15, peer_rounds=2),
    paired(100_000, 1_000, must=28, peer_rounds=1),
    Case(
        "BLEU approximate randomisation, 3,000 examples x 10,000 trials",
        "sacrebleu PairedTest ar",
        ours=ours_randomised(3_000, 10_000),
        peer=peer_paired(3_000, 10_000, "ar"),
        must=8,
        memory=100,
        # The two toss other coins: a p-value near 0.02 from 10,000 trials is good to a tenth of it.
        tolerance=0.3,
    ),
]

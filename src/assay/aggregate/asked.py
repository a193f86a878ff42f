# SPDX-License-Identifier: Apache-2.0
"""How sure one wants to be: what is asked for where nobody says, refused where it cannot be meant,
and remarked on where there are too few resamples or trials to show what they are for."""

from __future__ import annotations

import math

from assay.core.errors import UsageError

LEVEL = 0.95
RESAMPLES = 1_000
TRIALS = 10_000
SEED = 12_345

MOST = 1_000_000
"""Ends of intervals and p-values are then good to three digits and more; the rest is waste."""


def check_resampling(resamples: int, seed: int, *, trials: int | None = None) -> None:
    """Refuse numbers that nobody can mean, before any work is done."""
    for option, count, instead in (
        ("--resamples", resamples, "; --ci 0 leaves intervals out"),
        ("--trials", trials, ""),
    ):
        if count is not None and count < 1:
            raise UsageError(
                f"{option} {count} must be at least 1{instead if trials is None else ''}"
            )
        if count is not None and count > MOST:
            raise UsageError(f"{option} {count:,} is too many; at most {MOST:,}, 10,000 are plenty")
    if seed < 0:
        raise UsageError(f"--seed {seed} must not be negative")


def few_resamples(resamples: int, level: float) -> str | None:
    """What to tell the user if an interval of this level lies beyond the outermost resamples.

    The k-th of R resamples stands for the share k / (R + 1), so that R = 39 are the fewest whose
    outermost stand for 2.5 % each.

    >>> few_resamples(1, 0.95)
    'too few resamples for a 95 % interval (1): it is too narrow; use at least 39, better 1,000'
    """
    needed = math.ceil(round(2 / (1 - level), 6)) - 1
    if resamples >= needed:
        return None
    shown = f"{100 * level:.10g} %"
    said = f"too few resamples for a {shown} interval ({resamples:,}): it is too narrow"
    if needed > MOST:
        return f"{said}; no number of resamples shows one, so ask for a lower level"
    better = f", better {min(max(1_000, 10 * needed), MOST):,}" if needed < MOST else ""
    return f"{said}; use at least {needed:,}{better}"


def few_trials(trials: int, alpha: float, n_tests: int = 1) -> str | None:
    """What to tell the user if no difference, however clear, could be found.

    The smallest p-value is 1 / (trials + 1), and the smallest after Holm's correction `n_tests`
    times that.

    >>> few_trials(10, 0.05)
    'too few trials to find anything at 0.05 (10); use at least 19, better 10,000'
    """
    needed = math.ceil(round(n_tests / alpha, 6)) - 1
    if trials >= needed:
        return None
    over = f" over {n_tests} pairs" if n_tests > 1 else ""
    return (
        f"too few trials to find anything at {alpha:g}{over} ({trials:,}); "
        f"use at least {needed:,}, better {max(10_000, 10 * needed):,}"
    )

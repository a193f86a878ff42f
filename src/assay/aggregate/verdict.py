# SPDX-License-Identifier: Apache-2.0
"""Verdicts: one word for what a comparison found. "Not significant" is never "equal"."""

from __future__ import annotations

import math

from assay.core.comparison import Verdict

ALPHA = 0.05


def verdict(
    difference: float,
    interval: tuple[float, float],
    p: float,
    *,
    higher_is_better: bool = True,
    alpha: float = ALPHA,
    margin: float | None = None,
) -> Verdict:
    """The word for `difference` (system minus baseline), its interval and its adjusted p-value.

    With a `margin`, an interval wholly inside (-margin, +margin) is `equivalent`, even where the
    difference is significant: it is then real and too small to matter. Otherwise `better` or
    `worse` where p is at most `alpha`, and `undecided` everywhere else, above all where nothing
    was found.

    >>> verdict(0.02, (0.01, 0.03), 0.001)
    'better'
    >>> verdict(0.02, (0.01, 0.03), 0.001, margin=0.05)
    'equivalent'
    >>> verdict(0.02, (-0.01, 0.05), 0.2)
    'undecided'
    """
    low, high = interval
    if margin is not None and -margin < low and high < margin:
        return "equivalent"
    if math.isnan(difference) or math.isnan(p) or p > alpha or difference == 0:
        return "undecided"
    return "better" if (difference > 0) == higher_is_better else "worse"

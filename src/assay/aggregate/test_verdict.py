# SPDX-License-Identifier: Apache-2.0
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.aggregate.verdict import verdict
from assay.core.comparison import Verdict

nan = math.nan

CASES = [
    # name                                          difference  interval       p      margin  word
    ("significant",                                 0.02,  (0.01, 0.03),   0.001, None, "better"),
    ("significant the other way",                   -0.02, (-0.03, -0.01), 0.001, None, "worse"),
    ("p at alpha is enough",                        0.02,  (0.00, 0.04),   0.05,  None, "better"),
    ("p just above alpha is not",                   0.02,  (0.00, 0.04),   0.0501, None, "undecided"),
    ("nothing found is undecided, never equal",     0.00,  (-0.01, 0.01),  1.0,   None, "undecided"),
    ("the interval alone decides nothing",          0.02,  (0.01, 0.03),   0.20,  None, "undecided"),
    ("no difference is never better",               0.00,  (0.00, 0.00),   0.001, None, "undecided"),
    ("inside the margin",                           0.00,  (-0.01, 0.01),  1.0,   0.02, "equivalent"),
    ("real, and too small to matter",               0.01,  (0.005, 0.015), 0.001, 0.02, "equivalent"),
    ("reaches over the margin: not significant",    0.01,  (-0.01, 0.03),  0.3,   0.02, "undecided"),
    ("reaches over the margin: significant",        0.02,  (0.01, 0.03),   0.001, 0.02, "better"),
    ("a bound on the margin is not inside",         0.00,  (-0.02, 0.01),  0.6,   0.02, "undecided"),
    ("worse than the margin",                       -0.05, (-0.07, -0.03), 0.001, 0.02, "worse"),
    ("undefined difference",                        nan,   (nan, nan),     nan,   0.02, "undecided"),
    ("nothing could be tested",                     0.02,  (0.01, 0.03),   nan,   None, "undecided"),
    ("no interval: the test still speaks",          0.02,  (nan, nan),     0.001, 0.05, "better"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "difference", "interval", "p", "margin", "word"), CASES)
def test_words(
    name: str,
    difference: float,
    interval: tuple[float, float],
    p: float,
    margin: float | None,
    word: Verdict,
) -> None:
    assert verdict(difference, interval, p, margin=margin) == word
    # Where lower is better, better and worse change places and nothing else.
    other: Verdict = {"better": "worse", "worse": "better"}.get(word, word)  # type: ignore[assignment]  # a dict of literals is one of str
    assert verdict(difference, interval, p, margin=margin, higher_is_better=False) == other


@given(
    difference=st.floats(-1, 1),
    bounds=st.tuples(st.floats(-1, 1), st.floats(-1, 1)),
    p=st.floats(0, 1),
    margin=st.none() | st.floats(0.001, 1),
)
def test_seen_from_the_other_system_better_is_worse(
    difference: float, bounds: tuple[float, float], p: float, margin: float | None
) -> None:
    low, high = sorted(bounds)
    ours = verdict(difference, (low, high), p, margin=margin)
    theirs = verdict(-difference, (-high, -low), p, margin=margin)
    assert theirs == {"better": "worse", "worse": "better"}.get(ours, ours)


@given(p=st.floats(0, 1), alpha=st.floats(0.001, 0.2))
def test_a_stricter_test_finds_no_more(p: float, alpha: float) -> None:
    lenient = verdict(0.1, (0.0, 0.2), p, alpha=alpha)
    strict = verdict(0.1, (0.0, 0.2), p, alpha=alpha / 2)
    assert strict == "undecided" or strict == lenient

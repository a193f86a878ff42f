# SPDX-License-Identifier: Apache-2.0
"""Numbers as text: how many digits a score deserves, intervals, p-values, counts.

Undefined (NaN) is the empty text everywhere. The sign is the ASCII hyphen, so that what is printed
can be parsed; LaTeX and HTML set a proper minus themselves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

SHARE_DIGITS = 4
OTHER_DIGITS = 2
SMALLEST_P = 0.001


def digits_for(unit: str, values: Iterable[float]) -> int:
    """Digits after the point that tell two scores of this kind apart: 4 for shares, else 2.

    A score with a unit (percent, ms) is no share. Without one, the values decide: a share is
    nearly always at most 1, and an error rate seldom above 2.

    >>> digits_for("%", [0.4]), digits_for("", [0.31, 1.04]), digits_for("", [34.52, 0.9])
    (2, 4, 2)
    """
    if unit:
        return OTHER_DIGITS
    known = [abs(v) for v in values if math.isfinite(v)]
    return SHARE_DIGITS if not known or max(known) <= 2 else OTHER_DIGITS


def format_number(value: float, digits: int, *, signed: bool = False) -> str:
    """The value with this many digits after the point; never a negative zero.

    >>> format_number(34.517, 2), format_number(-0.001, 2), format_number(1.9, 2, signed=True)
    ('34.52', '0.00', '+1.90')
    >>> format_number(float("nan"), 2)
    ''
    """
    if math.isnan(value):
        return ""
    text = f"{value:.{digits}f}"
    if float(text) == 0:
        return text.lstrip("-")
    return f"+{text}" if signed and value > 0 else text


def format_interval(
    interval: tuple[float, float] | None, digits: int, *, signed: bool = False
) -> str:
    """`[low, high]`, empty where there is none or a bound is undefined.

    >>> format_interval((33.8, 35.214), 2), format_interval(None, 2)
    ('[33.80, 35.21]', '')
    """
    if interval is None or any(math.isnan(bound) for bound in interval):
        return ""
    low, high = (format_number(bound, digits, signed=signed) for bound in interval)
    return f"[{low}, {high}]"


def format_p(p: float, trials: int | None = None) -> str:
    """A p-value with three digits, or the bound that it is known to be below; never 0.000.

    A randomisation test cannot give less than 1 / (trials + 1). At that limit the number says
    how long the test ran rather than how strong the evidence is, so the bound is printed.

    >>> format_p(0.0423), format_p(1 / 1001, 1000), format_p(1 / 101, 100), format_p(1e-12)
    ('0.042', '< 0.001', '< 0.01', '< 0.001')
    """
    if math.isnan(p):
        return ""
    if p < SMALLEST_P:
        return f"< {SMALLEST_P}"
    if trials and p * (trials + 1) <= 1 + 1e-9:
        return f"< {1 / trials:.3g}"
    return f"{p:.3f}"


def p_phrase(p: float, trials: int | None = None) -> str:
    """A p-value within a sentence.

    >>> p_phrase(0.0423), p_phrase(1e-5)
    ('p = 0.042', 'p < 0.001')
    """
    text = format_p(p, trials)
    if not text:
        return "p undefined"
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def format_count(n: int) -> str:
    """A count with thousands set apart.

    >>> format_count(1204)
    '1,204'
    """
    return f"{n:,}"


def format_percent(share: float) -> str:
    """A share as a percentage without needless digits.

    >>> format_percent(0.95), format_percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * share:.10g} %"

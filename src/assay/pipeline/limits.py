# SPDX-License-Identifier: Apache-2.0
"""How much a score may drop, what it must reach, and what does not matter: as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from assay.core.errors import UsageError
from assay.core.names import unknown
from assay.pipeline.choosing import Chosen


@dataclass(frozen=True, slots=True)
class Drop:
    """An allowed drop: in the units of the score, or as a share of the baseline's score."""

    amount: float
    relative: bool = False

    def of(self, baseline: float) -> float:
        """The drop in the units of the score."""
        return self.amount * abs(baseline) if self.relative else self.amount


@dataclass(frozen=True, slots=True)
class Drops:
    """The allowed drop of each score: those named, and one for all others."""

    default: Drop = Drop(0.0)
    by_key: Mapping[str, Drop] = field(default_factory=dict)

    def of(self, key: str) -> Drop:
        """The drop allowed to this score."""
        return self.by_key.get(key, self.default)


@dataclass(frozen=True, slots=True)
class Margins:
    """Below which difference of each score two systems are as good as equal; None for no margin."""

    default: float | None = None
    by_key: Mapping[str, float] = field(default_factory=dict)

    def of(self, key: str) -> float | None:
        """The margin of this score, in its units."""
        return self.by_key.get(key, self.default)

    def stated(self, keys: Sequence[str]) -> float | dict[str, float] | None:
        """As documents hold it: one number for all, or those of each score that has one."""
        if not self.by_key:
            return self.default
        of_each = ((key, self.of(key)) for key in keys)
        return {key: margin for key, margin in of_each if margin is not None}

    def among(self, keys: Sequence[str]) -> Margins:
        """The margins that count where there are these scores alone."""
        return Margins(self.default, {k: m for k, m in self.by_key.items() if k in keys})


Margin: TypeAlias = float | str | Sequence[str] | Mapping[str, float] | Margins
"""How a margin may be given: one for all scores, `KEY=0.5` for one, several of these, or by key."""


def parse_drop(text: str | float) -> Drop:
    """`0.5` is in the units of the score, `2%` is 2 % of the baseline's score.

    >>> parse_drop("0.5"), parse_drop("2%")
    (Drop(amount=0.5, relative=False), Drop(amount=0.02, relative=True))
    """
    given = str(text).strip()
    relative = given.endswith("%")
    amount = _number(given.removesuffix("%"))
    if amount is None or amount < 0:
        raise UsageError(
            f"--max-drop {text} is no drop; write 0.5 (in units of the score), "
            "2% (of the baseline's score), or KEY=0.5 for one score"
        )
    return Drop(amount / 100 if relative else amount, relative)


def parse_drops(given: str | float | Sequence[str] | Mapping[str, str | float]) -> Drops:
    """One drop for all scores, or drops by key, or both as the command line has them.

    >>> parse_drops(["2%", "exact=0.01"]).of("exact")
    Drop(amount=0.01, relative=False)
    """
    if isinstance(given, Mapping):
        return Drops(by_key={key: parse_drop(drop) for key, drop in given.items()})
    items = [given] if isinstance(given, (str, int, float)) else list(given)
    default = Drop(0.0)
    by_key: dict[str, Drop] = {}
    for item in items:
        key, equals, drop = str(item).rpartition("=")
        if equals:
            by_key[key.strip()] = parse_drop(drop)
        else:
            default = parse_drop(item)
    return Drops(default, by_key)


def parse_margins(given: Margin | None) -> Margins:
    """One margin for all scores, or margins by key, or both as the command line has them.

    >>> parse_margins(["0.5", "exact=0.01"]).of("exact")
    0.01
    """
    if given is None or isinstance(given, Margins):
        return given or Margins()
    if isinstance(given, Mapping):
        given = [f"{key}={margin}" for key, margin in given.items()]
    items = [given] if isinstance(given, (str, int, float)) else list(given)
    default: float | None = None
    by_key: dict[str, float] = {}
    for item in items:
        key, equals, text = str(item).rpartition("=")
        margin = _number(text)
        if margin is None or not margin > 0:
            raise UsageError(
                f"--margin {item} must be above 0, in the units of the score: 0.5, or KEY=0.5 for "
                "one score"
            )
        if equals:
            by_key[key.strip()] = margin
        else:
            default = margin
    return Margins(default, by_key)


def parse_limits(option: str, items: Sequence[str]) -> dict[str, float]:
    """`KEY=VALUE` of an option such as `--min`.

    >>> parse_limits("--min", ["bleu=30", "exact=0.5"])
    {'bleu': 30.0, 'exact': 0.5}
    """
    found: dict[str, float] = {}
    for item in items:
        # A key may hold parameters, bleu(tokenize=char): the last sign of equality counts.
        key, _, value = item.rpartition("=")
        number = _number(value)
        if not key or number is None:
            raise UsageError(f"{option} {item} is not KEY=VALUE, such as {option} bleu=30")
        found[key.strip()] = number
    return found


def check_drops(drops: Drops, chosen: Sequence[Chosen], mode: str) -> None:
    """Refuse drops that no score has, or that cannot be meant."""
    keys = [c.key for c in chosen]
    for key in drops.by_key:
        if key not in keys:
            raise unknown("score in --max-drop", key, keys)
    rest = [c for c in chosen if c.key not in drops.by_key]
    if mode == "noninferior":
        for c in chosen:
            if drops.of(c.key).amount == 0:
                raise UsageError(
                    f"mode noninferior needs a --max-drop above 0 for {c.key}; "
                    "with 0 only a run that is proven better would pass"
                )
    default = drops.default
    if not default.relative and default.amount:
        _check_units(
            "--max-drop",
            default.amount,
            rest,
            ", choose scores with --metric, or use a share such as 2%",
        )
    for c in chosen:
        drop = drops.of(c.key)
        reach = c.score.high - c.score.low
        if not drop.relative and drop.amount >= reach and math.isfinite(reach):
            raise UsageError(
                f"--max-drop {drop.amount:g} allows everything: {c.key} lies between "
                f"{c.score.low:g} and {c.score.high:g}"
            )


def check_margins(margins: Margins, chosen: Sequence[Chosen]) -> None:
    """Refuse margins that no score has, or that cannot be meant."""
    for key in margins.by_key:
        if key not in (keys := [c.key for c in chosen]):
            raise unknown("score in --margin", key, keys)
    if margins.default is not None:
        rest = [c for c in chosen if c.key not in margins.by_key]
        _check_units("--margin", margins.default, rest)
    for c in chosen:
        margin, reach = margins.of(c.key), c.score.high - c.score.low
        if margin is not None and margin >= reach:
            raise UsageError(
                f"--margin {margin:g} makes all systems equivalent: {c.key} lies between "
                f"{c.score.low:g} and {c.score.high:g}"
            )


def _check_units(option: str, amount: float, chosen: Sequence[Chosen], instead: str = "") -> None:
    """Refuse one number for scores of different units: half a point, and half of all examples."""
    if len({c.shown.unit for c in chosen}) > 1:
        listed = ", ".join(f"{c.key}{f' ({c.shown.unit})' if c.shown.unit else ''}" for c in chosen)
        raise UsageError(
            f"{option} {amount:g} cannot mean the same for scores of different units ({listed}); "
            f"give KEY={amount:g} for each{instead}"
        )


def check_limits(
    minimum: Mapping[str, float], maximum: Mapping[str, float], chosen: Sequence[Chosen]
) -> None:
    """Refuse limits on scores that do not exist, or on the wrong side."""
    by_key = {c.key: c for c in chosen}
    for option, limits, higher in (("--min", minimum, True), ("--max", maximum, False)):
        for key, value in limits.items():
            if key not in by_key:
                raise unknown(f"score in {option}", key, by_key)
            if by_key[key].score.higher_is_better != higher:
                other, way = ("--max", "lower") if higher else ("--min", "higher")
                raise UsageError(
                    f"{key} is better when {way}; use {other} {key}={value:g} instead of {option}"
                )


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None

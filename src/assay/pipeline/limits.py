# SPDX-License-Identifier: Apache-2.0
"""How much a score may drop, and what it must reach: what a gate is told, as numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

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
    if not default.relative and default.amount and len({c.shown.unit for c in rest}) > 1:
        listed = ", ".join(f"{c.key}{f' ({c.shown.unit})' if c.shown.unit else ''}" for c in rest)
        raise UsageError(
            f"--max-drop {default.amount:g} cannot mean the same for scores of different units "
            f"({listed}); give KEY={default.amount:g} for each, choose scores with --metric, "
            "or use a share such as 2%"
        )
    for c in chosen:
        drop = drops.of(c.key)
        reach = c.score.high - c.score.low
        if not drop.relative and drop.amount >= reach and math.isfinite(reach):
            raise UsageError(
                f"--max-drop {drop.amount:g} allows everything: {c.key} lies between "
                f"{c.score.low:g} and {c.score.high:g}"
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

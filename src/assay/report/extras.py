# SPDX-License-Identifier: Apache-2.0
"""Pictures of what a task put into the `extra` of its document, as plain data.

| key | what it holds | what is drawn |
| --- | --- | --- |
| `curves` | name -> `points` (threshold, precision, recall), `best`, `average_precision` | curve |
| `top_k` | share found among the first 1, 2, 3, ... candidates | top-k curve |
| `confusion` | gold class -> predicted class -> count | confusion matrix |
| `units` | score key -> unit, where only the data tell it | axes of all charts |
| `tradeoff` | `latency` and `quality`: two keys of `scores` | quality against latency |
| `staircases` | list of `id`, `delays`, `source_length`, `units`, `unit` | delay staircase |
| `agreement` | `measures` (`name`, `value`, `interval`), `pairs` (`judges`, `value`, `n`) | both |
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.core.document import ResultDocument, ScoreEntry
from assay.report.charts import (
    Chart,
    Curve,
    Ranks,
    Staircase,
    Tradeoff,
    agreement_chart,
    classes_of,
    confusion_chart,
    curve_chart,
    judge_pairs_chart,
    rank_chart,
    staircase_chart,
    tradeoff_chart,
)
from assay.report.entries import interval_words, label, score_digits, score_entries

MOST_STAIRCASES = 3
MOST_CURVES = 6
COEFFICIENTS = {
    "percent": "share judged alike",
    "cohen": "Cohen's kappa",
    "cohen_linear": "Cohen's kappa, linear",
    "cohen_quadratic": "Cohen's kappa, quadratic",
    "fleiss": "Fleiss' kappa",
    "krippendorff": "Krippendorff's alpha",
    "gwet": "Gwet's AC1",
}
"""Names of coefficients as people know them; any other is shown as it is."""

Regions = Mapping[str, Sequence[tuple[float, float]]]
"""By system, the outline of its joint region."""


def tradeoff_pictures(documents: Sequence[ResultDocument], regions: Regions) -> Iterator[Chart]:
    """Quality against latency, where the task says which two scores these are."""
    asked = [d.extra["tradeoff"] for d in documents if d.extra.get("tradeoff")]
    if not asked:
        return
    latency, quality = asked[0]["latency"], asked[0]["quality"]
    entries = {e.key: e for e in drawn_entries(documents)}
    if latency not in entries or quality not in entries:
        return
    places = score_digits(entries.values(), documents, None)
    points = [
        Tradeoff(
            d.system,
            d.scores.get(latency, math.nan),
            d.scores.get(quality, math.nan),
            tuple((x, y) for x, y in regions.get(d.system, ())),
        )
        for d in documents
    ]
    yield tradeoff_chart(
        points,
        f"{quality} against {latency}: up and left is better",
        latency=f"{label(entries[latency])}, lower is better",
        quality=f"{label(entries[quality])}, higher is better",
        digits=(places[latency], places[quality]),
    )


def drawn_entries(documents: Sequence[ResultDocument]) -> list[ScoreEntry]:
    """The scores with the units of their axes, also those that the data alone tell."""
    known: dict[str, str] = {}
    for d in reversed(documents):
        known |= d.extra.get("units") or {}
    return [
        replace(entry, unit=entry.unit or known.get(entry.key, ""))
        for entry in score_entries(*documents)
    ]


def extra_pictures(documents: Sequence[ResultDocument]) -> Iterator[Chart]:
    """Curves, confusion, staircases and agreement of one system or several."""
    several = len(documents) > 1
    curves = [
        Curve.of(f"{d.system}: {name}" if several else name, data)
        for d in documents
        for name, data in d.extra.get("curves", {}).items()
    ]
    if curves:
        yield curve_chart(curves[:MOST_CURVES], "Precision and recall as confidence falls")
    ranks = [
        Ranks(d.system, tuple(map(_number, d.extra["top_k"])))
        for d in documents
        if d.extra.get("top_k")
    ]
    if ranks:
        yield rank_chart(ranks, "How often the right answer is among the first k candidates")
    confused = [d for d in documents if d.extra.get("confusion")]
    order = classes_of(d.extra["confusion"] for d in confused)
    for d in confused:
        of = f" by {d.system}" if several else ""
        title = f"Which class was taken for which{of}"
        yield confusion_chart(d.extra["confusion"], title, order)
    yield from _staircases(documents)
    for d in documents:
        yield from agreement_pictures(d.extra.get("agreement") or {})


def _staircases(documents: Sequence[ResultDocument]) -> Iterator[Chart]:
    """The same sentence of all systems in one chart."""
    by_id: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for d in documents:
        for data in d.extra.get("staircases", ()):
            by_id.setdefault(str(data["id"]), []).append((d.system, data))
    for name, found in list(by_id.items())[:MOST_STAIRCASES]:
        unit = found[0][1].get("unit", "words")
        stairs = [
            Staircase(
                system,
                tuple(map(_number, data["delays"])),
                float(data["source_length"]),
                tuple(data.get("units", ())),
            )
            for system, data in found
        ]
        yield staircase_chart(
            stairs,
            f"How much was read when each word of stream {name} was written",
            source=f"source read ({unit})",
            target="target written (words)",
        )


def agreement_pictures(data: Mapping[str, Any]) -> Iterator[Chart]:
    """Coefficients on one axis, and judges in pairs."""
    about = f" on the {data['question']}" if data.get("question") else ""
    measures = [
        (COEFFICIENTS.get(m["name"], m["name"]), _number(m["value"]), _bounds(m))
        for m in data.get("measures", ())
    ]
    called = interval_words({"ci": data.get("interval")})
    if measures:
        yield agreement_chart(measures, f"How far the judges agree{about}", interval=called)
    pairs = {
        (p["judges"][0], p["judges"][1]): (
            _number(p["value"]),
            int(p["n"]),
        )
        for p in data.get("pairs", ())
    }
    if pairs:
        yield judge_pairs_chart(pairs, f"Which judges agree with which{about}")


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _bounds(measure: Mapping[str, Any]) -> tuple[float, float] | None:
    given = measure.get("interval")
    if not given or None in given:
        return None
    return float(given[0]), float(given[1])

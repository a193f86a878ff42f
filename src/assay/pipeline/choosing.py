# SPDX-License-Identifier: Apache-2.0
"""Which scores of a run are meant by the names a user gave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from assay.core.document import MetricEntry, ScoreEntry
from assay.core.metric import Metric, Score
from assay.core.names import unknown
from assay.pipeline.measuring import Layout


@dataclass(frozen=True)
class Chosen:
    """One score of a layout, with the metric it belongs to."""

    metric: Metric
    entry: MetricEntry
    score: Score
    shown: ScoreEntry

    @property
    def key(self) -> str:
        """The key of the score in documents."""
        return self.shown.key


def chosen_scores(layout: Layout, wanted: Sequence[str] = ()) -> list[Chosen]:
    """The scores of these keys, or of these metrics; none wanted means all, in their order."""
    every = [
        Chosen(metric, entry, score, shown)
        for metric, entry in zip(layout.metrics, layout.entries, strict=True)
        for by_name in [{score.name: score for score in metric.scores}]
        for shown in entry.scores  # which may be fewer than the metric has
        for score in [by_name[shown.name]]
    ]
    if not wanted:
        return every
    found: dict[str, Chosen] = {}
    for name in wanted:
        meant = [c for c in every if c.key == name] or [
            c for c in every if name in (c.entry.text, c.metric.name, c.score.name)
        ]
        if not meant:
            raise unknown("score of these runs", name, [c.key for c in every])
        found.update({c.key: c for c in meant})
    return list(found.values())

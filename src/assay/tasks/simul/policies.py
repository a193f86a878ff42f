# SPDX-License-Identifier: Apache-2.0
"""What kind of policy a system has: how much it writes in time, takes back, and computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.tasks.simul.lagging import YetAnotherLagging
from assay.tasks.simul.streams import streams_of

DEGENERATE = 20.0
"""Above this DSPTV a policy writes a few early words for show."""


@dataclass(frozen=True)
class Simultaneity(YetAnotherLagging):
    """Whether a policy really translates while it listens.

    `SWF`: the share of units that were written before the source had ended, in percent. `EFSW`: the
    share that YAAL makes one expect. `DSPTV`: their difference; beyond 20 either way the policy is
    degenerate: a few early words, the rest after the end. Undefined without output.
    """

    name = "DSPTV"
    columns = ("early", "units", "left", "source")
    scores = (
        Score("SWF", high=100.0, unit="%"),
        Score("EFSW", high=np.inf, unit="%"),
        Score("DSPTV", higher_is_better=False, low=-np.inf, high=np.inf),
    )

    def measure(self, batch: Batch) -> Rows:
        """Units in time and all units; source behind YAAL and all of it, where there is a YAAL."""
        streams = streams_of(batch)
        times = self.times(streams)
        early = times.like((times.values < times.spread(streams.source)).astype(np.float64))
        lagging = self.values(streams, batch)
        has = np.isfinite(lagging)
        left = np.where(has, np.maximum(0.0, streams.source - np.where(has, lagging, 0.0)), 0.0)
        source = np.where(has, streams.source, 0.0)
        return np.column_stack([early.sums(), times.counts.astype(np.float64), left, source])

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Three shares in percent."""
        written = 100 * ratio(totals.early, totals.units)
        expected = 100 * ratio(totals.left, totals.source)
        return {"SWF": written, "EFSW": expected, "DSPTV": expected - written}


@dataclass(frozen=True)
class NormalisedErasure(Metric):
    """Units that were taken back, per unit of the final output; 0 for a system that never does.

    Lower is better. Undefined without output, or where the log does not say what was taken back.
    Arivazhagan et al., 2020.
    """

    name = "NormalisedErasure"
    columns = ("deleted", "units")
    scores = (Score("NormalisedErasure", higher_is_better=False, high=np.inf),)
    aliases: ClassVar[Mapping[str, Mapping[str, str]]] = {"NormalizedErasure": {}, "NE": {}}
    perfect = False

    def measure(self, batch: Batch) -> Rows:
        """Units taken back, and final units."""
        streams = streams_of(batch)
        known = ~np.isnan(streams.deleted)
        counts = streams.delays.counts
        return np.column_stack(
            [np.where(known, streams.deleted, 0.0), np.where(known, counts, 0.0)]
        )

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The ratio of both."""
        return {"NormalisedErasure": ratio(totals.deleted, totals.units)}


@dataclass(frozen=True)
class ComputingFactor(Metric):
    """Time of computation per time of source audio; above 1 a system cannot keep up.

    Lower is better. Undefined where the log does not have the times, or the source is text.
    """

    name = "RTF@simulstream"
    columns = ("computing", "source")
    scores = (Score("RTF@simulstream", higher_is_better=False, high=np.inf),)
    perfect = False

    def measure(self, batch: Batch) -> Rows:
        """Milliseconds of computation, and of source."""
        streams = streams_of(batch)
        known = ~np.isnan(streams.computing) & ~streams.of_text & ~np.isnan(streams.source)
        return np.column_stack(
            [np.where(known, streams.computing, 0.0), np.where(known, streams.source, 0.0)]
        )

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The ratio of both."""
        return {"RTF@simulstream": ratio(totals.computing, totals.source)}


CLASSES: tuple[type[Metric], ...] = (Simultaneity, NormalisedErasure, ComputingFactor)

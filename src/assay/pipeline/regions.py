# SPDX-License-Identifier: Apache-2.0
"""Where two scores of a run may stand together: joint regions from resamples of both."""

from __future__ import annotations

from collections.abc import Sequence

from assay.aggregate.asked import RESAMPLES, SEED
from assay.aggregate.region import joint_region
from assay.aggregate.resample import bootstrap_scores
from assay.aggregate.totals import Codes
from assay.core.names import unknown
from assay.pipeline.choosing import chosen_scores
from assay.pipeline.result import Result
from assay.pipeline.slicing import Grouping

Outlines = dict[str, list[tuple[float, float]]]


def joint_regions(
    runs: Sequence[Result], *, level: float = 0.95, resamples: int = RESAMPLES, seed: int = SEED
) -> Outlines:
    """By system, the outline of the region of the two scores that its task draws together.

    Runs whose task names no such pair (`extra["tradeoff"]`) are left out.
    """
    found: Outlines = {}
    for run in runs:
        pair = run.document.extra.get("tradeoff")
        if not pair or run.rows is None:
            continue
        found[run.system] = region_of(
            run, pair["latency"], pair["quality"], level=level, resamples=resamples, seed=seed
        )
    return found


def region_of(
    run: Result,
    first: str,
    second: str,
    *,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> list[tuple[float, float]]:
    """The outline for two scores of a run, `first` across and `second` upwards."""
    assert run.rows is not None, "resampling needs rows"
    across, up = (chosen_scores(run.layout, [key])[0] for key in (first, second))
    (scores,) = bootstrap_scores(
        run.layout.metrics,
        [run.rows],
        resamples=resamples,
        seed=seed,
        clusters=_clusters(run),
    )
    places = {entry.text: i for i, entry in enumerate(run.layout.entries)}
    values = [scores[places[c.entry.text]][c.score.name] for c in (across, up)]
    return [(float(x), float(y)) for x, y in joint_region(*values, level=level)]


def _clusters(run: Result) -> Codes | None:
    column = run.document.statistics.get("cluster")
    if column is None:
        return None
    grouping = Grouping(column)
    for example in run.iter_examples():
        if column not in example.slices:
            raise unknown("column", column, example.slices)
        grouping.add([example.slices[column]])
    return grouping.codes

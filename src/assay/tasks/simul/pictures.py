# SPDX-License-Identifier: Apache-2.0
"""`assay simul plot`: quality against latency of several runs, or the delays of one stream."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.aggregate.asked import RESAMPLES, SEED
from assay.aggregate.region import joint_region
from assay.aggregate.resample import bootstrap_scores
from assay.core.errors import UsageError
from assay.core.files import atomic_file
from assay.report.charts import (
    Chart,
    Staircase,
    Tradeoff,
    pareto_front,
    staircase_chart,
    tradeoff_chart,
)
from assay.tasks.simul.streams import within_source
from assay.tasks.simul.tradeoff import Run, axes_of


def tradeoff_picture(
    runs: Sequence[Run],
    *,
    quality: str | None = None,
    latency: str | None = None,
    level: float = 0.95,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> tuple[Chart, str]:
    """A point for each run, its joint region, and the Pareto front; and the same in words."""
    axes = axes_of(runs, quality, latency)
    points = []
    for run, rows in zip(runs, axes.rows, strict=True):
        (scores,) = bootstrap_scores(axes.metrics, [rows], resamples=resamples, seed=seed)
        up, across = (scores[i][name] for i, name in enumerate(axes.names))
        outline = joint_region(across, up, level=level)
        points.append(
            Tradeoff(
                run.document.system,
                run.document.scores[axes.latency],
                run.document.scores[axes.quality],
                tuple((float(x), float(y)) for x, y in outline),
            )
        )
    unit = latency_unit(runs[0], axes.latency)
    chart = tradeoff_chart(
        points,
        f"{axes.quality} against {axes.latency}: up and left is better",
        latency=f"{axes.latency} ({unit}), lower is better",
        quality=f"{axes.quality}, higher is better",
        region=f"{level:.0%} joint region".replace("%", " %"),
    )
    front = ", ".join(p.label for p in pareto_front(points)) or "none"
    return chart, f"on the Pareto front of {axes.quality} and {axes.latency}: {front}"


def latency_unit(run: Run, key: str) -> str:
    """What a latency is measured in."""
    if key.startswith("StreamLAAL"):
        return "s"
    return "words" if run.document.extra.get("log", {}).get("source_type") == "text" else "ms"


def staircase_picture(runs: Sequence[Any], sentence: str) -> Chart:
    """How much each run had read when it wrote each unit of one stream."""
    stairs = []
    for run in runs:
        for example in run.iter_examples():
            if example.id == sentence:
                held = example.prediction
                words = held["text"].split()
                fits = len(words) == len(held["delays"])
                length = float(held["source_length"])
                is_marked = held.get("source_type") == "text" and held.get("end") is not None
                stairs.append(
                    Staircase(
                        run.document.system,
                        tuple(within_source(held["delays"], length, is_marked=is_marked)),
                        length,
                        tuple(words) if fits else (),
                    )
                )
                break
        else:
            raise UsageError(
                f"{run.document.system} has no stream '{sentence}'; ids are in examples.jsonl of "
                "the run folder"
            )
    unit = latency_unit(runs[0], "")
    return staircase_chart(
        stairs,
        f"How much was read when each unit of stream {sentence} was written",
        source=f"source read ({unit})",
        target="target written (units)",
    )


def write_picture(chart: Chart, output: str) -> Path:
    """The picture as a file of its own."""
    path = Path(output)
    if path.suffix.lower() != ".svg":
        raise UsageError(f"-o {output} must end in .svg; assay report makes whole pages")
    with atomic_file(path) as aside:
        aside.write_text(chart.file(), encoding="utf-8")
    return path

# SPDX-License-Identifier: Apache-2.0
"""What `evaluate` refuses: numbers nobody can mean, metrics that are none, outputs over inputs."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from assay.aggregate.asked import check_resampling
from assay.core.document import InputFile
from assay.core.errors import OutputError, UsageError
from assay.core.metric import Metric
from assay.core.names import unknown
from assay.core.task import Missing, Task

MOST_JOBS = 1024
"""Of one machine or cluster; who asks for more has mistyped, and would wait for ever."""


def check_numbers(ci: float, resamples: int, seed: int, jobs: int, missing: str | None) -> None:
    """Refuse numbers and words that nobody can mean, before any work is done."""
    if missing is not None and missing not in get_args(Missing):
        raise unknown("way to treat missing predictions", missing, get_args(Missing))
    if not 0 <= ci < 1:
        raise UsageError(
            f"--ci {ci} must be between 0 and 1 (0.95 for 95 %), or 0 for no intervals"
        )
    check_resampling(resamples, seed)
    if jobs < 1:
        raise UsageError(f"--jobs {jobs} must be at least 1")
    if jobs > MOST_JOBS:
        raise UsageError(
            f"--jobs {jobs:,} is too many; more than there are processors ({os.cpu_count()} here) "
            f"bring nothing, and at most {MOST_JOBS:,} are started"
        )


def check_own(metrics: Sequence[object], task: Task, save: str | Path | None) -> None:
    """Refuse what is no metric, and to store what could not be read back."""
    for metric in metrics:
        if not isinstance(metric, Metric):
            raise UsageError(
                f"{metric!r} is no metric; give a name, such as 'bleu', or an instance of a "
                "subclass of assay.Metric"
            )
        if save is not None:
            try:
                known = task.metric(metric.text) == metric
            except UsageError:
                known = False
            if not known:
                raise UsageError(
                    f"the metric {metric.text} is not registered, so a saved run could not be read "
                    "again; make it a plug-in (entry point assay.metrics), or leave out save"
                )


def spare_inputs(
    inputs: Sequence[InputFile], save: str | Path | None, per_example: str | Path | None
) -> None:
    """Refuse to write over what was read; a pattern may have matched an earlier output."""
    for file in inputs:
        path = Path(file.path).resolve()
        if per_example is not None and Path(per_example).resolve() == path:
            raise OutputError(
                f"{file.path} is an input of this run; choose another name for --per-example"
            )
        if save is not None and path.is_relative_to(Path(save).resolve()):
            raise OutputError(
                f"{file.path} is an input of this run and lies in {save}, which would be replaced; "
                "choose another folder for --save"
            )

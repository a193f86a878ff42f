# SPDX-License-Identifier: Apache-2.0
"""The scores of a run as soon as it has ended: what `assay simul score` says of its log."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.aggregate.totals import scores_of
from assay.tasks.simul.inputs import open_examples
from assay.tasks.simul.outcome import own_name
from assay.tasks.simul.registry import named_metrics
from assay.tasks.simul.settings import Settings


def check_measures(options: Mapping[str, Any]) -> None:
    """Refuse metrics that do not exist before a run, not after it."""
    settings = Settings.of(options)
    for name in (*(settings.quality_metrics or ()), *(settings.latency_metrics or ())):
        named_metrics(name, "short", settings)


def measured(
    log: Path, options: Mapping[str, Any]
) -> tuple[dict[str, float | None], Sequence[str]]:
    """The scores of an event log by the names of the tool they come from, and what to say of it.

    None where a score is undefined.
    """
    examples = open_examples(log, None, "skip", **options)
    assert examples.choose is not None, "a log says what it is measured by"
    metrics = examples.choose(())
    batches = list(examples.batches)
    found: dict[str, float | None] = {}
    for metric in metrics:
        values = scores_of(metric, np.vstack([metric.measure(batch) for batch in batches]))
        found.update({own_name(k): None if math.isnan(v) else v for k, v in values.items()})
    return found, examples.intake.warnings

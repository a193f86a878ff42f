# SPDX-License-Identifier: Apache-2.0
"""What scorers that were written for SimulEval 1.1 are given: one stream, with its attributes."""

from __future__ import annotations

import json
from typing import Any

from assay.core.text import Texts
from assay.tasks.simul.units import unit_counts


class Instance:
    """One stream.

    `delays` and `elapsed` are the times of its units without and with computation, `intervals` the
    start and the length of each piece of spoken output. `metrics` holds what scorers found of it.
    """

    index: Any = None
    prediction: str = ""
    prediction_length: float | None = None
    reference: str | None = None
    source: Any = None
    source_length: float | None = None

    def __init__(self, latency_unit: str = "word") -> None:
        self.latency_unit = latency_unit
        self.target_spm_model: Any = None
        self.finish_prediction = True
        self.delays: list[float] = []
        self.elapsed: list[float] = []
        self.intervals: list[list[float]] = []
        self.metrics: dict[str, float] = {}

    def set_target_spm_model(self, model: Any) -> None:
        """What the pieces of references are found by, where they are the unit."""
        self.target_spm_model = model

    @property
    def reference_length(self) -> int:
        """Units of the reference, as SimulEval counts them."""
        text = self.reference or ""
        if self.latency_unit == "spm" and self.target_spm_model is not None:
            return len(self.target_spm_model.encode(text.rstrip("\n"), out_type=str))
        unit = "char" if self.latency_unit == "char" else "word"
        return int(unit_counts(Texts.of([text]), unit, "simuleval")[0])


class LogInstance(Instance):
    """A line of an `instances.log`, its keys as attributes."""

    def __init__(self, info: str, latency_unit: str = "word") -> None:
        super().__init__(latency_unit)
        self.info: dict[str, Any] = json.loads(info.strip())
        for name, value in self.info.items():
            setattr(self, name, value)

# SPDX-License-Identifier: Apache-2.0
"""Simultaneous translation: latency and quality of live runs and of their logs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.core.task import Examples, Inspection, Missing, Outcome, Task
from assay.tasks.simul.live.verbs import live_verbs
from assay.tasks.simul.options import INPUT, LONG, MEASURES, OUTPUT, SCORING
from assay.tasks.simul.verbs import VERBS

if TYPE_CHECKING:
    from pathlib import Path

    from assay.core.batch import Batch, Pair
    from assay.core.document import ResultDocument
    from assay.core.metric import Metric


class SimulTask(Task):
    """Streams of text or speech, translated while they come in."""

    name = "simul"
    verbs = (*live_verbs(MEASURES), *VERBS)
    derives = ("length", "source_length")
    options = (*INPUT, *MEASURES, *SCORING, *LONG, *OUTPUT)

    def examples(
        self, predictions: Any, gold: Any = None, *, missing: Missing, **options: Any
    ) -> Examples:
        """Read the log, and pair its streams with references."""
        from assay.tasks.simul.inputs import open_examples

        return open_examples(predictions, gold, missing, **options)

    def samples(self) -> Iterable[tuple[Metric, Sequence[Pair]]]:
        """Every metric, with streams of all kinds."""
        from assay.tasks.simul.samples import samples

        return samples()

    def main_score(self, document: ResultDocument) -> str | None:
        """Quality, where there is one."""
        return next((k for k in ("BLEU", "chrF") if k in document.scores), None)

    def derive(self, column: str, batch: Batch) -> Sequence[str] | None:
        """`length`: words of the reference, in steps of ten; `source_length`: steps of 2 s or 10
        words."""
        from assay.tasks.simul.inputs import derived

        return derived(column, batch)

    def systems(self, predictions: Any, **options: Any) -> Mapping[str, Any] | None:
        """The logs in a folder of many, by the names of their folders."""
        from assay.tasks.simul.formats import logs_below

        return logs_below(predictions)

    def wants_rows(self, **options: Any) -> bool:
        """Files hold each stream."""
        return bool(options.get("output"))

    def extra(self, outcome: Outcome, **options: Any) -> Mapping[str, Any]:
        """Counts of undefined values, the regime, data for pictures."""
        from assay.tasks.simul.outcome import extra

        return extra(outcome, **options)

    def details(self, document: ResultDocument, **options: Any) -> str | None:
        """Undefined values, the regime, whether the policy is degenerate."""
        from assay.tasks.simul.outcome import details

        return details(document)

    def finish(self, outcome: Outcome, **options: Any) -> Mapping[str, Path]:
        """Write the files of the tool that the log comes from."""
        from assay.tasks.simul.outcome import write_files

        return write_files(outcome, **options)

    def inspect(self, path: str) -> Inspection | None:
        """What is odd in a log."""
        from assay.tasks.simul.doctor import inspect

        return inspect(path)

    def shown(self, value: Any) -> Any:
        """The text of a stream, without its times."""
        return value.get("text", "") if isinstance(value, dict) else value

    def metrics(self, names: Sequence[str], **options: Any) -> list[Metric]:
        """The metrics by text."""
        from assay.tasks.simul.registry import named_metrics
        from assay.tasks.simul.settings import Settings

        settings = Settings.of(options)
        return [one for name in names for one in named_metrics(name, "short", settings)]

    def metric(self, text: str) -> Metric:
        """The metric whose text this is."""
        from assay.tasks.simul.registry import metric

        return metric(text)


TASK = SimulTask()

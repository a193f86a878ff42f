# SPDX-License-Identifier: Apache-2.0
"""Text against one or more references: BLEU, chrF, TER, WER, exact match, token F1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from assay.core.names import unknown
from assay.core.options import Option
from assay.core.task import Examples, Missing, Task

if TYPE_CHECKING:
    from assay.align import Align
    from assay.core.batch import Batch
    from assay.core.metric import Metric
    from assay.read import Format


class TextTask(Task):
    """Line-aligned or JSONL predictions against one or more references."""

    name = "text"
    default_metrics = ("bleu", "chrf", "ter")
    options = (
        Option(
            "predictions",
            ("--predictions", "-p"),
            "Predictions: lines, .csv, .tsv, .jsonl or .parquet, also packed (.gz, .zst); - is "
            "standard input. Quoted wildcards name several files, read one after the other.",
            kind="path",
            required=True,
            metavar="FILE",
        ),
        Option(
            "gold",
            ("--gold", "-g"),
            "Gold, in the same formats; give it again for further references. Not needed when the "
            "predictions file is JSONL or TSV with a gold column.",
            kind="path",
            multiple=True,
            metavar="FILE",
        ),
        Option(
            "align",
            ("--align",),
            "Pair by id, by order, or by id where both sides have ids (auto).",
            kind="choice",
            choices=("auto", "order", "id"),
            default="auto",
        ),
        Option(
            "input_format",
            ("--input-format",),
            "Read the inputs as this format, whatever their names end in.",
            kind="choice",
            choices=("lines", "csv", "tsv", "jsonl", "parquet"),
        ),
        *(
            Option(
                f"{name}_column",
                (f"--{name}-column",),
                f"What the files call the column '{name}'; a dot leads into an object.",
                metavar="NAME",
            )
            for name in ("id", "prediction", "gold")
        ),
    )

    def examples(
        self,
        predictions: Any,
        gold: Any,
        *,
        missing: Missing,
        align: Align = "auto",
        input_format: Format | None = None,
        id_column: str | None = None,
        prediction_column: str | None = None,
        gold_column: str | None = None,
        **options: Any,
    ) -> Examples:
        """Read both sides and pair them."""
        if options:
            raise unknown("option", next(iter(options)), [o.name for o in self.options])
        from assay.read import Naming
        from assay.tasks.text.inputs import open_examples

        called = {"id": id_column, "prediction": prediction_column, "gold": gold_column}
        naming = Naming({ours: theirs for ours, theirs in called.items() if theirs is not None})
        return open_examples(predictions, gold, missing, align, input_format, naming)

    def metrics(self, names: Sequence[str], **options: Any) -> list[Metric]:
        """Metrics of the text families, by text."""
        from assay import metrics

        return [metrics.load(name) for name in names or self.default_metrics]

    def metric(self, text: str) -> Metric:
        """The metric whose text this is."""
        from assay import metrics

        return metrics.load(text)

    def derive(self, column: str, batch: Batch) -> Sequence[str] | None:
        """`length`: words of the first reference, in steps of ten."""
        if column != "length":
            return None
        from assay.tasks.text.inputs import length_bands

        return length_bands(batch)


TASK = TextTask()

# SPDX-License-Identifier: Apache-2.0
"""Metadata extracted from papers: titles, authors, years, venues against gold labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from assay.core.errors import UsageError
from assay.core.options import Option, Verb
from assay.core.task import Examples, Inspection, Missing, Outcome, Task

if TYPE_CHECKING:
    from assay.core.batch import Batch, Pair
    from assay.core.document import ResultDocument
    from assay.core.metric import Metric


def _normalise(what: Sequence[str]) -> str:
    from assay.tasks.metadata.convert import normalise_files

    return normalise_files(what)


class MetadataTask(Task):
    """Values of fields, paper by paper, against gold values."""

    name = "metadata"
    missing: ClassVar[Missing] = "wrong"
    options = (
        Option(
            "predictions",
            ("--input", "-i"),
            "Predictions: a folder of label files (one per field; id and values by TABs), GROBID "
            "TEI, JATS or science-parse JSON; one label file (- is standard input); or .jsonl.",
            kind="path",
            metavar="DIR",
        ),
        Option(
            "gold",
            ("--truth", "-t"),
            "Gold, in the same formats.",
            kind="path",
            required=True,
            metavar="DIR",
        ),
        Option(
            "output",
            ("--output", "-o"),
            "Write PR.txt and details/ to this folder.",
            kind="path",
            default="output",
            metavar="DIR",
        ),
        Option(
            "duplicates",
            ("--duplicates",),
            "A value that one paper lists twice counts once (set, the default), as often as both "
            "sides have it (multiset), or as in meta-eval, where recall can pass 1 (reference).",
            kind="choice",
            choices=("set", "multiset", "reference"),
        ),
        Option(
            "order",
            ("--order",),
            "Papers without prediction in the details files: in gold order (the default), or in "
            "that of meta-eval (reference).",
            kind="choice",
            choices=("gold", "reference"),
        ),
        Option(
            "duplicate_ids",
            ("--duplicate-ids",),
            "An id on two lines: in gold the last line counts and each predicted line is a paper "
            "(reference, the default), all its values are put together (merge), or it is an error.",
            kind="choice",
            choices=("reference", "merge", "error"),
        ),
        Option(
            "empty_values",
            ("--empty-values",),
            "An empty value between two TABs is a value (keep, the default) or is not.",
            kind="choice",
            choices=("keep", "drop"),
        ),
        Option(
            "match",
            ("--match",),
            "When a value of this field is right: title=soft. RULE is a comparison (exact, "
            "title, venue, author, lastname, lastname-initial, careful-lastname, "
            "careful-initial, nonempty, strict, soft, levenshtein, ratcliff_obershelp; the last "
            "two also with @0.9), or SHAPE:COMPARISON, where SHAPE is values, string, first, "
            "list, ulist, set, partial_list, partial_ulist or partial_set. Repeatable.",
            multiple=True,
            metavar="FIELD=RULE",
        ),
        Option(
            "derive",
            ("--derive",),
            "Make a field from another where a side lacks it, in a normal form if one is given: "
            "lastNames=authors:lastname. titleNormalized=title and the other names of old label "
            "files imply their form. Repeatable.",
            multiple=True,
            metavar="NEW=FIELD[:FORM]",
        ),
        Option(
            "fields",
            ("--field",),
            "Score this field only; also says what a single file holds. Repeatable.",
            multiple=True,
            metavar="NAME",
        ),
        Option(
            "require_all",
            ("--require-all",),
            "Gold fields that nothing was predicted for count as missed.",
            kind="flag",
        ),
        Option(
            "scored",
            ("--scored",),
            "Predictions with confidence instead of --input: id, value, confidence by TABs, or "
            ".jsonl; a file, or a folder of such files. Gives curves.",
            kind="path",
            metavar="FILE",
        ),
        Option(
            "bins",
            ("--bins",),
            "With --scored: so many evenly spaced thresholds where there are more predictions.",
            kind="integer",
        ),
        Option(
            "at_recall",
            ("--at-recall",),
            "With --scored: say the precision at this recall. Repeatable; default 0.5 and 0.8.",
            kind="number",
            multiple=True,
        ),
        Option(
            "input_format",
            ("--input-format",),
            "Read the predictions as this format; default: by the names of the files.",
            kind="choice",
            choices=("labels", "jsonl", "tei", "jats", "science-parse"),
        ),
        Option(
            "truth_format",
            ("--truth-format",),
            "Read the gold as this format; default: by the names of the files.",
            kind="choice",
            choices=("labels", "jsonl", "tei", "jats", "science-parse"),
        ),
        Option(
            "compat",
            ("--compat",),
            "Numbers, files and console of that program, quirk for quirk.",
            kind="choice",
            choices=("meta-eval",),
        ),
    )

    verbs = (
        Verb(
            "normalise",
            "Rewrite the values of a label file in a normal form.\n\n\b\n"
            "assay metadata normalise FORM IN [OUT]\n"
            "assay metadata normalise titles IN OUT\n"
            "assay metadata normalise authors IN LASTNAMES NORMALISED\n\n"
            "FORM is title, venue, author, lastname, lastname-initial, careful-lastname, "
            "careful-initial, nonempty, fullname-exact or lastname-exact. IN may be - for standard "
            "input; without OUT the result is printed.",
            run=_normalise,
            arguments=("what",),
        ),
    )

    def examples(
        self, predictions: Any, gold: Any, *, missing: Missing, **options: Any
    ) -> Examples:
        """Read both sides and join them by field and id."""
        from assay.tasks.metadata.curve import RECALLS
        from assay.tasks.metadata.join import open_examples, open_scored
        from assay.tasks.metadata.settings import Settings

        settings, scored = Settings.of(options), options.get("scored")
        if scored is None:
            return open_examples(predictions, gold, missing, settings)
        if predictions is not None:
            raise UsageError("--input and --scored are two ways to give predictions; give one")
        recalls = options.get("at_recall") or RECALLS
        return open_scored(scored, gold, missing, settings, options.get("bins"), recalls)

    def metrics(self, names: Sequence[str], **options: Any) -> list[Metric]:
        """The metrics of these texts; what is measured follows from the fields."""
        return [self.metric(name) for name in names]

    def metric(self, text: str) -> Metric:
        """The metric whose text this is."""
        from assay.core.metric import build
        from assay.tasks.metadata.metric import FieldMetric

        return build(text, [FieldMetric])

    def wants_rows(self, **options: Any) -> bool:
        """Files, and counting that can pass 1, need a second look at papers."""
        counting = options.get("duplicates")
        passes = counting == "reference" or (counting is None and options.get("compat") is not None)
        return options.get("output") is not None or passes

    def derive(self, column: str, batch: Batch) -> Sequence[str] | None:
        """The gold values of a field: `--slice year`."""
        from assay.tasks.metadata.papers import gold_column

        return gold_column(batch, column)

    def shows_intervals(self, **options: Any) -> bool:
        """The old program's console has no intervals."""
        return options.get("compat") is None

    def samples(self) -> Iterable[tuple[Metric, Sequence[Pair]]]:
        """The metric in its three ways of counting and with rules, on papers that matter to it."""
        from assay.tasks.metadata.metric import samples

        return samples()

    def explain(
        self, batch: Batch, metrics: Sequence[Metric]
    ) -> Sequence[Mapping[str, Any]] | None:
        """What is wrong with each paper, field by field, and why."""
        from assay.tasks.metadata.reasons import explanations

        metric: Any = metrics[0]
        return explanations(batch, metric)

    def render(self, document: ResultDocument, **options: Any) -> str | None:
        """The documented table, and more below it."""
        from assay.tasks.metadata.console import render

        compat = options.get("compat") is not None
        return render(document, options.get("digits"), options.get("output"), compat)

    def main_score(self, document: ResultDocument) -> str | None:
        """The mean F1 over the fields."""
        return "macro_f1"

    def extra(self, outcome: Outcome, **options: Any) -> Mapping[str, Any]:
        """Precision and recall as in `PR.txt`, the most frequent errors and the worst papers."""
        if not outcome.batches or outcome.rows is None:
            return {}
        from assay.tasks.metadata.files import field_scores
        from assay.tasks.metadata.reasons import frequent_errors, looked_at, worst_papers

        metric: Any = outcome.metrics[0]
        found = field_scores(outcome.batches, metric, outcome.document.scores)
        return {
            "pr": {name: [pair.precision, pair.recall] for name, pair in found.items()},
            "errors": frequent_errors(outcome.batches, outcome.rows, metric),
            "errors_in": looked_at(outcome.rows, metric),
            "worst": worst_papers(outcome.batches, outcome.rows, metric),
        }

    def remarks(self, outcome: Outcome, **options: Any) -> Sequence[str]:
        """That recall has passed 1, wherever a number may show it."""
        from assay.tasks.metadata.metric import above_one

        metric: Any = outcome.metrics[0]
        found = above_one(outcome.document, metric, outcome.rows)
        return [] if found is None else [found]

    def check_outputs(self, **options: Any) -> None:
        """Whether the folder of `PR.txt` and the details can be written."""
        if options.get("output") is None:
            return
        from assay.core.files import check_file, check_folder

        output = Path(options["output"])
        check_folder(output)
        check_file(output / "PR.txt")
        check_folder(output / "details")

    def inspect(self, path: str) -> Inspection | None:
        """What is odd in a label file, with line numbers."""
        from assay.tasks.metadata.doctor import inspect

        return inspect(path)

    def finish(self, outcome: Outcome, **options: Any) -> Mapping[str, Path]:
        """Write `PR.txt` and the details."""
        output = options.get("output")
        if output is None:
            return {}
        from assay.tasks.metadata.files import field_scores, write_curves, write_files
        from assay.tasks.metadata.settings import Settings

        metric: Any = outcome.metrics[0]
        scores = field_scores(outcome.batches, metric, outcome.document.scores)
        order = Settings.of(options).order
        write_files(Path(output), outcome.batches, metric, scores, order)
        written = {"precision and recall": Path(output) / "PR.txt"}
        written.update(write_curves(Path(output), outcome.document.extra.get("curves", {})))
        return written


TASK = MetadataTask()

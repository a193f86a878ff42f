# SPDX-License-Identifier: Apache-2.0
"""Code: names, comments, completions, bug classes and repairs, scored as PLUR scores them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.core.options import Option, Verb
from assay.core.task import Examples, Missing, Outcome, Task

if TYPE_CHECKING:
    from pathlib import Path

    from assay.aggregate.interval import Interval
    from assay.core.batch import Batch, Pair
    from assay.core.document import ResultDocument
    from assay.core.metric import Metric, Rows


def _datasets() -> str:
    from assay.tasks.code.listing import datasets_text

    return datasets_text()


class CodeTask(Task):
    """Lines of predictions against lines of gold, for 18 data sets of code."""

    name = "code"
    own_intervals = ("plur",)
    own_format = "plur"
    derives = ("class", "length", "first_token", "transformation", "candidates")
    verbs = (Verb("datasets", "List the data sets, what they take and what is scored.", _datasets),)
    options = (
        Option(
            "dataset_name",
            ("--dataset_name",),
            "The data set, with or without _dataset at its end: code2seq, convattn, ogb_code, "
            "funcom, ...; 'assay code datasets' lists them.",
            default="code2seq_dataset",
            metavar="NAME",
        ),
        Option(
            "predictions",
            ("--prediction_file", "--prediction_file_pattern", "--predictions", "-p"),
            "Predictions, one line per example, candidates separated by tabs; quoted wildcards "
            "name shards, read in order of their names.",
            kind="path",
            required=True,
            metavar="FILE",
        ),
        Option(
            "gold",
            ("--target_file", "--target_file_pattern", "--gold", "-g"),
            "Gold, one line per example, in the same order.",
            kind="path",
            metavar="FILE",
        ),
        Option(
            "top_n_beam_search",
            ("--top_n_beam_search",),
            "How many ranks of candidates funcom scores, each as a corpus of its own; the best one "
            "counts. Other data sets look at one candidate or at all.",
            kind="integer",
            default=1,
        ),
        Option(
            "cut_beams",
            ("--cut-beams",),
            "Keep the first N candidates of each line and forget the others; for all data sets.",
            kind="integer",
            metavar="N",
        ),
        Option(
            "cubert_vmr_raw_test_total_examples",
            ("--cubert_vmr_raw_test_total_examples",),
            "Variable-misuse repair: examples of the test set before any were dropped.",
            kind="integer",
            default=0,
        ),
        Option(
            "cubert_vmr_raw_test_total_buggy_examples",
            ("--cubert_vmr_raw_test_total_buggy_examples",),
            "Variable-misuse repair: buggy examples before any were dropped.",
            kind="integer",
            default=0,
        ),
        Option(
            "rules",
            ("--rules",),
            "Count names as PLUR does, as the official OGB scorer does, or as the code2seq project "
            "does.",
            kind="choice",
            choices=("plur", "ogb-official", "code2seq-original"),
            default="plur",
        ),
        Option(
            "line_breaks",
            ("--line-breaks",),
            "Where lines end: at everything that Unicode calls a line break, or at line feeds.",
            kind="choice",
            choices=("unicode", "lf"),
            default="unicode",
        ),
        Option(
            "input_format",
            ("--input-format",),
            "Read lines, or records with ids and further columns.",
            kind="choice",
            choices=("lines", "csv", "tsv", "jsonl", "parquet"),
            default="lines",
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
            "metrics",
            ("--metric", "-m"),
            "A metric besides those of the data set: topk (ranks of exact matches), "
            "'bleu(tokenize=none)', chrf, ... Repeatable.",
            multiple=True,
        ),
        Option(
            "slices",
            ("--slice",),
            "Also score by class, length (of the gold, in tokens), first_token, transformation, "
            "candidates (how many there are), or a column of the files. Repeatable.",
            multiple=True,
            metavar="COLUMN",
        ),
        Option(
            "interval",
            ("--interval",),
            "How intervals are made: Wilson for plain shares and bootstrap for the rest (auto), "
            "bootstrap for all, Poisson weights in one pass, or PLUR's resamples and one-sided "
            "bounds. PLUR's lines show them for every choice but auto; tables always do.",
            kind="choice",
            choices=("auto", "bootstrap", "poisson", "plur"),
            default="auto",
        ),
        Option(
            "plur_levels",
            ("--plur-levels",),
            "Levels that --interval plur prints, in percent.",
            default="90,95,99",
        ),
        Option(
            "errors",
            ("--errors",),
            "Write the examples that are not right, worst first, to this .jsonl or .tsv file.",
            kind="path",
            metavar="FILE",
        ),
        Option(
            "details",
            ("--details",),
            "Also print the confusion matrix of classes, or the top-k curve of candidates.",
            kind="flag",
        ),
        Option(
            "format",
            ("--format",),
            "Form of the printed result: PLUR's lines, or tables with intervals.",
            kind="choice",
            choices=("plur", "table", "markdown", "latex", "csv"),
            default="plur",
        ),
        Option(
            "compat",
            ("--compat",),
            "Print PLUR's lines and no other, and take a pattern that no file matches for no line.",
            kind="choice",
            choices=("plur",),
        ),
    )

    def examples(
        self, predictions: Any, gold: Any, *, missing: Missing, **options: Any
    ) -> Examples:
        """Read both sides, check them for the data set, and pair them."""
        from assay.tasks.code.inputs import open_examples
        from assay.tasks.code.settings import Settings

        settings = Settings.of(options)
        return open_examples(settings, predictions, gold, missing)

    def metrics(self, names: Sequence[str], **options: Any) -> list[Metric]:
        """The metrics of the data set, and behind them those that were asked for."""
        from assay.tasks.code.registry import chosen
        from assay.tasks.code.settings import Settings

        settings = Settings.of(options)
        return chosen(settings.dataset, names, settings.parameters)

    def metric(self, text: str) -> Metric:
        """The metric whose text this is."""
        from assay.tasks.code.registry import load

        return load(text)

    def derive(self, column: str, batch: Batch) -> Sequence[str] | None:
        """`class`, `length`, `first_token`, `transformation` and `candidates`."""
        from assay.tasks.code.slices import derived

        return derived(column, batch)

    def intervals(
        self,
        kind: str,
        metrics: Sequence[Metric],
        rows: Rows,
        *,
        level: float,
        resamples: int,
        seed: int,
    ) -> Sequence[Mapping[str, Interval]]:
        """PLUR's intervals."""
        from assay.tasks.code.intervals import plur_intervals

        return plur_intervals(metrics, rows, level=level, resamples=resamples, seed=seed)

    def wants_rows(self, **options: Any) -> bool:
        """For the list of errors, and for PLUR's intervals at several levels."""
        return bool(options.get("errors")) or options.get("interval") == "plur"

    def shows_intervals(self, **options: Any) -> bool:
        """PLUR's lines have intervals if a kind was asked for; slices are tables."""
        return options.get("interval") != "auto" or bool(options.get("slices"))

    def render(self, document: ResultDocument, **options: Any) -> str | None:
        """PLUR's lines, then slices and details if asked for."""
        from assay.tasks.code.plain import whole_text
        from assay.tasks.code.settings import Settings

        digits, details = options.get("digits"), bool(options.get("details"))
        return whole_text(document, Settings.of(options), digits, details)

    def main_score(self, document: ResultDocument) -> str | None:
        """The one that says how good a single example is."""
        from assay.tasks.code.datasets import FAMILIES

        family = FAMILIES.get(document.extra.get("family", ""))
        return family.main if family is not None else None

    def details(self, document: ResultDocument, **options: Any) -> str | None:
        """Confusion matrix and top-k curve, if asked for."""
        from assay.tasks.code.plain import details_text

        return details_text(document.extra) or None if options.get("details") else None

    def remarks(self, outcome: Outcome, **options: Any) -> Sequence[str]:
        """What PLUR's intervals cover."""
        statistics = outcome.document.statistics
        if statistics["interval"] != "plur" or not statistics["ci"]:
            return ()
        from assay.tasks.code.intervals import coverage_warnings
        from assay.tasks.code.settings import Settings

        levels = Settings.of(options).plur_levels
        return coverage_warnings(levels, statistics["resamples"])

    def samples(self) -> Iterable[tuple[Metric, Sequence[Pair]]]:
        """Every metric of the task, with candidates and gold of its kind."""
        from assay.tasks.code.samples import samples

        return samples()

    def extra(self, outcome: Outcome, **options: Any) -> Mapping[str, Any]:
        """PLUR's intervals at several levels; the rest is counted while reading."""
        statistics = outcome.document.statistics
        asked = statistics["interval"] == "plur" and statistics["ci"] > 0
        if not asked or outcome.rows is None or statistics["resamples"] < 2:
            return {}
        from assay.tasks.code.intervals import plur_table
        from assay.tasks.code.settings import Settings

        return {
            "plur_intervals": plur_table(
                outcome.metrics,
                outcome.rows,
                percents=Settings.of(options).plur_levels,
                resamples=statistics["resamples"],
                seed=statistics["seed"],
            )
        }

    def finish(self, outcome: Outcome, **options: Any) -> Mapping[str, Path]:
        """The sorted list of errors."""
        path = options.get("errors")
        if not path:
            return {}
        from assay.tasks.code.errors import write_errors
        from assay.tasks.code.settings import Settings

        return {"errors": write_errors(path, Settings.of(options).dataset, outcome)}


TASK = CodeTask()

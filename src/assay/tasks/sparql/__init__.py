# SPDX-License-Identifier: Apache-2.0
"""Predicted SPARQL queries: matched with gold, executed, and scored by question type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from assay.core.options import Option, Verb
from assay.core.task import Examples, Inspection, Missing, Outcome, Task

if TYPE_CHECKING:
    from pathlib import Path

    from assay.core.document import ResultDocument
    from assay.core.judging import Item, Kept
    from assay.core.metric import Metric

INPUT = (
    Option(
        "predictions",
        ("--file_path", "--predictions", "-p"),
        "Prediction file: a JSON array of turns, or .jsonl; also QALD JSON with --gold.",
        kind="path",
        required=True,
        metavar="FILE",
    ),
    Option(
        "read_all",
        ("--read_all",),
        "Take --file_path for a wildcard pattern and read all files that match.",
        kind="switch",
    ),
    Option(
        "gold",
        ("--gold", "-g"),
        "Gold where predictions do not carry it: QALD JSON or LC-QuAD JSON.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "question_type",
        ("--question_type",),
        "Score this question type alone; default: all ten, and the summary over them.",
    ),
    Option(
        "context_dist_file",
        ("--context_dist_file",),
        "Lines of turnID, tab, context distance: adds Ctx=-1 and Ctx<-1.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "phenomena",
        ("--phenomena",),
        "JSON object of lists of sub-types, in place of SPICE's ellipsis and multi_entity.",
        kind="path",
        metavar="FILE",
    ),
)

EXECUTION = (
    Option("em_only", ("--em_only",), "Compare queries only; run nothing.", kind="switch"),
    Option(
        "kg",
        ("--kg",),
        "Run queries on this graph: .nt, .ttl, .nq, .trig, also .gz.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "server_link", ("--server_link",), "Run queries on this SPARQL endpoint.", metavar="URL"
    ),
    Option(
        "contact",
        ("--contact",),
        "Mail or web address that the endpoint is told, as public ones want.",
        metavar="ADDRESS",
    ),
    Option("timeout", ("--timeout",), "Seconds a query may take.", kind="number", default=10.0),
    Option(
        "row_limit",
        ("--row_limit",),
        "Rows a query may return.",
        kind="integer",
        default=1_000_000,
    ),
    Option(
        "memory_limit",
        ("--memory_limit",),
        "Megabytes a query may use on top of the graph, or a reply may have.",
        kind="integer",
        default=2_000,
    ),
    Option(
        "workers",
        ("--workers",),
        "Queries under way at once; default: one per processor (at most 4) for a graph, 4 for an "
        "endpoint, 1 for query.wikidata.org.",
        kind="integer",
    ),
    Option(
        "cache",
        ("--cache",),
        "Keep stores and replies in this folder, and use what is there.",
        kind="path",
        metavar="DIR",
    ),
    Option("refresh", ("--refresh",), "Run again what the cache holds.", kind="flag"),
    Option(
        "execute_gold",
        ("--execute_gold",),
        "Run the gold queries too and report where they do not return the gold answers.",
        kind="flag",
    ),
    Option(
        "check_ids",
        ("--check_ids",),
        "Look up the ids of predicted queries in the graph and report those it does not have.",
        kind="flag",
    ),
    Option(
        "answer_limit",
        ("--answer_limit",),
        "Count at most this many answers of a set; 0 for all.",
        kind="integer",
        default=0,
    ),
    Option(
        "max_results",
        ("--max_results",),
        "SPICE's limit of answers; it has an effect with --compat spice only.",
        kind="integer",
        default=1_000,
    ),
)

OUTPUT = (
    Option(
        "out_eval_file",
        ("--out_eval_file",),
        "Write SPICE's evaluation file; without --question_type a folder with one file per type "
        "and eval_summary.json, or one .json with all of it.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "per_example",
        ("--per-example", "--details"),
        "Write each question's scores, query and answers to this .jsonl, .tsv or .csv file.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "compat",
        ("--compat",),
        "Give the numbers of SPICE's scripts, quirk for quirk.",
        kind="choice",
        choices=("spice",),
    ),
)


def _summarise(**given: Any) -> str:
    from assay.tasks.sparql.evaluation_file import summarise

    return summarise(**given)


class SparqlTask(Task):
    """Predicted SPARQL against gold queries and gold answers."""

    name = "sparql"
    summary = "Predicted SPARQL queries: exact match, answers on a graph, by question type."
    default_metrics = ("em", "answers", "gerbil", "execution")
    missing: ClassVar[Missing] = "wrong"
    options = (*INPUT, *EXECUTION, *OUTPUT)
    verbs = (
        Verb(
            "summarise",
            "Average the phenomena over the evaluation files of a folder: eval_summary.json.",
            _summarise,
            (
                Option("file_path", ("--file_path",), "The folder.", kind="path", required=True),
                Option(
                    "compat",
                    ("--compat",),
                    "Count entries without questions as 0, as SPICE's script does.",
                    kind="choice",
                    choices=("spice",),
                ),
            ),
        ),
    )

    def examples(
        self, predictions: Any, gold: Any = None, *, missing: Missing, **options: Any
    ) -> Examples:
        """Read records, select them, and run their queries."""
        from assay.tasks.sparql.inputs import open_examples

        return open_examples(predictions, gold, missing, **options)

    def metrics(self, names: Sequence[str], **options: Any) -> list[Metric]:
        """The metrics by text; by default those that the options leave something to measure."""
        from assay.tasks.sparql.metrics import chosen_metrics

        return chosen_metrics(names, **options)

    def metric(self, text: str) -> Metric:
        """The metric whose text this is."""
        from assay.tasks.sparql.metrics import metric

        return metric(text)

    def inspect(self, path: str) -> Inspection | None:
        """What is odd in a prediction file, with record numbers."""
        from assay.tasks.sparql.doctor import inspect

        return inspect(path)

    def render(self, document: ResultDocument, **options: Any) -> str | None:
        """The table that SPICE's script prints, then what it does not know."""
        from assay.tasks.sparql.table import render

        return render(document, **options)

    def shown(self, value: Any) -> Any:
        """The query, and below it what it returned."""
        from assay.tasks.sparql.pairs import shown

        return shown(value)

    def items(self, example: Kept, **options: Any) -> Sequence[Item]:
        """The query; what it returned stands below it."""
        from assay.tasks.sparql.judging import items

        return items(example)

    def tokens(self, text: str) -> Sequence[str] | None:
        """The tokens of the query."""
        from assay.tasks.sparql.tokens import tokens

        return [token.text for token in tokens(text)]

    def extra(self, outcome: Outcome, **options: Any) -> Mapping[str, Any]:
        """The entries of the evaluation file, phenomena weighted by question, failure classes."""
        from assay.tasks.sparql.outcome import extra

        return extra(outcome.document, **options)

    def remarks(self, outcome: Outcome, **_: Any) -> Sequence[str]:
        """That intervals of whole conversations are made by drawing whole conversations."""
        from assay.tasks.sparql.conversations import remarks

        return remarks(outcome.metrics, outcome.document.statistics)

    def check_outputs(self, **options: Any) -> None:
        """Whether the evaluation file, or the folder of them, can be written."""
        from pathlib import Path

        from assay.core.files import check_file, check_folder

        given = options.get("out_eval_file")
        if given:
            path = Path(given)
            one_file = options.get("question_type") is not None or path.suffix == ".json"
            if one_file and not (path.is_dir() and options.get("question_type") is None):
                check_file(path)
            else:
                check_folder(path)

    def finish(self, outcome: Outcome, **options: Any) -> Mapping[str, Path]:
        """Write the evaluation file."""
        from assay.tasks.sparql.outcome import write_files

        return write_files(outcome.document, **options)


TASK = SparqlTask()

# SPDX-License-Identifier: Apache-2.0
"""Shell commands for descriptions in English: matched with gold, judged by people; never run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from assay.core.judging import Question
from assay.core.options import Option, Verb
from assay.core.task import Examples, Inspection, Missing, Task

if TYPE_CHECKING:
    from assay.core.batch import Batch, Pair
    from assay.core.document import ResultDocument
    from assay.core.judging import Item, Kept
    from assay.core.metric import Metric

INPUT = (
    Option(
        "predictions",
        ("--predictions", "--prediction_file", "-p"),
        "Predictions: .jsonl with id and predictions, or one line per description, best first, "
        "separated by |||.",
        kind="path",
        required=True,
        metavar="FILE",
    ),
    Option(
        "gold",
        ("--gold", "-g"),
        "Gold: .jsonl with id, nl and references, or the files of descriptions (.nl) and of "
        "commands (.cm); one of these finds the other. Default: what --dataset names.",
        kind="path",
        multiple=True,
        metavar="FILE",
    ),
    Option(
        "dataset",
        ("--dataset", "--data"),
        "Name of a data folder of NL2Bash, for gold that is not given: data/NAME/dev.nl.filtered "
        "and dev.cm.filtered, with verdicts in data/NAME/manual_judgements. Default: bash.",
        metavar="NAME",
    ),
    Option("test_set", ("--test",), "The test set of --dataset, not dev.", kind="flag"),
    Option(
        "num_examples",
        ("--num_examples",),
        "Score so many examples, drawn by --seed; 0 for all.",
        kind="integer",
        default=100,
    ),
    Option(
        "seed",
        ("--seed",),
        "Seed of the draw, and of all resampling.",
        kind="integer",
        default=100,
    ),
    Option(
        "top_k",
        ("--top-k",),
        "Count a description as solved if one of so many predictions is right.",
        kind="integer",
        default=3,
    ),
    Option(
        "automatic",
        ("--eval",),
        "Score all examples, by all automatic metrics of the old program.",
        kind="flag",
    ),
    Option(
        "match",
        ("--match",),
        "Commands are equal with their flags in the same order (strict), or in any order where "
        "that does not matter and under any of their names (loose).",
        kind="choice",
        choices=("strict", "loose"),
    ),
)

JUDGING = (
    Option(
        "judgements",
        ("--judgements",),
        "Folder of verdicts: logs of judges, and CSV files named ...evaluations...",
        kind="path",
        metavar="DIR",
    ),
    Option(
        "manual_eval",
        ("--manual_eval",),
        "Ask about every prediction that is neither matched nor judged yet, and keep the answers "
        "in --judgements.",
        kind="flag",
        ignores=("0",),
    ),
    Option("judge", ("--judge",), "Who answers.", default="author", metavar="NAME"),
    Option(
        "write",
        ("--write",),
        "Keep answers in a log (verdicts.NAME.jsonl) or in a sheet (manual.evaluations.NAME).",
        kind="choice",
        choices=("jsonl", "csv"),
    ),
    Option(
        "compat",
        ("--compat",),
        "Numbers, questions and files of the old program, quirk for quirk.",
        kind="choice",
        choices=("nl2bash",),
    ),
)

OLD = (
    Option("gpu", ("--gpu",), "Accepted for old command lines.", hidden=True),
    Option(
        "old_writers",
        (
            "--gen_manual_evaluation_sheet",
            "--gen_manual_evaluation_sheet_single_model",
            "--gen_manual_evaluation_table",
            "--gen_auto_evaluation_table",
            "--gen_error_analysis_sheet",
        ),
        "Refused, with what to use instead.",
        kind="flag",
        hidden=True,
    ),
)

AUTOMATIC = ("accuracy", "template_match", "character_bleu", "corpus_bleu")


def _errors(**given: Any) -> str:
    from assay.tasks.commands.errors import errors

    return errors(**given)


GUIDELINES = """\
Structure: the utilities and flags would solve the task, were the right values filled in.
Command: running it does what the description asks for, on any machine it could be meant for.
Another way to do it is right too. A command that does more, or less, or to other files, is wrong.
Judge what is written; no command is ever run here. For a no, a reason helps those who come later.
"""


class CommandsTask(Task):
    """Predicted shell commands against gold commands and people's verdicts."""

    name = "commands"
    default_metrics = ("accuracy",)
    options = (*INPUT, *JUDGING, *OLD)
    verbs = (
        Verb(
            "errors",
            "Say where systems fail together and why, from a CSV error sheet.",
            _errors,
            (Option("json", ("--json",), "Print one JSON document.", kind="flag"),),
            arguments=("files",),
        ),
    )
    shares = ("seed", "ci")
    questions = (
        Question("structure", "Is the structure (utilities and flags) correct?", about="structure"),
        Question("command", "Is the command correct?", needs="structure"),
    )
    guidelines = GUIDELINES

    def examples(
        self, predictions: Any, gold: Any, *, missing: Missing, **options: Any
    ) -> Examples:
        """Read both sides, draw the sample, look verdicts up and ask for missing ones."""
        from assay.tasks.commands.dataset import with_dataset
        from assay.tasks.commands.inputs import Settings, open_examples

        gold, left = with_dataset(gold, options)
        return open_examples(predictions, gold, missing, Settings.of(left))

    def metrics(self, names: Sequence[str], **options: Any) -> list[Metric]:
        """The metrics by text; `top_k` and `match` are those of the options unless given."""
        from assay.tasks.commands.metrics import chosen_metrics

        usual = AUTOMATIC if options.get("automatic") else self.default_metrics
        return chosen_metrics(names or usual, **options)

    def metric(self, text: str) -> Metric:
        """The metric whose text this is."""
        from assay.tasks.commands.metrics import metric

        return metric(text)

    def samples(self) -> Iterable[tuple[Metric, Sequence[Pair]]]:
        """Every metric, with commands that are right, wrong, and no commands at all."""
        from assay.tasks.commands.metrics import samples

        return samples()

    def derive(self, column: str, batch: Batch) -> Sequence[str] | None:
        """`utility`: the first one of the gold command; `length`: its words, in steps of five."""
        from assay.tasks.commands.slices import derived

        return derived(column, batch)

    def inspect(self, path: str) -> Inspection | None:
        """What is odd in a file of gold, of predictions or of verdicts."""
        from assay.tasks.commands.doctor import inspect

        return inspect(path)

    def items(self, example: Kept, **options: Any) -> Sequence[Item]:
        """One item per prediction, with its template as structure."""
        from assay.tasks.commands.items import items

        return items(example, **options)

    def description_key(self, description: str) -> str:
        """The key that a description has whatever its wording."""
        from assay.tasks.commands.keys import description_key

        return description_key(description)

    def structure(self, prediction: str, written: str | None, **options: Any) -> str | None:
        """The template of a command."""
        from assay.tasks.commands.items import mode_of
        from assay.tasks.commands.verdicts import structure

        return structure(prediction, written, mode_of(options))

    def explain(
        self, batch: Batch, metrics: Sequence[Metric]
    ) -> Sequence[Mapping[str, Any]] | None:
        """The templates, and what is known of each prediction."""
        from assay.tasks.commands.items import explanations

        return explanations(batch, metrics)

    def tokens(self, text: str) -> Sequence[str] | None:
        """The tokens of the shell."""
        from assay.tasks.commands.pictured import shell_tokens

        return shell_tokens(text)

    def render(self, document: ResultDocument, **options: Any) -> str | None:
        """The documented lines, then what the old program does not say."""
        from assay.tasks.commands.console import render

        return render(document, **options)


TASK = CommandsTask()

# SPDX-License-Identifier: Apache-2.0
"""The 18 data sets: which family each belongs to, and what a family reads, measures and prints.

A data set is a name, a family and the parameters that tell it from its siblings; a family is how
many candidates a line may have, the metrics, and the scores that the plain output shows. Nothing
else in this task asks for the name of a data set.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from assay.core.names import unknown

Candidates = Literal["one", "all", "ranks"]
"""How many candidates a line of predictions has: exactly one; any number, all looked at; at least
as many as ranks are asked for."""

Form = Literal["lines", "classes", "repairs"]
"""The plain output: a line per score, or all on one line in the order of the original."""

MARKER = "CLASS_"
"""What a class text holds besides its label."""

LABELS: Mapping[str, tuple[str, ...]] = {
    "exception": (
        "AssertionError",
        "AttributeError",
        "DoesNotExist",
        "HTTPError",
        "IOError",
        "ImportError",
        "IndexError",
        "KeyError",
        "KeyboardInterrupt",
        "NameError",
        "NotImplementedError",
        "OSError",
        "ObjectDoesNotExist",
        "RuntimeError",
        "StopIteration",
        "SystemExit",
        "TypeError",
        "UnicodeDecodeError",
        "ValidationError",
        "ValueError",
    ),
    "variable-misuse": ("Correct", "Variable misuse"),
    "swapped-operand": ("Correct", "Swapped operands"),
    "docstring": ("Correct", "Incorrect"),
    "operator": ("Correct", "Wrong binary operator"),
}
"""Labels of the classification sets."""


@dataclass(frozen=True, slots=True)
class Family:
    """What data sets of one kind have in common.

    `metrics` are texts in which `{parameter}` stands for a parameter of the data set or an option.
    `shown` are the scores of the plain output, in its order; `summary` the three of its first line.
    `main` is the score that says how good one example is. `gold` names the check that gold has to
    pass. `rules` are the rules that can be asked for, the default first.
    """

    candidates: Candidates
    metrics: tuple[str, ...]
    shown: tuple[str, ...]
    main: str
    summary: tuple[str, ...] = ()
    form: Form = "lines"
    gold: str | None = None
    rules: tuple[str, ...] = ("plur",)


FAMILIES: Mapping[str, Family] = {
    "pooled names": Family(
        candidates="one",
        metrics=("names_pooled(rules={rules})",),
        shown=("precision", "recall", "f1_score"),
        summary=("precision", "recall", "f1_score"),
        main="f1_score",
        rules=("plur", "code2seq-original"),
    ),
    "averaged names": Family(
        candidates="all",
        metrics=("names_averaged(rules={rules})",),
        shown=("precision", "recall", "f1_score", "exact_match_percentage"),
        summary=("pooled_precision", "pooled_recall", "pooled_f1_score"),
        main="f1_score",
        rules=("plur", "ogb-official"),
    ),
    "completions": Family(
        candidates="all",
        metrics=("successive_tokens", "completion_bleu"),
        shown=("average_expected_successive_tokens", "average_max_successive_tokens", "bleu"),
        main="bleu",
    ),
    "comments": Family(
        candidates="ranks",
        metrics=("comment_bleu(ranks={ranks})",),
        shown=("bleu_1", "bleu_2", "bleu_3", "bleu_4"),
        main="bleu_4",
    ),
    "bug repair": Family(
        candidates="one",
        metrics=("bug_repair",),
        shown=("seq_acc", "loc_and_rep_acc", "bug_free_class_acc", "loc_acc", "rep_acc"),
        main="seq_acc",
        gold="bug",
    ),
    "classes": Family(
        candidates="one",
        metrics=("class_accuracy", "class_means(labels={labels})"),
        shown=("accuracy", "mean_per_class_accuracy"),
        main="accuracy",
        form="classes",
        gold="label",
    ),
    "misuse repair": Family(
        candidates="one",
        metrics=(
            "misuse_repair(style={style},raw_total={raw_total},raw_total_buggy={raw_total_buggy})",
        ),
        shown=("true_positive", "true", "localized", "localized_and_repaired", "sequence_accuracy"),
        main="sequence_accuracy",
        form="repairs",
        gold="location",
    ),
    "edits": Family(
        candidates="all",
        metrics=("edit_kinds",),
        shown=("total_acc", "add_acc", "rep_val_acc", "rep_type_acc", "del_acc"),
        main="total_acc",
        gold="kind",
    ),
    "bug classes": Family(
        candidates="all", metrics=("any_candidate",), shown=("class_acc",), main="class_acc"
    ),
}


@dataclass(frozen=True, slots=True)
class Dataset:
    """One data set: its name in PLUR without the ending, its family, its parameters."""

    short: str
    family_name: str
    parameters: Mapping[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name as PLUR has it."""
        return f"{self.short}_dataset"

    @property
    def family(self) -> Family:
        """What it has in common with its siblings."""
        return FAMILIES[self.family_name]

    def metric_texts(self, options: Mapping[str, object]) -> list[str]:
        """The metrics of this data set, with these options, as texts.

        >>> find("funcom").metric_texts({"ranks": 3})
        ['comment_bleu(ranks=3)']
        """
        values = {**options, **self.parameters}
        return [text.format_map(values) for text in self.family.metrics]


_POINTED, _UNPOINTED = {"style": "pointed"}, {"style": "unpointed"}

DATASETS: tuple[Dataset, ...] = (
    Dataset("code2seq", "pooled names"),
    Dataset("convattn", "averaged names"),
    Dataset("ogb_code", "averaged names"),
    Dataset("retrieve_and_edit", "completions"),
    Dataset("funcom", "comments"),
    Dataset("great_var_misuse", "bug repair", _POINTED),
    Dataset("great_var_misuse_unpointed", "bug repair", _UNPOINTED),
    Dataset("cubert_exception_classification", "classes", {"labels": "exception"}),
    Dataset("cubert_variable_misuse_classification", "classes", {"labels": "variable-misuse"}),
    Dataset("cubert_swapped_operand_classification", "classes", {"labels": "swapped-operand"}),
    Dataset("cubert_function_docstring_classification", "classes", {"labels": "docstring"}),
    Dataset("cubert_wrong_operator_classification", "classes", {"labels": "operator"}),
    Dataset("cubert_variable_misuse_repair", "misuse repair", _POINTED),
    Dataset("cubert_variable_misuse_repair_nocopy", "misuse repair", _POINTED),
    Dataset("cubert_variable_misuse_repair_unpointed", "misuse repair", _UNPOINTED),
    Dataset("cubert_variable_misuse_repair_unpointed_nocopy", "misuse repair", _UNPOINTED),
    Dataset("hoppity_single_ast_diff", "edits"),
    Dataset("manysstubs4j", "bug classes"),
)


def find(name: str) -> Dataset:
    """The data set of this name, with or without `_dataset` at its end.

    The first words of a name do where they can mean one data set only, or one and its variants.

    >>> find("great_var_misuse_dataset").family_name, find("ogb-code").name
    ('bug repair', 'ogb_code_dataset')
    >>> find("hoppity").short, find("great").short
    ('hoppity_single_ast_diff', 'great_var_misuse')
    """
    short = name.strip().lower().replace("-", "_").removesuffix("_dataset")
    found = [d for d in DATASETS if f"{d.short}_".startswith(f"{short}_")]
    shortest = min(found, key=lambda d: len(d.short), default=None)
    if shortest is not None and all(d.short.startswith(shortest.short) for d in found):
        return shortest
    raise unknown("data set", name, [dataset.name for dataset in found or DATASETS])

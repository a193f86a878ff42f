# SPDX-License-Identifier: Apache-2.0
"""The metrics of this task by their text; those of the text families work here too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from assay import metrics as text_metrics
from assay.core.metric import Metric, build
from assay.core.names import parse_metric, unknown
from assay.tasks.code.bleu import CommentBleu, CompletionBleu
from assay.tasks.code.datasets import Dataset
from assay.tasks.code.hits import AnyCandidate, EditKinds, TopK
from assay.tasks.code.labels import ClassAccuracy, ClassMeans
from assay.tasks.code.locations import BugRepair, MisuseRepair
from assay.tasks.code.names import AveragedNames, PooledNames
from assay.tasks.code.runs import SuccessiveTokens

METRICS: tuple[type[Metric], ...] = (
    AnyCandidate,
    AveragedNames,
    BugRepair,
    ClassAccuracy,
    ClassMeans,
    CommentBleu,
    CompletionBleu,
    EditKinds,
    MisuseRepair,
    PooledNames,
    SuccessiveTokens,
    TopK,
)


def load(text: str) -> Metric:
    """The metric that `text` names: one of this task, or one of the text families.

    >>> load("comment_bleu(ranks=2)").text, load("chrf").name
    ('comment_bleu(ranks=2)', 'chrf')
    """
    name, _ = parse_metric(text)
    own = {cls.name for cls in METRICS}
    if name.lower() in own:
        return build(text, METRICS)
    families = text_metrics.builtin()
    known = {n for cls in families for n in (cls.name, *cls.aliases)}
    if name.lower() not in {n.lower() for n in known}:
        raise unknown("metric", name, own | known)
    return text_metrics.load(text)


def chosen(dataset: Dataset, asked: Sequence[str], options: Mapping[str, object]) -> list[Metric]:
    """The metrics of a data set, and behind them those that were asked for."""
    found = [load(text) for text in dataset.metric_texts(options)]
    known = {metric.text for metric in found}
    for metric in map(load, asked):
        if metric.text not in known:
            found.append(metric)
            known.add(metric.text)
    return found

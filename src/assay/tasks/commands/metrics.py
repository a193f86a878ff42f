# SPDX-License-Identifier: Apache-2.0
"""The metrics of this task, by name."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from assay.core.batch import Pair
from assay.core.errors import UsageError
from assay.core.metric import Metric, build
from assay.core.names import parse_metric
from assay.tasks.commands.accuracy import CommandAccuracy
from assay.tasks.commands.char_bleu import CharacterBleu
from assay.tasks.commands.corpus_bleu import CorpusBleu
from assay.tasks.commands.nlc2cmd import Nlc2Cmd
from assay.tasks.commands.template_score import TemplateScore
from assay.tasks.commands.tldr import Tldr

METRICS: tuple[type[Metric], ...] = (
    CommandAccuracy,
    TemplateScore,
    CharacterBleu,
    CorpusBleu,
    Nlc2Cmd,
    Tldr,
)


def metric(text: str) -> Metric:
    """The metric of this text."""
    return build(text, METRICS)


def chosen_metrics(names: Sequence[str], **options: Any) -> list[Metric]:
    """The metrics of these texts, with parameters from the options where none are given."""
    compat = options.get("compat") is not None
    preset = {
        "k": str(options.get("top_k") or 3),
        "match": "nl2bash" if compat else options.get("match") or "strict",
    }
    found = [_with(text, preset) for text in names]
    for each in found:
        if isinstance(each, CommandAccuracy) and each.match != preset["match"]:
            # What is known of predictions is looked up once, and matched in one way.
            compatible = each.match == "nl2bash"
            option = "--compat nl2bash" if compatible else f"--match {each.match}"
            raise UsageError(f"'{each}' is counted with {option}; give that option")
    return found


def _with(text: str, preset: dict[str, str]) -> Metric:
    found = metric(text)
    _, given = parse_metric(text)
    # Up to five predictions count in the challenge, whatever --top-k is.
    fields = found.parameters() if not isinstance(found, Nlc2Cmd) else {}
    added = {name: value for name, value in preset.items() if name in fields and name not in given}
    return type(found).from_parameters({**given, **added})


def samples() -> Iterable[tuple[Metric, Sequence[Pair]]]:
    """Metrics with pairs they can measure."""
    pairs = [
        Pair(["ls -a x", "ls -al y"], ["ls -a -l y", "ls"]),
        Pair(["find . -name '*.py' | xargs rm"], ["find . -name '*.py' -delete"]),
        Pair([], ["pwd"]),
        Pair(["echo 'unfinished"], ["for f in *; do echo $f; done"]),
        Pair(["rm -rf $(pwd)/x"], ["rm -r -f `pwd`/x"]),
    ]
    return [(cls(), pairs) for cls in METRICS]

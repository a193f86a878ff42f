# SPDX-License-Identifier: Apache-2.0
"""The metrics of the tldr benchmark (DocPrompting): commands with {{placeholders}}, as tokens."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch, Pair
from assay.core.metric import Metric, Rows, Score, Totals, Value, ratio
from assay.core.text import TextLists, Texts
from assay.metrics.bleu import Bleu

TINY = 1e-10
"""Added to denominators, as in the benchmark's own script: a perfect score is not quite 1."""

_SIGNS = re.compile(r"[\"'`<>]")
_OWN = (
    "template_matching",
    "command_accuracy",
    "token_recall",
    "token_precision",
    "token_f1",
    "argument_recall",
    "argument_precision",
    "argument_f1",
    "edit_distance",
)


@dataclass(frozen=True)
class Tldr(Metric):
    """First predictions against gold as the tldr benchmark compares them.

    `template_matching` is the share that is equal, `command_accuracy` the share with the right
    command name; `token_...` are means over examples of recall, precision and F1 of tokens,
    `argument_...` the same without the command name; all 0 to 1, more is better. `bleu_char` is
    character BLEU, 0 to 100; `edit_distance` the mean number of characters to change, less is
    better. Before that sudo, quotes and redirection signs are dropped and placeholders numbered.
    Of several gold commands the one with the best F1 counts. Source: Zhou et al. 2022,
    DocPrompting.

    >>> metric = Tldr()
    >>> scores = metric.score([("ipcrm --shmem-id {{segment}}", "ipcrm --shmem-id {{shmem_id}}")])
    >>> scores["template_matching"], scores["command_accuracy"]
    (1.0, 1.0)
    """

    name: ClassVar[str] = "tldr"
    scores: ClassVar[tuple[Score, ...]] = (
        Score("template_matching", proportion=("template_matching", "examples")),
        Score("command_accuracy", proportion=("command_accuracy", "examples")),
        Score("bleu_char", high=100.0, unit="%"),
        *(Score(name) for name in _OWN[2:8]),
        Score("edit_distance", higher_is_better=False, high=float("inf")),
    )
    perfect: ClassVar[bool] = False  # because of TINY, and BLEU of short commands

    @cached_property
    def _bleu(self) -> Bleu:
        return Bleu(tokenize="char")

    @property
    def columns(self) -> tuple[str, ...]:
        """Sums over examples, then what BLEU counts."""
        return (*_OWN, "examples", *(f"bleu_{name}" for name in self._bleu.columns))

    def measure(self, batch: Batch) -> Rows:
        """Counts of tokens, and of character n-grams."""
        pairs = [_cleaned(pair) for pair in batch.pairs()]
        own = np.array([_row(*pair) for pair in pairs]).reshape(len(pairs), len(_OWN) + 1)
        texts = Batch(Texts.of(text for text, _ in pairs), TextLists.of(gold for _, gold in pairs))
        return np.hstack([own, self._bleu.measure(texts)])

    def finalise(self, totals: Totals) -> dict[str, Value]:
        counted = Totals(self._bleu.columns, totals.values[..., len(_OWN) + 1 :])
        found = {name: ratio(totals[name], totals.examples) for name in _OWN}
        found["bleu_char"] = np.asarray(self._bleu.finalise(counted)["bleu"])
        return {score.name: found[score.name] for score in self.scores}


def clean(command: str) -> str:
    """A command as the benchmark compares it.

    >>> clean("sudo cp '{{from}}' {{to}} > {{from}}")
    'cp $1 $2 $1'
    """
    numbers: dict[str, str] = {}
    lines = [_numbered(line, numbers) for line in command.split("\n")]
    words = _SIGNS.sub(" ", " ".join(lines)).split()
    return " ".join(word for word in words if word != "sudo")


def _numbered(line: str, numbers: dict[str, str]) -> str:
    """A line with its placeholders by number; each name has its own."""
    pieces, done = [], 0
    while (start := line.find("{{", done)) >= 0 and (end := line.find("}}", start + 2)) >= 0:
        name = line[start : end + 2]
        pieces += [line[done:start], numbers.setdefault(name, f"${len(numbers) + 1}")]
        done = end + 2
    return "".join([*pieces, line[done:]])


def _cleaned(pair: Pair) -> tuple[str, list[str]]:
    return clean(pair.text), [clean(text) for text in pair.references]


def _row(text: str, references: list[str]) -> tuple[float, ...]:
    from rapidfuzz.distance import Levenshtein

    own = text.split()
    found = [_overlap(own, gold.split()) for gold in references] or [(0.0, 0.0, 0.0)]
    inner = [_overlap(own[1:], gold.split()[1:]) for gold in references] or [(0.0, 0.0, 0.0)]
    best = max(range(len(found)), key=lambda i: found[i][2])
    names = {gold.split()[0] for gold in references if gold}
    distances = [Levenshtein.distance(text, gold) for gold in references] or [len(text)]
    return (
        float(bool(text) and text in references),
        float(bool(own) and own[0] in names),
        *found[best],
        *inner[best],
        float(min(distances)),
        1.0,
    )


def _overlap(own: list[str], gold: list[str]) -> tuple[float, float, float]:
    """Recall, precision and F1 of tokens as multisets."""
    common = sum((Counter(own) & Counter(gold)).values())
    recall, precision = common / (len(gold) + TINY), common / (len(own) + TINY)
    return recall, precision, 2 * precision * recall / (precision + recall + TINY)

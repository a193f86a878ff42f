# SPDX-License-Identifier: Apache-2.0
"""Quality of the final text: the shared metrics, under the names that are usual here."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from assay import metrics
from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value
from assay.core.names import format_metric
from assay.core.text import TextLists, Texts
from assay.tasks.simul.streams import as_texts


class Quality(Metric):
    """A metric of the shared families, measured on the final texts, under a name of its own."""

    shared: ClassVar[str]
    compatible: ClassVar[bool] = False
    """Whether compatible forms of characters (NFKC) count as equal."""
    factor: ClassVar[float] = 1.0
    perfect = False

    @property
    def inner(self) -> Metric:
        """The shared metric with the same parameters."""
        return metrics.load(format_metric(self.shared, self.parameters()))

    @property
    def columns(self) -> tuple[str, ...]:
        """Those of the shared metric."""
        return tuple(self.inner.columns)

    def measure(self, batch: Batch) -> Rows:
        """Rows of the texts."""
        texts = as_texts(batch)
        return self.inner.measure(_compatible(texts) if self.compatible else texts)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The first score of the shared metric."""
        return self._renamed(self.inner.finalise(totals))

    def per_example(self, rows: Rows) -> Mapping[str, Value]:
        """The score of each text by itself."""
        return self._renamed(self.inner.per_example(rows))

    def _renamed(self, found: Mapping[str, Value]) -> Mapping[str, Value]:
        return {self.scores[0].name: self.factor * found[self.shared]}


@dataclass(frozen=True)
class QualityBleu(Quality):
    """BLEU of the final texts, from 0 to 100, higher is better; equal to sacrebleu's."""

    tokenize: str = "13a"
    lowercase: bool = False

    name = "BLEU"
    shared = "bleu"
    scores = (Score("BLEU", high=100.0, unit="%"),)


@dataclass(frozen=True)
class QualityChrf(Quality):
    """chrF of the final texts, from 0 to 100, higher is better; equal to sacrebleu's."""

    word_order: int = 0

    name = "chrF"
    shared = "chrf"
    scores = (Score("chrF", high=100.0, unit="%"),)
    aliases: ClassVar[Mapping[str, Mapping[str, str]]] = {"chrF++": {"word_order": "2"}}


@dataclass(frozen=True)
class QualityTer(Quality):
    """Edits, moves among them, per 100 reference words of the final texts; lower is better."""

    case_sensitive: bool = False

    name = "TER"
    shared = "ter"
    scores = (Score("TER", higher_is_better=False, high=np.inf, unit="%"),)


@dataclass(frozen=True)
class QualityWer(Quality):
    """Word edits per 100 reference words of the final texts; lower is better."""

    name = "WER"
    shared = "wer"
    factor = 100.0
    scores = (Score("WER", higher_is_better=False, high=np.inf, unit="%"),)


@dataclass(frozen=True)
class CompatibleBleu(QualityBleu):
    """BLEU of the final texts in Unicode's compatible forms (NFKC)."""

    name = "BLEU@nfkc"
    scores = (Score("BLEU@nfkc", high=100.0, unit="%"),)
    compatible = True


@dataclass(frozen=True)
class CompatibleChrf(QualityChrf):
    """chrF of the final texts in Unicode's compatible forms (NFKC)."""

    name = "chrF@nfkc"
    scores = (Score("chrF@nfkc", high=100.0, unit="%"),)
    compatible = True
    aliases: ClassVar[Mapping[str, Mapping[str, str]]] = {}


def _compatible(batch: Batch) -> Batch:
    gold = batch.references()
    return replace(
        batch,
        predictions=Texts.of(unicodedata.normalize("NFKC", t) for t in batch.texts()),
        gold=TextLists.of([unicodedata.normalize("NFKC", t) for t in texts] for texts in gold),
    )


CLASSES: tuple[type[Metric], ...] = (
    CompatibleBleu,
    CompatibleChrf,
    QualityBleu,
    QualityChrf,
    QualityTer,
    QualityWer,
)

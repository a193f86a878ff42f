# SPDX-License-Identifier: Apache-2.0
"""What a run learns besides scores: confusion matrix, top-k curve, and things worth a warning."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from assay.core.batch import Batch
from assay.tasks.code.beams import candidates, gold_texts
from assay.tasks.code.datasets import Dataset
from assay.tasks.code.hits import KINDS, ranks
from assay.tasks.code.labels import OTHER, class_code
from assay.tasks.code.locations import NO_BUG, NOWHERE, location

NO_CLASS = "(other)"
"""Predictions that are no class of the data set, in a confusion matrix."""


class Tally:
    """Counts over all batches of a run, one batch after the other."""

    def __init__(self, dataset: Dataset) -> None:
        self._dataset = dataset
        self.n = 0
        self.n_buggy = 0
        self._most_candidates = 1
        self._ranks: Counter[int] = Counter()
        self._pairs: Counter[tuple[str, str]] = Counter()
        self._n_odd = 0

    def add(self, batch: Batch) -> None:
        """Take in the next batch."""
        family = self._dataset.family
        if family.candidates != "one" and len(batch):
            self._count_ranks(batch)
        if family.form == "classes":
            self._count_classes(batch)
        if family.gold == "bug":
            self._n_odd += sum(g != NO_BUG and " " not in g for g in gold_texts(batch))
        if family.gold == "location":
            style = self._dataset.parameters["style"]
            self.n_buggy += sum(location(g.strip(), style) != NOWHERE for g in gold_texts(batch))
        if family.gold == "kind":
            known = {kind.decode() for kind in KINDS}
            self._n_odd += sum(g.partition(" ")[0] not in known for g in gold_texts(batch))
        self.n += len(batch)

    def _count_ranks(self, batch: Batch) -> None:
        self._most_candidates = max(self._most_candidates, int(candidates(batch).counts().max()))
        for rank, count in enumerate(np.bincount(ranks(batch)).tolist()):
            self._ranks[rank] += count

    def _count_classes(self, batch: Batch) -> None:
        labels = self._dataset.parameters["labels"]
        for gold, text in zip(gold_texts(batch), candidates(batch).firsts(), strict=True):
            predicted = text.strip()
            known = class_code(predicted, labels) != OTHER
            self._pairs[gold.strip(), predicted if known else NO_CLASS] += 1

    def warnings(self, asked: int) -> list[str]:
        """What to tell about the data."""
        found = []
        family, most = self._dataset.family, self._most_candidates
        if family.candidates == "all" and (most > 1 or asked != 1):
            ignored = f"--top_n_beam_search {asked} changes nothing: " if asked != 1 else ""
            used = "the one candidate" if most == 1 else f"all candidates, up to {most:,},"
            found.append(
                f"{ignored}{self._dataset.name} looks at {used} of each line; "
                "--cut-beams N keeps the first N"
            )
        if self._n_odd and family.gold == "bug":
            found.append(
                f"{self._n_odd:,} gold lines have a location and no repair: a prediction of one "
                "token counts as a right repair of them"
            )
        if self._n_odd and family.gold == "kind":
            found.append(
                f"{self._n_odd:,} gold lines are edits of another kind than "
                f"{', '.join(kind.decode() for kind in KINDS)} and can never be right"
            )
        return found

    def extra(self) -> dict[str, Any]:
        """Plain data for the document."""
        found: dict[str, Any] = {"dataset": self._dataset.name, "family": self._dataset.family_name}
        if self._dataset.family.form == "classes":
            found.update(self._classes())
        if self._most_candidates > 1:
            hits = [self._ranks[rank] for rank in range(1, self._most_candidates + 1)]
            found["top_k"] = (np.cumsum(hits) / max(self.n, 1)).tolist()
        return found

    def _classes(self) -> dict[str, Any]:
        matrix: dict[str, dict[str, int]] = {}
        for (gold, predicted), count in self._pairs.items():
            matrix.setdefault(gold, {})[predicted] = count
        return {
            "per_class_accuracies": {
                gold: row.get(gold, 0) / sum(row.values()) for gold, row in matrix.items()
            },
            "confusion": matrix,
        }

# SPDX-License-Identifier: Apache-2.0
"""Whole conversations: how many have every turn right."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value
from assay.tasks.sparql.gerbil import answer_sets
from assay.tasks.sparql.pairs import is_exact


@dataclass(frozen=True)
class Conversations(Metric):
    """Share of conversations in which every scored turn is right.

    A turn is right if its answers are the gold answers (`by=answers`) or its query is an exact
    match (`by=em`). From 0 to 1, higher is better; undefined without turns. Known as interaction
    match: Yu et al. (2019), "SParC: Cross-domain semantic parsing in context". Turns belong to a
    conversation by `turnID`; one without is a conversation of its own. Resample whole
    conversations (`--cluster conversation`) for its interval.
    """

    by: Literal["answers", "em"] = "answers"

    name: ClassVar[str] = "conversations"
    merge: ClassVar[Literal["sum", "concat"]] = "concat"
    columns: ClassVar[tuple[str, ...]] = ("conversation", "turn", "right")
    scores: ClassVar[tuple[Score, ...]] = (Score("conversations_right"),)

    def measure(self, batch: Batch) -> Rows:
        """Numbers that stand for conversation and turn, and whether the turn is right."""
        ids = [batch.id_of(i) for i in range(len(batch))]
        names: Sequence[str] = batch.columns.get("conversation", ids)
        rows = np.empty((len(batch), 3))
        for i, (p, g) in enumerate(zip(batch.predictions, batch.gold, strict=True)):
            rows[i, 0] = _number(names[i] or ids[i])
            rows[i, 1] = _number(ids[i])
            if self.by == "em":
                rows[i, 2] = is_exact(p, g)
            else:
                found, right = answer_sets(p, g)
                rows[i, 2] = found == right
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Conversations without a wrong turn, over conversations."""
        rows = totals.values.reshape(-1, 3)
        if len(rows) == 0:
            return {"conversations_right": np.asarray(np.nan)}
        # A resample may hold a conversation several times; its turns then all come that often.
        _, first, came = np.unique(rows[:, 1], return_index=True, return_counts=True)
        names, owner = np.unique(rows[first, 0], return_inverse=True)  # of one conversation each
        times = np.bincount(owner, weights=came) / np.bincount(owner)
        is_right = ~np.isin(names, rows[rows[:, 2] == 0, 0])
        share = (is_right * times).sum() / times.sum()
        return {"conversations_right": np.asarray(float(share))}


def remarks(metrics: Sequence[Metric], statistics: Mapping[str, Any]) -> list[str]:
    """What to say of an interval that is made of single turns."""
    asked = any(isinstance(metric, Conversations) for metric in metrics)
    if not asked or not statistics["ci"] or statistics["cluster"] == "conversation":
        return []
    return [
        "conversations_right is of whole conversations, and its interval was made by drawing "
        "single turns; use --cluster conversation"
    ]


def _number(name: str) -> float:
    """A number for a name, the same everywhere; 52 bits, which a float holds exactly."""
    digest = hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return float(int.from_bytes(digest, "little") >> 12)

# SPDX-License-Identifier: Apache-2.0
"""Candidates that are the gold text: anywhere in the beam, by kind of edit, by rank."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric, Rows, Score, Totals, Value
from assay.core.text import Positions
from assay.tasks.code.beams import candidates, gold_texts, owners, same_text
from assay.tasks.code.shares import share

KINDS: Mapping[bytes, str] = {
    b"add_node": "add",
    b"replace_val": "rep_val",
    b"replace_type": "rep_type",
    b"del_node": "del",
}
"""The first token of an edit, and its name in scores."""

RANKS = (1, 2, 3, 5, 10)


def ranks(batch: Batch) -> Positions:
    """The rank of the first candidate that is the gold text, from 1; 0 if none is.

    >>> ranks(Batch([["a", "b", "b"], ["c"]], ["b", "d"]))
    array([2, 0])
    """
    beams = candidates(batch)
    owner = owners(beams)
    hit = np.flatnonzero(same_text(beams.values, gold_texts(batch).take(owner)))
    found = np.zeros(len(beams), dtype=np.int64)
    first, where = np.unique(owner[hit], return_index=True)
    found[first] = hit[where] - beams.splits[first] + 1
    if batch.missing is not None:
        found[batch.missing] = 0  # what is not there is not right, even if the gold is empty
    return found


@dataclass(frozen=True)
class AnyCandidate(Metric):
    """Share of examples for which one of the candidates, at any rank, is the gold text.

    0 to 1, higher is better; 0 if there are no examples. Text is compared as it is. Source:
    ManySStuBs4J (Karampatsis and Sutton 2020) as scored by PLUR (Chen et al. 2021).

    >>> AnyCandidate().score([(["x", "y"], "y"), ("x", "y")])
    {'class_acc': 0.5}
    """

    name: ClassVar[str] = "any_candidate"
    columns = ("right", "n")
    scores: ClassVar[tuple[Score, ...]] = (Score("class_acc", proportion=("right", "n")),)

    def measure(self, batch: Batch) -> Rows:
        """1 if found, out of 1."""
        return np.stack([ranks(batch) > 0, np.ones(len(batch))], axis=1).astype(np.float64)

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """Found ones out of all."""
        return {"class_acc": share(totals.right, totals.n)}


@dataclass(frozen=True)
class EditKinds(Metric):
    """Share of edits found among the candidates, of all and of each kind.

    The kind is the gold's first token: `add_node`, `del_node`, `replace_val`, `replace_type`. An
    edit of another kind is never right but counts among all. 0 to 1, higher is better; 0 where a
    kind does not occur. Source: Hoppity (Dinella et al. 2020) as scored by PLUR (Chen et al. 2021).

    >>> EditKinds().score([("add_node a", "add_node a"), ("NoOp", "NoOp")])["total_acc"]
    0.5
    """

    name: ClassVar[str] = "edit_kinds"
    columns = ("n", "right", *(f"{part}_{k}" for k in KINDS.values() for part in ("n", "right")))
    scores: ClassVar[tuple[Score, ...]] = (
        Score("total_acc", proportion=("right", "n")),
        *(Score(f"{k}_acc", proportion=(f"right_{k}", f"n_{k}")) for k in KINDS.values()),
    )
    perfect: ClassVar[bool] = False  # kinds that do not occur stay at 0

    def measure(self, batch: Batch) -> Rows:
        """What was found, in all and under its kind."""
        gold = gold_texts(batch)
        names = list(KINDS)
        heads = (gold.raw(i).partition(b" ")[0] for i in range(len(gold)))
        kinds = np.array([names.index(h) if h in KINDS else -1 for h in heads], dtype=np.int64)
        right = (ranks(batch) > 0) & (kinds >= 0)
        rows = np.zeros((len(gold), len(self.columns)))
        rows[:, 0] = 1
        rows[:, 1] = right
        known = np.flatnonzero(kinds >= 0)
        rows[known, 2 + 2 * kinds[known]] = 1
        rows[known, 3 + 2 * kinds[known]] = right[known]
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The shares."""
        found = {"total_acc": share(totals.right, totals.n)}
        for kind in KINDS.values():
            found[f"{kind}_acc"] = share(totals[f"right_{kind}"], totals[f"n_{kind}"])
        return found


@dataclass(frozen=True)
class TopK(Metric):
    """Share of examples with the gold text among the first k candidates, for several k.

    0 to 1, higher is better, growing with k; 0 if there are no examples. `exact_anywhere` looks at
    all candidates, however many. Text is compared as it is.

    >>> found = TopK().score([(["x", "y"], "y"), (["y"], "y")])
    >>> found["top_1"], found["top_2"], found["exact_anywhere"]
    (0.5, 1.0, 1.0)
    """

    name: ClassVar[str] = "topk"
    columns = ("n", *(f"top_{k}" for k in RANKS), "anywhere")
    scores: ClassVar[tuple[Score, ...]] = (
        *(Score(f"top_{k}", proportion=(f"top_{k}", "n")) for k in RANKS),
        Score("exact_anywhere", proportion=("anywhere", "n")),
    )

    def measure(self, batch: Batch) -> Rows:
        """For each k whether the gold is there by then."""
        found = ranks(batch)
        limits = np.array([*RANKS, np.iinfo(np.int64).max])
        rows = np.ones((len(found), len(self.columns)))
        rows[:, 1:] = (found[:, None] > 0) & (found[:, None] <= limits)
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The shares."""
        found = {f"top_{k}": share(totals[f"top_{k}"], totals.n) for k in RANKS}
        return {**found, "exact_anywhere": share(totals.anywhere, totals.n)}

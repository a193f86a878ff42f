# SPDX-License-Identifier: Apache-2.0
"""Which examples tell most about two systems: those that one of them got better."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, zip_longest

import numpy as np
from numpy.typing import NDArray

from assay.core.document import ScoreEntry
from assay.core.metric import Rows, Score
from assay.core.task import Task
from assay.pipeline.choosing import Chosen, chosen_scores
from assay.pipeline.pairing import Paired
from assay.pipeline.result import Result
from assay.pipeline.stored import StoredExample
from assay.report.sections import KINDS, Kind, Telling, TellingExample

SHARES: Mapping[Kind, float] = {
    "lost": 0.35,
    "won": 0.35,
    "both wrong": 0.2,
    "alike": 0.05,
    "both right": 0.05,
    "wrong": 0.8,
    "right": 0.2,
    "undefined": 0.05,
}
"""How many of the examples shown are of each kind, where there are that many."""

FAULTS: frozenset[Kind] = frozenset({"lost", "won", "both wrong", "wrong"})
"""Kinds that come first: where a system was wrong."""

_TIE = 1e-9


def telling_of_pair(
    side_by_side: Paired, key: str, pair: tuple[int, int], most: int, task: Task
) -> Telling:
    """The telling examples of several systems; `pair` are two of them, the leading one last."""
    chosen = chosen_scores(side_by_side.layout, [key])[0]
    scores = [_own_scores(side_by_side.layout.per_example(rows), key) for rows in side_by_side.rows]
    kinds, gains = _kinds(scores[pair[0]], scores[pair[1]], chosen)
    places = _places(kinds, gains, most)
    examples = [side_by_side.examples(i) for i in range(len(side_by_side.runs))]
    names = tuple(run.system for run in side_by_side.runs)
    return _telling(chosen, names, pair, kinds, gains, scores, places, examples, task)


def telling_of_run(run: Result, key: str, most: int, task: Task) -> Telling | None:
    """The telling examples of a single system; None where its rows were not kept."""
    if run.rows is None:
        return None
    chosen = chosen_scores(run.layout, [key])[0]
    score = _own_scores(run.per_example(), key)
    best = _best(chosen.score)
    right = np.isclose(score, best) if best is not None else np.zeros(len(score), dtype=bool)
    kinds = np.where(right, KINDS.index("right"), KINDS.index("wrong"))
    kinds = np.where(np.isnan(score), KINDS.index("undefined"), kinds)
    # No other system to gain on: an example tells the more, the further it is from the best.
    sign = 1.0 if chosen.shown.higher_is_better else -1.0
    gains = sign * score - np.nanmax(sign * score, initial=-np.inf)
    places = _places(kinds, gains, most)
    return _telling(
        chosen, (run.system,), (0, 0), kinds, gains, [score], places, [run.iter_examples()], task
    )


def _own_scores(by_key: Mapping[str, Rows], key: str) -> Rows:
    return np.asarray(by_key[key], dtype=np.float64)


def _best(score: Score) -> float | None:
    bound = score.high if score.higher_is_better else score.low
    return bound if math.isfinite(bound) else None


def _kinds(behind: Rows, ahead: Rows, chosen: Chosen) -> tuple[NDArray[np.intp], Rows]:
    """The kind of each example, as a place in `KINDS`, and by how much the leading system wins."""
    sign = 1.0 if chosen.shown.higher_is_better else -1.0
    gains = sign * (ahead - behind)
    least = _TIE * np.maximum(1.0, np.maximum(np.abs(behind), np.abs(ahead)))
    best = _best(chosen.score)
    if best is None:
        level = np.full(len(gains), KINDS.index("alike"))
    else:
        level = np.where(
            np.isclose(ahead, best), KINDS.index("both right"), KINDS.index("both wrong")
        )
    kinds = np.where(gains > least, KINDS.index("won"), level)
    kinds = np.where(gains < -least, KINDS.index("lost"), kinds)
    return np.where(np.isnan(gains), KINDS.index("undefined"), kinds), gains


def _places(kinds: NDArray[np.intp], gains: Rows, most: int) -> list[int]:
    """The examples to show: of each kind those that differ most, in turn.

    Kinds with few examples leave their room to the others.
    """
    size = np.where(np.isnan(gains), -1.0, np.abs(gains))
    # Rounding must not decide the order of examples that differ alike.
    order = np.argsort(-np.round(size, 9), kind="stable")
    by_kind = [order[kinds[order] == k].tolist() for k in range(len(KINDS))]
    wanted = [math.ceil(most * SHARES[kind]) for kind in KINDS]
    first = [places[:n] for places, n in zip(by_kind, wanted, strict=True)]
    left_over = [places[n:] for places, n in zip(by_kind, wanted, strict=True)]
    faults = [places for kind, places in zip(KINDS, first, strict=True) if kind in FAULTS]
    others = [places for kind, places in zip(KINDS, first, strict=True) if kind not in FAULTS]
    found = [*_in_turn(faults), *_in_turn(others), *_in_turn(left_over)]
    return found[:most]


def _in_turn(lists: Sequence[Sequence[int]]) -> Iterator[int]:
    for row in zip_longest(*lists):
        yield from (place for place in row if place is not None)


def _telling(
    chosen: Chosen,
    systems: tuple[str, ...],
    pair: tuple[int, int],
    kinds: NDArray[np.intp],
    gains: Rows,
    scores: Sequence[Rows],
    places: Sequence[int],
    examples: Sequence[Iterator[StoredExample]],
    task: Task,
) -> Telling:
    counts = np.bincount(kinds, minlength=len(KINDS)).tolist()
    held = [_picked(each, set(places)) for each in examples]
    shown = [
        TellingExample(
            id=held[0][place].id,
            kind=KINDS[kinds[place]],
            scores=tuple(float(s[place]) for s in scores),
            gain=float(gains[place]),
            predictions=tuple(
                None if own[place].missing else task.shown(own[place].prediction) for own in held
            ),
            gold=task.shown(held[0][place].gold),
            slices={k: v for own in reversed(held) for k, v in own[place].slices.items()},
        )
        for place in places
    ]
    entry: ScoreEntry = chosen.shown
    return Telling(
        systems=systems,
        score=entry,
        right_wrong=chosen.score.proportion is not None,
        pair=pair,
        counts={kind: n for kind, n in zip(KINDS, counts, strict=True) if n},
        examples=tuple(shown),
        tokens=task.tokens,
    )


def _picked(examples: Iterator[StoredExample], places: set[int]) -> dict[int, StoredExample]:
    """The examples at these places, without holding the others."""
    last = max(places, default=-1) + 1
    return {i: e for i, e in enumerate(islice(examples, last)) if i in places}

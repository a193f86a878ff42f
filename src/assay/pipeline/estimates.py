# SPDX-License-Identifier: Apache-2.0
"""What verdicts on some examples say about all: draws and estimates."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import assay
from assay.core.errors import UsageError
from assay.core.judging import Question
from assay.core.signature import format_signature
from assay.judge.documents import EstimateDocument, ScoreValidity, SystemEstimate
from assay.judge.estimate import Estimate, estimate, estimate_difference
from assay.judge.queue import frame_of
from assay.judge.sample import Sample, check, draw, frame_digest, read_samples, record
from assay.judge.store import Store
from assay.pipeline.choosing import Chosen, chosen_scores
from assay.pipeline.result import Result
from assay.pipeline.worklist import (
    SystemItems,
    Worklist,
    measures,
    open_store,
    values,
    worklist,
)

FEW = 10
"""Verdicts of the rarer kind below which a normal interval covers less than it says: simulated with
100 of 549 judged and 95 % right it holds the truth in 89 of 100 cases instead of 95."""
MATCH = "match"
"""What helps where a run has no score that could: whether gold is matched by rule."""


def draw_sample(
    work: Worklist, store: Store, folder: Path, *, size: int, seed: int, differing: bool, time: str
) -> Sample:
    """Draw examples whose verdicts are not known, and put the draw on record."""
    known = _known(work, store)
    if differing:
        known = known | work.same()
    ids = [example for example, is_known in zip(work.examples, known, strict=True) if is_known]
    sample = draw(
        work.examples,
        seed=seed,
        size=size,
        known=ids,
        content=frame_of(work.items),
        differing=differing,
        time=time,
    )
    wanted = (seed, size, sample.frame, differing)
    for earlier in read_samples(folder):
        if (earlier.seed, earlier.size, earlier.frame, earlier.differing) == wanted:
            return earlier  # the same draw again: what was judged since then belongs to it
    if not sample.drawn:
        raise UsageError(
            "there is nothing to draw: all examples have verdicts already, which --estimate counts"
        )
    record(folder, sample)
    return sample


def current_sample(work: Worklist, folder: Path) -> Sample:
    """The last draw from these examples, checked."""
    found = read_samples(folder)
    if not found:
        raise UsageError(
            f"{folder} holds no record of a random draw, so the verdicts there say nothing about "
            "the examples that were not judged; draw with --sample N --seed S, judge, then estimate"
        )
    content = frame_of(work.items)
    own = [sample for sample in found if sample.frame == frame_digest([content, *work.examples])]
    sample = (own or found)[-1]
    check(sample, work.examples, content)
    return sample


def _all_known(work: Worklist, store: Store) -> Sample | None:
    """In place of a draw, where none is needed: all examples have verdicts, or all on which two
    systems differ."""
    known = _known(work, store)
    differing = not known.all() and len(work.systems) == 2
    if differing:
        known = known | work.same()
    if not known.all():
        return None
    return Sample(
        name="all",
        seed=0,
        size=0,
        population=len(work.examples),
        frame=frame_digest([frame_of(work.items), *work.examples]),
        drawn=(),
        known=work.examples,
        differing=differing,
    )


def _known(work: Worklist, store: Store) -> NDArray[np.bool_]:
    """Examples about which nothing is left to ask, whatever is measured."""
    known = np.ones(len(work.examples), dtype=bool)
    for system in work.systems:
        for _, question, top in measures(work):
            known &= ~np.isnan(values(work, system, store, question, top))
    return known


def estimates(
    runs: Sequence[str | Path | Result],
    folder: Path,
    *,
    metric: str | None = None,
    level: float = 0.95,
) -> EstimateDocument:
    """Human accuracy on the whole set, by question; with two runs also the difference.

    From the sample that was drawn last; where all examples have verdicts it is counted.
    """
    if not 0 < level < 1:
        raise UsageError(f"--ci {level} must be between 0 and 1")
    work = worklist(runs)
    store = open_store(folder, work)
    sample = _all_known(work, store) or current_sample(work, folder)
    drawn = np.isin(work.examples, sample.drawn)
    known = np.isin(work.examples, sample.known)
    chosen = _chosen(work.systems[0].run, metric, ~known)
    found = []
    for system in work.systems:
        # A draw among what differs says nothing about each system by itself.
        by_name = {
            name: estimate(
                values(work, system, store, question, top),
                _automatic(work, system, chosen, question, top),
                drawn=drawn,
                known=known,
                level=level,
            )
            for name, question, top in measures(work)
            if not sample.differing
        }
        score = _automatic(work, system, chosen, work.questions[-1], 1)
        lower = chosen is not None and not chosen.shown.higher_is_better
        found.append(
            SystemEstimate(system.name, float(np.mean(-score if lower else score)), by_name)
        )
    difference: dict[str, Estimate] = {}
    if sample.differing and len(work.systems) != 2:
        raise UsageError("the sample was drawn where two systems differ; give both runs")
    if len(work.systems) == 2:
        one, two = work.systems
        for name, question, top in measures(work):
            difference[name] = estimate_difference(
                values(work, one, store, question, top),
                values(work, two, store, question, top),
                _automatic(work, one, chosen, question, top),
                _automatic(work, two, chosen, question, top),
                same=work.same(),
                drawn=drawn,
                known=known,
                level=level,
            )
    key = MATCH if chosen is None else chosen.key
    every = {
        **{f"{s.system}, {name}": e for s in found for name, e in s.estimates.items()},
        **{f"difference, {name}": e for name, e in difference.items()},
    }
    return EstimateDocument(
        task=work.task,
        metric=key,
        systems=tuple(found),
        sample={
            "name": sample.name,
            "seed": sample.seed if sample.drawn else None,
            "size": sample.size,
            "population": sample.population,
            "known": len(sample.known),
            "differing": sample.differing,
            "frame": sample.frame,
        },
        difference=difference,
        validity=()
        if sample.differing or not sample.drawn
        else _validity(work, store, drawn, known),
        signature=format_signature(
            f"ppi++({key})" if sample.drawn else "census",
            {
                "n": len(sample.drawn) or None,
                "of": sample.population,
                "known": len(sample.known) or None,
                "seed": sample.seed if sample.drawn else None,
                "ci": level,
                "version": assay.__version__,
            },
        ),
        warnings=_few(every),
    )


def _validity(
    work: Worklist, store: Store, drawn: NDArray[np.bool_], known: NDArray[np.bool_]
) -> tuple[ScoreValidity, ...]:
    """How well each score foretells people, by system and question, the most useful one first."""
    found = []
    for system in work.systems:
        for name, question, top in measures(work):
            said, beside = values(work, system, store, question, top), []
            for chosen in chosen_scores(system.run.layout):
                score = _score(system.run, chosen)
                if chosen.metric.uses_verdicts or np.isnan(score).any() or np.ptp(score) == 0.0:
                    continue  # nothing that it could foretell
                e = estimate(said, score, drawn=drawn, known=known)
                same = math.nan
                if np.isin(score, (0.0, 1.0)).all():
                    same = float(np.mean(said[drawn] == score[drawn]))
                beside.append(
                    ScoreValidity(system.name, name, chosen.key, e.correlation, same, e.worth)
                )
            found += sorted(beside, key=_usefulness)
    return tuple(found)


def _usefulness(found: ScoreValidity) -> tuple[float, float]:
    """What scores are ordered by: verdicts saved, then how far the score goes with people."""
    undefined = math.isnan(found.correlation)
    return -found.worth, 2.0 if undefined else -found.correlation


def _few(estimates: Mapping[str, Estimate]) -> tuple[str, ...]:
    """Which intervals rest on too few verdicts of the rarer kind to be as sure as they say."""
    short = {
        name: e.rarer for name, e in estimates.items() if 0 < e.rarer < FEW and e.sampled < e.rest
    }
    if not short:
        return ()
    name = min(short, key=lambda each: short[each])
    more = f", and {len(short) - 1} more" if len(short) > 1 else ""
    n, all_ = short[name], estimates[name].sampled
    return (
        f"{name}{more}: the intervals come out somewhat too short; of {all_:,} sampled verdicts "
        f"only {n} {'is' if n == 1 else 'are'} of the rarer kind, and {FEW} are needed",
    )


def _chosen(run: Result, metric: str | None, rest: NDArray[np.bool_]) -> Chosen | None:
    """The score that goes with the verdicts: the one asked for, else the first that tells the
    examples apart whose verdicts are not known, right/wrong ones first; None if there is none."""
    every = chosen_scores(run.layout, [metric] if metric else [])
    usable = [c for c in every if not c.metric.uses_verdicts]
    if metric and not usable:
        raise UsageError(
            f"{every[0].key} rests on the verdicts themselves and cannot help to estimate them; "
            "choose another one with --metric"
        )
    usable.sort(key=lambda c: c.score.proportion is None)
    if metric or not rest.any():
        return next(iter(usable), None)
    return next((c for c in usable if np.var(_score(run, c)[rest]) > 0), None)


def _score(run: Result, chosen: Chosen) -> NDArray[np.float64]:
    """Each example's score, more being better."""
    score = np.asarray(run.per_example()[chosen.key], dtype=np.float64)
    return score if chosen.shown.higher_is_better else -score


def _automatic(
    work: Worklist, system: SystemItems, chosen: Chosen | None, question: Question, top: int
) -> NDArray[np.float64]:
    """What the score says about each example, else what the rule says that matches with gold."""
    if chosen is not None:
        return _score(system.run, chosen)
    return np.array(
        [
            any(question.name in item.matched for item in system.by_example.get(example, ())[:top])
            for example in work.examples
        ],
        dtype=np.float64,
    )

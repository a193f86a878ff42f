# SPDX-License-Identifier: Apache-2.0
"""Which items a judge is given, from what was asked for on the command line, and when it ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.core.errors import UsageError
from assay.judge.answers import answer_on
from assay.judge.deciding import Deciding, Measure, View
from assay.judge.evidence import Evidence
from assay.judge.log import VerdictLog, moment
from assay.judge.needs import Needs, Which
from assay.judge.others import Others
from assay.judge.queue import Entry, place_of, recorded_order, shuffled, wanted, with_checks
from assay.judge.sample import Sample
from assay.judge.session import Session
from assay.judge.store import Store
from assay.pipeline.agreements import unsettled_items
from assay.pipeline.estimates import draw_sample
from assay.pipeline.worklist import Worklist, measures


@dataclass(frozen=True, slots=True)
class Queue:
    """The entries of one judge in their order, what of them is still wanted, and the draw they
    come from."""

    entries: list[Entry]
    needs: Needs
    sample: Sample | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How work is given out; the same for all judges of a session."""

    sample: int | None = None
    seed: int = 12345
    differing: bool = False
    until_decided: bool = False
    alpha: float = 0.05
    overlap: int | None = None
    controls: int = 0
    repeats: int = 0
    adjudicate: bool = False
    order_seed: int | None = None
    deciding: Which | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Plan:
        """The plan in some options."""
        plan = cls(**{name: given[name] for name in cls.__dataclass_fields__ if name in given})
        if plan.overlap is not None and plan.overlap < 1:
            raise UsageError(f"--overlap {plan.overlap} must be 1 or more")
        for name in ("controls", "repeats"):
            if getattr(plan, name) < 0:
                raise UsageError(f"--{name} {getattr(plan, name)} must not be negative")
        if not 0 < plan.alpha < 1:
            raise UsageError(f"--alpha {plan.alpha} must be between 0 and 1")
        return plan

    def settling(self) -> Plan:
        """The same for somebody who settles disagreements."""
        return replace(self, adjudicate=True, sample=None)

    def session(
        self, work: Worklist, store: Store, folder: Path, log: VerdictLog
    ) -> tuple[Session, Queue]:
        """A judge at work on what they are asked."""
        queue = self.queue(work, store, folder, log.judge)
        session = Session(
            log,
            queue.entries,
            work.questions,
            settled=store.sheets,
            needs=queue.needs,
            sample=queue.sample.name if queue.sample else None,
            adjudicates=self.adjudicate,
        )
        return session, queue

    def queue(self, work: Worklist, store: Store, folder: Path, judge: str) -> Queue:
        """What this judge is asked. Draws the sample, if one is wanted and none is on record."""
        time = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        two = self.differing or self.until_decided
        if two and len(work.systems) != 2:
            option = "--differing" if self.differing else "--until-decided"
            raise UsageError(f"{option} is about two systems; give two runs")
        sample = None
        chosen = work
        if self.adjudicate:
            items = unsettled_items(work, store)
        else:
            if self.sample is not None:
                sample = draw_sample(
                    work,
                    store,
                    folder,
                    size=self.sample,
                    seed=self.seed,
                    differing=two,
                    time=time,
                )
                chosen = replace(work, only=frozenset(sample.drawn))
            elif two:
                # What decides is which first prediction is right; an estimate wants the others too.
                chosen = replace(work, most=1) if self.until_decided else work
                differ = ~chosen.same()
                ids = (e for e, d in zip(work.examples, differ, strict=True) if d)
                chosen = replace(chosen, only=frozenset(ids))
            items = wanted(chosen.items, work.questions, store, judge, overlap=self.overlap)
        needs = self._needs(chosen, store, folder, judge)
        if not items:
            return Queue([], needs, sample)
        order = recorded_order(folder, judge, items, seed=self.order_seed, time=time)
        ordered = shuffled(items, order.seed, by_rank=self.deciding is not None)
        if self.adjudicate:
            return Queue([Entry(item) for item in ordered], needs, sample)
        checked = with_checks(
            ordered, controls=self.controls, repeats=self.repeats, seed=order.seed
        )
        return Queue(checked, needs, sample)

    def _needs(self, work: Worklist, store: Store, folder: Path, judge: str) -> Needs:
        view = View(
            Store(store.sheets.values()),
            judge,
            overlap=None if self.adjudicate else self.overlap,
            adjudicates=self.adjudicate,
        )
        last = work.questions[-1]
        scores = [Measure(question, top) for _, question, top in measures(work)]
        if self.until_decided:
            scores = [Measure(last, 1)]
        return Needs(
            view,
            Deciding(work.lists, scores, work.questions, view),
            last,
            which=self.deciding or "all",
            others=Others(folder, judge, structure_of=work.structure_of),
        )


def running_line(work: Worklist, store: Store, log: VerdictLog, alpha: float) -> tuple[str, bool]:
    """Which of two systems is ahead, without saying which is which, and whether it is decided.

    Judges must not know whose prediction they see, so the line has no names before the end.
    """
    now = Store(
        store.sheets.values(),
        {**store.history, log.judge: log.verdicts},
    )
    found = running_evidence(work, now, alpha)
    need = 1 / alpha
    one_right = found.wins + found.losses
    line = (
        f"evidence {found.value:.2f} of {need:g} needed "
        f"(judged examples that differ: {found.items:,}, with one right prediction: {one_right:,})"
    )
    if not found.decided:
        return line, False
    first, second = (system.name for system in work.systems[:2])
    word = (
        f"{first} is better than {second}"
        if found.decision == "better"
        else (f"{second} is better than {first}")
    )
    return f"decided: {word} (evidence {found.value:.1f}, p <= {found.p:.3g})", True


def running_evidence(work: Worklist, store: Store, alpha: float) -> Evidence:
    """Which of two systems is better by the verdicts so far, in the order they were given."""
    last = work.questions[-1]
    judged = set(store.places())
    when: list[tuple[str, bool, bool]] = []
    for sides, needed in work.rivals:
        if any(places.isdisjoint(judged) for places in needed):
            continue  # as most are while people judge, who wait for this after every answer
        answers = [
            answer_on(store, side[0], last, work.questions) if side else False for side in sides
        ]
        if None in answers:
            continue
        times = [
            moment(verdict)
            for side in sides
            for item in side
            for verdict in store.of_judges(place_of(item, last))
        ]
        when.append((max(times, default=""), bool(answers[0]), bool(answers[1])))
    evidence = Evidence(alpha=alpha)
    evidence.add_all((a, b) for _, a, b in sorted(when, key=lambda each: each[0]))
    return evidence

# SPDX-License-Identifier: Apache-2.0
"""Documents to render, made by hand: names in several scripts, undefined scores, hostile text."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import pytest

from assay.core.boards import BoardDocument
from assay.core.comparison import ComparisonDocument, Difference, McNemar, Verdict
from assay.core.diffs import Change, ChangeCounts, DiffDocument, ExampleChange
from assay.core.document import (
    Counts,
    InputFile,
    MetricEntry,
    ResultDocument,
    ScoreEntry,
    SliceEntry,
)
from assay.core.gates import Check, GateDocument
from assay.report.leaderboard import board
from assay.report.sections import ReportDocument, Section

NAN = math.nan
HOSTILE = "</script><img src=x onerror=alert(1)>"
STEERING = "all good\x1b[2J\x1b]0;owned\x07\r\u202egnp"
LONG = "questions that need two hops, a comparison and a count of what was found on the way"

BLEU = ScoreEntry("bleu", "bleu", True, "%")
TER = ScoreEntry("ter", "ter", False, "%")
EXACT = ScoreEntry("exact", "exact", True, "")
METRICS = (
    MetricEntry("bleu", "bleu(tokenize=13a)", ("correct", "total"), (BLEU,)),
    MetricEntry("ter", "ter(normalized=false)", ("edits", "words"), (TER,)),
    MetricEntry("exact", "exact(lowercase=false)", ("hits", "count"), (EXACT,)),
)
STATISTICS = {"n": 1204, "ci": 0.95, "resamples": 1000, "trials": 10_000, "seed": 1, "alpha": 0.05}
SIGNATURE = "text|n:1204|ci:0.95|resamples:1000|seed:1|version:0.1.0"


@dataclass(frozen=True)
class Samples:
    """One document of each kind and state that a form must cope with."""

    result: ResultDocument
    empty: ResultDocument
    comparison: ComparisonDocument
    pair: ComparisonDocument
    right_wrong: DiffDocument
    graded: DiffDocument
    failed: GateDocument
    passed: GateDocument
    limits: GateDocument
    ranked: ReportDocument

    @property
    def board(self) -> BoardDocument:
        """The leaderboard as plain data."""
        return board(self.ranked)


def _result(system: str, bleu: float, ter: float, exact: float) -> ResultDocument:
    def interval(value: float, half: float) -> tuple[float, float]:
        return value - half, value + half

    return ResultDocument(
        task="text",
        system=system,
        signature=SIGNATURE,
        counts=Counts(1204, 1204, 1204),
        scores={"bleu": bleu, "ter": ter, "exact": exact},
        metrics=METRICS,
        intervals={
            "bleu": interval(bleu, 1.5),
            "ter": interval(ter, 2.25),
            "exact": interval(exact, 0.0123),
        },
        statistics=STATISTICS,
    )


def _with_slices(result: ResultDocument) -> ResultDocument:
    slices = {
        "type": {
            "simple": SliceEntry(900, {"bleu": 36.5, "ter": 40.0, "exact": 0.5}),
            LONG: SliceEntry(
                303, {"bleu": 30.25, "ter": 50.0, "exact": 0.4}, {"bleu": (28.0, 32.5)}
            ),
            "日本語|a_b": SliceEntry(1, {"bleu": NAN, "ter": NAN, "exact": 0.0}),
        }
    }
    macro = SliceEntry(3, {"bleu": 33.375, "ter": 45.0, "exact": 0.3})
    return replace(
        result,
        counts=Counts(1205, 1206, 1204, 1, 2, 3),
        slices=slices,
        macros={"type": macro},
        inputs=(InputFile("gold", "gold.txt", "0" * 64),),
        gold_sha256="f" * 64,
        warnings=("one example is missing",),
    )


def _difference(
    key: str,
    system: str,
    baseline: str,
    scores: tuple[float, float],
    half: float,
    p: tuple[float, float],
    verdict: Verdict,
    part: tuple[str, str] | None = None,
    n: int = 1204,
) -> Difference:
    ours, theirs = scores
    right_wrong = key == "exact"
    return Difference(
        key=key,
        system=system,
        baseline=baseline,
        system_score=ours,
        baseline_score=theirs,
        difference=ours - theirs,
        interval=(ours - theirs - half, ours - theirs + half),
        p=p[0],
        p_adjusted=p[1],
        test="mcnemar mid-p" if right_wrong else "approximate randomisation",
        correction=("benjamini-hochberg" if part else "holm") if p[0] != p[1] else "none",
        verdict=verdict,
        n=n,
        slice=part,
        mcnemar=McNemar(61, 43, 0.095, 0.079) if right_wrong and part is None else None,
        interval_method="tango" if right_wrong else "paired bootstrap",
    )


def _comparison() -> ComparisonDocument:
    small, large, chinese = "small_50%", "large & slow", "系统三"
    systems = (
        _with_slices(_result(small, 34.5171, 42.0, 0.4900)),
        _result(large, 36.4, 39.5, 0.5050),
        _result(chinese, 36.6, NAN, 0.5050),
    )
    d = _difference
    least = 1 / 10_001
    differences = (
        d("bleu", large, small, (36.4, 34.5171), 0.9, (least, 3 * least), "better"),
        d("bleu", chinese, small, (36.6, 34.5171), 0.95, (least, 3 * least), "better"),
        d("bleu", chinese, large, (36.6, 36.4), 0.6, (0.31, 0.3101), "undecided"),
        d("ter", large, small, (39.5, 42.0), 1.5, (0.0021, 0.0063), "better"),
        d("ter", chinese, small, (NAN, 42.0), NAN, (NAN, NAN), "undecided"),
        d("ter", chinese, large, (NAN, 39.5), NAN, (NAN, NAN), "undecided"),
        d("exact", large, small, (0.505, 0.49), 0.017, (0.079, 0.237), "undecided"),
        d("exact", chinese, small, (0.505, 0.49), 0.017, (0.079, 0.238), "undecided"),
        d("exact", chinese, large, (0.505, 0.505), 0.01, (1.0, 0.9999), "undecided"),
    )
    slices = (
        d("bleu", large, small, (38.0, 36.5), 1.0, (0.001, 0.002), "better", ("type", LONG), 900),
        d(
            "bleu",
            large,
            small,
            (29.0, 30.25),
            1.1,
            (0.03, 0.031),
            "worse",
            ("type", "日本語|a_b"),
            303,
        ),
    )
    return ComparisonDocument(
        task="text",
        systems=systems,
        differences=differences,
        slices=slices,
        statistics={**STATISTICS, "margin": None, "test": "auto", "cluster": None},
        signature="compare:text|n:1204|ci:0.95|version:0.1.0",
    )


def _pair() -> ComparisonDocument:
    whole = _comparison()
    names = [s.system for s in whole.systems[:2]]
    kept = [d for d in whole.differences if d.system == names[1]]
    single = tuple(replace(d, p_adjusted=d.p, correction="none") for d in kept)
    return replace(whole, systems=whole.systems[:2], differences=single)


def _examples(right_wrong: bool) -> tuple[ExampleChange, ...]:
    def example(
        name: str,
        change: Change,
        scores: tuple[float, float],
        old: object,
        new: object,
        gold: object,
    ) -> ExampleChange:
        before, after = scores if right_wrong or math.isnan(scores[0]) else (12.5, 80.25)
        gain = after - before
        return ExampleChange(name, change, before, after, gain, old, new, gold, {"type": "simple"})

    old = "The train to Leipzig departs from track four."
    new = "The train to Leipzig leaves from platform four."
    return (
        example("s7", "broken", (1.0, 0.0), new, old, [new, "From platform four."]),
        example("行1", "fixed", (0.0, 1.0), "東京は寒い", "大阪は寒い", "大阪は寒い"),
        example("h|1", "fixed", (0.0, 1.0), HOSTILE, "a *plain* answer | yes", "a plain answer"),
        example("c9", "changed", (0.0, 0.0), STEERING, "all  good", ""),
        example("k2", "changed", (0.0, 0.0), ["a", "b c", "d", "e"], ["x", "b d", "y", "z"], "q"),
        example("m0", "changed", (NAN, 1.0), None, "", {"b": 1, "a": [2]}),
        example("f=", "fixed", (0.0, 1.0), "=1+1", " ".join(["word"] * 40), "=2"),
    )


def _diff(right_wrong: bool) -> DiffDocument:
    counts = ChangeCounts(fixed=61, broken=43, changed=300, same=800)
    score = EXACT if right_wrong else BLEU
    return DiffDocument(
        task="text",
        baseline="small_50%",
        system="系统三",
        score=score,
        right_wrong=right_wrong,
        baseline_score=0.49 if right_wrong else 34.5171,
        system_score=0.505 if right_wrong else 36.6,
        counts=counts,
        slices={"type": {"simple": ChangeCounts(60, 40, 300, 800), LONG: ChangeCounts(1, 3, 0, 0)}},
        min_change=0.0 if right_wrong else 0.5,
        limit=7,
        selected=404,
        examples=_examples(right_wrong),
        signature=f"diff:{score.key}|n:1204|version:0.1.0",
    )


def _gate() -> GateDocument:
    run, base = "large & slow", "small_50%"
    d = _difference
    bleu = d("bleu", run, base, (33.0, 34.5), 0.9, (0.001, 0.003), "worse")
    ter = d("ter", run, base, (42.5, 42.0), 1.5, (0.4, 0.5), "undecided")
    exact = d("exact", run, base, (0.5, 0.49), 0.02, (0.3, 0.5), "undecided")
    part = d("exact", run, base, (0.1, 0.2), 0.15, (0.12, 0.24), "undecided", ("type", LONG), 40)
    gone = d("exact", run, base, (NAN, 0.5), NAN, (NAN, NAN), "undecided", ("type", HOSTILE), 2)
    none = d("exact", run, base, (0.5, NAN), NAN, (NAN, NAN), "undecided", ("type", "\x07"), 1)

    checks = (
        Check("max_drop", "bleu", "failed", "significant loss", 0.5, 33.0, 1204, None, bleu),
        Check(
            "max_drop", "ter", "passed", "loss within the allowed drop", 0.5, 42.5, 1204, None, ter
        ),
        Check("max_drop", "exact", "passed", "no loss", 0.01, 0.5, 1204, None, exact),
        Check(
            *("max_drop", "exact", "passed", "larger loss not significant", 0.01, 0.1, 40),
            part.slice,
            part,
        ),
        Check("max_drop", "exact", "failed", "score undefined", 0.01, NAN, 2, gone.slice, gone),
        Check("max_drop", "exact", "skipped", "nothing to compare", NAN, 0.5, 1, none.slice, none),
        Check("min", "bleu", "failed", "limit missed", 35.0, 33.0, 1204),
        Check("max", "ter", "passed", "limit kept", 45.0, 42.5, 1204),
    )
    return GateDocument(
        task="text",
        system=run,
        baseline=base,
        mode="significant",
        passed=False,
        checks=checks,
        scores=(BLEU, TER, EXACT),
        statistics=STATISTICS,
        signature="gate:text|mode:significant|n:1204|version:0.1.0",
    )


def _noninferior() -> GateDocument:
    gate = _gate()
    good = _difference(
        "bleu", "large & slow", "small_50%", (36.4, 34.5), 0.9, (0.1, 0.1), "undecided"
    )
    check = Check("max_drop", "bleu", "passed", "larger loss excluded", 0.5, 36.4, 1204, None, good)
    return replace(gate, mode="noninferior", passed=True, checks=(check,), scores=(BLEU,))


def _ranked() -> ReportDocument:
    whole = _comparison()
    folders = tuple(f"runs/{i}" for i in range(3))
    best_first = whole.systems[::-1]
    compared = Section("text", best_first, whole, folders=folders, links=folders)
    alone = Section("text", (_result("only one", 30.0, NAN, 0.1),), remarks=("left out: old",))
    return ReportDocument("Board", (compared, alone), "assay leaderboard runs", "0.1.0")


@pytest.fixture(scope="session")
def samples() -> Samples:
    result = _with_slices(_result("系统三 | best", 34.5171, 42.0, 0.49))
    failed = _gate()
    return Samples(
        result=result,
        empty=replace(
            _result("nothing", NAN, NAN, NAN),
            signature="text|n:0|version:0.1.0",
            counts=Counts(),
            intervals={},
            statistics={"n": 0},
        ),
        comparison=_comparison(),
        pair=_pair(),
        right_wrong=_diff(True),
        graded=_diff(False),
        failed=failed,
        passed=_noninferior(),
        limits=replace(failed, baseline=None, checks=failed.checks[-2:], scores=(BLEU, TER)),
        ranked=_ranked(),
    )

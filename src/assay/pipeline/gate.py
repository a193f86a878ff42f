# SPDX-License-Identifier: Apache-2.0
"""`gate`: may this run replace its baseline?

Two modes, for two different burdens of proof. The loss of a run is how much worse its score is than
the baseline's, whichever way the score runs.

    significant   fails a loss above the allowed drop whose p-value, after correction, is at most
                  alpha: what may be chance does not stop anybody
    noninferior   fails unless the interval of the difference excludes a loss of the allowed drop or
                  more: what is not known to be harmless does not get through. A run that predicts
                  what its baseline does always passes
"""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

import numpy as np

import assay
from assay.aggregate.asked import TRIALS
from assay.aggregate.correct import holm
from assay.aggregate.paired import Test
from assay.aggregate.verdict import ALPHA, verdict
from assay.core.comparison import ComparisonDocument, Difference
from assay.core.errors import FindingError, UsageError
from assay.core.gates import Check, GateDocument, Mode, Reason, Status
from assay.core.names import several, unknown
from assay.core.signature import format_signature
from assay.pipeline.choosing import Chosen, chosen_scores
from assay.pipeline.compare import compare, remarks_of
from assay.pipeline.limits import Drops, check_drops, check_limits, parse_drops
from assay.pipeline.pairing import Paired, paired
from assay.pipeline.result import Result
from assay.pipeline.runs import load_run

# 0.8 to 0.7 is a drop of 0.1 on paper and a little more in binary.
_TIE = 1e-12


@dataclass(frozen=True)
class Gate:
    """What `gate` found; `passed` is the answer, `demand()` raises where it is no."""

    document: GateDocument

    @property
    def passed(self) -> bool:
        """Whether no check failed."""
        return self.document.passed

    def demand(self) -> None:
        """Raise FindingError, naming the checks that failed."""
        from assay.report.gate import failure

        if not self.passed:
            raise FindingError(failure(self.document))

    def to_dict(self) -> dict[str, object]:
        """The document as plain data."""
        return self.document.as_dict()

    def to_json(self) -> str:
        """The document as JSON."""
        from assay.report.json import to_json

        return to_json(self.document)

    def to_junit(self) -> str:
        """The document as JUnit XML, one test case per check."""
        from assay.report.junit import gate_junit

        return gate_junit(self.document)

    def to_text(self, format: str = "table", digits: int | None = None) -> str:
        """The document as a table, Markdown, LaTeX or CSV."""
        from assay.report.gate import render_gate

        return render_gate(self.document, format, digits)

    def __str__(self) -> str:
        from assay.report.terminal import remarked

        return remarked(self.to_text(), self.document.warnings)

    def _repr_html_(self) -> str:
        from assay.report.gate import gate_html

        return gate_html(self.document)


def gate(
    run: Result | str | Path,
    *,
    baseline: Result | str | Path | None = None,
    max_drop: str | float | Sequence[str] | Mapping[str, str | float] = 0.0,
    mode: Mode = "significant",
    metrics: str | Sequence[str] = (),
    slices: str | Sequence[str] = (),
    minimum: Mapping[str, float] | None = None,
    maximum: Mapping[str, float] | None = None,
    cluster: str | None = None,
    ci: float = 0.95,
    resamples: int = 1000,
    trials: int = TRIALS,
    seed: int = 12345,
    alpha: float = ALPHA,
    test: Test = "auto",
) -> Gate:
    """Check a run against a baseline, against fixed limits, or both.

    `max_drop` is in the units of the score (0.5 BLEU points, 0.01 of a share), or a share of the
    baseline's score where it is text that ends in %; a mapping gives each score its own. `minimum`
    and `maximum` are limits on the run's own scores, without statistics. `metrics` are the scores
    to compare (default: all that both runs have).

    In mode `significant` p-values are corrected by Holm over the scores, and by
    Benjamini-Hochberg over the values of each slice column. Mode `noninferior` needs no
    correction: every single check must exclude the loss. A score that is undefined in the run but
    not in the baseline fails; one that is undefined in the baseline is skipped.

    >>> from assay.pipeline.evaluate import evaluate
    >>> gold = list("abcdefgh")
    >>> good = evaluate("text", gold, gold, metrics=["exact"], system="good")
    >>> bad = evaluate("text", ["x"] * 8, gold, metrics=["exact"], system="bad")
    >>> gate(bad, baseline=good).passed, gate(good, baseline=bad).passed
    (False, True)
    """
    if mode not in get_args(Mode):
        raise unknown("mode of a gate", mode, get_args(Mode))
    metrics, slices = several(metrics), several(slices)
    least, most = dict(minimum or {}), dict(maximum or {})
    ours = run if isinstance(run, Result) else load_run(run)
    checks: list[Check] = []
    compared: ComparisonDocument | None = None
    scores = chosen_scores(ours.layout)
    if baseline is not None:
        theirs = baseline if isinstance(baseline, Result) else load_run(baseline)
        drops = parse_drops(max_drop)
        side_by_side = paired([theirs, ours])
        chosen = chosen_scores(side_by_side.layout, metrics)
        check_drops(drops, chosen, mode)
        compared = compare(
            theirs,
            ours,
            metrics=list(dict.fromkeys(c.entry.text for c in chosen)),
            slices=slices,
            cluster=cluster,
            ci=ci,
            resamples=resamples,
            trials=trials,
            seed=seed,
            alpha=alpha,
            test=test,
        ).document
        same = mode == "noninferior" and _same_predictions(side_by_side)
        checks += _drop_checks(compared, chosen, drops, mode, alpha, same)
    elif not least and not most:
        raise UsageError("a gate needs --baseline RUN, or --min KEY=VALUE or --max KEY=VALUE")
    elif slices or metrics:
        raise UsageError("--slice and --metric need --baseline; --min and --max look at the whole")
    check_limits(least, most, scores)
    checks += [_limit(ours, key, value, "min") for key, value in least.items()]
    checks += [_limit(ours, key, value, "max") for key, value in most.items()]
    if all(c.status == "skipped" for c in checks):
        raise UsageError(
            "the gate has nothing to check: every score of the baseline is undefined; "
            "score a baseline that has examples"
        )
    named = {c.key for c in checks}
    statistics: Mapping[str, Any] = compared.statistics if compared is not None else {}
    entries = {c.key: c.shown for c in scores}
    if compared is not None:
        entries.update({c.key: c.shown for c in chosen})
    document = GateDocument(
        task=ours.document.task,
        system=compared.systems[1].system if compared is not None else ours.system,
        baseline=compared.systems[0].system if compared is not None else None,
        mode=mode,
        passed=all(c.status != "failed" for c in checks),
        checks=tuple(checks),
        scores=tuple(entry for key, entry in entries.items() if key in named),
        statistics=statistics,
        signature=_signature(ours, mode if compared is not None else None, statistics),
        warnings=compared.warnings if compared is not None else tuple(remarks_of([ours])),
        made={"assay": assay.__version__, "python": platform.python_version()},
    )
    return Gate(document)


def _drop_checks(
    compared: ComparisonDocument,
    chosen: Sequence[Chosen],
    drops: Drops,
    mode: Mode,
    alpha: float,
    same: bool,
) -> list[Check]:
    """One check for each chosen score, of the whole and of each slice.

    `same` says that the run predicts what the baseline does: however few the examples, there is
    no loss to exclude.
    """
    # The comparison names scores by the metrics it holds; the user named them by those of the runs.
    keys = {
        (entry.signature, score.name): score.key
        for entry in compared.systems[0].metrics
        for score in entry.scores
    }
    by_key = {keys[c.metric.signature, c.score.name]: c for c in chosen}
    whole = [d for d in compared.differences if d.key in by_key]
    adjusted = holm([d.p for d in whole])
    corrected = [
        replace(
            d,
            p_adjusted=float(p),
            correction="holm" if len(whole) > 1 else "none",
            verdict=verdict(
                d.difference,
                d.interval,
                float(p),
                higher_is_better=by_key[d.key].score.higher_is_better,
                alpha=alpha,
            ),
        )
        for d, p in zip(whole, adjusted, strict=True)
    ]
    sliced = [d for d in compared.slices if d.key in by_key]
    checks = []
    for d in (*corrected, *sliced):
        c = by_key[d.key]
        named = replace(d, key=c.key)
        allowed = drops.of(c.key).of(d.baseline_score)
        status, reason = judged(named, allowed, mode, alpha, c.score.higher_is_better)
        if same and status == "failed":
            status, reason = "passed", "no loss"
        checks.append(
            Check(
                rule="max_drop",
                key=c.key,
                status=status,
                reason=reason,
                limit=allowed,
                score=d.system_score,
                n=d.n,
                slice=d.slice,
                difference=named,
            )
        )
    return checks


def _same_predictions(side_by_side: Paired) -> bool:
    """Whether both runs predict the same throughout; rows that differ are the quicker answer."""
    first, second = side_by_side.rows
    if not np.array_equal(first, second):
        return False
    examples = zip(side_by_side.examples(0), side_by_side.examples(1), strict=True)
    return all((a.prediction, a.missing) == (b.prediction, b.missing) for a, b in examples)


def judged(
    d: Difference, allowed: float, mode: Mode, alpha: float, higher_is_better: bool
) -> tuple[Status, Reason]:
    """Whether a difference passes, and why."""
    if math.isnan(d.baseline_score):
        return "skipped", "nothing to compare"
    if math.isnan(d.system_score):
        return "failed", "score undefined"
    low, high = d.interval
    loss, worst = (-d.difference, -low) if higher_is_better else (d.difference, high)
    if mode == "noninferior":
        # An interval that is undefined excludes nothing.
        if worst < allowed:
            return "passed", "larger loss excluded"
        return "failed", "larger loss not excluded"
    if loss <= 0:
        return "passed", "no loss"
    if loss <= allowed + _TIE * max(abs(d.system_score), abs(d.baseline_score)):
        return "passed", "loss within the allowed drop"
    if d.p_adjusted <= alpha:
        return "failed", "significant loss"
    return "passed", "larger loss not significant"


def _limit(run: Result, key: str, value: float, rule: Any) -> Check:
    score = run.scores[key]
    n = int(run.document.statistics.get("n", run.document.counts.matched))
    status: Status
    reason: Reason
    if math.isnan(score):
        status, reason = "failed", "score undefined"
    elif score >= value if rule == "min" else score <= value:
        status, reason = "passed", "limit kept"
    else:
        status, reason = "failed", "limit missed"
    return Check(rule, key, status, reason, value, score, n)


def _signature(run: Result, mode: Mode | None, statistics: Mapping[str, Any]) -> str:
    keys = ("ci", "resamples", "trials", "seed", "alpha", "cluster") if mode is not None else ()
    return format_signature(
        f"gate:{run.document.task}",
        {
            "mode": mode,
            "n": run.document.statistics.get("n"),
            **{key: statistics.get(key) for key in keys},
            "version": assay.__version__,
        },
    )

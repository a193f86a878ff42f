# SPDX-License-Identifier: Apache-2.0
"""`evaluate`: read, align, measure, aggregate. The one place where the stages are joined."""

from __future__ import annotations

import gc
import platform
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import assay
from assay import engine as engines
from assay import tasks
from assay.aggregate.asked import SEED
from assay.core.batch import Batch
from assay.core.document import ResultDocument, hashing, plain
from assay.core.errors import UsageError
from assay.core.files import sparing
from assay.core.metric import Metric, Rows
from assay.core.names import several, system_name, unknown
from assay.core.signature import format_signature
from assay.core.task import Examples, Missing, Outcome, Task
from assay.pipeline.collect import INTERVALS, Collected, Collector, OwnIntervals, Plan
from assay.pipeline.measuring import Layout, Measure
from assay.pipeline.refusals import check_numbers, check_own, spare_inputs
from assay.pipeline.result import Result
from assay.pipeline.slicing import with_columns

COLLECTED_AT = 100_000
"""Objects made and not yet given up before the cycle collector looks at them."""


def evaluate(
    task: str | Task,
    predictions: Any = None,
    gold: Any = None,
    *,
    metrics: str | Metric | Sequence[str | Metric] = (),
    system: str | None = None,
    slices: str | Sequence[str] = (),
    cluster: str | None = None,
    missing: Missing | None = None,
    ci: float = 0.95,
    interval: str = "auto",
    resamples: int = 1000,
    seed: int | None = None,
    jobs: int = 1,
    engine: str | None = None,
    scheduler: str | None = None,
    save: str | Path | None = None,
    per_example: str | Path | None = None,
    keep: bool = True,
    digests: bool | None = None,
    own_files: bool = True,
    progress: Callable[[int], None] | None = None,
    command: str | None = None,
    **options: Any,
) -> Result:
    """Score predictions against gold.

    `predictions` and `gold` are paths (text or `Path`; a list of `Path` for several files) or the
    data itself: lists of strings, of lists of strings, or of mappings with `id`; a mapping from id
    to text; a table. `metrics` are names with their parameters, or metrics of your own as objects.
    `ci=0` leaves intervals out. With `keep=False` rows and examples are dropped as soon as nothing
    needs them. `digests` says whether files and gold are hashed, for the document to name them by;
    where nobody says, they are if rows are kept. `own_files=False` leaves out the files that a task
    writes besides the run folder. Without a `seed` it is the task's own, or 12345.

    >>> result = evaluate("text", ["a b c", "x"], ["a b d", "x"], metrics=["exact"])
    >>> result.scores["exact"]
    0.5
    """
    started = time.perf_counter()
    chosen = tasks.load(task) if isinstance(task, str) else task
    if seed is None:
        seed = next((o.default for o in chosen.options if o.name == "seed"), SEED)
    check_numbers(ci, resamples, seed, jobs, missing)
    policy: Missing = missing or chosen.missing
    if own_files:
        chosen.check_outputs(**options)
    given = (metrics,) if isinstance(metrics, (str, Metric)) else tuple(metrics)
    names = tuple(m for m in given if isinstance(m, str))
    own = [m for m in given if not isinstance(m, str)]
    check_own(own, chosen, save)
    # A metric that does not exist is an error before anything is read, or anybody asked.
    asked = chosen.metrics(names, **options) if names else None
    shared = {name: {"seed": seed, "ci": ci}[name] for name in chosen.shares}
    if digests is None:
        digests = keep or save is not None
    with hashing(digests):
        examples = chosen.examples(predictions, gold, missing=policy, **shared, **options)
    found = examples.metrics
    if examples.choose is not None:
        found = examples.choose(names)
    elif found is None and asked is not None:
        found = asked
    elif found is None:
        found = [] if own else chosen.metrics((), **options)
    layout = Layout.of([*found, *own])
    keeps = chosen.wants_rows(interval=interval, **options)
    keep_all = keep or keeps
    slices = tuple(dict.fromkeys([*examples.slices, *several(slices)]))
    plan = Plan(
        ci=ci,
        interval=interval,
        resamples=resamples,
        seed=seed,
        slices=slices,
        macros=examples.macros,
        cluster=cluster,
        keep_rows=keep_all or save is not None,
        keep_batches=(keep_all and save is None) or keeps,
        own_intervals=_own_intervals(chosen, interval, cluster),
        digests=digests,
    )
    with ExitStack() as stack:
        run = table = None
        if save is not None:
            from assay.pipeline.runs import RunWriter

            run = stack.enter_context(RunWriter(Path(save)))
        if per_example is not None:
            from assay.pipeline.table import ExampleTable

            explain = partial(chosen.explain, metrics=layout.metrics)
            table = stack.enter_context(ExampleTable(Path(per_example), layout, explain))
        collector = Collector(layout, plan)
        worker = engines.load(engine, jobs, scheduler)
        wanted = [*slices, *([cluster] if cluster is not None else [])]
        _keep_freed_memory()
        stack.enter_context(_rare_collections())
        for batch, rows in _measured(worker, chosen, layout, examples, wanted):
            collector.add(batch, rows)
            for sink in (run, table):
                if sink is not None:
                    sink.add(batch, rows, cluster)
            if progress is not None:
                progress(collector.n)
            del batch, rows  # so that the next batch is made where this one was
        collected = collector.finish()
        document = _document(
            chosen,
            layout,
            plan,
            collected,
            examples,
            system=system or examples.system or _system_name(predictions),
            options={
                "predictions": _as_given(predictions),
                "gold": _as_given(gold),
                "metrics": [m.text for m in layout.metrics],
                "missing": policy,
                **options,
            },
            made={
                "assay": assay.__version__,
                "python": platform.python_version(),
                "numpy": np.__version__,
                "seconds": round(time.perf_counter() - started, 3),
                "command": command,
            },
        )
        spare_inputs(document.inputs, save, per_example)
        outcome = Outcome(
            document, layout.metrics, collected.rows, collected.batches, collected.totals
        )
        extra = {**document.extra, **plain(chosen.extra(outcome, **options))}
        remarks = list(chosen.remarks(outcome, **options))
        if remarks:  # what is said of the scores holds wherever they are shown again
            extra["remarks"] = remarks
        said = (*document.warnings, *remarks)
        outcome = replace(outcome, document=replace(document, extra=extra, warnings=said))
        written: dict[str, Path] = {}
        if own_files:
            with sparing(file.path for file in document.inputs):
                written.update(chosen.finish(outcome, **options))
        if run is not None and save is not None:
            assert collected.rows is not None, "a saved run keeps its rows"
            run.finish(outcome.document, collected.rows)
            written["run"] = Path(save)
        if table is not None and per_example is not None:
            written["per-example scores"] = Path(per_example)
    return Result(
        outcome.document,
        layout,
        collected.rows,
        collected.batches,
        Path(save) if save is not None else None,
        written,
    )


def _keep_freed_memory() -> None:
    """Make glibc keep what batches free for the next batch, instead of handing it back each time.

    Freeing a large block once is what tells it to; pages that come and go cost a tenth of the time.
    """
    np.empty(16 << 20, dtype=np.uint8)


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let the cycle collector run seldom: batches hold many objects and no cycles."""
    before = gc.get_threshold()
    if before[0]:  # else it is off altogether
        gc.set_threshold(max(before[0], COLLECTED_AT), *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _own_intervals(task: Task, kind: str, cluster: str | None) -> OwnIntervals | None:
    if kind in INTERVALS:
        return None
    if kind not in task.own_intervals:
        raise unknown("interval", kind, [*INTERVALS, *task.own_intervals])
    if cluster is not None:
        raise UsageError(
            f"--interval {kind} resamples examples, not clusters; leave out --cluster, or use "
            "--interval bootstrap"
        )
    return partial(task.intervals, kind)


def _measured(
    worker: engines.Engine, task: Task, layout: Layout, examples: Examples, wanted: Sequence[str]
) -> Iterator[tuple[Batch, Rows]]:
    """Each batch with its rows, in order; a batch waits here while its rows are computed."""
    waiting: deque[Batch] = deque()

    def feed() -> Iterator[Batch]:
        for batch in examples.batches:
            waiting.append(with_columns(task, batch, wanted))
            del batch
            yield waiting[-1]

    for rows in worker.map(Measure(layout.metrics), feed()):
        yield waiting.popleft(), rows


def _document(
    task: Task,
    layout: Layout,
    plan: Plan,
    collected: Collected,
    examples: Examples,
    *,
    system: str,
    options: Mapping[str, Any],
    made: Mapping[str, Any],
) -> ResultDocument:
    resampled = plan.ci > 0
    signature = format_signature(
        task.name,
        {
            "n": collected.n,
            "missing": options["missing"],
            "compat": options.get("compat"),
            **examples.marks,
            "ci": plan.ci if resampled else None,
            "interval": plan.interval if resampled else None,
            "resamples": plan.resamples if resampled else None,
            "seed": plan.seed if resampled else None,
            "cluster": plan.cluster,
            "version": assay.__version__,
        },
    )
    return ResultDocument(
        task=task.name,
        system=system,
        signature=signature,
        counts=examples.intake.counts,
        scores=collected.scores,
        metrics=layout.entries,
        intervals=collected.intervals,
        slices=collected.slices,
        macros=collected.macros,
        statistics={
            "n": collected.n,
            "extra": collected.extra,
            "ci": plan.ci,
            "interval": plan.interval,
            "methods": collected.methods,
            "resamples": plan.resamples,
            "seed": plan.seed,
            "slices": list(plan.slices),
            "cluster": plan.cluster,
            "macros": collected.weights,
        },
        options=plain(options),
        inputs=tuple(examples.intake.inputs),
        gold_sha256=collected.gold_sha256,
        warnings=(*examples.intake.warnings, *collected.warnings),
        extra=examples.intake.extra,
        made=made,
    )


def _as_given(source: Any) -> Any:
    """Paths as text; data held in memory has no name that a later run could use."""
    if isinstance(source, (str, Path)):
        return str(source)
    if isinstance(source, (list, tuple)) and source and all(isinstance(s, Path) for s in source):
        return [str(s) for s in source]
    return None


def _system_name(predictions: Any) -> str:
    given = _as_given(predictions)
    first = given[0] if isinstance(given, list) else given
    return system_name(first or "-")

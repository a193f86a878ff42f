# SPDX-License-Identifier: Apache-2.0
"""What a run in process gives besides the scores of the server: metrics by name, SimulEval's files.

Both follow from the event log alone.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.aggregate.totals import scores_of
from assay.core.batch import Batch
from assay.core.files import atomic_file
from assay.tasks.simul import simuleval
from assay.tasks.simul.events import Event, Header, Stream
from assay.tasks.simul.formats import emission_of
from assay.tasks.simul.log import Log
from assay.tasks.simul.outcome import own_name
from assay.tasks.simul.registry import chosen_metrics
from assay.tasks.simul.settings import Settings
from assay.tasks.simul.spoken import spoken_line
from assay.tasks.simul.streams import by_character

SCORES = "scores.tsv"


class Recorder:
    """The event log of a run that writes no files: streams in memory."""

    def __init__(self) -> None:
        self._streams: dict[str, Stream] = {}
        self._lock = threading.Lock()

    def open(
        self, id: str, *, source_length: float | None, reference: str | None, source: Any
    ) -> None:
        """A sentence begins, or begins anew."""
        with self._lock:
            self._streams[id] = Stream(id, source_length, reference, source)

    def step(self, id: str, event: Event) -> None:
        """A step of a sentence."""
        self._streams[id].events.append(event)

    def close(self, id: str, *, at: float | None) -> None:
        """A sentence has ended."""
        stream = self._streams[id]
        stream.end, stream.finished = at, True

    @property
    def streams(self) -> list[Stream]:
        """What was recorded."""
        return list(self._streams.values())


def check_names(settings: Settings, source: str, target: str) -> None:
    """Know a wrong name before the run, not after it."""
    chosen_metrics((), _log(source, target), settings, has_references=True)


def _log(source: str, target: str) -> Log:
    return Log("events", "", source, target, iter(()))


def measured(
    header: Header, streams: Sequence[Stream], settings: Settings
) -> dict[str, float | None]:
    """The metrics that settings name, or the usual ones, as `assay simul score` gives them.

    None where a score is undefined. BLEU of spoken output is.
    """
    batch = Batch(
        [emission_of(s, header, settings) for s in streams],
        [s.reference or "" for s in streams],
        [s.id for s in streams],
    )
    log = _log(header.source_type, header.target_type)
    found: dict[str, float] = {"BLEU": math.nan} if header.target_type == "speech" else {}
    for metric in chosen_metrics((), log, settings, has_references=True):
        found.update(scores_of(metric, metric.measure(batch)))
    return {name: None if math.isnan(value) else value for name, value in found.items()}


def write_instances(
    folder: Path, header: Header, streams: Iterable[Stream], *, by_unit: str = "word"
) -> list[str]:
    """SimulEval's `instances.log` and `config.yaml`; their names.

    There is a delay for each word, or each character where that is the unit.
    """
    lines = [_line(folder, header, stream, by_unit) + "\n" for stream in streams]
    config = simuleval.config_text(header.source_type, header.target_type)
    contents = {simuleval.INSTANCES: "".join(lines), simuleval.CONFIG: config}
    for name, content in contents.items():
        with atomic_file(folder / name) as aside:
            aside.write_text(content, encoding="utf-8")
    return list(contents)


def _line(folder: Path, header: Header, stream: Stream, unit: str) -> str:
    emission = stream.emission(header, "simuleval")  # what its computation-aware times are
    if header.target_type == "text":
        emission = by_character(emission) if unit == "char" else emission
        return simuleval.instance_line(stream.id, emission, stream.reference, stream.source)
    return spoken_line(stream.id, folder, emission, stream.reference, stream.source)


def write_scores(folder: Path, scores: Mapping[str, float | None]) -> str:
    """SimulEval's `scores.tsv`; its name."""
    table = simuleval.scores_table(
        {own_name(name): math.nan if value is None else value for name, value in scores.items()}
    )
    with atomic_file(folder / SCORES) as aside:
        aside.write_text(table, encoding="utf-8")
    return SCORES

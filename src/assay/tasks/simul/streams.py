# SPDX-License-Identifier: Apache-2.0
"""What a system wrote and when: the predictions of the task, one stream each, as columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Protocol, overload

import msgspec
import numpy as np

from assay.core.batch import Batch
from assay.core.text import Texts
from assay.tasks.simul.ragged import Mask, Numbers, Ragged


class Emission(msgspec.Struct, frozen=True, omit_defaults=True, gc=False):
    """One stream: the final text, and for each of its units how much source had been read.

    `delays` and `source_length` are in milliseconds, or in words where the source is text.
    `elapsed` are computation-aware times of the same units. `end` is the delay of the end mark,
    where the log has one. `to_end` is the time from the start of a segment to the end of its
    recording. `durations` are those of spoken output. `deleted` counts units that were taken back,
    `computing` the milliseconds of computation. `source` is the source, or what describes it, where
    that was asked for.
    """

    text: str
    delays: list[float]
    source_length: float
    elapsed: list[float] = []
    source_type: str = "speech"
    end: float | None = None
    to_end: float | None = None
    durations: list[float] | None = None
    deleted: float | None = None
    computing: float | None = None
    source: Any = None


class Unread(Protocol):
    """Times of streams that have not been read yet."""

    def read(self) -> Sequence[Sequence[float]]:
        """The times of each stream."""

    def part(self, start: int, stop: int) -> Unread:
        """Those of streams `start` to `stop`."""


@dataclass(frozen=True, eq=False)
class Streams(Sequence[Emission]):
    """A column of emissions. Undefined numbers are NaN.

    `elapsed` has a time for every delay; those of a stream whose log has none, or another number
    of them, are NaN. The same holds for `durations`. Most of a log are its times: those with
    computation (`late`) may stay unread until they are asked for.
    """

    texts: Texts
    delays: Ragged
    source: Numbers
    late: Ragged | Unread
    of_text: Mask
    end: Numbers
    to_end: Numbers
    durations: Ragged
    deleted: Numbers
    computing: Numbers
    sources: Sequence[Any] | None = None
    known: dict[object, Numbers] = field(default_factory=dict, init=False, repr=False)
    """Lengths of references that have been counted; streams are measured by several metrics."""

    @classmethod
    def of(cls, emissions: Sequence[Emission]) -> Streams:
        """Emissions side by side; a column is given back as it is."""
        if isinstance(emissions, Streams):
            return emissions
        held = list(emissions)
        delays = Ragged.of(e.delays for e in held)
        return cls(
            texts=Texts.of(e.text for e in held),
            delays=delays,
            source=np.array([e.source_length for e in held], dtype=np.float64),
            late=matching(delays, [e.elapsed for e in held]),
            of_text=np.array([e.source_type == "text" for e in held], dtype=bool),
            end=_numbers(e.end for e in held),
            to_end=_numbers(e.to_end for e in held),
            durations=matching(delays, [e.durations or () for e in held]),
            deleted=_numbers(e.deleted for e in held),
            computing=_numbers(e.computing for e in held),
            sources=None if all(e.source is None for e in held) else [e.source for e in held],
        )

    @cached_property
    def elapsed(self) -> Ragged:
        """Computation-aware times."""
        if isinstance(self.late, Ragged):
            return self.late
        return matching(self.delays, self.late.read())

    def __reduce__(self) -> tuple[object, ...]:
        # Another process gets times, not the file that they stand in.
        given = [f.name for f in fields(self) if f.init]
        return Streams, tuple(getattr(self, "elapsed" if n == "late" else n) for n in given)

    def __len__(self) -> int:
        return len(self.source)

    @overload
    def __getitem__(self, index: int) -> Emission: ...
    @overload
    def __getitem__(self, index: slice) -> Streams: ...
    def __getitem__(self, index: int | slice) -> Emission | Streams:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return Streams.of([self[i] for i in range(start, stop, step)])
            return self._part(start, max(start, stop))
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("stream index out of range")
        durations = self.durations[index]
        elapsed = self.elapsed[index]
        return Emission(
            self.texts[index],
            self.delays[index].tolist(),
            float(self.source[index]),
            [] if np.isnan(elapsed).any() else elapsed.tolist(),
            "text" if self.of_text[index] else "speech",
            _given(self.end[index]),
            _given(self.to_end[index]),
            None if np.isnan(durations).any() or not len(durations) else durations.tolist(),
            _given(self.deleted[index]),
            _given(self.computing[index]),
            None if self.sources is None else self.sources[index],
        )

    def __iter__(self) -> Iterator[Emission]:
        return (self[i] for i in range(len(self)))

    def _part(self, start: int, stop: int) -> Streams:
        return Streams(
            self.texts[start:stop],
            self.delays.part(start, stop),
            self.source[start:stop],
            self.late.part(start, stop),
            self.of_text[start:stop],
            self.end[start:stop],
            self.to_end[start:stop],
            self.durations.part(start, stop),
            self.deleted[start:stop],
            self.computing[start:stop],
            None if self.sources is None else self.sources[start:stop],
        )


def streams_of(batch: Batch) -> Streams:
    """The predictions of a batch as streams; one that is missing has written nothing."""
    streams = Streams.of(batch.predictions)
    if batch.missing is None or not batch.missing.any():
        return streams
    both = zip(streams, batch.missing.tolist(), strict=True)
    return Streams.of([_silent(e) if gone else e for e, gone in both])


def _silent(emission: Emission) -> Emission:
    """The same stream without any output."""
    return Emission("", [], emission.source_length, source_type=emission.source_type)


def within_source(delays: Sequence[float], source: float, *, is_marked: bool) -> list[float]:
    """Delays with those after the source at its end.

    In a log of text with end marks, words that were written after the source had ended have the
    position of its end mark, one behind the last word.
    """
    return [min(d, source) for d in delays] if is_marked else list(delays)


def by_character(emission: Emission) -> Emission:
    """An emission of words as one of characters: those of a word were written when it was."""
    words = emission.text.split()
    if len(words) != len(emission.delays):
        return emission
    each = [len(word) for word in words]
    delays, elapsed = (
        [time for time, n in zip(times, each, strict=False) for _ in range(n)]
        for times in (emission.delays, emission.elapsed)
    )
    return msgspec.structs.replace(emission, delays=delays, elapsed=elapsed)


def as_texts(batch: Batch) -> Batch:
    """The batch as metrics of text want it."""
    return replace(batch, predictions=Streams.of(batch.predictions).texts)


def matching(delays: Ragged, lists: Sequence[Sequence[float]]) -> Ragged:
    """Times that go with `delays`: NaN for all of a stream where there is not one for each."""
    counts = delays.counts.tolist()
    held = [
        times if len(times) == n else [np.nan] * n for times, n in zip(lists, counts, strict=True)
    ]
    return delays.like(Ragged.of(held).values)


def _numbers(given: Iterable[float | None]) -> Numbers:
    return np.array([np.nan if v is None else v for v in given], dtype=np.float64)


def _given(value: float) -> float | None:
    return None if np.isnan(value) else float(value)

# SPDX-License-Identifier: Apache-2.0
"""Average token delay: how long after a piece of source the unit that renders it has ended.

Source and output are cut into chunks, wherever a delay differs from the one before. The source of
a chunk is what was read since the last one, in pieces of 300 ms (the last may be shorter) or of one
word; its output are the units with that delay, spoken output in pieces of 300 ms. Unit t of the
output renders piece t of the source, or, where output has run ahead of the source, a piece that
many earlier, and never one that had not been read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from assay.core.batch import Batch
from assay.core.metric import Metric
from assay.core.names import unknown
from assay.tasks.simul.lagging import Timed, aware
from assay.tasks.simul.metrics import lag
from assay.tasks.simul.offsets import TYPES, is_spoken
from assay.tasks.simul.ragged import Counts, Mask, Numbers, Ragged
from assay.tasks.simul.streams import Streams

PIECE_MS = 300.0


@dataclass(frozen=True)
class AverageTokenDelay(Timed):
    """Average token delay: time from the end of a piece of source to that of its rendering.

    Milliseconds of speech, or words of the source; lower is better. Kano et al., 2023. Undefined
    for a stream without output. With `types=log` every log is taken for one of speech to text, as
    SimulEval does when it reads its logs.
    """

    types: str = "known"

    name = "ATD"
    scores = lag("ATD")

    def __post_init__(self) -> None:
        if self.types not in TYPES:
            raise unknown("types", self.types, TYPES)

    def values(self, streams: Streams, batch: Batch) -> Numbers:
        """ATD of each stream."""
        delays = streams.delays
        n = len(streams)
        known = self.types == "known"
        of_text = streams.of_text if known else np.zeros(n, dtype=bool)
        spoken = is_spoken(streams) if known else np.zeros(n, dtype=bool)
        chunks = _Chunks.of(delays, np.where(of_text, 1.0, PIECE_MS))
        speaks = np.repeat(spoken, delays.counts)
        durations = delays.like(np.where(speaks, streams.durations.values, 0.0))
        units = _units(chunks, durations, spoken)
        lengths = _unit_lengths(chunks, units, durations, spoken, of_text)
        late = self._computing(streams)
        if late is not None:
            lengths = lengths + _unit_computing(chunks, units, delays, late, spoken)
        total = units.within.like(lengths).running_sum()
        begun = chunks.delay[units.chunk] - (total - lengths)
        ends = total + units.within.like(begun).running_maximum()
        rendered = chunks.piece_ends(units)
        found = units.within.like(ends - rendered).sums()
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(delays.counts > 0, found / units.within.counts, np.nan)

    def _computing(self, streams: Streams) -> Numbers | None:
        """How much later than its delay each unit was there, because of computation."""
        if not self.is_aware:
            return None
        elapsed = streams.elapsed
        silent = elapsed.like((elapsed.values != 0).astype(np.float64)).sums() == 0
        late = elapsed.values - streams.delays.values
        return np.where(elapsed.spread(silent), 0.0, late)


class _Units(NamedTuple):
    """Units of output after spoken output has been cut into pieces."""

    within: Ragged
    """Lists of the right lengths; the values mean nothing."""
    chunk: Counts
    """The chunk of each unit."""
    place: Counts
    """Its place within the chunk, from 0."""


@dataclass(frozen=True)
class _Chunks:
    """Runs of equal delays. `of` is the chunk of each delay, `within` the chunks of each stream."""

    of_delay: Counts
    within: Ragged
    last: Counts
    delay: Numbers
    start: Numbers
    length: Numbers
    piece: Numbers
    pieces: Counts
    pieces_before: Counts

    @classmethod
    def of(cls, delays: Ragged, piece: Numbers) -> _Chunks:
        begins = (delays.values != delays.previous(np.nan)) | (delays.places == 0)
        first = np.flatnonzero(begins)
        of_delay = np.cumsum(begins) - 1
        splits = np.append(0, np.cumsum(delays.like(begins.astype(np.float64)).sums()))
        within = Ragged(delays.values[first], splits.astype(np.int64))
        # The source read up to a chunk; it cannot shrink.
        until = np.maximum(within.running_maximum(), 0.0)
        start = within.like(until).previous(0.0)
        length = until - start
        each = within.spread(piece)
        pieces = np.ceil(length / each)
        before = within.like(pieces).running_sum() - pieces
        return cls(
            of_delay,
            within,
            np.append(first[1:], len(delays.values)) - 1,
            within.values,
            start,
            length,
            each,
            pieces.astype(np.int64),
            before.astype(np.int64),
        )

    def piece_ends(self, units: _Units) -> Numbers:
        """The time at which the piece of source that each unit renders has ended."""
        targets = np.bincount(units.chunk, minlength=len(self.delay)).astype(np.float64)
        before = (self.within.like(targets).running_sum() - targets).astype(np.int64)
        ahead = np.maximum(0, before - self.pieces_before)
        piece = units.within.places + 1 - ahead[units.chunk]
        piece = np.minimum(piece, (self.pieces_before + self.pieces)[units.chunk])
        # All pieces of all streams in one row: those of a stream begin behind those of the last.
        row = np.cumsum(self.pieces)
        base = (row - self.pieces - self.pieces_before)[units.chunk]
        chunk = np.minimum(np.searchsorted(row, base + piece), len(row) - 1)
        inside = (piece - self.pieces_before[chunk]) * self.piece[chunk]
        end = self.start[chunk] + np.minimum(inside, self.length[chunk])
        return np.where(piece > 0, end, 0.0)


def _units(chunks: _Chunks, durations: Ragged, spoken: Mask) -> _Units:
    """One unit per delay; spoken output has one per piece of 300 ms of a chunk."""
    written = np.bincount(chunks.of_delay, minlength=len(chunks.delay))
    said = np.bincount(chunks.of_delay, durations.values, minlength=len(chunks.delay))
    speaks = np.repeat(spoken, chunks.within.counts)
    counts = np.where(speaks, np.ceil(said / PIECE_MS), written).astype(np.int64)
    per_stream = chunks.within.like(counts.astype(np.float64)).sums().astype(np.int64)
    splits = np.append(0, np.cumsum(per_stream))
    chunk = np.repeat(np.arange(len(counts)), counts)
    within = Ragged(np.zeros(len(chunk)), splits)
    place = np.arange(len(chunk)) - np.repeat(np.cumsum(counts) - counts, counts)
    return _Units(within, chunk, place)


def _unit_lengths(
    chunks: _Chunks, units: _Units, durations: Ragged, spoken: Mask, of_text: Mask
) -> Numbers:
    """A word of text lasts one word, written output of speech nothing, speech its time."""
    said = np.bincount(chunks.of_delay, durations.values, minlength=len(chunks.delay))
    speaks = np.repeat(spoken, units.within.counts)
    spoken_length = np.minimum(PIECE_MS, said[units.chunk] - units.place * PIECE_MS)
    written = units.within.spread(of_text.astype(np.float64))
    return np.where(speaks, spoken_length, written)


def _unit_computing(
    chunks: _Chunks, units: _Units, delays: Ragged, late: Numbers, spoken: Mask
) -> Numbers:
    """The computation that each unit adds; that of a spoken chunk is divided over its pieces."""
    first = np.append(0, chunks.last + 1)[units.chunk]
    last_delay = max(len(delays.values) - 1, 0)
    written = _steps(delays.like(late))[np.minimum(first + units.place, last_delay)]
    if not spoken.any():
        return written
    pieces = np.maximum(np.bincount(units.chunk, minlength=len(chunks.delay)), 1)
    shared = _steps(chunks.within.like(late[chunks.last])) / pieces
    return np.where(np.repeat(spoken, units.within.counts), shared[units.chunk], written)


def _steps(late: Ragged) -> Numbers:
    return late.values - late.previous(0.0)


CLASSES: tuple[type[Metric], ...] = (AverageTokenDelay, aware(AverageTokenDelay))

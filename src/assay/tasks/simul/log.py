# SPDX-License-Identifier: Apache-2.0
"""A log as it is read, whatever its format: blocks of streams, with references if it has them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from assay.tasks.simul.streams import Emission, Streams

Kind = Literal["events", "fairseq", "simuleval", "simulstream", "resegmented", "longform"]


@dataclass(slots=True)
class Block:
    """Some streams of a log. `references` is None where the log has none.

    `lines` are the lines of the file that the streams stand on, for messages.
    """

    ids: Sequence[str]
    streams: Streams
    references: Sequence[str] | None = None
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lines: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.ids)

    def part(self, start: int, stop: int) -> Block:
        """Streams `start` to `stop`."""
        return Block(
            self.ids[start:stop],
            self.streams[start:stop],
            None if self.references is None else self.references[start:stop],
            {name: column[start:stop] for name, column in self.columns.items()},
            None if self.lines is None else self.lines[start:stop],
        )

    @classmethod
    def of(
        cls,
        ids: Sequence[str],
        emissions: Sequence[Emission],
        references: Sequence[str] | None = None,
        columns: Mapping[str, Sequence[str]] | None = None,
        lines: Sequence[int] | None = None,
    ) -> Block:
        """A block of emissions."""
        return cls(ids, Streams.of(emissions), references, columns or {}, lines)


@dataclass(slots=True)
class Log:
    """A log that has been recognised; `blocks` can be read once.

    `by_number` says that ids are line numbers of the test set, from 0, so that references are
    found by them.
    """

    kind: Kind
    path: str
    source_type: str
    target_type: str
    blocks: Iterator[Block]
    by_number: bool = True
    longform: bool = False
    unit: str = "word"
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Output:
    """The whole output for one recording; without times it can only be judged for quality."""

    name: str
    emission: Emission
    line: int | None = None

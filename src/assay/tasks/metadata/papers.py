# SPDX-License-Identifier: Apache-2.0
"""Papers: the fields of many papers side by side, and which lines of the label files are theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import Batch
from assay.core.text import Positions, TextLists, Texts
from assay.tasks.metadata.kernel import equal, fingerprints
from assay.tasks.metadata.labels import Labels

_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Field:
    """One field of one side: paper i has the lines `lines[splits[i]:splits[i + 1]]` of `labels`.

    A paper has one line, or none, or several where its id was repeated. `firsts` is where each
    paper was met first in the file, if that is not its first line here.
    """

    name: str
    labels: Labels
    lines: Positions
    splits: Positions
    firsts: Positions | None = None

    def __len__(self) -> int:
        return len(self.splits) - 1

    def part(self, start: int, stop: int) -> Field:
        """The field of papers `start` to `stop`."""
        splits = self.splits[start : stop + 1]
        lines = self.lines[int(splits[0]) : int(splits[-1])]
        firsts = self.firsts[start:stop] if self.firsts is not None else None
        return Field(self.name, self.labels, lines, splits - splits[0], firsts)

    def take(self, papers: Positions) -> Field:
        """The field of these papers, in this order."""
        counts = self.n_lines()[papers]
        splits = np.zeros(len(papers) + 1, dtype=np.int64)
        np.cumsum(counts, out=splits[1:])
        inner = np.arange(int(splits[-1])) - np.repeat(splits[:-1], counts)
        lines = self.lines[np.repeat(self.splits[papers], counts) + inner]
        firsts = self.firsts[papers] if self.firsts is not None else None
        return Field(self.name, self.labels, lines, splits, firsts)

    def last_lines(self) -> Field:
        """The same with each paper's last line alone."""
        counts = self.n_lines()
        if not bool((counts > 1).any()):
            return self
        splits = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(counts > 0, out=splits[1:])
        lines = self.lines[self.splits[1:][counts > 0] - 1]
        return Field(self.name, self.labels, lines, splits, self.first_lines())

    def first_lines(self) -> Positions:
        """Where each paper was met first in the file; -1 where it was not."""
        if self.firsts is not None:
            return self.firsts
        return self.first_numbers()

    def merged(self) -> Field:
        """The same with all lines of a paper as one, which stands where the first of them stood."""
        if not bool((self.n_lines() > 1).any()):
            return self
        firsts = self.first_numbers()
        held = np.flatnonzero(firsts >= 0)
        in_file = held[np.argsort(firsts[held])]
        ordered = self.take(in_file)
        labels = self.labels.joined(ordered.lines, ordered.splits)
        place = np.empty(len(self), dtype=np.int64)
        place[in_file] = np.arange(len(in_file))
        splits = np.zeros(len(self) + 1, dtype=np.int64)
        np.cumsum(firsts >= 0, out=splits[1:])
        return Field(self.name, labels, place[held], splits)

    def n_lines(self) -> Positions:
        """How many lines each paper has."""
        return np.diff(self.splits)

    def owners(self) -> Positions:
        """The paper of each line."""
        return np.repeat(np.arange(len(self)), self.n_lines())

    def lists(self) -> TextLists:
        """The values of each line."""
        return self.labels.values(self.lines)

    def first_lists(self) -> TextLists:
        """The values of each paper's first line; none where it has no line."""
        return self.labels.values(self.first_numbers())

    def first_numbers(self) -> Positions:
        """The first line of each paper; -1 where it has none."""
        counts = self.n_lines()
        lines = np.full(len(self), -1, dtype=np.int64)
        lines[counts > 0] = self.lines[self.splits[:-1][counts > 0]]
        return lines

    def of(self, paper: int) -> list[list[str]]:
        """The values of one paper, line by line."""
        lines = self.lines[int(self.splits[paper]) : int(self.splits[paper + 1])]
        return [self.labels.list_of(int(line)) for line in lines]

    def __reduce__(self) -> tuple[object, ...]:
        # A worker gets the lines of its own papers, not the file they were cut from.
        own = self.labels.take(self.lines)
        return Field, (self.name, own, np.arange(len(self.lines)), self.splits)


class Papers(Sequence[dict[str, Any]]):
    """One side of some papers: a column of `{field: values}`.

    A field that a paper has no line for is left out of its dictionary; where an id was repeated
    and each line counts by itself, the field holds a list of lists.

    >>> side = Papers([Field("title", Labels.of([("p1", ["On Lists"])]), np.array([0]),
    ...                      np.array([0, 1, 1]))])
    >>> list(side)
    [{'title': ['On Lists']}, {}]
    """

    __slots__ = ("fields",)

    def __init__(self, fields: Sequence[Field]) -> None:
        self.fields = tuple(fields)

    def __len__(self) -> int:
        return len(self.fields[0]) if self.fields else 0

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> Papers: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | Papers:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            assert step == 1, "papers are cut into stretches"
            return Papers([field.part(start, max(start, stop)) for field in self.fields])
        if index < 0:
            index += len(self)
        if not 0 <= index < len(self):
            raise IndexError("paper index out of range")
        found: dict[str, Any] = {}
        for field in self.fields:
            lists = field.of(index)
            if lists:
                found[field.name] = lists[0] if len(lists) == 1 else lists
        return found

    def __reduce__(self) -> tuple[object, ...]:
        return Papers, (self.fields,)

    def content(self) -> Iterator[bytes]:
        """The bytes that tell these papers from others, ids included, for a digest."""
        for field in self.fields:
            yield field.name.encode("utf-8", "surrogatepass") + b"\n"
            yield np.ascontiguousarray(field.n_lines()).tobytes()
            yield field.labels.text_of(field.lines)


class PaperIds(Sequence[str]):
    """The ids of papers, read from the lines where they were met first.

    >>> list(PaperIds([Texts.of(["b", "a"]), Texts.of(["c"])], np.array([1, 0]), np.array([0, 1])))
    ['c', 'a']
    """

    __slots__ = ("_column", "_columns", "_line")

    def __init__(self, columns: Sequence[Texts], column: Positions, line: Positions) -> None:
        self._columns = columns
        self._column = column
        self._line = line

    def __len__(self) -> int:
        return len(self._line)

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> PaperIds: ...
    def __getitem__(self, index: int | slice) -> str | PaperIds:
        if isinstance(index, slice):
            return PaperIds(self._columns, self._column[index], self._line[index])
        return self._columns[int(self._column[index])][int(self._line[index])]

    def __reduce__(self) -> tuple[object, ...]:
        return list, (list(self),)

    def take(self, papers: Positions) -> PaperIds:
        """The ids of these papers."""
        return PaperIds(self._columns, self._column[papers], self._line[papers])

    def has_blank_edge(self) -> NDArray[np.bool_]:
        """Which ids may begin or end with a blank; any edge beyond ASCII may."""
        found = np.zeros(len(self), dtype=bool)
        for k, column in enumerate(self._columns):
            mine = np.flatnonzero(self._column == k)
            starts, ends = column.starts[self._line[mine]], column.ends[self._line[mine]]
            mine, starts, ends = (part[ends > starts] for part in (mine, starts, ends))
            view = np.frombuffer(column.data, dtype=np.uint8)
            edges = np.stack([view[starts], view[ends - 1]])
            found[mine] = ((edges <= 32) | (edges >= 128)).any(axis=0)
        return found


class Numbered(NamedTuple):
    """Papers numbered by first appearance: the number of each id, column by column, and the ids."""

    numbers: list[Positions]
    ids: PaperIds


def number_papers(columns: Sequence[Texts]) -> Numbered:
    """Number the distinct ids of several columns in order of first appearance.

    >>> numbers, ids = number_papers([Texts.of(["b", "a"]), Texts.of(["c", "b"])])
    >>> [column.tolist() for column in numbers], list(ids)
    ([[0, 1], [2, 0]], ['b', 'a', 'c'])
    """
    bounds = np.cumsum([0, *map(len, columns)])
    marks = np.empty(int(bounds[-1]), dtype=np.uint64)
    for k, column in enumerate(columns):
        marks[bounds[k] : bounds[k + 1]] = fingerprints(column)
    first, inverse = _first_of(marks)
    del marks
    found = [inverse[bounds[k] : bounds[k + 1]] for k in range(len(columns))]
    if not all(_same_ids(columns, k, first, found[k], bounds) for k in range(len(columns))):
        return _number_by_dictionary(columns)
    return Numbered(found, _ids(columns, first, bounds))


def _same_ids(
    columns: Sequence[Texts], k: int, first: Positions, numbers: Positions, bounds: Positions
) -> bool:
    """Whether the ids of column `k` are byte for byte those of the first papers of their number."""
    for start in range(0, len(numbers), _BLOCK):
        leaders = first[numbers[start : start + _BLOCK]]
        mine = np.flatnonzero(leaders != np.arange(len(leaders)) + (bounds[k] + start))
        leaders = leaders[mine]
        place = np.searchsorted(bounds, leaders, side="right") - 1
        for j in np.unique(place).tolist():
            here = place == j
            there = columns[j].take(leaders[here] - bounds[j])
            if not bool(equal(columns[k].take(mine[here] + start), there).all()):
                return False
    return True


def _ids(columns: Sequence[Texts], first: Positions, bounds: Positions) -> PaperIds:
    column = np.searchsorted(bounds, first, side="right") - 1
    # Empty columns share their bound with the next one; the last of these holds the position.
    return PaperIds(columns, column, first - bounds[column])


def _first_of(marks: np.ndarray[Any, np.dtype[np.uint64]]) -> tuple[Positions, Positions]:
    """Position of the first of each distinct mark, in order of appearance, and whose each is."""
    order = np.argsort(marks)
    ordered = marks[order]
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[: len(marks)])
    del ordered
    # Equal marks lie together in any order; the first appearance is the least position of each.
    leaders = np.minimum.reduceat(order, starts) if len(starts) else starts
    rank = np.empty(len(leaders), dtype=np.int64)
    rank[np.argsort(leaders)] = np.arange(len(leaders))
    inverse = np.empty(len(marks), dtype=np.int64)
    inverse[order] = np.repeat(rank, np.diff(starts, append=len(marks)))
    return np.sort(leaders), inverse


def _number_by_dictionary(columns: Sequence[Texts]) -> Numbered:
    """The same for ids whose fingerprints collide, which takes an adversary."""
    seen: dict[str, int] = {}
    first: list[int] = []
    found: list[Positions] = []
    bounds = np.cumsum([0, *map(len, columns)])
    for k, column in enumerate(columns):
        numbers = np.empty(len(column), dtype=np.int64)
        for i, text in enumerate(column):
            numbers[i] = seen.setdefault(text, len(seen))
            if len(seen) > len(first):
                first.append(int(bounds[k]) + i)
        found.append(numbers)
    return Numbered(found, _ids(columns, np.array(first, dtype=np.int64), bounds))


def gold_column(batch: Batch, name: str) -> list[str] | None:
    """The gold values of a field as one text per paper, to slice by; None if there is no such."""
    assert isinstance(batch.gold, Papers), "papers are kept as they were read"
    found = next((field for field in batch.gold.fields if field.name == name), None)
    return None if found is None else ["; ".join(texts) for texts in found.first_lists()]


def side_field(name: str, labels: Labels, papers: Positions, n_papers: int) -> Field:
    """The field whose line i belongs to paper `papers[i]`; lines of a paper stay in file order."""
    splits = np.zeros(n_papers + 1, dtype=np.int64)
    np.cumsum(np.bincount(papers, minlength=n_papers), out=splits[1:])
    return Field(name, labels, np.argsort(papers, kind="stable"), splits)

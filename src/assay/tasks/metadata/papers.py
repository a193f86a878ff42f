# SPDX-License-Identifier: Apache-2.0
"""Papers: the fields of many papers side by side, and which lines of the label files are theirs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from assay.core.batch import BLOCK, Batch
from assay.core.text import Positions, TextLists
from assay.tasks.metadata.kernel import equal, fingerprints
from assay.tasks.metadata.labels import Labels, Lines

_BLOCK = 1 << 16


@dataclass(frozen=True, slots=True)
class Field:
    """One field of one side: paper i has the lines `lines[splits[i]:splits[i + 1]]` of `labels`.

    A paper has one line, or none, or several where its id was repeated. `firsts` is where each
    paper was met first in the file, if that is not its first line here. `lines` may go on before
    and behind those of the papers that are meant: a part shares them with the whole.
    """

    name: str
    labels: Labels
    lines: Lines
    splits: Lines
    firsts: Positions | None = None

    def __len__(self) -> int:
        return len(self.splits) - 1

    def part(self, start: int, stop: int) -> Field:
        """The field of papers `start` to `stop`."""
        firsts = self.firsts[start:stop] if self.firsts is not None else None
        return Field(self.name, self.labels, self.lines, self.splits[start : stop + 1], firsts)

    def own_lines(self) -> Lines:
        """The lines of these papers, one paper after the other."""
        return self.lines[int(self.splits[0]) : int(self.splits[-1])]

    def take(self, papers: Positions) -> Field:
        """The field of these papers, in this order."""
        counts = self.n_lines()[papers]
        splits = _splits(counts)
        inner = np.arange(int(splits[-1])) - np.repeat(splits[:-1], counts)
        lines = self.lines[np.repeat(self.splits[papers], counts) + inner]
        firsts = self.firsts[papers] if self.firsts is not None else None
        return Field(self.name, self.labels, lines, splits, firsts)

    def last_lines(self) -> Field:
        """The same with each paper's last line alone."""
        counts = self.n_lines()
        if not bool((counts > 1).any()):
            return self
        lines = self.lines[self.splits[1:][counts > 0] - 1]
        return Field(self.name, self.labels, lines, _splits(counts > 0), self.first_lines())

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
        return Field(self.name, labels, place[held], _splits(firsts >= 0))

    def n_lines(self) -> Lines:
        """How many lines each paper has."""
        return np.diff(self.splits)

    def owners(self) -> Positions:
        """The paper of each line."""
        return np.repeat(np.arange(len(self)), self.n_lines())

    def in_file_order(self) -> Iterator[tuple[Lines, Positions]]:
        """Lines as they follow one another in the file, and their papers, in blocks."""
        owner = np.full(len(self.labels), -1)
        owner[self.own_lines()] = self.owners()
        for start in range(0, len(owner), BLOCK):
            block = owner[start : start + BLOCK]
            held = np.flatnonzero(block >= 0)
            if len(held):
                yield held + start, block[held]

    def lists(self) -> TextLists:
        """The values of each line."""
        return self.labels.values(self.own_lines())

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
        own = self.labels.take(self.own_lines())
        return Field, (self.name, own, np.arange(len(own)), self.splits - self.splits[0])


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
            yield field.n_lines().astype(np.int64).tobytes()
            yield field.labels.text_of(field.own_lines())


class PaperIds(Sequence[str]):
    """The ids of papers, read from the lines where they were met first.

    >>> columns = [Labels.of([("b", []), ("a", [])]), Labels.of([("c", [])])]
    >>> list(PaperIds(columns, np.array([1, 0]), np.array([0, 1])))
    ['c', 'a']
    """

    __slots__ = ("_column", "_columns", "_line")

    def __init__(self, columns: Sequence[Labels], column: Lines, line: Lines) -> None:
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
        return self._columns[int(self._column[index])].id_of(int(self._line[index]))

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
            ids = column.ids(self._line[mine])
            filled = ids.ends > ids.starts
            mine, starts, ends = mine[filled], ids.starts[filled], ids.ends[filled]
            view = np.frombuffer(column.data, dtype=np.uint8)
            edges = np.stack([view[starts], view[ends - 1]])
            found[mine] = ((edges <= 32) | (edges >= 128)).any(axis=0)
        return found


class Numbered(NamedTuple):
    """Papers numbered by first appearance: the number of each id, column by column, and the ids."""

    numbers: list[Positions]
    ids: PaperIds


def number_papers(columns: Sequence[Labels]) -> Numbered:
    """Number the distinct ids of several columns in order of first appearance.

    >>> sides = [Labels.of((name, []) for name in side) for side in ("ba", "cb")]
    >>> numbers, ids = number_papers(sides)
    >>> [column.tolist() for column in numbers], list(ids)
    ([[0, 1], [2, 0]], ['b', 'a', 'c'])
    """
    bounds = np.cumsum([0, *map(len, columns)])
    marks = np.empty(int(bounds[-1]), dtype=np.uint64)
    for k, column in enumerate(columns):
        for start in range(0, len(column), _BLOCK):
            lines = np.arange(start, min(start + _BLOCK, len(column)))
            marks[bounds[k] + lines] = fingerprints(column.ids(lines))
    first, inverse = _first_of(marks)
    del marks
    found = [inverse[bounds[k] : bounds[k + 1]] for k in range(len(columns))]
    if not all(_same_ids(columns, k, first, found[k], bounds) for k in range(len(columns))):
        return _number_by_dictionary(columns)
    return Numbered(found, _ids(columns, first, bounds))


def _same_ids(
    columns: Sequence[Labels], k: int, first: Positions, numbers: Positions, bounds: Positions
) -> bool:
    """Whether the ids of column `k` are byte for byte those of the first papers of their number."""
    for start in range(0, len(numbers), _BLOCK):
        leaders = first[numbers[start : start + _BLOCK]]
        mine = np.flatnonzero(leaders != np.arange(len(leaders)) + (bounds[k] + start))
        leaders = leaders[mine]
        place = np.searchsorted(bounds, leaders, side="right") - 1
        for j in np.unique(place).tolist():
            here = place == j
            there = columns[j].ids(leaders[here] - bounds[j])
            if not bool(equal(columns[k].ids(mine[here] + start), there).all()):
                return False
    return True


def _ids(columns: Sequence[Labels], first: Positions, bounds: Positions) -> PaperIds:
    # Empty columns share their bound with the next one; the last of these holds the position.
    column = _narrow(np.searchsorted(bounds, first, side="right") - 1)
    return PaperIds(columns, column, _narrow(first - bounds[column]))


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


def _number_by_dictionary(columns: Sequence[Labels]) -> Numbered:
    """The same for ids whose fingerprints collide, which takes an adversary."""
    seen: dict[str, int] = {}
    first: list[int] = []
    found: list[Positions] = []
    bounds = np.cumsum([0, *map(len, columns)])
    for k, column in enumerate(columns):
        numbers = np.empty(len(column), dtype=np.int64)
        for i, text in enumerate(column.ids(np.arange(len(column)))):
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
    lines = _narrow(np.argsort(papers, kind="stable"))
    return Field(name, labels, lines, _splits(np.bincount(papers, minlength=n_papers)))


def _splits(counts: NDArray[Any]) -> Lines:
    """Where the lines of each paper begin, and where those of the last end."""
    found = np.zeros(len(counts) + 1, dtype=np.int64)
    np.cumsum(counts, out=found[1:])
    return _narrow(found)


def _narrow(numbers: Positions) -> Lines:
    """The same numbers, in four bytes each if they fit."""
    fits = not len(numbers) or int(numbers.max()) < 1 << 31
    return numbers.astype(np.int32) if fits else numbers

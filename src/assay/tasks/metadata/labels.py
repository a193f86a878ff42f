# SPDX-License-Identifier: Apache-2.0
"""Label files: one line per paper, an id and its values of one field, separated by TABs.

A file is kept as its bytes and the positions of its separators, in four bytes each if they fit, so
that a million papers cost little more than their text. Lines end at LF, CR or CR LF and nowhere
else; nothing is trimmed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.core.errors import InputError
from assay.core.text import Positions, TextLists, Texts

Lines = NDArray[np.integer[Any]]
"""Numbers of lines, from 0, or how many there are of something: in four bytes where they fit."""

BOM = b"\xef\xbb\xbf"
_WINDOW = 1 << 18
_TRAILING_TABS = re.compile(rb"\t+(?=\n|\Z)")


class Labels:
    """One field of one side: line i is an id and its values.

    >>> labels = Labels.of([("p1", ["Ada", "Bob"]), ("p2", [])])
    >>> labels.id_of(0), labels.list_of(0), labels.list_of(1)
    ('p1', ['Ada', 'Bob'], [])
    """

    __slots__ = ("_ends", "_tab_splits", "_tabs", "data", "numbers", "path")

    def __init__(self, data: bytes, path: str = "", numbers: Lines | None = None) -> None:
        """`data` has LF line ends, the last one included, and no TAB at the end of a line."""
        self.data = data
        self.path = path
        self.numbers = numbers
        self._tabs, self._ends, self._tab_splits = _separators(data)

    @classmethod
    def of(cls, lines: Iterable[tuple[str, Sequence[str]]], path: str = "") -> Labels:
        """Pack ids and values; a TAB or line end inside a value becomes a blank.

        An empty value at the end of a list is lost, as in a file.
        """
        rows = ["\t".join([flat(i), *map(flat, values)]).rstrip("\t") for i, values in lines]
        text = "\n".join(rows) + "\n" if rows else ""
        return cls(text.encode("utf-8", "surrogatepass"), path)

    def __len__(self) -> int:
        return len(self._ends)

    def __reduce__(self) -> tuple[object, ...]:
        return Labels, (self.data, self.path, self.numbers)

    def starts(self, lines: Lines) -> Positions:
        """Where these lines begin."""
        found = self._ends[lines - 1].astype(np.int64) + 1
        found[lines == 0] = 0
        return found

    def ends(self, lines: Lines) -> Positions:
        """Where these lines end, before their line feeds."""
        return self._ends[lines].astype(np.int64)

    def ids(self, lines: Lines) -> Texts:
        """The ids of these lines."""
        ends = self.ends(lines)
        tabbed = self.n_values(lines) > 0
        ends[tabbed] = self._tabs[self._tab_splits[lines[tabbed]]]
        return Texts(self.data, self.starts(lines), ends)

    def id_of(self, line: int) -> str:
        """The id of one line."""
        return self.line_of(line)[0]

    def list_of(self, line: int) -> list[str]:
        """The values of one line."""
        return self.line_of(line)[1]

    def line_of(self, line: int) -> tuple[str, list[str]]:
        """The id and the values of one line."""
        start = int(self._ends[line - 1]) + 1 if line else 0
        text = self.data[start : int(self._ends[line])]
        name, *values = text.decode("utf-8", "surrogatepass").split("\t")
        return name, values

    def has_trailing_tabs(self) -> bool:
        """Whether a line ends in a TAB, which stands for no value."""
        tabbed = np.diff(self._tab_splits) > 0
        last = self._tabs[self._tab_splits[1:][tabbed] - 1]
        return bool((last + 1 == self._ends[tabbed]).any())

    def is_blank(self) -> NDArray[np.bool_]:
        """Which lines hold nothing at all."""
        blank = np.empty(len(self), dtype=bool)
        blank[:1] = self._ends[:1] == 0
        blank[1:] = self._ends[1:] == self._ends[:-1] + 1
        return blank

    def number_of(self, line: int) -> int:
        """The 1-based number of this line in its file; 0 if it has none."""
        return int(self.numbers[line]) if self.numbers is not None else line + 1

    def n_values(self, lines: Lines) -> Lines:
        """How many values these lines hold."""
        return self._tab_splits[lines + 1] - self._tab_splits[lines]

    def values(self, lines: Lines) -> TextLists:
        """The values of these lines, one list per line; a line number of -1 is an empty list."""
        real = np.maximum(lines, 0)
        if not len(self):
            return TextLists.of([[]] * len(lines))
        first = self._tab_splits[real]
        counts = np.where(lines < 0, 0, self._tab_splits[real + 1] - first)
        splits = np.zeros(len(lines) + 1, dtype=np.int64)
        np.cumsum(counts, out=splits[1:])
        which = np.arange(int(splits[-1])) + np.repeat(first - splits[:-1], counts)
        starts = self._tabs[which].astype(np.int64) + 1
        # A value ends where the next one begins, and the last one where its line does.
        ends = np.empty_like(starts)
        ends[:-1] = starts[1:] - 1
        filled = counts > 0
        ends[splits[1:][filled] - 1] = self._ends[real[filled]]
        return TextLists(Texts(self.data, starts, ends), splits)

    def take(self, lines: Lines) -> Labels:
        """These lines, in this order, as labels of their own."""
        pieces = [
            self.data[a:b]
            for a, b in zip(self.starts(lines).tolist(), self.ends(lines).tolist(), strict=True)
        ]
        numbers = self.numbers[lines] if self.numbers is not None else lines + 1
        return Labels(b"\n".join(pieces) + b"\n" if pieces else b"", self.path, numbers)

    def joined(self, lines: Lines, splits: Lines) -> Labels:
        """One line for each stretch `lines[splits[i]:splits[i + 1]]` that is not empty: the id of
        its first line and the values of all."""
        groups = zip(splits[:-1].tolist(), splits[1:].tolist(), strict=True)
        rows = [lines[a:b].tolist() for a, b in groups if b > a]
        text = [(self.id_of(r[0]), [v for line in r for v in self.list_of(line)]) for r in rows]
        joined = Labels.of(text, self.path)
        joined.numbers = np.array([self.number_of(r[0]) for r in rows], dtype=np.int64)
        return joined

    def mapped(self, form: Callable[[str], str] | None) -> Labels:
        """The same papers with every value in another form."""
        if form is None:
            return self
        rows = [(self.id_of(i), [form(v) for v in self.list_of(i)]) for i in range(len(self))]
        found = Labels.of(rows, self.path)
        found.numbers = self.numbers
        return found

    def without_empty(self) -> Labels:
        """The same without empty values."""
        if b"\t\t" not in self.data:
            return self
        rows = [(self.id_of(i), [v for v in self.list_of(i) if v]) for i in range(len(self))]
        found = Labels.of(rows, self.path)
        found.numbers = self.numbers
        return found

    def text_of(self, lines: Lines) -> bytes:
        """The bytes of these lines, each with its line end."""
        if not len(lines):
            return b""
        if bool((lines[1:] == lines[:-1] + 1).all()):
            start, end = int(self.starts(lines[:1])[0]), int(self.ends(lines[-1:])[0])
            return self.data[start : end + 1]
        return self.take(lines).data


def parse_labels(data: bytes, path: str | Path, *, quirks: bool = False) -> Labels:
    """The labels in the bytes of a label file.

    A byte-order mark and blank lines are left out; `quirks` keeps them, as the program this task
    replaces does: the mark as part of the first id, a blank line as the id "" without values.

    >>> labels = parse_labels(b"p1\\tAda\\t\\n\\np2\\t\\tBob", "authors.tsv")
    >>> [labels.list_of(i) for i in range(2)], labels.number_of(1)
    ([['Ada'], ['', 'Bob']], 3)
    """
    if not quirks and data.startswith(BOM):
        data = data[len(BOM) :]
    check_utf8(data, path)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if data and not data.endswith(b"\n"):
        data += b"\n"
    labels = Labels(data, str(path))
    if labels.has_trailing_tabs():
        labels = Labels(_TRAILING_TABS.sub(b"", data), str(path))
    blank = labels.is_blank()
    if not quirks and bool(blank.any()):
        return labels.take(np.flatnonzero(~blank))
    return labels


def check_utf8(data: bytes, path: str | Path) -> None:
    """Raise an `InputError` that names the line of the first byte that is not UTF-8."""
    if data.isascii():
        return
    at = 0
    while at < len(data):
        end = data.find(b"\n", at + _WINDOW) + 1 or len(data)
        try:
            data[at:end].decode("utf-8")
        except UnicodeDecodeError as error:
            before = data[: at + error.start].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
            raise InputError(
                f"byte 0x{data[at + error.start]:02x} is not UTF-8",
                path=path,
                line=before.count(b"\n") + 1,
                hint="save the file as UTF-8",
            ) from None
        at = end


def _separators(data: bytes) -> tuple[Lines, Lines, Lines]:
    """Where the TABs and line feeds are, and how many TABs stand before each line."""
    # In windows that fit a cache: a comparison of the whole file at once would double the memory.
    view = np.frombuffer(data, dtype=np.uint8)
    narrow = np.uint32 if len(data) < 1 << 32 else np.int64  # most of the memory beside the text
    none: Lines = np.zeros(1, dtype=narrow)
    tabs, ends, splits = [none[:0]], [none[:0]], [none]
    n_tabs = 0
    for start in range(0, len(view), _WINDOW):
        window = view[start : start + _WINDOW]
        found = np.flatnonzero((window == 9) | (window == 10))
        is_end = window[found] == 10
        found += start
        before = np.cumsum(~is_end)
        tabs.append(found[~is_end].astype(narrow))
        ends.append(found[is_end].astype(narrow))
        splits.append((before[is_end] + n_tabs).astype(narrow))
        n_tabs += len(tabs[-1])
    return np.concatenate(tabs), np.concatenate(ends), np.concatenate(splits)


def flat(text: str) -> str:
    """`text` on one line and without TABs, which would break a label file apart."""
    if "\t" in text or "\n" in text or "\r" in text:
        return re.sub(r"[\t\r\n]+", " ", text)
    return text

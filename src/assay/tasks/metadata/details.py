# SPDX-License-Identifier: Apache-2.0
"""The rows of `details/<field>-labels.txt`: every distinct value of every paper, right or wrong.

Rows are bytes. Values that are compared exactly are never decoded: what is right, and the order of
values, can be told from their bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from assay.core.text import Positions
from assay.tasks.metadata.labels import Labels, Lines
from assay.tasks.metadata.match import Match
from assay.tasks.metadata.papers import Field
from assay.tasks.metadata.reference import hash_place, utf16_key

HEAD = b"ID\tAccuracy\tLabelType\tLabel\n"
SMALL_MAP = 4
"""Up to so many ids a Scala map keeps the order they were put in."""

_BEYOND_16_BITS = [bytes([first]) for first in range(0xF0, 0xF5)]
"""The bytes that begin a character which UTF-16 needs two units for."""

Key = Callable[[bytes], bytes] | None
Pieces = list[bytes]


def detail_rows(ours: Field, theirs: Field, rule: Match, order: str) -> Iterator[bytes]:
    """The rows, one piece per prediction line in file order, then the papers without prediction."""
    key = _sort_key(ours.labels, theirs.labels)
    exact = rule.shape == "values" and rule.by == "exact"
    gold_of = theirs.first_numbers()
    for lines, papers in ours.in_file_order():
        predictions = _lines(ours.labels, lines)
        gold = _lines(theirs.labels, gold_of[papers])
        for line, held in zip(predictions, gold, strict=True):
            yield _rows(line[0], line[1:], held[1:], None if exact else rule, key)
    for name, *held in _absent(ours, theirs, gold_of, order):
        yield _rows(name, [], held, None if exact else rule, key)


def _absent(ours: Field, theirs: Field, gold_of: Positions, order: str) -> list[Pieces]:
    """The gold of papers without prediction, in gold order or that of the old program."""
    has = theirs.n_lines() > 0
    papers = np.flatnonzero((ours.n_lines() == 0) & has)
    papers = papers[np.argsort(theirs.first_lines()[papers], kind="stable")]
    lines = _lines(theirs.labels, gold_of[papers])
    if order == "reference" and int(has.sum()) > SMALL_MAP:
        lines.sort(key=lambda pieces: hash_place(_text(pieces[0])))
    return lines


def _lines(labels: Labels, lines: Lines) -> list[Pieces]:
    """Id and values of these lines; for a line of -1 an empty id and no values."""
    if not len(labels):
        return [[b""] for _ in lines]
    real, data = np.maximum(lines, 0), labels.data
    places = zip(labels.starts(real).tolist(), labels.ends(real).tolist(), strict=True)
    found = [data[start:end].split(b"\t") for start, end in places]
    for nowhere in np.flatnonzero(lines < 0).tolist():
        found[nowhere] = [b""]
    return found


def _rows(name: bytes, ours: Pieces, theirs: Pieces, rule: Match | None, key: Key) -> bytes:
    right: set[bytes]
    found: set[bytes]
    if rule is None:
        right, found = set(theirs), set(ours)
        if right == found and right:  # most papers of a good system: all 1, and sorted once
            values = _sorted(right, key)
            return _alike(name + b"\t1\ttrue\t", values) + _alike(name + b"\t1\tpred\t", values)
    else:
        texts = rule.right([_text(p) for p in ours], [_text(g) for g in theirs])
        right, found = ({t.encode("utf-8", "surrogatepass") for t in side} for side in texts)
    rows = [
        name + (b"\t1\ttrue\t" if value in found else b"\t0\ttrue\t") + value
        for value in _sorted(theirs, key)
    ]
    rows += [
        name + (b"\t1\tpred\t" if value in right else b"\t0\tpred\t") + value
        for value in _sorted(ours, key)
    ]
    if not rows:
        return b""
    rows.append(b"")  # the end of the last line
    return b"\n".join(rows)


def _alike(start: bytes, values: Pieces) -> bytes:
    """One row per value, all with the same start."""
    return start + (b"\n" + start).join(values) + b"\n"


def _sorted(values: Iterable[bytes], key: Key) -> list[bytes]:
    """The distinct values by UTF-16 units."""
    return sorted(set(values), key=key)


def _sort_key(*sides: Labels) -> Key:
    """How to sort by UTF-16 units: as bytes, unless there are characters beyond 16 bits.

    UTF-8 bytes sort as code points do, and code points below U+10000 as UTF-16 units do.
    """
    for labels in sides:
        if any(first in labels.data for first in _BEYOND_16_BITS):
            return lambda value: utf16_key(_text(value))
    return None


def _text(value: bytes) -> str:
    return value.decode("utf-8", "surrogatepass")

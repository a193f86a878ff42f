# SPDX-License-Identifier: Apache-2.0
"""Slices that follow from the gold command: its first utility, and its length."""

from __future__ import annotations

from collections.abc import Sequence

from assay.core.batch import Batch
from assay.tasks.commands.forms import form
from assay.tasks.commands.tree import Command

BAND = 5


def derived(column: str, batch: Batch) -> Sequence[str] | None:
    """The values of a column that can be computed, or None.

    >>> derived("utility", Batch([["ls"]], [["sudo find . -name x | wc -l"]]))
    ['find']
    >>> derived("length", Batch([["ls"]], [["sudo find . -name x | wc -l"]]))
    ['6-10']
    """
    if column == "utility":
        return [_utility(texts[0]) if len(texts) else "" for texts in batch.references()]
    if column == "length":
        return [_length(texts[0]) if len(texts) else "" for texts in batch.references()]
    return None


def _utility(command: str) -> str:
    first = next((p for p in form(command, "strict").body if isinstance(p, Command)), None)
    return first.name if first is not None else "(other)"


def _length(command: str) -> str:
    low = (max(1, len(command.split())) - 1) // BAND * BAND + 1
    return f"{low}-{low + BAND - 1}"

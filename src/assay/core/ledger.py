# SPDX-License-Identifier: Apache-2.0
"""What is odd in a file, and where: the lines that `Task.inspect` gives back."""

from __future__ import annotations

from assay.core.names import amount

SHOWN = 10
"""Numbers that are written out for each oddity."""


class Ledger:
    """Numbers, from 1, of records or lines (`noun`), by what is odd about them.

    >>> ledger = Ledger("record")
    >>> ledger.add("gold query is the text 'nan'", 2)
    >>> ledger.add("gold query is the text 'nan'", 5)
    >>> ledger.lines()
    ["2 records: gold query is the text 'nan' (2, 5)"]
    """

    def __init__(self, noun: str) -> None:
        self._noun = noun
        self._found: dict[str, list[int]] = {}

    def add(self, what: str, number: int) -> None:
        """Note one oddity."""
        self._found.setdefault(what, []).append(number)

    def lines(self) -> list[str]:
        """One line for each oddity, the commonest first: how many, what, and which."""
        ordered = sorted(self._found.items(), key=lambda item: -len(item[1]))
        return [self._line(what, numbers) for what, numbers in ordered]

    def _line(self, what: str, numbers: list[int]) -> str:
        listed = ", ".join(map(str, numbers[:SHOWN])) + (", ..." if len(numbers) > SHOWN else "")
        return f"{amount(len(numbers), self._noun)}: {what} ({listed})"

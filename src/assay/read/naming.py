# SPDX-License-Identifier: Apache-2.0
"""What columns are called: files of other tools have other names for id, prediction and gold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from assay.core.errors import UsageError

_ABSENT = object()


@dataclass(frozen=True, slots=True)
class Naming:
    """The file's names by ours: `{"prediction": "output", "id": "doc.id"}`.

    Ours hold where nothing is said. A dot leads into an object, where no key has the whole name.
    A column that has one of our names without being meant is called `file.NAME` from there on.

    >>> Naming({"prediction": "output"}).record({"output": "a cat", "prediction": "?"})
    {'prediction': 'a cat', 'file.prediction': '?'}
    """

    theirs: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for ours, theirs in self.theirs.items():
            if not isinstance(theirs, str):
                raise UsageError(f"--{ours}-column is the name of a column, not {theirs!r}")

    def __bool__(self) -> bool:
        return bool(self.theirs)

    def of(self, name: str) -> str:
        """What the file calls `name`."""
        return self.theirs.get(name, name)

    def on_side(self, own: str) -> Naming:
        """The names that count in files whose values are `own`, which is prediction or gold.

        The column that holds them is nothing else besides: with `{"gold": "prediction"}` gold is
        another system's predictions, and the predictions are found as ever.

        >>> Naming({"gold": "prediction"}).on_side("prediction")
        Naming(theirs={})
        """
        column = self.of(own)
        if self.theirs.get("id") == column:
            raise UsageError(
                f"the column '{column}' cannot be both the id and the {own}; name another one with "
                f"--id-column or --{own}-column"
            )
        counts = {n: theirs for n, theirs in self.theirs.items() if n == own or theirs != column}
        return Naming(counts)

    def header(self, names: Sequence[str]) -> list[str]:
        """The names of a header as ours.

        >>> Naming({"gold": "target"}).header(["id", "target", "gold"])
        ['id', 'gold', 'file.gold']
        """
        ours = {theirs: name for name, theirs in self.theirs.items()}
        return [ours[name] if name in ours else self._unmeant(name) for name in names]

    def record(self, row: Mapping[str, Any]) -> Mapping[str, Any]:
        """A record under our names."""
        meant = {name: _found(row, theirs) for name, theirs in self.theirs.items()}
        taken = set(self.theirs.values())
        others = {self._unmeant(key): value for key, value in row.items() if key not in taken}
        return {**{k: v for k, v in meant.items() if v is not _ABSENT}, **others}

    def _unmeant(self, name: str) -> str:
        return f"file.{name}" if name in self.theirs else name


def _found(row: Mapping[str, Any], name: str) -> Any:
    """The value under this name, or under the parts of it one inside the other."""
    if name in row:
        return row[name]
    value: Any = row
    for part in name.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return _ABSENT
        value = value[part]
    return value


OURS = Naming()

# SPDX-License-Identifier: Apache-2.0
"""Objects with keys become records: which key is the value, and how the others become columns.

`id` is a string or a whole number. `prediction` is a string or a list of strings (candidates, best
first), `gold` a string or a list of strings (references). Every other key is a column for slices
and clusters: text stays as it is, numbers are written as in JSON, true and false as such, null and
an absent key are empty, lists and objects are written as JSON on one line. An object under `meta`
is opened up: its keys are columns too, unless the record has such a key itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from assay.core.errors import InputError
from assay.core.records import Records
from assay.core.text import TextLists, Texts
from assay.read.naming import OURS, Naming
from assay.read.source import KEYS, Role

_RESERVED = frozenset({"id", "prediction", "gold"})


class Shaper:
    """Makes blocks of records of one file out of mappings; keeps the columns it has seen."""

    def __init__(self, name: str, role: Role, naming: Naming = OURS) -> None:
        self._name = name
        self._role = role
        self._naming = naming
        self._own = KEYS[role]
        self._columns: dict[str, None] = {}
        self._has_ids: bool | None = None

    def records(
        self,
        rows: Sequence[Mapping[str, Any]],
        first: int,
        lines: Sequence[int] | None = None,
    ) -> Records:
        """Records of `rows`, the first of which is number `first`, counted from 0.

        `lines` are their lines, where they do not follow from that.
        """

        def line_of(index: int) -> int:
            return lines[index] if lines is not None else first + index + 1

        if self._naming:
            rows = [self._naming.record(row) for row in rows]
        values = [row.get(self._own) for row in rows]
        column = _text_lists(values)
        if column is None:
            index = next(i for i, value in enumerate(values) if not _is_value(value))
            raise self._misshapen(rows[index], self._own, line_of(index))
        if self._role == "gold" and not bool(column.counts().all()):
            index = column.counts().tolist().index(0)
            raise InputError(
                "'gold' is an empty list",
                path=self._name,
                line=line_of(index),
                hint="give at least one reference",
            )
        return Records(
            column,
            self._ids(rows, line_of),
            self._other_columns(rows),
            self._name,
            first,
            lines,
            self._also(rows, line_of) if self._role == "predictions" else None,
        )

    def _ids(
        self, rows: Sequence[Mapping[str, Any]], line_of: Callable[[int], int]
    ) -> list[str] | None:
        found = [row.get("id") for row in rows]
        kinds = set(map(type, found))
        if self._has_ids is None:
            self._has_ids = "id" in rows[0]
        if self._has_ids and kinds == {str}:
            return found  # type: ignore[return-value]  # all are str, as the set of types says
        if not self._has_ids and kinds == {type(None)}:
            return None
        for index, value in enumerate(found):
            if ("id" in rows[index]) != self._has_ids:
                problem = (
                    "no 'id', though earlier records have one"
                    if self._has_ids
                    else "an 'id', though earlier records have none"
                )
                raise InputError(
                    problem,
                    path=self._name,
                    line=line_of(index),
                    hint="give every record an id, or none",
                )
            if self._has_ids and (not isinstance(value, (str, int)) or isinstance(value, bool)):
                raise InputError(
                    f"'id' is {described(value)}, not a string",
                    path=self._name,
                    line=line_of(index),
                    hint="write ids as strings or whole numbers",
                )
        return [str(value) for value in found]

    def _also(
        self, rows: Sequence[Mapping[str, Any]], line_of: Callable[[int], int]
    ) -> TextLists | None:
        found = [row.get("gold") for row in rows]
        if set(map(type, found)) == {type(None)}:
            return None
        column = _text_lists([[] if value is None else value for value in found])
        if column is None:
            index = next(
                i for i, value in enumerate(found) if value is not None and not _is_value(value)
            )
            raise self._misshapen(rows[index], "gold", line_of(index))
        return column

    def _other_columns(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, Sequence[str]]:
        if any(isinstance(row.get("meta"), Mapping) for row in rows):
            rows = [_opened(row) for row in rows]
        if set().union(*rows) - self._columns.keys() - _RESERVED:
            for row in rows:  # in the order in which keys appear
                self._columns.update(dict.fromkeys(k for k in row if k not in _RESERVED))
        return {str(name): _texts(row.get(name) for row in rows) for name in self._columns}

    def _misshapen(self, row: Mapping[str, Any], key: str, line: int) -> InputError:
        absent = key not in row
        value, key = row.get(key), self._naming.of(key)
        if absent:
            keys = ", ".join(f"'{k}'" for k in list(row)[:6])
            held = f"it has {keys}" if row else "it is empty"
            return InputError(
                f"no '{key}'",
                path=self._name,
                line=line,
                hint=f"{held}; each record of {self._role} needs '{key}', "
                "a string or a list of strings",
            )
        if isinstance(value, (list, tuple)):
            index, strange = next((i, v) for i, v in enumerate(value) if not isinstance(v, str))
            return InputError(
                f"'{key}' holds {described(strange)} at position {index + 1}, not a string",
                path=self._name,
                line=line,
                hint="write a string or a list of strings",
            )
        hint = "write a string or a list of strings"
        if value is None and self._role == "predictions":
            hint = "leave the record out, and use --missing wrong or --missing skip"
        return InputError(
            f"'{key}' is {described(value)}, not a string", path=self._name, line=line, hint=hint
        )


def described(value: object) -> str:
    """A value as a message may name it.

    >>> described(3.5), described(None), described({"a": 1})
    ('the number 3.5', 'null', 'an object')
    """
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return f"the number {value!r}"[:40]
    if isinstance(value, str):
        return f"the string {value!r}" if len(value) <= 30 else "a string"
    if isinstance(value, Mapping):
        return "an object"
    if isinstance(value, (list, tuple)):
        return "a list"
    return type(value).__name__


def _is_value(value: object) -> bool:
    return isinstance(value, str) or (
        isinstance(value, (list, tuple)) and all(isinstance(v, str) for v in value)
    )


def _text_lists(values: Sequence[Any]) -> TextLists | None:
    """The values as a column; None if one of them is neither a string nor a list of strings."""
    if set(map(type, values)) == {str}:
        return TextLists.single(Texts.of(values))
    if not all(map(_is_value, values)):
        return None
    return TextLists.of([value] if isinstance(value, str) else value for value in values)


def _opened(row: Mapping[str, Any]) -> Mapping[str, Any]:
    meta = row.get("meta")
    if not isinstance(meta, Mapping):
        return row
    inner = {f"meta.{k}" if k in _RESERVED else k: v for k, v in meta.items()}
    return {**inner, **{k: v for k, v in row.items() if k != "meta"}}


def _texts(values: Iterable[Any]) -> list[str]:
    found = list(values)
    return found if set(map(type, found)) == {str} else [_text(value) for value in found]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    if hasattr(value, "item"):  # a numpy number of a table in memory
        value = value.item()
    if isinstance(value, float) and value != value:  # how such a table marks an empty cell
        return ""
    return msgspec.json.encode(value).decode()

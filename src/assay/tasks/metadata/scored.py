# SPDX-License-Identifier: Apache-2.0
"""Reading predictions with confidence: `id<TAB>value<TAB>confidence` lines, or JSON lines."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.tasks.metadata.curve import Scored, scan, summary
from assay.tasks.metadata.labels import BOM, Labels, check_utf8, flat
from assay.tasks.metadata.match import Match
from assay.tasks.metadata.objects import as_text, decoded_lines
from assay.tasks.metadata.settings import Settings
from assay.tasks.metadata.sources import Fields, Side, field_name, read_bytes

ByField = dict[str, list[Scored]]


def read_scored(source: Any, intake: Intake) -> ByField:
    """The scored predictions of a file or of every file of a folder, by field.

    A line of a TSV file belongs to the field its file is named after; an object may name its own.
    """
    path = Path(source)
    if not path.exists():
        raise InputError("no such file or folder", path=path, hint="check --scored")
    files = [path]
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.is_file() and p.name[0] != ".")
    found: ByField = {}
    for file in files:
        data = read_bytes(file, "predictions", intake)
        packed = file.name.removesuffix(".gz").removesuffix(".zst")
        parse = _objects if packed.endswith((".jsonl", ".ndjson")) else _lines
        own = found.setdefault(field_name(file.name), [])
        for field, item in parse(data, file):
            (own if field is None else found.setdefault(field, [])).append(item)
        if not own and len(found) > 1:
            del found[field_name(file.name)]
    return found


def scored_side(scored: ByField, source: Any) -> Side:
    """Scored predictions as a side: the values of each paper in file order."""
    fields: Fields = {}
    for name, items in scored.items():
        values: dict[str, list[str]] = {}
        for item in items:
            values.setdefault(item.id, []).append(item.value)
        labels = Labels.of(values.items(), str(source))
        fields[name] = lambda held=labels: held  # type: ignore[misc]  # bound per field
    return Side(fields=fields, single=Path(source).is_file() and len(fields) == 1)


def curves(
    scored: ByField,
    gold: Mapping[str, Labels],
    rules: Mapping[str, Match],
    settings: Settings,
    bins: int | None,
    recalls: Sequence[float],
) -> dict[str, Any]:
    """The curve of each field that has gold."""
    if bins is not None and bins < 1:
        raise UsageError(f"--bins {bins} must be at least 1")
    for recall in recalls:
        if not 0 < recall <= 1:
            raise UsageError(f"--at-recall {recall:g} must be above 0 and at most 1")
    found = {}
    for name, labels in gold.items():
        rule = rules[name]
        if rule.shape != "values" or not rule.is_equality:
            raise UsageError(
                f"--match {name}={rule} cannot be used with --scored, which takes predictions in "
                "one by one; use a comparison of values by a normal form, such as title"
            )
        truth: dict[str, list[str]] = {}
        for i in range(len(labels)):
            paper, values = labels.line_of(i)
            if settings.duplicate_ids != "merge":  # the last line counts
                truth.pop(paper, None)
            truth.setdefault(paper, []).extend(rule.form(v) for v in values)
        items = [Scored(s.id, rule.form(s.value), s.confidence) for s in scored.get(name, ())]
        found[name] = summary(scan(truth, items, settings.duplicates, bins), recalls)
    return found


def _lines(data: bytes, path: Path) -> Iterator[tuple[str | None, Scored]]:
    check_utf8(data, path)
    text = data.removeprefix(BOM).decode("utf-8")
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip("\t "):
            continue
        parts = line.split("\t")
        if len(parts) != 3:
            raise InputError(
                f"has {len(parts)} columns",
                path=path,
                line=number,
                hint="write id, value and confidence, separated by TABs",
            )
        yield None, Scored(parts[0], parts[1], _confidence(parts[2], path, number))


def _objects(data: bytes, path: Path) -> Iterator[tuple[str | None, Scored]]:
    for number, item in decoded_lines(data, path, "one object per line"):
        if not isinstance(item, dict) or not {"id", "value", "confidence"} <= item.keys():
            raise InputError(
                "is no scored prediction",
                path=path,
                line=number,
                hint='write {"id": ..., "value": ..., "confidence": ...}',
            )
        name, value = (flat(as_text(item[key], key, path, number)) for key in ("id", "value"))
        field = item.get("field")
        if field is not None:
            field = as_text(field, "field", path, number)
        yield field, Scored(name, value, _confidence(item["confidence"], path, number))


def _confidence(given: Any, path: Path, number: int) -> float:
    try:
        value = math.nan if isinstance(given, bool) or "_" in str(given) else float(given)
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise InputError(
            f"confidence {given!r} is not a number", path=path, line=number, hint="write 0.87"
        )
    return value

# SPDX-License-Identifier: Apache-2.0
"""How it was measured: inputs with digests, counts, options, signatures, warnings, versions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from assay.core.document import Counts, ResultDocument
from assay.report.entries import score_entries, signature_of
from assay.report.numbers import format_count
from assay.report.sections import Section
from assay.report.tables import Block, Cell, Table, Words, cells, left, right

DIGEST = 16
"""Letters of a digest that are shown: enough to tell files apart; the run has it whole."""


def measured_blocks(section: Section) -> list[Block]:
    """The tables behind the numbers of a section."""
    found: list[Block] = [_counts(section), *_inputs(section), _signatures(section)]
    found += _options(section)
    found.append(_made(section))
    found += [Words(text) for text in warnings(section)]
    return found


def warnings(section: Section) -> list[str]:
    """Every warning once, with the systems it is about."""
    said: dict[str, list[str]] = {}
    for system in section.systems:
        for warning in system.warnings:
            said.setdefault(warning, []).append(system.system)
    found = [f"{', '.join(names)}: {text}" for text, names in said.items()]
    compared = section.comparison.warnings if section.comparison is not None else ()
    return [*found, *compared, *section.remarks]


def _counts(section: Section) -> Table:
    names = [f.name for f in fields(Counts)]
    rows = tuple(
        (Cell(s.system), *(Cell(format_count(getattr(s.counts, name))) for name in names))
        for s in section.systems
    )
    return Table("Examples", (*left("system"), *right(*names)), rows)


def _inputs(section: Section) -> Iterator[Table]:
    rows = [
        cells(s.system, i.role, i.path, (i.sha256 or "")[:DIGEST])
        for s in section.systems
        for i in s.inputs
    ]
    gold = {s.gold_sha256 for s in section.systems if s.gold_sha256}
    notes = tuple(f"Ids and gold as read: SHA-256 {digest[:DIGEST]}…" for digest in sorted(gold))
    if rows:
        columns = left("system", "what", "file", f"SHA-256 (first {DIGEST})")
        yield Table("Inputs", columns, tuple(rows), notes)


def _signatures(section: Section) -> Table:
    """One line per signature, with the scores and systems that it is of."""
    scores: dict[str, dict[str, None]] = {}
    systems: dict[str, dict[str, None]] = {}
    for system in section.systems:
        for entry in score_entries(system):
            text = signature_of(system, entry.key)
            scores.setdefault(text, {})[entry.key] = None
            systems.setdefault(text, {})[system.system] = None
    many = len(section.systems)
    rows = tuple(
        cells(
            ", ".join(keys),
            f"all {many}" if 1 < many == len(systems[text]) else ", ".join(systems[text]),
            text,
        )
        for text, keys in scores.items()
    )
    notes: tuple[str, ...] = ()
    if section.comparison is not None and section.comparison.signature:
        notes = (f"Comparison: {section.comparison.signature}",)
    return Table("Signature of every number", left("scores", "systems", "signature"), rows, notes)


def _options(section: Section) -> Iterator[Table]:
    names = dict.fromkeys(k for s in section.systems for k, v in s.options.items() if _given(v))
    rows = tuple(
        cells(name, *(_value(s.options.get(name)) for s in section.systems)) for name in names
    )
    if rows:
        columns = left("option", *(s.system for s in section.systems))
        yield Table("Options", columns, rows, ("Options that are not set are left out.",))


def _made(section: Section) -> Table:
    rows = tuple(
        (
            *cells(s.system, *(_value(s.made.get(k)) for k in ("assay", "python", "numpy"))),
            Cell(_command(s)),
        )
        for s in section.systems
    )
    return Table("Made with", left("system", "assay", "Python", "NumPy", "command"), rows)


def _command(document: ResultDocument) -> str:
    return str(document.made.get("command") or "from Python")


def _given(value: Any) -> bool:
    return value not in (None, False, "", [], {}, ())


def _value(value: Any) -> str:
    if not _given(value):
        return "" if value is not False else "no"
    if value is True:
        return "yes"
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)

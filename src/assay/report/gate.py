# SPDX-License-Identifier: Apache-2.0
"""A gate as text: the answer first, then why, then every check with its numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping

from assay.core.comparison import Difference
from assay.core.document import ScoreEntry
from assay.core.gates import Check, GateDocument
from assay.report.entries import interval_words, label
from assay.report.html import block_html, fragment
from assay.report.numbers import (
    digits_for,
    format_count,
    format_interval,
    format_number,
    format_p,
    p_phrase,
)
from assay.report.result import direction_note
from assay.report.sentences import correction_name, resolution, words_of_test
from assay.report.tables import Block, Cell, Table, Tone, Words, left, render_blocks, right

MOST_TOLD = 10
"""So many checks get a sentence; the table has them all."""

_TONE: Mapping[str, Tone] = {"passed": "good", "failed": "bad", "skipped": ""}


def render_gate(
    document: GateDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """The gate as `table`, `markdown`, `latex` or `csv`; options as for `render_result`."""
    if format == "csv":
        from assay.report.csv import gate_csv

        return gate_csv(document)
    return render_blocks(gate_blocks(document, digits), format, colour=colour, width=width)


def gate_html(document: GateDocument, digits: int | None = None) -> str:
    """The gate as a fragment for notebooks; what `_repr_html_` gives."""
    parts = [block_html(block) for block in gate_blocks(document, digits)]
    return fragment(parts, document.warnings)


def gate_blocks(document: GateDocument, digits: int | None = None) -> list[Block]:
    """The gate in the neutral form that the renderers share."""
    places = score_places(document, digits)
    blocks: list[Block] = [Words(headline(document), "heading")]
    told = [check for check in document.checks if is_told(check)]
    blocks += [
        Words(sentence(document, check, places[check.key]), tone=_TONE[check.status])
        for check in told[:MOST_TOLD]
    ]
    if len(told) > MOST_TOLD:
        blocks.append(Words(f"{format_count(len(told) - MOST_TOLD)} more are in the table."))
    drops = [c for c in document.checks if c.rule == "max_drop"]
    limits = [c for c in document.checks if c.rule != "max_drop"]
    if drops:
        blocks.append(_drops(document, drops, places))
    if limits:
        blocks.append(_limits(document, limits, places))
    blocks.append(Words(document.signature, "signature"))
    return blocks


def headline(document: GateDocument) -> str:
    """The answer in one line."""
    n, failed = len(document.checks), len(document.of_status("failed"))
    against = f" against {document.baseline}" if document.baseline is not None else ""
    mode = f" (mode {document.mode})" if document.baseline is not None else ""
    checks = f"{format_count(n)} check{'' if n == 1 else 's'}"
    if document.passed:
        return f"Gate passed: {document.system}{against}, {checks}{mode}"
    return f"Gate failed: {document.system}{against}, {format_count(failed)} of {checks}{mode}"


def failure(document: GateDocument) -> str:
    """The message of the error that a missed gate ends in: which checks failed."""
    names = [_what(check) for check in document.of_status("failed")]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"{document.system} misses its gate: {shown}"


def is_told(check: Check) -> bool:
    """Whether a check gets a sentence: those that passed without reserve are in the table."""
    return check.status != "passed" or check.reason == "larger loss not significant"


def sentence(document: GateDocument, check: Check, digits: int) -> str:
    """One check in words: what was found, and what was allowed."""
    what, entry = _what(check), _entry(document, check.key)
    if check.reason == "nothing to compare":
        return f"skipped: {what} is undefined in {document.baseline}."
    if check.reason == "score undefined":
        return f"failed: {what} is undefined."
    if check.rule != "max_drop":
        least = check.rule == "min"
        side = ("reaches" if least else "keeps to") if check.status == "passed" else "misses"
        bound = "minimum" if least else "maximum"
        value = format_number(check.score, digits)
        return f"{check.status}: {what} is {value} and {side} the {bound} {check.limit:g}."
    d = check.difference
    assert d is not None, "a check of a drop has a difference"
    loss = -d.difference if entry.higher_is_better else d.difference
    allowed = f"allowed drop {check.limit:.6g}"
    way = "worse" if loss > 0 else "better"
    found = f"{what} is {way} than {d.baseline} by {format_number(abs(loss), digits)}"
    if loss == 0:
        found = f"{what} is the same as of {d.baseline}"
    how = f"({_evidence(document, d, digits)}; {allowed})"
    said = {
        "larger loss not significant": f"passed, but not proven: {found}, which is more than "
        f"allowed but may be chance {how}.",
        "larger loss not excluded": f"failed: {found}, and a loss of {check.limit:.6g} or more is "
        f"not excluded {how}.",
        "significant loss": f"failed: {found} {how}.",
    }
    return said.get(check.reason, f"passed: {found}; {check.reason} {how}.")


def score_places(document: GateDocument, digits: int | None) -> dict[str, int]:
    """Digits after the point by score key."""
    if digits is not None:
        return {c.key: digits for c in document.checks}
    values: dict[str, list[float]] = {}
    for check in document.checks:
        d = check.difference
        known = [check.score, *([d.baseline_score] if d is not None else [])]
        values.setdefault(check.key, []).extend(known)
    return {key: digits_for(_entry(document, key).unit, known) for key, known in values.items()}


def _evidence(document: GateDocument, d: Difference, digits: int) -> str:
    low, high = (format_number(bound, digits, signed=True) for bound in d.interval)
    called = interval_words(document.statistics)
    interval = f"{called} of the difference {low} to {high}" if low and high else "no interval"
    if document.mode == "noninferior":
        return interval
    p = p_phrase(d.p_adjusted, resolution(d, d.p_adjusted, document.statistics))
    corrected = correction_name(d.correction)
    return ", ".join(filter(None, [interval, p, words_of_test(d.test), corrected]))


def _what(check: Check) -> str:
    return f"{check.key} of {'='.join(check.slice)}" if check.slice else check.key


def _entry(document: GateDocument, key: str) -> ScoreEntry:
    return next(entry for entry in document.scores if entry.key == key)


def _drops(document: GateDocument, checks: list[Check], places: Mapping[str, int]) -> Table:
    rows = []
    sliced = any(check.slice for check in checks)
    significant = document.mode == "significant"
    corrected = any(c.difference and correction_name(c.difference.correction) for c in checks)
    for check in checks:
        digits, d = places[check.key], check.difference
        assert d is not None, "a check of a drop has a difference"
        p = format_p(d.p_adjusted, resolution(d, d.p_adjusted, document.statistics))
        rows.append(
            (
                Cell(label(_entry(document, check.key), direction=True)),
                *([Cell("=".join(check.slice) if check.slice else "all")] if sliced else []),
                Cell(check.status, tone=_TONE[check.status]),
                Cell(format_number(check.score, digits)),
                Cell(format_number(d.baseline_score, digits)),
                Cell(
                    format_number(d.difference, digits, signed=True),
                    aside=format_interval(d.interval, digits, signed=True),
                ),
                *([Cell(p)] if significant else []),
                Cell("" if math.isnan(check.limit) else f"{check.limit:.4g}"),
            )
        )
    columns = (
        *left("score", *(["slice"] if sliced else []), "result"),
        *right("run", "baseline", "difference"),
        *right(*(["adjusted p" if corrected else "p"] if significant else []), "max drop"),
    )
    return Table("", columns, tuple(rows), _notes(document, checks))


def _notes(document: GateDocument, checks: list[Check]) -> tuple[str, ...]:
    called = interval_words(document.statistics)
    alpha = document.statistics.get("alpha")
    if document.mode == "noninferior":
        rule = (
            f"A check passes if the {called} of the difference (in brackets) excludes a loss of "
            "max drop or more."
        )
        return (rule, *direction_note(document.scores))
    differences = [c.difference for c in checks if c.difference is not None]
    tests = ", ".join(dict.fromkeys(words_of_test(d.test) for d in differences))
    corrections = [
        f"{correction_name(d.correction)} over {'slices' if d.slice else 'scores'}"
        for d in differences
        if correction_name(d.correction)
    ]
    adjusted = "; p adjusted by " + ", ".join(dict.fromkeys(corrections)) if corrections else ""
    return (
        f"A check fails if it is worse by more than max drop and p is at most {alpha:g}. "
        f"In brackets: {called}.",
        f"Test: {tests}{adjusted}.",
        *direction_note(document.scores),
    )


def _limits(document: GateDocument, checks: list[Check], places: Mapping[str, int]) -> Table:
    rows = tuple(
        (
            Cell(label(_entry(document, check.key), direction=True)),
            Cell(check.status, tone=_TONE[check.status]),
            Cell(format_number(check.score, places[check.key])),
            Cell(f"{'at least' if check.rule == 'min' else 'at most'} {check.limit:g}"),
        )
        for check in checks
    )
    columns = (*left("score", "result"), *right("run", "limit"))
    return Table("limits", columns, rows)

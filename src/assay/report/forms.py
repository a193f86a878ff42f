# SPDX-License-Identifier: Apache-2.0
"""A report as blocks: Markdown for a pull request, LaTeX tables for a paper."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from assay.core.names import unknown
from assay.report.comparison import comparison_blocks
from assay.report.entries import label
from assay.report.examples import shown_texts
from assay.report.extras import agreement_pictures
from assay.report.headline import headline
from assay.report.markdown import code, escaped, markdown
from assay.report.measured import measured_blocks, warnings
from assay.report.numbers import digits_for, format_number
from assay.report.pictures import detail_pictures
from assay.report.result import result_blocks
from assay.report.sections import ReportDocument, Section, TellingExample
from assay.report.tables import Block, Cell, Table, Words, left, render_blocks, right

FORMATS = ("html", "markdown", "latex")
MOST_EXAMPLES = 8
LONGEST = 160


def report_text(document: ReportDocument, format: str, digits: int | None = None) -> str:
    """The report as `markdown` or `latex`, ending in a newline."""
    if format == "latex":
        blocks = [b for s in document.sections for b in _numbers(s, digits)]
        return render_blocks([Words(document.title, "heading"), *blocks], "latex")
    if format != "markdown":
        raise unknown("format of a report", format, FORMATS)
    parts = [f"# {escaped(document.title)}\n"]
    parts += [f"{escaped(text)}\n" for text in document.remarks]
    for section in document.sections:
        parts.append(markdown(list(_numbers(section, digits))))
        examples = _examples(section)
        folded = [("How it was measured", markdown(measured_blocks(section)))]
        if examples is not None:
            folded.insert(0, ("Examples", markdown([examples])))
        parts += [
            f"<details><summary>{name}</summary>\n\n{text}\n</details>\n" for name, text in folded
        ]
    if document.command:
        parts.append(f"Made by {code(document.command)}\n")
    return "\n".join(parts)


def _numbers(section: Section, digits: int | None) -> Iterator[Block]:
    """What is said and shown in tables, the same in both forms."""
    said = headline(section)
    yield Words(f"{section.name}: {said.short}", "heading")
    yield Words(said.text)
    yield Words(said.belief)
    if said.others:
        yield Words(said.others)
    if section.comparison is not None:
        blocks = comparison_blocks(section.comparison, digits)
        yield from (b for b in blocks if isinstance(b, Table) or b.kind == "signature")
    else:
        for system in section.systems:
            blocks = result_blocks(system, digits)
            yield from (b for b in blocks if isinstance(b, Table) or b.kind == "signature")
    judges = [chart for data in section.agreements for chart in agreement_pictures(data)]
    for chart in [*detail_pictures(section.systems, section.regions), *judges]:
        yield replace(chart.table, title=chart.title)
    yield from (Words(f"Warning: {text}") for text in warnings(section))


def _examples(section: Section) -> Table | None:
    """The first few telling examples, cut short."""
    telling = section.telling
    if telling is None or not telling.examples:
        return None
    shown = telling.examples[:MOST_EXAMPLES]
    digits = digits_for(telling.score.unit, [v for e in shown for v in e.scores])
    pair = dict.fromkeys(telling.pair[::-1])
    rows = tuple(
        (
            *(Cell(e.id), Cell(telling.called(e.kind))),
            Cell(" / ".join(format_number(e.scores[i], digits) or "undefined" for i in pair)),
            Cell(_short(e.gold)),
            *(Cell(_prediction(e, i)) for i in pair),
        )
        for e in shown
    )
    names = [telling.systems[i] for i in pair]
    columns = (*left("example", "kind"), *right(label(telling.score)), *left("gold", *names))
    return Table(f"{len(shown)} telling examples of {telling.n:,}", columns, rows)


def _prediction(example: TellingExample, system: int) -> str:
    value = example.predictions[system]
    return "(missing)" if value is None else _short(value)


def _short(value: object) -> str:
    text = " ".join((shown_texts(value) or [""])[0].split()) or "(empty)"
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"

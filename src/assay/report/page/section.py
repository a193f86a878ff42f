# SPDX-License-Identifier: Apache-2.0
"""One section of the page: the answer, the table, pictures, examples, how it was measured."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import PurePath
from urllib.parse import quote

from assay.report.charts import Chart
from assay.report.comparison import comparison_blocks
from assay.report.escape import isolated, safe_html, told
from assay.report.examples import examples_html
from assay.report.extras import agreement_pictures
from assay.report.headline import Headline, headline
from assay.report.html import block_html, figures, table_html, typeset
from assay.report.measured import measured_blocks, warnings
from assay.report.numbers import format_count
from assay.report.pictures import comparison_pictures, result_pictures
from assay.report.result import result_blocks
from assay.report.sections import Section
from assay.report.tables import Table, Words

MOST_ROWS = 16
"""Of a longer table at the top of a section, the first..."""
SHOWN_ROWS = 10

BADGES = {
    "decided": "✓ decided",
    "open": "? not decided",
    "equivalent": "= equivalent",
    "single": "one system",
}


def section_html(section: Section, place: int, most_bytes: int, *, alone: bool = True) -> str:
    """The section with its anchor; `most_bytes` bounds its examples.

    One of several sections folds its examples away, so that the next answer is not pages below.
    """
    said = headline(section)
    name = slug(section, place)
    first, rest = _tables(section)
    charts = _charts(section)
    parts = [
        f'<section id="{name}" aria-labelledby="{name}-title">\n',
        _answer(section, said, name),
        _leading(first) if first is not None else "",
        _warned(section),
        f"<h3>Pictures</h3>\n{figures(charts)}" if charts else "",
        *map(_folded, rest),
    ]
    if section.telling is not None and section.telling.examples:
        shown = examples_html(section.telling, name, most_bytes)
        many = format_count(shown.count("<article"))
        parts.append(_examples(f"{shown}{_links(section)}", "" if alone else many))
    measured = "".join(map(block_html, measured_blocks(section)))
    parts.append(
        f'<details class="measured"><summary><h3>How it was measured</h3></summary>\n{measured}'
        "</details>\n</section>\n"
    )
    return "".join(parts)


def _examples(body: str, folded: str) -> str:
    """The examples under their heading, or behind a click that says how many there are."""
    if not folded:
        return f"<h3>Examples</h3>\n{body}"
    summary = f"<summary><h3>Examples ({folded})</h3></summary>"
    return f'<details class="telling">{summary}\n{body}</details>\n'


def slug(section: Section, place: int) -> str:
    """The anchor of a section.

    >>> slug(Section("text", ()), 0)
    'text-1'
    """
    return f"{re.sub('[^a-z0-9]+', '-', section.task.lower())}-{place + 1}"


def _answer(section: Section, said: Headline, name: str) -> str:
    others = f"<p>{told(said.others)}</p>" if said.others else ""
    full = typeset(told(said.text))
    badge = "✓ only just" if said.barely else BADGES[said.standing]
    return (
        f'<div class="answer {said.standing}">\n<p class="task">{safe_html(section.name)} '
        f'<span class="badge {said.standing}">{badge}</span></p>\n'
        f'<h2 id="{name}-title">{told(said.short)}</h2>\n'
        f'<p class="full">{full}</p>\n<p>{told(said.belief)}</p>\n{others}'
        "</div>\n"
    )


def _tables(section: Section) -> tuple[Table | None, Sequence[Table]]:
    """The table of systems by metrics, and what follows further below."""
    blocks: list[Table] = []
    if section.comparison is not None:
        blocks = [b for b in comparison_blocks(section.comparison) if isinstance(b, Table)]
    else:
        for system in section.systems:
            blocks += [b for b in result_blocks(system) if isinstance(b, Table)]
    return (blocks[0], blocks[1:]) if blocks else (None, ())


def _charts(section: Section) -> list[Chart]:
    judges = [chart for data in section.agreements for chart in agreement_pictures(data)]
    if section.comparison is not None:
        return [*comparison_pictures(section.comparison, regions=section.regions), *judges]
    own = [chart for system in section.systems for chart in result_pictures(system)]
    return [*own, *judges]


def _leading(table: Table) -> str:
    """The first table; of a long one the first rows, the others behind a click."""
    if len(table.rows) <= MOST_ROWS:
        return block_html(table)
    rest = replace(table, title=f"{len(table.rows) - SHOWN_ROWS} more rows", notes=())
    shown = block_html(replace(table, rows=table.rows[:SHOWN_ROWS]))
    return shown + _folded(replace(rest, rows=table.rows[SHOWN_ROWS:]))


def _folded(table: Table) -> str:
    body = table_html(replace(table, title=""), table.title)
    return f"<details><summary>{told(table.title)}</summary>\n{body}</details>\n"


def _warned(section: Section) -> str:
    found = warnings(section)
    if not found:
        return ""
    lines = "".join(f"<li>{told(text)}</li>" for text in found)
    many = f"{len(found)} warnings" if len(found) > 1 else "1 warning"
    return f'<details class="warned"><summary>{many}</summary><ul>{lines}</ul></details>\n'


def _links(section: Section) -> str:
    """Where all examples are, as data."""
    if not section.links:
        return ""
    links = _listed(
        f'<a href="{safe_html(quote(PurePath(folder, "examples.jsonl").as_posix()))}">'
        f"{isolated(system.system)}</a>"
        for system, folder in zip(section.systems, section.links, strict=True)
    )
    said = f"<p>All examples with every prediction, as JSON lines: {links}.</p>\n"
    if len(section.folders) < 2:
        return said
    first, last = section.folders[0], section.folders[-1]
    command = shlex.join(["assay", "diff", first, last, "--limit", "0"])
    shown = block_html(Words(command, "signature"))
    return f"{said}<p>All that changed between two of them:</p>\n{shown}"


def _listed(items: Iterable[str]) -> str:
    return ", ".join(items)

# SPDX-License-Identifier: Apache-2.0
"""Documents as HTML fragments for notebooks and pages: words, charts of intervals, tables.

A fragment stands alone: its style is scoped to its own class, it fetches nothing and runs nothing.
Colours come from the surroundings, so it reads on light and dark pages alike. All text is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from assay.core.comparison import ComparisonDocument
from assay.core.document import ResultDocument
from assay.report.charts import COLOURS, Chart
from assay.report.comparison import comparison_blocks
from assay.report.escape import isolated, safe_html, told
from assay.report.pictures import comparison_pictures, result_pictures
from assay.report.result import result_blocks
from assay.report.tables import Align, Block, Cell, Column, Table, Words

LONG_HEAD = 18
"""A heading of more letters than this may be broken within a word."""
LONG_TEXT = 40
"""Likewise a cell of text."""
SHORT_TEXT = 16
"""A text of so few letters, such as a score and its unit, is kept on one line."""
MOST_MARKS = 15
"""Raised letters up to which the numbers of a column line up."""

# Mixed with the colour of the text, colours are darker on light pages and lighter on dark ones,
# whatever a notebook calls its themes. A page that knows better sets the variables.
_MARKS = "".join(
    f".assay .{name}{{color:{light};color:var(--assay-{name},"
    f"color-mix(in srgb,{light} 72%,currentColor))}}\n"
    for name, (light, _) in COLOURS.items()
)

_WIDTHS = "".join(
    f".assay .w{n}{{display:inline-block;min-width:{n}ch;text-align:left}}\n"
    for n in range(1, MOST_MARKS + 1)
)

RULES = f"""\
{_MARKS}.assay .figures{{display:flex;flex-wrap:wrap;gap:1em 2em;margin:.8em 0}}
.assay figure{{margin:0;flex:0 1 480px;min-width:0}}
.assay figcaption{{font-weight:600;margin-bottom:.4em}}
.assay .chart{{display:block;max-width:100%;height:auto}}
.assay summary{{cursor:pointer;font-size:12px;opacity:.75}}
.assay table .long{{white-space:normal;overflow-wrap:anywhere;min-width:9em;max-width:40em}}
.assay table .short{{white-space:nowrap}}
{_WIDTHS}"""

STYLE = (
    """\
<style>
"""
    + RULES
    + """\
.assay{font:14px/1.45 system-ui,sans-serif;color:inherit;max-width:100%}
.assay p{margin:.4em 0}
.assay .scroll{overflow-x:auto;margin:.8em 0}
.assay table{border-collapse:collapse;margin:0;font-size:13px}
.assay caption{text-align:left;font-weight:600;padding:.2em 0;white-space:nowrap}
.assay th,.assay td{padding:.2em .7em;text-align:left;border:0;\
border-bottom:1px solid rgba(128,128,128,.3);background:transparent;color:inherit}
.assay th{font-weight:600;border-bottom:1px solid rgba(128,128,128,.8)}
.assay .num{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.assay .aside{opacity:.7;font-size:12px;margin-left:.4em}
.assay sup{font-size:70%}
.assay .note{font-size:12px;opacity:.75}
.assay code{font-size:12px;overflow-wrap:anywhere;background:transparent;color:inherit}
.assay del{color:#c43a4d;color:color-mix(in srgb,#c43a4d 72%,currentColor)}
.assay ins{color:#1b814d;color:color-mix(in srgb,#1b814d 72%,currentColor)}
.assay ins{text-decoration:underline}
.assay .text{white-space:pre-wrap;overflow-wrap:anywhere;vertical-align:top}
</style>
"""
)

_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def result_html(document: ResultDocument, digits: int | None = None) -> str:
    """The result as a fragment; what `_repr_html_` gives."""
    first, *rest = result_blocks(document, digits)
    charts = figures(result_pictures(document, digits))
    parts = [block_html(first), charts, *(block_html(block) for block in rest)]
    return fragment(parts, document.warnings)


def comparison_html(document: ComparisonDocument, digits: int | None = None) -> str:
    """The comparison as a fragment: the answer in words, differences as charts, then the tables."""
    blocks = comparison_blocks(document, digits)
    words = [b for b in blocks if isinstance(b, Words) and b.kind != "signature"]
    rest = [b for b in blocks if b not in words]
    charts = figures(comparison_pictures(document, digits))
    parts = [*map(block_html, words), charts, *map(block_html, rest)]
    return fragment(parts, document.warnings)


def fragment(parts: Sequence[str], warnings: Sequence[str]) -> str:
    """Parts that are HTML already, then warnings, in one element with the style they need."""
    said = "".join(f'<p class="note">Warning: {safe_html(text)}</p>\n' for text in warnings)
    return f'<div class="assay">\n{STYLE}{"".join(parts)}{said}</div>\n'


def figures(charts: Sequence[Chart]) -> str:
    """Charts side by side where there is room; nothing where there are none."""
    return f'<div class="figures">\n{"".join(map(figure, charts))}</div>\n' if charts else ""


def figure(chart: Chart) -> str:
    """A chart under its title, and the numbers behind it for who wants them."""
    numbers = table_html(replace(chart.table, title=""), f"Numbers: {chart.title}")
    return (
        f"<figure>\n<figcaption>{told(chart.title)}</figcaption>\n{chart.svg()}"
        f"<details><summary>Numbers</summary>\n{numbers}</details>\n</figure>\n"
    )


def table_html(table: Table, name: str = "") -> str:
    """A table with its caption and notes, in a box that can be reached by keyboard to scroll it.

    `name` is what the box is called where the table has no title.
    """
    head = "".join(
        f'<th{_class(c.align, long=len(c.title) > LONG_HEAD)} scope="col">{isolated(c.title)}</th>'
        for c in table.columns
    )
    widths = [max((len(row[i].marks) for row in table.rows), default=0) for i in _places(table)]
    rows = "".join(
        f"<tr>{''.join(_cell(row[i], table.columns[i], widths[i]) for i in _places(table))}</tr>\n"
        for row in table.rows
    )
    caption = f"<caption>{told(table.title)}</caption>\n" if table.title else ""
    notes = "".join(f'<p class="note">{safe_html(note)}</p>\n' for note in table.notes)
    called = safe_html(table.title or name or "Table")
    return (
        f'<div class="scroll" role="group" aria-label="{called}" tabindex="0"><table>\n'
        f"{caption}<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>\n{notes}"
    )


def _places(table: Table) -> range:
    return range(len(table.columns))


def block_html(block: Block) -> str:
    """A table or a paragraph."""
    if isinstance(block, Table):
        return table_html(block)
    if block.kind == "signature":
        return f"<p><code>{safe_html(block.text)}</code></p>\n"
    if block.kind == "heading":
        return f"<h3>{safe_html(block.text)}</h3>\n"
    return f"<p{_tone(block.tone)}>{typeset(safe_html(block.text))}</p>\n"


def typeset(html: str) -> str:
    """With minus signs for hyphens before numbers, and signs kept on the line of their number.

    >>> typeset("is -0.5 (p = 0.27, 95 % interval)")
    'is −0.5 (p\\xa0=\\xa00.27, 95\\xa0% interval)'
    """
    html = re.sub(r"\bp (=|&lt;) (?=\d)", "p\xa0\\1\xa0", _MINUS.sub("−", html))
    return re.sub(r"(?<=\d) %", "\xa0%", html)


def _tone(tone: str) -> str:
    return f' class="{tone}"' if tone else ""


def _class(align: Align, *, long: bool) -> str:
    """How a cell is set: numbers to the right, what is long may be broken anywhere."""
    names = [*(["num"] if align == "right" else []), *(["long"] if long else [])]
    return f' class="{" ".join(names)}"' if names else ""


def _cell(cell: Cell, column: Column, marks: int) -> str:
    """One cell; `marks` is the room that the marks of its column take, so that numbers line up."""
    numeric = column.align == "right"
    text = _MINUS.sub("−", safe_html(cell.text)) if numeric else isolated(cell.text)
    if cell.tone:
        text = f"<span{_tone(cell.tone)}>{text}</span>"
    if cell.best:
        text = f"<strong>{text}</strong>"
    if 0 < marks <= MOST_MARKS:
        text += f'<sup class="w{marks}">{safe_html(cell.marks)}</sup>'
    elif cell.marks:
        text += f"<sup>{safe_html(cell.marks)}</sup>"
    if cell.aside:
        text += f' <span class="aside">{_MINUS.sub("−", safe_html(cell.aside))}</span>'
    if not numeric and len(cell.text) <= SHORT_TEXT and " " in cell.text:
        return f'<td class="short">{text}</td>'
    long = not numeric and len(cell.text) > LONG_TEXT
    return f"<td{_class(column.align, long=long)}>{text}</td>"

# SPDX-License-Identifier: Apache-2.0
"""Blocks as Markdown with pipe tables, as GitHub and most others read it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.report.tables import Block, Cell, Table, Words
from assay.report.terminal import spelled

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$&!])")
_INTERVAL = re.compile(r"\[[-+\d., ]*\]")
_START = re.compile(r"^(?:[-+=]|\d+(?=[.)]\s))")
_LINK = re.compile(r"(https?|ftp|mailto)(:)|(www)(\.)", re.IGNORECASE)
# What GitHub and GitLab look for in the finished text, where no escape of Markdown is left: people,
# issues, and names of emoji.
_MENTION = re.compile(r"@(?=\w)|#(?=\d)|\bGH-(?=\d)|:(?=[a-z+-][\w+-]*:)")
_NOTHING = "\u200b"
"""Of no width; parts what would be taken for a mention."""


def markdown(blocks: Sequence[Block]) -> str:
    """The blocks, an empty line between any two."""
    return "\n\n".join(_block(block) for block in blocks) + "\n"


def escaped(text: str) -> str:
    """The text as it must be written to be read as it is, on one line.

    >>> escaped("a|b <i> *c*")
    'a\\\\|b \\\\<i\\\\> \\\\*c\\\\*'
    >>> escaped("by @ada in #12")
    'by @&#8203;ada in \\\\#&#8203;12'
    """
    if _INTERVAL.fullmatch(text):
        return text  # no link can come of it, and the plain text stays readable
    parted = _MENTION.sub(rf"\g<0>{_NOTHING}", spelled(" ".join(text.split())))
    flat = _SPECIAL.sub(r"\\\1", parted).replace(_NOTHING, f"&#{ord(_NOTHING)};")
    # A reader may turn bare addresses into links; an entity in them prevents it.
    return _LINK.sub(lambda m: _broken(m.group()), flat)


def code(text: str) -> str:
    """The text as a code span, whatever backquotes it holds.

    >>> code("a|b"), code("a`b")
    ('`a|b`', '`` a`b ``')
    """
    flat = spelled(" ".join(text.split()))
    longest = max((len(run) for run in re.findall("`+", flat)), default=0)
    fence = "`" * (longest + 1)
    return f"{fence} {flat} {fence}" if longest else f"{fence}{flat}{fence}"


def _broken(address: str) -> str:
    return f"{address[:-1]}&#{ord(address[-1])};"


def _block(block: Block) -> str:
    if isinstance(block, Table):
        return _table(block)
    return _words(block)


def _words(words: Words) -> str:
    if words.kind == "heading":
        return f"## {escaped(words.text)}"
    if words.kind == "signature":
        return code(words.text)
    # A sentence that opens with a dash or with "1. " would be read as a list.
    return _START.sub(lambda m: _broken(m.group()), escaped(words.text))


def _table(table: Table) -> str:
    lines = [f"**{escaped(table.title)}**", ""] if table.title else []
    lines.append(_row([escaped(column.title) for column in table.columns]))
    lines.append(_row(["---:" if c.align == "right" else "---" for c in table.columns]))
    lines.extend(_row([_cell(cell) for cell in row]) for row in table.rows)
    for note in table.notes:
        lines += ["", escaped(note)]
    return "\n".join(lines)


def _row(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _cell(cell: Cell) -> str:
    text = escaped(cell.text)
    if cell.best and text:
        text = f"**{text}**"
    if cell.marks:
        text += f"<sup>{escaped(cell.marks)}</sup>"
    return f"{text} {escaped(cell.aside)}".strip()

# SPDX-License-Identifier: Apache-2.0
"""Blocks as LaTeX: tables with the rules of the booktabs package, everything else as paragraphs."""

from __future__ import annotations

import re
from collections.abc import Sequence

from assay.report.tables import Block, Cell, Table, Words

_SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "'": r"\textquotesingle{}",
    "[": r"{[}",  # after a line break or in an optional argument a bracket is taken as syntax
    "]": r"{]}",
    "↓": r"$\downarrow$",
    "↑": r"$\uparrow$",
    "−": r"$-$",
    "·": r"\textperiodcentered{}",
    "…": r"\ldots{}",
}
_TABLE = str.maketrans(_SPECIAL)
FITTED = r"\resizebox{\ifdim\width>\linewidth\linewidth\else\width\fi}{!}{%"
"""Opens a box that is made smaller where it is wider than the line, and left alone elsewhere."""
_MINUS = re.compile(r"(?<![\w.])-(?=\d)")


def latex(blocks: Sequence[Block]) -> str:
    """The blocks, an empty line between any two.

    Needs booktabs, graphicx and the T1 font encoding; other scripts than Latin need LuaLaTeX or
    XeLaTeX with a font that has them.
    """
    return "\n\n".join(_block(block) for block in blocks) + "\n"


def escaped(text: str) -> str:
    """The text as it must be written to be printed as it is, on one line.

    >>> print(escaped("50% of a_b & {c}"))
    50\\% of a\\_b \\& \\{c\\}
    """
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat.translate(_TABLE)


def _number(text: str) -> str:
    return _MINUS.sub("$-$", escaped(text))


def _block(block: Block) -> str:
    return _table(block) if isinstance(block, Table) else _words(block)


def _words(words: Words) -> str:
    if words.kind == "heading":
        return rf"\paragraph{{{escaped(words.text)}}}"
    if words.kind == "signature":
        # Signatures are long words without spaces: let them break after their separators.
        breakable = escaped(words.text).replace(r"\textbar{}", r"\textbar\allowbreak{}")
        breakable = breakable.replace(",", r",\allowbreak{}")
        return rf"{{\footnotesize\noindent\raggedright\ttfamily {breakable}\par}}"
    return _number(words.text)


def _table(table: Table) -> str:
    spec = "".join("r" if c.align == "right" else "l" for c in table.columns)
    lines = [r"\begin{table}", r"\centering"]
    if table.title:
        lines.append(rf"\caption{{{escaped(table.title)}}}")
    lines += [FITTED, rf"\begin{{tabular}}{{{spec}}}", r"\toprule"]
    lines.append(_row([escaped(c.title) for c in table.columns]))
    lines.append(r"\midrule")
    for row in table.rows:
        lines.append(_row([_cell(c, k.align) for c, k in zip(row, table.columns, strict=True)]))
    lines += [r"\bottomrule", r"\end{tabular}}"]
    lines.extend(rf"\par{{\footnotesize {escaped(note)}}}" for note in table.notes)
    lines.append(r"\end{table}")
    return "\n".join(lines)


def _row(texts: Sequence[str]) -> str:
    return rf"{' & '.join(texts)} \\".lstrip()


def _cell(cell: Cell, align: str) -> str:
    text = _number(cell.text) if align == "right" else escaped(cell.text)
    if cell.best and text:
        text = rf"\textbf{{{text}}}"
    if cell.marks:
        text += rf"\textsuperscript{{{escaped(cell.marks)}}}"
    if cell.aside:
        text = rf"{text} {{\footnotesize {_number(cell.aside)}}}".strip()
    return text

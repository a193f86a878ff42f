# SPDX-License-Identifier: Apache-2.0
"""What changed between two runs: counts, by slice, and the examples with their words marked."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from assay.core.diffs import CHANGES, ChangeCounts, DiffDocument, ExampleChange
from assay.core.names import unknown
from assay.report.entries import label
from assay.report.escape import isolated, safe_html
from assay.report.html import block_html, fragment
from assay.report.markdown import escaped, markdown
from assay.report.numbers import digits_for, format_count, format_number
from assay.report.sidebyside import WIDE, Labelled, side_by_side, stacked
from assay.report.tables import Block, Cell, Table, Tone, Words, left, right
from assay.report.terminal import TONES, styled, terminal, visible
from assay.report.words import Piece, Ranked, differing, texts_of

FORMATS = ("table", "markdown", "csv")
MOST_CANDIDATES = 3
"""Of a list of candidates so many are shown that differ; JSON has them all."""

_Safe = Callable[[str], str]
_TONE: Mapping[str, Tone] = {"fixed": "good", "broken": "bad", "changed": "", "same": ""}
_TAGS = {"same": ("", ""), "deleted": ("<del>", "</del>"), "inserted": ("<ins>", "</ins>")}


def render_diff(
    document: DiffDocument,
    format: str = "table",
    digits: int | None = None,
    *,
    colour: bool = False,
    width: int | None = None,
) -> str:
    """The diff as `table`, `markdown` or `csv`; options as for `render_result`.

    CSV holds the examples alone, one row each.
    """
    if format == "csv":
        from assay.report.csv import diff_csv

        return diff_csv(document)
    if format == "markdown":
        return _markdown(document, digits)
    if format != "table":
        raise unknown("format of a diff", format, FORMATS)
    text = terminal(diff_blocks(document), colour=colour, width=width)
    for example in document.examples:
        text += "\n" + "\n".join(_shown(document, example, digits, colour, width)) + "\n"
    if rest := _rest(document):
        text += "\n" + rest + "\n"
    return text + "\n" + styled(visible(document.signature), "dim" if colour else None) + "\n"


def diff_blocks(document: DiffDocument) -> list[Block]:
    """What is said before the examples: counts in words, what they mean, counts by slice."""
    d = document
    places = _places(d, None)
    before, now = (
        format_number(s, places) or "undefined" for s in (d.baseline_score, d.system_score)
    )
    counted = ", ".join(f"{format_count(getattr(d.counts, kind))} {kind}" for kind in CHANGES)
    title = f"{d.system} against {d.baseline} by {d.score.key}: {counted}"
    of_all = (
        f"{format_count(d.counts.n)} examples; {label(d.score)} of all {before} before, {now} now"
    )
    blocks: list[Block] = [Words(title, "heading"), Words(f"{of_all}."), Words(meaning(document))]
    for column, by_value in d.slices.items():
        ordered = sorted(by_value.items(), key=lambda item: -item[1].n)
        rows = [_counts_row(value, counts) for value, counts in ordered]
        columns = (*left(column), *right("n", *CHANGES))
        blocks.append(Table(f"by {column}", columns, (*rows, _counts_row("all", d.counts))))
    return blocks


def meaning(document: DiffDocument) -> str:
    """What fixed and broken mean by this score."""
    key = document.score.key
    if document.right_wrong:
        return (
            "fixed: wrong before, right now; broken: right before, wrong now; "
            "changed: another prediction, as right or wrong as before."
        )
    least = f" by more than {document.min_change:g}" if document.min_change else ""
    alike = f"about as good by {key}" if document.min_change else f"as good by {key}"
    lower = "" if document.score.higher_is_better else " (lower)"
    return (
        f"fixed: the example's own {key} is better{lower} than before{least}; "
        f"broken: worse{least}; changed: another prediction, {alike}."
    )


def diff_html(document: DiffDocument, digits: int | None = None) -> str:
    """The diff as a fragment for notebooks; what `_repr_html_` gives."""
    parts = [block_html(block) for block in diff_blocks(document)]
    if document.examples:
        titles = ("example", "change", label(document.score), "gold")
        names = (document.baseline, document.system)
        head = "".join(f'<th scope="col">{isolated(t)}</th>' for t in (*titles, *names))
        rows = "".join(_html_row(document, e, digits) for e in document.examples)
        parts.append(
            '<div class="scroll" role="group" aria-label="Examples" tabindex="0"><table>\n'
            f"<thead><tr>{head}</tr></thead>\n"
            f"<tbody>\n{rows}</tbody></table></div>\n"
        )
    if rest := _rest(document):
        parts.append(f'<p class="note">{safe_html(rest)}</p>\n')
    parts.append(block_html(Words(document.signature, "signature")))
    return fragment(parts, document.warnings)


def _markdown(document: DiffDocument, digits: int | None) -> str:
    text = markdown(diff_blocks(document))
    if document.examples:
        titles = ("example", "change", label(document.score), "gold")
        names = (document.baseline, document.system)
        lines = [_pipes([escaped(t) for t in (*titles, *names)]), _pipes(["---"] * 6)]
        lines += [_pipes(_markdown_row(document, e, digits)) for e in document.examples]
        text += "\n" + "\n".join(lines) + "\n"
    if rest := _rest(document):
        text += f"\n{escaped(rest)}\n"
    return text + "\n" + markdown([Words(document.signature, "signature")])


def _pipes(texts: Sequence[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _counts_row(value: str, counts: ChangeCounts) -> tuple[Cell, ...]:
    numbers = [Cell(format_count(getattr(counts, kind))) for kind in CHANGES]
    return (Cell(value), Cell(format_count(counts.n)), *numbers)


def _rest(document: DiffDocument) -> str:
    """How many examples of the kinds asked for are not shown."""
    hidden = document.selected - len(document.examples)
    kinds = ", ".join(document.only)
    if not document.selected:
        return f"No example is {' or '.join(document.only)}."
    if not hidden:
        return ""
    return (
        f"{format_count(hidden)} more of {format_count(document.selected)} ({kinds}); "
        "--limit 0 lists them all."
    )


def _places(document: DiffDocument, digits: int | None) -> int:
    if digits is not None:
        return digits
    scores = [s for e in document.examples for s in (e.baseline_score, e.system_score)]
    return digits_for(
        document.score.unit, [document.baseline_score, document.system_score, *scores]
    )


def _scores(document: DiffDocument, example: ExampleChange, digits: int | None) -> str:
    """`wrong → right`, or the two scores of a graded one."""
    both = (example.baseline_score, example.system_score)
    if document.right_wrong:
        words = {0.0: "wrong", 1.0: "right"}
        before, after = (words.get(s, "undefined") for s in both)
    else:
        places = _places(document, digits)
        before, after = (format_number(s, places) or "undefined" for s in both)
    return f"{before} → {after}"


def _shown(
    document: DiffDocument,
    example: ExampleChange,
    digits: int | None,
    colour: bool,
    width: int | None,
) -> list[str]:
    """One example for a terminal."""
    kind = styled(example.change, TONES[_TONE[example.change]] if colour else None)
    name = styled(visible(example.id), "bold" if colour else None)
    where = [visible(f"{column}={example.slices[column]}") for column in document.slices]
    scores = f"{visible(document.score.key)} {_scores(document, example, digits)}"
    lines = ["  ".join([name, kind, scores, *where])]
    gold: Labelled = ("gold", _gold(example))
    ranks, note = _ranks(example)
    columns = width is not None and width >= WIDE
    if columns:
        lines += stacked([gold], colour=colour, width=width)
    rows = [] if columns else [gold]
    for ranked in ranks:
        number = f" #{ranked.rank}" if _is_list(example) else ""
        first: Labelled = (document.baseline + number, ranked.first)
        second: Labelled = (document.system + number, ranked.second)
        if columns:
            assert width is not None
            lines += side_by_side(first, second, colour=colour, width=width)
        else:
            rows += [first, second]
    lines += stacked(rows, colour=colour, width=width)
    return [*lines, f"  {note}"] if note else lines


def _is_list(example: ExampleChange) -> bool:
    both = (example.baseline_prediction, example.system_prediction)
    return any(len(texts_of(prediction)) > 1 for prediction in both)


def _ranks(example: ExampleChange) -> tuple[list[Ranked], str]:
    ranks = differing(example.baseline_prediction, example.system_prediction)
    if not ranks:
        return [Ranked(1, None, None)], ""
    hidden = len(ranks) - MOST_CANDIDATES
    words = "candidate differs" if hidden == 1 else "candidates differ"
    note = f"{format_count(hidden)} more {words}" if hidden > 0 else ""
    return ranks[:MOST_CANDIDATES], note


def _gold(example: ExampleChange) -> list[Piece] | None:
    texts = texts_of(example.gold)
    if not texts:
        return None
    more = f" (and {len(texts) - 1} more)" if len(texts) > 1 else ""
    return [Piece("same", texts[0] + more)] if texts[0] + more else []


def _html_row(document: DiffDocument, example: ExampleChange, digits: int | None) -> str:
    tone = _TONE[example.change]
    change = f'<span class="{tone}">{example.change}</span>' if tone else example.change
    sides = _sides(example, safe_html, "<br>")
    texts = "".join(f'<td class="text">{text}</td>' for text in sides)
    return (
        f"<tr><td>{isolated(example.id)}</td><td>{change}</td>"
        f'<td class="num">{safe_html(_scores(document, example, digits))}</td>{texts}</tr>\n'
    )


def _markdown_row(document: DiffDocument, example: ExampleChange, digits: int | None) -> list[str]:
    sides = _sides(example, _kept_spaces, "<br>")
    scores = escaped(_scores(document, example, digits))
    return [escaped(example.id), example.change, scores, *sides]


def _kept_spaces(text: str) -> str:
    """Escaped, with the spaces at both ends: pieces of a text stand one behind the other."""
    core = escaped(text)
    before = " " if re.match(r"\s", text) else ""
    after = " " if core and re.search(r"\s$", text) else ""
    return f"{before}{core}{after}"


def _sides(example: ExampleChange, safe: _Safe, newline: str) -> list[str]:
    """Gold, baseline and system as markup, the candidates of a list one under the other."""
    ranks, note = _ranks(example)
    columns: list[list[str]] = [[], []]
    for ranked in ranks:
        number = f"{ranked.rank}. " if _is_list(example) else ""
        for column, pieces in zip(columns, (ranked.first, ranked.second), strict=True):
            column.append(safe(number) + _marked_up(pieces, safe))
    if note:
        columns[1].append(f"<em>{safe(note)}</em>")
    return [_marked_up(_gold(example), safe), *(newline.join(column) for column in columns)]


def _marked_up(pieces: Sequence[Piece] | None, safe: _Safe) -> str:
    if pieces is None:
        return "<em>missing</em>"
    if not pieces:
        return "<em>empty</em>"
    parts = []
    for kind, text in pieces:
        opening, closing = _TAGS[kind]
        # Tags stand at the words; what is white space alone stays within them, to be seen.
        core = text.strip() or text
        before, _, after = text.partition(core)
        parts.append(f"{safe(before)}{opening}{safe(core)}{closing}{safe(after)}")
    return "".join(parts)

# SPDX-License-Identifier: Apache-2.0
"""The result on the console: the documented lines, and below them how far they can be trusted."""

from __future__ import annotations

import re
from typing import Any

from assay.core.document import ResultDocument
from assay.report.entries import score_digits, score_entries
from assay.report.result import counts_line, score_cell, signatures, slice_tables
from assay.report.tables import Block, Cell, Table, Words, left, render_blocks, right

_NAMES = re.compile(r"top(\d+)_(command|template)_accuracy")
_MANUAL = (
    ("Top {} Command Acc", "top{}_command_accuracy"),
    ("Top {} Template Acc", "top{}_template_accuracy"),
)
_AUTOMATIC = (
    ("Top {} Template Acc", "top{}_template_accuracy"),
    ("Top {} Command Acc", "top{}_command_accuracy"),
    ("Average top {} Template Match Score", "top{}_template_match_score"),
    ("Average top {} BLEU Score", "top{}_character_bleu"),
)


def documented(document: ResultDocument) -> list[str]:
    """The lines of the old program: commands first where people are asked, ranks first else."""
    scores = document.scores
    ranks = dict.fromkeys(re.findall(r"\btop(\d+)_", " ".join(scores)))
    if document.options.get("automatic"):
        if document.extra.get("best_shown") is False:
            ranks = {rank: None for rank in ranks if rank == "1"}
        wanted = [(text.format(k), key.format(k)) for k in ranks for text, key in _AUTOMATIC]
        wanted.append(("Corpus BLEU", "corpus_token_bleu_top1"))
    else:
        wanted = [(text.format(k), key.format(k)) for text, key in _MANUAL for k in ranks]
    lines = [f"{document.statistics['n']} examples evaluated"]
    return lines + [f"{text} = {scores[key]:.3f}" for text, key in wanted if key in scores]


def render(document: ResultDocument, **options: Any) -> str:
    """Everything for the console."""
    first = "\n".join(documented(document))
    if options.get("compat") is not None:
        return first
    digits = 3 if options.get("digits") is None else options["digits"]
    judged = any(_NAMES.fullmatch(key) for key in document.scores)
    judging = document.extra.get("judging", {}) if judged else {}
    shown = score_entries(document)
    below: list[Block] = [
        _score_table(document, judging, digits),
        *slice_tables(document, shown, score_digits(shown, [document], options.get("digits"))),
        *(Words(text) for text in _said(judging)),
        Words(counts_line(document.counts)),
        *(Words(text, "signature") for text in signatures(document)),
    ]
    return f"{first}\n\n{render_blocks(below, 'table').rstrip()}"


def _score_table(document: ResultDocument, judging: Any, digits: int) -> Table:
    rows = []
    for key, value in document.scores.items():
        cells = [Cell(key), score_cell(value, document.intervals.get(key), digits)]
        if judging:
            cells += _trust_cells(judging, key, digits)
        rows.append(tuple(cells))
    titles = ["score"]
    if judging:
        titles += ["if all unjudged were right", "estimate for the whole set"]
    return Table("", (*left("name"), *right(*titles)), tuple(rows))


def _trust_cells(judging: Any, key: str, digits: int) -> list[Cell]:
    """The upper bound, and the estimate where the drawn examples are not all there are."""
    bounds, found = judging["bounds"].get(key), judging["estimates"].get(key, {})
    most = Cell(f"{bounds[1]:.{digits}f}") if bounds else Cell()
    if "value" not in found or found["method"] == "census":
        return [most, Cell()]
    return [most, score_cell(found["value"], tuple(found["interval"]), digits)]


def _said(judging: Any) -> list[str]:
    if not judging:
        return []
    open_ = judging["unjudged"]
    found = [
        f"predictions looked at: {judging['predictions']:,}, by rule equal to gold: "
        f"{judging['by_match']['command']:,}, unjudged and therefore counted as wrong: "
        f"{open_['predictions']:,} (both questions open: {open_['structure']:,}, only the "
        f"command's: {open_['command_only']:,})"
    ]
    if judging["deciding"] < open_["predictions"]:
        found.append(
            f"of the unjudged predictions {judging['deciding']:,} can still change a score; the "
            "others belong to examples that are decided"
        )
    why = dict.fromkeys(e["why_not"] for e in judging["estimates"].values() if "why_not" in e)
    if open_["predictions"] and why:
        found.append(
            "no estimate for the whole set where drawn examples are undecided; --manual_eval asks "
            "about what is left"
        )
    else:
        found += [f"no estimate for the whole set: {reason}" for reason in why]
    return found

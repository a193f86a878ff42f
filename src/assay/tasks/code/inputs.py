# SPDX-License-Identifier: Apache-2.0
"""Opening, checking and pairing the two sides: lines, shards of lines, candidates behind tabs."""

from __future__ import annotations

import glob
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from assay import align, read
from assay.core.batch import Batch
from assay.core.document import Intake
from assay.core.errors import AlignError, InputError, UsageError
from assay.core.records import Records
from assay.core.task import Examples, Missing
from assay.core.text import TextLists, Texts
from assay.read.lines import of_files
from assay.read.source import Role, sources
from assay.tasks.code.counting import Tally
from assay.tasks.code.gold import GOLD_CHECKS, Check
from assay.tasks.code.settings import Settings
from assay.tasks.code.shards import Side, shard_warnings


def open_examples(how: Settings, predictions: Any, gold: Any, missing: Missing) -> Examples:
    """Aligned examples of a data set, checked as they come."""
    if gold is None and how.format == "lines":
        raise UsageError("give the gold (--target_file) as well as the predictions")
    dataset, intake = how.dataset, Intake()
    sides = Side("predictions"), Side("gold")
    opened = _opened(predictions, "predictions", intake, how, sides[0])
    left = (_checked_beams(block, how) for block in opened)
    if gold is None:
        batches = align.together(left, intake=intake)
    else:
        right = _opened(gold, "gold", intake, how, sides[1])
        if dataset.family.gold is not None:
            right = _checked_gold(right, GOLD_CHECKS[dataset.family.gold](dataset))
        batches = align.examples(left, right, intake=intake, missing=missing, align=how.align)
    return Examples(_watched(batches, intake, sides, how), intake)


def _opened(
    source: Any, role: Role, intake: Intake, how: Settings, side: Side
) -> Iterator[Records]:
    if how.compat and isinstance(source, str) and source != "-" and not glob.glob(source):
        side.files = [source]
        intake.warnings.append(f"{source}: no file matches, which is no line with --compat plur")
        return iter(())
    found = sources(source, role, intake)
    if found is None or how.format != "lines":
        return read.records(source, role=role, intake=intake, format=how.format)
    side.files = [item.name for item in found]
    # An empty file is a corpus without lines here, and a byte order mark part of the first token.
    blocks = of_files(found, role, intake, how.breaks, lone=False, keep_mark=True)
    return (_noted(block, role, side) for block in blocks)


def _noted(block: Records, role: Role, side: Side) -> Records:
    values = block.values
    assert isinstance(values, TextLists), "lines are columns of text"
    side.add(block.path, values.values, block.first)
    if role == "predictions" and b"\t" in values.values.data:
        return replace(block, values=beams(values.values))
    return block


def beams(lines: Texts) -> TextLists:
    r"""The candidates of each line: what tabs separate, empty ones too.

    >>> [list(texts) for texts in beams(Texts.of(["a\tb", "", "c\t"]))]
    [['a', 'b'], [''], ['c', '']]
    """
    tabs = np.flatnonzero(np.frombuffer(lines.data, dtype=np.uint8) == 9)
    tabs = tabs[(tabs >= lines.starts[0]) & (tabs < lines.ends[-1])]
    splits = np.zeros(len(lines) + 1, dtype=np.int64)
    np.cumsum(np.bincount(np.searchsorted(lines.ends, tabs), minlength=len(lines)), out=splits[1:])
    splits += np.arange(len(lines) + 1)
    return TextLists(
        Texts(
            lines.data,
            np.sort(np.concatenate([lines.starts, tabs + 1])),
            np.sort(np.concatenate([lines.ends, tabs])),
        ),
        splits,
    )


def _checked_beams(block: Records, how: Settings) -> Records:
    values = block.values
    assert isinstance(values, TextLists), "predictions are lists of texts"
    if values.each_one and how.ranks <= 1:
        return block
    counts = values.counts()
    if how.cut is not None and bool((counts > how.cut).any()):
        kept = np.arange(int(counts.max()))[None, :] < np.minimum(counts, how.cut)[:, None]
        places = (values.splits[:-1, None] + np.arange(kept.shape[1])[None, :])[kept]
        splits = np.zeros_like(values.splits)
        np.cumsum(np.minimum(counts, how.cut), out=splits[1:])
        values = TextLists(values.values.take(places), splits)
        block, counts = replace(block, values=values), values.counts()
    wanted = how.dataset.family.candidates
    if wanted == "one":
        _refuse(
            block,
            counts != 1,
            lambda i: f"{int(counts[i]):,} candidates where {how.dataset.name} takes exactly one",
            "a tab separates candidates; use --cut-beams 1 to score the first of each line",
        )
    elif wanted == "ranks":
        _refuse(
            block,
            counts < how.ranks,
            lambda i: f"{int(counts[i]):,} of {how.ranks:,} candidates",
            "write as many on every line, separated by tabs, or lower --top_n_beam_search",
        )
    return block


def _refuse(block: Records, wrong: Any, problem: Callable[[int], str], hint: str) -> None:
    if bool(wrong.any()):
        index = int(np.argmax(wrong))
        raise InputError(
            problem(index), path=block.path_of(index), line=block.line_of(index), hint=hint
        )


def _checked_gold(blocks: Iterator[Records], check: Check) -> Iterator[Records]:
    for block in blocks:
        assert isinstance(block.values, TextLists), "gold is lists of texts"
        for index, text in enumerate(block.values.firsts()):
            problem = check(text)
            if problem is not None:
                raise InputError(
                    problem.what,
                    path=block.path_of(index),
                    line=block.line_of(index),
                    hint=problem.hint,
                )
        yield block


def _watched(
    batches: Iterator[Batch],
    intake: Intake,
    sides: tuple[Side, Side],
    how: Settings,
) -> Iterator[Batch]:
    """The batches; at their end everything worth saying about the inputs is in the intake."""
    tally = Tally(how.dataset)
    try:
        for batch in batches:
            tally.add(batch)
            yield batch
    except AlignError as error:
        raise _with_files(error, intake, sides) from None
    if tally.n == 0 and _needs_lines(how):
        raise InputError(
            f"no lines: BLEU of {how.dataset.name} is undefined",
            path=sides[0].name,
            hint="check the step that wrote the files",
        )
    for side in sides:
        intake.warnings += side.warnings()
    intake.warnings += shard_warnings(*sides)
    intake.warnings += tally.warnings(how.ranks)
    intake.warnings += how.warnings(tally.n, tally.n_buggy)
    intake.extra.update(tally.extra())


def _needs_lines(how: Settings) -> bool:
    """Whether a corpus without lines has no score; with no rank to look at there are four zeros."""
    return how.dataset.family.candidates == "ranks" and how.ranks > 0


def _with_files(error: AlignError, intake: Intake, sides: tuple[Side, Side]) -> AlignError:
    """Unequal counts with both files, and the line break that most often is the reason."""
    counts, (left, right) = intake.counts, sides
    if counts.predictions == counts.gold or not (left.files and right.files):
        return error
    message = (
        f"{left.name} and {right.name} do not line up: "
        f"{counts.predictions:,} prediction{'s' if counts.predictions != 1 else ''}, "
        f"{counts.gold:,} gold"
    )
    odd = [side.first_odd for side in sides if side.first_odd is not None]
    if not odd:
        return AlignError(message, hint=error.hint)
    return AlignError(
        f"{message}; {' and '.join(odd)}",
        hint="use --line-breaks lf to end lines at line feeds alone, or replace that character",
    )

# SPDX-License-Identifier: Apache-2.0
"""What a run gives besides scores: the evaluation file, the summary, weighted phenomena."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.document import ResultDocument, SliceEntry
from assay.tasks.sparql import evaluation_file
from assay.tasks.sparql.context import NONE
from assay.tasks.sparql.evaluation_file import (
    FAR,
    NEAR,
    SUMMARY_FILE,
    Entries,
    entries_of_type,
    summary,
)
from assay.tasks.sparql.kinds import PHENOMENA, TYPES, read_phenomena


def extra(
    document: ResultDocument,
    *,
    question_type: str | None = None,
    context_dist_file: str | None = None,
    phenomena: str | None = None,
    compat: str | None = None,
    **_: Any,
) -> Mapping[str, Any]:
    """The entries by type, the summary over types, and phenomena weighted by question."""
    lists = read_phenomena(Path(phenomena)) if phenomena else PHENOMENA
    cells = [(t, d, g) for t, d, g in document.extra.get("cells", ())]
    types = (question_type,) if question_type is not None else tuple(TYPES)
    evaluation: dict[str, Entries] = {
        name: entries_of_type(
            document,
            name,
            cells,
            lists,
            with_context=bool(context_dist_file),
            one_type=question_type is not None,
        )
        for name in types
    }
    found: dict[str, Any] = {
        "evaluation": evaluation,
        "micro": _micro(document, cells, lists, question_type is not None),
    }
    if question_type is None:
        found["summary"] = summary(evaluation.values(), compat=compat is not None)
    return found


def _micro(
    document: ResultDocument,
    cells: Sequence[tuple[str, str, str]],
    lists: Mapping[str, Sequence[str]],
    one_type: bool,
) -> Entries:
    """Phenomena with every question counting the same, whatever its sub-type or distance."""
    slices = document.slices.get("sub_type", {})
    found: Entries = {}
    for name, listed in lists.items():
        keys = {f"{t}_{d}" for t, d, _ in cells if d in set(listed)}
        found.update(_weighed(name, [slices[key] for key in sorted(keys)]))
    for name, is_near in ((NEAR, True), (FAR, False)):
        keys = {
            g if one_type else f"{t}_{g}"
            for t, _, g in cells
            if (d := g.partition("_")[2]) != NONE and (d == "1") is is_near
        }
        parts = [document.slices["context"][key] for key in sorted(keys)]
        found.update(_weighed(name, parts))
    return found


def _weighed(name: str, parts: Sequence[SliceEntry]) -> Entries:
    n = sum(part.n for part in parts)
    if not n:
        return {}
    em = sum(part.n * part.scores["em"] for part in parts) / n
    return {f"{name}_micro": {"instances": n, "em": em}}


def write_files(
    document: ResultDocument,
    *,
    out_eval_file: str | None = None,
    question_type: str | None = None,
    **_: Any,
) -> Mapping[str, Path]:
    """Write what `--out_eval_file` asks for."""
    if not out_eval_file:
        return {}
    path = Path(out_eval_file)
    evaluation = document.extra["evaluation"]
    one_file = True
    files: dict[Path, Mapping[str, Any]] = {}
    if question_type is not None:
        files[path] = evaluation[question_type]
    elif path.suffix == ".json" and not path.is_dir():
        files[path] = {"types": evaluation, "summary": document.extra["summary"]}
    else:
        one_file = False
        files = {path / f"{file_name(name)}.json": held for name, held in evaluation.items()}
        files[path / SUMMARY_FILE] = document.extra["summary"]
    evaluation_file.write_files(files)
    return {"evaluation" if one_file else "evaluation files": path}


def file_name(question_type: str) -> str:
    """A file's name for a question type.

    >>> file_name("Quantitative Reasoning (Count) (All)")
    'quantitative-reasoning-count-all'
    """
    letters = "".join(c if c.isalnum() else " " for c in question_type.lower())
    return "-".join(letters.split())

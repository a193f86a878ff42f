# SPDX-License-Identifier: Apache-2.0
"""`--out_eval_file` and `eval_summary.json`: the files of SPICE's scripts, to the byte.

Undefined is 0 in these files, and nowhere else: precision, recall and F1 are the integer 0 where
there is nothing to divide by.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.document import ResultDocument, SliceEntry
from assay.core.errors import InputError
from assay.core.files import write_texts
from assay.tasks.sparql.kinds import TYPES

Entry = dict[str, float]
Entries = dict[str, Entry]

NEAR, FAR = "Ctx=-1", "Ctx<-1"
SUMMARY = ("multi_entity", "ellipsis", NEAR, FAR)
SUMMARY_FILE = "eval_summary.json"


def entry(scores: Mapping[str, float], n: int, kind: str) -> Entry:
    """One entry of the file; scores that were not measured are left out."""
    if kind != "set":
        found: Entry = {"instances": n}
        if "accuracy" in scores:
            found["accuracy"] = _value(scores["accuracy"])
        return {**found, "em": scores["em"]}
    found = {"instances": float(n)}
    if "precision" in scores:
        precision, recall = _value(scores["precision"]), _value(scores["recall"])
        both = precision + recall
        found["precision"], found["recall"] = precision, recall
        found["f1score"] = 2 * precision * recall / both if both else 0
        found["macro-f1score"] = scores["macro_f1"]
    return {**found, "em": scores["em"]}


def _value(score: float) -> float:
    return 0 if math.isnan(score) else score


def entries_of_type(
    document: ResultDocument,
    name: str,
    cells: Iterable[tuple[str, str, str]],
    phenomena: Mapping[str, Sequence[str]],
    *,
    with_context: bool,
    one_type: bool,
) -> Entries:
    """Everything SPICE's script writes about one question type, in its order."""
    kind = TYPES[name]
    slices = document.slices
    own = [(d, g) for t, d, g in cells if t == name]
    found: Entries = {}
    groups: dict[str, Entry] = {}
    subtypes: dict[str, Entry] = {}
    for description, group in own:
        key = f"{name}_{description}"
        context = group if one_type else f"{name}_{group}"
        if name not in found:
            found[name] = _of_slice(slices["question_type"][name], kind)
        if description not in subtypes:
            found[key] = subtypes[description] = _of_slice(slices["sub_type"][key], kind)
        if group not in groups:
            found[group] = groups[group] = _of_slice(slices["context"][context], kind)
    if with_context:
        found.update(_contexts(groups))
    for phenomenon, listed in phenomena.items():
        members = [e for d, e in subtypes.items() if d in set(listed)]
        if members:
            found[phenomenon] = _mean(members)
    return found


def _of_slice(part: SliceEntry, kind: str) -> Entry:
    return entry(part.scores, part.n, kind)


def _contexts(groups: Mapping[str, Entry]) -> Entries:
    """The two values by context distance: the turn before, and all turns further back."""
    by_distance = {group.partition("_")[2]: e for group, e in groups.items()}
    near = by_distance.get("1")
    far = [e for distance, e in by_distance.items() if distance not in ("1", "none")]
    return {
        NEAR: {"instances": near["instances"] if near else 0.0, "em": near["em"] if near else 0.0},
        FAR: _mean(far) if far else {"instances": 0.0, "em": 0},
    }


def _mean(members: Sequence[Entry]) -> Entry:
    """Each member counts the same, however many questions it has."""
    return {
        "instances": float(sum(e["instances"] for e in members)),
        "em": sum(e["em"] for e in members) / len(members),
    }


def summary(files: Iterable[Mapping[str, Any]], *, compat: bool) -> Entries:
    """The mean of each phenomenon over files that have it.

    A file that has the entry with no question behind it counts as 0 with `compat`, and is left
    out otherwise.

    >>> summary([{"ellipsis": {"instances": 2.0, "em": 0.5}}, {"X": {"em": 1.0}}], compat=False)
    {'multi_entity': {'em': 0}, 'ellipsis': {'em': 0.5}, 'Ctx=-1': {'em': 0}, 'Ctx<-1': {'em': 0}}
    """
    held = list(files)
    found: Entries = {}
    for name in SUMMARY:
        values = [
            f[name]["em"]
            for f in held
            if isinstance(f.get(name), Mapping)
            and "em" in f[name]
            and (compat or f[name].get("instances", 1))
        ]
        found[name] = {"em": sum(values) / len(values) if values else 0}
    return found


def write_files(files: Mapping[Path, Mapping[str, Any]]) -> None:
    """One line each without a line break at its end, as the scripts write it."""
    write_texts({path: json.dumps(data) for path, data in files.items()})


def summarise(file_path: str, compat: str | None = None, **_: Any) -> str:
    """Read every evaluation file of a folder and write `eval_summary.json` there."""
    folder = Path(file_path)
    if not folder.is_dir():
        raise InputError("no such folder", path=folder, hint="give the folder of evaluation files")
    held = []
    for path in sorted(folder.glob("[!.]*.json")):
        if SUMMARY_FILE in str(path):
            continue
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, OSError, RecursionError) as error:
            raise InputError(
                f"not an evaluation file ({error})",
                path=path,
                hint="the folder holds what --out_eval_file wrote",
            ) from None
        held += _evaluations(data, path)
    if not held:
        raise InputError(
            "no evaluation file (*.json) in this folder",
            path=folder,
            hint="write them with assay sparql score --out_eval_file",
        )
    found = summary(held, compat=compat is not None)
    write_files({folder / SUMMARY_FILE: found})
    return json.dumps(found)


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _evaluations(data: Any, path: Path) -> list[Mapping[str, Any]]:
    """The evaluations in a file: one, or those of all types, as `--out_eval_file F.json` writes."""
    if not isinstance(data, dict):
        raise InputError("not an evaluation file: no JSON object", path=path)
    by_type = data.get("types")
    held = list(by_type.values()) if isinstance(by_type, dict) else [data]
    for entries in held:
        for name in SUMMARY:
            found = entries.get(name) if isinstance(entries, dict) else None
            if isinstance(found, dict) and not _is_number(found.get("em", 0)):
                raise InputError(f"not an evaluation file: em of '{name}' is no number", path=path)
    return [entries for entries in held if isinstance(entries, dict)]

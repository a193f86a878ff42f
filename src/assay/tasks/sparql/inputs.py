# SPDX-License-Identifier: Apache-2.0
"""From the options of a run to its examples."""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from assay.core.batch import Batch
from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.core.task import Examples, Macro, Missing
from assay.tasks.sparql.cells import Cells
from assay.tasks.sparql.context import read_distances
from assay.tasks.sparql.evaluation_file import FAR, NEAR
from assay.tasks.sparql.examples import SLICES, batches
from assay.tasks.sparql.kinds import PHENOMENA, TYPES, known_type, read_phenomena, unlisted
from assay.tasks.sparql.records import read_records
from assay.tasks.sparql.setting import Seen, Setting


def open_examples(
    predictions: Any,
    gold: Any,
    missing: Missing,
    *,
    read_all: bool = False,
    question_type: str | None = None,
    context_dist_file: str | None = None,
    phenomena: str | None = None,
    em_only: bool = False,
    kg: str | None = None,
    server_link: str | None = None,
    compat: str | None = None,
    execute_gold: bool = False,
    check_ids: bool = False,
    **options: Any,
) -> Examples:
    """Check everything that can be checked before the work, then read."""
    if kg and server_link:
        raise UsageError("give either --kg or --server_link, not both")
    for name, given in (("execute_gold", execute_gold), ("check_ids", check_ids)):
        if given and (em_only or not (kg or server_link)):
            raise UsageError(f"--{name} needs --kg or --server_link, and no --em_only")
    types = (known_type(question_type),) if question_type is not None else tuple(TYPES)
    intake = Intake()
    setting = Setting(
        types=types,
        compat=compat is not None,
        em_only=em_only,
        missing=missing,
        distances=read_distances(context_dist_file, intake) if context_dist_file else None,
        phenomena=read_phenomena(Path(phenomena)) if phenomena else PHENOMENA,
    )
    if (kg or server_link) and not em_only:
        from assay.tasks.sparql.executor import open_executor

        setting.executor = open_executor(
            kg, server_link, intake, compat=compat is not None, **options
        )
    if gold is not None:
        from assay.tasks.sparql.qald import read_pairs

        blocks = read_pairs(
            predictions,
            gold,
            intake,
            executor=setting.executor,
            em_only=em_only,
            compat=setting.compat,
        )
    else:
        blocks = read_records(_source(predictions, read_all), intake)
    seen = Seen(Cells(setting.phenomena, one_type=setting.one_type))
    read = _noted(batches(blocks, setting, intake, seen), setting, intake, seen)
    if execute_gold:
        from assay.tasks.sparql.gold_check import checked

        read = checked(read, setting, intake)
    if check_ids:
        from assay.tasks.sparql.unknown_ids import looked_up

        read = looked_up(read, setting)
    return Examples(read, intake, slices=SLICES, macros=_macros(setting))


def _source(predictions: Any, read_all: bool) -> Any:
    """The file itself, or all files that match, sorted by name."""
    if not (read_all and isinstance(predictions, (str, Path))):
        return predictions
    pattern = str(predictions)
    found = sorted(path for path in glob.glob(pattern) if Path(path).is_file())
    if not found:
        raise InputError(
            "no file matches this pattern",
            path=pattern,
            hint="check the folder, and quote the pattern so that the shell leaves it alone",
        )
    return [Path(path) for path in found]


def _noted(read: Iterator[Batch], setting: Setting, intake: Intake, seen: Seen) -> Iterator[Batch]:
    """Pass batches on; at their end say what the evaluation file and the table need to know."""
    yield from read
    intake.extra["cells"] = [list(cell) for cell in seen.cells.seen]
    intake.extra["unanswered"] = dict(sorted(seen.unanswered.items()))
    if not setting.compat:
        left = unlisted(setting.phenomena, (cell[1] for cell in seen.cells.seen))
        for name, subtypes in left.items():
            intake.warnings.append(
                f"{name} leaves out {len(subtypes)} sub-types that look like it "
                f"(first: '{subtypes[0]}'); --phenomena sets the lists"
            )


def _macros(setting: Setting) -> Mapping[str, Macro]:
    """Means over sub-types and context distances: of the type, or over the types' means."""
    found = {
        name: Macro("sub_type", _Weights(setting.types, frozenset(listed)))
        for name, listed in setting.phenomena.items()
    }
    if setting.distances is not None:
        found[NEAR] = Macro("context", _Weights(setting.types, near=True))
        found[FAR] = Macro("context", _Weights(setting.types, near=False))
    return found


class _Weights:
    """Weights of slices such that members of a type count alike, and so do the types."""

    def __init__(
        self, types: Sequence[str], listed: frozenset[str] | None = None, *, near: bool = False
    ) -> None:
        self._types = types
        self._listed = listed
        self._near = near

    def __call__(self, values: Sequence[str]) -> list[float]:
        homes = [self._home(value) for value in values]
        sizes = {home: homes.count(home) for home in homes if home is not None}
        return [0.0 if home is None else 1.0 / sizes[home] for home in homes]

    def _home(self, value: str) -> str | None:
        """The type that the slice is a member of; None where it is left out."""
        for name in self._types:
            if value.startswith(f"{name}_"):
                return name if self._is_member(value[len(name) + 1 :]) else None
        return self._types[0] if self._is_member(value) else None

    def _is_member(self, part: str) -> bool:
        if self._listed is not None:
            return part in self._listed
        distance = part.partition("_")[2]
        return distance == "1" if self._near else distance not in ("1", "none")

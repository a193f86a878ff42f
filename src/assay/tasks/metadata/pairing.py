# SPDX-License-Identifier: Apache-2.0
"""Which file of one side belongs to which of the other: fields, found, named and derived."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from assay.core.document import Intake
from assay.core.errors import InputError, UsageError
from assay.core.names import unknown
from assay.tasks.metadata.labels import Labels
from assay.tasks.metadata.normalise import LABEL_FORMS
from assay.tasks.metadata.settings import Derived, Settings
from assay.tasks.metadata.sources import Fields, Loader, Side, field_name, load_labels


class Paired(NamedTuple):
    """One field of both sides."""

    name: str
    predictions: Labels
    gold: Labels


def pair_fields(ours: Side, theirs: Side, settings: Settings, intake: Intake) -> list[Paired]:
    """The fields that both sides have, in order of name, read now."""
    left, right, spare = _offers(ours, theirs, settings, intake)
    given = set(right)
    for rule in settings.derived:
        _derive(rule, left, right)
    if not settings.fields:
        if spare is None:
            skipped = sorted(name for name in left if name not in right)
        else:  # gold for a file without partner may have been derived by now
            skipped = [file for file in spare if field_name(file) not in right.keys() - given]
        _note_skipped(skipped, ours, theirs, intake)
    wanted = [name for name in sorted(right) if name in left or settings.require_all]
    if settings.fields:
        for name in settings.fields:
            if name not in wanted:
                raise unknown("field of both sides", name, wanted)
        wanted = [name for name in wanted if name in settings.fields]
    if not wanted:
        found = f"predictions have {_listed(left)}, gold has {_listed(right)}"
        raise InputError(
            f"there is nothing to compare: no field is on both sides ({found})",
            hint="label files pair by name; --field says what a single file holds"
            if ours.single or theirs.single
            else "label files pair by name",
        )
    alone = [name for name in right if name not in left]
    if alone and not settings.require_all and not settings.fields:
        intake.warnings.append(
            f"gold has {_listed(alone)}, which nothing was predicted for; --require-all counts "
            "that as missed"
        )
    empty = partial(Labels.of, ())
    return [Paired(name, left.get(name, empty)(), right[name]()) for name in wanted]


class Offers(NamedTuple):
    """What each side can be read for, by field name.

    `spare` are the prediction files without a gold file; None where a side is not label files.
    """

    left: Fields
    right: Fields
    spare: list[str] | None


def _offers(ours: Side, theirs: Side, settings: Settings, intake: Intake) -> Offers:
    """The fields of both sides; files pair by full name, then by stem."""
    spare: list[str] | None = None
    if ours.is_files and theirs.is_files:
        *named, spare = _pair_files(ours, theirs, settings)
    else:
        named = [
            _by_field(_named_files(ours, theirs, settings)),
            _by_field(_named_files(theirs, ours, settings)),
        ]
    left: Fields = {
        name: partial(load_labels, path, "predictions", settings, intake)
        for name, path in named[0].items()
    }
    right: Fields = {
        name: partial(load_labels, path, "gold", settings, intake)
        for name, path in named[1].items()
    }
    return Offers(left | ours.fields, right | theirs.fields, spare)


def name_of_single(other: Side, settings: Settings) -> str | None:
    """The field that a single file holds: what `--field` says, or what a single file on the other
    side is called; None leaves it to the file's own name."""
    if len(settings.fields) == 1:
        return settings.fields[0]
    return field_name(next(iter(other.files))) if other.single and other.files else None


def _named_files(side: Side, other: Side, settings: Settings) -> Mapping[str, Path]:
    """The files of a side, a single one under the name of the field it holds."""
    name = name_of_single(other, settings) if side.single and side.files else None
    return side.files if name is None else {name: next(iter(side.files.values()))}


def _by_field(files: Mapping[str, Path]) -> dict[str, Path]:
    """Files by the field they hold, which no two may share."""
    found: dict[str, Path] = {}
    for file, path in files.items():
        if field_name(file) in found:
            raise _same_field(found[field_name(file)], path)
        found[field_name(file)] = path
    return found


def _same_field(one: Path, other: Path) -> InputError:
    return InputError(
        f"{one.name} and {other.name} both hold the field '{field_name(one.name)}'",
        path=one.parent,
        hint="a field is named by what stands before the first dot; rename one",
    )


def _pair_files(
    given: Side, truth: Side, settings: Settings
) -> tuple[dict[str, Path], dict[str, Path], list[str]]:
    """Files of predictions and of gold by field, and the prediction files that are left over.

    What found no partner is offered too where nothing else holds its field: others may be derived
    from it.
    """
    if given.single and truth.single:
        # Two single files hold the same field, whatever they are called.
        name = name_of_single(truth, settings) or ""
        one, other = (next(iter(side.files.values())) for side in (given, truth))
        return {name: one}, {name: other}, []
    ours, theirs = (
        _named_files(given, truth, settings),
        _named_files(truth, given, settings),
    )
    pairs = {file: file for file in ours if file in theirs}
    if not settings.quirks:
        taken = set(map(field_name, pairs))
        wanted = {field_name(f) for f in ours if f not in pairs} - taken
        if settings.require_all:
            wanted = set(map(field_name, theirs)) - taken
        free = _by_field({f: p for f, p in theirs.items() if field_name(f) in wanted})
        files = {field_name(f): f for f in theirs if field_name(f) in free}
        pairs |= {f: files[field_name(f)] for f in ours if f not in pairs and field_name(f) in free}
    left = _by_field({file: ours[file] for file in pairs})
    right = {field_name(file): theirs[file] for file in pairs.values()}
    spare = sorted(file for file in ours if file not in pairs)
    left |= _alone({f: ours[f] for f in spare if field_name(f) not in right}, settings)
    others = {f: path for f, path in theirs.items() if field_name(f) not in right}
    if settings.quirks:  # a file of another name is no partner there
        others = {f: path for f, path in others.items() if field_name(f) not in left}
    return left, right | _alone(others, settings), spare


def _alone(files: Mapping[str, Path], settings: Settings) -> dict[str, Path]:
    """Files without partner by their field, which no two may share if `--derive` names it."""
    named = {name for rule in settings.derived for name in (rule.name, rule.source)}
    _by_field({file: path for file, path in files.items() if field_name(file) in named})
    found: dict[str, Path] = {}
    for file, path in files.items():
        found.setdefault(field_name(file), path)
    return found


def _derive(rule: Derived, left: Fields, right: Fields) -> None:
    """Offer a field made from another on each side that has the other and not the field itself."""
    lacking = [side for side in (left, right) if rule.name not in side]
    if not lacking:
        raise UsageError(
            f"--derive {rule}: both sides have '{rule.name}' already; give the new field a name of "
            f"its own, or compare it otherwise with --match {rule.name}=..."
        )
    for side in lacking:
        if rule.source in side:
            side[rule.name] = partial(_derived, side[rule.source], rule.form)
    if not any(rule.name in side for side in lacking):
        raise unknown("field in --derive", rule.source, sorted({*left, *right}))


def _derived(loader: Loader, form: str | None) -> Labels:
    labels = loader()
    return labels.mapped(LABEL_FORMS[form] if form is not None else None)


def _note_skipped(names: Sequence[str], ours: Side, theirs: Side, intake: Intake) -> None:
    """Say what is predicted and has no gold; for files in the words of the old program."""
    if ours.is_files:
        files = {field_name(file): file for file in ours.files}
        names = [name if name in ours.files else files.get(name, name) for name in names]
        intake.extra["skipped"] = names
        intake.warnings.extend(
            f"{name} is a folder in gold, not a label file. Skipping"
            if name in theirs.folders
            else f"No truth file named {name}. Skipping"
            for name in names
        )
    elif names:
        intake.warnings.append(f"gold does not have {_listed(names)}: left out")


def _listed(names: Iterable[str]) -> str:
    found = sorted(names)
    return ", ".join(f"'{name}'" for name in found) if found else "none"

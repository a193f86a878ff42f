# SPDX-License-Identifier: Apache-2.0
"""What a user chose for a metadata evaluation, checked, with `--compat` worked in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from assay.core.errors import UsageError
from assay.core.names import unknown
from assay.tasks.metadata.normalise import LABEL_FORMS, as_known

IMPLIED = {
    "titleNormalized": "title",
    "venueNormalized": "venue",
    "authorFullNameExact": "fullname-exact",
    "authorFullNameNormalized": "author",
    "authorLastNameExact": "lastname-exact",
    "authorLastNameNormalized": "lastname",
    "authorLastNameFirstInitialNormalized": "lastname-initial",
}
"""Fields of the old program's label files, and the form their names promise."""

DUPLICATES = ("set", "multiset", "reference")
DUPLICATE_IDS = ("reference", "merge", "error")
EMPTY_VALUES = ("keep", "drop")
ORDERS = ("gold", "reference")
FORMATS = ("labels", "jsonl", "tei", "jats", "science-parse")
COMPAT = ("meta-eval",)


@dataclass(frozen=True, slots=True)
class Derived:
    """A field made from another: `shortTitle=title:title`.

    Without a form values stay as they are, but for names that promise one, such as
    `titleNormalized`.
    """

    name: str
    source: str
    form: str | None = None

    @classmethod
    def parse(cls, text: str) -> Derived:
        """Read `NEW=FIELD` or `NEW=FIELD:NORMALISER`.

        >>> Derived.parse("lastNames=authors:lastname")
        Derived(name='lastNames', source='authors', form='lastname')
        """
        name, equals, rest = text.partition("=")
        source, _, form = rest.partition(":")
        if not (name and equals and source):
            raise UsageError(f"--derive {text} must be NEW=FIELD or NEW=FIELD:NORMALISER")
        form = as_known(form or IMPLIED.get(name.strip(), ""), LABEL_FORMS)
        if form and form not in LABEL_FORMS:
            raise unknown("normaliser", form, LABEL_FORMS)
        return cls(name.strip(), source.strip(), form or None)

    def __str__(self) -> str:
        return f"{self.name}={self.source}" + (f":{self.form}" if self.form else "")


@dataclass(frozen=True, slots=True)
class Settings:
    """How files are read, paired and counted.

    `quirks` keeps what the old program does with byte-order marks, blank lines, dot files and
    file names.
    """

    duplicates: str = "set"
    duplicate_ids: str = "reference"
    empty_values: str = "keep"
    order: str = "gold"
    quirks: bool = False
    require_all: bool = False
    fields: tuple[str, ...] = ()
    rules: tuple[tuple[str, str], ...] = ()
    derived: tuple[Derived, ...] = ()
    input_format: str | None = None
    truth_format: str | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Settings:
        """The settings that options as given stand for.

        >>> Settings.of({"compat": "meta-eval"}).duplicates
        'reference'
        """
        compat = options.get("compat")
        if compat is not None and compat not in COMPAT:
            raise unknown("program to be compatible with", compat, COMPAT)
        old = compat is not None
        return cls(
            duplicates=_one_of("duplicates", options, DUPLICATES, "reference" if old else "set"),
            duplicate_ids=_one_of("duplicate_ids", options, DUPLICATE_IDS, "reference"),
            empty_values=_one_of("empty_values", options, EMPTY_VALUES, "keep"),
            order=_one_of("order", options, ORDERS, "reference" if old else "gold"),
            quirks=old,
            require_all=bool(options.get("require_all")),
            fields=_texts(options.get("fields")),
            rules=tuple(_rule(text) for text in _texts(options.get("match"))),
            derived=tuple(Derived.parse(text) for text in _texts(options.get("derive"))),
            input_format=_one_of("input_format", options, FORMATS, None),
            truth_format=_one_of("truth_format", options, FORMATS, None),
        )


def _one_of(
    name: str, options: Mapping[str, Any], known: Sequence[str], default: str | None
) -> Any:
    given = options.get(name)
    if given is None:
        return default
    if given not in known:
        raise unknown(f"value of --{name.replace('_', '-')}", str(given), known)
    return given


def _texts(given: Any) -> tuple[str, ...]:
    if given is None:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def _rule(text: str) -> tuple[str, str]:
    field, equals, rule = text.partition("=")
    if not equals or not rule:
        raise UsageError(f"--match {text} must be FIELD=RULE, such as title=soft")
    return field.strip(), rule.strip()

# SPDX-License-Identifier: Apache-2.0
"""What gold has to look like, by kind of data set, and what to say if it does not."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from typing import NamedTuple

from assay.tasks.code.datasets import LABELS, MARKER, Dataset
from assay.tasks.code.locations import NO_BUG, STARTS, location

_SHOWN = 60


class Problem(NamedTuple):
    """What is wrong with a gold text, and what to do."""

    what: str
    hint: str


Check = Callable[[str], Problem | None]


def label_check(dataset: Dataset) -> Check:
    """Gold holds the marker and one of the labels.

    >>> from assay.tasks.code.datasets import find
    >>> check = label_check(find("cubert_function_docstring_classification"))
    >>> check("CLASS_Corect")
    Problem(what="label 'Corect' is none of this data set", hint="did you mean 'CLASS_Correct'?")
    """
    labels = LABELS[dataset.parameters["labels"]]
    good: set[str] = set()  # a few texts that come again and again

    def check(text: str) -> Problem | None:
        if text in good:
            return None
        trimmed = text.strip()
        label = trimmed.replace(MARKER, "", 1)
        if MARKER not in trimmed:
            return Problem(
                f"gold {_short(text)} is not marked as a class", f"write {_marked(label, labels)}"
            )
        if label not in labels:
            near = difflib.get_close_matches(label, labels, n=1, cutoff=0.5)
            hint = f"did you mean '{MARKER}{near[0]}'?" if near else _listed(labels)
            return Problem(f"label {_short(label)} is none of this data set", hint)
        good.add(text)
        return None

    return check


def _marked(label: str, labels: tuple[str, ...]) -> str:
    near = difflib.get_close_matches(label, labels, n=1, cutoff=0.5)
    return f"'{MARKER}{near[0]}'" if near else f"{MARKER} and one of {', '.join(labels)}"


def _listed(labels: tuple[str, ...]) -> str:
    return f"labels are {', '.join(labels)}"


def bug_check(dataset: Dataset) -> Check:
    """Gold is `NO_BUG` or begins with a location."""
    start = STARTS[dataset.parameters["style"]]

    def check(text: str) -> Problem | None:
        if text == NO_BUG or text.startswith(start):
            return None
        return Problem(
            f"gold {_short(text)} is neither {NO_BUG} nor begins with {start}",
            "check that this is the file of targets, without spaces around the lines",
        )

    return check


def location_check(dataset: Dataset) -> Check:
    """Gold begins with a location that can be read."""
    style = dataset.parameters["style"]
    form = {
        "pointed": "POINTER(4,name) and the repair, POINTER(1,name) if there is no bug",
        "unpointed": "ERROR_LOCATION_4 and the repair, BUG_FREE if there is no bug",
    }[style]

    def check(text: str) -> Problem | None:
        if location(text.strip(), style) is not None:
            return None
        return Problem(f"gold {_short(text)} has no location that can be read", f"write {form}")

    return check


def _no_check(dataset: Dataset) -> Check:
    return lambda text: None


GOLD_CHECKS: Mapping[str, Callable[[Dataset], Check]] = {
    "label": label_check,
    "bug": bug_check,
    "location": location_check,
    "kind": _no_check,  # edits of other kinds are counted, not refused
}
"""The checks by the name that a family gives."""


def _short(text: str) -> str:
    shown = repr(text)
    return shown if len(shown) <= _SHOWN else shown[: _SHOWN - 1] + "…"

# SPDX-License-Identifier: Apache-2.0
"""The ten question types of SPICE, what an answer to each is, and the phenomena across them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Literal

from assay.core.errors import InputError, UsageError
from assay.core.names import unknown

Kind = Literal["set", "boolean", "count"]
"""What an answer is: a set of entities, yes or no, or a number."""

TYPES: Mapping[str, Kind] = {
    "Clarification": "set",
    "Comparative Reasoning (All)": "set",
    "Logical Reasoning (All)": "set",
    "Quantitative Reasoning (All)": "set",
    "Simple Question (Coreferenced)": "set",
    "Simple Question (Direct)": "set",
    "Simple Question (Ellipsis)": "set",
    "Verification (Boolean) (All)": "boolean",
    "Quantitative Reasoning (Count) (All)": "count",
    "Comparative Reasoning (Count) (All)": "count",
}

_OPERATORS = ("Difference", "Intersection", "Union")
_COMPARISONS = ("Comparative|More/Less", "Comparative|Count over More/Less")
_AT_LEAST = "Atleast/ Atmost/ Approx. the same/Equal"

ELLIPSIS: tuple[str, ...] = (
    *(f"Logical|{o}|Single_Relation|Incomplete" for o in _OPERATORS),
    *(f"{c}|{e} entity type|Incomplete" for c in _COMPARISONS for e in ("Mult.", "Single")),
    "Incomplete|object parent is changed, subject and predicate remain same",
    "Incomplete count-based ques",
)
"""Sub-types that leave out what the question before said."""

MULTI_ENTITY: tuple[str, ...] = (
    *(f"Logical|{o}|Multiple_Relation" for o in _OPERATORS),
    f"Quantitative|{_AT_LEAST}|Mult. entity type",
    "Quantitative|Min/Max|Mult. entity type",
    *(f"{c}|Mult. entity type{e}" for c in _COMPARISONS for e in ("", "|Incomplete", "|Indirect")),
    "Simple Question|Mult. Entity|Indirect",
    "Simple Question|Mult. Entity",
    "Verification|one entity, multiple entities (as object) referred indirectly",
    f"Quantitative|Count over {_AT_LEAST}|Mult. entity type",
    "Quantitative|Count|Mult. entity type",
)
"""Sub-types whose question speaks of several entities or entity types."""

PHENOMENA: Mapping[str, tuple[str, ...]] = {"ellipsis": ELLIPSIS, "multi_entity": MULTI_ENTITY}

COLUMNS = ("question_type", "sub_type", "context", "description", "distance", "conversation")
"""What every example is sliced by; phenomena are further columns."""

_SIGNS = {"ellipsis": ("Incomplete", "only subject is changed"), "multi_entity": ("Mult.",)}
"""Words in a sub-type's name by which it seems to belong to a phenomenon."""


def known_type(name: str) -> str:
    """The question type of this name; names the ten if there is none.

    >>> known_type("Clarification")
    'Clarification'
    """
    if name not in TYPES:
        raise unknown("question type", name, TYPES)
    return name


def unlisted(phenomena: Mapping[str, Sequence[str]], seen: Iterable[str]) -> dict[str, list[str]]:
    """Sub-types that look like a phenomenon but are not in its list.

    >>> unlisted(PHENOMENA, ["Incomplete|only subject is changed", "Clarification"])
    {'ellipsis': ['Incomplete|only subject is changed']}
    """
    subtypes = list(dict.fromkeys(seen))
    found: dict[str, list[str]] = {}
    for name, signs in _SIGNS.items():
        listed = set(phenomena.get(name, ()))
        left = [s for s in subtypes if s not in listed and any(sign in s for sign in signs)]
        if left and name in phenomena:
            found[name] = left
    return found


def read_phenomena(path: Path) -> dict[str, tuple[str, ...]]:
    """Lists of sub-types by phenomenon, from a JSON object of lists of texts."""
    import msgspec

    try:
        lists = msgspec.json.decode(path.read_bytes(), type=dict[str, list[str]])
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", path=path) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            str(error).partition(" - at")[0],
            path=path,
            hint='write {"ellipsis": ["sub-type", ...], ...}',
        ) from None
    for name in lists:
        if name in COLUMNS or name in TYPES or name.startswith(("Ctx", "fscore_", "accuracy_")):
            raise UsageError(f"{path}: '{name}' has a meaning of its own; choose another name")
    return {name: tuple(values) for name, values in lists.items()}

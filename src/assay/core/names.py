# SPDX-License-Identifier: Apache-2.0
"""Finding what a user meant by a name, and metric names with parameters: `bleu(tokenize=13a)`."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence

from assay.core.errors import UsageError

_METRIC = re.compile(r"^\s*(?P<name>[A-Za-z][\w+@.-]*)\s*(?:\((?P<params>.*)\))?\s*$")


def unknown(kind: str, name: str, known: Iterable[str]) -> UsageError:
    """The error for a name that does not exist, with the nearest one that does.

    >>> str(unknown("metric", "blue", ["bleu", "chrf"]))
    "unknown metric 'blue'; did you mean 'bleu'? (there are: bleu, chrf)"
    """
    import difflib  # only when something went wrong

    choices = sorted(known)
    near = difflib.get_close_matches(name.lower(), [c.lower() for c in choices], n=1, cutoff=0.5)
    by_lower = {c.lower(): c for c in choices}
    question = f"; did you mean '{by_lower[near[0]]}'?" if near else ""
    listed = ", ".join(choices) if choices else "none"
    return UsageError(f"unknown {kind} '{name}'{question} (there are: {listed})")


def several(names: str | Sequence[str]) -> tuple[str, ...]:
    """Names given as a sequence, or a single name by itself.

    >>> several("bleu"), several(["bleu", "chrf"])
    (('bleu',), ('bleu', 'chrf'))
    """
    return (names,) if isinstance(names, str) else tuple(names)


def amount(n: int, noun: str) -> str:
    """So many of something.

    >>> amount(1, "record"), amount(2_000, "record")
    ('1 record', '2,000 records')
    """
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def system_name(path: str) -> str:
    """What a system is called by default: its file's name without endings.

    >>> system_name("runs/mymodel.jsonl.gz"), system_name("-")
    ('mymodel', 'system')
    """
    if path == "-":
        return "system"
    name = os.path.basename(path)
    for ending in (".gz", ".zst", ".jsonl", ".ndjson", ".json", ".tsv", ".csv", ".txt", ".log"):
        name = name.removesuffix(ending)
    return name or "system"


def parse_metric(text: str) -> tuple[str, dict[str, str]]:
    """Split the text of a metric into its name and its parameters, still as text.

    >>> parse_metric("bleu(tokenize=13a, smooth=exp)")
    ('bleu', {'tokenize': '13a', 'smooth': 'exp'})
    """
    match = _METRIC.match(text)
    if match is None:
        raise UsageError(f"'{text}' is not a metric; write name or name(parameter=value, ...)")
    params: dict[str, str] = {}
    for part in filter(None, (p.strip() for p in (match["params"] or "").split(","))):
        key, equals, value = part.partition("=")
        if not equals:
            raise UsageError(f"'{part}' in '{text}' is not parameter=value")
        if key.strip() in params:
            raise UsageError(f"{key.strip()} twice in '{text}'; give it once")
        params[key.strip()] = value.strip()
    return match["name"], params


def format_metric(name: str, params: Mapping[str, object]) -> str:
    """The text that `parse_metric` reads back.

    >>> format_metric("bleu", {"tokenize": "13a", "lowercase": True})
    'bleu(tokenize=13a,lowercase=true)'
    """
    if not params:
        return name
    return f"{name}({','.join(f'{k}={_plain(v)}' for k, v in params.items())})"


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return "none" if value is None else str(value)

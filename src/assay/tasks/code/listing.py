# SPDX-License-Identifier: Apache-2.0
"""The data sets as a page of text: what each is, how many candidates it takes, what is scored."""

from __future__ import annotations

from collections.abc import Iterator

from assay.tasks.code.datasets import DATASETS, FAMILIES, LABELS, MARKER

_CANDIDATES = {
    "one": "exactly one",
    "all": "any number, all looked at",
    "ranks": "at least --top_n_beam_search of them",
}


def datasets_text() -> str:
    """All families with their data sets."""
    return "\n\n".join("\n".join(_family(name)) for name in FAMILIES)


def _family(name: str) -> Iterator[str]:
    family = FAMILIES[name]
    yield name
    for dataset in DATASETS:
        if dataset.family_name == name:
            labels = LABELS.get(dataset.parameters.get("labels", ""), ())
            listed = f" ({', '.join(MARKER + label for label in labels)})" if labels else ""
            yield f"  {dataset.name}{listed if len(labels) <= 2 else f' ({len(labels)} classes)'}"
    yield f"    candidates per line: {_CANDIDATES[family.candidates]}"
    yield f"    scores: {', '.join(family.shown)}"
    if len(family.rules) > 1:
        yield f"    rules: {', '.join(family.rules)}"

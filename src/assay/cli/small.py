# SPDX-License-Identifier: Apache-2.0
"""The short way to a small number: BLEU of a few lines, without loading numpy or click.

Both take longer to load than some hundred lines take to score. Only what is plain is answered
here, `assay text score -p FILE -g FILE... -m bleu --ci 0` on short files that need no remark.
Everything else, every error among it, is left to the long way, and tests hold what both can
answer to the same bytes.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

LARGEST = 1 << 17
"""Bytes of a file; beyond some thousand lines the long way is the quicker one."""

_FLAGS = {
    "-p": "predictions",
    "--predictions": "predictions",
    "-g": "gold",
    "--gold": "gold",
    "-m": "metric",
    "--metric": "metric",
    "--ci": "ci",
}
_OTHER_FORMATS = (".jsonl", ".ndjson", ".json", ".tsv", ".csv", ".gz", ".zst")
_SPECIAL = frozenset("*?[")


def answer(arguments: Sequence[str]) -> str | None:
    """What the command prints, or None where the long way has to be gone."""
    given = _understood(arguments)
    if given is None:
        return None
    (path,), gold = given["predictions"], given["gold"]
    sides = [_lines(p) for p in (path, *gold)]
    predictions = sides[0]
    if predictions is None or not all(s and len(s) == len(predictions) for s in sides):
        return None
    from assay.metrics.bleu import plain

    references = zip(*(s for s in sides[1:] if s is not None), strict=True)
    rows = [plain.row(p, refs) for p, refs in zip(predictions, references, strict=True)]
    value = plain.score(rows)
    if abs(value * 100 % 1 - 0.5) < 1e-6:  # a last bit could turn the last digit
        return None
    return _table(path, value, len(rows))


def _understood(arguments: Sequence[str]) -> dict[str, list[str]] | None:
    """The values of the options by name, if they are those of a plain score."""
    if list(arguments[:2]) != ["text", "score"]:
        return None
    given: dict[str, list[str]] = {name: [] for name in _FLAGS.values()}
    words = iter(arguments[2:])
    for word in words:
        if word.startswith("--"):
            flag, equals, value = word.partition("=")
        else:
            flag, equals, value = word, "", ""
        if flag not in _FLAGS:
            return None
        value = value if equals else next(words, "")
        if not value or value.startswith("-"):
            return None
        given[_FLAGS[flag]].append(value)
    plain = given["metric"] == ["bleu"] and given["ci"] == ["0"]
    return given if plain and len(given["predictions"]) == 1 and given["gold"] else None


def _lines(path: str) -> list[str] | None:
    """The lines of a short file of UTF-8 without anything that would have to be remarked on."""
    if path.endswith(_OTHER_FORMATS) or not _SPECIAL.isdisjoint(path):
        return None
    try:
        # What is no plain file, a pipe for one, can be read once only: by the long way.
        if not os.path.isfile(path) or os.path.getsize(path) > LARGEST:
            return None
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    if not text or text[0] == "\ufeff" or "\r" in text or "\0" in text:
        return None
    return text.removesuffix("\n").split("\n")


def _table(path: str, value: float, n: int) -> str:
    import assay
    from assay.core.names import system_name
    from assay.core.signature import format_signature
    from assay.metrics.bleu.plain import SIGNATURE
    from assay.report.numbers import format_count, format_number
    from assay.report.tables import Table, Words, cells, left, right
    from assay.report.terminal import columns_of, terminal, wants_colour

    count = format_count(n)
    scores = Table(
        f"text: {system_name(path)}",
        (*left("score"), *right("value")),
        (cells("bleu (%)", format_number(value, 2)),),
    )
    counts = f"gold {count}, predictions {count}, matched {count}, missing 0, extra 0, duplicate 0"
    parts = {"n": n, "missing": "error", "version": assay.__version__}
    signature = format_signature(SIGNATURE, parts)
    return terminal(
        [scores, Words(counts), Words(signature, "signature")],
        colour=wants_colour(sys.stdout, os.environ),
        width=columns_of(sys.stdout, os.environ),
    )

# SPDX-License-Identifier: Apache-2.0
"""The short way: what can be answered without loading numpy or click.

Both take longer to load than some hundred lines take to score. The first page of help goes this
way, and `assay text score -p FILE -g FILE... -m METRIC... --ci 0` where the files are short and
need no remark, and where the metrics have a plain form. The document and its rendering are those
of the long way; everything else, every error among it, is left to that, and tests hold what both
can answer to the same bytes.
"""

from __future__ import annotations

import importlib
import os
import sys

from assay.cli.front import HELP_FLAGS, front_page, version_line

TYPE_CHECKING = False  # as little as can be is loaded here
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from assay.core.document import ResultDocument

MOST_DIGITS = 6
"""More could show a last bit, in which plain arithmetic and numpy's may differ."""

_VALUES = {
    "-p": "predictions",
    "--predictions": "predictions",
    "-g": "gold",
    "--gold": "gold",
    "-m": "metric",
    "--metric": "metric",
    "--ci": "ci",
    "--digits": "digits",
    "--format": "format",
}
_QUIET = ("-q", "--quiet")  # there is nothing to be quiet about
_FORMATS = ("table", "markdown", "latex")
_OTHER_FILES = (".jsonl", ".ndjson", ".json", ".tsv", ".csv", ".parquet", ".gz", ".zst")
_SPECIAL = frozenset("*?[")


def answer(arguments: Sequence[str]) -> str | None:
    """What the command prints, or None where the long way has to be gone."""
    if len(arguments) == 1 and arguments[0] in HELP_FLAGS:
        return front_page()
    if list(arguments) == ["--version"]:
        return version_line()
    given = _understood(arguments)
    if given is None:
        return None
    document = _document(given["predictions"][0], given["gold"], given["metric"])
    if document is None:
        return None
    digits = int(given["digits"][0]) if given["digits"] else None
    shown = 4 if digits is None else digits  # by itself a table has two or four
    if any(_on_edge(value, n) for value in document.scores.values() for n in {2, shown}):
        return None
    from assay.report.result import render_result
    from assay.report.terminal import columns_of, wants_colour

    return render_result(
        document,
        given["format"][0] if given["format"] else "table",
        digits,
        colour=wants_colour(sys.stdout, os.environ),
        width=columns_of(sys.stdout, os.environ),
    )


def _understood(arguments: Sequence[str]) -> Mapping[str, list[str]] | None:
    """The values of the options by name, if they are those of a plain score."""
    if list(arguments[:2]) != ["text", "score"]:
        return None
    given: dict[str, list[str]] = {name: [] for name in _VALUES.values()}
    words = iter(arguments[2:])
    for word in words:
        if word in _QUIET:
            continue
        flag, equals, value = word.partition("=") if word.startswith("--") else (word, "", "")
        if flag not in _VALUES:
            return None
        value = value if equals else next(words, "")
        if not value or value.startswith("-"):
            return None
        given[_VALUES[flag]].append(value)
    once = all(len(given[name]) == 1 for name in ("predictions", "ci"))
    once = once and all(len(given[name]) <= 1 for name in ("digits", "format"))
    there = bool(given["gold"] and given["metric"])
    if not (once and there and given["ci"] == ["0"]):
        return None
    written = all(x in _FORMATS for x in given["format"])
    plain = all(len(x) == 1 and x in "0123456" for x in given["digits"])
    return given if written and plain else None


def _document(path: str, gold: Sequence[str], names: Sequence[str]) -> ResultDocument | None:
    metrics = list(_plain(names))
    if len({*names}) < len(names) or len(metrics) < len(names):
        return None
    largest = min(metric.LARGEST for metric in metrics)
    sides = [_lines(p, largest) for p in (path, *gold)]
    predictions = sides[0]
    if predictions is None or not all(s and len(s) == len(predictions) for s in sides):
        return None
    import assay
    from assay.core.document import Counts, MetricEntry, ResultDocument
    from assay.core.names import system_name
    from assay.core.signature import format_signature

    references = list(zip(*(s for s in sides[1:] if s is not None), strict=True))
    n = len(predictions)
    return ResultDocument(
        task="text",
        system=system_name(path),
        signature=format_signature(
            "text", {"n": n, "missing": "error", "version": assay.__version__}
        ),
        counts=Counts(n, n, n),
        scores={
            metric.SCORE.key: metric.score(
                [metric.row(p, refs) for p, refs in zip(predictions, references, strict=True)]
            )
            for metric in metrics
        },
        metrics=tuple(
            MetricEntry(name, metric.SIGNATURE, (), (metric.SCORE,))
            for name, metric in zip(names, metrics, strict=True)
        ),
    )


def _plain(names: Sequence[str]) -> Iterator[Any]:
    """The plain forms of metrics with default parameters: the module `plain` of their families."""
    for name in names:
        if not name.isidentifier():
            return
        module = f"assay.metrics.{name}.plain"
        try:
            yield importlib.import_module(module)
        except ModuleNotFoundError as error:
            if error.name and module.startswith(error.name):
                return
            raise


def _lines(path: str, largest: int) -> list[str] | None:
    """The lines of a short file of UTF-8 without anything that would have to be remarked on."""
    if path.endswith(_OTHER_FILES) or not _SPECIAL.isdisjoint(path):
        return None
    try:
        # What is no plain file, a pipe for one, can be read once only: by the long way.
        if not os.path.isfile(path) or os.path.getsize(path) > largest:
            return None
        with open(path, encoding="utf-8", newline="") as file:
            text = file.read()
    except (OSError, ValueError):
        return None
    if not text or text[0] == "\ufeff" or "\r" in text or "\0" in text:
        return None
    return text.removesuffix("\n").split("\n")


def _on_edge(value: float, digits: int) -> bool:
    """Whether a last bit could turn the last of so many digits."""
    return abs(value * float(10**digits) % 1 - 0.5) < 1e-5

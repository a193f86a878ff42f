# SPDX-License-Identifier: Apache-2.0
"""The short way: what can be answered without loading numpy or click.

Both take longer to load than some hundred lines take to score. The first page of help goes this
way, and `assay text score -p FILE -g FILE... -m METRIC...`, with intervals or (`--ci 0`) without,
where the files are short and need no remark, and where the metrics have a plain form. The document
and its rendering are those of the long way; everything else, every error among it, is left to
that, and tests hold what both can answer to the same bytes.
"""

from __future__ import annotations

import importlib
import os
import sys
from itertools import chain

from assay.cli.front import HELP_FLAGS, front_page, version_line

TYPE_CHECKING = False  # as little as can be is loaded here
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from assay.core.document import ResultDocument

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
_LEVELS = ("0", "0.95")
_DIGITS = tuple("0123456")  # more could show a last bit, in which plain arithmetic may differ
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
    with_intervals = given["ci"] != ["0"]
    document = _document(given["predictions"][0], given["gold"], given["metric"], with_intervals)
    if document is None:
        return None
    digits = int(given["digits"][0]) if given["digits"] else None
    shown = 4 if digits is None else digits  # by itself a table has two or four
    values = [*document.scores.values(), *chain(*document.intervals.values())]
    if any(_on_edge(value, n) for value in values for n in {2, shown}):
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
    once = all(len(given[name]) <= 1 for name in ("predictions", "ci", "digits", "format"))
    if not (once and given["predictions"] and given["gold"] and given["metric"]):
        return None
    plain = all(x in _LEVELS for x in given["ci"])
    plain = plain and all(x in _FORMATS for x in given["format"])
    plain = plain and all(x in _DIGITS for x in given["digits"])
    return given if plain else None


def _document(
    path: str, gold: Sequence[str], names: Sequence[str], with_intervals: bool
) -> ResultDocument | None:
    metrics = list(_plain(names))
    if len({*names}) < len(names) or len(metrics) < len(names):
        return None
    largest = min(metric.LARGEST for metric in metrics)
    sides = [_lines(p, largest) for p in (path, *gold)]
    predictions = sides[0]
    if predictions is None or not all(s and len(s) == len(predictions) for s in sides):
        return None
    n = len(predictions)
    if with_intervals and not _resampled_quickly(n):
        return None
    import assay
    from assay.core.document import Counts, MetricEntry, ResultDocument
    from assay.core.names import system_name
    from assay.core.signature import format_signature

    references = list(zip(*(s for s in sides[1:] if s is not None), strict=True))
    rows = {
        metric: [metric.row(p, refs) for p, refs in zip(predictions, references, strict=True)]
        for metric in metrics
    }
    intervals, statistics = _intervals(rows) if with_intervals else ({}, {})
    if intervals is None:
        return None
    return ResultDocument(
        task="text",
        system=system_name(path),
        signature=format_signature(
            "text", {"n": n, "missing": "error", **statistics, "version": assay.__version__}
        ),
        counts=Counts(n, n, n),
        scores={metric.SCORE.key: metric.score(counted) for metric, counted in rows.items()},
        metrics=tuple(
            MetricEntry(name, metric.SIGNATURE, (), (metric.SCORE,))
            for name, metric in zip(names, metrics, strict=True)
        ),
        intervals=intervals,
        statistics=statistics,
    )


def _resampled_quickly(n: int) -> bool:
    from assay.aggregate.plain import MOST_ROWS

    return 2 <= n <= MOST_ROWS


def _intervals(
    rows: Mapping[Any, Sequence[Sequence[int]]],
) -> tuple[Mapping[str, tuple[float, float]] | None, Mapping[str, Any]]:
    """The interval of each score, and how it was made; None for intervals that cannot be said."""
    from assay.aggregate.asked import LEVEL, RESAMPLES, SEED
    from assay.aggregate.percentile import percentile_bounds
    from assay.aggregate.plain import resampled_totals

    made = {"ci": LEVEL, "interval": "auto", "resamples": RESAMPLES, "seed": SEED}
    beside = [[*chain(*parts)] for parts in zip(*rows.values(), strict=True)]
    drawn = resampled_totals(beside)
    if drawn is None:
        return None, made
    resamples = list(drawn)
    found, start = {}, 0
    for metric, counted in rows.items():
        stop = start + len(counted[0])
        resampled = sorted(metric.finalise(totals[start:stop]) for totals in resamples)
        found[metric.SCORE.key] = percentile_bounds(resampled, len(beside))
        start = stop
    return found, made


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

# SPDX-License-Identifier: Apache-2.0
"""What a run gives besides scores: undefined values, regimes, data for pictures, files."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from assay.core.batch import Batch
from assay.core.document import ResultDocument
from assay.core.errors import UsageError
from assay.core.files import atomic_file
from assay.core.metric import Metric, Rows
from assay.core.task import Outcome
from assay.tasks.simul import fairseq, resegmented, simuleval
from assay.tasks.simul.metrics import Latency
from assay.tasks.simul.policies import DEGENERATE
from assay.tasks.simul.quality import Quality
from assay.tasks.simul.spoken import spoken_line
from assay.tasks.simul.streams import Emission

_DELAY = re.compile(r"(?P<name>(?:Long|Stream)?(?:AL|LAAL|YAAL|DAL)|ATD)(?P<aware>_CA)?(?:@.*)?")
_REGIME = re.compile(r"^(?P<name>[^=]+)=(?P<low>[\d.]+)-(?P<high>[\d.]+)$")
MAIN_LATENCY = ("LongYAAL", "StreamLAAL", "LAAL", "AL@simuleval", "AL@fairseq", "YAAL")
MAIN_QUALITY = ("BLEU", "chrF")


def extra(
    outcome: Outcome, *, regime: Sequence[str] | None = None, **options: Any
) -> Mapping[str, Any]:
    """Plain data for the document."""
    document = outcome.document
    found: dict[str, Any] = {
        "undefined": undefined_counts(outcome),
        "names": {own_name(key): value for key, value in document.scores.items()},
    }
    pair = tradeoff_keys(document)
    if pair is not None:
        found["tradeoff"] = pair
    of_text = document.extra.get("log", {}).get("source_type") == "text"
    if units := latency_units(document.scores, of_text=of_text):
        found["units"] = units
    if "DSPTV" in document.scores:
        found["degenerate_policy"] = abs(document.scores["DSPTV"]) > DEGENERATE
    if regime:
        found["regime"] = regime_of(document, regime)
    return found


def undefined_counts(outcome: Outcome) -> dict[str, int]:
    """For each latency score, the number of streams that have no value."""
    if outcome.totals is None:
        return {}
    n = int(outcome.document.statistics["n"])
    counts, start = {}, 0
    for metric in outcome.metrics:
        stop = start + len(metric.columns)
        if isinstance(metric, Latency) and "streams" in metric.columns:
            column = start + metric.columns.index("streams")
            counts[metric.scores[0].name] = n - int(outcome.totals[column])
        start = stop
    return counts


def own_name(key: str) -> str:
    """The name of a score in the tool that it comes from.

    >>> own_name("AL_CA@simuleval")
    'AL_CA'
    """
    return re.sub(r"@(simuleval|fairseq)", "", key)


def tradeoff_keys(document: ResultDocument) -> dict[str, str] | None:
    """The two scores that are drawn against each other, where there are both."""
    latency = next((k for k in MAIN_LATENCY if k in document.scores), None)
    quality = next((k for k in MAIN_QUALITY if k in document.scores), None)
    if latency is None or quality is None:
        return None
    return {"latency": latency, "quality": quality}


def latency_units(keys: Iterable[str], *, of_text: bool) -> dict[str, str]:
    """What each latency is measured in; scores that are no delay, or not surely, are left out.

    >>> latency_units(["LAAL", "LAAL_CA", "AP", "StreamLAAL"], of_text=False)
    {'LAAL': 'ms', 'LAAL_CA': 'ms', 'StreamLAAL': 's'}
    >>> latency_units(["LAAL", "LAAL_CA", "ATD"], of_text=True)
    {'LAAL': 'words'}
    """
    found = {}
    for key in keys:
        match = _DELAY.fullmatch(key)
        if match is None:
            continue
        if match["name"].startswith("Stream"):
            found[key] = "s"
        elif not of_text:
            found[key] = "ms"
        elif not match["aware"] and match["name"] != "ATD":
            found[key] = "words"
    return found


# -- latency regimes ----------------------------------------------------------------------------


def regime_of(document: ResultDocument, given: Sequence[str]) -> dict[str, Any]:
    """In which of the regimes `low=0-2 high=2-4` (seconds) the main latency lies."""
    bounds = _bounds(given)
    key = next((k for k in MAIN_LATENCY if k in document.scores), None)
    if key is None:
        raise UsageError("--regime needs a latency in seconds: LongYAAL, StreamLAAL or LAAL")
    if document.extra.get("log", {}).get("source_type") == "text":
        raise UsageError("--regime is in seconds, and the latency of text is in words")
    value = document.scores[key]
    seconds = value if key == "StreamLAAL" else value / 1000
    inside = [name for name, (low, high) in bounds.items() if low <= seconds <= high]
    return {
        "score": key,
        "seconds": None if math.isnan(seconds) else seconds,
        "regime": inside[0] if inside else None,
        "regimes": {name: list(pair) for name, pair in bounds.items()},
    }


def _bounds(given: Sequence[str]) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for word in (w for text in given for w in text.split(",")):
        match = _REGIME.match(word)
        if match is None:
            raise UsageError(f"--regime '{word}' must be name=from-to in seconds: low=0-2 high=2-4")
        try:
            low, high = float(match["low"]), float(match["high"])
        except ValueError:
            raise UsageError(
                f"--regime '{word}': {match['low']}-{match['high']} are no seconds"
            ) from None
        if not low < high:
            raise UsageError(f"--regime '{word}' ends before it begins")
        found[match["name"]] = (low, high)
    return found


def details(document: ResultDocument) -> str | None:
    """Lines below the table."""
    lines = [_unit_line(document)]
    n = int(document.statistics["n"])
    undefined = {k: c for k, c in document.extra.get("undefined", {}).items() if c}
    if undefined:
        counts = sorted(set(undefined.values()))
        each = [
            f"{', '.join(k for k, c in undefined.items() if c == count)} {count:,} of {n:,}"
            for count in counts
        ]
        lines.append(f"undefined: {'; '.join(each)} streams")
    if "regime" in document.extra:
        lines.append(_regime_line(document.extra["regime"]))
    if document.extra.get("degenerate_policy"):
        lines.append(
            f"degenerate policy: DSPTV is beyond {DEGENERATE:g}; a few early words lower the "
            "latency, most are written after the end of the source"
        )
    return "\n".join(filter(None, lines)) or None


def _unit_line(document: ResultDocument) -> str:
    """What the numbers of lagging are, where there are some."""
    plain = [k.partition("@")[0].removesuffix("_CA") for k in document.scores]
    found = [k for k in plain if k.endswith(("AL", "ATD", "Offset"))]
    if not found:
        return ""
    is_text = document.extra.get("log", {}).get("source_type") == "text"
    usual = "words" if is_text else "milliseconds"
    in_seconds = [k.startswith("Stream") for k in found]
    if all(in_seconds):
        return "latency in seconds of the source"
    aside = ", StreamLAAL in seconds" if any(in_seconds) else ""
    return f"latency in {usual} of the source{aside}"


def _regime_line(regime: Mapping[str, Any]) -> str:
    if regime["seconds"] is None:
        return f"regime: none, because {regime['score']} is undefined"
    bounds = regime["regimes"]
    if regime["regime"] is None:
        known = ", ".join(f"{name} {low:g}-{high:g} s" for name, (low, high) in bounds.items())
        return f"regime: none ({regime['score']} {regime['seconds']:.3f} s; {known})"
    low, high = bounds[regime["regime"]]
    return (
        f"regime: {regime['regime']} ({low:g}-{high:g} s), {regime['score']} "
        f"{regime['seconds']:.3f} s"
    )


# -- files --------------------------------------------------------------------------------------


def write_files(
    outcome: Outcome, *, output: str | None = None, compat: str | None = None, **options: Any
) -> Mapping[str, Path]:
    """The files of the tool that the log comes from, in the folder `--output`."""
    if not output:
        return {}
    folder = Path(output)
    held = Held.of(outcome.batches)
    document = outcome.document
    kind = document.extra.get("log", {}).get("kind")
    if document.extra.get("log", {}).get("longform"):
        contents = _longform_files(document, held)
    elif compat == "fairseq" or (kind == "fairseq" and compat is None):
        contents = _fairseq_files(document, held)
    else:
        contents = _simuleval_files(outcome, held)
    # What was read is not written again: a log may hold more than its scores want.
    read = {os.path.realpath(file.path) for file in document.inputs}
    contents = {n: c for n, c in contents.items() if os.path.realpath(folder / n) not in read}
    for name, content in contents.items():
        with atomic_file(folder / name) as aside:
            aside.write_text(content, encoding="utf-8")
    return {", ".join(contents): folder}


class Held:
    """All examples of a run, side by side."""

    def __init__(
        self,
        ids: Sequence[str],
        emissions: Sequence[Emission],
        references: Sequence[str],
        recordings: Sequence[str],
    ) -> None:
        self.ids = ids
        self.emissions = emissions
        self.references = references
        self.recordings = recordings

    @classmethod
    def of(cls, batches: Sequence[Batch]) -> Held:
        """The examples of these batches."""
        ids = [b.id_of(i) for b in batches for i in range(len(b))]
        return cls(
            ids,
            [e for b in batches for e in b.predictions],
            [t for b in batches for t in b.references().firsts()],
            [r for b in batches for r in b.columns.get("recording", ids[:0])],
        )


def _longform_files(document: ResultDocument, held: Held) -> dict[str, str]:
    lines = [(_display_name(k), v) for k, v in document.scores.items()]
    table = "metric\tvalue\n" + "".join(f"{name}\t{_four(value)}\n" for name, value in lines)
    empty = sum(not e.text for e in held.emissions)
    report = [
        "Evaluation report",
        f"Signature: {document.signature}",
        "",
        *(f"{name}: {_four(value)}" for name, value in lines),
        "",
        f"Empty Predictions: {empty}",
        f"Total Instances:   {len(held.ids)}",
    ]
    below = details(document)
    if below:
        report += ["", below]
    return {
        "evaluation_report.txt": "\n".join(report) + "\n",
        "scores.tsv": table,
        resegmented.FILE: resegmented.resegmented_text(
            held.ids, held.recordings, held.emissions, held.references
        ),
    }


def _display_name(key: str) -> str:
    """`LongYAAL (CU)` and `LongYAAL (CA)`; quality as it is."""
    plain = own_name(key)
    if plain.endswith("_CA"):
        return f"{plain.removesuffix('_CA')} (CA)"
    return f"{plain} (CU)" if plain.startswith(("Long", "Stream")) else plain


def _four(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.4f}"


def _fairseq_files(document: ResultDocument, held: Held) -> dict[str, str]:
    pairs = [fairseq.delays_of(e) for e in held.emissions]
    names = {own_name(k): v for k, v in document.scores.items()}
    scores: dict[str, float | None] = {
        name: None if name not in names or math.isnan(names[name]) else names[name]
        for name in fairseq.SCORE_NAMES
    }
    if scores["BLEU"] is not None:
        scores["BLEU"] = round(scores["BLEU"], 3)
    if scores["TER"] is not None:
        scores["TER"] = round(scores["TER"] / 100, 3)
    return {
        fairseq.TEXT: "".join(f"{e.text}\n" for e in held.emissions),
        fairseq.DELAY: "".join(fairseq.delay_line(*pair) + "\n" for pair in pairs),
        fairseq.SCORES: fairseq.scores_text(scores),
    }


def _simuleval_files(outcome: Outcome, held: Held) -> dict[str, str]:
    document = outcome.document
    log = document.extra.get("log", {})
    each = {own_name(k): v for k, v in latency_of_each(outcome).items()}
    scores = {own_name(k): v for k, v in document.scores.items()}
    # Quality stands before latency, whichever was named first.
    scores = dict(sorted(scores.items(), key=lambda score: score[0] in each))
    return {
        "scores.tsv": simuleval.scores_table(scores),
        "metrics.tsv": simuleval.metrics_table(held.ids, each),
        simuleval.INSTANCES: "".join(
            _instance(document, i, e, r) + "\n"
            for i, e, r in zip(held.ids, held.emissions, held.references, strict=True)
        ),
        simuleval.CONFIG: simuleval.config_text(
            log.get("source_type", "speech"), log.get("target_type", "text")
        ),
    }


def _instance(document: ResultDocument, id: str, emission: Emission, reference: str) -> str:
    if emission.durations is None:
        return simuleval.instance_line(id, emission, reference, emission.source)
    log = Path(next(f.path for f in document.inputs if f.role == "predictions"))
    return spoken_line(id, log.parent, emission, reference, emission.source)


def latency_of_each(outcome: Outcome) -> dict[str, Sequence[float]]:
    """The latency of every stream, by the name of the score."""
    assert outcome.rows is not None, "files want rows"
    found: dict[str, Sequence[float]] = {}
    for metric, rows in _parts(outcome.metrics, outcome.rows):
        if not isinstance(metric, Quality):
            values = metric.per_example(np.asarray(rows))
            found.update({s.name: values[s.name].tolist() for s in metric.scores})
    return found


def _parts(metrics: Sequence[Metric], rows: Rows) -> list[tuple[Metric, Rows]]:
    found, start = [], 0
    for metric in metrics:
        stop = start + len(metric.columns)
        found.append((metric, rows[:, start:stop]))
        start = stop
    return found

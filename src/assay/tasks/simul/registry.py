# SPDX-License-Identifier: Apache-2.0
"""The metrics of the task by name, and which of them a log is scored by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from assay.core.errors import UsageError
from assay.core.metric import Metric, build
from assay.core.names import format_metric, parse_metric
from assay.tasks.simul import atd, lagging, longform, offsets, policies, quality
from assay.tasks.simul.lagging import aware_name
from assay.tasks.simul.metrics import FAIRSEQ

if TYPE_CHECKING:
    from assay.tasks.simul.log import Log
    from assay.tasks.simul.settings import Settings

LATENCY: tuple[type[Metric], ...] = (
    *FAIRSEQ,
    *lagging.CLASSES,
    *atd.CLASSES,
    *offsets.CLASSES,
    *policies.CLASSES,
    *longform.CLASSES,
)
CLASSES: tuple[type[Metric], ...] = (*quality.CLASSES, *LATENCY)

BY_KIND: dict[str, dict[str, str]] = {
    "fairseq": {"al": "AL@fairseq", "ap": "AP@fairseq", "dal": "DAL@fairseq"},
    "short": {
        "al": "AL@simuleval",
        "ap@simuleval": "AP",
        "dal@simuleval": "DAL",
        "al_ca": "AL_CA@simuleval",
        "al@simuleval_ca": "AL_CA@simuleval",
    },
    "long": {
        **{
            f"{name}{ca}": f"Long{name.upper()}{ca.upper()}"
            for name in ("yaal", "al", "laal", "ap", "dal")
            for ca in ("", "_ca")
        },
    },
}
"""What a name without a variant means, by what the log is."""

DEFAULTS: dict[str, tuple[str, ...]] = {
    "fairseq": ("AL", "AP", "DAL"),
    "short": ("LAAL", "AL", "AP", "DAL", "ATD"),
    "long": ("LongYAAL", "LongAL", "LongLAAL", "LongAP", "LongDAL"),
    "spoken": (
        "StartOffset",
        "EndOffset",
        "RTF",
        "ATD",
        "NumChunks",
        "DiscontinuitySum",
        "DiscontinuityAve",
        "DiscontinuityNum",
    ),
}
"""Latency that is measured where none is named. Lagging holds output against the words of a
reference, and pieces of spoken output are no words."""


ELSEWHERE: tuple[tuple[str, str], ...] = (
    (
        r".+_SpeechAlign_.+",
        "needs the words of spoken output aligned with its audio by the Montreal Forced Aligner; "
        "align it there, write a log with a delay for each word, and score that by "
        "--latency-metrics AL LAAL ATD",
    ),
    (
        r"(WHISPER_)?ASR_BLEU",
        "needs a speech recogniser; have one write the output down, and score that with "
        "--transcripts FILE --quality-metrics BLEU",
    ),
    (
        r"X?COMET.*",
        "needs a neural network; --output DIR writes sources, output and references for it",
    ),
)
"""Metrics of other programs that need what is not part of this one, and what to do instead."""


def metric(text: str) -> Metric:
    """The metric whose text this is."""
    from assay.tasks.simul.agent_scorers import agent_metric

    return agent_metric(text) or build(text, CLASSES)


def classes(settings: Settings) -> Sequence[type[Metric]]:
    """All metrics by the names that count: those of files stand before those of the task."""
    if not settings.agents:
        return CLASSES
    from assay.tasks.simul.agent_scorers import brought_scorers, scorer_classes

    return (*CLASSES, *scorer_classes(brought_scorers(settings.agents)))


def family(log: Log, settings: Settings) -> str:
    """Which formulas a plain name means for this log."""
    if log.longform:
        return "long"
    if settings.compat is not None:
        return "fairseq" if settings.compat == "fairseq" else "short"
    return "fairseq" if log.kind == "fairseq" else "short"


def chosen_metrics(
    names: Sequence[str], log: Log, settings: Settings, has_references: bool
) -> list[Metric]:
    """What a log is scored by: quality first, then latency, each once."""
    meant = family(log, settings)
    asked_quality, asked_latency = settings.quality_metrics, settings.latency_metrics
    wanted: list[str] = []
    if not names:
        wanted += asked_quality if asked_quality is not None else _default_quality(log, settings)
        usual = _default_latency(meant, log, settings)
        wanted += asked_latency if asked_latency is not None else usual
    else:
        wanted += [*names, *(asked_quality or ()), *(asked_latency or ())]
    explicit = {*names, *(asked_quality or ())}
    found: dict[str, Metric] = {}
    for name in wanted:
        for text in _with_aware(name, meant, settings, is_named=name in names):
            one = _built(text, log, settings)
            if isinstance(one, quality.Quality) and not _can_judge(
                one, log, settings, has_references, name in explicit
            ):
                continue
            found.setdefault(one.text, one)
    if not found:
        raise UsageError("nothing to measure: name a metric by --latency-metrics")
    return list(found.values())


def named_metrics(name: str, meant: str, settings: Settings) -> list[Metric]:
    """What this name stands for, computation-aware form included where that was asked for."""
    known = classes(settings)
    return [build(text, known) for text in _with_aware(name, meant, settings, is_named=False)]


def _default_quality(log: Log, settings: Settings) -> Sequence[str]:
    if settings.compat == "omnisteval":
        return ("BLEU", "chrF", "BLEU@nfkc", "chrF@nfkc") if log.longform else ("BLEU", "chrF")
    return ("BLEU", "chrF") if log.longform else ("BLEU",)


def _default_latency(meant: str, log: Log, settings: Settings) -> Sequence[str]:
    if log.target_type == "speech" and settings.compat is None:
        return DEFAULTS["spoken"]
    if settings.resegment == "mweralign" and meant == "long":
        return ("StreamLAAL",)
    if settings.compat == "omnisteval" and meant == "short":
        return ("YAAL", "AL", "LAAL", "AP", "DAL", "DSPTV")
    return DEFAULTS[meant]


def _with_aware(name: str, meant: str, settings: Settings, *, is_named: bool) -> Iterable[str]:
    """The metric, and behind it its computation-aware form where that was asked for."""
    plain, params = parse_metric(name)
    own = {cls.name.lower() for cls in classes(settings)[len(CLASSES) :]}
    is_own = plain.lower() in own
    full = plain if is_own else _full_name(plain, meant)
    yield format_metric(full, params)
    known = own if is_own else {cls.name.lower() for cls in LATENCY}
    if settings.computation_aware and not is_named and aware_name(full).lower() in known:
        yield format_metric(aware_name(full), params)


def _full_name(plain: str, meant: str) -> str:
    """With the variant that a name without one means.

    >>> _full_name("AL", "short"), _full_name("al_ca", "long"), _full_name("chrF", "long")
    ('AL@simuleval', 'LongAL_CA', 'chrF')
    """
    return BY_KIND[meant].get(plain.lower(), BY_KIND["short"].get(plain.lower(), plain))


def _built(text: str, log: Log, settings: Settings) -> Metric:
    name, params = parse_metric(text)
    known = classes(settings)
    if name.lower() not in {c.name.lower() for c in known}:
        if Path(name).exists():
            raise UsageError(f"'{name}' is a file, not a metric; put the log before the metrics")
        for pattern, instead in ELSEWHERE:
            if re.fullmatch(pattern, name, re.IGNORECASE):
                raise UsageError(f"{name} {instead}")
    given = settings.parameters(build(name, known), log)
    return build(format_metric(name, {**given, **params}), known)


def _can_judge(
    one: Metric, log: Log, settings: Settings, has_references: bool, is_explicit: bool
) -> bool:
    """Whether quality can be measured; where that was asked for by name, it must be."""
    if log.target_type == "speech" and settings.transcripts is None:
        problem = (
            "the output is speech; have a speech recogniser write it down, and give that to "
            "'assay simul score' with --transcripts FILE"
        )
    elif not has_references:
        problem = "there are no references; give them with --gold FILE"
    else:
        return True
    if is_explicit:
        raise UsageError(f"{one.name} cannot be measured: {problem}")
    return False

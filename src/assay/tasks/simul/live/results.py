# SPDX-License-Identifier: Apache-2.0
"""The scores of a session, in the words of the servers that clients know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from assay.core.errors import AssayError
from assay.tasks.simul.live.corpus import Position

if TYPE_CHECKING:
    from pathlib import Path

    from assay.tasks.simul.live.session import Exchange, Session


class NotReadyError(AssayError):
    """Scores were asked for before every sentence has words; `missing` are those without."""

    exit_code = 2

    def __init__(self, missing: Sequence[int], extra: Sequence[int] = ()) -> None:
        parts = []
        if missing:
            parts.append(f"{len(missing):,} sentences have no translation yet ({_some(missing)})")
        if extra:
            parts.append(f"words were sent for sentences that do not exist ({_some(extra)})")
        super().__init__(f"{'; '.join(parts)}; translate them, or start again with POST /")
        self.missing = list(missing)
        self.extra = list(extra)


@dataclass(frozen=True)
class Tally:
    """What is scored, copied from a session: one entry per sentence, in order.

    `delays` include that of the end mark; `lengths` count the end mark of a source of text.
    `unfinished` never had an end mark, `missing` have no words at all and no delays.
    """

    ids: list[int]
    texts: list[str] = field(default_factory=list)
    references: list[str] = field(default_factory=list)
    delays: list[list[Position]] = field(default_factory=list)
    lengths: list[Position] = field(default_factory=list)
    unfinished: list[int] = field(default_factory=list)
    missing: list[int] = field(default_factory=list)


def tally(
    session: Session, ids: Iterable[int] | None = None, *, allow_missing: bool = False
) -> Tally:
    """Copy what there is; sentences without words are an error unless they are allowed."""
    corpus = session.corpus
    found = Tally(list(range(len(corpus)) if ids is None else ids))
    end_mark = 1 if corpus.kind == "text" else 0
    for index in found.ids:
        exchange = session.exchanges.get(index)
        sentence = corpus.sentences[index]
        if exchange is None or exchange.is_empty:
            found.missing.append(index)
            text, delays = "", list[Position]()
        else:
            text, delays = _output(exchange, session.old)
            if not session.finished(index):
                found.unfinished.append(index)
        found.texts.append(text)
        found.references.append(sentence.reference)
        found.delays.append(delays)
        found.lengths.append(sentence.length + end_mark)
    strays = sorted(session.strays)
    if strays or (found.missing and (not allow_missing or len(found.missing) == len(found.ids))):
        raise NotReadyError(found.missing, strays)
    return found


def _output(exchange: Exchange, old: bool) -> tuple[str, list[Position]]:
    if old:  # the last token is taken for the end mark, whatever it is
        return " ".join(exchange.words[:-1]), list(exchange.delays)
    end = [] if exchange.end is None else [exchange.end]
    return " ".join(exchange.words), [*exchange.delays, *end]


def scores(found: Tally, tokenizer: str, *, old: bool = False) -> dict[str, float | None]:
    """BLEU, TER, METEOR, DAL, AL, AP; None where undefined. Missing sentences have no latency.

    With `old` TER is that of fairseq's server.
    """
    from assay.tasks.simul.fairseq import server_scores
    from assay.tasks.simul.live.old_ter import mean_ter

    given = (found.texts, found.references, found.delays, found.lengths)
    result = server_scores(*given, tokenizer)
    if old:
        ter = mean_ter(found.texts, found.references)
        result["TER"] = None if ter is None else round(ter, 3)
    return result


def write(folder: Path, found: Tally, result: dict[str, float | None]) -> None:
    """The files `text`, `delay` and `scores`."""
    from assay.tasks.simul.fairseq import delay_line, write_files

    text = "".join(f"{each}\n" for each in found.texts)
    delay = "".join(
        delay_line(delays, length) + "\n"
        for delays, length in zip(found.delays, found.lengths, strict=True)
    )
    write_files(folder, text, delay, result)


def middle_scores(found: Tally, tokenizer: str, *, speech: bool) -> dict[str, Any]:
    """The scores as SimulEval 1.0 named them."""
    latency = _middle_latency(found, range(len(found.ids)), speech=speech)
    return {"Quality": {"BLEU": scores(found, tokenizer)["BLEU"]}, "Latency": latency}


def middle_instance(found: Tally, tokenizer: str, *, source: str, speech: bool) -> dict[str, Any]:
    """One sentence with its scores, as SimulEval 1.0 gave it; `found` holds just that one."""
    words = found.texts[0].split()
    return {
        "index": found.ids[0],
        "prediction": found.texts[0],
        "delays": found.delays[0][: len(words)],
        "prediction_length": len(words),
        "reference": found.references[0],
        "source": source,
        "source_length": found.lengths[0],
        "metric": {
            "sentence_bleu": scores(found, tokenizer)["BLEU"],
            "latency": _middle_latency(found, [0], speech=speech),
        },
    }


def _middle_latency(found: Tally, which: Iterable[int], *, speech: bool) -> dict[str, float | None]:
    """AL, AP and DAL of SimulEval 1.0: like fairseq's, but AL of speech goes by the reference."""
    from assay.tasks.simul.fairseq import latency_scores

    chosen = list(which)
    delays = [found.delays[i] for i in chosen]
    lengths = [found.lengths[i] for i in chosen]
    latency = latency_scores(delays, lengths)
    if speech:
        lags = [
            _lagging(found.delays[i], found.lengths[i], len(found.references[i].split()) + 1)
            for i in chosen
            if found.delays[i]
        ]
        latency["AL"] = sum(lags) / len(lags) if lags else float("nan")
    return {
        name: None if latency[name] != latency[name] else latency[name]
        for name in ("AL", "AP", "DAL")
    }


def _lagging(delays: Sequence[Position], length: Position, units: int) -> float:
    total, count = 0.0, 0
    for place, delay in enumerate(delays):
        total += min(delay, length) - min(place, units - 1) * length / units
        count += 1
        if delay >= length:
            break
    return total / count


def _some(ids: Sequence[int]) -> str:
    shown = ", ".join(map(str, ids[:10]))
    return f"{shown}, ..." if len(ids) > 10 else shown

# SPDX-License-Identifier: Apache-2.0
"""The files of fairseq's 2020 evaluation server: `text`, `delay` and `scores`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from assay.core.document import Intake
from assay.core.errors import InputError
from assay.core.files import atomic_file
from assay.tasks.simul.files import json_blocks, lines_of
from assay.tasks.simul.latency import fairseq_latency, mean_defined
from assay.tasks.simul.log import Block
from assay.tasks.simul.ragged import Ragged
from assay.tasks.simul.streams import Emission

TEXT, DELAY, SCORES = "text", "delay", "scores"

SCORE_NAMES = ("BLEU", "TER", "METEOR", "DAL", "AL", "AP")
"""The scores of the server, in the order in which it gives them."""

_EXAMPLE = 'one object per line: {"src_len": 7, "delays": [1, 2, 7]}'


class Delays(msgspec.Struct, gc=False):
    """A line of a `delay` file: one delay per token, the end mark's last."""

    src_len: float
    delays: list[float]


def is_fairseq(path: Path) -> bool:
    """Whether this is a folder that the server wrote, or a `delay` file."""
    if path.is_dir():
        return (path / DELAY).is_file()
    return path.name == DELAY and path.is_file()


def read_fairseq(path: Path, source_type: str, intake: Intake) -> Iterator[Block]:
    """The streams of a folder; of a `delay` file alone, streams without text."""
    delay_file = path / DELAY if path.is_dir() else path
    text_file = delay_file.parent / TEXT
    texts: Sequence[str] | None = None
    if path.is_dir() and text_file.is_file():
        texts = lines_of(text_file, intake)
    done = 0
    for objects, first in json_blocks(delay_file, Delays, intake, _EXAMPLE):
        done = first + len(objects)
        _check(objects, first, delay_file)
        some: Sequence[str] = [""] * len(objects)
        if texts is not None:
            some = texts[first:done]
            if len(some) < len(objects):
                break
        ids = [str(i) for i in range(first, done)]
        emissions = [_emission(o, t, source_type) for o, t in zip(objects, some, strict=True)]
        yield Block.of(ids, emissions, lines=range(first + 1, done + 1))
    if texts is not None and done != len(texts):
        raise InputError(
            f"{done:,} lines or more, but {text_file} has {len(texts):,}",
            path=delay_file,
            hint="both files are written together: take them from one run",
        )


def _check(objects: Sequence[Delays], first: int, path: Path) -> None:
    """Refuse a source of less than nothing."""
    for line, one in enumerate(objects, start=first + 1):
        if one.src_len < 0:
            raise InputError(
                f"src_len is {one.src_len:g}",
                path=path,
                line=line,
                hint="a source has 0 or more words or milliseconds",
            )


def _emission(line: Delays, text: str, source_type: str) -> Emission:
    # The server's source of text has one position more: that of its end mark.
    length = line.src_len - 1 if source_type == "text" else line.src_len
    return Emission(
        text,
        line.delays[:-1],
        length,
        source_type=source_type,
        end=line.delays[-1] if line.delays else None,
    )


def delay_line(delays: Sequence[float], source_length: float) -> str:
    """A line of a `delay` file, as the server writes it; whole numbers without a point."""
    return json.dumps({"src_len": _whole(source_length), "delays": [_whole(d) for d in delays]})


def delays_of(emission: Emission) -> tuple[list[float], float]:
    """All delays and the source length, in the server's way of counting.

    Where a log has no end marks, they are taken to be sent when the whole source has been read. A
    stream without output has no delays.
    """
    length = emission.source_length + (1 if emission.source_type == "text" else 0)
    if emission.end is not None:
        return [*emission.delays, emission.end], length
    if not emission.delays:
        return [], length
    return [*emission.delays, max(length, emission.delays[-1])], length


def write_fairseq(
    folder: Path, emissions: Sequence[Emission], scores: Mapping[str, float | None] | None = None
) -> None:
    """Write `text`, `delay` and, if there are scores, `scores`."""
    text = "".join(f"{e.text}\n" for e in emissions)
    delay = "".join(delay_line(*delays_of(e)) + "\n" for e in emissions)
    write_files(folder, text, delay, scores)


def write_files(
    folder: Path, text: str, delay: str, scores: Mapping[str, float | None] | None
) -> None:
    """The three files, each there whole or not at all."""
    contents = {TEXT: text, DELAY: delay}
    if scores is not None:
        contents[SCORES] = scores_text(scores)
    for name, content in contents.items():
        with atomic_file(folder / name) as aside:
            aside.write_text(content, encoding="utf-8")


def scores_text(scores: Mapping[str, float | None]) -> str:
    """The `scores` file; an undefined score is empty."""
    return "".join(
        f"{name}, {'' if scores.get(name) is None else scores[name]}\n" for name in SCORE_NAMES
    )


def latency_scores(delays: Sequence[Sequence[float]], lengths: Sequence[float]) -> dict[str, float]:
    """DAL, AL and AP of a corpus: means over the sentences that have them, NaN if none has."""
    found = fairseq_latency(Ragged.of(delays), np.asarray(lengths, dtype=np.float64))
    return {name: mean_defined(found[name]) for name in ("DAL", "AL", "AP")}


def latency_report(path: str, from_zero: bool, say: Callable[[str], object]) -> str:
    """Three lines `name: value` for a file of delays, the end marks' included.

    Lines for which a value is undefined are left out of its mean, and told.
    """
    shift = 1.0 if from_zero else 0.0
    delays: list[list[float]] = []
    lengths: list[float] = []
    for objects, first in json_blocks(Path(path), Delays, Intake(), _EXAMPLE):
        _check(objects, first, Path(path))
        delays += [[d + shift for d in one.delays] for one in objects]
        lengths += [one.src_len for one in objects]
    found = fairseq_latency(Ragged.of(delays), np.asarray(lengths, dtype=np.float64))
    lines = []
    for key, name in (
        ("DAL", "differentiable_average_lagging"),
        ("AL", "average_lagging"),
        ("AP", "average_proportion"),
    ):
        mean = mean_defined(found[key])
        lines.append(f"{name}: {'' if np.isnan(mean) else mean}")
        undefined = int(np.isnan(found[key]).sum())
        if undefined:
            say(f"{path}: {name} is undefined for {undefined:,} of {len(delays):,} lines")
    return "\n".join(lines)


def server_scores(
    texts: Sequence[str],
    references: Sequence[str],
    delays: Sequence[Sequence[float]],
    lengths: Sequence[float],
    tokenizer: str = "13a",
) -> dict[str, float | None]:
    """What the server answers to `GET /result`; None where a score is undefined or not computed.

    BLEU has three decimals and TER is a fraction with three, as the server had; TER is that of
    sacrebleu. METEOR needs the package nltk with WordNet; without them it is None.
    """
    from assay.tasks.simul.meteor import meteor_mean
    from assay.tasks.simul.quality import QualityBleu, QualityTer

    pairs = [
        (Emission(text, [], 0.0), reference)
        for text, reference in zip(texts, references, strict=True)
    ]
    bleu = QualityBleu(tokenize=tokenizer).score(pairs)["BLEU"]
    ter = QualityTer().score(pairs)["TER"]
    meteor = meteor_mean(texts, references)
    found: dict[str, Any] = {"BLEU": _rounded(bleu), "TER": _rounded(ter / 100)}
    found["METEOR"] = None if meteor is None else _rounded(meteor)
    latency = latency_scores(delays, lengths)
    found.update({name: None if np.isnan(v) else v for name, v in latency.items()})
    return found


def _rounded(value: float) -> float | None:
    return None if np.isnan(value) else round(value, 3)


def _whole(number: float) -> float | int:
    return int(number) if float(number).is_integer() else number

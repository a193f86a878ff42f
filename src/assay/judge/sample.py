# SPDX-License-Identifier: Apache-2.0
"""Which items were drawn for judging: by which seed, from which frame, knowing what before.

An estimate for the whole set is only as good as the draw. What somebody happened to judge says
nothing about the rest; a draw that is recorded can be made again and checked.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from assay.core.errors import UsageError
from assay.judge.records import append_record, read_records

SAMPLES = "samples.jsonl"


class Sample(msgspec.Struct, frozen=True, kw_only=True):
    """A draw of `size` units from a frame of `population` units.

    `frame` is a digest of the ids of all units in their order and of what is to be judged of
    them; `drawn` are the ids that came out, in the order of the draw; `known` are those whose
    verdict was known before the draw. A draw among the `differing` ones takes for known all units
    on which two systems predict the same.
    """

    name: str
    seed: int
    size: int
    population: int
    frame: str
    drawn: tuple[str, ...]
    known: tuple[str, ...] = ()
    differing: bool = False
    time: str = ""


def frame_digest(units: Iterable[str]) -> str:
    """Digest of all ids in their order: equal for two frames exactly if they are the same."""
    digest = hashlib.sha256()
    for unit in units:
        data = unit.encode("utf-8", "surrogatepass")
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def draw_order(n: int, seed: int) -> list[int]:
    """All positions in the order of the draw: `random.seed(seed)`, then `random.shuffle`.

    >>> draw_order(549, 100)[:5]
    [214, 123, 8, 393, 72]
    """
    order = list(range(n))
    random.Random(seed).shuffle(order)
    return order


def draw(
    units: Sequence[str],
    *,
    seed: int,
    size: int,
    known: Iterable[str] = (),
    content: str = "",
    differing: bool = False,
    time: str = "",
) -> Sample:
    """Draw `size` units that are not known yet; all of them if there are no more.

    `content` stands for what is to be judged of the units.
    """
    if size < 1:
        raise UsageError(f"--sample {size} must be 1 or more")
    if len(set(units)) != len(units):
        raise UsageError("ids repeat; a sample can be drawn only where each item has its own id")
    before = set(known)
    order = [units[i] for i in draw_order(len(units), seed) if units[i] not in before]
    frame = frame_digest([content, *units])
    kept = tuple(unit for unit in units if unit in before)
    mark = frame_digest([frame, str(seed), str(size), str(differing), *kept])[:8]
    return Sample(
        name=f"seed{seed}-n{size}-{mark}",
        seed=seed,
        size=size,
        population=len(units),
        frame=frame,
        drawn=tuple(order[:size]),
        known=kept,
        differing=differing,
        time=time,
    )


def check(sample: Sample, units: Sequence[str], content: str = "") -> None:
    """Raise unless this sample is what its seed draws from these units."""
    if sample.frame != frame_digest([content, *units]):
        raise UsageError(
            f"the sample '{sample.name}' was drawn from another set of items (then "
            f"{sample.population:,}, now {len(units):,}; ids or predictions differ); draw a new "
            "one with --sample"
        )
    again = draw(units, seed=sample.seed, size=sample.size, known=sample.known)
    if again.drawn != sample.drawn:
        raise UsageError(
            f"the sample '{sample.name}' is not what seed {sample.seed} draws; without a true "
            "random draw nothing can be said about the rest"
        )


_decoder = msgspec.json.Decoder(Sample)


def read_samples(folder: Path) -> list[Sample]:
    """The draws recorded in a folder of verdicts, oldest first.

    A file that was merged from two machines need not be in the order of time, and both may have
    made the same draw, with other verdicts known before it; then the first one counts.
    """
    found = sorted(read_records(folder / SAMPLES, _decoder, "a sample"), key=lambda s: s.time)
    first: dict[tuple[int, int, str, bool], Sample] = {}
    for sample in found:
        first.setdefault((sample.seed, sample.size, sample.frame, sample.differing), sample)
    return list(first.values())


def record(folder: Path, sample: Sample) -> None:
    """Keep a draw beside the verdicts, before anybody is asked anything."""
    append_record(folder / SAMPLES, msgspec.json.encode(sample))

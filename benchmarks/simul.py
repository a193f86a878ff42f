# SPDX-License-Identifier: Apache-2.0
"""Latency of a log from file to score, and the division of a long recording among segments.

The peers are the formulas as they are published, written as loops over one instance at a time,
which is how the tools that this replaces compute them; both sides read the same file. The tools
themselves are held against ours in `simul_tools`, where they are installed.
"""

from __future__ import annotations

import json
import random
from functools import partial
from pathlib import Path

from benchmarks.harness import DATA, Case, Work

METRICS = ("LAAL", "AL@simuleval", "AP", "DAL")


def log_of(n: int) -> Path:
    """A made-up `instances.log` of speech: some 18 words a sentence, chunks of 640 ms."""
    path = DATA / f"simul-{n}" / "instances.log"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = random.Random(7)
    words = ["".join(rng.choices("abcdefghiklmnoprstu", k=rng.randint(2, 9))) for _ in range(4000)]
    with path.open("w", encoding="utf-8") as file:
        for index in range(n):
            reference = rng.choices(words, k=rng.randint(4, 32))
            prediction = [w for w in reference if rng.random() < 0.9] or reference[:1]
            length = float(400 * len(reference) + rng.randint(0, 500))
            delays: list[float] = []
            for place in range(len(prediction)):
                at = min(length, 640.0 * (1 + int(place * length / len(prediction) / 640 + 1.5)))
                delays.append(max(at, delays[-1] if delays else 0.0))
            line = {
                "index": index,
                "prediction": " ".join(prediction),
                "delays": delays,
                "elapsed": [d + 12.5 * (i + 1) for i, d in enumerate(delays)],
                "prediction_length": len(prediction),
                "reference": " ".join(reference),
                "source": [f"{index}.wav"],
                "source_length": length,
            }
            file.write(json.dumps(line) + "\n")
    (path.parent / "config.yaml").write_text("source_type: speech\ntarget_type: text\n")
    return path


def ours(n: int) -> Work:
    """The log through the whole pipeline, without intervals, which the peer does not have."""
    from assay import evaluate

    path = log_of(n)
    evaluate("simul", log_of(100), metrics=METRICS, ci=0, keep=False)

    def work() -> list[float]:
        result = evaluate("simul", path, metrics=METRICS, ci=0, keep=False)
        return [result.scores[name] for name in METRICS]

    return work


class _Instance:
    def __init__(self, line: str) -> None:
        data = json.loads(line)
        self.delays: list[float] = data["delays"]
        self.source_length: float = data["source_length"]
        self.reference_length = len(data["reference"].split(" "))


def peer(n: int) -> Work:
    """One instance after the other, metric by metric."""
    path = log_of(n)

    def work() -> list[float]:
        with path.open(encoding="utf-8") as file:
            held = [_Instance(line) for line in file]
        scorers = (_laal, _al, _ap, _dal)
        return [sum(scorer(one) for one in held) / len(held) for scorer in scorers]

    return work


def _lagging(one: _Instance, length: int) -> float:
    if one.delays[0] > one.source_length:
        return one.delays[0]
    pace = length / one.source_length
    total, counted = 0.0, 0
    for place, delay in enumerate(one.delays):
        total += delay - place / pace
        counted = place + 1
        if delay >= one.source_length:
            break
    return total / counted


def _al(one: _Instance) -> float:
    return _lagging(one, one.reference_length)


def _laal(one: _Instance) -> float:
    return _lagging(one, max(one.reference_length, len(one.delays)))


def _ap(one: _Instance) -> float:
    return sum(one.delays) / (one.source_length * one.reference_length)


def _dal(one: _Instance) -> float:
    pace = len(one.delays) / one.source_length
    total, last = 0.0, 0.0
    for place, delay in enumerate(one.delays):
        last = delay if place == 0 else max(delay, last + 1 / pace)
        total += last - place / pace
    return total / len(one.delays)


# -- dividing a recording -----------------------------------------------------------------------


def recording(n: int) -> tuple[list[str], list[list[str]]]:
    """The words of an output, and of the reference segments, of a long recording."""
    rng = random.Random(11)
    words = ["".join(rng.choices("etaoinshrdlu", k=rng.randint(2, 10))) for _ in range(5000)]
    reference = [words[min(4999, int(rng.paretovariate(0.7)))] for _ in range(n)]
    output = [
        w if rng.random() < 0.7 else rng.choice(words) for w in reference if rng.random() < 0.95
    ]
    return output, [reference[i : i + 20] for i in range(0, n, 20)]


def our_segments(n: int) -> Work:
    """Our table, a row at a time."""
    from assay.tasks.simul.softsegmenter import segmented

    output, segments = recording(n)
    return lambda: segmented(output, segments)


def peer_segments(n: int) -> Work:
    """The table of the published algorithm, cell by cell."""
    output, segments = recording(n)
    return lambda: _segmented(output, segments)


def _segmented(output: list[str], segments: list[list[str]]) -> list[int]:
    reference = [word for segment in segments for word in segment]
    homes = [number for number, segment in enumerate(segments) for _ in segment]
    letters = {word: frozenset(word) for word in {*output, *reference}}
    best = [[0.0] * (len(output) + 1)]
    back: list[list[int]] = [[2] * (len(output) + 1)]
    for word in reference:
        above, row, steps = best[-1], [0.0], [1]
        mine = letters[word]
        for column, other in enumerate(output, start=1):
            theirs = letters[other]
            match = above[column - 1] + len(mine & theirs) / len(mine | theirs)
            highest = max(match, above[column], row[column - 1])
            row.append(highest)
            steps.append(0 if match == highest else 1 if above[column] == highest else 2)
        best.append(row)
        back.append(steps)
    pairs: list[tuple[int, int]] = []
    i, j = len(reference), len(output)
    while i > 0 or j > 0:
        step = 1 if j == 0 else 2 if i == 0 else back[i][j]
        pairs.append((i - 1 if step != 2 else -1, j - 1 if step != 1 else -1))
        i, j = i - (step != 2), j - (step != 1)
    pairs.reverse()
    return _walked(pairs, output, reference, homes, letters)


def _walked(
    pairs: list[tuple[int, int]],
    output: list[str],
    reference: list[str],
    homes: list[int],
    letters: dict[str, frozenset[str]],
) -> list[int]:
    def alike(row: int, column: int) -> float:
        a, b = letters[reference[row]], letters[output[column]]
        return len(a & b) / len(a | b)

    found = [0] * len(output)
    last, place = -1, 0
    while place < len(pairs):
        row, column = pairs[place]
        if row >= 0:
            last = row
            if column >= 0:
                found[column] = homes[row]
            place += 1
            continue
        end = place
        while end < len(pairs) and pairs[end][0] < 0:
            end += 1
        following = pairs[end][0] if end < len(pairs) else -1
        behind = alike(following, column) if following >= 0 else float("-inf")
        before = alike(last, column) if last >= 0 else float("-inf")
        if behind > before:
            for _, other in pairs[place:end]:
                found[other] = homes[following]
            place = end
        else:
            found[column] = homes[last]
            place += 1
    return found


CASES = [
    Case(
        "latency of a log, 100,000 streams, 4 metrics",
        "loops per instance",
        ours=partial(ours, 100_000),
        peer=partial(peer, 100_000),
        # Much leaner than SimulEval's own loops, for which the mark is 9x: see `simul_tools`.
        must=2.5,
        memory=90,
    ),
    Case(
        "dividing a recording of 2,000 words",
        "loops per cell",
        ours=partial(our_segments, 2_000),
        peer=partial(peer_segments, 2_000),
        must=15,
        memory=120,
        peer_rounds=1,
    ),
]

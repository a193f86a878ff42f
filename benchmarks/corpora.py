# SPDX-License-Identifier: Apache-2.0
"""Made-up parallel text for the benchmarks of text metrics: Zipfian words, noisy predictions."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.harness import DATA

VOCABULARY = 40_000
LETTERS = {
    # Every character below U+0100: the best case of kernels that pack characters into one word.
    "latin": "eeeeeaaaaiiiooouunnnnrrrrsssstttllddmmccgghhbbffkkppvvwzyjxqéüößñç",
    "cyrillic": "оооооеееееаааааииинннтттсссррввлллккммддппууяыьгзбчйхжшюцщэфъ",
    "chinese": "".join(chr(c) for c in range(0x4E00, 0x4E00 + 1_500)),
}


class Corpus(NamedTuple):
    """Two files of lines that belong together."""

    predictions: Path
    gold: Path


def corpus(n_lines: int, script: str = "latin") -> Corpus:
    """Lines of 5 to 45 words; predictions are the gold with about one word in four changed.

    All but `latin` also quote one word per line in typographic quotation marks.
    """
    stem = f"text-{script}-{n_lines}"
    found = Corpus(DATA / f"{stem}.predictions.txt", DATA / f"{stem}.gold.txt")
    if not (found.predictions.exists() and found.gold.exists()):
        _write(found, n_lines, script)
    return found


def lines_of(path: Path) -> list[str]:
    """The lines of a file, without their ends."""
    return path.read_text(encoding="utf-8").split("\n")[:-1]


def _write(where: Corpus, n_lines: int, script: str) -> None:
    """Line by line: the process that writes is the one whose memory is measured."""
    rng = np.random.default_rng(20_240)
    letters = np.array(list(LETTERS[script]))
    mean = 2.0 if script == "chinese" else 5.5
    words = [
        "".join(rng.choice(letters, size))
        for size in np.clip(rng.poisson(mean, VOCABULARY), 1, 20).tolist()
    ]
    shares = np.cumsum(1 / np.arange(3, VOCABULARY + 3))
    DATA.mkdir(exist_ok=True)
    made = Corpus(*(path.with_suffix(".part") for path in where))
    with (
        made.predictions.open("w", encoding="utf-8") as left,
        made.gold.open("w", encoding="utf-8") as right,
    ):
        for size in rng.integers(5, 46, n_lines).tolist():
            drawn = np.searchsorted(shares, rng.random(size) * shares[-1])
            line = [words[i] for i in drawn.tolist()]
            line[0] = line[0].capitalize()
            if script != "latin":
                line[-1] = f"“{line[-1]}”"
            if size > 12:
                line[size // 2] += ","
                line[size // 3] = f"{rng.integers(1, 9999):,}"
            left.write(" ".join(_noisy(line, words, rng)) + ".\n")
            right.write(" ".join(line) + ".\n")
    for part, path in zip(made, where, strict=True):
        part.replace(path)


def _noisy(line: list[str], words: list[str], rng: np.random.Generator) -> list[str]:
    chance, other = rng.random(len(line)), rng.integers(0, 2_000, len(line)).tolist()
    changed: list[str] = []
    for word, luck, instead in zip(line, chance.tolist(), other, strict=True):
        if luck < 0.12:
            changed.append(words[instead])
        elif luck < 0.17:
            changed += [word, words[instead]]
        elif luck > 0.23:
            changed.append(word)
    return changed or line[:1]

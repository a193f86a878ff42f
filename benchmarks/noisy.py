# SPDX-License-Identifier: Apache-2.0
"""Made-up gold lines and noisy copies of them, for the benchmarks of edits."""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import DATA


class Files(NamedTuple):
    """Two files of lines."""

    predictions: Path
    gold: Path


def files(n_lines: int, errors: float = 1.0) -> Files:
    """Write the files of this size, unless they are there.

    With `errors` 1 about one word in six is dropped, replaced or doubled; with 3, one in two.
    """
    name = f"noisy-{n_lines}-{errors:g}"
    found = Files(DATA / f"{name}.predictions.txt", DATA / f"{name}.gold.txt")
    if not all(path.exists() for path in found):
        rng = random.Random(7)
        pairs = [_pair(rng, errors) for _ in range(n_lines)]
        DATA.mkdir(exist_ok=True)
        for side, path in enumerate(found):
            path.write_text("".join(f"{pair[side]}\n" for pair in pairs), encoding="utf-8")
    return found


def lines(path: Path) -> list[str]:
    """The lines of a file, as the peers want them."""
    return path.read_text(encoding="utf-8").splitlines()


_WORDS = 20_000
_WEIGHTS = [1 / (rank + 3) for rank in range(_WORDS)]


@cache
def _known() -> list[str]:
    """Made-up words; frequent ones are short."""
    rng = random.Random(1)
    known: dict[str, None] = {}
    while len(known) < _WORDS:
        size = 1 + len(known).bit_length() // 2 + rng.randrange(4)
        known["".join(rng.choices("etaoinshrdlcumwfgypbvk", k=size))] = None
    return list(known)


def _pair(rng: random.Random, errors: float) -> tuple[str, str]:
    """About 24 words with errors, and up to two phrases moved."""
    known = _known()
    size = min(90, max(3, round(rng.gauss(24, 10))))
    gold = rng.choices(known, _WEIGHTS, k=size)
    said: list[str] = []
    for word in gold:
        chance = rng.random() / errors
        if chance < 0.05:
            continue
        said.append(rng.choices(known, _WEIGHTS)[0] if chance < 0.13 else word)
        if 0.13 <= chance < 0.17:
            said.append(rng.choices(known, _WEIGHTS)[0])
    for _ in range(rng.randrange(3)):
        at, length = rng.randrange(len(said) + 1), rng.randint(1, 4)
        phrase = said[at : at + length]
        del said[at : at + length]
        to = rng.randrange(len(said) + 1)
        said[to:to] = phrase
    return " ".join(said), " ".join(gold)

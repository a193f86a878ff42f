# SPDX-License-Identifier: Apache-2.0
"""Task `code` against the rules in plain Python and nltk: files to scores, and intervals."""

from __future__ import annotations

import random
from bisect import bisect_left
from collections.abc import Callable, Iterator
from functools import partial
from itertools import accumulate
from pathlib import Path

from benchmarks import plur
from benchmarks.harness import DATA, Case, Work

NAMES, COMMENTS = 1_000_000, 100_000
RESAMPLES = 1_000


def words(rng: random.Random, n: int) -> Callable[[], str]:
    """Draws made-up words, few of them often and most of them seldom."""
    known = ["".join(rng.choices("abcdefghijklmnoprstuvw", k=rng.randint(2, 9))) for _ in range(n)]
    heights = list(accumulate(1 / (rank + 1) for rank in range(n)))
    return lambda: known[bisect_left(heights, rng.random() * heights[-1])]


def noisy(rng: random.Random, tokens: list[str], word: Callable[[], str], rate: float) -> list[str]:
    """A copy with some tokens changed, left out or doubled."""
    found: list[str] = []
    for token in tokens:
        dice = rng.random()
        if dice < rate:
            found.append(word())
        elif dice < 1.5 * rate:
            continue
        else:
            found += [token, token] if dice < 1.7 * rate else [token]
    return found or ["<OOV>"]


def names(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Method names of one to eight words."""
    word = words(rng, 20_000)
    while True:
        gold = [word() for _ in range(min(8, 1 + int(rng.expovariate(0.4))))]
        yield " ".join(noisy(rng, gold, word, 0.3)), " ".join(gold)


def comments(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Comments of about eleven words."""
    word = words(rng, 20_000)
    while True:
        gold = [word() for _ in range(rng.randint(3, 20))]
        yield " ".join(noisy(rng, gold, word, 0.25)), " ".join(gold)


def code_lines(rng: random.Random) -> Iterator[tuple[str, str]]:
    """Lines of code with calls, quotes and camel case."""
    word = words(rng, 5_000)

    def piece() -> str:
        dice = rng.random()
        if dice < 0.2:
            return f"{word()}.{word()}{word().title()}("
        return rng.choice([word(), word(), f"'{word()}'", ")", "=", ",", "self.", "[0]", "+="])

    while True:
        gold = [piece() for _ in range(rng.randint(4, 20))]
        yield " ".join(noisy(rng, gold, piece, 0.2)), " ".join(gold)


def files(kind: Callable[[random.Random], Iterator[tuple[str, str]]], n: int) -> tuple[Path, Path]:
    """Predictions and gold of this kind, written on first use."""
    folder = DATA / f"code-{kind.__name__}-{n}"
    if not folder.exists():
        aside = folder.with_suffix(".part")
        aside.mkdir(parents=True, exist_ok=True)
        pairs = kind(random.Random(20))
        with (aside / "predictions.txt").open("w") as left, (aside / "gold.txt").open("w") as right:
            for _ in range(n):
                prediction, gold = next(pairs)
                left.write(prediction + "\n")
                right.write(gold + "\n")
        aside.rename(folder)
    return folder / "predictions.txt", folder / "gold.txt"


Kind = Callable[[random.Random], Iterator[tuple[str, str]]]


def ours(kind: Kind, n: int, dataset: str, keys: tuple[str, ...]) -> Work:
    """Files to scores by Assay."""
    from assay.pipeline.evaluate import evaluate

    predictions, gold = files(kind, n)

    def work() -> dict[str, float]:
        found = evaluate("code", predictions, gold, dataset_name=dataset, ci=0, keep=False).scores
        return {key: found[key] for key in keys}

    return work


def peer(kind: Kind, n: int, score: Callable[..., plur.Scores]) -> Work:
    """Files to scores by the plain rules."""
    predictions, gold = files(kind, n)
    if score is not plur.code2seq and score is not plur.convattn:
        import nltk.translate.bleu_score  # noqa: F401  # its import is not what is measured
    return lambda: score(*plur.read_pairs(str(predictions), str(gold)))


def our_intervals(n: int) -> Work:
    """Rows once, then PLUR's resamples of them."""
    from assay.pipeline.evaluate import evaluate
    from assay.tasks.code.intervals import LEVELS, plur_table

    predictions, gold = files(names, n)

    def work() -> object:
        result = evaluate("code", predictions, gold, dataset_name="code2seq", ci=0)
        assert result.rows is not None
        found = plur_table(
            result.layout.metrics, result.rows, percents=LEVELS, resamples=RESAMPLES, seed=42
        )
        return {side: found[side] for side in ("lower", "upper")}

    return work


def their_intervals(n: int) -> Work:
    """Every resample scored from its texts."""
    predictions, gold = files(names, n)

    def work() -> object:
        beams, targets = plur.read_pairs(str(predictions), str(gold))
        return plur.resampled(plur.code2seq, beams, targets, RESAMPLES)

    return work


PRF = ("precision", "recall", "f1_score")
BLEU = ("bleu_1", "bleu_2", "bleu_3", "bleu_4")
COMPLETION = ("average_expected_successive_tokens", "average_max_successive_tokens", "bleu")

CASES = [
    Case(
        "code2seq, 1,000,000 names",
        "plain rules",
        ours=partial(ours, names, NAMES, "code2seq", PRF),
        peer=partial(peer, names, NAMES, plur.code2seq),
        must=7,
        memory=130,
    ),
    Case(
        "convattn, 1,000,000 names",
        "plain rules",
        ours=partial(ours, names, NAMES, "convattn", (*PRF, "exact_match_percentage")),
        peer=partial(peer, names, NAMES, plur.convattn),
        must=8,
        memory=130,
    ),
    Case(
        "funcom, 100,000 comments",
        "plain rules and nltk",
        ours=partial(ours, comments, COMMENTS, "funcom", BLEU),
        peer=partial(peer, comments, COMMENTS, plur.funcom),
        must=35,
        memory=110,
        peer_rounds=1,
    ),
    Case(
        "funcom, 100,000 comments ",
        "one call of nltk",
        ours=partial(ours, comments, COMMENTS, "funcom", BLEU),
        peer=partial(peer, comments, COMMENTS, plur.funcom_in_one_call),
        must=14,
        memory=110,
        peer_rounds=1,
    ),
    Case(
        "retrieve_and_edit, 100,000 lines",
        "plain rules and nltk",
        ours=partial(ours, code_lines, COMMENTS, "retrieve_and_edit", COMPLETION),
        peer=partial(peer, code_lines, COMMENTS, plur.retrieve_and_edit),
        must=24,
        memory=110,
        peer_rounds=1,
    ),
    *(
        Case(
            f"code2seq intervals, {n:,} names x 1,000",
            "plain rules",
            ours=partial(our_intervals, n),
            peer=partial(their_intervals, n),
            must=100,
            memory=60,
            peer_rounds=1,
        )
        for n in (2_000, 3_000)
    ),
]

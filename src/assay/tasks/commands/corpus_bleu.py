# SPDX-License-Identifier: Apache-2.0
"""BLEU of first predictions over the tokens of commands, flags in one order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, get_args

import numpy as np

from assay.core.batch import Pair
from assay.core.metric import PairMetric, Score, Totals, Value
from assay.core.names import unknown
from assay.tasks.commands.forms import Mode, Printer, form
from assay.tasks.commands.tree import Argument, Command, Flag, Nested, Sign

ORDER = 4
SMALL = 0.1


@dataclass(frozen=True)
class CorpusBleu(PairMetric):
    """BLEU of all first predictions together; tokens are utilities, flags and values.

    From 0 to 1, more is better, 0 where no token matches. Flags and arguments of each utility are
    sorted by their text first, so that their order does not count. An order without match counts as
    0.1 matches; with fewer than four predicted tokens in all, only so many orders count. A command
    that cannot be parsed has its blank-separated words as tokens. Source: Lin et al. 2018, NL2Bash,
    with the arithmetic of nltk's `corpus_bleu` (smoothing 1, orders reweighed).

    >>> CorpusBleu().score([(["ls -la x"], ["ls -a -l x"])])
    {'corpus_token_bleu_top1': 1.0}
    """

    match: str = "strict"

    name: ClassVar[str] = "corpus_bleu"
    scores: ClassVar[tuple[Score, ...]] = (Score("corpus_token_bleu_top1"),)
    columns = (
        *(f"matched_{n}" for n in range(1, ORDER + 1)),
        *(f"predicted_{n}" for n in range(1, ORDER + 1)),
        "predicted_tokens",
        "gold_tokens",
    )
    perfect: ClassVar[bool] = False  # a corpus of two-token commands has no 3-grams

    def __post_init__(self) -> None:
        if self.match not in get_args(Mode):
            raise unknown("way to match", self.match, get_args(Mode))

    def measure_pair(self, pair: Pair) -> tuple[float, ...]:
        own = sorted_tokens(pair.text, self.match) if pair.text.strip() else ()
        gold = [sorted_tokens(text, self.match) for text in pair.references]
        lengths = [len(tokens) for tokens in gold] or [0]
        nearest = min(lengths, key=lambda n: (abs(n - len(own)), n))
        matched, predicted = [], []
        for order in range(1, ORDER + 1):
            most: Counter[tuple[str, ...]] = Counter()
            for tokens in gold:
                most |= _grams(tokens, order)
            grams = _grams(own, order)
            matched.append(sum(min(n, most[gram]) for gram, n in grams.items()))
            # The reference counts at least one n-gram per prediction, however short it is.
            predicted.append(max(1, len(own) - order + 1))
        return *matched, *predicted, len(own), nearest

    def finalise(self, totals: Totals) -> dict[str, Value]:
        values = totals.values
        matched, predicted = values[..., :ORDER], values[..., ORDER : 2 * ORDER]
        length, gold = totals.predicted_tokens, totals.gold_tokens
        # As many orders as there are tokens, at most four.
        orders = np.minimum(np.maximum(length, 1), ORDER)[..., None]
        weights = np.where(np.arange(ORDER) < orders, 1 / orders, 0.0)
        smoothed = np.where(matched == 0, SMALL, matched)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.where(predicted > 0, np.log(smoothed / predicted), 0.0)
            penalty = np.where(length > gold, 1.0, np.exp(1 - gold / length))
        score = penalty * np.exp((weights * logs).sum(axis=-1))
        return {"corpus_token_bleu_top1": np.where(matched[..., 0] > 0, score, 0.0)}


@lru_cache(maxsize=1 << 14)
def sorted_tokens(text: str, mode: str) -> tuple[str, ...]:
    """The tokens of a command with values, what follows each utility sorted by its text.

    >>> sorted_tokens("ls -l -a x | wc -l", "strict")
    ('ls', '-a', '-l', 'x', '|', 'wc', '-l')
    """
    found = form(text, mode)
    return tuple(_Sorted(mode).body(found.body)) if found.parsed else tuple(text.split())


class _Sorted(Printer):
    """Prints a command with what follows its name sorted."""

    def __init__(self, mode: str) -> None:
        super().__init__(values=True, first_only=mode == "nl2bash")

    def command(self, command: Command) -> Iterator[str]:
        yield command.name
        parts = sorted((self._tokens(item) for item in command.items), key=" ".join)
        for tokens in parts:
            yield from tokens

    def _tokens(self, item: Flag | Argument | Sign | Nested) -> list[str]:
        return list(self.item(item))


def _grams(tokens: tuple[str, ...], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tokens[i : i + order] for i in range(len(tokens) - order + 1))

# SPDX-License-Identifier: Apache-2.0
"""BLEU as nltk counts it: of a corpus of comments, and the mean over completed lines.

It differs from the usual BLEU in two places. A line has at least one n-gram of every order, even if
it is shorter, so short lines lower the precision of longer n-grams; and an order without a match
has the smallest normal number as its precision, so the score is a vanishing number and not 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from assay.core.batch import Batch
from assay.core.errors import UsageError
from assay.core.metric import Metric, Rows, Score, Totals, Value
from assay.core.ngrams import Counts, blocks, matches
from assay.core.ngrams import Tokens as Numbered
from assay.core.text import Positions, TextLists, Texts
from assay.core.tokens import framed, joined, lines, numbered, plainly_spaced
from assay.tasks.code.beams import candidates, gold_texts
from assay.tasks.code.shares import share
from assay.tasks.code.tokens import split

ORDER = 4
TINY = float(np.finfo(np.float64).tiny)
"""The precision of an order without a match."""

_BLOCK_BYTES = 1 << 18
_BLOCK_LINES = 1_024


def bleu(matched: Value, counted: Value, predicted: Value, gold: Value) -> Value:
    """BLEU of orders 1 to N, from 0 to 1; orders are the last dimension of all.

    `matched` and `counted` are n-grams found and n-grams there are, by order; `predicted` and
    `gold` are the numbers of tokens. Undefined (NaN) where nothing is counted.

    >>> [round(float(b), 4) for b in bleu(np.array([3, 1]), np.array([4, 3]), 4, 4)]
    [0.75, 0.5]
    """
    # Where nothing was counted everything is 0 / 0; the score is undefined there, not an error.
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        precisions = np.where(matched > 0, np.asarray(matched / counted, dtype=float), TINY)
        logs = np.cumsum(np.log(precisions), axis=-1)
        means = logs / np.arange(1, matched.shape[-1] + 1)
        penalty = np.where(predicted > gold, 1.0, np.exp(1 - gold / np.asarray(predicted)))
    scores = np.asarray(penalty)[..., None] * np.exp(means)
    scores = np.where(matched[..., :1] > 0, scores, 0.0)
    return np.where(counted[..., :1] > 0, scores, np.nan)


def counted_ngrams(lengths: Counts) -> Counts:
    """N-grams of lines of these lengths, by order: at least one of each."""
    found: Counts = np.maximum(lengths[:, None] - np.arange(ORDER), 1)
    return found


@dataclass(frozen=True)
class CommentBleu(Metric):
    """BLEU-1 to BLEU-4 of a corpus of comments, tokens split at single spaces.

    From 0 to 100, higher is better; undefined without any line. With `ranks` above 1 the corpus is
    scored once with the first candidates of all lines, once with the second ones and so on, and
    the rank with the best BLEU-4 gives all four numbers (of equal ones the first): the choice is
    made for the whole corpus, and made again in every resample. Source: funcom (LeClair et al.
    2019) as scored by PLUR (Chen et al. 2021) with nltk's `corpus_bleu`, without smoothing.

    >>> found = CommentBleu().score([("returns the name", "returns the full name")])
    >>> round(found["bleu_1"], 4), round(found["bleu_2"], 4)
    (71.6531, 50.6664)
    """

    name: ClassVar[str] = "comment_bleu"
    scores: ClassVar[tuple[Score, ...]] = tuple(
        Score(f"bleu_{n}", high=100.0, unit="%") for n in range(1, ORDER + 1)
    )
    perfect: ClassVar[bool] = False  # comments shorter than four tokens have no long n-grams

    ranks: int = 1

    def __post_init__(self) -> None:
        if self.ranks > 1_000:
            raise UsageError(f"ranks={self.ranks} of comment_bleu must not be above 1,000")

    @property
    def columns(self) -> tuple[str, ...]:
        """Gold tokens, then for each rank predicted tokens, matches and n-grams by order."""
        orders = range(1, ORDER + 1)
        each = (
            *(f"matched_{n}" for n in orders),
            "predicted",
            *(f"counted_{n}" for n in orders if n > 1),
        )
        return "gold", *(f"{column}_at_{k}" for k in range(1, self.ranks + 1) for column in each)

    def measure(self, batch: Batch) -> Rows:
        """Counts of each line at each rank; a line without that candidate has an empty one."""
        gold, beams = gold_texts(batch), candidates(batch)
        rows = np.zeros((len(gold), len(self.columns)))
        at_rank = [_at_rank(beams, rank) for rank in range(self.ranks)]
        sizes = gold.ends - gold.starts
        for start, stop in blocks(sizes, _BLOCK_BYTES, _BLOCK_LINES):
            sides = [column[start:stop] for column in (gold, *at_rank)]
            self._fill(rows[start:stop], sides)
        if batch.missing is not None:
            kept = np.array([not name.startswith("matched") for name in self.columns])
            rows[batch.missing] *= kept
        return rows

    @staticmethod
    def _fill(rows: Rows, sides: list[Texts]) -> None:
        tokens, n = split(*sides), len(rows)
        column = Numbered(tokens.ids(), np.append(tokens.first, len(tokens)))
        gold = column.part(0, n)
        rows[:, 0] = gold.lengths
        for rank in range(1, len(sides)):
            predicted = column.part(rank * n, rank * n + n)
            counted = counted_ngrams(predicted.lengths)  # a line has a token: order 1 is its length
            found = np.concatenate([matches(predicted, gold, ORDER), counted], axis=1)
            start = 1 + (rank - 1) * 2 * ORDER
            rows[:, start : start + 2 * ORDER] = found

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The four numbers of the best rank."""
        values = totals.values
        if self.ranks < 1:
            return {score.name: np.zeros(values.shape[:-1]) for score in self.scores}
        shape = (*values.shape[:-1], self.ranks, 2, ORDER)
        matched, counted = np.moveaxis(values[..., 1:].reshape(shape), -2, 0)
        found = 100 * bleu(matched, counted, counted[..., 0], values[..., :1])
        best = np.argmax(found[..., -1], axis=-1)  # of equal ones the first
        chosen = np.take_along_axis(found, best[..., None, None], axis=-2)[..., 0, :]
        # No rank is better than the four zeros one starts from unless its BLEU-4 is above 0.
        chosen = np.where(chosen[..., -1:] == 0, 0.0, chosen)
        return {score.name: chosen[..., i] for i, score in enumerate(self.scores)}


def _at_rank(beams: TextLists, rank: int) -> Texts:
    """Candidate number `rank` of each line, from 0; an empty text where there are fewer."""
    if rank == 0:
        return beams.firsts()
    has = beams.counts() > rank
    where = np.where(has, beams.splits[:-1] + rank, beams.splits[:-1])
    starts = beams.values.starts[where]
    return Texts(beams.values.data, starts, np.where(has, beams.values.ends[where], starts))


@dataclass(frozen=True)
class CompletionBleu(Metric):
    """BLEU of each line of code by itself, averaged over lines; of several candidates the first.

    From 0 to 100, higher is better; 0 if there are no lines. Every character that is not an ASCII
    letter, digit or underscore is a token, and a word is cut between a small and a capital letter;
    quotes of both kinds are the same. The longest n-gram is the shorter line's length, 4 at most.
    An empty prediction has 100 against empty gold, else 0. Source: retrieve-and-edit (Hashimoto et
    al. 2018) as scored by PLUR (Chen et al. 2021) with nltk's `sentence_bleu`.

    >>> CompletionBleu().score([("x = getName()", "x = getName()"), ("", "y")])
    {'bleu': 50.0}
    """

    name: ClassVar[str] = "completion_bleu"
    columns = ("n", "bleu")
    scores: ClassVar[tuple[Score, ...]] = (Score("bleu", high=100.0, unit="%"),)

    def measure(self, batch: Batch) -> Rows:
        """BLEU of each line, from 0 to 1."""
        predicted, gold = candidates(batch).firsts(), gold_texts(batch)
        rows = np.ones((len(gold), 2))
        sizes = (predicted.ends - predicted.starts) + (gold.ends - gold.starts)
        for start, stop in blocks(sizes, _BLOCK_BYTES, _BLOCK_LINES):
            tokens = code_tokens(joined(predicted[start:stop], gold[start:stop]))
            n = stop - start
            rows[start:stop, 1] = _line_bleu(tokens.part(0, n), tokens.part(n, 2 * n))
        if batch.missing is not None:
            rows[batch.missing, 1] = 0
        return rows

    def finalise(self, totals: Totals) -> Mapping[str, Value]:
        """The mean."""
        return {"bleu": 100 * share(totals.bleu, totals.n)}


def _line_bleu(predicted: Numbered, gold: Numbered) -> Value:
    lengths, wanted = predicted.lengths, gold.lengths
    counted = counted_ngrams(lengths)
    every = bleu(
        matches(predicted, gold, ORDER).astype(np.float64),
        counted.astype(np.float64),
        np.maximum(lengths, 1).astype(np.float64),
        wanted.astype(np.float64),
    )
    order = np.clip(np.minimum(lengths, wanted), 1, ORDER)
    found: Value = every[np.arange(len(every)), order - 1]
    return np.where(lengths == 0, (wanted == 0).astype(np.float64), found)


_WIDE = re.compile(r"[^\x00-\x7f]")
_QUOTES = bytes.maketrans(b"\"'", b"``")

_SPACE, _SINGLE, _OTHER, _LOWER, _UPPER = range(5)


def _kind(byte: int) -> int:
    """What a byte is to the tokeniser; beyond ASCII everything is part of a word by then."""
    if byte in (*range(0x09, 0x0E), *range(0x1C, 0x21)):
        return _SPACE
    character = chr(byte)
    if byte >= 0x80 or character.isdigit() or character == "_":
        return _OTHER
    return _SINGLE if not character.isalpha() else _LOWER if character.islower() else _UPPER


_KINDS = bytes(map(_kind, range(256)))


def code_words(text: str) -> list[str]:
    """The tokens of one line of code: the definition.

    >>> code_words('getName("x_1", HTTPServer)')
    ['get', 'Name', '(', '`', 'x_1', '`', ',', 'HTTPServer', ')']
    """
    spaced = re.sub(r"([^A-Za-z0-9_])", r" \1 ", text)
    spaced = re.sub(r"([a-z])([A-Z])", r"\1 \2", spaced)
    return spaced.replace('"', "`").replace("'", "`").split()


def code_tokens(texts: Texts) -> Numbered:
    """`code_words` of each text, numbered.

    >>> code_tokens(Texts.of(["aB", "B"])).ids.tolist()
    [1, 0, 0]
    """
    if not texts.data.isascii():
        # Characters beyond ASCII are tokens each; spaces around them let bytes decide the rest.
        texts = Texts.of(_WIDE.sub(r" \g<0> ", t) if not t.isascii() else t for t in texts)
    data, _ = framed(plainly_spaced(lines(texts).translate(_QUOTES)))
    starts, ends = _code_spans(data)
    return numbered(data, starts, ends, len(texts))


def _code_spans(data: bytes) -> tuple[Positions, Positions]:
    kinds = np.frombuffer(data.translate(_KINDS), dtype=np.uint8)
    apart = kinds <= _SINGLE
    edge = apart[1:] | apart[:-1]
    edge |= (kinds[:-1] == _LOWER) & (kinds[1:] == _UPPER)
    solid = kinds != _SPACE
    return np.flatnonzero(edge & solid[1:]) + 1, np.flatnonzero(edge & solid[:-1]) + 1

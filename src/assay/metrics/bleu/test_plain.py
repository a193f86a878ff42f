# SPDX-License-Identifier: Apache-2.0
"""The plain form against the kernel, and against sacrebleu's own tokeniser."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from assay.core.batch import Batch
from assay.metrics.bleu import Bleu, plain

PIECES = [
    *("the", "cat", "The", "don't", "well-known", "1,000.5", "5-3", "3.", ".5", "..5", "a..5"),
    *("...", "a,b", ",", "(so)", '"so"', "&quot;", "&amp;lt;", "<skipped>", "<b>", "50%", "_x_"),
    *("北京大学", "мама.", "é,", "e\u0301", "٣.٥", "²-", "x\u00a0y", "\u3000", "\x1c", "-", "--"),
]
line = st.lists(st.sampled_from(PIECES), max_size=12).map(" ".join)
text = st.one_of(line, st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
one_line = text.map(lambda drawn: drawn.replace("\n", " "))


def test_it_is_the_metric_by_default() -> None:
    assert Bleu().signature == plain.SIGNATURE
    assert Bleu().max_order == plain.ORDER


@given(one_line)
def test_words_are_those_of_sacrebleu(drawn: str) -> None:
    assert plain.words(drawn) == BLEU().tokenizer(drawn.rstrip()).split()


@given(one_line, st.lists(one_line, min_size=1, max_size=3))
def test_rows_are_those_of_the_kernel(prediction: str, references: list[str]) -> None:
    (row,) = Bleu().measure(Batch([prediction], [references]))
    assert plain.row(prediction, references) == row.tolist()


@given(st.lists(st.tuples(one_line, one_line), min_size=1, max_size=6))
def test_scores_are_those_of_the_metric(pairs: list[tuple[str, str]]) -> None:
    found = plain.score([plain.row(prediction, [gold]) for prediction, gold in pairs])
    assert found == pytest.approx(Bleu().score(pairs)["bleu"], abs=1e-11)

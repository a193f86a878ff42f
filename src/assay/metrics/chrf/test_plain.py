# SPDX-License-Identifier: Apache-2.0
"""The plain form against the kernel, row by row and score by score."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from assay.core.batch import Batch
from assay.metrics.chrf import Chrf, plain

PIECES = [
    *("the", "cat", "The", "don't", "1,000.5", "...", "北京大学", "мама.", "e\u0301", "x\u00a0y"),
    *(" ", " ", " ", "\t", "\u3000", "\x1c", "\u200b", "aaaaaaa", "\0", "😀"),
]
line = st.lists(st.sampled_from(PIECES), max_size=12).map("".join)
drawn = st.one_of(line, st.text(st.characters(exclude_categories=["Cs"]), max_size=20))


def test_it_is_the_metric_by_default() -> None:
    metric = Chrf()
    assert metric.signature == plain.SIGNATURE
    assert (metric.char_order, metric.beta**2) == (plain.ORDER, plain.WEIGHT)


@given(drawn, st.lists(drawn, min_size=1, max_size=3))
def test_rows_are_those_of_the_kernel(prediction: str, references: list[str]) -> None:
    (row,) = Chrf().measure(Batch([prediction], [references]))
    assert plain.row(prediction, references) == row.tolist()


@given(st.lists(st.tuples(drawn, drawn), min_size=1, max_size=6))
def test_scores_are_those_of_the_metric(pairs: list[tuple[str, str]]) -> None:
    found = plain.score([plain.row(prediction, [gold]) for prediction, gold in pairs])
    assert found == Chrf().score(pairs)["chrf"]

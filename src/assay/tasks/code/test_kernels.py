# SPDX-License-Identifier: Apache-2.0
"""What is counted for many lines at once is what the definitions count for one pair."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.batch import Batch
from assay.core.text import Texts
from assay.tasks.code import tokens as tokens_module
from assay.tasks.code.beams import same_text
from assay.tasks.code.bleu import code_tokens, code_words
from assay.tasks.code.hits import ranks
from assay.tasks.code.inputs import beams
from assay.tasks.code.names import AVERAGED_RULES, POOLED_RULES
from assay.tasks.code.overlap import Rule, overlap_of, overlaps
from assay.tasks.code.runs import run_of, runs
from assay.tasks.code.tokens import split

# Tokens that share their first eight or sixteen bytes, are cut inside a character, hold a NUL.
WORDS = (
    *("a", "b", "A", "get", "name", "", "<OOV>", "<pad>", "<UNK>", "</S>", "é", "Σ", "ΑΣ", "İ"),
    *("x" * 7, "x" * 8, "x" * 9, "x" * 16, "x" * 17, "x" * 17 + "y", "x" * 80, "x" * 80 + "z"),
    *("x" * 7 + "é", "a\0", "a\0\0", "\ufeffa", "北京大学北京大学"),
)
LINES = st.lists(st.sampled_from(WORDS), max_size=20).map(" ".join)
RULES = {
    **POOLED_RULES,
    **{f"averaged {k}": rule for k, rule in AVERAGED_RULES.items()},
    "none": Rule(),
}


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(LINES, LINES), max_size=12))
def test_overlaps(rule: Rule, pairs: list[tuple[str, str]]) -> None:
    left, right = Texts.of(p for p, _ in pairs), Texts.of(g for _, g in pairs)
    found = overlaps(left, right, np.arange(len(pairs)), rule)
    wanted = [overlap_of(p, g, rule) for p, g in pairs]
    assert list(zip(*(column.tolist() for column in found), strict=True)) == wanted


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(LINES, LINES), max_size=12))
def test_runs(pairs: list[tuple[str, str]]) -> None:
    left, right = Texts.of(p for p, _ in pairs), Texts.of(g for _, g in pairs)
    found = runs(left, right, np.arange(len(pairs)))
    wanted = [run_of(p, g) for p, g in pairs]
    assert found.expected.tolist() == [run.expected for run in wanted]
    assert found.longest.tolist() == [run.longest for run in wanted]


@settings(max_examples=60, deadline=None)
@given(st.lists(LINES, max_size=12))
def test_ids_are_equal_where_tokens_are(lines: list[str]) -> None:
    found = split(Texts.of(lines))
    assert [found.bytes_of(i).decode() for i in range(len(found))] == [
        token for line in lines for token in line.split(" ")
    ]
    ids = found.ids().tolist()
    known = {i: found.bytes_of(t) for t, i in enumerate(ids)}
    assert all(known[i] == found.bytes_of(t) for t, i in enumerate(ids))
    assert len(known) == len({found.bytes_of(t) for t in range(len(found))})


@pytest.fixture
def weak_hash(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every hash is the same: whatever relies on hashes alone goes wrong."""
    monkeypatch.setattr(tokens_module, "_mixed", lambda found, more: np.zeros_like(found))


def test_tokens_of_equal_hash_are_told_apart(weak_hash: None) -> None:
    prediction = f"{'x' * 17}a {'y' * 12} {'x' * 80}z get"
    gold = f"{'x' * 17}b {'y' * 11}z {'x' * 80}y get"
    rule = Rule()
    found = overlaps(Texts.of([prediction]), Texts.of([gold]), np.arange(1), rule)
    assert (
        [int(column[0]) for column in found]
        == list(overlap_of(prediction, gold, rule))
        == [1, 3, 3]
    )
    assert runs(Texts.of([prediction]), Texts.of([gold]), np.arange(1)).longest.tolist() == [1]


CODE = st.text(alphabet="aZz_0 \t'\"()é\u00a0\u2028\x1c.", max_size=25)


@settings(max_examples=100, deadline=None)
@given(st.lists(CODE, max_size=6))
def test_code_tokens(lines: list[str]) -> None:
    found = code_tokens(Texts.of(line.replace("\n", " ") for line in lines))
    words = [word for line in lines for word in code_words(line)]
    assert found.lengths.tolist() == [len(code_words(line)) for line in lines]
    numbers = dict(zip(words, found.ids.tolist(), strict=True))
    assert [numbers[word] for word in words] == found.ids.tolist()
    assert len(set(numbers.values())) == len(numbers)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(LINES, LINES), max_size=8))
def test_same_text(pairs: list[tuple[str, str]]) -> None:
    pairs = [*pairs, ("x" * 400 + "a", "x" * 400 + "b"), ("x" * 400, "x" * 400)]
    found = same_text(Texts.of(p for p, _ in pairs), Texts.of(g for _, g in pairs))
    assert found.tolist() == [p == g for p, g in pairs]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="ab\té", max_size=8), min_size=1, max_size=8))
def test_beams(lines: list[str]) -> None:
    found = [list(candidates) for candidates in beams(Texts.of(lines))]
    assert found == [line.split("\t") for line in lines]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.lists(LINES, min_size=1, max_size=4), LINES), max_size=6))
def test_ranks(pairs: list[tuple[list[str], str]]) -> None:
    found = ranks(Batch([p for p, _ in pairs], [g for _, g in pairs]))
    assert found.tolist() == [p.index(g) + 1 if g in p else 0 for p, g in pairs]

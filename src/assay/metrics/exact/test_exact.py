# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.batch import Batch
from assay.core.errors import UsageError
from assay.core.metric import build
from assay.metrics.exact import Exact

CASES = [
    # name                          prediction  gold             plain  lowercase  strip
    ("right", "yes", "yes", 1, 1, 1),
    ("wrong, same length", "yes", "yet", 0, 0, 0),
    ("wrong, other length", "yes", "ye", 0, 0, 0),
    ("case", "YES", "yes", 0, 1, 0),
    ("case outside ASCII", "ÉTÉ", "été", 0, 1, 0),
    # "İ".lower() is two characters: lengths change with the case.
    ("case changes the length", "İ", "i\u0307", 0, 1, 0),
    ("space at the end", "yes ", "yes", 0, 0, 1),
    ("no-break space at the end", "yes\u00a0", "yes", 0, 0, 1),
    ("space inside", "y es", "y  es", 0, 0, 0),
    ("composed and combined", "é", "e\u0301", 0, 0, 0),
    ("both empty", "", "", 1, 1, 1),
    ("empty prediction", "", "yes", 0, 0, 0),
    ("the second reference", "b", ["a", "b"], 1, 1, 1),
    ("several that are right", "b", ["b", "b", "a"], 1, 1, 1),
    ("none of several", "b", ["a", "c"], 0, 0, 0),
    ("no reference", "", [], 0, 0, 0),
    ("line feed in the text", "a\nb", "a\nb", 1, 1, 1),
    ("NUL", "a\x00", "a", 0, 0, 0),
    ("lone surrogate", "\ud800", "\ud800", 1, 1, 1),
]


@pytest.mark.parametrize(
    ("name", "prediction", "gold", "plain", "lowercase", "strip"), CASES, ids=[c[0] for c in CASES]
)
def test_cases(
    name: str, prediction: str, gold: str | list[str], plain: int, lowercase: int, strip: int
) -> None:
    found = [
        metric.score([(prediction, gold)])["exact"]
        for metric in (Exact(), Exact(lowercase=True), Exact(strip=True))
    ]
    assert found == [plain, lowercase, strip]


def test_both_options_together() -> None:
    assert Exact(lowercase=True, strip=True).score([(" YES\t", "yes")]) == {"exact": 1.0}


SQUAD = [
    # name                      prediction        gold              squad
    ("articles and case", "The cat", "a Cat", 1),
    ("punctuation", "U.S.A", "USA.", 1),
    ("spaces inside", "two  words", "two words", 1),
    ("another word", "the cat", "the dog", 0),
    ("accents stay", "été", "ete", 0),
    ("nothing left on both sides", "the", "!", 1),
    ("the second of several", "Paris.", ["Lyon", "the Paris"], 1),
]


@pytest.mark.parametrize(("name", "prediction", "gold", "squad"), SQUAD, ids=[c[0] for c in SQUAD])
def test_squad(name: str, prediction: str, gold: str | list[str], squad: int) -> None:
    metric = build("squad_exact", [Exact])
    assert metric.text == "exact(normalize=squad)"
    assert metric.score([(prediction, gold)]) == {"exact": squad}


def test_missing_is_wrong_even_where_the_gold_is_empty() -> None:
    batch = Batch(["", "", "a"], ["", "", "a"], missing=np.array([True, False, False]))
    assert Exact().measure(batch).tolist() == [[0, 1], [1, 1], [1, 1]]


def test_no_examples_is_undefined() -> None:
    assert Exact().score([]) == pytest.approx({"exact": nan}, nan_ok=True)


def test_unknown_parameter() -> None:
    with pytest.raises(UsageError, match="did you mean 'lowercase'"):
        Exact.from_parameters({"lowercased": "yes"})
    with pytest.raises(UsageError, match="did you mean 'squad'"):
        Exact.from_parameters({"normalize": "squat"})


texts = st.text("aAé \n", max_size=3)


@given(
    st.lists(st.tuples(texts, st.lists(texts, max_size=3)), max_size=6),
    st.booleans(),
    st.booleans(),
)
def test_equals_the_definition(
    examples: list[tuple[str, list[str]]], lowercase: bool, strip: bool
) -> None:
    def normal(text: str) -> str:
        text = text.strip() if strip else text
        return text.lower() if lowercase else text

    batch = Batch([p for p, _ in examples], [g for _, g in examples])
    packed = Batch(batch.texts(), batch.references()).part(1, len(examples))
    rows = Exact(lowercase=lowercase, strip=strip).measure(packed)
    wanted = [normal(p) in {normal(g) for g in gold} for p, gold in examples[1:]]
    assert rows[:, 0].tolist() == wanted

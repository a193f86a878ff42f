# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from math import nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.batch import Batch, Pair
from assay.core.errors import UsageError
from assay.core.metric import build
from assay.core.text import Texts
from assay.metrics.overlap import TokenF1, tokens
from assay.metrics.overlap.tokens import overlaps

CASES = [
    # name                      predicted  gold       precision  recall  f1
    ("all right", "a b", "b a", 1.0, 1.0, 1.0),
    ("half right, all found", "a b", "a", 0.5, 1.0, 2 / 3),
    ("nothing right", "a", "b", 0.0, 0.0, 0.0),
    ("nothing predicted", "", "a b", nan, 0.0, 0.0),
    ("nothing to find", "a b", "", 0.0, nan, 0.0),
    ("both empty", "", " ", nan, nan, nan),
    ("repeats count as often as both have them", "a a a b", "a a c", 0.5, 2 / 3, 4 / 7),
    ("case counts", "A", "a", 0.0, 0.0, 0.0),
    ("other scripts", "мама мыла раму", "раму мыла", 2 / 3, 1.0, 0.8),
    ("any white space", "a\u00a0b\u3000c\td", "a b c d", 1.0, 1.0, 1.0),
    ("control characters", "a\x1cb \x00", "b a \x00", 1.0, 1.0, 1.0),
    ("NUL is no padding", "a\x00", "a", 0.0, 0.0, 0.0),
    ("long tokens, last byte", "x" * 70 + "1", "x" * 70 + "2", 0.0, 0.0, 0.0),
    ("long tokens, middle byte", "x" * 65 + "1" + "x" * 9, "x" * 65 + "2" + "x" * 9, 0.0, 0.0, 0.0),
    ("long tokens, equal", "x" * 75, "x" * 75, 1.0, 1.0, 1.0),
]


@pytest.mark.parametrize(
    ("name", "predicted", "gold", "precision", "recall", "f1"), CASES, ids=[c[0] for c in CASES]
)
@pytest.mark.parametrize("average", ["micro", "macro"])
def test_one_example(
    average: str, name: str, predicted: str, gold: str, precision: float, recall: float, f1: float
) -> None:
    found = TokenF1.from_parameters({"average": average}).score([(predicted, gold)])
    if name == "both empty" and average == "macro":
        f1 = 1.0  # an example with the right answer; in a corpus of counts it is not there at all
    wanted = {"token_precision": precision, "token_recall": recall, "token_f1": f1}
    assert found == pytest.approx(wanted, nan_ok=True)


CORPUS = [("a b c d", "a"), ("", "a"), ("b", ""), ("", "")]


def test_micro_divides_the_sums() -> None:
    # 1 right of 5 predicted, of 2 gold.
    wanted = {"token_precision": 1 / 5, "token_recall": 1 / 2, "token_f1": 2 / 7}
    assert TokenF1().score(CORPUS) == pytest.approx(wanted)


def test_macro_means_what_is_defined() -> None:
    # precision 1/4, -, 0, -    recall 1, 0, -, -    F1 2/5, 0, 0, 1
    wanted = {"token_precision": 1 / 8, "token_recall": 1 / 2, "token_f1": 7 / 20}
    assert TokenF1(average="macro").score(CORPUS) == pytest.approx(wanted)


def test_lowercase() -> None:
    assert TokenF1(lowercase=True).score([("The CAT", "the cat")])["token_f1"] == 1
    assert TokenF1(lowercase=True).score([("ÉTÉ İ", "été i\u0307")])["token_f1"] == 1


SQUAD = [
    # name                        prediction        references              F1
    ("articles do not count", "the cat sat", ["A cat sat."], 1.0),
    ("half", "in Paris", ["Paris"], 2 / 3),  # 1 right of 2 and of 1
    ("the best of several", "Norman Normans", ["Normans", "the Norman Normans!"], 1.0),
    ("no answer, rightly", "", [""], 1.0),
    ("no answer, wrongly", "", ["Paris"], 0.0),
    ("an answer where there is none", "Paris", [""], 0.0),
]


def test_squad() -> None:
    metric = build("squad_f1", [TokenF1])
    assert metric.text == "token_f1(average=macro,normalize=squad)"
    for name, prediction, references, f1 in SQUAD:
        found = metric.score([(prediction, references)])["token_f1"]
        assert found == pytest.approx(f1), name
    whole = metric.score([(p, g) for _, p, g, _ in SQUAD])["token_f1"]
    assert whole == pytest.approx(sum(f1 for *_, f1 in SQUAD) / len(SQUAD))


REFERENCES = [
    # name                        prediction  references            right predicted gold
    ("best F1, not most right", "a b", ["a b c d e f", "a"], [1, 2, 1]),  # F1 1/2, 2/3
    ("of equal ones the first", "a b", ["a c", "b d"], [1, 2, 2]),
    ("nothing right takes the first", "a", ["b c", "d"], [0, 1, 2]),
    ("no reference", "a", [], [0, 1, 0]),
    ("nothing said takes the empty one", "", ["a", ""], [0, 0, 0]),
]


@pytest.mark.parametrize(
    ("name", "prediction", "references", "row"), REFERENCES, ids=[c[0] for c in REFERENCES]
)
def test_several_references(
    name: str, prediction: str, references: list[str], row: list[float]
) -> None:
    batch = Batch(["q", prediction, "q"], [["q"], references, ["q", "r", "s"]])
    assert TokenF1().measure(batch)[1].tolist() == row


def test_missing_is_wrong() -> None:
    pairs = [Pair("", ["", "a b"], missing=True), Pair("", "", missing=True), Pair("a", "a")]
    missing = np.array([True, True, False])
    batch = Batch(["", "", "a"], [p.gold for p in pairs], missing=missing)
    assert TokenF1().measure(batch).tolist() == [[0, 0, 2], [0, 1, 0], [1, 1, 1]]
    found = TokenF1(average="macro").score(pairs)
    # F1 0, 0, 1; recall 0, -, 1; precision -, 0, 1.
    wanted = {"token_precision": 1 / 2, "token_recall": 1 / 2, "token_f1": 1 / 3}
    assert found == pytest.approx(wanted)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_no_examples(average: str) -> None:
    metric = TokenF1.from_parameters({"average": average})
    assert metric.measure(Batch([], [])).shape == (0, len(metric.columns))
    assert all(np.isnan(v) for v in metric.score([]).values())


def test_unknown_average_is_refused() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'micro'"):
        TokenF1.from_parameters({"average": "mikro"})
    with pytest.raises(UsageError, match=r"unknown normalize of token_f1 'all'"):
        TokenF1.from_parameters({"normalize": "all"})


# Few letters and two lengths around each border of the kernel (8, 16, 64 bytes).
pieces = st.one_of(
    st.text("ab", max_size=2),
    st.sampled_from(["x" * n + end for n in (6, 7, 8, 14, 15, 16, 62, 63, 64) for end in "yz"]),
    st.sampled_from(["é", "語", "😀", "\ud800", "\x00", "\u200b"]),
)
spaces = st.sampled_from([" ", "  ", "\n", "\t", "\x1f", "\x85", "\u00a0", "\u2028", "\u3000", ""])
texts = st.lists(st.tuples(pieces, spaces).map("".join), max_size=10).map("".join)


def counted(prediction: str, gold: str) -> tuple[int, int, int]:
    said, right = Counter(prediction.split()), Counter(gold.split())
    return (said & right).total(), said.total(), right.total()


@given(st.lists(st.tuples(texts, texts), max_size=6))
def test_equals_counting_one_by_one(pairs: list[tuple[str, str]]) -> None:
    found = overlaps(Texts.of(p for p, _ in pairs), Texts.of(g for _, g in pairs))
    assert list(zip(*(n.tolist() for n in found), strict=True)) == [counted(*p) for p in pairs]


@given(st.lists(st.tuples(texts, texts), max_size=6))
def test_hashes_are_not_trusted(pairs: list[tuple[str, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        # With this multiplier every hash is 0: all tokens of a pair collide.
        patch.setattr(tokens, "_MIX", np.uint64(0))
        found = overlaps(Texts.of(p for p, _ in pairs), Texts.of(g for _, g in pairs))
    assert list(zip(*(n.tolist() for n in found), strict=True)) == [counted(*p) for p in pairs]


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=8), st.integers(1, 4))
def test_blocks_do_not_matter(pairs: list[tuple[str, str]], size: int) -> None:
    batch = Batch([p for p, _ in pairs], [g for _, g in pairs])
    whole = TokenF1().measure(batch)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tokens, "BLOCK", size)
        assert (TokenF1().measure(batch) == whole).all()


def test_more_pairs_than_a_block_holds() -> None:
    n = tokens.BLOCK * 2 + 3
    predictions, gold = [f"a b{i}" for i in range(n)], [f"b{i} c d" for i in range(n)]
    rows = TokenF1().measure(Batch(predictions, gold))
    assert (rows == [1, 2, 3]).all()

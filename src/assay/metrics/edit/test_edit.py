# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from math import isnan, nan

import jiwer
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from assay.core.batch import Batch, Pair
from assay.core.metric import Metric
from assay.metrics.edit import Cer, Wer
from assay.metrics.edit.rates import split_words

# Letters that repeat (so that alignments have ties), several scripts, and every kind of space.
PIECES = ["a", "b", "ab", "Ж", "語", "é", "e\u0301", "😀", "\x00", "\x1b", "\ud800", "."]
SPACES = [" ", " ", " ", "  ", "\t", "\u00a0", "\u3000", "\n", "\x1c", "\x85", ""]
texts = st.lists(
    st.tuples(st.sampled_from(PIECES), st.sampled_from(SPACES)).map("".join), max_size=12
).map("".join)

WORDS = [
    # name                        prediction            gold                 H  S  D  I
    ("right", "the cat sat", "the cat sat", 3, 0, 0, 0),
    ("one word wrong", "the dog sat", "the cat sat", 2, 1, 0, 0),
    ("one word too few", "the sat", "the cat sat", 2, 0, 1, 0),
    ("one word too many", "the big cat sat", "the cat sat", 3, 0, 0, 1),
    ("case counts", "The cat sat", "the cat sat", 2, 1, 0, 0),
    ("nothing predicted", "", "the cat sat", 0, 0, 3, 0),
    ("nothing to say", "the cat", "", 0, 0, 0, 2),
    ("both empty", "", "", 0, 0, 0, 0),
    ("spaces only", "  ", " \t ", 0, 0, 0, 0),
    ("spaces do not matter", " the  cat\t\tsat ", "the cat sat", 3, 0, 0, 0),
    ("no-break space in a word", "the\u00a0cat", "the cat", 0, 1, 1, 0),
    ("other scripts", "мама мыла раму", "мама мыла кошку", 2, 1, 0, 0),
    ("one word", "да", "нет", 0, 1, 0, 0),
]

CHARACTERS = [
    # name                        prediction  gold       H  S  D  I
    ("kitten, sitting", "kitten", "sitting", 4, 2, 1, 0),
    ("accents are own characters", "e\u0301", "é", 0, 1, 0, 1),
    ("spaces inside count", "a  b", "a b", 3, 0, 0, 1),
    ("spaces at the ends do not", " ab\u00a0", "ab", 2, 0, 0, 0),
    ("han", "北京大学", "北京的大学", 4, 0, 1, 0),
    ("beyond the basic plane", "a😀", "a😁", 1, 1, 0, 0),
]


@pytest.mark.parametrize(
    ("metric", "name", "prediction", "gold", "hits", "substitutions", "deletions", "insertions"),
    [(Wer(), *case) for case in WORDS] + [(Cer(), *case) for case in CHARACTERS],
    ids=lambda value: value if isinstance(value, str) and len(value) > 12 else "",
)
def test_counts(
    metric: Metric,
    name: str,
    prediction: str,
    gold: str,
    hits: int,
    substitutions: int,
    deletions: int,
    insertions: int,
) -> None:
    row = metric.measure(Batch([prediction], [gold]))[0]
    counts = [hits, substitutions, deletions, insertions]
    assert row.tolist() == [*counts, hits + substitutions + deletions]


SCORES = [
    # name                prediction  gold     wer  mer  wil   wip
    ("right", "a b", "a b", 0.0, 0.0, 0.0, 1.0),
    ("half right", "a c", "a b", 0.5, 0.5, 0.75, 0.25),
    # one hit of two gold words, one of four predicted: 1/2 * 1/4
    ("more than all wrong", "a c d e", "a b", 1.5, 0.75, 0.875, 0.125),
    ("nothing predicted", "", "a b", 1.0, 1.0, 1.0, 0.0),
    ("no gold", "a", "", nan, 1.0, nan, nan),
    ("nothing at all", "", "", nan, nan, nan, nan),
]


@pytest.mark.parametrize(
    ("name", "prediction", "gold", "wer", "mer", "wil", "wip"), SCORES, ids=[c[0] for c in SCORES]
)
def test_scores(
    name: str, prediction: str, gold: str, wer: float, mer: float, wil: float, wip: float
) -> None:
    found = Wer().score([(prediction, gold)])
    assert found == pytest.approx({"wer": wer, "mer": mer, "wil": wil, "wip": wip}, nan_ok=True)


def test_corpus_sums_edits_before_dividing() -> None:
    # 1 edit of 1 word and 0 edits of 3: 1/4, not the mean 1/2.
    assert Wer().score([("b", "a"), ("a b c", "a b c")])["wer"] == 0.25


def test_empty_gold_counts_insertions_in_the_corpus() -> None:
    assert Wer().score([("x y", ""), ("a b", "a b")])["wer"] == 1.0
    assert Cer().score([("x", ""), ("ab", "ab")])["cer"] == 0.5


@pytest.mark.parametrize("metric", [Wer(), Cer()])
def test_no_examples(metric: Metric) -> None:
    assert metric.measure(Batch([], [])).shape == (0, 5)
    assert isnan(metric.score([])[metric.name])


REFERENCES = [
    # name                          prediction  references           H  S  D  I
    ("the nearest", "a b", ["x y z", "a c"], [1, 1, 0, 0, 2]),
    ("of equal ones the first", "a b", ["a b c", "a"], [2, 0, 1, 0, 3]),
    ("of equal ones the first, turned", "a b", ["a", "a b c"], [1, 0, 0, 1, 1]),
    ("no reference is an empty one", "a b", [], [0, 0, 0, 2, 0]),
    ("an empty reference is one", "", ["a", ""], [0, 0, 0, 0, 0]),
]


@pytest.mark.parametrize(
    ("name", "prediction", "references", "row"), REFERENCES, ids=[c[0] for c in REFERENCES]
)
def test_several_references(
    name: str, prediction: str, references: list[str], row: list[float]
) -> None:
    # Neighbours with another number of references must not matter.
    batch = Batch(["q", prediction, "q"], [["q"], references, ["q", "r", "s"]])
    assert Wer().measure(batch)[1].tolist() == row


def test_missing_is_all_deletions_and_wrong_even_where_the_gold_is_empty() -> None:
    pairs = [Pair("", ["a b c", "", "a b"], missing=True), Pair("", "", missing=True)]
    batch = Batch([p.prediction for p in pairs], [p.gold for p in pairs], missing=np.ones(2, bool))
    assert Wer().measure(batch).tolist() == [[0, 0, 2, 0, 2], [0, 0, 0, 1, 0]]
    assert Cer().measure(batch).tolist() == [[0, 0, 3, 0, 3], [0, 0, 0, 1, 0]]


@given(st.lists(st.tuples(texts, texts), min_size=1, max_size=5))
@example([("a\x1c\x1db", "a b"), ("a\u00a0 b", "a b")])
def test_equals_jiwer(pairs: list[tuple[str, str]]) -> None:
    predictions, gold = [p for p, _ in pairs], [g for _, g in pairs]
    words = jiwer.process_words(gold, predictions)
    totals = Wer().measure(Batch(predictions, gold)).sum(axis=0)
    assert totals[:4].tolist() == [
        words.hits,
        words.substitutions,
        words.deletions,
        words.insertions,
    ]
    characters = jiwer.process_characters(gold, predictions)
    sums = Cer().measure(Batch(predictions, gold)).sum(axis=0)
    assert sums[:4].tolist() == [
        characters.hits,
        characters.substitutions,
        characters.deletions,
        characters.insertions,
    ]
    if totals[4]:  # without gold words jiwer answers 1 where we say undefined
        found = Wer().score(pairs)
        wanted = {"wer": words.wer, "mer": words.mer, "wil": words.wil, "wip": words.wip}
        assert found == pytest.approx(wanted, abs=1e-12)
    if sums[4]:
        assert Cer().score(pairs)["cer"] == pytest.approx(characters.cer, abs=1e-12)


REAL = [
    ("the cat sat on mat", "the cat sat on the mat"),
    ("Il a dit\u00a0: «\u00a0Oui\u00a0!\u00a0»", "Il a dit : « Non ! »"),
    ("мама мыла раму", "Мама мыла раму ."),
    ("北京 大学 在 北京 。", "北京 的 大学 在 中国 。"),
    ("猫がマットに座った", "猫がマットの上に座った"),
    ("बिल्ली चटाई पर बैठी थी", "बिल्ली चटाई पर थी"),
    ("แมวนั่งบนเสื่อ", "แมวนั่งบนเสือ"),
    ("고양이가 앉았다", "고양이가 매트 위에 앉았다"),
    ("ישב החתול על המחצלת", "החתול ישב על המחצלת"),
    ("كيف حالك؟", "كيف حالكم؟"),
    ("η γατα", "η γάτα"),
    ("e\u0301te\u0301", "été"),
    ("👩\u200d👩\u200d👧 ok", "👩 ok"),
    ("", "one"),
    ("the the the the", "the"),
    (" one\t\ttwo  three\n", "one two\u3000three"),
    ("w " * 500, "w " * 300 + "v " * 100),
]


def test_real_text_equals_jiwer_for_each_and_for_all() -> None:
    predictions, gold = [p for p, _ in REAL], [g for _, g in REAL]
    batch = Batch(predictions, gold)
    words, characters = Wer().measure(batch), Cer().measure(batch)
    alone = [jiwer.process_words(g, p) for p, g in REAL]
    each = Wer().per_example(words)
    for score in ("wer", "mer", "wil", "wip"):
        assert each[score] == pytest.approx([getattr(w, score) for w in alone], abs=1e-9)
    single = [jiwer.cer(g, p) for p, g in REAL]
    assert Cer().per_example(characters)["cer"] == pytest.approx(single, abs=1e-9)
    assert Wer().score(REAL)["wer"] == pytest.approx(jiwer.wer(gold, predictions), abs=1e-9)
    assert Cer().score(REAL)["cer"] == pytest.approx(jiwer.cer(gold, predictions), abs=1e-9)


@given(texts, st.lists(texts, max_size=4))
def test_the_chosen_reference_has_the_fewest_edits(prediction: str, references: list[str]) -> None:
    row = Wer().measure(Batch([prediction], [references]))[0]
    alone = [Wer().measure(Batch([prediction], [[r]]))[0] for r in references or [""]]
    edits = [float(r[1:4].sum()) for r in alone]
    assert row.tolist() == alone[edits.index(min(edits))].tolist()


def test_long_lines_equal_jiwer() -> None:
    rng = random.Random(7)
    gold = [f"w{rng.randrange(300)}" for _ in range(2_000)]
    said = [rng.choice(gold) if rng.random() < 0.2 else w for w in gold if rng.random() < 0.9]
    prediction, right = " ".join(said), " ".join(gold)
    wanted = jiwer.process_words(right, prediction)
    assert Wer().score([(prediction, right)])["wip"] == pytest.approx(wanted.wip, abs=1e-12)
    assert Cer().score([(prediction, right)])["cer"] == pytest.approx(
        jiwer.cer(right, prediction), abs=1e-12
    )


@given(texts)
def test_words_are_what_jiwer_takes_for_words(text: str) -> None:
    assert split_words(text) == jiwer.process_words(text, "x").references[0]

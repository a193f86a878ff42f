# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import random
from collections.abc import Mapping
from math import nan
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.ter import TER

from assay.core.batch import Batch
from assay.core.errors import InputError, UsageError
from assay.core.text import Texts
from assay.metrics.ter import Ter, count
from assay.metrics.ter.count import edits


def peer(options: Mapping[str, Any]) -> TER:
    return TER(**options)


def oracle(predictions: list[str], references: list[list[str]], **options: bool) -> list[float]:
    """Edits and mean length of the references of each segment, as sacrebleu counts them."""
    ter = peer(options)
    columns = [list(column) for column in zip(*references, strict=True)]
    found: list[float] = []
    for row in ter._extract_corpus_statistics(predictions, columns):
        found += [float(row[0]), float(row[1])]
    return found


def counted(predictions: list[str], references: list[list[str]], **options: bool) -> list[float]:
    rows = Ter(**options).measure(Batch(predictions, references))
    assert (rows[:, 2] == 1).all()
    found: list[float] = rows[:, :2].ravel().tolist()
    return found


CASES = [
    # name                       prediction               gold                       edits  words
    ("right", "the cat sat", "the cat sat", 0, 3),
    ("one word replaced", "the dog sat", "the cat sat", 1, 3),
    ("one word too few", "the sat", "the cat sat", 1, 3),
    ("one word too many", "the big cat sat", "the cat sat", 1, 3),
    ("one phrase moved", "on the mat the cat sat", "the cat sat on the mat", 1, 6),
    # [b a] is one move, c -> x one edit.
    ("moved and replaced", "b a c d", "a b x d", 2, 4),
    ("case does not count", "THE Cat", "the cat", 0, 2),
    ("punctuation belongs to its word", "the cat.", "the cat", 1, 2),
    ("nothing predicted", "", "the cat", 2, 2),
    ("no gold", "the cat", "", 2, 0),
    ("both empty", "", " ", 0, 0),
    ("one word each", "yes", "no", 1, 1),
    ("no-break space separates", "the\u00a0cat", "the cat", 0, 2),
    ("other scripts", "раму мама мыла", "мама мыла раму", 1, 3),
    ("more edits than words", "a b c d", "e", 4, 1),
]


@pytest.mark.parametrize(
    ("name", "prediction", "gold", "n_edits", "n_words"), CASES, ids=[c[0] for c in CASES]
)
def test_counts(name: str, prediction: str, gold: str, n_edits: int, n_words: int) -> None:
    assert counted([prediction], [[gold]]) == [n_edits, n_words]
    assert oracle([prediction], [[gold]]) == [n_edits, n_words]


OPTIONS = ["normalized", "no_punct", "asian_support", "case_sensitive"]
REAL = [
    ('He said: "Hello, world!"', 'he said, "hello world".'),
    ("It costs 3,000.50 dollars &amp; more.", "It costs 3,000.5 dollars & more ."),
    ("Don't walk on John's grass - 5-6 times", "do n't walk on John 's grass-5- 6 times"),
    ("Il a dit\u00a0: «\u00a0Oui\u00a0!\u00a0»", "Il a dit : « Non ! »"),
    ("ИСТАНБУЛ — большой город.", "Большой город Истанбул"),
    ("北京大学在北京。", "北京 的 大学,在 中国。"),
    ("カタカナとひらがな、漢字", "ひらがなとカタカナ。漢字"),
    ("مرحبا، كيف حالك؟", "كيف حالك؟ مرحبا،"),
    ("İstanbul'da \x1b[0m a\x1cb\tc", "istanbul'da a b c\x85d"),
    ("The boat was John's.", "The boat was John's."),
    ("", "one"),
    ("one ", "one"),
    ("...", "?!"),
    ("बिल्ली चटाई पर बैठी थी।", "चटाई पर बिल्ली बैठी थी ।"),
    ("แมวนั่งบนเสื่อ", "แมว นั่ง บน เสื่อ"),
    ("고양이가 매트 위에 앉았다.", "매트 위에 고양이가 앉았다"),
    ("החתול ישב על המחצלת.", "על המחצלת ישב החתול."),
    ("Η ΓΆΤΑ ΚΆΘΙΣΕ ΣΤΟ ΧΑΛΊ ΤΗΣ", "η γάτα κάθισε στο χαλί της"),
    ("Straße GROẞ ﬁne", "strasse groß fine"),
    ("ǅ Ǆ ǆ 😀 😀😀 👩‍👩‍👧", "ǆ ǆ ǆ 😀 😀 😀 👩‍👩‍👧"),
    ("e\u0301te\u0301", "été"),
    ("የድመት ምንጣፍ ላይ", "ምንጣፍ ላይ የድመት"),
    ("the the the the cat the the", "the cat the the the the the"),
    ("  spaces \t\t around\u2003here \r", "spaces around here"),
    (" \t ", "\u3000"),
    ("word", "word " * 70),
    ("a b c " * 4, "c b a " * 4),
]
SECOND = [gold[::-1] if i % 3 else "" for i, (_, gold) in enumerate(REAL)]


@pytest.mark.parametrize("chosen", range(16))
def test_options_on_real_text_equal_sacrebleu(chosen: int) -> None:
    options = {name: bool(chosen >> bit & 1) for bit, name in enumerate(OPTIONS)}
    predictions, gold = [p for p, _ in REAL], [[g] for _, g in REAL]
    assert counted(predictions, gold, **options) == oracle(predictions, gold, **options)


@pytest.mark.parametrize("chosen", range(16))
@pytest.mark.parametrize("n_references", [1, 2, 3])
def test_corpus_and_sentence_scores_equal_sacrebleu(n_references: int, chosen: int) -> None:
    options = {name: bool(chosen >> bit & 1) for bit, name in enumerate(OPTIONS)}
    predictions = [p for p, _ in REAL]
    columns = [[g for _, g in REAL], SECOND, predictions[1:] + predictions[:1]][:n_references]
    gold = [list(texts) for texts in zip(*columns, strict=True)]
    ter, metric = peer(options), Ter(**options)
    rows = metric.measure(Batch(predictions, gold))
    wanted = ter.corpus_score(predictions, columns).score
    found = metric.score(zip(predictions, gold, strict=True))["ter"]
    assert found == pytest.approx(wanted, abs=1e-9)
    single = [ter.sentence_score(p, g).score for p, g in zip(predictions, gold, strict=True)]
    assert metric.per_example(rows)["ter"] == pytest.approx(single, abs=1e-9)


SCORES: list[tuple[str, list[tuple[str, str]], float]] = [
    # name                       pairs                            ter
    ("sums, then divides", [("b", "a"), ("a b c", "a b c")], 25.0),
    ("above 100", [("a b c", "d")], 300.0),
    ("edits without gold", [("a", ""), ("", "")], 100.0),
    ("nothing to do", [("", "")], 0.0),
    ("no examples", [], nan),
]


@pytest.mark.parametrize(("name", "pairs", "ter"), SCORES, ids=[c[0] for c in SCORES])
def test_scores(name: str, pairs: list[tuple[str, str]], ter: float) -> None:
    assert Ter().score(pairs) == pytest.approx({"ter": ter}, nan_ok=True)


def test_several_references_take_the_best_edits_and_the_mean_length() -> None:
    batch = Batch(["q", "a b c", "x"], [["q"], ["a b d e", "a", "z b c"], []])
    # Of three: 2, 2 and 1 edits; 4, 1 and 3 words. Of none: the word is dropped.
    wanted = [[0, 1, 1], [1, 8 / 3, 1], [1, 0, 1]]
    assert Ter().measure(batch) == pytest.approx(np.array(wanted))


@given(st.lists(st.text(max_size=20), min_size=1, max_size=5))
def test_gold_as_prediction_is_perfect_unless_punctuation_is_set_apart(gold: list[str]) -> None:
    assert Ter().score(list(zip(gold, gold, strict=True)))["ter"] == 0
    assert Ter(case_sensitive=True).score(list(zip(gold, gold, strict=True)))["ter"] == 0


def test_gold_is_cut_twice_where_punctuation_is_set_apart() -> None:
    # boat . | John's . against boat . | John 's .: one word replaced, one added.
    assert counted(["boat. John's."], [["boat. John's."]], normalized=True) == [2, 5]
    assert oracle(["boat. John's."], [["boat. John's."]], normalized=True) == [2, 5]


def test_missing_costs_the_whole_gold_and_at_least_one_edit() -> None:
    missing = np.array([True, True, True, False])
    batch = Batch(["", "", "", ""], ["a b", "", ["a b", ""], ""], missing=missing)
    assert Ter().measure(batch).tolist() == [[2, 2, 1], [1, 0, 1], [1, 1, 1], [0, 0, 1]]


def test_wrong_parameters() -> None:
    with pytest.raises(UsageError, match="did you mean 'normalized'"):
        Ter.from_parameters({"normalised": "true"})
    with pytest.raises(UsageError, match="must be true or false"):
        Ter.from_parameters({"no_punct": "maybe"})


# Few words make many equal phrases, and so many moves and ties.
few = st.lists(st.sampled_from("abcde"), max_size=14).map(" ".join)
odd = st.text(st.sampled_from("aB1 é語カ😀.,-'\"&;?。\u00a0\t\n\x1c\x00\u3000"), max_size=12)


@given(st.lists(st.tuples(few | odd, few | odd), min_size=1, max_size=6))
@example([("a b", "b a"), ("", "a"), ("a", "")])
def test_equals_sacrebleu(pairs: list[tuple[str, str]]) -> None:
    predictions, gold = [p for p, _ in pairs], [[g] for _, g in pairs]
    assert counted(predictions, gold) == oracle(predictions, gold)


@given(
    st.lists(st.tuples(odd, odd), min_size=1, max_size=6),
    st.fixed_dictionaries({name: st.booleans() for name in OPTIONS}),
)
def test_options_equal_sacrebleu(pairs: list[tuple[str, str]], options: dict[str, bool]) -> None:
    predictions, gold = [p for p, _ in pairs], [[g] for _, g in pairs]
    assert counted(predictions, gold, **options) == oracle(predictions, gold, **options)


@given(
    st.integers(1, 3).flatmap(
        lambda k: st.lists(
            st.tuples(few, st.lists(few, min_size=k, max_size=k)), min_size=1, max_size=4
        )
    )
)
def test_several_references_equal_sacrebleu(examples: list[tuple[str, list[str]]]) -> None:
    predictions, gold = [p for p, _ in examples], [g for _, g in examples]
    assert counted(predictions, gold) == oracle(predictions, gold)


def noisy(rng: random.Random, n_words: int, n_known: int, noise: float) -> tuple[str, str]:
    """A gold text and a copy with words dropped, put in and replaced, and phrases moved."""
    known = [f"w{i}" for i in range(n_known)]
    weights = [1 / (i + 1) for i in range(n_known)]
    gold = rng.choices(known, weights, k=n_words)
    said: list[str] = []
    for word in gold:
        if rng.random() < noise:
            said += rng.choices(known, weights, k=rng.randrange(3))
        else:
            said.append(word)
    for _ in range(rng.randrange(4)):
        at, size = rng.randrange(len(said) + 1), rng.randint(1, 6)
        phrase = said[at : at + size]
        del said[at : at + size]
        to = rng.randrange(len(said) + 1)
        said[to:to] = phrase
    return " ".join(said), " ".join(gold)


SIZES = [
    # name                                 examples  words  known  noise
    ("usual lines", 60, 25, 2_000, 0.2),
    ("few words, many ties", 60, 20, 4, 0.3),
    ("two words, 1,000 moves tried", 3, 40, 2, 0.3),
    ("beyond the beam", 4, 70, 60, 0.9),
    ("long and alike", 1, 600, 5_000, 0.02),
]


@pytest.mark.parametrize(
    ("name", "n_examples", "n_words", "n_known", "noise"), SIZES, ids=[c[0] for c in SIZES]
)
def test_noisy_copies_equal_sacrebleu(
    name: str, n_examples: int, n_words: int, n_known: int, noise: float
) -> None:
    rng = random.Random(name)
    pairs = [noisy(rng, n_words, n_known, noise) for _ in range(n_examples)]
    predictions, gold = [p for p, _ in pairs], [[g] for _, g in pairs]
    assert counted(predictions, gold) == oracle(predictions, gold)


LENGTHS = [(1, 60), (60, 1), (2, 120), (120, 2), (30, 90), (90, 30), (1, 2_000), (2_000, 1)]


@pytest.mark.parametrize(("n_predicted", "n_gold"), LENGTHS)
def test_unequal_lengths_equal_sacrebleu(n_predicted: int, n_gold: int) -> None:
    rng = random.Random(n_predicted)
    known = [f"w{i}" for i in range(40)]
    prediction = " ".join(rng.choices(known, k=n_predicted))
    gold = " ".join(rng.choices(known, k=n_gold))
    assert counted([prediction], [[gold]]) == oracle([prediction], [[gold]])


def test_the_beam_cuts_off_the_best_path() -> None:
    # The last 40 words are the first 40 of the gold. The straight line is far from where they
    # align: within the beam almost nothing matches, without it 40 words would.
    gold = [f"w{i}" for i in range(80)]
    said = [f"x{i}" for i in range(40)] + gold[:40]
    found = edits([said], [gold])[0]
    assert [float(found), 80.0] == oracle([" ".join(said)], [[" ".join(gold)]])


def test_lines_of_2000_words_equal_sacrebleu() -> None:
    rng = random.Random(11)
    pairs = [noisy(rng, 2_000, 3_000, noise) for noise in (0.005, 0.3)]
    predictions, gold = [p for p, _ in pairs], [[g] for _, g in pairs]
    # What `oracle` gives with sacrebleu 2.6.0, which takes more than a minute for it.
    assert counted(predictions, gold) == [14, 2_000, 760, 2_000]


@settings(max_examples=30)
@given(st.lists(st.tuples(few, few), min_size=1, max_size=6))
def test_searching_one_by_one_in_the_beam_gives_the_same(pairs: list[tuple[str, str]]) -> None:
    predicted, gold = [p.split() for p, _ in pairs], [g.split() for _, g in pairs]
    wanted = edits(predicted, gold).tolist()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(count, "CELLS", 0)  # every table is too large, every block holds one pair
        assert edits(predicted, gold).tolist() == wanted


def test_more_words_than_characters_is_an_error_that_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(count, "sys", SimpleNamespace(maxunicode=3))
    assert edits([["a", "b"]], [["b", "c"]]).tolist() == [2]
    with pytest.raises(InputError, match="more than 3 different words; split it"):
        edits([["a", "b"]], [["c", "d"]])


def test_neighbours_do_not_matter() -> None:
    rng = random.Random(5)
    pairs = [noisy(rng, rng.randint(1, 60), 30, 0.3) for _ in range(80)]
    batch = Batch(Texts.of(p for p, _ in pairs), Texts.of(g for _, g in pairs))
    alone = [Ter().measure(batch.part(i, i + 1))[0].tolist() for i in range(len(batch))]
    assert Ter().measure(batch).tolist() == alone

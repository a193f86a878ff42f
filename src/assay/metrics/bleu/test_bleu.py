# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from assay import metrics
from assay.core.batch import Batch, Pair
from assay.core.errors import UsageError
from assay.core.metric import Totals
from assay.metrics.bleu import Bleu
from assay.metrics.bleu.tokenisers import _foreign

SENTENCE = "the cat sat on the mat"

CASES = [
    # name, prediction, references, predicted tokens, gold tokens, matched, n-grams predicted
    ("right", SENTENCE, [SENTENCE], 6, 6, [6, 5, 4, 3], [6, 5, 4, 3]),
    # Of "the" one of two; "the cat", "cat sat", "sat on"; "the cat sat", "cat sat on"; all four.
    ("one word replaced", SENTENCE, ["the cat sat on a mat"], 6, 6, [5, 3, 2, 1], [6, 5, 4, 3]),
    ("repeats count as often as gold has them", "the the the", ["the cat the"], 3, 3, [2, 0, 0, 0], [3, 2, 1, 0]),
    ("an n-gram may be in any reference", "a b c", ["a b x", "y b c"], 3, 3, [3, 2, 0, 0], [3, 2, 1, 0]),
    ("the nearest length", "a b c", ["a", "a b c d", "a b c d e f"], 3, 4, [3, 2, 1, 0], [3, 2, 1, 0]),
    ("of two as near the shorter", "a b c", ["a b c d", "a b"], 3, 2, [3, 2, 1, 0], [3, 2, 1, 0]),
    ("punctuation is a token", "Yes, sir.", ["Yes sir"], 4, 2, [2, 0, 0, 0], [4, 3, 2, 1]),
    ("nothing predicted", "", ["a b"], 0, 2, [0] * 4, [0] * 4),
    ("no gold", "a b", [""], 2, 0, [0] * 4, [2, 1, 0, 0]),
    ("no reference at all", "a b", [], 2, 0, [0] * 4, [2, 1, 0, 0]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "prediction", "references", "predicted", "gold", "matched", "ngrams"),
    CASES,
    ids=[c[0] for c in CASES],
)
def test_rows(
    name: str, prediction: str, references: list[str], predicted: int, gold: int,
    matched: list[int], ngrams: list[int],
) -> None:  # fmt: skip
    rows = Bleu().measure(Batch([prediction], [references]))
    assert rows.tolist() == [[predicted, gold, *matched, *ngrams]]


def test_score_by_hand() -> None:
    # Precisions 5/6, 3/5, 2/4, 1/3; both are 6 tokens long, so nothing is lost to brevity.
    expected = 100 * (5 / 6 * 3 / 5 * 2 / 4 * 1 / 3) ** 0.25
    found = Bleu().score([(SENTENCE, "the cat sat on a mat")])
    assert found["bleu"] == pytest.approx(expected, rel=1e-12)


def test_brevity_by_hand() -> None:
    # All of four words are right, two of six are missing: exp(1 - 6/4).
    found = Bleu().score([("the cat sat on", SENTENCE)])["bleu"]
    assert found == pytest.approx(100 * math.exp(-0.5), rel=1e-12)


SMOOTHED = [
    # "a b c d" against "a c b x": 3 of 4 words, none of 3 pairs, 2 triples, 1 four.
    ("exp", None, (3 / 4 * (1 / 2) / 3 * (1 / 4) / 2 * (1 / 8) / 1) ** 0.25),
    ("floor", None, (3 / 4 * 0.1 / 3 * 0.1 / 2 * 0.1 / 1) ** 0.25),
    ("floor", 0.5, (3 / 4 * 0.5 / 3 * 0.5 / 2 * 0.5 / 1) ** 0.25),
    ("add-k", None, (3 / 4 * 1 / 4 * 1 / 3 * 1 / 2) ** 0.25),
    ("add-k", 2.0, (3 / 4 * 2 / 5 * 2 / 4 * 2 / 3) ** 0.25),
    ("none", None, 0.0),
]


@pytest.mark.parametrize(("smooth", "value", "share"), SMOOTHED)
def test_smoothing_by_hand(smooth: str, value: float | None, share: float) -> None:
    metric = Bleu(smooth=smooth, smooth_value=value)
    found = metric.score([("a b c d", "a c b x")])["bleu"]
    assert found == pytest.approx(100 * share, rel=1e-12)


def test_a_missing_prediction_is_an_empty_one() -> None:
    given = [Pair(SENTENCE, SENTENCE), Pair("", SENTENCE, missing=True)]
    empty = [(SENTENCE, SENTENCE), ("", SENTENCE)]
    assert Bleu().score(given) == Bleu().score(empty)
    # All of 6 tokens are right, 6 of 12 are missing.
    assert Bleu().score(given)["bleu"] == pytest.approx(100 * math.exp(-1), rel=1e-12)


def test_no_examples_score_nothing() -> None:
    assert Bleu().measure(Batch([], [])).shape == (0, 10)
    assert Bleu().score([]) == {"bleu": 0.0}


def test_resamples_are_scored_at_once() -> None:
    metric = Bleu()
    rows = metric.measure(Batch([SENTENCE, "a b c d"], [[SENTENCE], ["a c b x"]]))
    many = np.stack([rows.sum(axis=0), rows[0], rows[1], 0 * rows[0]])
    at_once = metric.finalise(Totals(metric.columns, many))["bleu"]
    alone = [float(metric.finalise(Totals(metric.columns, row))["bleu"]) for row in many]
    assert at_once.tolist() == alone


def test_precisions_and_brevity_can_be_asked_for() -> None:
    metric = Bleu()
    rows = metric.measure(Batch(["the cat sat on"], [SENTENCE]))
    totals = Totals(metric.columns, rows.sum(axis=0))
    assert metric.precisions(totals).tolist() == [100.0] * 4
    assert float(metric.brevity_penalty(totals)) == pytest.approx(math.exp(-0.5))


words = st.sampled_from(["the", "cat", "sat", "on", "mat", "3.5", "Straße", "猫"])
sentences = st.lists(words, min_size=4, max_size=9).map(" ".join)


@given(st.lists(sentences, min_size=1, max_size=5), st.sampled_from(["13a", "none", "intl", "zh"]))
def test_gold_as_prediction_is_perfect(gold: list[str], tokenize: str) -> None:
    metric = Bleu(tokenize=tokenize)
    rows = metric.measure(Batch(gold, [[g, "something else"] for g in gold]))
    assert metric.finalise(Totals(metric.columns, rows.sum(axis=0)))["bleu"] == 100
    assert (metric.per_example(rows)["bleu"] == 100).all()


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20)), max_size=6), st.data())
def test_rows_depend_on_their_example_alone(
    pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    metric = Bleu()
    rows = metric.measure(Batch([p for p, _ in pairs], [g for _, g in pairs]))
    order = data.draw(st.permutations(range(len(pairs))))
    moved = metric.measure(Batch([pairs[i][0] for i in order], [pairs[i][1] for i in order]))
    assert moved.tolist() == rows[list(order)].tolist()
    for i, (prediction, gold) in enumerate(pairs):
        assert metric.measure(Batch([prediction], [gold])).tolist() == [rows[i].tolist()]


def test_a_huge_line_among_small_ones() -> None:
    # 60,000 different words of a line are beyond what four tokens in one integer can number.
    huge = " ".join(f"w{k}" for k in range(60_000))
    rows = Bleu().measure(Batch(["a b c d", huge, "x"], ["a b c d", huge + " end", "y"]))
    n = 60_000
    assert rows[1].tolist() == [n, n + 1, n, n - 1, n - 2, n - 3, n, n - 1, n - 2, n - 3]
    assert rows[0].tolist() == [4, 4, 4, 3, 2, 1, 4, 3, 2, 1]
    assert rows[2].tolist() == [1, 1, 0, 0, 0, 0, 1, 0, 0, 0]


def test_text_and_pickle_give_the_metric_back() -> None:
    metric = Bleu(tokenize="intl", smooth="add-k", smooth_value=2.0, max_order=3)
    assert metric.text == "bleu(tokenize=intl,smooth=add-k,smooth_value=2.0,max_order=3)"
    assert metrics.load(metric.text) == metric
    assert metrics.load("BLEU") == Bleu()
    assert pickle.loads(pickle.dumps(metric)) == metric


WRONG = [
    ("bleu(tokenize=13b)", "unknown tokeniser '13b'; did you mean '13a'?"),
    ("bleu(smooth=expo)", "unknown smoothing of bleu 'expo'; did you mean 'exp'?"),
    ("bleu(max_order=0)", "max_order=0 of bleu must be at least 1"),
    ("bleu(max_order=100000)", "max_order=100,000 of bleu must be at most 100"),
    ("bleu(smooth_value=-1)", "smooth_value=-1.0 of bleu must be finite and not negative"),
    ("bleu(smooth_value=inf)", "smooth_value=inf of bleu must be finite and not negative"),
    ("bleu(tokenise=13a)", "unknown parameter of bleu 'tokenise'; did you mean 'tokenize'?"),
]


@pytest.mark.parametrize(("text", "message"), WRONG)
def test_wrong_parameters_are_named(text: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        metrics.load(text)
    assert str(error.value).startswith(message)


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where sacrebleu looks for models: a folder without any."""
    monkeypatch.setattr("assay.metrics.bleu.tokenisers.find_spec", lambda name: True)
    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.SACREBLEU_DIR", str(tmp_path))
    _foreign.cache_clear()
    return tmp_path / "models"


def test_a_model_that_is_not_there_is_not_downloaded(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetched(*_: object) -> None:
        raise AssertionError("nothing is downloaded")

    monkeypatch.setattr("sacrebleu.tokenizers.tokenizer_spm.download_file", fetched)
    with pytest.raises(UsageError) as error:
        Bleu(tokenize="spm").score([("a", "a")])
    assert str(error.value) == (
        "tokenize=flores101 needs a model, and nothing is downloaded here; put "
        "https://dl.fbaipublicfiles.com/fairseq/models/flores/sacrebleu_tokenizer_spm.model at "
        f"{models}/sacrebleu_tokenizer_spm.model, or choose another tokeniser"
    )
    assert not models.exists()


def test_a_model_that_is_there_is_used(models: Path, caplog: pytest.LogCaptureFixture) -> None:
    trainer = pytest.importorskip("sentencepiece", reason="not installed").SentencePieceTrainer
    text = ["the cat sat on the mat", "a dog was in the house", "these are some more words"]
    models.mkdir()
    trainer.train(
        sentence_iterator=iter(text),
        model_prefix=str(models / "small"),
        vocab_size=40,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    (models / "small.model").rename(models / "sacrebleu_tokenizer_spm.model")
    pair = ("the cat sat in the house", "the cat was in the house")
    theirs = BLEU(tokenize="flores101").corpus_score([pair[0]], [[pair[1]]]).score
    for name in ("flores101", "spm"):
        assert Bleu(tokenize=name).score([pair])["bleu"] == pytest.approx(theirs, abs=1e-9)
    assert not caplog.records, "sacrebleu has a word to say when the old name is used"


@pytest.mark.parametrize(
    ("tokenize", "module", "package"),
    [
        ("ja-mecab", "MeCab", "sacrebleu[ja]"),
        ("ko-mecab", "mecab_ko", "sacrebleu[ko]"),
        ("flores200", "sentencepiece", "sentencepiece"),
    ],
)
def test_a_tokeniser_that_is_not_installed_says_what_to_do(
    tokenize: str, module: str, package: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, module, raising=False)
    monkeypatch.setattr("assay.metrics.bleu.tokenisers.find_spec", lambda name: None)
    with pytest.raises(UsageError) as error:
        Bleu(tokenize=tokenize)
    assert str(error.value) == f"tokenize={tokenize} needs {package}; run: pip install '{package}'"

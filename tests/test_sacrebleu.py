# SPDX-License-Identifier: Apache-2.0
"""BLEU and chrF against sacrebleu 2.6: real languages by all parameters, then random text.

Rows must be equal, scores to 1e-9. Cases were written for this project.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from assay.core.batch import Batch
from assay.core.metric import Metric, Totals
from assay.metrics.bleu import Bleu
from assay.metrics.chrf import Chrf

Example = tuple[str, tuple[str, ...]]

FAMILY, FLAG = "👩\u200d👩\u200d👧", "🏳\ufe0f\u200d🌈"

REAL: dict[str, Example] = {
    "English": ("The ferry doesn't run today, he said.", ("The ferry won't run today, he said.", "Today the ferry isn't running, he said.", "“No ferry today,” he said.")),
    "English numbers": ("It costs 3,000.50 dollars (5-6 % more) in 1990s-style shops.", ("It cost $3,000.50, i.e. 5–6% more, in 1990s-style shops.", "It costs 3000.50 dollars.", "3.000,50 dollars, 5-6 % more")),
    "entities and marks": ("&quot;Salt &amp; pepper&quot; &lt;b&gt; <skipped>now", ('"Salt & pepper" <b> now', "&amp;lt; salt", "<skipped>")),
    "runs of stops": ("wait...5 or ..5 or ,.7 or 1.,2 or 3...", ("wait ... 5 or ..5 or ,.7", "1.,2 or 3 ...", ".....")),
    "Latin": ("Gallia est omnis divisa in partes tres.", ("Gallia omnis in tres partes divisa est.", "Gallia est divisa in partes tris.", "Omnis Gallia")),
    "French": ("Il a dit\u00a0: «\u00a0Oui\u00a0!\u00a0» à l'école.", ("Il a dit : « Non ! » à l’école.", "«Oui», a-t-il dit.", "Il dit\u202f: oui\u202f!")),
    "German": ("Die Straße war am 3. März 2021 größtenteils gesperrt.", ("Am 3. März 2021 war die STRASSE größtenteils gesperrt.", "Die Strasse war gesperrt.", "„Straße“ gesperrt")),
    "Czech": ("Žluťoučký kůň úpěl ďábelské ódy.", ("Příliš žluťoučký kůň úpěl ďábelské ódy!", "Kůň úpěl.", "Z\u030clut\u030couc\u030cky\u0301 kůň")),
    "Turkish": ("İstanbul'da IŞIK yandı.", ("istanbul'da ışık yandı.", "İSTANBUL'DA", "Istanbul")),
    "Russian": ("Мама мыла раму — и пела.", ("Мама мыла раму, и пела.", "Раму мыла мама.", "МАМА ПЕЛА")),
    "Greek": ("Ο ΣΟΦΟΣ ΟΔΥΣΣΕΥΣ γύρισε στην Ιθάκη;", ("Ο σοφός Οδυσσεύς γύρισε στην Ιθάκη·", "Γύρισε ο Οδυσσέας.", "ΣΑΣ Σ")),
    "Arabic": ("ذهب الولد إلى المدرسة، أليس كذلك؟ ٣٫٥", ("ذهب الوَلَدُ إلى مدرسته، أليس كذلك؟ ٣٫٥", "الولد في المدرسة.", "ﷺ")),
    "Hebrew": ("הילד הלך לבית־הספר \"היום\".", ("הילד הלך היום לבית הספר.", "הַיֶּלֶד הָלַךְ", "צה״ל")),
    "Hindi": ("लड़का आज स्कूल नहीं गया।", ("आज लड़का विद्यालय नहीं गया।", "लड़का स्कूल गया॥", "५०० रुपये")),
    "Thai": ("วันนี้เรือข้ามฟากไม่วิ่ง", ("เรือข้ามฟากไม่วิ่งวันนี้", "วันนี้ ไม่มีเรือ", "น้ำ")),
    "Chinese": ("今天渡轮不开，他说。价格是3.5元", ("他说：今天没有渡轮。价格3.5元", "今天 渡轮 停航", "𠀀𠀁字")),
    "Chinese at the ends": ("。5", (".5", "5。", "，.5，")),
    "Japanese": ("猫がマットの上に座っていた。カタカナ", ("猫はマットに座っていた。ｶﾀｶﾅ", "マットの上の猫", "ネコ　です")),
    "Korean": ("고양이가 매트 위에 앉아 있었다.", ("고양이는 매트에 앉아 있었다.", "매트 위의 고양이", "한\u1112\u1161\u11ab")),
    "emoji": (f"good {FAMILY} day {FLAG}!👍🏽", (f"good day {FAMILY}{FLAG} 👍", "👍🏽👍🏽", "\u200d")),
    "combining marks": ("cafe\u0301 nai\u0308ve a\u0301\u0323", ("café naïve ạ\u0301", "cafe naive", "\u0301")),
    "symbols": ("a+b=c €5 £6 ½ x² → ∞ #1 @me _x_", ("a + b = c 5€ 6£ 0.5 x2 ->", "∞", "# 1 @ me")),
    "white space of all kinds": ("one\u00a0two\u3000three\u2009four\tfive", ("one two three four five", "one  two", "\u00a0")),
    "line separators": ("one\u2028two\u2029three\x85four\x0bfive\x1csix", ("one two three four five six", "one\ntwo", "one\rtwo-\nthree")),
    "several lines": ("first-\nsecond\nthird ", ("firstsecond third", "first- second third", "\n")),
    "not quite white space": ("a\u200bb\u2060c\ufeffd\x00e", ("a b c d e", "a\u200bb", "\ufeff")),
    "one word": ("yes", ("yes", "no", "yes.")),
    "one word, wrong": ("yes", ("no", "nein", "niet")),
    "one letter": ("a", ("b", "a", "A")),
    "empty prediction": ("", ("something", "", "x")),
    "empty reference": ("something", ("", "some thing", "")),
    "both empty": ("", ("", "", "")),
    "white space only": (" \t\u00a0", ("  ", "\u3000", "x")),
    "punctuation only": ("...", ("?!", "…", ". . .")),
    "repeats": ("the the the the the the", ("the cat the", "the the", "the the the the the the the")),
    "long words": ("Donaudampfschifffahrtsgesellschaftskapitän " + "x" * 70, ("Donaudampfschifffahrtsgesellschaftskapitäne " + "x" * 69 + "y", "x" * 70, "Donaudampfschiff")),
}  # fmt: skip

EXAMPLES = list(REAL.values())


def columns(references: Sequence[Sequence[str]]) -> list[list[str | None]]:
    """References as sacrebleu takes them: one list per reference, None where there is none."""
    most = max(map(len, references))
    return [[r[k] if k < len(r) else None for r in references] for k in range(most)]


def check(metric: Metric, oracle: Any, single: Any, examples: Sequence[Example]) -> None:
    """Hold rows, the score of the corpus and the score of each example against the oracle."""
    predictions = [p for p, _ in examples]
    references = [list(r) for _, r in examples]
    rows = metric.measure(Batch(predictions, references))
    expected = oracle._extract_corpus_statistics(predictions, columns(references))
    np.testing.assert_array_equal(rows, np.array(expected, dtype=np.float64))
    found = metric.finalise(Totals(metric.columns, rows.sum(axis=0)))[metric.name]
    whole = oracle.corpus_score(predictions, columns(references)).score
    assert float(found) == pytest.approx(whole, rel=0, abs=1e-9)
    alone = metric.per_example(rows)[metric.name]
    each = [single.sentence_score(p, r).score for p, r in examples]
    np.testing.assert_allclose(alone, each, rtol=0, atol=1e-9)


def check_bleu(examples: Sequence[Example], **options: Any) -> None:
    named = {"smooth": "smooth_method", "max_order": "max_ngram_order"}
    theirs = {named.get(name, name): value for name, value in options.items()}
    single = BLEU(**{**theirs, "effective_order": True})
    check(Bleu(**options), BLEU(**theirs), single, examples)


def check_chrf(examples: Sequence[Example], **options: Any) -> None:
    check(Chrf(**options), CHRF(**options), CHRF(**options), examples)


def with_references(n: int) -> list[Example]:
    """The table with the first `n` references; 0 stands for one to three, in turn."""
    return [(p, r[: n or i % 3 + 1]) for i, (p, r) in enumerate(EXAMPLES)]


def test_the_oracle_is_the_version_that_is_promised() -> None:
    assert sacrebleu.__version__.startswith("2.6.")


TOKENISERS = ["13a", "none", "intl", "char", "zh"]
SMOOTHINGS = [("exp", None), ("floor", None), ("floor", 0.5), ("add-k", None), ("add-k", 2.0), ("none", None)]  # fmt: skip


@pytest.mark.parametrize("references", [1, 2, 3, 0])
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", TOKENISERS)
def test_bleu_of_real_languages(tokenize: str, lowercase: bool, references: int) -> None:
    examples = with_references(references)
    for max_order in (1, 2, 4, 6):
        check_bleu(examples, tokenize=tokenize, lowercase=lowercase, max_order=max_order)


@pytest.mark.parametrize("effective_order", [False, True])
@pytest.mark.parametrize(("smooth", "value"), SMOOTHINGS)
def test_bleu_smoothing(smooth: str, value: float | None, effective_order: bool) -> None:
    for tokenize in TOKENISERS:
        options = {"tokenize": tokenize, "smooth": smooth, "smooth_value": value}
        check_bleu(with_references(2), effective_order=effective_order, **options)
        # A corpus of one example each: here smoothing decides nearly everything.
        for example in with_references(1):
            check_bleu([example], effective_order=effective_order, **options)


@pytest.mark.parametrize(("tokenize", "module"), [("ja-mecab", "MeCab"), ("ko-mecab", "mecab_ko")])
def test_bleu_with_a_tokeniser_that_has_to_be_installed(tokenize: str, module: str) -> None:
    pytest.importorskip(module)
    check_bleu(with_references(0), tokenize=tokenize)


@pytest.mark.parametrize("references", [1, 2, 3, 0])
@pytest.mark.parametrize("whitespace", [False, True])
@pytest.mark.parametrize("eps_smoothing", [False, True])
@pytest.mark.parametrize("word_order", [0, 1, 2, 3])
def test_chrf_of_real_languages(
    word_order: int, eps_smoothing: bool, whitespace: bool, references: int
) -> None:
    options = {"eps_smoothing": eps_smoothing, "whitespace": whitespace, "word_order": word_order}
    for char_order, beta, lowercase in [(6, 2, False), (6, 2, True), (1, 1, False), (4, 3, True)]:
        examples = with_references(references)
        check_chrf(examples, char_order=char_order, beta=beta, lowercase=lowercase, **options)


# Pieces that the rules treat differently; random characters alone would hardly ever meet.
PIECES = [
    *"abAB125.,-'!&;:(_", "..", "&quot;", "&lt;", "<skipped>", "-\n", "\n", "\r", "\x1c", "\x85",
    "\u2028", "\u00a0", "\u3000", " ", " ", " ", "\t", "é", "e\u0301", "ß", "İ", "Σ", "ж", "北", "。",
    "，", "カ", "한", "ก", "ह", FAMILY, "\u200d", "€", "»", "…", "½", "٣", "\U00020000",
    "a" * 9, "sixteen-byteswd1", "more-than-sixteen-bytes-1", "more-than-sixteen-bytes-2",
]  # fmt: skip
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.text("ab ", max_size=25),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=15),
)
corpora = st.lists(
    st.tuples(texts, st.lists(texts, min_size=1, max_size=3).map(tuple)), min_size=1, max_size=5
)


@given(
    corpora,
    st.fixed_dictionaries(
        {
            "tokenize": st.sampled_from(TOKENISERS),
            "lowercase": st.booleans(),
            "smooth": st.sampled_from(["exp", "floor", "add-k", "none"]),
            "smooth_value": st.sampled_from([None, 0.01, 1.5]),
            "max_order": st.integers(1, 7),
            "effective_order": st.booleans(),
        }
    ),
)
@settings(max_examples=200, deadline=None)
def test_bleu_of_random_text(examples: list[Example], options: dict[str, Any]) -> None:
    check_bleu(examples, **options)


@given(
    corpora,
    st.fixed_dictionaries(
        {
            "char_order": st.integers(1, 9),
            "word_order": st.integers(0, 3),
            "beta": st.integers(0, 4),
            "lowercase": st.booleans(),
            "whitespace": st.booleans(),
            "eps_smoothing": st.booleans(),
        }
    ),
)
@settings(max_examples=200, deadline=None)
def test_chrf_of_random_text(examples: list[Example], options: dict[str, Any]) -> None:
    check_chrf(examples, **options)

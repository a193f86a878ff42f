# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.report import words
from assay.report.sidebyside import marked, side_by_side, stacked
from assay.report.terminal import display_width
from assay.report.words import Piece, differing, texts_of, word_diff

CASES = [
    # name                     first          second           first marked        second marked
    ("equal", "a b", "a b", "a b", "a b"),
    ("one word", "a b c", "a x c", "a [-b-] c", "a {+x+} c"),
    ("a phrase is one piece", "a b c d", "a x y d", "a [-b c-] d", "a {+x y+} d"),
    ("inserted in the middle", "a c", "a b c", "a c", "a {+b+} c"),
    ("deleted at the start", "a b", "b", "[-a-] b", "b"),
    ("inserted at the end", "a", "a b", "a", "a {+b+}"),
    ("nothing before", "", "a", "", "{+a+}"),
    ("punctuation by itself", "so.", "so!", "so[-.-]", "so{+!+}"),
    ("white space alone", "a  b", "a b", "a[-  -]b", "a{+ +}b"),
    ("case matters", "It", "it", "[-It-]", "{+it+}"),
    ("unspaced script", "東京は", "大阪は", "[-東京-]は", "{+大阪+}は"),
    ("steering", "a\x1b[1m", "a", "a[-\\x1b[1m-]", "a"),
]


@pytest.mark.parametrize(
    ("first", "second", "left", "right"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_marks(first: str, second: str, left: str, right: str) -> None:
    sides = word_diff(first, second)
    assert (marked(sides.first), marked(sides.second)) == (left, right)


texts = st.text(st.sampled_from("ab .,日\n\t "), max_size=12)


@given(texts, texts)
def test_pieces_are_the_texts_and_what_is_the_same_is_on_both_sides(
    first: str, second: str
) -> None:
    sides = word_diff(first, second)
    assert "".join(p.text for p in sides.first) == first
    assert "".join(p.text for p in sides.second) == second
    same = ["".join(p.text for p in side if p.kind == "same") for side in sides]
    assert same[0] == same[1]
    assert (first == second) == all(p.kind == "same" for side in sides for p in side)


@given(texts, texts)
def test_turned_around_as_many_words_are_the_same(first: str, second: str) -> None:
    def size(a: str, b: str) -> int:
        same = (p.text for p in word_diff(a, b).first if p.kind == "same")
        return sum(1 for text in same for word in words.words(text) if word.text)

    assert size(first, second) == size(second, first)


def test_very_long_texts_are_replaced_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "MOST_CELLS", 8)
    assert marked(word_diff("a b c", "a x c").first) == "[-a b c-]"


def test_candidates_are_held_against_each_other_by_rank() -> None:
    found = differing(["a", "b"], ["a", "c", "d"])
    assert [ranked.rank for ranked in found] == [2, 3]
    assert found[1].first is None
    assert found[1].second == (Piece("inserted", "d"),)


def test_equal_predictions_show_their_first_candidate_unmarked() -> None:
    assert differing(["a", "b"], ["a", "b"]) == [(1, (Piece("same", "a"),), (Piece("same", "a"),))]


def test_a_missing_prediction_has_no_candidates() -> None:
    assert differing(None, None) == []
    (ranked,) = differing(None, "a")
    assert ranked.first is None


def test_other_data_is_its_json() -> None:
    assert texts_of([1, "a"]) == ['[1, "a"]']


LONG = [Piece("same", "one two "), Piece("deleted", "三四五六七八九十"), Piece("same", " eleven")]


@pytest.mark.parametrize("width", [30, 41, 80])
def test_lines_fit_and_nothing_is_lost(width: int) -> None:
    lines = stacked([("system", LONG)], colour=False, width=width)
    assert all(display_width(line) <= width for line in lines)
    kept = "".join("".join(lines).split()).removeprefix("system")
    assert kept == "onetwo[-三四五六七八九十-]eleven"
    columns = side_by_side(("a", LONG), ("b", LONG), colour=False, width=width)
    assert all(display_width(line) <= width for line in columns)
    assert len({display_width(line.partition("│")[0]) for line in columns}) == 1


def test_a_whole_text_keeps_its_lines_and_all_of_its_letters() -> None:
    text = "one\n\n    two " + "word " * 500
    changed = [Piece("same", "a"), Piece("inserted", "\nb"), Piece("same", " c\n")]
    rows = [("all", [Piece("same", text)]), ("changed", changed)]
    lines = stacked(rows, colour=False, width=60, whole=True)
    assert lines[:3] == ["  all      one", "", "               two " + "word " * 7 + "word"]
    assert sum(line.count("word") for line in lines) == 500
    assert lines[-3:] == ["  changed  a{+\\n+}", "           {+b+} c", ""]
    # elsewhere a line end stays spelled out, also where it stands alone
    assert marked([Piece("same", "\n")]) == "\\n"


def test_colour_replaces_marks_and_shows_spaces() -> None:
    pieces = [Piece("same", "a"), Piece("inserted", "  "), Piece("deleted", "b")]
    assert marked(pieces, colour=True) == "a\x1b[32m␣␣\x1b[0m\x1b[31mb\x1b[0m"


def test_nothing_of_a_prediction_steers_the_terminal() -> None:
    evil = "".join(map(chr, [*range(32), *range(0x7F, 0xA0), 0x202E, 0x2066, 0xFEFF]))
    shown = marked(word_diff(evil, "x").first)
    assert shown.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "cafe\u0301",
        "👩\u200d👩\u200d👧\u200d👦",
        "🇩🇪",
        "👍🏽",
        "❤\ufe0f",
        "नमस्ते",
        "שָׁלוֹם",
        "ที่",
        "か\u3099",
    ],
)
def test_what_is_seen_as_one_is_not_cut(text: str) -> None:
    assert [word.text for word in words.words(text)] == [text, ""]

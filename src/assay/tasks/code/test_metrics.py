# SPDX-License-Identifier: Apache-2.0
"""Every family by hand: tables that can be checked by eye."""

from __future__ import annotations

import math
from typing import Any

import pytest

from assay.core.batch import Pair
from assay.tasks.code.registry import load

nan = math.nan

POOLED = [
    # name                          prediction         gold              tp  fp  fn
    ("all right",                   "get name",        "get name",       2,  0,  0),
    ("half right",                  "get size",        "get name",       1,  1,  1),
    ("case matters",                "Get name",        "get name",       1,  1,  1),
    ("a repeated hit counts twice", "get get",         "get name",       2,  0,  1),
    ("a repeated miss counts twice", "a",              "b b",            0,  1,  2),
    ("reserved in the prediction",  "<OOV> get <pad>", "get",            1,  0,  0),
    ("reserved, other spelling",    "<oov> <PAD>",     "get",            0,  2,  1),
    ("reserved in the gold",        "<OOV>",           "<OOV>",          0,  0,  1),
    ("nothing left",                "<pad> <pad>",     "get name",       0,  0,  2),
    ("an empty line is a token",    "",                "get",            0,  1,  1),
    ("an empty line can be right",  "",                "",               1,  0,  0),
    ("two spaces, an empty token",  "a  b",            "a b",            2,  1,  0),
    ("a no-break space does not split", "a\u00a0b",    "a b",            0,  1,  2),
    ("long tokens",                 "x" * 17 + "a",    "x" * 17 + "b",   0,  1,  1),
    ("a NUL is a character",        "a\0",             "a",              0,  1,  1),
    ("many tokens",                 "a " * 20 + "b",   "a " * 18 + "c",  20, 1,  1),
]  # fmt: skip


def prf(tp: int, fp: int, fn: int) -> dict[str, float]:
    p = tp / (tp + fp) if tp + fp else 0.0
    r = tp / (tp + fn) if tp + fn else 0.0
    return {"precision": p, "recall": r, "f1_score": 2 * p * r / (p + r) if p + r else 0.0}


@pytest.mark.parametrize(("name", "prediction", "gold", "tp", "fp", "fn"), POOLED)
def test_names_pooled(name: str, prediction: str, gold: str, tp: int, fp: int, fn: int) -> None:
    assert load("names_pooled").score([(prediction, gold)]) == pytest.approx(prf(tp, fp, fn))


def test_names_pooled_sums_counts_before_it_divides() -> None:
    found = load("names_pooled").score([("get name", "get size"), ("set size", "set up now")])
    assert found == {"precision": 0.5, "recall": 0.4, "f1_score": 0.4444444444444445}


ORIGINAL = [
    # name                          prediction       gold           tp  fp  fn
    ("reserved on both sides",      "get <PAD>",     "<UNK> get",   1,  0,  0),
    ("others are tokens",           "<OOV>",         "get",         0,  1,  1),
    ("equal without spaces",        "getName",       "get Name",    2,  0,  0),
    ("equal without spaces, again", "get name",      "getname",     1,  0,  0),
    ("nothing on either side",      "</S>",          "<PAD>",       0,  0,  0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "prediction", "gold", "tp", "fp", "fn"), ORIGINAL)
def test_names_pooled_by_the_original_rules(
    name: str, prediction: str, gold: str, tp: int, fp: int, fn: int
) -> None:
    metric = load("names_pooled(rules=code2seq-original)")
    assert metric.score([(prediction, gold)]) == pytest.approx(prf(tp, fp, fn))


AVERAGED = [
    # name                             candidates               gold        tp fp fn exact
    ("all right",                      ["get name"],            "get name", 2, 0, 0, 1),
    ("right but for case",             ["Get NAME"],            "get name", 2, 0, 0, 0),
    ("predicted ones are a set",       ["get get"],             "get name", 1, 0, 1, 0),
    ("gold ones are a list",           ["get"],                 "a a get",  1, 0, 2, 0),
    ("reserved tokens are tokens",     ["<OOV> get"],           "get",      1, 1, 0, 0),
    ("the best candidate",             ["x", "get", "get name"], "get name", 2, 0, 0, 1),
    ("the first of equal ones",        ["name get", "get name"], "get name", 2, 0, 0, 0),
    ("an empty candidate",             ["x", ""],               "",         1, 0, 0, 1),
    ("sigma at the end of a token",    ["ΟΔΟΣ"],                "οδος",     1, 0, 0, 0),
    ("dotted capital I",               ["İ"],                   "i̇",        1, 0, 0, 0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "candidates", "gold", "tp", "fp", "fn", "exact"), AVERAGED)
def test_names_averaged(
    name: str, candidates: list[str], gold: str, tp: int, fp: int, fn: int, exact: int
) -> None:
    found = load("names_averaged").score([(candidates, gold)])
    wanted = prf(tp, fp, fn)
    assert found == pytest.approx(
        {
            **wanted,
            "exact_match_percentage": exact,
            **{f"pooled_{key}": value for key, value in wanted.items()},
        }
    )


def test_names_averaged_by_the_official_rules() -> None:
    # First candidate, case kept, sets: {get} against {get, Get}.
    found = load("names_averaged(rules=ogb-official)").score([(["get get", "x"], "get Get get")])
    assert found["precision"] == 1.0
    assert found["recall"] == 0.5
    assert load("names_averaged(rules=ogb-official)").score([("", "")])["f1_score"] == 0.0


SUCCESSIVE = [
    # name                     candidates                gold        expected        longest
    ("all right",              ["a b c"],                "a b c",    3 / 3 * 2,      3),
    ("two runs",               ["a b x d"],              "a b c d",  1.0,            2),
    ("nothing right",          ["x y"],                  "a b",      0.0,            0),
    ("longer prediction",      ["a b c d"],              "a b",      2 / 4 * 3 / 2,  2),
    ("moved by one",           ["x a b"],                "a b",      0.0,            0),
    # Runs "a" and "x b c" of 5 are more than one run "a b x": 1/5 + 3/5 * 2 against 3/5 * 2.
    ("best by expected number", ["a b x x x", "a x x b c"], "a b x b c", 1.4, 3),
    ("empty against empty",    [""],                     "",         1.0,            1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "candidates", "gold", "expected", "longest"), SUCCESSIVE)
def test_successive_tokens(
    name: str, candidates: list[str], gold: str, expected: float, longest: int
) -> None:
    found = load("successive_tokens").score([(candidates, gold)])
    assert list(found.values()) == pytest.approx([expected, longest])


def test_the_longest_run_is_that_of_the_chosen_candidate() -> None:
    # Two runs of two: 2 * 2/5 * 3/2 = 1.2; one run of three out of six: 3/6 * 2 = 1.
    beam = ["a b x d e", "a b c x x x"]
    found = load("successive_tokens").score([(beam, "a b c d e")])
    assert list(found.values()) == pytest.approx([1.2, 2])


COMPLETION = [
    # name                          prediction        gold              BLEU of 100
    ("the same",                    "x = getName()",  "x = getName()",  100.0),
    ("quotes are quotes",           "f('a')",         'f("a")',         100.0),
    ("spaces do not matter",        "f ( a )",        "f(a)",           100.0),
    ("one token each",              "a",              "a",              100.0),
    ("nothing",                     "",               "",               100.0),
    ("nothing predicted",           " ",              "a",              0.0),
    ("nothing to predict",          "a",              "",               0.0),
    # 2 of 2 tokens, 1 of 1 pairs; gold has 3 tokens: exp(1 - 3/2).
    ("too short",                   "a b",            "a b c",          100 * math.exp(-0.5)),
    # a longer prediction: 2 of 3 tokens, 1 of 2 pairs, order 2: sqrt(2/3 * 1/2).
    ("too long",                    "a b c",          "a b",            100 * math.sqrt(1 / 3)),
    ("camel case is two tokens",    "getURL",         "get URL",        100.0),
    ("capitals stay together",      "HTTPServer",     "HTTP Server",    0.0),
    ("beyond ASCII, each a token",  "éà",             "é à",            100.0),
]  # fmt: skip


@pytest.mark.parametrize(("name", "prediction", "gold", "wanted"), COMPLETION)
def test_completion_bleu(name: str, prediction: str, gold: str, wanted: float) -> None:
    assert load("completion_bleu").score([(prediction, gold)])["bleu"] == pytest.approx(wanted)


def test_completion_bleu_looks_at_the_first_candidate() -> None:
    assert load("completion_bleu").score([(["x", "a b"], "a b")])["bleu"] == 0.0


COMMENTS: list[tuple[str, list[tuple[str, str]], list[float]]] = [
    # 3 of 3 tokens, 1 of 2 pairs, 0 of 1 triples, 0 of 1 quadruples; 3 tokens for 4.
    (
        "one line",
        [("returns the name", "returns the full name")],
        [100 * math.exp(-1 / 3), 100 * math.exp(-1 / 3) * math.sqrt(1 / 2), 0.0, 0.0],
    ),
    ("nothing in common", [("a b", "c d")], [0.0, 0.0, 0.0, 0.0]),
    # A line of one token has one pair, triple and quadruple all the same, none of them right:
    # 6 of 6 tokens, 4 of 5 pairs, 3 of 4 triples, 2 of 3 quadruples.
    (
        "a short line lowers the longer orders",
        [("a b c d e", "a b c d e"), ("f", "f")],
        [
            100.0,
            100 * math.sqrt(4 / 5),
            100 * (4 / 5 * 3 / 4) ** (1 / 3),
            100 * (4 / 5 * 3 / 4 * 2 / 3) ** (1 / 4),
        ],
    ),
    # Clipped: `a` is right twice at most.
    ("repeats are clipped", [("a a a", "a a b")], [100 * 2 / 3, 100 * math.sqrt(1 / 3), 0.0, 0.0]),
]


@pytest.mark.parametrize(("name", "pairs", "wanted"), COMMENTS)
def test_comment_bleu(name: str, pairs: list[tuple[str, str]], wanted: list[float]) -> None:
    found = load("comment_bleu").score(pairs)
    assert list(found.values()) == pytest.approx(wanted, rel=1e-9, abs=1e-60)


def test_an_order_without_a_match_vanishes_but_is_not_zero() -> None:
    found = load("comment_bleu").score([("a b c", "a b c")])
    assert 0 < found["bleu_4"] < 1e-70
    assert found["bleu_3"] == pytest.approx(100)


def test_comment_bleu_takes_all_numbers_from_the_best_rank() -> None:
    pairs = [
        (["a b c d x", "a b c d e", "y"], "a b c d e"),
        (["q r s t u", "q r s t v", "y"], "q r s t u"),
    ]
    one, two = (load(f"comment_bleu(ranks={k})").score(pairs) for k in (1, 2))
    assert two == one  # both ranks have one line right and one nearly: the first wins
    turned = [([b, a, c], gold) for (a, b, c), gold in [pairs[0]]]
    assert load("comment_bleu(ranks=3)").score([(["z", "z", "a b c d"], "a b c d")])[
        "bleu_4"
    ] == pytest.approx(100)
    assert load("comment_bleu(ranks=2)").score(turned)["bleu_4"] == pytest.approx(100)
    assert load("comment_bleu(ranks=0)").score(pairs) == dict.fromkeys(one, 0.0)


def test_comment_bleu_without_lines_is_undefined() -> None:
    assert all(math.isnan(value) for value in load("comment_bleu").score([]).values())


BUGS = [
    # name                       prediction          gold              seq  both free loc  rep
    ("found free",               "NO_BUG",           "NO_BUG",         1,   0,   1,   0,   0),
    ("not trimmed",              "NO_BUG ",          "NO_BUG",         0,   0,   0,   0,   0),
    ("all right",                "POINTER(2,x) y",   "POINTER(2,x) y", 1,   1,   0,   1,   1),
    ("place alone",              "POINTER(2,x) z",   "POINTER(2,x) y", 0,   0,   0,   1,   0),
    ("repair alone",             "POINTER(3,x) y",   "POINTER(2,x) y", 0,   0,   0,   0,   1),
    ("several tokens of repair", "POINTER(3,x) y z", "POINTER(2,x) y z", 0, 0,   0,   0,   1),
    ("a space more",             "POINTER(2,x) y ",  "POINTER(2,x) y", 0,   0,   0,   1,   0),
    ("no repair in gold",        "NO_BUG",           "POINTER(2,x)",   0,   0,   0,   0,   1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "prediction", "gold", "seq", "both", "free", "loc", "rep"), BUGS)
def test_bug_repair(
    name: str, prediction: str, gold: str, seq: int, both: int, free: int, loc: int, rep: int
) -> None:
    found = load("bug_repair").score([(prediction, gold)])
    assert list(found.values()) == [seq, both, free, loc, rep]


def test_bug_repair_divides_by_what_there_is() -> None:
    pairs = [("POINTER(2,x) y", "POINTER(2,x) y"), ("?", "POINTER(2,x) y"), ("NO_BUG", "NO_BUG")]
    found = load("bug_repair").score(pairs)
    assert list(found.values()) == pytest.approx([2 / 3, 1 / 2, 1 / 1, 1 / 2, 1 / 2])


MISUSE = [
    # name                        style        prediction             gold                 tp true loc rep bad same
    ("all right",                 "pointed",   "POINTER(4,x) y",      "POINTER(4,x) y",    1, 1,   1,  1,  0,  1),
    ("trimmed",                   "pointed",   " POINTER(4,x) y\u3000", "POINTER(4,x) y",  1, 1,   1,  1,  0,  1),
    ("a leading zero",            "pointed",   "POINTER(04,x) y",     "POINTER(4,x) y",    1, 1,   1,  0,  0,  0),
    ("other digits",              "pointed",   "POINTER(٤,x) y",      "POINTER(4,x) y",    1, 1,   1,  0,  0,  0),
    ("another place",             "pointed",   "POINTER(5,x) y",      "POINTER(4,x) y",    1, 1,   0,  0,  0,  0),
    ("place 0 is a bug",          "pointed",   "POINTER(0,x) y",      "POINTER(4,x) y",    1, 1,   0,  0,  0,  0),
    ("said to be free",           "pointed",   "POINTER(1,x) y",      "POINTER(4,x) y",    0, 0,   0,  0,  0,  0),
    ("free and said to be",       "pointed",   "POINTER(1,a) a",      "POINTER(1,b) b",    0, 1,   0,  0,  0,  0),
    ("no number",                 "pointed",   "POINTER(,x) y",       "POINTER(4,x) y",    0, 0,   0,  0,  1,  0),
    ("no comma",                  "pointed",   "POINTER(4)",          "POINTER(4,x) y",    0, 0,   0,  0,  1,  0),
    ("a negative number",         "pointed",   "POINTER(-4,x) y",     "POINTER(4,x) y",    0, 0,   0,  0,  1,  0),
    ("small letters",             "pointed",   "pointer(4,x) y",      "POINTER(4,x) y",    0, 0,   0,  0,  1,  0),
    ("nothing",                   "pointed",   "",                    "POINTER(1,x) y",    0, 0,   0,  0,  1,  0),
    ("unpointed",                 "unpointed", "ERROR_LOCATION_4 y",  "ERROR_LOCATION_4 y", 1, 1,  1,  1,  0,  1),
    ("bug free",                  "unpointed", "BUG_FREE",            "BUG_FREE",          0, 1,   0,  0,  0,  1),
    ("begins with bug free",      "unpointed", "BUG_FREEDOM",         "BUG_FREE",          0, 1,   0,  0,  0,  0),
    ("location 1 cannot be said", "unpointed", "ERROR_LOCATION_1 y",  "BUG_FREE",          0, 0,   0,  0,  1,  0),
    ("glued to the number",       "unpointed", "ERROR_LOCATION_4y",   "ERROR_LOCATION_4 y", 0, 0,  0,  0,  1,  0),
    ("the number at the end",     "unpointed", "ERROR_LOCATION_4",    "ERROR_LOCATION_4 y", 1, 1,  1,  0,  0,  0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "style", "prediction", "gold", "tp", "true", "loc", "rep", "bad", "same"), MISUSE
)
def test_misuse_repair(
    name: str, style: str, prediction: str, gold: str,
    tp: int, true: int, loc: int, rep: int, bad: int, same: int,
) -> None:  # fmt: skip
    found = load(f"misuse_repair(style={style})").score([(prediction, gold)])
    shares = (
        "true_positive",
        "true",
        "localized",
        "localized_and_repaired",
        "total_syntax_errors",
        "sequence_accuracy",
    )
    assert [found[key] for key in shares] == [tp, true, loc, rep, bad, same]
    assert math.isnan(found["raw_true"])


def test_misuse_repair_of_a_larger_test_set() -> None:
    pairs = [
        ("POINTER(4,x) y", "POINTER(4,x) y"),
        ("POINTER(4,x) z", "POINTER(4,x) y"),
        ("POINTER(1,f)", "POINTER(1,f)"),
    ]
    found = load("misuse_repair(raw_total=10,raw_total_buggy=4)").score(pairs)
    assert found == pytest.approx(
        {
            "true_positive": 2 / 2, "true": 3 / 3, "localized": 2 / 2, "localized_and_repaired": 1 / 2,
            "raw_true_positive": 2 / 4, "raw_true": 3 / 10, "raw_localized": 2 / 4,
            "raw_localized_and_repaired": 1 / 4, "sequence_accuracy": 2 / 3, "total_buggy": 2,
            "total_syntax_errors": 0, "total_localized_but_not_repaired": 1,
        }
    )  # fmt: skip


def test_classes() -> None:
    right, wrong = "CLASS_Correct", "CLASS_Incorrect"
    pairs = [
        (right, right),
        (wrong, right),
        (right, wrong),
        (" CLASS_Correct\t", right),
        ("?", right),
    ]
    assert load("class_accuracy").score(pairs)["accuracy"] == pytest.approx(2 / 5)
    means = load("class_means(labels=docstring)")
    assert means.score(pairs)["mean_per_class_accuracy"] == pytest.approx((2 / 4 + 0 / 1) / 2)
    assert means.score([])["mean_per_class_accuracy"] == 0.0
    # The marker may stand anywhere, and each place makes a class of its own.
    split = [("CorrCLASS_ect", "CorrCLASS_ect"), (wrong, right)]
    assert means.score(split)["mean_per_class_accuracy"] == pytest.approx((1 + 0) / 2)


EDITS = [
    # name             candidates              gold            total add  val  type del
    ("add",            ["add_node a"],         "add_node a",     1,  1,   0,   0,   0),
    ("second",         ["x", "del_node 3"],    "del_node 3",     1,  0,   0,   0,   1),
    ("value",          ["replace_val 1 b"],    "replace_val 1 b", 1, 0,   1,   0,   0),
    ("type",           ["replace_type 1"],     "replace_type 1", 1,  0,   0,   1,   0),
    ("another kind",   ["NoOp"],               "NoOp",           0,  0,   0,   0,   0),
    ("no kind",        [""],                   "",               0,  0,   0,   0,   0),
    ("a longer word",  ["add_nodes a"],        "add_nodes a",    0,  0,   0,   0,   0),
    ("not trimmed",    ["add_node a "],        "add_node a",     0,  0,   0,   0,   0),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "candidates", "gold", "total", "add", "val", "type_", "del_"), EDITS
)
def test_edit_kinds(
    name: str, candidates: list[str], gold: str, total: int, add: int, val: int, type_: int, del_: int
) -> None:  # fmt: skip
    found = load("edit_kinds").score([(candidates, gold)])
    assert list(found.values()) == [total, add, val, type_, del_]


def test_candidates_by_rank() -> None:
    pairs: list[tuple[Any, str]] = [
        (["a", "b", "b"], "b"), ("b", "b"), (["x"] * 12 + ["b"], "b"), (["B", "b "], "b"),
    ]  # fmt: skip
    assert load("any_candidate").score(pairs) == {"class_acc": 3 / 4}
    found = load("topk").score(pairs)
    assert list(found.values()) == [1 / 4, 2 / 4, 2 / 4, 2 / 4, 2 / 4, 3 / 4]


@pytest.mark.parametrize(
    ("text", "gold"),
    [
        ("names_pooled", ""),
        ("names_averaged", ""),
        ("comment_bleu", ""),
        ("completion_bleu", ""),
        ("successive_tokens", ""),
        ("bug_repair", "POINTER(2,x)"),
        ("class_accuracy", ""),
        ("any_candidate", ""),
        ("topk", ""),
    ],
)
def test_what_is_missing_is_wrong_even_where_an_empty_answer_is_right(text: str, gold: str) -> None:
    metric = load(text)
    assert any(metric.score([Pair("", gold)]).values())
    assert not any(metric.score([Pair("", gold, missing=True)]).values())

# SPDX-License-Identifier: Apache-2.0
"""Both sides meet by order or by id, everything is counted, and nothing is guessed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import align
from assay.align.near import near_miss
from assay.align.shape import Shape
from assay.core.batch import BLOCK, Batch
from assay.core.document import Counts, Intake
from assay.core.errors import AlignError
from assay.core.records import Records
from assay.core.task import Missing
from assay.core.text import TextLists


def block(
    values: Sequence[str], ids: Sequence[str] | None = None, path: str = "p", **more: Any
) -> Records:
    return Records(TextLists.of([v] for v in values), ids, path=path, **more)


def keyed(pairs: Sequence[tuple[str, str]], path: str = "p", size: int = 3) -> Iterator[Records]:
    """Records with ids, in blocks of `size`."""
    for first in range(0, len(pairs), size):
        part = pairs[first : first + size]
        yield block([v for _, v in part], [i for i, _ in part], path, first=first)


def listed(values: Sequence[str], path: str = "p", size: int = 3) -> Iterator[Records]:
    """Records without ids, in blocks of `size`."""
    for first in range(0, len(values), size):
        yield block(values[first : first + size], path=path, first=first)


def triples(batches: Sequence[Batch]) -> list[tuple[str, str, str]]:
    return [
        (b.id_of(i), next(iter(b.predictions[i]), "-"), b.gold[i][0])
        for b in batches
        for i in range(len(b))
    ]


def joined(
    predictions: Iterator[Records], gold: Any, missing: Missing = "error", **options: Any
) -> tuple[list[Batch], Intake]:
    intake = Intake()
    return list(
        align.examples(predictions, gold, intake=intake, missing=missing, **options)
    ), intake


ids = st.lists(st.text("abc01 ", min_size=1, max_size=3), unique=True, min_size=1, max_size=20)


@given(ids=ids, data=st.data(), size=st.integers(1, 7), missing=st.sampled_from(["wrong", "skip"]))
def test_by_id_does_not_depend_on_the_order_of_files(
    ids: list[str], data: st.DataObject, size: int, missing: Missing
) -> None:
    n_gold = data.draw(st.integers(1, len(ids)))
    gold = [(id, f"gold {id}") for id in ids[:n_gold]]
    # At least one id meets: where none does, there is nothing to pair.
    others = data.draw(st.lists(st.sampled_from(ids), unique=True))
    predictions = [(id, f"said {id}") for id in dict.fromkeys([*others, ids[0]])]
    shuffled = data.draw(st.permutations(predictions))
    one, first = joined(keyed(predictions, "p", size), keyed(gold, "g"), missing)
    two, second = joined(keyed(shuffled, "p"), keyed(gold, "g", size), missing)
    assert triples(one) == triples(two)
    assert first.counts == second.counts
    # The other side shuffled: the same examples in another order.
    other, third = joined(
        keyed(predictions, "p"), keyed(data.draw(st.permutations(gold)), "g"), missing
    )
    assert sorted(triples(other)) == sorted(triples(one))
    assert third.counts == first.counts
    said = {id for id, _ in predictions}
    wanted = {id for id, _ in gold}
    assert first.counts == Counts(
        gold=len(gold),
        predictions=len(predictions),
        matched=len(said & wanted),
        missing=len(wanted - said),
        extra=len(said - wanted),
    )
    kept = [id for id, _ in gold if missing == "wrong" or id in said]
    assert [t[0] for t in triples(one)] == kept
    assert all(p in ("", f"said {id}") and g == f"gold {id}" for id, p, g in triples(one))


@given(n=st.integers(1, 30), left=st.integers(1, 9), right=st.integers(1, 9))
def test_by_order_does_not_depend_on_blocks(n: int, left: int, right: int) -> None:
    batches, intake = joined(
        listed([f"p{i}" for i in range(n)], size=left),
        listed([f"g{i}" for i in range(n)], size=right),
    )
    assert triples(batches) == [(str(i + 1), f"p{i}", f"g{i}") for i in range(n)]
    assert intake.counts == Counts(gold=n, predictions=n, matched=n)


def test_batches_are_full_but_the_last() -> None:
    names = [str(i) for i in range(2 * BLOCK + 3)]
    pairs = [(name, name) for name in names]
    for missing, expected in (("error", len(names)), ("skip", len(names) - 2)):
        said = pairs if missing == "error" else pairs[1:-1]
        batches, _ = joined(keyed(said[::-1], size=1000), keyed(pairs, size=777), missing)  # type: ignore[arg-type]  # one of the policies
        assert [len(b) for b in batches] == [BLOCK, BLOCK, expected - 2 * BLOCK]
        assert [b.first for b in batches] == [0, BLOCK, 2 * BLOCK]
        assert all(i == p == g for i, p, g in triples(batches))


def test_missing_counts_as_wrong() -> None:
    (batch,), intake = joined(
        keyed([("b", "x"), ("d", "y")]), keyed([("a", "1"), ("b", "2"), ("c", "3")], "g"), "wrong"
    )
    assert batch.missing is not None
    assert batch.missing.tolist() == [True, False, True]
    assert triples([batch]) == [("a", "", "1"), ("b", "x", "2"), ("c", "", "3")]
    assert intake.counts == Counts(gold=3, predictions=2, matched=1, missing=2, extra=1)
    assert intake.warnings == [
        "1 prediction has no gold and counts for nothing, first 'd' (p, line 2)",
        "2 of 3 examples have no prediction and count as wrong, first 'a' (g, line 1)",
    ]


def test_missing_is_left_out() -> None:
    (batch,), intake = joined(keyed([("b", "x")]), keyed([("a", "1"), ("b", "2")], "g"), "skip")
    assert batch.missing is None
    assert triples([batch]) == [("b", "x", "2")]
    assert intake.counts == Counts(gold=2, predictions=1, matched=1, missing=1)
    assert intake.warnings == [
        "1 of 2 examples has no prediction and is left out, first 'a' (g, line 1)"
    ]


def test_nothing_left_to_score_is_refused() -> None:
    intake = Intake()
    with pytest.raises(AlignError) as caught:
        list(
            align.by_id(
                keyed([("x", "x")], "p"), keyed([("a", "1")], "g"), intake=intake, missing="skip"
            )
        )
    assert (
        str(caught.value)
        == "g and p do not line up: none of 1 gold ids has a prediction, so nothing is left to score; are these files of the same data?"
    )
    assert intake.counts == Counts(gold=1, predictions=1, missing=1, extra=1)


HOW = "use --missing wrong to count them as wrong, or --missing skip to leave them out"
G = [("q1", "1"), ("q2", "2")]
BY_ID = [
    # name, predictions, gold, message
    ("a gap", [("q1", "x")], G, f"g and p do not line up: 1 of 2 gold ids has no prediction, first 'q2' (g, line 2); {HOW}"),
    ("white space", [("q1", "x"), ("q2 ", "y")], G, f"g and p do not line up: 1 of 2 gold ids has no prediction, first 'q2' (g, line 2), 1 of the predictions no gold; 'q2' and the prediction's 'q2 ' differ only by white space around it; make the ids the same, or {HOW}"),
    ("case", [("Q1", "x"), ("Q2", "y")], G, f"g and p do not line up: 2 of 2 gold ids have no prediction, first 'q1' (g, line 1), 2 of the predictions no gold; 'q1' and the prediction's 'Q1' differ only by upper and lower case; make the ids the same, or {HOW}"),
    ("other data", [("x", "x")], G, f"g and p do not line up: 2 of 2 gold ids have no prediction, first 'q1' (g, line 1), 1 of the predictions no gold; no id occurs on both sides: are these files of the same data? If so, {HOW}"),
    ("one too many", [("q1", "x"), ("q2", "y"), ("q3", "z")], G, "g and p do not line up: 1 of 3 predictions has no gold, first 'q3' (p, line 3); remove what is not in the gold, or use --missing skip to leave it out"),
    ("twice in a block", [("q1", "x"), ("q1", "y")], G, "p, line 2: id 'q1' occurs a second time among the predictions, first in p, line 1; give every record an id of its own, or remove one of the two"),
    ("twice, far apart", [("q1", "x"), *((str(i), "") for i in range(4)), ("q1", "y")], G, "p, line 6: id 'q1' occurs a second time among the predictions, first in p, line 1; give every record an id of its own, or remove one of the two"),
    ("twice in the gold", G, [*G, ("q2", "3")], "g, line 3: id 'q2' occurs a second time among the gold, first in g, line 2; give every record an id of its own, or remove one of the two"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("predictions", "gold", "message"), [c[1:] for c in BY_ID], ids=[c[0] for c in BY_ID]
)
def test_message_by_id(predictions: Any, gold: Any, message: str) -> None:
    with pytest.raises(AlignError) as caught:
        joined(keyed(predictions, "p"), keyed(gold, "g"))
    assert str(caught.value) == message


def test_duplicates_are_refused_whatever_becomes_of_missing() -> None:
    for missing in ("wrong", "skip"):
        intake = Intake()
        with pytest.raises(AlignError, match="occurs a second time"):
            list(
                align.by_id(
                    keyed([("a", "x"), ("a", "y")]),
                    keyed([("a", "z")]),
                    intake=intake,
                    missing=missing,
                )
            )
        assert intake.counts.duplicate == 1


def test_a_duplicate_is_named_by_its_own_file() -> None:
    shards = iter([block(["x"], ["a"], "one"), block(["y", "z"], ["b", "a"], "two")])
    with pytest.raises(AlignError, match=r"^two, line 2: id 'a' occurs .* first in one, line 1;"):
        joined(shards, keyed([("a", "1"), ("b", "2")]))
    far = iter(
        [
            block(["x"], ["a"], "one"),
            block(["y"] * BLOCK, [f"b{i}" for i in range(BLOCK)], "two"),
            block(["z"], ["b0"], "three"),
        ]
    )
    with pytest.raises(
        AlignError, match=r"^three, line 1: id 'b0' occurs .* first in two, line 1;"
    ):
        joined(far, keyed([("a", "1")]))


EQUAL = ["a", "b", "c"]
OTHERWISE = "write one prediction for every example, in the order of the gold, or give both ids"
BY_ORDER = [
    # name, predictions, gold, message
    ("too few", ["a", "b"], EQUAL, f"p and g do not line up: 2 predictions, 3 gold; {OTHERWISE}"),
    ("too many", [*EQUAL, "d", "e"], EQUAL, f"p and g do not line up: 5 predictions, 3 gold; {OTHERWISE}"),
    ("a blank end", [*EQUAL, ""], EQUAL, "p and g do not line up: 4 predictions, 3 gold; p has a blank line too many at its end: remove it"),
    ("a longer blank end", EQUAL, [*EQUAL, "", ""], "p and g do not line up: 3 predictions, 5 gold; g has 2 blank lines too many at its end: remove them"),
    ("split at U+2028", ["a", "b\u2028c"], EQUAL, "p and g do not line up: 2 predictions, 3 gold; p holds 1 line break other than line feeds (U+2028), at which g seems to have been split: replace by spaces before splitting"),
    ("split at several", ["a", "b", "c", "d", "e"], ["a\x85b\rc", "d\u2028e"], "p and g do not line up: 5 predictions, 2 gold; g holds 3 line breaks other than line feeds (U+0085, U+2028, a lone CR), at which p seems to have been split: replace by spaces before splitting"),
    ("such a break that does not explain it", ["a", "b\u2028c"], [*EQUAL, "d"], f"p and g do not line up: 2 predictions, 4 gold; {OTHERWISE}"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("predictions", "gold", "message"), [c[1:] for c in BY_ORDER], ids=[c[0] for c in BY_ORDER]
)
def test_message_by_order(predictions: list[str], gold: list[str], message: str) -> None:
    with pytest.raises(AlignError) as caught:
        joined(listed(predictions, "p"), listed(gold, "g"))
    assert str(caught.value) == message


def test_counts_are_complete_after_an_error() -> None:
    intake = Intake()
    with pytest.raises(AlignError):
        list(align.by_order(listed(["x"] * 3 * BLOCK), listed(["y"] * (BLOCK + 1)), intake=intake))
    assert (intake.counts.predictions, intake.counts.gold) == (3 * BLOCK, BLOCK + 1)


def test_shapes_look_at_their_own_part_of_a_buffer() -> None:
    whole = TextLists.of([["a\u2028b"], ["c\u2028d"], [""], [""]])
    shape = Shape()
    for part in (whole[:1], whole[1:3], whole[3:]):
        shape.add(part)
    assert shape.breaks == {"U+2028": 2}
    assert shape.n_blank_end == 2


def test_ids_on_one_side_only() -> None:
    with pytest.raises(AlignError) as caught:
        joined(keyed([("a", "x")], "p"), listed(["y"], "g"))
    assert (
        str(caught.value)
        == "p has ids and g has none; give both sides ids, or use --align order to pair them line by line"
    )
    batches, _ = joined(keyed([("a", "x")], "p"), listed(["y"], "g"), align="order")
    assert triples(batches) == [("a", "x", "y")]


def test_shards_agree_on_having_ids() -> None:
    with pytest.raises(
        AlignError, match=r"^one has ids and two has none; give all files ids, or none$"
    ):
        joined(
            iter([block(["x"], ["a"], "one"), block(["y"], None, "two")]),
            keyed([("a", "1"), ("b", "2")]),
        )


def test_by_id_wants_ids() -> None:
    with pytest.raises(
        AlignError,
        match=r"^p, line 1: the predictions have no ids; give every record an id, or align by",
    ):
        joined(listed(["x"]), keyed([("a", "1")], "g"), align="id")


def test_order_may_be_forced_and_says_where_ids_differ() -> None:
    batches, intake = joined(
        keyed([("b", "x"), ("a", "y")], "p"), keyed([("a", "1"), ("b", "2")], "g"), align="order"
    )
    assert triples(batches) == [("a", "x", "1"), ("b", "y", "2")]
    assert intake.warnings == [
        "paired by order though ids differ, first 'b' (p, line 1) and 'a' (g, line 1)"
    ]


def test_several_gold_files_are_several_references() -> None:
    batches, intake = joined(
        listed(["x"] * 5), [listed(list("abcde"), "g1", 2), listed(list("vwxyz"), "g2", 3)]
    )
    assert [list(g) for b in batches for g in b.gold] == [
        ["a", "v"],
        ["b", "w"],
        ["c", "x"],
        ["d", "y"],
        ["e", "z"],
    ]
    assert intake.counts == Counts(gold=5, predictions=5, matched=5)


def test_several_gold_files_line_up() -> None:
    with pytest.raises(AlignError) as caught:
        joined(listed(["x"] * 3), [listed(["a"] * 3, "g1"), listed(["b"] * 5, "g2")])
    assert (
        str(caught.value)
        == "g1 and g2 do not line up: 3 and 5 references; every gold file needs one reference per example"
    )
    with pytest.raises(AlignError) as caught:
        joined(
            keyed([("a", "x"), ("b", "y")]),
            [keyed([("a", "1"), ("b", "2")], "g1"), keyed([("a", "1"), ("c", "2")], "g2")],
        )
    assert (
        str(caught.value)
        == "g2, line 2: id 'c' where g1, line 2 has 'b'; several gold files must hold the same examples in the same order"
    )


def test_lists_of_references_are_joined() -> None:
    one = Records(TextLists.of([["a", "b"], ["c"]]), path="g1")
    two = Records(TextLists.of([["d"], ["e", "f"]]), path="g2")
    (batch,), _ = joined(listed(["x", "y"]), [iter([one]), iter([two])])
    assert [list(g) for g in batch.gold] == [["a", "b", "d"], ["c", "e", "f"]]


def test_columns_of_both_sides_are_kept_and_gold_holds() -> None:
    left = iter([block(["x"], ["a"], columns={"topic": ["p"], "beam": ["4"]})])
    right = iter([block(["y"], ["a"], "g", columns={"topic": ["g"], "doc": ["7"]})])
    (batch,), intake = joined(left, right)
    assert batch.columns == {"topic": ["g"], "beam": ["4"], "doc": ["7"]}
    assert intake.warnings == [
        "column 'topic' differs between predictions and gold; the gold's is used"
    ]


def test_one_file_may_hold_both_sides() -> None:
    held = Records(
        TextLists.of([["x"], ["y"]]), ["a", "b"], also=TextLists.of([["1"], ["2"]]), path="p"
    )
    (batch,), intake = joined(iter([held]), None)
    assert triples([batch]) == [("a", "x", "1"), ("b", "y", "2")]
    assert intake.counts == Counts(gold=2, predictions=2, matched=2)
    half = Records(TextLists.of([["x"], ["y"]]), also=TextLists.of([["1"], []]), path="p")
    with pytest.raises(
        AlignError, match=r"^p, line 2: a prediction and no 'gold'; give a gold file, or"
    ):
        joined(iter([half]), None)


NEAR = [
    # name, without prediction, without gold, what differs
    ("case", "q1", "Q1", "upper and lower case"),
    ("white space", "q1", "q1\t", "white space around it"),
    ("normalisation", "é", "e\u0301", "Unicode normalisation"),
    ("leading zeros", "q1", "q001", "leading zeros"),
    ("zeros inside are another number", "q101", "q11", None),
    ("several", "q 1", "Q1 ", "white space, normalisation and case"),
    ("nothing alike", "q1", "x9", None),
]  # fmt: skip


@pytest.mark.parametrize(("lost", "extra", "what"), [c[1:] for c in NEAR], ids=[c[0] for c in NEAR])
def test_near_miss(lost: str, extra: str, what: str | None) -> None:
    found = near_miss([lost], [extra])
    assert found == (what and f"{lost!r} and the prediction's {extra!r} differ only by {what}")


def test_predictions_far_from_their_gold_are_found() -> None:
    n = 3 * BLOCK
    pairs = [(str(i), str(i)) for i in range(n)]
    batches, intake = joined(keyed(pairs[::-1], size=BLOCK), keyed(pairs, "g", BLOCK))
    assert all(i == p == g for i, p, g in triples(batches))
    assert intake.counts == Counts(gold=n, predictions=n, matched=n)

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.batch import BLOCK
from assay.core.errors import InputError
from assay.core.text import TextLists, Texts
from assay.tasks.metadata.kernel import compare, equal, fingerprints, repeats
from assay.tasks.metadata.labels import Labels, parse_labels
from assay.tasks.metadata.papers import _number_by_dictionary, number_papers, side_field

CASES = [
    # name                        bytes                     lines as read
    ("a plain line", b"p1\tA\tB\n", [("p1", ["A", "B"])]),
    ("no last line end", b"p1\tA", [("p1", ["A"])]),
    ("an id alone", b"p1\n", [("p1", [])]),
    ("an id and TABs", b"p1\t\t\n", [("p1", [])]),
    ("an empty value in the middle", b"p1\t\tx\n", [("p1", ["", "x"])]),
    ("trailing empty values go", b"p1\tA\t\t\n", [("p1", ["A"])]),
    ("an empty id", b"\tx\n", [("", ["x"])]),
    ("CR LF and lone CR", b"p1\tA\r\np2\tB\rp3\tC", [("p1", ["A"]), ("p2", ["B"]), ("p3", ["C"])]),
    (
        "what is no line end",
        "p1\ta\u2028b\x85c\x0bd\x1ce\n".encode(),
        [("p1", ["a\u2028b\x85c\x0bd\x1ce"])],
    ),
    ("blanks stay", b" p1 \t A \n", [(" p1 ", [" A "])]),
    ("a byte-order mark", b"\xef\xbb\xbfp1\tA\n", [("p1", ["A"])]),
    ("a blank line", b"p1\tA\n\np2\tB\n", [("p1", ["A"]), ("p2", ["B"])]),
    ("a line of TABs", b"\t\t\np1\tA\n", [("p1", ["A"])]),
    ("nothing", b"", []),
]


def lines_of(labels: Labels) -> list[tuple[str, list[str]]]:
    ids = list(labels.ids(np.arange(len(labels))))
    return [(ids[i], labels.list_of(i)) for i in range(len(labels))]


@pytest.mark.parametrize(("data", "lines"), [c[1:] for c in CASES], ids=[c[0] for c in CASES])
def test_reading_lines(data: bytes, lines: list[tuple[str, list[str]]]) -> None:
    assert lines_of(parse_labels(data, "x.tsv")) == lines


def test_quirks_keep_marks_and_blank_lines() -> None:
    labels = parse_labels(b"\xef\xbb\xbfp1\tA\n\n", "x.tsv", quirks=True)
    assert lines_of(labels) == [("\ufeffp1", ["A"]), ("", [])]


def test_lines_keep_their_numbers_when_others_are_left_out() -> None:
    labels = parse_labels(b"\np1\tA\n\np2\tB\n", "x.tsv")
    assert [labels.number_of(i) for i in range(2)] == [2, 4]


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"p1\tA\n" * 3 + b"p\xff\n", 4),
        (b"a\rb\r\nc\xe9", 3),
        (b"a\n" * 200_000 + b"\x80", 200_001),
    ],
)
def test_a_bad_byte_is_named_with_its_line(data: bytes, line: int) -> None:
    with pytest.raises(InputError, match="is not UTF-8") as caught:
        parse_labels(data, "x.tsv")
    assert caught.value.line == line


# Values without TABs and line ends, near enough to one another that many are equal.
words = st.text(alphabet="abé 😀\u00e9", max_size=20) | st.sampled_from(
    ["a" * 17, "a" * 16 + "b", "a" * 24]
)
lists = st.lists(st.lists(words, max_size=5), max_size=6)


@given(lists)
def test_labels_are_read_back_as_packed(given_lists: list[list[str]]) -> None:
    rows = [(f"p{i}", values) for i, values in enumerate(given_lists)]
    labels = Labels.of(rows)

    def shortened(values: list[str]) -> list[str]:
        while values and not values[-1]:
            values = values[:-1]
        return values

    assert lines_of(labels) == [(i, shortened(v)) for i, v in rows]
    assert lines_of(parse_labels(labels.data, "x.tsv")) == lines_of(labels)
    packed = labels.values(np.arange(len(labels)))
    assert [list(texts) for texts in packed] == [labels.list_of(i) for i in range(len(labels))]


@given(lists, st.data())
def test_comparing_many_equals_comparing_sets(ours: list[list[str]], data: st.DataObject) -> None:
    theirs = data.draw(st.lists(st.lists(words, max_size=5), min_size=1, max_size=6))
    owners = [data.draw(st.integers(0, len(theirs) - 1)) for _ in ours]
    found = compare(TextLists.of(ours), TextLists.of(theirs), np.array(owners, dtype=np.int64))
    wanted = [v in set(theirs[o]) for values, o in zip(ours, owners, strict=True) for v in values]
    assert found.predicted.tolist() == wanted
    again = [v in values[:i] for values in ours for i, v in enumerate(values)]
    assert found.predicted_again.tolist() == again
    assert repeats(TextLists.of(ours)).tolist() == again


def test_lists_too_long_for_pairs_are_compared_all_the_same() -> None:
    many = [f"v{i}" for i in range(900)]
    found = compare(TextLists.of([many + many[:3]]), TextLists.of([many[:-1]]), np.array([0]))
    assert found.predicted.tolist() == [True] * 899 + [False] + [True] * 3
    assert found.predicted_again.tolist() == [False] * 900 + [True] * 3


@given(st.lists(st.tuples(words, words)))
def test_equal_is_equality_of_bytes(pairs: list[tuple[str, str]]) -> None:
    left, right = Texts.of(a for a, _ in pairs), Texts.of(b for _, b in pairs)
    assert equal(left, right).tolist() == [a == b for a, b in pairs]
    same = [int(a) == int(b) for a, b in zip(fingerprints(left), fingerprints(right), strict=True)]
    assert all(s or a != b for s, (a, b) in zip(same, pairs, strict=True))


@given(st.lists(st.lists(words, max_size=8), max_size=3))
def test_papers_are_numbered_by_first_appearance(columns: list[list[str]]) -> None:
    packed = [Labels.of((text, []) for text in column) for column in columns]
    numbers, ids = number_papers(packed)
    seen = list(dict.fromkeys(text for column in columns for text in column))
    assert list(ids) == seen
    assert [n.tolist() for n in numbers] == [[seen.index(t) for t in c] for c in columns]
    plain = _number_by_dictionary(packed)
    assert list(plain.ids) == seen
    assert [n.tolist() for n in plain.numbers] == [n.tolist() for n in numbers]


def test_repeated_ids_merge_or_the_last_line_counts() -> None:
    labels = Labels.of([("p1", ["A"]), ("p2", ["B"]), ("p1", ["C"])])
    field = side_field("x", labels, np.array([0, 1, 0]), 3)
    assert [field.of(i) for i in range(3)] == [[["A"], ["C"]], [["B"]], []]
    assert [field.last_lines().of(i) for i in range(3)] == [[["C"]], [["B"]], []]
    assert [field.merged().of(i) for i in range(3)] == [[["A", "C"]], [["B"]], []]
    assert field.last_lines().first_lines().tolist() == [0, 1, -1]
    assert field.take(np.array([1, 0])).of(1) == [["A"], ["C"]]


def test_a_part_is_the_papers_it_was_cut_for_also_when_sent_elsewhere() -> None:
    labels = Labels.of([("p2", ["B"]), ("p1", ["A"]), ("p3", ["D"]), ("p1", ["C"])])
    field = side_field("x", labels, np.array([1, 0, 2, 0]), 4)
    part = field.part(1, 4)
    for held in (part, pickle.loads(pickle.dumps(part))):
        assert [held.of(i) for i in range(3)] == [[["B"]], [["D"]], []]
        assert [list(texts) for texts in held.lists()] == [["B"], ["D"]]
        assert [list(texts) for texts in held.first_lists()] == [["B"], ["D"], []]
        assert held.owners().tolist() == [0, 1]


def test_lines_come_in_file_order_with_their_papers() -> None:
    labels = Labels.of((f"p{i}", []) for i in range(BLOCK + 3))
    papers = np.arange(BLOCK + 3)[::-1]
    field = side_field("x", labels, papers, BLOCK + 3)
    blocks = list(field.part(0, BLOCK + 2).in_file_order())  # paper BLOCK + 2 has line 0
    assert np.concatenate([lines for lines, _ in blocks]).tolist() == list(range(1, BLOCK + 3))
    assert np.concatenate([owners for _, owners in blocks]).tolist() == papers[1:].tolist()

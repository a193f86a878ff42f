# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core import ngrams
from assay.core.ngrams import Tokens, blocks, borders, matches, matches_of_one, ranked

Ids = list[int]
Example = tuple[Ids, list[Ids]]


def tokens(texts: list[Ids]) -> Tokens:
    flat = [i for text in texts for i in text]
    return Tokens(np.array(flat, dtype=np.uint64), borders(np.array([len(t) for t in texts], int)))


def found(examples: list[Example], order: int) -> list[list[int]]:
    lists = borders(np.array([len(r) for _, r in examples], dtype=np.int64))
    predicted = tokens([p for p, _ in examples])
    gold = tokens([r for _, refs in examples for r in refs])
    counts: list[list[int]] = matches(predicted, gold, order, lists).tolist()
    return counts


def defined(examples: list[Example], order: int) -> list[list[int]]:
    return [matches_of_one(p, r, order) for p, r in examples]


def examples_of(ids: st.SearchStrategy[int], most: int = 12) -> st.SearchStrategy[list[Example]]:
    text = st.lists(ids, max_size=most)
    return st.lists(st.tuples(text, st.lists(text, max_size=4)), min_size=1, max_size=6)


@given(examples_of(st.integers(0, 3)), st.integers(1, 8))
def test_counts_are_those_of_the_definition(examples: list[Example], order: int) -> None:
    assert found(examples, order) == defined(examples, order)


@given(examples_of(st.sampled_from([0, 1, 2**32, 2**63, 2**64 - 1, 2**64 - 2])), st.integers(1, 9))
def test_any_unsigned_number_is_a_token(examples: list[Example], order: int) -> None:
    assert found(examples, order) == defined(examples, order)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which ways of counting were gone, in order."""
    gone: list[str] = []
    for name in ("_by_sort", "_by_rank", "_half"):
        original = getattr(ngrams._Block, name)

        def spy(
            self: object, *args: object, name: str = name, original: object = original
        ) -> object:
            gone.append(name)
            return original(self, *args)  # type: ignore[operator]  # a method, looked up by name

        monkeypatch.setattr(ngrams._Block, name, spy)
    return gone


def shuffled(n_different: int, size: int, seed: int) -> Ids:
    drawn: Ids = np.random.default_rng(seed).integers(0, n_different, size).tolist()
    return drawn


LIMITS = [
    # name, different tokens per example, tokens, examples, order, ways that must be gone
    ("fits at once", 50, 100, 3, 4, {"_by_sort"}),
    # Five examples and two references leave 59 bits, 14 per token; one alone leaves 15.
    ("fits when halved", 20_000, 40_000, 5, 4, {"_half", "_by_sort"}),
    # 4 x 16 bits and a side do not fit into 64 bits even for one example.
    ("one example is too much", 50_000, 90_000, 1, 4, {"_by_rank"}),
    ("one of several is too much", 50_000, 90_000, 3, 4, {"_by_rank"}),
    ("many orders", 300, 2_000, 2, 12, {"_by_rank"}),
]


@pytest.mark.parametrize(("name", "different", "size", "n", "order", "ways"), LIMITS, ids=[c[0] for c in LIMITS])  # fmt: skip
def test_limits_of_packing_are_not_limits_of_counting(
    name: str, different: int, size: int, n: int, order: int, ways: set[str], taken: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr(ngrams, "_BLOCK_TOKENS", 1 << 40)  # all examples in one block
    examples: list[Example] = []
    for k in range(n):
        gold = shuffled(different, size, seed=k)
        prediction = gold[: size // 2] + shuffled(different, size // 2, seed=100 + k)
        examples.append((prediction, [gold, prediction[10:90]]))
    assert found(examples, order) == defined(examples, order)
    assert ways <= set(taken)


def test_tokens_are_numbered_again_only_where_that_is_needed(taken: list[str]) -> None:
    # Twenty-one bits per code point times six are too many; the few different ones are not.
    examples: list[Example] = [([0x10FFFF, 0x1F600, 97] * 5, [[0x1F600, 97, 0x10FFFF] * 5])]
    assert found(examples, 6) == defined(examples, 6)
    assert taken == ["_by_sort"]


def test_more_references_than_a_byte_counts() -> None:
    examples: list[Example] = [([1, 2, 3, 1], [[k % 5, (k + 1) % 5] for k in range(300)])]
    assert found(examples, 3) == defined(examples, 3)


@given(examples_of(st.integers(0, 5)), st.integers(1, 4))
@settings(max_examples=50)
def test_neighbours_do_not_matter(examples: list[Example], order: int) -> None:
    alone = [found([example], order)[0] for example in examples]
    assert found(examples, order) == alone
    assert found(examples[::-1], order) == alone[::-1]
    assert found(examples * 150, order) == alone * 150  # more than one block


@given(st.lists(st.one_of(st.integers(0, 9), st.integers(0, 2**64 - 1)), max_size=20))
def test_numbers_keep_order_and_have_no_gaps(keys: list[int]) -> None:
    ranks, n = ranked(np.array(keys, dtype=np.uint64))
    different = sorted(set(keys))
    assert n == len(different)
    assert ranks.tolist() == [different.index(k) for k in keys]


@given(st.lists(st.integers(0, 20), max_size=30), st.integers(1, 30), st.integers(1, 5))
def test_blocks_cover_everything_once(sizes: list[int], limit: int, most: int) -> None:
    cut = list(blocks(np.array(sizes, dtype=np.int64), limit, most))
    assert [i for start, stop in cut for i in range(start, stop)] == list(range(len(sizes)))
    for start, stop in cut:
        assert stop - start <= most
        assert sum(sizes[start:stop]) <= limit or stop - start == 1

# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from assay.tasks.simul.softsegmenter import (
    PUNCTUATION,
    emissions_fixed,
    normalised,
    pieces_of,
    segmented,
)

MINUS = float("-inf")


def alike(a: str, b: str, by_character: bool) -> float:
    if (a in PUNCTUATION) != (b in PUNCTUATION):
        return MINUS
    if by_character:
        return float(a == b)
    return len(set(a) & set(b)) / len(set(a) | set(b))


def cell_by_cell(
    output: list[str], references: list[list[str]], by_character: bool = False
) -> list[int]:
    """The published algorithm as it is written down: a table, a trace, a walk over pairs."""
    words = [normalised(w) for segment in references for w in segment]
    homes = [i for i, segment in enumerate(references) for _ in segment]
    said = [normalised(w) for w in output]
    best = [[0.0] * (len(said) + 1) for _ in range(len(words) + 1)]
    back = [[""] * (len(said) + 1) for _ in range(len(words) + 1)]
    for i, word in enumerate(words, 1):
        for j, other in enumerate(said, 1):
            steps = {
                "match": best[i - 1][j - 1] + alike(word, other, by_character),
                "skip reference": best[i - 1][j],
                "skip output": best[i][j - 1],
            }
            best[i][j] = max(steps.values())
            back[i][j] = next(name for name, v in steps.items() if v == best[i][j])
    pairs: list[tuple[int | None, int | None]] = []
    i, j = len(words), len(said)
    while i or j:
        step = "skip output" if i == 0 else "skip reference" if j == 0 else back[i][j]
        pairs.append(
            (None if step == "skip output" else i - 1, None if step == "skip reference" else j - 1)
        )
        i -= step != "skip output"
        j -= step != "skip reference"
    pairs.reverse()
    home = [0] * len(said)
    last: int | None = None
    k = 0
    while k < len(pairs):
        row, column = pairs[k]
        if row is not None:
            last = row
            if column is not None:
                home[column] = homes[row]
            k += 1
            continue
        assert column is not None
        until = next((q for q in range(k, len(pairs)) if pairs[q][0] is not None), len(pairs))
        following = pairs[until][0] if until < len(pairs) else None
        ahead = MINUS if following is None else alike(words[following], said[column], by_character)
        behind = MINUS if last is None else alike(words[last], said[column], by_character)
        if following is not None and (ahead > behind or last is None):
            for _, member in pairs[k:until]:
                assert member is not None
                home[member] = homes[following]
            k = until
        else:
            assert last is not None
            home[column] = homes[last]
            k += 1
    return home


words = st.text(alphabet="abcd.,-A", min_size=1, max_size=4)
segments = st.lists(st.lists(words, max_size=5), min_size=1, max_size=4)


@settings(max_examples=300, deadline=None)
@given(st.lists(words, max_size=12), segments)
def test_rows_at_once_give_what_cells_give(output: list[str], references: list[list[str]]) -> None:
    if not any(references):
        assert segmented(output, references) == [0] * len(output)
        return
    assert segmented(output, references) == cell_by_cell(output, references)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from("ab。，c "), max_size=14), st.lists(st.lists(st.sampled_from("ab。，c"), max_size=6), min_size=1, max_size=3))  # fmt: skip
def test_characters_are_equal_or_not(output: list[str], references: list[list[str]]) -> None:
    if any(references):
        found = segmented(output, references, by_character=True)
        assert found == cell_by_cell(output, references, by_character=True)


def test_every_word_keeps_one_place_and_the_first_piece_decides() -> None:
    def split(word: str) -> list[str]:
        return [word[:-1], word[-1]] if word[-1] in ".," and len(word) > 1 else [word]

    pieces = pieces_of(["Hello.", "you"], split)
    assert (list(pieces.texts), pieces.is_main.tolist()) == (
        ["hello", ".", "you"],
        [True, False, True],
    )
    output = ["well", "hello.", "and", "you"]
    found = segmented(output, [["Hello."], ["And", "you"]], split=split)
    assert found == [0, 0, 1, 1]


def test_times_without_what_was_spent_before() -> None:
    # 100 ms of audio each, 300 ms of computation each: SimulEval adds up 300, 600, 900.
    assert emissions_fixed([100.0, 200.0, 300.0], [400.0, 800.0, 1200.0]) == [400.0, 500.0, 600.0]
    assert emissions_fixed([100.0, 100.0], [400.0, 400.0]) == [400.0, 400.0]  # never falls

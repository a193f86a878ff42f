# SPDX-License-Identifier: Apache-2.0
"""Which verdicts can still change a score, and what a judge is asked because of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.judging import CORRECT, Item, Question
from assay.judge.answers import value_of
from assay.judge.deciding import Deciding, Measure, View, prediction_of
from assay.judge.log import VerdictLog
from assay.judge.needs import Needs, Which
from assay.judge.others import Others
from assay.judge.queue import Entry
from assay.judge.session import Session
from assay.judge.store import Store
from assay.judge.verdict import Answer, Purpose, Verdict, verdict_on

STRUCTURE = Question("structure", "Correct structure?", about="structure")
COMMAND = Question("command", "Correct command?", needs="structure")
TWO = (STRUCTURE, COMMAND)
BOTH = [Measure(question, top) for question in TWO for top in (1, 3)]
ONE = [Measure(CORRECT, 1), Measure(CORRECT, 3)]


def ranked(key: str, *texts: str) -> list[Item]:
    """Predictions for one description, best first; what stands before the blank is the structure."""
    return [
        Item(f"{key}/{rank}", key, text, ("gold",), structure=text.split()[0], rank=rank)
        for rank, text in enumerate(texts, start=1)
    ]


def says(
    item: Item,
    question: Question,
    answer: Answer,
    judge: str = "anna",
    *,
    at: int = 0,
    purpose: Purpose = "",
) -> Verdict:
    time = f"2026-01-01T00:00:{at:02}Z"
    return verdict_on(item, question, answer, judge=judge, time=time, purpose=purpose)


def deciding(
    lists: Sequence[Sequence[Item]],
    verdicts: Iterable[Verdict] = (),
    *,
    questions: Sequence[Question] = (CORRECT,),
    measures: Sequence[Measure] = tuple(ONE),
) -> Deciding:
    return Deciding(lists, measures, questions, View(Store(verdicts), "anna"))


def open_of(found: Deciding, lists: Sequence[Sequence[Item]]) -> list[str]:
    return [item.id for items in lists for item in items if item in found]


# -- by hand --------------------------------------------------------------------------------------

BY_HAND = [
    # what is known of ranks 1, 2, 3         what can still change top 1 or top 3
    ("nothing", (None, None, None), [1, 2, 3]),
    ("the first is right", (True, None, None), []),
    ("the first is wrong", (False, None, None), [2, 3]),
    ("the third is right", (None, None, True), [1]),
    ("all but the third are wrong", (False, False, None), [3]),
    ("all are wrong", (False, False, False), []),
]


@pytest.mark.parametrize(("name", "known", "left"), BY_HAND, ids=[case[0] for case in BY_HAND])
def test_what_is_left_by_hand(name: str, known: tuple[bool | None, ...], left: list[int]) -> None:
    items = ranked("k", "a", "b", "c")
    verdicts = [
        says(item, CORRECT, "yes" if answer else "no")
        for item, answer in zip(items, known, strict=True)
        if answer is not None
    ]
    assert open_of(deciding([items], verdicts), [items]) == [f"k/{rank}" for rank in left]


def test_one_prediction_may_matter_for_another_system() -> None:
    first, second = ranked("k", "a", "b"), ranked("k", "b", "c")
    found = deciding([first, second], [says(first[0], CORRECT, "yes")])
    assert open_of(found, [first, second]) == ["k/2", "k/1", "k/2"]  # b by the second's top 1


def test_what_matches_by_rule_decides() -> None:
    items = ranked("k", "a", "b")
    items[0] = replace(items[0], matched=frozenset({"correct"}))
    assert open_of(deciding([items]), [items]) == []


# -- a second method ------------------------------------------------------------------------------

State = tuple[bool, bool]  # structure right, command right
STATES: list[State] = [(False, False), (True, False), (True, True)]


def scores(lists: Sequence[Sequence[Item]], state: Mapping[tuple[str, str], State]) -> list[bool]:
    return [
        any(state[prediction_of(item)][number] for item in items[:top])
        for items in lists
        for number in (0, 1)
        for top in (1, 3)
    ]


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=3), min_size=1, max_size=2),
    st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["n?", "y?", "yn", "yy", "nn"])),
)
def test_an_item_is_deciding_exactly_if_its_verdict_makes_a_difference(
    texts: list[list[str]], known: dict[str, str]
) -> None:
    """All ways in which the open verdicts may come out, each with every other answer to one."""
    lists = [ranked("k", *each) for each in texts]
    item_of = {prediction_of(item): item for items in lists for item in items}
    verdicts = []
    for text, letters in known.items():
        item = ranked("k", text)[0]
        for question, letter in zip(TWO, letters, strict=True):
            if letter != "?":
                verdicts.append(says(item, question, "yes" if letter == "y" else "no"))

    def possible(prediction: tuple[str, str]) -> list[State]:
        letters = known.get(prediction[1], "??")
        return [
            s for s in STATES if all(a in ("?", "ny"[b]) for a, b in zip(letters, s, strict=True))
        ]

    every = list(item_of)
    expected = set()
    for outcome in product(*map(possible, every)):
        state = dict(zip(every, outcome, strict=True))
        for prediction in every:
            for other in possible(prediction):
                if scores(lists, state) != scores(lists, {**state, prediction: other}):
                    expected.add(prediction)
    found = deciding(lists, verdicts, questions=TWO, measures=BOTH)
    assert {p for p, item in item_of.items() if item in found} == expected


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.sampled_from(["s a", "s b", "t a", "t c"]), max_size=3), max_size=4),
    st.lists(
        st.tuples(
            st.integers(0, 3),
            st.sampled_from(["s a", "s b", "t a", "t c"]),
            st.booleans(),
            st.sampled_from(["yes", "no", "unsure", "skip", "withdrawn"]),
        ),
        max_size=12,
    ),
)
def test_kept_up_to_date_it_says_the_same_as_from_scratch(
    texts: list[list[str]], said: list[tuple[int, str, bool, Answer]]
) -> None:
    lists = [ranked(f"k{n}", *each) for n, each in enumerate(texts)]
    live = deciding(lists, questions=TWO, measures=BOTH)
    view = live._view
    before = set(open_of(live, lists))
    for at, (n, text, about, answer) in enumerate(said):
        verdict = says(ranked(f"k{n}", text)[0], TWO[about], answer, at=at)
        view.store.take("anna", verdict)
        changed = live.update(verdict.place)
        fresh = Deciding(lists, BOTH, TWO, view)
        now = set(open_of(live, lists))
        assert now == set(open_of(fresh, lists))
        told = {i.id for items in lists for i in items if prediction_of(i) in changed}
        assert before ^ now <= told
        before = now
    # When nothing is deciding any more every score is known.
    known = [
        value_of(view, items[:top], question, TWO) for items in lists for question, top in BOTH
    ]
    assert all(value == value for value in known) == (not before)


# -- what others say ------------------------------------------------------------------------------


def test_what_counts_as_answered_for_one_judge() -> None:
    (item,) = ranked("k", "a")
    place = ("correct", "k", "a")
    store = Store()

    def seen(**options: object) -> str | None:
        found = View(store, "anna", **options).find(*place)  # type: ignore[arg-type]
        return found.answer if found else None

    store.take("bert", says(item, CORRECT, "yes", "bert", at=1))
    assert seen() is None  # everybody answers on their own
    assert seen(overlap=1) == "yes"
    assert seen(overlap=2) is None
    assert seen(adjudicates=True) == "yes"
    store.take("carl", says(item, CORRECT, "no", "carl", at=2))
    assert seen(overlap=2) is None  # two have decided, but not the same
    store.take("dora", says(item, CORRECT, "no", "dora", at=3, purpose="adjudication"))
    assert (seen(), seen(overlap=1)) == ("no", "no")
    store.take("dora", says(item, CORRECT, "withdrawn", "dora", at=4, purpose="adjudication"))
    store.take("anna", says(item, CORRECT, "yes", at=5))
    assert (seen(), seen(adjudicates=True)) == ("yes", "yes")


def test_logs_of_others_are_read_on(tmp_path: Path) -> None:
    items = ranked("k", "a", "b", "c")
    others = Others(tmp_path, "anna")
    assert others.news() == []
    with VerdictLog(tmp_path, "anna") as own, VerdictLog(tmp_path, "bert") as log:
        own.append(says(items[0], CORRECT, "no"))
        log.append(says(items[0], CORRECT, "yes", "bert"))
        assert [(judge, v.answer) for judge, v in others.news()] == [("bert", "yes")]
        assert others.news() == []
        log.append(says(items[1], CORRECT, "no", "bert", at=1))
        whole = log.path.read_bytes()
        with log.path.open("ab") as file:
            file.write(b'{"id": "torn')
        assert [v.answer for _, v in others.news()] == ["no"]
        # Written anew, as a merge does; a damaged line is for whoever reads the whole folder.
        log.path.write_bytes(b"<<<<<<< HEAD\n" + whole.splitlines(keepends=True)[1])
        assert [v.answer for _, v in others.news()] == ["no"]


# -- what is asked --------------------------------------------------------------------------------


def session(
    folder: Path,
    lists: Sequence[Sequence[Item]],
    *,
    judge: str = "anna",
    which: Which = "all",
    overlap: int | None = None,
    questions: tuple[Question, ...] = (CORRECT,),
    measures: Sequence[Measure] = tuple(ONE),
    entries: Sequence[Entry] | None = None,
) -> Session:
    view = View(Store(), judge, overlap=overlap)
    needs = Needs(
        view,
        Deciding(lists, measures, questions, view),
        questions[-1],
        which=which,
        others=Others(folder, judge),
    )
    entries = entries or [Entry(item) for items in lists for item in items]
    return Session(VerdictLog(folder, judge), entries, questions, needs=needs)


def order(s: Session, answer: Answer = "no", most: int = 99) -> list[str]:
    found: list[str] = []
    while s.asked is not None and len(found) < most:
        found.append(s.asked.entry.item.id)
        s.answer(answer)
    return found


LISTS = [ranked("k", "a", "b", "c"), ranked("m", "d", "e", "f")]


def test_only_what_can_change_a_score_is_asked(tmp_path: Path) -> None:
    s = session(tmp_path, LISTS, which="only")
    assert (s.progress.left, s.progress.deciding) == (6, 6)
    s.answer("yes")  # b and c do not matter any more
    progress = s.progress
    assert (progress.left, progress.spared, progress.deciding) == (3, 2, 3)
    assert order(s) == ["m/1", "m/2", "m/3"]
    assert (s.progress.left, s.progress.done, s.progress.spared) == (0, 4, 2)
    s.undo()
    assert s.asked is not None
    assert s.asked.entry.item.id == "m/3"
    for _ in range(3):
        s.undo()
    assert (s.progress.left, s.progress.spared) == (6, 0)
    s.log.close()
    again = session(tmp_path, LISTS, which="only")
    assert order(again, "yes") == ["k/1", "m/1"]


def test_what_can_change_a_score_comes_first(tmp_path: Path) -> None:
    s = session(tmp_path, LISTS, which="first")
    s.answer("yes")
    assert (s.progress.left, s.progress.deciding, s.progress.spared) == (5, 3, 0)
    s.skip()
    assert order(s, "yes") == ["m/2", "m/3", "k/2", "k/3", "m/1"]  # what was skipped comes last


def test_a_command_is_not_asked_about_where_no_score_can_change_by_it(tmp_path: Path) -> None:
    lists = [ranked("k", "s a", "t b")]
    lists[0][0] = replace(lists[0][0], matched=frozenset({"structure"}))
    # Template right at rank 1; of rank 2 only the command matters, and the first gets a yes.
    s = session(tmp_path, lists, which="only", questions=TWO, measures=BOTH)
    assert s.progress.deciding == 2
    s.answer("yes")
    assert s.asked is None
    s.undo()
    s.answer("no")
    assert s.asked is not None
    assert (s.asked.entry.item.id, s.asked.question.name) == ("k/2", "structure")


def test_a_structure_that_is_right_settles_the_question_about_the_command(tmp_path: Path) -> None:
    lists = [ranked("k", "s a", "t b")]
    verdict = says(lists[0][0], STRUCTURE, "yes")
    s = session(tmp_path, lists, which="only", questions=TWO, measures=[Measure(STRUCTURE, 3)])
    assert (s.asked is not None, verdict.place[0]) == (True, "structure")
    s.answer("yes")
    assert s.asked is None  # no score asks whether the command is right
    assert s.progress.spared == 2


def test_repeats_wait_for_what_they_repeat_and_controls_are_always_asked(tmp_path: Path) -> None:
    a, b, c = LISTS[0]
    shown = replace(b, id="control-yes:k/2", prediction="gold")
    entries = [Entry(a), Entry(c, "repeat"), Entry(shown, "control"), Entry(b), Entry(c)]
    entries.append(Entry(a, "repeat"))
    s = session(tmp_path, LISTS[:1], which="only", entries=entries)
    s.answer("yes")
    asked = []
    while s.asked is not None:
        asked.append((s.asked.entry.item.id, s.asked.entry.purpose))
        s.answer("yes")
    assert asked == [("control-yes:k/2", "control"), ("k/1", "repeat")]
    assert s.progress.spared == 3  # b, c and the repeat of c


def test_an_overlap_is_kept_while_several_are_at_work(tmp_path: Path) -> None:
    items = [ranked(f"k{n}", "a") for n in range(6)]
    anna = session(tmp_path, items, overlap=1)
    bert = session(tmp_path, list(reversed(items)), judge="bert", overlap=1)
    carl = session(tmp_path, items, judge="carl", overlap=2)
    assert order(anna, most=3) == ["k0/1", "k1/1", "k2/1"]
    assert order(bert) == ["k5/1", "k4/1", "k3/1"]
    assert order(anna, "yes") == ["k3/1"]  # shown before bert was there
    assert (anna.progress.done, anna.progress.spared, anna.progress.left) == (4, 2, 0)
    anna.look()
    assert anna.asked is None
    carl.look()
    assert carl.progress.spared == 1  # k3: two have answered it
    bert.undo()
    bert.undo()
    anna.look()  # what bert has taken back is to be answered again
    assert anna.asked is not None
    assert anna.asked.entry.item.id == "k4/1"
    carl.look()
    assert carl.progress.spared == 0
    for each in (anna, bert, carl):
        each.log.close()

# SPDX-License-Identifier: Apache-2.0
"""Queues and sessions: what is asked, in which order, and what becomes of the answers."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.core.errors import OutputError
from assay.core.judging import CORRECT, Item, Question
from assay.judge.answers import judge_facts
from assay.judge.log import VerdictLog, read_log
from assay.judge.queue import (
    Entry,
    distinct,
    order_seed,
    recorded_order,
    shuffled,
    wanted,
    with_checks,
)
from assay.judge.session import Session
from assay.judge.store import Store, in_force, read_store
from assay.judge.verdict import Verdict, verdict_on

STRUCTURE = Question("structure", "Correct structure?", about="structure")
COMMAND = Question("command", "Correct command?", needs="structure")
TWO = (STRUCTURE, COMMAND)


def items(n: int) -> list[Item]:
    return [Item(f"{i}", f"k{i}", f"p{i}", (f"g{i}",), structure=f"s{i}") for i in range(n)]


class Clock:
    """Every look at it is ten seconds later."""

    def __init__(self) -> None:
        self.at = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        self.at += timedelta(seconds=10)
        return self.at


def session(
    folder: Path, n: int = 4, questions: tuple[Question, ...] = (CORRECT,), **options: Any
) -> Session:
    log = VerdictLog(folder, options.pop("judge", "anna"))
    entries = options.pop("entries", None) or [Entry(item) for item in items(n)]
    return Session(log, entries, questions, now=Clock(), **options)


def state(s: Session) -> dict[str, str]:
    return {v.id + ":" + v.question: v.answer for v in in_force(s.log.verdicts).values()}


def at(s: Session) -> tuple[str, str] | None:
    return None if s.asked is None else (s.asked.entry.item.id, s.asked.question.name)


def test_one_answer_moves_on_and_the_last_one_ends(tmp_path: Path) -> None:
    s = session(tmp_path, 2)
    assert at(s) == ("0", "correct")
    s.answer("yes")
    assert at(s) == ("1", "correct")
    s.answer("no", "wrong")
    assert at(s) is None
    s.answer("yes")  # nothing is asked: nothing happens
    assert state(s) == {"0:correct": "yes", "1:correct": "no"}
    assert s.progress.left == 0


def test_a_no_to_the_structure_is_a_no_to_the_command(tmp_path: Path) -> None:
    s = session(tmp_path, 2, TWO)
    s.answer("no", "other flags")
    assert at(s) == ("1", "structure")
    s.answer("yes")
    assert at(s) == ("1", "command")
    s.answer("unsure")
    assert state(s) == {
        "0:structure": "no",
        "0:command": "no",
        "1:structure": "yes",
        "1:command": "unsure",
    }


def test_a_structure_is_asked_once_for_all_predictions_that_share_it(tmp_path: Path) -> None:
    shared = [replace(item, key="k", structure="s") for item in items(3)]
    s = session(tmp_path, questions=TWO, entries=[Entry(i) for i in shared])
    s.answer("yes")
    s.answer("yes")
    assert at(s) == ("1", "command")
    s.answer("no")
    assert at(s) == ("2", "command")


def test_what_matches_or_stands_in_a_sheet_is_not_asked(tmp_path: Path) -> None:
    three = items(3)
    three[0] = replace(three[0], matched=frozenset({"structure"}))
    old = verdict_on(three[1], STRUCTURE, "yes", judge="sheet", time="")
    s = session(
        tmp_path, questions=TWO, entries=[Entry(i) for i in three], settled={old.place: old}
    )
    assert at(s) == ("0", "command")
    s.answer("yes")
    assert at(s) == ("1", "command")


def test_skipped_items_come_again_at_the_end(tmp_path: Path) -> None:
    s = session(tmp_path, 3)
    s.skip()
    s.answer("yes")
    assert (s.progress.done, s.progress.skipped, s.progress.left) == (1, 1, 2)
    s.answer("yes")
    assert at(s) == ("0", "correct")
    s.skip()
    assert at(s) == ("0", "correct")  # nothing else is left
    s.answer("no")
    assert at(s) is None
    assert s.progress.skipped == 0


def test_what_was_skipped_and_then_settled_elsewhere_is_done(tmp_path: Path) -> None:
    s = session(tmp_path, 2)
    s.skip()
    s.log.close()
    old = verdict_on(items(1)[0], CORRECT, "yes", judge="sheet", time="")
    again = session(tmp_path, 2, settled={old.place: old})
    again.answer("yes")
    assert at(again) is None
    assert (again.progress.done, again.progress.skipped) == (2, 0)


def test_undo_and_redo(tmp_path: Path) -> None:
    s = session(tmp_path, 3, TWO)
    s.answer("yes")
    s.answer("yes")
    s.answer("no")
    assert s.undo()
    assert at(s) == ("1", "structure")
    assert state(s) == {"0:structure": "yes", "0:command": "yes"}
    assert s.undo()
    assert at(s) == ("0", "command")
    assert s.redo()
    assert s.redo()
    assert not s.redo()
    assert state(s)["1:command"] == "no"
    assert at(s) == ("2", "structure")
    s.undo()
    s.answer("yes")  # something else instead: nothing is left to redo
    assert not s.can_redo
    while s.undo():
        pass
    assert state(s) == {}
    assert at(s) == ("0", "structure")


def test_undo_of_a_changed_answer_brings_back_the_first(tmp_path: Path) -> None:
    s = session(tmp_path, 2, TWO)
    s.answer("no")
    assert s.back()
    assert at(s) == ("0", "structure")
    assert s.asked is not None
    assert s.asked.before is not None
    assert s.asked.before.answer == "no"
    s.answer("yes")
    assert at(s) == ("0", "command")  # which was a no only because of the structure
    assert state(s) == {"0:structure": "yes"}
    s.undo()
    assert state(s) == {"0:structure": "no", "0:command": "no"}


def test_back_goes_through_what_was_seen_and_next_returns(tmp_path: Path) -> None:
    s = session(tmp_path, 4)
    for _ in range(2):
        s.answer("yes")
    assert s.back()
    assert s.back()
    assert at(s) == ("0", "correct")
    assert not s.back()
    s.next()
    assert at(s) == ("2", "correct")
    s.show(3)
    assert at(s) == ("3", "correct")


def test_back_after_undo_goes_to_what_was_before(tmp_path: Path) -> None:
    s = session(tmp_path, 4)
    s.answer("yes")
    s.answer("yes")
    s.undo()
    assert at(s) == ("1", "correct")
    s.skip()
    assert s.back()
    assert s.back()
    assert at(s) == ("0", "correct")


STEPS: dict[str, Callable[[Session], object]] = {
    "y": lambda s: s.answer("yes"),
    "n": lambda s: s.answer("no", "why"),
    "u": lambda s: s.answer("unsure"),
    "s": lambda s: s.skip(),
    "z": lambda s: s.undo(),
    "r": lambda s: s.redo(),
    "b": lambda s: s.back(),
}


@settings(max_examples=30)
@given(st.text("ynuszzrb", max_size=25), st.text("ynzz", max_size=6))
def test_a_new_session_goes_on_where_the_last_one_was_killed(steps: str, later: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        s = session(Path(name), 3, TWO)
        for step in steps:
            STEPS[step](s)
        before = (state(s), s.progress.done, s.progress.skipped, s.can_undo)
        s.log.close()
        again = session(Path(name), 3, TWO)
        assert (state(again), again.progress.done, again.progress.skipped, again.can_undo) == before
        while again.undo():
            pass
        assert state(again) == {}
        for step in later:
            STEPS[step](again)
        times = [v.time for v in read_log(again.log.path)]
        assert times == sorted(times)
        again.log.close()


def test_answers_about_other_runs_are_not_undone_here(tmp_path: Path) -> None:
    s = session(tmp_path, 2)
    s.answer("yes")
    s.log.close()
    others = [Entry(replace(item, key=item.key + "x")) for item in items(2)]
    t = session(tmp_path, entries=others)
    assert not t.can_undo
    t.answer("no")
    t.undo()
    assert not t.undo()
    assert len(in_force(t.log.verdicts)) == 1


def test_progress_says_how_long_it_will_take(tmp_path: Path) -> None:
    s = session(tmp_path, 5)
    assert s.progress.seconds_left == 5 * 15
    s.answer("yes")
    s.answer("unsure")
    progress = s.progress
    assert (progress.done, progress.unsure, progress.left) == (2, 1, 3)
    assert progress.seconds_left == pytest.approx(3 * progress.seconds_per_item)
    assert progress.seconds_per_item > 0


def test_who_settles_is_asked_again_and_decides(tmp_path: Path) -> None:
    for judge, answer in (("anna", "yes"), ("bert", "no")):
        s = session(tmp_path, 1, judge=judge)
        s.answer(answer)  # type: ignore[arg-type]
        s.log.close()
    assert len(read_store(tmp_path).unsettled()) == 1
    third = session(tmp_path, 1, judge="anna", adjudicates=True)  # one of the two, for once
    assert at(third) == ("0", "correct")
    third.answer("no")
    store = read_store(tmp_path)
    assert not store.unsettled()
    found = store.find("correct", "k0", "p0")
    assert found is not None
    assert (found.answer, found.purpose) == ("no", "adjudication")
    third.undo()
    assert len(read_store(tmp_path).unsettled()) == 1  # what anna said before is there again
    third.redo()
    third.log.close()
    assert session(tmp_path, 1, judge="anna").progress.done == 1


def test_what_cannot_be_written_has_not_been_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    s = session(tmp_path, 2, TWO)
    s.answer("yes")

    def full(file: int) -> None:
        raise OSError(28, "No space left on device")

    def steps(s: Session) -> list[Callable[[], object]]:
        return [lambda: s.answer("no"), s.skip, s.undo]

    for step in steps(s):
        before = (at(s), state(s), s.progress, s.can_undo, s.can_redo, s.log.path.read_bytes())
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", full)
            with pytest.raises(OutputError, match="the last answer was not kept"):
                step()
        after = (at(s), state(s), s.progress, s.can_undo, s.can_redo, s.log.path.read_bytes())
        assert after == before
    s.answer("no")
    assert s.undo()
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OutputError):
            s.redo()
    assert s.redo()  # with room on the disk it can be given again after all
    assert state(s) == {"0:structure": "yes", "0:command": "no"}


def test_answers_of_other_programs_are_undone_one_by_one(tmp_path: Path) -> None:
    """Their times are in whole seconds: many answers have the same one."""
    with VerdictLog(tmp_path, "anna") as log:
        for item in items(3):
            for question in TWO:
                time = "2026-01-01T00:00:05Z"
                log.append(verdict_on(item, question, "yes", judge="anna", time=time))
    s = session(tmp_path, 3, TWO)
    assert s.undo()
    s.log.close()
    again = session(tmp_path, 3, TWO)
    assert again.progress.done == 2
    assert again.undo()
    assert again.undo()
    assert not again.undo()
    assert state(again) == {}


def test_a_crash_between_a_no_and_what_follows_from_it(tmp_path: Path) -> None:
    s = session(tmp_path, 2, TWO)
    s.answer("no")
    s.log.close()
    lines = s.log.path.read_bytes().splitlines(keepends=True)
    s.log.path.write_bytes(lines[0])  # the no to the command was not written any more
    assert at(session(tmp_path, 2, TWO)) == ("1", "structure")


# -- queues ---------------------------------------------------------------------------------------


def test_identical_predictions_are_asked_about_once() -> None:
    twice = [items(1)[0], replace(items(1)[0], id="other system"), items(2)[1]]
    assert [item.id for item in distinct(twice)] == ["0", "1"]


def test_every_judge_has_an_order_of_their_own_that_is_kept(tmp_path: Path) -> None:
    many = items(30)
    anna = recorded_order(tmp_path, "anna", many, seed=None, time="t")
    bert = recorded_order(tmp_path, "bert", many, seed=None, time="t")
    assert anna.seed != bert.seed
    assert shuffled(many, anna.seed) != shuffled(many, bert.seed)
    assert sorted(i.id for i in shuffled(many, anna.seed)) == sorted(i.id for i in many)
    assert recorded_order(tmp_path, "anna", many, seed=None, time="later") == anna
    assert anna.seed == order_seed("anna", anna.frame)
    other = recorded_order(tmp_path, "anna", many, seed=7, time="t")
    assert other.seed == 7
    assert recorded_order(tmp_path, "anna", many, seed=None, time="t") == other
    assert len((tmp_path / "orders.jsonl").read_text().splitlines()) == 3


def test_predictions_for_one_description_stay_together() -> None:
    pairs = [replace(item, key=f"k{n // 3}") for n, item in enumerate(items(12))]
    keys = [item.key for item in shuffled(pairs, 5)]
    assert sum(a != b for a, b in pairwise(keys)) == 3


def test_work_can_be_shared_out() -> None:
    three = items(3)

    def says(judge: str, *which: int) -> list[Verdict]:
        return [verdict_on(three[i], CORRECT, "yes", judge=judge, time="t") for i in which]

    store = Store(logs={"anna": says("anna", 0), "bert": says("bert", 0, 1)})
    assert [i.id for i in wanted(three, [CORRECT], store, "carl")] == ["0", "1", "2"]
    assert [i.id for i in wanted(three, [CORRECT], store, "carl", overlap=2)] == ["1", "2"]
    assert [i.id for i in wanted(three, [CORRECT], store, "carl", overlap=1)] == ["2"]
    # What one has answered oneself stays in one's queue, to look at and to change.
    assert [i.id for i in wanted(three, [CORRECT], store, "anna", overlap=1)] == ["0", "2"]


def test_controls_and_repeats(tmp_path: Path) -> None:
    entries = with_checks(items(12), controls=4, repeats=3, seed=1)
    controls = [e for e in entries if e.purpose == "control"]
    repeats = [e for e in entries if e.purpose == "repeat"]
    assert len(controls) == 4
    assert [e.item.id.startswith("control-yes:") for e in controls].count(True) == 2
    assert len(repeats) == 3
    for control in controls:
        right = control.item.prediction in control.item.references
        assert control.item.id.startswith("control-yes:" if right else "control-no:")
    for repeat in repeats:
        first = next(i for i, e in enumerate(entries) if e.item is repeat.item and not e.purpose)
        assert entries.index(repeat) > first + len(entries) // 4
    assert with_checks(items(12), controls=4, repeats=3, seed=1) == entries
    s = session(tmp_path, entries=entries)
    for entry in entries:
        s.answer("no" if entry.purpose == "repeat" else "yes")
    assert at(s) is None
    assert len(in_force(s.log.verdicts)) == 12  # checks change no verdict
    assert set(state(s).values()) == {"yes"}


@pytest.mark.parametrize(("n", "controls", "repeats"), [(0, 0, 0), (1, 1, 0), (2, 2, 0), (6, 6, 4)])
def test_no_more_checks_than_there_are_items_for(n: int, controls: int, repeats: int) -> None:
    entries = with_checks(items(n), controls=500, repeats=500, seed=1)
    purposes = [entry.purpose for entry in entries]
    assert (purposes.count("control"), purposes.count("repeat")) == (controls, repeats)
    assert purposes.count("") == n
    same = [replace(item, references=("gold",)) for item in items(n)]
    made = [e.item for e in with_checks(same, controls=500, repeats=0, seed=1) if e.purpose]
    assert all(item.id.startswith("control-yes:") for item in made)  # nothing else is known


def test_checks_are_counted_by_item_and_by_run(tmp_path: Path) -> None:
    one, two, three = items(3)
    right = replace(one, id="control-yes:0", prediction="g0", structure="g0")
    wrong = replace(two, id="control-no:1", prediction="g2", structure="g2")
    entries = [Entry(item) for item in (one, two, three)]
    entries += [Entry(one, "repeat"), Entry(two, "repeat")]
    entries += [Entry(right, "control"), Entry(wrong, "control")]
    s = session(tmp_path, entries=entries, questions=TWO)
    # Each yes to a structure is followed by the answer about the command.
    for answer in ("yes", "no", "no", "no", "yes", "yes", "no", "yes", "yes", "yes", "no"):
        s.answer(answer)
    assert at(s) is None
    s.log.close()
    store = read_store(tmp_path)
    (facts,) = judge_facts(store)
    # The first was yes, no; then yes, yes. The second was no and is no again.
    assert (facts.repeats, facts.steady) == (2, 1)
    # The gold of another item may well have the right structure.
    assert (facts.controls, facts.right) == (2, 2)
    assert judge_facts(store, places={("structure", "another key", "s0")}) == []
    taken = sum(verdict.seconds or 0.0 for verdict in s.log.verdicts)
    assert (facts.yes, facts.no, facts.unsure) == (1, 5, 0)
    assert facts.seconds_each == pytest.approx(taken / 6)
    assert math.isnan(replace(facts, seconds=2.9).seconds_each)  # six answers from a pipe

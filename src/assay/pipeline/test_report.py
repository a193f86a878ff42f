# SPDX-License-Identifier: Apache-2.0
"""Runs to sections: which belong together, which score leads, which examples tell most."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from assay.aggregate.resample import bootstrap_scores
from assay.core.errors import InputError, UsageError
from assay.judge.log import VerdictLog
from assay.judge.verdict import Answer, verdict_on
from assay.pipeline.evaluate import evaluate
from assay.pipeline.leaderboard import found_runs, leaderboard
from assay.pipeline.regions import region_of
from assay.pipeline.report import make_report
from assay.pipeline.result import Result
from assay.pipeline.telling import _places
from assay.pipeline.worklist import worklist
from assay.report.leaderboard import board, render_leaderboard
from assay.report.sections import KINDS

GOLD = ["a b", "c d", "e f", "g h", "i j"]
OLD = ["a b", "c x", "e f", "y z", "i x"]
NEW = ["a b", "c d", "e x", "y z", "i k"]


def run(predictions: list[str], system: str, metrics: tuple[str, ...] = ("exact",)) -> Result:
    return evaluate("text", predictions, GOLD, metrics=metrics, system=system)


def test_kinds_of_a_right_wrong_score() -> None:
    (section,) = make_report(run(OLD, "old"), run(NEW, "new")).document.sections
    assert section.telling is not None
    by_id = {e.id: (e.kind, e.gain) for e in section.telling.examples}
    # Position:        1            2         3          4            5
    assert by_id == {
        "1": ("both right", 0.0),
        "2": ("won", 1.0),
        "3": ("lost", -1.0),
        "4": ("both wrong", 0.0),
        "5": ("both wrong", 0.0),
    }
    assert section.telling.counts == {"lost": 1, "won": 1, "both wrong": 2, "both right": 1}
    assert section.telling.right_wrong


def test_kinds_of_a_score_that_falls_when_it_gets_better() -> None:
    (section,) = make_report(run(OLD, "old", ("wer",)), run(NEW, "new", ("wer",))).document.sections
    assert section.telling is not None
    # Word error rates: old 0, .5, 0, 1, .5 and new 0, 0, .5, 1, .5.
    assert {e.id: (e.kind, e.gain) for e in section.telling.examples} == {
        "1": ("both right", 0.0),
        "2": ("won", 0.5),
        "3": ("lost", -0.5),
        "4": ("both wrong", 0.0),
        "5": ("both wrong", 0.0),
    }


def test_a_single_run_shows_where_it_is_wrong() -> None:
    (section,) = make_report(run(OLD, "old")).document.sections
    assert section.comparison is None
    assert section.telling is not None
    assert section.telling.counts == {"wrong": 3, "right": 2}
    assert section.telling.examples[0].kind == "wrong"


def test_runs_on_other_gold_get_sections_of_their_own() -> None:
    other = evaluate("text", ["a"], ["a"], metrics=["exact"], system="other")
    found = make_report(run(OLD, "old"), other, run(NEW, "new")).document.sections
    assert [[s.system for s in section.systems] for section in found] == [["old", "new"], ["other"]]


def test_runs_without_a_common_metric_are_shown_side_by_side() -> None:
    found = make_report(run(OLD, "old"), run(NEW, "new", ("bleu",))).document.sections
    assert [section.comparison for section in found] == [None, None]
    assert [section.remarks for section in found] == [
        (),
        (
            "new: on the same gold as old, but without its leading score (bleu); score them alike "
            "to compare them",
        ),
    ]


def test_one_run_with_another_metric_does_not_part_the_others() -> None:
    runs = [
        run(OLD, "a"),
        run(OLD, "odd", ("bleu",)),
        run(NEW, "b"),
        run(GOLD, "c", ("exact", "wer")),
    ]
    found = make_report(*runs).document.sections
    assert [[s.system for s in section.systems] for section in found] == [["a", "b", "c"], ["odd"]]
    assert [s.name for s in found] == ["text (a, b, c)", "text (odd)"]


def test_a_board_is_ranked_by_a_score_that_all_of_its_runs_have(tmp_path: Path) -> None:
    for predictions, name, metrics in (
        (OLD, "a", ["bleu", "exact"]),
        (NEW, "b", ["exact"]),
        (GOLD, "c", ["exact"]),
    ):
        evaluate("text", predictions, GOLD, metrics=metrics, system=name, save=tmp_path / name)
    (section,) = leaderboard(tmp_path).document.sections
    assert [s.system for s in section.systems] == ["c", "a", "b"]


def test_runs_that_share_a_metric_stay_together_unless_another_was_asked_for() -> None:
    runs = [
        run(OLD, "a", ("exact", "wer")),
        run(NEW, "b", ("wer",)),
        run(GOLD, "c", ("exact", "wer")),
    ]
    assert [len(s.systems) for s in make_report(*runs).document.sections] == [3]
    asked = make_report(*runs, metric="exact").document.sections
    assert [[s.system for s in section.systems] for section in asked] == [["a", "c"], ["b"]]
    # A board is ranked by one score, so it asks for one also where none was named.
    ranked = make_report(*runs, ranked=True).document.sections
    assert [[s.system for s in section.systems] for section in ranked] == [["a", "c"], ["b"]]


def test_the_score_asked_for_leads() -> None:
    runs = [run(p, s, ("exact", "bleu")) for p, s in ((OLD, "old"), (NEW, "new"))]
    (section,) = make_report(*runs, metric="bleu").document.sections
    assert section.comparison is not None
    assert section.comparison.differences[0].key == "bleu"
    assert section.telling is not None
    assert section.telling.score.key == "bleu"
    with pytest.raises(UsageError, match="did you mean 'bleu'"):
        make_report(*runs, metric="blue")


def test_the_examples_are_of_the_two_that_the_answer_is_about() -> None:
    better = [*GOLD[:4], "x"]
    runs = [run(better, "better"), run(["q"] * 5, "last"), run(NEW, "new")]
    (section,) = make_report(*runs).document.sections
    assert section.telling is not None
    assert section.telling.pair == (2, 0)
    assert section.telling.called("won") == "only better right"
    assert all(len(e.predictions) == 3 for e in section.telling.examples)


def test_bad_questions_are_refused() -> None:
    with pytest.raises(UsageError, match="at least one run"):
        make_report()
    with pytest.raises(UsageError, match="--examples -1"):
        make_report(run(OLD, "old"), examples=-1)


def test_the_largest_changes_of_each_kind_are_chosen() -> None:
    rng = np.random.default_rng(3)
    gains = rng.normal(size=5_000)
    kinds = np.where(gains > 0, KINDS.index("won"), KINDS.index("lost"))
    places = _places(kinds, gains, 100)
    assert len(places) == len(set(places)) == 100
    shown = gains[places]
    # Both kinds in turn, and of each no example is left out that changed more than one shown.
    for sign in (1, -1):
        mine = np.sort(np.abs(shown[shown * sign > 0]))
        every = np.sort(np.abs(gains[gains * sign > 0]))
        assert mine.tolist() == every[-len(mine) :].tolist()
        assert len(mine) >= 35


def test_kinds_that_are_rare_leave_their_room() -> None:
    kinds = np.full(50, KINDS.index("both wrong"))
    assert len(_places(kinds, np.zeros(50), 40)) == 40
    assert _places(kinds, np.full(50, np.nan), 3) == [0, 1, 2]


def test_a_joint_region_lies_around_the_scores() -> None:
    rng = np.random.default_rng(5)
    gold = [" ".join(rng.choice(list("abcdef"), 8)) for _ in range(200)]
    predictions = [" ".join(rng.permutation(g.split())[:6]) for g in gold]
    result = evaluate("text", predictions, gold, metrics=["wer", "token_f1"], system="s")
    keys = list(result.scores)
    outline = np.array(region_of(result, keys[0], keys[1], resamples=400))
    assert result.rows is not None
    (scores,) = bootstrap_scores(result.layout.metrics, [result.rows], resamples=400)
    drawn = {
        s.key: scores[i][s.name] for i, e in enumerate(result.layout.entries) for s in e.scores
    }
    for axis in range(2):
        mean, spread = drawn[keys[axis]].mean(), drawn[keys[axis]].std(ddof=1)
        assert outline[:, axis].mean() == pytest.approx(mean, abs=1e-9)
        # The ellipse of 95 % reaches sqrt(5.99) standard deviations from its middle.
        assert np.ptp(outline[:, axis]) / 2 == pytest.approx(math.sqrt(5.991) * spread, rel=0.01)


def _saved(folder: Path) -> Path:
    for name, predictions in (("old", OLD), ("new", NEW), ("best", GOLD)):
        evaluate(
            "text", predictions, GOLD, metrics=["exact", "wer"], system=name, save=folder / name
        )
    evaluate("text", ["a"], ["a"], metrics=["exact"], system="solo", save=folder / "deep" / "solo")
    return folder


def test_a_leaderboard_ranks_by_gold(tmp_path: Path) -> None:
    found = leaderboard(_saved(tmp_path), examples=0)
    document = board(found.document)
    groups = {g.n: g for g in document.groups}
    assert [(r.rank, r.system) for r in groups[5].runs] == [(1, "best"), (2, "new"), (2, "old")]
    assert [(r.rank, r.system) for r in groups[1].runs] == [(1, "solo")]
    assert groups[5].score == "exact"
    assert groups[5].runs[0].folder == str(tmp_path / "best")
    table = render_leaderboard(found.document, "table")
    assert table.index("best") < table.index("new")
    assert "rank,system" in render_leaderboard(found.document, "csv")


def test_a_leaderboard_by_a_score_that_falls(tmp_path: Path) -> None:
    found = leaderboard(_saved(tmp_path), metric="wer", examples=0)
    runs = next(g.runs for g in board(found.document).groups if len(g.runs) > 1)
    assert runs[0].system == "best"
    values = [r.scores["wer"] for r in runs]
    assert values == sorted(values)


@pytest.mark.parametrize("part", ["run.json", "rows.npy", "examples.jsonl"])
def test_a_damaged_run_is_left_out_and_named(part: str, tmp_path: Path) -> None:
    folder = _saved(tmp_path)
    (folder / "old" / part).write_text("{")
    (folder / ".aside").mkdir()
    (folder / ".aside" / "run.json").write_text("{")
    runs, remarks = found_runs(folder)
    assert {r.system for r in runs} == {"new", "best", "solo"}
    (remark,) = remarks
    assert "old" in remark
    assert leaderboard(folder, examples=0).document.remarks == (remark,)


def test_a_folder_without_runs_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no runs below it"):
        leaderboard(tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        leaderboard(tmp_path / "nowhere")
    with pytest.raises(UsageError, match="unknown task of these runs 'txt'"):
        leaderboard(_saved(tmp_path), task="txt")


def _judged_by(folder: Path, judge: str, answers: str) -> None:
    work = worklist([folder / "old", folder / "new"])
    (question,) = work.questions
    with VerdictLog(folder / "judgements", judge) as log:
        for i, (item, letter) in enumerate(zip(work.items, answers, strict=False)):
            answer: Answer = "yes" if letter == "y" else "no"
            log.append(
                verdict_on(item, question, answer, judge=judge, time=f"2026-01-01T00:00:0{i}Z")
            )


def test_verdicts_beside_the_runs_are_drawn(tmp_path: Path) -> None:
    folder = _saved(tmp_path)
    runs = [folder / "old", folder / "new"]
    assert make_report(*runs).document.sections[0].agreements == ()
    _judged_by(folder, "ada", "yynn")
    # A single judge has nobody to agree with.
    assert make_report(*runs).document.sections[0].agreements == ()
    _judged_by(folder, "bo", "yyny")
    (found,) = make_report(*runs).document.sections[0].agreements
    (pair,) = found["pairs"]
    assert (set(pair["judges"]), pair["value"], pair["n"]) == ({"ada", "bo"}, 0.75, 4)
    assert "How far the judges agree" in make_report(*runs).to_html()
    with pytest.raises(UsageError, match="no verdicts of two judges"):
        make_report(*runs, judgements=str(tmp_path / "deep"))

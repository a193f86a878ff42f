# SPDX-License-Identifier: Apache-2.0
"""Evidence that may be looked at any time, and draws that can be made again."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.core.errors import InputError, UsageError
from assay.judge.evidence import Evidence, log_evidence
from assay.judge.sample import check, draw, draw_order, read_samples, record


@given(st.integers(0, 300), st.integers(0, 300))
def test_evidence_is_the_ratio_of_beta_functions(wins: int, losses: int) -> None:
    from scipy.special import betaln

    n = wins + losses
    expected = betaln(wins + 0.5, losses + 0.5) - betaln(0.5, 0.5) + n * math.log(2)
    assert log_evidence(wins, losses) == pytest.approx(expected, abs=1e-9)
    assert log_evidence(wins, losses) == pytest.approx(log_evidence(losses, wins), abs=1e-9)


@given(st.integers(0, 12))
def test_the_bet_is_fair(k: int) -> None:
    """Averaged over all outcomes of k fair coins the evidence is exactly 1."""
    mean = sum(math.comb(k, w) * math.exp(log_evidence(w, k - w)) for w in range(k + 1)) / 2**k
    assert mean == pytest.approx(1.0)


def test_what_was_decided_stays_decided() -> None:
    running = Evidence()
    running.add_all([(True, False)] * 8)
    assert running.decision == "better"  # 8 : 0 is worth 50
    running.add_all([(False, True)] * 8)
    assert running.decision == "better"
    assert running.value < 1
    assert running.p == pytest.approx(math.exp(-log_evidence(8, 0)))
    assert running.items == 16


def test_the_other_may_be_better_and_equals_do_not_count() -> None:
    running = Evidence()
    running.add_all([(True, True), (False, False)] * 50)
    assert (running.ties, running.p, running.decision) == (100, 1.0, "undecided")
    running.add_all([(False, True)] * 10)
    assert running.decision == "worse"


def studies(p_first: float, p_second: float, runs: int, n: int = 1000) -> list[int | None]:
    """Of each study, after how many items it was decided; None if it never was."""
    rng = np.random.default_rng(8)
    found: list[int | None] = []
    for _ in range(runs):
        drawn = rng.random(n)
        running = Evidence()
        for u in drawn.tolist():
            running.add(u < p_first, p_first <= u < p_first + p_second)
            if running.decided:
                break
        found.append(running.items if running.decided else None)
    return found


@pytest.mark.slow
def test_false_alarms_stay_below_alpha_however_often_one_looks() -> None:
    """Equally good systems, a look after every one of 1000 items."""
    decided = [at for at in studies(0.11, 0.11, 2000) if at is not None]
    assert len(decided) / 2000 <= 0.05


@pytest.mark.slow
def test_a_real_difference_is_found_before_all_is_judged() -> None:
    decided = [at for at in studies(0.14, 0.08, 500) if at is not None]
    assert len(decided) / 500 == pytest.approx(0.82, abs=0.06)
    assert 400 < float(np.median(decided)) < 650


# -- draws ----------------------------------------------------------------------------------------

UNITS = [f"i{n}" for n in range(40)]


def test_a_draw_is_made_again_from_its_record(tmp_path: Path) -> None:
    sample = draw(UNITS, seed=100, size=10, known=["i3", "i7"])
    assert len(sample.drawn) == 10
    assert not {"i3", "i7"} & set(sample.drawn)
    record(tmp_path / "new", sample)
    (back,) = read_samples(tmp_path / "new")
    assert back == sample
    check(back, UNITS)
    assert draw(UNITS, seed=100, size=10, known=["i3", "i7"]).name == sample.name
    assert draw(UNITS, seed=101, size=10).name != sample.name


def test_a_torn_record_of_a_draw_is_no_draw(tmp_path: Path) -> None:
    first, second = draw(UNITS, seed=1, size=5), draw(UNITS, seed=2, size=5)
    record(tmp_path, first)
    record(tmp_path, second)
    path = tmp_path / "samples.jsonl"
    path.write_bytes(path.read_bytes()[:-20])
    assert read_samples(tmp_path) == [first]
    record(tmp_path, second)
    assert read_samples(tmp_path) == [first, second]


def test_draws_that_were_merged_are_read_in_the_order_of_time(tmp_path: Path) -> None:
    late, early = (draw(UNITS, seed=n, size=5, time=f"2026-01-0{n}T00:00:00Z") for n in (2, 1))
    record(tmp_path, late)
    record(tmp_path, early)
    assert read_samples(tmp_path) == [early, late]


def test_of_a_draw_that_was_made_on_two_machines_the_first_counts(tmp_path: Path) -> None:
    """One of them knew a verdict that the other did not, so that other items came out."""
    times = ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"]
    later, first = (
        draw(UNITS, seed=1, size=5, known=known, time=time)
        for known, time in zip((["i3"], []), times, strict=True)
    )
    other = draw(UNITS, seed=1, size=5, differing=True, time="2026-01-03T00:00:00Z")
    for sample in (later, first, other):
        record(tmp_path, sample)
    assert read_samples(tmp_path) == [first, other]


def test_the_order_is_that_of_the_standard_library() -> None:
    import random

    order = list(range(549))
    random.seed(100)
    random.shuffle(order)
    assert draw_order(549, 100) == order


def test_a_draw_from_another_frame_or_by_another_rule_is_refused() -> None:
    import msgspec

    sample = draw(UNITS, seed=1, size=5)
    with pytest.raises(UsageError, match="another set of items"):
        check(sample, UNITS[1:])
    picked = msgspec.structs.replace(sample, drawn=tuple(UNITS[:5]))
    with pytest.raises(UsageError, match="not what seed 1 draws"):
        check(picked, UNITS)


def test_draws_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="must be 1 or more"):
        draw(UNITS, seed=1, size=0)
    with pytest.raises(UsageError, match="ids repeat"):
        draw(["a", "a"], seed=1, size=1)
    (tmp_path / "samples.jsonl").write_text("{}\n")
    with pytest.raises(InputError, match=r"samples\.jsonl, line 1: not a sample"):
        read_samples(tmp_path)

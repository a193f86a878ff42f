# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import wave
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.tasks.simul.events import EventLog, Header, read_events
from assay.tasks.simul.live.corpus import Audio, Corpus, Sentence
from assay.tasks.simul.live.results import NotReadyError, scores, tally
from assay.tasks.simul.live.session import OutOfStepError, Served, Session, TooLongError
from assay.tasks.simul.live.sessions import Sessions

TEXT = Corpus("text", [Sentence("0", "x y", ("a", "b")), Sentence("1", "z", ())])


def test_words_come_one_by_one_and_the_end_mark_counts_once() -> None:
    session = Session(TEXT)
    found = [session.read(0)[:3] for _ in range(5)]
    # The first end mark has the number of words, all later ones one more.
    assert found == [(0, "a", 1), (1, "b", 2), (2, "</s>", 3), (3, "</s>", 3), (3, "</s>", 3)]
    assert session.read(1)[:3] == (0, "</s>", 1)


def test_words_get_the_position_at_which_they_were_sent() -> None:
    session = Session(TEXT)
    session.write(0, "early")
    session.read(0)
    session.write(0, "  two\twords\n")
    session.write(0, "")
    session.read(0)
    session.read(0)
    session.write(0, "last </s> dropped")
    session.write(0, "dropped too </s>")
    found = tally(session, [0])
    assert found.texts == ["early two words last"]
    assert found.delays == [[0, 1, 1, 3, 3]]
    assert found.lengths == [3]


def test_the_old_rule_closes_nothing_and_drops_the_last_word_from_the_text() -> None:
    session = Session(TEXT, old=True)
    session.read(0)
    session.write(0, "w </s>")
    session.read(0)
    session.write(0, "more")
    found = tally(session, [0])
    assert found.texts == ["w </s>"]
    assert found.delays == [[1, 1, 2]]


def test_sentences_without_words_are_named_unless_they_are_allowed() -> None:
    session = Session(TEXT)
    session.write(0, "x y </s>")
    with pytest.raises(NotReadyError, match=r"1 sentences have no translation yet \(1\)") as caught:
        tally(session)
    assert caught.value.missing == [1]
    found = tally(session, allow_missing=True)
    # Sentence 1 counts for BLEU as empty, and has no latency: DAL is that of sentence 0, which
    # reads nothing: d = 0, 0, 0.
    assert scores(found, "13a")["DAL"] == 0.0
    with pytest.raises(NotReadyError):
        tally(Session(TEXT), allow_missing=True)


def test_a_repeated_step_is_done_once() -> None:
    session = Session(TEXT)
    first = session.read(0, step=0)
    assert session.read(0, step=0) == first
    session.write(0, "w", step=1)
    session.write(0, "w", step=1)
    assert session.read(0, step=2).segment == "b"
    assert session.exchanges[0].words == ["w"]
    for wrong in (0, 1, 5, -1):
        with pytest.raises(OutOfStepError, match=f"step {wrong} came where step 3 is next"):
            session.read(0, step=wrong)
    with pytest.raises(OutOfStepError):  # the last step was a read, not this write
        session.write(0, "w", step=2)


def test_a_sentence_cannot_grow_for_ever() -> None:
    session = Session(TEXT)
    session.write(0, "w " * 100_000)
    with pytest.raises(TooLongError, match="does the agent ever end"):
        session.write(0, "w")


def _tone(tmp_path: Path, n: int) -> Corpus:
    path = tmp_path / "a.wav"
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(16_000)
        file.writeframes(np.arange(n, dtype="<i2").tobytes())
    return Corpus("speech", [Sentence("0", "x", audio=Audio(path, n * 1000 // 16_000))])


def _lasting(length: float, corpus: Corpus) -> Corpus:
    audio = corpus.sentences[0].audio
    assert audio is not None
    return replace(corpus, sentences=[Sentence("0", "x", audio=replace(audio, length_ms=length))])


def test_audio_comes_in_whole_blocks_of_ten_milliseconds(tmp_path: Path) -> None:
    session = Session(_tone(tmp_path, 16 * 25))  # 25 ms
    first = session.read(0, 19)  # becomes 10
    assert (first.segment_id, len(first.segment), first.position) == (0, 160, 10)
    last = session.read(0, 37)  # becomes 30; only 15 ms are left
    assert (last.segment_id, len(last.segment), last.position, last.finished) == (1, 240, 25, True)
    assert session.read(0).segment == "</s>"
    assert session.exchanges[0].position == 25  # reading the end mark moves nothing


def test_audio_in_exact_slices(tmp_path: Path) -> None:
    session = Session(_tone(tmp_path, 16 * 25))
    found = [session.read(0, 7, exact=True) for _ in range(5)]
    assert [f.segment_id for f in found] == [7, 14, 21, 25, 25]
    assert _heard(found) == list(range(400))


@pytest.mark.parametrize("length", [25, 25.5])  # whole milliseconds, and to the last sample
def test_exact_slices_hold_the_last_samples_too(tmp_path: Path, length: float) -> None:
    session = Session(_lasting(length, _tone(tmp_path, 408)))
    found = [session.read(0, 7, exact=True) for _ in range(5)]
    assert [f.position for f in found] == [7, 14, 21, length, length]
    assert _heard(found) == list(range(408))


def test_exact_slices_stop_where_a_manifest_says(tmp_path: Path) -> None:
    session = Session(_lasting(10, _tone(tmp_path, 1_600)))
    assert _heard([session.read(0, 7, exact=True) for _ in range(3)]) == list(range(160))


def test_exact_slices_are_whole_samples_and_positions_what_they_last(tmp_path: Path) -> None:
    session = Session(_lasting(20, replace(_tone(tmp_path, 441), rate=22_050)))
    found = [session.read(0, 7, exact=True) for _ in range(4)]  # 154.35 samples: 155
    assert [len(f.segment) for f in found[:3]] == [155, 155, 131]
    assert [f.position for f in found] == pytest.approx([155 / 22.05, 310 / 22.05, 20, 20])
    assert _heard(found) == list(range(441))


def _heard(found: list[Served]) -> list[int]:
    return [x for f in found if not isinstance(f.segment, str) for x in f.segment.tolist()]


@given(
    st.lists(
        st.one_of(st.just("read"), st.sampled_from(["w", "x y", "", "v </s>", "</s>"])), max_size=12
    )
)
def test_a_session_comes_back_from_its_log_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, script: list[str]
) -> None:
    path = tmp_path_factory.mktemp("log") / "events.jsonl"
    with EventLog(path, Header()) as log:
        session = Session(TEXT, log)
        for number, each in enumerate(script):
            if session.finished(0):
                break
            if each == "read":
                session.read(0, step=number)
            else:
                session.write(0, each, step=number)
    again = Session(TEXT)
    again.restore(read_events(path)[1])
    if not session.exchanges:
        return
    for name in ("position", "words", "delays", "end", "steps", "was_read"):
        assert getattr(again.exchanges[0], name) == getattr(session.exchanges[0], name), name
    if session.exchanges[0].was_read:  # the last answer can be given again
        last = session.exchanges[0].steps - 1
        assert again.read(0, step=last) == session.read(0, step=last)


def test_resetting_forgets_in_the_log_too(tmp_path: Path) -> None:
    sessions = Sessions(TEXT, tmp_path)
    client = sessions.get()
    assert client is not None
    client.session.write(0, "w </s>")
    sessions.reset()
    sessions.close()
    assert (tmp_path / "events.previous.jsonl").exists()
    again = Sessions(TEXT, tmp_path)
    assert again.resume() == 0


def test_a_session_that_does_nothing_leaves_no_file(tmp_path: Path) -> None:
    sessions = Sessions(TEXT, tmp_path)
    sessions.get("quiet")
    sessions.reset("quiet")
    sessions.close()
    assert list(tmp_path.iterdir()) == []

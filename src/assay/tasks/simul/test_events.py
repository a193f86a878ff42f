# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import threading
from pathlib import Path

import pytest

from assay.core.errors import InputError, OutputError, UsageError
from assay.tasks.simul.events import CaTimes, Event, EventLog, Header, Stream, read_events

SPEECH = Header("speech", "text", "word")


def a_run(path: Path) -> None:
    with EventLog(path, Header()) as log:
        log.open("a", source_length=3, reference="x y")
        log.step("a", Event(2, 0.0, 5.0, ["x", "z"]))
        log.step("a", Event(3, 5.0, 6.0, ["y"], 1))
        log.close("a", at=4)
        log.open("b", source_length=2)
        log.step("b", Event(1, 0.0, 1.0, ["q"]))


def test_a_log_gives_text_delays_and_what_was_taken_back(tmp_path: Path) -> None:
    a_run(tmp_path / "log.jsonl")
    header, (a, b) = read_events(tmp_path / "log.jsonl")
    assert header == Header("text", "text", "word")
    assert (a.text(), a.delays, a.deleted, a.end) == ("x y", [2.0, 3.0], 1, 4.0)
    assert (a.finished, b.finished) == (True, False)
    emission = a.emission(header)
    assert (emission.source_length, emission.end, emission.computing) == (3.0, 4.0, 6.0)


def test_spoken_output_has_durations_and_no_text(tmp_path: Path) -> None:
    header = Header("speech", "speech", "word")
    with EventLog(tmp_path / "log.jsonl", header) as log:
        log.open("0", source_length=1000)
        log.step("0", Event(400, 0.0, 5.0, duration=250.0, rate=8000))
        log.step("0", Event(900, 5.0, 9.0, duration=100.0, rate=8000))
        log.close("0", at=1000)
    found, (stream,) = read_events(tmp_path / "log.jsonl")
    assert found == header
    assert (stream.delays, stream.durations) == ([400, 900], [250.0, 100.0])
    emission = stream.emission(header)
    assert (emission.text, emission.durations) == ("", [250.0, 100.0])
    # Audio is there at 400 and 900; computing took 5 and 4 ms.
    assert emission.elapsed == [405.0, 904.0]


@pytest.mark.parametrize("step", ['"duration": -1', '"duration": 5, "emit": ["a"]'])
def test_a_step_that_cannot_have_been_spoken(tmp_path: Path, step: str) -> None:
    path = tmp_path / "log.jsonl"
    head = '{"assay": "simul.events/1", "target_type": "speech"}\n{"id": "0", "open": {}}\n'
    path.write_text(head + '{"id": "0", "at": 1, ' + step + "}\n")
    with pytest.raises(InputError, match="line 3: a step that spoke has a duration"):
        read_events(path)


def test_resuming_knows_what_is_finished_and_runs_the_rest_again(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    a_run(path)
    with path.open("ab") as file:
        file.write(b'{"id": "b", "at": 2, "sta')  # killed in the middle of a line
    with EventLog(path, Header(), resume=True) as log:
        assert log.finished == {"a"}
        log.open("b", source_length=2)
        log.step("b", Event(2, 0.0, 1.0, ["r"]))
        log.close("b")
    _, (a, b) = read_events(path)
    assert (a.text(), b.text(), b.end) == ("x y", "r", None)
    assert b"sta{" not in path.read_bytes()


def test_a_log_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    a_run(tmp_path / "log.jsonl")
    before = (tmp_path / "log.jsonl").read_bytes()
    with pytest.raises(OutputError, match="holds a run already"):
        EventLog(tmp_path / "log.jsonl", Header())
    with pytest.raises(UsageError, match="text to text by word, not of speech to text"):
        EventLog(tmp_path / "log.jsonl", SPEECH, resume=True)
    assert (tmp_path / "log.jsonl").read_bytes() == before


def test_many_threads_append_whole_lines(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    with EventLog(path, Header()) as log:

        def speak(name: str) -> None:
            log.open(name, source_length=50)
            for at in range(50):
                log.step(name, Event(at, at, at + 1, [f"{name}{at}"]))
            log.close(name)

        threads = [threading.Thread(target=speak, args=(f"t{i}",)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    _, streams = read_events(path)
    assert sorted(s.id for s in streams) == [f"t{i}" for i in range(8)]
    assert all(s.units()[-1][0] == f"{s.id}49" and s.finished for s in streams)


# Steps of audio at 1 s and 2 s. The first takes 1.5 s, so the second begins late: at 2.5 s.
STEPS: list[Event] = [Event(1000, 1000, 2500, ["a"]), Event(2000, 2500, 2700, ["b", "c"])]


@pytest.mark.parametrize(
    ("how", "elapsed"),
    [
        ("queue", [2500, 2700, 2700]),
        ("simuleval", [3500, 4700, 4700]),
        ("chunk", [2500, 2200, 2200]),
    ],
)
def test_three_definitions_of_computation_aware_time(how: CaTimes, elapsed: list[float]) -> None:
    assert Stream("s", 2000, events=STEPS).elapsed(how) == elapsed


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"id": "a", "at": 1, "delete": 1}', "deletes 1 units where there are 0"),
        (b'{"id": "b", "at": 1}', "stream 'b' was not opened"),
        (b'{"id": "a"}', "neither open, close nor a step"),
        (b"{", "the log is damaged"),
    ],
)
def test_damage_is_named_with_its_line(tmp_path: Path, line: bytes, problem: str) -> None:
    path = tmp_path / "log.jsonl"
    with EventLog(path, Header()) as log:
        log.open("a")
    with path.open("ab") as file:
        file.write(line + b"\n")
    with pytest.raises(InputError, match=f"line 3: .*{problem}"):
        read_events(path)
    path.write_text("no log\n")
    with pytest.raises(InputError, match="is not an event log"):
        read_events(path)

# SPDX-License-Identifier: Apache-2.0
"""Agents that speak: what is kept of their audio, and the scores that follow from it."""

from __future__ import annotations

import json
import textwrap
import wave
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.cli import run
from assay.tasks.simul.events import read_events
from assay.tasks.simul.live.agents.registry import agent_in_file
from assay.tasks.simul.live.agents.tones import dial
from assay.tasks.simul.live.shims import installed_shims
from assay.tasks.simul.live.shims.segments import SpeechSegment, segment_from_json_string
from assay.web import application, serving

pytestmark = pytest.mark.skipif(
    "simuleval" not in installed_shims().names, reason="SimulEval itself is installed"
)

LIVE = Path(__file__).parents[1] / "examples" / "simul" / "live"
INTERPRETER = str(LIVE / "interpreter.py")
DATA = ["--source", str(LIVE / "wavs.txt"), "--target", str(LIVE / "spoken.txt")]
TEXT = ["--source", str(LIVE / "source.txt"), "--target", str(LIVE / "target.txt")]
STEP = ["--source-segment-size", "320"]

# Each file dials five words: 80 ms of silence, then five times a tone of 120 ms and 80 ms of
# silence: 1,080 ms. Read in pieces of 320 ms, words are understood when their tone has ended:
# word 1 at 320, words 2 and 3 at 640, word 4 at 960, word 5 at the end, 1,080. A word is said in
# 280 ms, so the pieces last 280, 560, 280 and 280 ms.
DELAYS = [320, 640, 960, 1080]
DURATIONS = [280, 560, 280, 280]
# The second waits for its source: 40 ms of silence. The others wait for the one before.
INTERVALS = [[320, 280], [640, 560], [1200, 280], [1480, 280]]
SCORES = {
    "BLEU": None,
    "StartOffset": 320,
    "EndOffset": 1760 - 1080,
    "RTF": 1760 / 1080,
    # Units of 280, 300, 260, 280 and 280 ms end at 600, 940, 1200, 1480 and 1760. They render the
    # first five pieces of source, which end at 300, 320, 620, 640 and 940.
    "ATD": (300 + 620 + 580 + 840 + 820) / 5,
    "NumChunks": 4,
    "DiscontinuitySum": 40,
    "DiscontinuityAve": 40,
    "DiscontinuityNum": 1,
}


def _ran(capsys: pytest.CaptureFixture[str], *argv: str) -> dict[str, Any]:
    assert run(["simul", *argv]) == 0, capsys.readouterr().err
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def _failed(capsys: pytest.CaptureFixture[str], *argv: str) -> str:
    capsys.readouterr()
    assert run(["simul", *argv]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()[-1]


def _interpret(capsys: pytest.CaptureFixture[str], output: Path, *more: str) -> dict[str, Any]:
    argv = ["run", "--agent", INTERPRETER, *DATA, *STEP, "--output", str(output), *more]
    return _ran(capsys, *argv)


def _agent(tmp_path: Path, source: str) -> str:
    path = tmp_path / "speaking.py"
    names = "from simuleval.agents import *\nfrom simuleval.agents.actions import *\n"
    path.write_text(names + "from simuleval.data.segments import *\n" + textwrap.dedent(source))
    agent_in_file.cache_clear()
    return str(path)


def _heard(path: Path) -> tuple[int, Any]:
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth()) == (1, 2)
        samples = np.frombuffer(file.readframes(file.getnframes()), dtype="<i2")
        return file.getframerate(), samples


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_a_pipeline_that_speaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _interpret(capsys, tmp_path) == pytest.approx(SCORES)

    header, streams = read_events(tmp_path / "events.jsonl")
    assert (header.source_type, header.target_type) == ("speech", "speech")
    assert [(s.delays, s.durations) for s in streams] == [(DELAYS, DURATIONS)] * 3
    spoken = [e.rate for s in streams for e in s.events if e.duration is not None]
    assert spoken == [16_000] * 12

    rate, samples = _heard(tmp_path / "wavs" / "0_pred.wav")
    words = [dial(word) for word in "31415"]
    silence = np.zeros(40 * 16, dtype=np.int16)
    assert rate == 16_000
    assert samples.tolist() == np.concatenate([words[0], silence, *words[1:]]).tolist()

    first = _lines(tmp_path / "instances.log")[0]
    assert list(first.items()) == [
        ("index", 0),
        ("prediction", str((tmp_path / "wavs" / "0_pred.wav").absolute())),
        ("delays", DELAYS),
        ("durations", DURATIONS),
        ("prediction_offset", 320),
        ("elapsed", []),
        ("intervals", INTERVALS),
        ("prediction_length", 1.44),
        ("source_length", 1080),
        ("reference", "three one four one five"),
        ("source", str(LIVE / "wav" / "one.wav")),
    ]
    assert (tmp_path / "config.yaml").read_text() == "source_type: speech\ntarget_type: speech\n"
    assert (tmp_path / "scores.tsv").read_text().splitlines() == [
        "\t".join(SCORES),
        "\t320.0\t680.0\t1.63\t632.0\t4.0\t40.0\t40.0\t1.0",
    ]


@pytest.mark.parametrize("log", ["", "events.jsonl", "instances.log"])
def test_the_log_gives_the_same_scores(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], log: str
) -> None:
    _interpret(capsys, tmp_path)
    found = _ran(capsys, "score", str(tmp_path / log), "--json")
    assert found["scores"] == pytest.approx({k: v for k, v in SCORES.items() if k != "BLEU"})


def test_quality_is_that_of_a_transcript(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _interpret(capsys, tmp_path)
    heard = tmp_path / "heard.txt"
    heard.write_text("three one four one five\ntwo seven one eight\none six one eight zero\n")
    names = ["--quality-metrics", "WER", "BLEU", "--latency-metrics", "EndOffset"]
    argv = ["score", str(tmp_path), *names, "--transcripts", str(heard), "--json"]
    found = _ran(capsys, *argv)["scores"]
    assert found["WER"] == pytest.approx(100 / 15)  # one word of fifteen is lacking
    assert found["EndOffset"] == 680
    said = _failed(capsys, "score", str(tmp_path), *names)
    assert "the output is speech; have a speech recogniser write it down" in said
    heard.write_text("three one four one five\n")
    assert "1 lines, and none for stream 2" in _failed(capsys, *argv)
    assert "--transcripts is for spoken output" in _failed(
        capsys, "score", str(LIVE.parent / "systems" / "eager"), "--transcripts", str(heard)
    )


def test_processes_and_shards_say_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = _interpret(capsys, tmp_path / "whole")
    assert _interpret(capsys, tmp_path / "jobs", "--jobs", "2") == whole
    parts = [str(tmp_path / f"part{i}") for i in (1, 2)]
    for i, part in enumerate(parts, 1):
        argv = ["simul", "run", "--agent", INTERPRETER, *DATA, *STEP, "--shard", f"{i}/2"]
        assert run([*argv, "--output", part]) == 0
    capsys.readouterr()
    assert _ran(capsys, "merge", *parts, "--output", str(tmp_path / "merged")) == whole
    for index in range(3):
        name = f"wavs/{index}_pred.wav"
        for other in ("jobs", "merged"):
            audio = (tmp_path / other / name).read_bytes()
            assert audio == (tmp_path / "whole" / name).read_bytes()
    log = _lines(tmp_path / "merged" / "instances.log")
    assert [each["prediction"] for each in log] == [
        str(tmp_path / "merged" / "wavs" / f"{index}_pred.wav") for index in range(3)
    ]
    (Path(parts[0]) / "wavs" / "0_pred.wav").unlink()
    said = _failed(capsys, "merge", *parts, "--output", str(tmp_path / "again"))
    assert "has no wavs/0_pred.wav, and its log says that sentence 0 was spoken" in said


BREAKS = """
    from pathlib import Path

    class Breaks(SpeechToSpeechAgent):
        def policy(self, states=None):
            if not self.states.source_finished:
                return ReadAction()
            if Path("{flag}").exists() and len(Path("{count}").read_text()) == 1:
                raise RuntimeError("out of memory")
            Path("{count}").write_text(Path("{count}").read_text() + "x")
            return WriteAction([0.25] * 1600, finished=True)
"""


def test_a_run_that_broke_off_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flag, count = tmp_path / "flag", tmp_path / "count"
    flag.touch()
    count.touch()
    agent = _agent(tmp_path, BREAKS.format(flag=flag, count=count))
    argv = ["run", "--agent", agent, *DATA, "--source-segment-size", "500"]
    out = ["--output", str(tmp_path / "out")]
    assert "RuntimeError: out of memory" in _failed(capsys, *argv, *out)
    wavs = tmp_path / "out" / "wavs"
    assert [path.name for path in wavs.iterdir()] == ["0_pred.wav"]
    flag.unlink()
    (wavs / "0_pred.wav").unlink()  # the log says that it was spoken, and the audio is gone
    found = _ran(capsys, *argv, *out, "--resume")
    assert sorted(path.name for path in wavs.iterdir()) == [f"{i}_pred.wav" for i in range(3)]
    assert found["EndOffset"] == 100
    assert count.read_text() == "xxxx"
    # Samples without a rate are taken to have that of the source.
    assert _heard(wavs / "0_pred.wav")[0] == 16_000
    assert set(_heard(wavs / "1_pred.wav")[1].tolist()) == {8192}


def test_text_is_spoken(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = """
    class Beeps(TextToSpeechAgent):
        def policy(self):
            source = self.states.source
            if len(source) < 2 and not self.states.source_finished:
                return ReadAction()
            sound = SpeechSegment(content=[0.5] * 80, sample_rate=8000)
            sound.finished = self.states.source_finished
            return WriteAction(sound, finished=sound.finished)
    """
    argv = ["run", "--agent", _agent(tmp_path, source), *TEXT, "--output", str(tmp_path / "out")]
    assert _ran(capsys, *argv)["StartOffset"] == 2
    header, streams = read_events(tmp_path / "out" / "events.jsonl")
    assert (header.source_type, header.target_type) == ("text", "speech")
    # Six words: one beep of 10 ms for each from the second on.
    assert (streams[0].delays, streams[0].durations) == ([2, 3, 4, 5, 6], [10.0] * 5)
    assert _heard(tmp_path / "out" / "wavs" / "0_pred.wav")[0] == 8_000


class _Service:
    """An agent of SimulEval 1.1 as a service: hears everything, then says it twice."""

    def __init__(self) -> None:
        self.heard: list[float] = []
        self.last: Any = None

    async def handle(self, request: Request) -> Response:
        path = request.url.path
        if path == "/reset":
            self.heard = []
        elif path == "/input":
            self.last = segment_from_json_string((await request.body()).decode())
            self.heard += self.last.content
        elif path == "/output":
            over = self.last.finished
            content = self.heard * 2 if over else []
            sound = SpeechSegment(content=content, sample_rate=16_000, finished=over)
            sound.is_empty = not over
            return Response(sound.json())
        else:
            return Response('{"info": "Twice[speech -> speech]"}')
        return Response("")


def test_a_service_that_speaks(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    service = _Service()
    paths = ("/", "/reset", "/input", "/output")
    routes = [Route(path, service.handle, methods=["GET", "POST", "PUT"]) for path in paths]
    with serving(application(routes)) as address:
        remote = ["--remote-eval", "--remote-port", str(address.port)]
        at = ["--remote-address", address.host, "--output", str(tmp_path)]
        found = _ran(capsys, "run", *remote, *at, *DATA, *STEP)
    # Said from 1,080 ms on, for twice the length of the source.
    assert found["StartOffset"] == 1080
    assert found["RTF"] == 3
    _, source = _heard(LIVE / "wav" / "one.wav")
    assert _heard(tmp_path / "wavs" / "0_pred.wav")[1].tolist() == [*source, *source]


SAYS = """
    class Says(SpeechToSpeechAgent):
        n = 0
        def policy(self, states=None):
            self.n += 1
            return WriteAction({}, finished=self.n > 2)
"""

WRONG = [
    ("'words'", "the agent wrote text, 'words', and its target is speech"),
    ("[[0.1, 0.2]]", "audio of several channels"),
    ("[float('nan')]", "samples that are no numbers"),
    ("['a', 'b']", "the agent wrote list of str, not audio"),
    ("SpeechSegment(content=[0.1], sample_rate=8000 * self.n)", "16,000 Hz after audio of 8,000"),
]


@pytest.mark.parametrize(("content", "message"), WRONG)
def test_what_cannot_be_heard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, message: str
) -> None:
    argv = ["run", "--agent", _agent(tmp_path, SAYS.format(content)), *DATA]
    assert message in _failed(capsys, *argv, "--output", str(tmp_path / "out"))
    assert not list((tmp_path / "out").glob("wavs/*"))


USAGE = [
    (["--port", "1"], "an agent that speaks runs in process; leave out --port"),
    (["--target-type", "text"], "the agent writes speech, not text; check --target-type"),
    (["--source-type", "text"], "the agent reads speech, not text; check --source-type"),
    (["--quality-metrics", "BLEU"], "BLEU cannot be measured: the output is speech"),
    (["--latency-metrics", "LALA"], "unknown metric 'LALA'"),
]


@pytest.mark.parametrize(("more", "message"), USAGE, ids=[u[0][0] for u in USAGE])
def test_wrong_usage_is_one_line(
    capsys: pytest.CaptureFixture[str], more: list[str], message: str
) -> None:
    assert message in _failed(capsys, "run", "--agent", INTERPRETER, *DATA, *more)


def test_an_agent_that_does_not_say_that_it_speaks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = SAYS.replace("SpeechToSpeechAgent", "GenericAgent").format(
        "SpeechSegment(content=[0.5] * 160, sample_rate=16000, finished=True)"
    )
    argv = ["run", "--agent", _agent(tmp_path, source), *DATA, "--source-type", "speech"]
    assert "its target is text; say --target-type speech" in _failed(capsys, *argv)
    assert _ran(capsys, *argv, "--target-type", "speech")["NumChunks"] == 1


def test_other_formats_have_no_place_for_speech(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _interpret(capsys, tmp_path)
    for to in ("fairseq", "simulstream", "omnisteval"):
        argv = ["convert", str(tmp_path), "--to", to, "-o", str(tmp_path / to)]
        assert f"the output is speech, which {to} has no place for" in _failed(capsys, *argv)
        assert not (tmp_path / to).exists()
    for log, to in (("events.jsonl", "simuleval"), ("instances.log", "events")):
        out = tmp_path / to
        assert run(["simul", "convert", str(tmp_path / log), "--to", to, "-o", str(out)]) == 0
        capsys.readouterr()
        found = _ran(capsys, "score", str(out), "--json")["scores"]
        assert found["ATD"] == pytest.approx(SCORES["ATD"])

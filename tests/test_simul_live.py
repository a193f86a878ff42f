# SPDX-License-Identifier: Apache-2.0
"""`assay simul run`, `merge`, `serve` and `agents` as a user types them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import wave
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from assay.cli import run
from assay.tasks.simul.events import read_events
from assay.tasks.simul.live.corpus import load_corpus
from assay.tasks.simul.live.server import evaluation_app
from assay.tasks.simul.live.sessions import Sessions
from assay.tasks.simul.live.shims.segments import segment_from_json_string
from assay.web import Access, Address, application, serving

ROOT = Path(__file__).parents[1]
LIVE = ROOT / "examples" / "simul" / "live"
TEXT = ["--src-file", str(LIVE / "source.txt"), "--tgt-file", str(LIVE / "target.txt")]
WAIT_2 = ["--agent-type", "waitk_text", "--waitk", "2", "--phrase-table", str(LIVE / "phrases.tsv")]
SPEECH = [
    "--src-file",
    str(LIVE / "wavs.txt"),
    "--tgt-file",
    str(LIVE / "spoken.txt"),
    "--scorer-type",
    "speech",
]
LISTEN = [
    "--agent-type",
    "waitk_speech",
    "--waitk",
    "1",
    "--phrase-table",
    str(LIVE / "digits.tsv"),
]


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


@contextmanager
def _server(*data: str, output: Path | None = None) -> Iterator[Address]:
    kind: Any = "speech" if "speech" in data else "text"
    corpus = load_corpus(data[1], data[3], kind=kind, tgt_file_type="text")
    sessions = Sessions(corpus, output)
    with serving(evaluation_app(sessions, access=Access.for_host("127.0.0.1"))) as address:
        yield address
    sessions.close()


@pytest.fixture
def whole(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[dict[str, Any], Path]:
    """A run in one go, and its folder."""
    return _ran(
        capsys, "run", *WAIT_2, *TEXT, "--output", str(tmp_path / "whole")
    ), tmp_path / "whole"


FILES = ("text", "delay", "scores")


def _same_files(one: Path, other: Path) -> None:
    for name in FILES:
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


def test_a_run_in_process(whole: tuple[dict[str, Any], Path]) -> None:
    scores, folder = whole
    assert scores["BLEU"] > 60
    assert (folder / "text").read_text().splitlines()[0] == "Good morning , dear guests ."
    # wait-2 over 6 words and the end mark: 2, 3, ... and 7 for what is written at the end.
    assert (folder / "delay").read_text().splitlines()[
        0
    ] == '{"src_len": 7, "delays": [2, 3, 4, 5, 6, 7, 7]}'
    _, streams = read_events(folder / "events.jsonl")
    assert [s.finished for s in streams] == [True] * 8


def test_the_log_of_a_run_can_be_scored(
    whole: tuple[dict[str, Any], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    scores, folder = whole
    found = _ran(
        capsys,
        "score",
        str(folder),
        "-m",
        "AL@fairseq",
        "-m",
        "DAL@fairseq",
        "-m",
        "BLEU",
        "--json",
    )
    assert found["scores"]["AL@fairseq"] == pytest.approx(scores["AL"], abs=1e-9)
    assert found["scores"]["DAL@fairseq"] == pytest.approx(scores["DAL"], abs=1e-9)
    assert found["scores"]["BLEU"] == pytest.approx(scores["BLEU"], abs=1e-3)


def test_metrics_by_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    named = ["--quality-metrics", "BLEU", "chrF", "--latency-metrics", "LAAL", "AL", "YAAL"]
    out = ["--output", str(tmp_path)]
    found = _ran(capsys, "run", *TEXT, *named, "--agent-type", "waitk_text", "--waitk", "2", *out)
    assert list(found) == ["BLEU", "chrF", "LAAL", "AL@simuleval", "YAAL"]
    for log in ("events.jsonl", "instances.log"):
        scored = _ran(capsys, "score", str(tmp_path / log), *named, "--json")["scores"]
        assert scored == pytest.approx(found, abs=1e-9)
    table = (tmp_path / "scores.tsv").read_text().splitlines()
    assert table[1] == "\t".join(str(round(value, 3)) for value in found.values())
    unwritten = _ran(capsys, "run", "--agent-type", "waitk_text", "--waitk", "2", *TEXT, *named)
    assert unwritten == found
    wrong = ["--latency-metrics", "LALA"]
    assert "unknown metric 'LALA'" in _failed(capsys, "run", *WAIT_2, *TEXT, *wrong, *out)
    served = _failed(capsys, "run", *WAIT_2, "--port", "1", *named)
    assert "with a server give its log to 'assay simul score'" in served


def test_the_log_of_simuleval_is_written_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _ran(capsys, "run", *LISTEN, *SPEECH, "--output", str(tmp_path))
    first = json.loads((tmp_path / "instances.log").read_text().splitlines()[0])
    late = first.pop("elapsed")
    assert first == {
        "index": 0,
        "prediction": "three one four one five",
        # Tones end at 200, 400, ...; the silence behind them comes with the next 100 ms.
        "delays": [300.0, 500.0, 700.0, 900.0, 1080.0],
        "prediction_length": 5,
        "reference": "three one four one five",
        "source": [str(LIVE / "wav" / "one.wav")],
        "source_length": 1080.0,
    }
    # Milliseconds read, and all time on the clock since.
    assert all(e > d for e, d in zip(late, first["delays"], strict=True))
    assert late == sorted(late)
    assert (tmp_path / "config.yaml").read_text() == "source_type: speech\ntarget_type: text\n"


COPY = """
from simuleval.utils import entrypoint
from simuleval.agents import TextToTextAgent
from simuleval.agents.actions import ReadAction, WriteAction

@entrypoint
class Copy(TextToTextAgent):
    def policy(self):
        source, place = self.states.source, len(self.states.target)
        if len(source) - place < 4 and not self.states.source_finished:
            return ReadAction()
        if place >= len(source):
            return WriteAction("", finished=True)
        last = self.states.source_finished and place + 1 == len(source)
        return WriteAction(source[place], finished=last)
"""


def test_an_agent_of_simuleval_gets_the_log_and_the_scores_of_simuleval(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    case = ROOT / "src" / "assay" / "tasks" / "simul" / "golden" / "simuleval-t2t-waitk"
    agent, out = tmp_path / "copies.py", tmp_path / "out"
    agent.write_text(COPY)
    files = ["--source", str(case / "source.txt"), "--target", str(case / "target.txt")]
    found = _ran(capsys, "run", "--agent", str(agent), *files, "--output", str(out))
    wanted = json.loads((case / "expected.json").read_text())["expected"]["scores_from_log"]
    names = {"BLEU": "BLEU", "LAAL": "LAAL", "AL@simuleval": "AL", "AP": "AP", "DAL": "DAL"}
    assert list(found) == [*names, "ATD"]
    for ours, theirs in names.items():
        assert found[ours] == pytest.approx(wanted[theirs], abs=1e-9)
    table = (out / "scores.tsv").read_text().splitlines()[0].split("\t")
    assert table == [*names.values(), "ATD"]
    logs = [
        [json.loads(line) for line in (folder / "instances.log").read_text().splitlines()]
        for folder in (out, case)
    ]
    assert logs[0] == [{**one, "reference": one["reference"].rstrip("\n")} for one in logs[1]]


def test_characters_have_delays_of_their_own_where_they_are_the_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "copies.py").write_text(COPY)
    (tmp_path / "source.txt").write_text("ein Haus da .\n")
    files = ["--source", str(tmp_path / "source.txt"), "--target", str(tmp_path / "source.txt")]
    named = ["--eval-latency-unit", "char", "--latency-metrics", "DAL", "NumChunks", "LAAL"]
    out = tmp_path / "out"
    argv = ["--agent", str(tmp_path / "copies.py"), *files, *named, "--output", str(out)]
    found = _ran(capsys, "run", *argv)
    one = json.loads((out / "instances.log").read_text())
    assert one["prediction"] == "ein Haus da ."
    assert one["delays"] == [4] * 10
    assert one["prediction_length"] == 10
    assert found["NumChunks"] == 10
    # g grows by a tenth of the source, and so does the ideal.
    assert found["DAL"] == pytest.approx(4.0)
    scored = _ran(capsys, "score", str(out / "instances.log"), *named, "--json")["scores"]
    assert scored == pytest.approx(found, abs=1e-9)


def test_the_agent_says_what_it_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = ["--src-file", SPEECH[1], "--tgt-file", SPEECH[3]]
    assert _ran(capsys, "run", *LISTEN, *files)["BLEU"] == 100.0
    wrong = _failed(capsys, "run", *LISTEN, *files, "--source-type", "text")
    assert "the agent reads speech, not text; check --source-type" in wrong


def test_speech_in_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = _ran(capsys, "run", *LISTEN, *SPEECH, "--output", str(tmp_path))
    assert scores["BLEU"] == 100.0
    manifest = _ran(
        capsys, "run", *LISTEN, "--tgt-file", str(LIVE / "manifest.json"), "--scorer-type", "speech"
    )
    assert manifest == scores


def test_the_same_through_a_server(
    whole: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with _server(*TEXT, output=tmp_path / "served") as address:
        to = ["--hostname", "127.0.0.1", "--port", str(address.port)]
        found = _ran(
            capsys, "run", *WAIT_2, *to, "--reset-server", "--num-threads", "3", "--scores"
        )
        assert found == whole[0]
        again = _failed(capsys, "run", *WAIT_2, *to)
        assert "8 of these sentences are finished on the server; use --resume" in again
        assert _ran(capsys, "run", *WAIT_2, *to, "--resume", "--scores") == found
        assert _ran(capsys, "run", *to, "--scores") == found
        own = ["--session", "mine"]
        assert run(["simul", "run", *WAIT_2, *to, *own, "--end-idx", "0"]) == 0
        assert "7 sentences have no translation yet" in _failed(
            capsys, "run", *to, *own, "--scores"
        )
    _same_files(tmp_path / "served", whole[1])


def test_speech_through_a_server(capsys: pytest.CaptureFixture[str]) -> None:
    with _server(*SPEECH) as address:
        found = _ran(capsys, "run", *LISTEN, "--port", str(address.port), "--scores")
    assert found["BLEU"] == 100.0
    assert found == _ran(capsys, "run", *LISTEN, *SPEECH)


def test_an_agent_of_simuleval_hears_all_samples(tmp_path: Path) -> None:
    """Lengths and delays are those of the samples, 62.5 ms here, as in logs of SimulEval."""
    with wave.open(str(tmp_path / "a.wav"), "wb") as file:
        file.setparams((1, 2, 16_000, 0, "NONE", ""))
        file.writeframes(bytes(2 * 1_000))
    (tmp_path / "wavs.txt").write_text(f"{tmp_path / 'a.wav'}\n")
    (tmp_path / "target.txt").write_text("x\n")
    (tmp_path / "counter.py").write_text(
        textwrap.dedent(
            """
            from simuleval.agents import SpeechToTextAgent
            from simuleval.agents.actions import ReadAction, WriteAction
            class Counter(SpeechToTextAgent):
                def policy(self):
                    over, heard = self.states.source_finished, len(self.states.source)
                    return WriteAction(str(heard), finished=True) if over else ReadAction()
            """
        )
    )
    data = ["--source", str(tmp_path / "wavs.txt"), "--target", str(tmp_path / "target.txt")]
    out = tmp_path / "out"
    argv = ["--agent", str(tmp_path / "counter.py"), *data, "--output", str(out)]
    assert run(["simul", "run", *argv, "--source-segment-size", "20"]) == 0
    one = json.loads((out / "instances.log").read_text())
    assert (one["prediction"], one["delays"], one["source_length"]) == ("1000", [62.5], 62.5)


def test_an_agent_of_simuleval_hears_what_a_server_plays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = tmp_path / "listener.py"
    agent.write_text(
        textwrap.dedent(
            """
            from simuleval.agents import SpeechToTextAgent
            from simuleval.agents.actions import ReadAction, WriteAction
            class Listener(SpeechToTextAgent):
                def policy(self):
                    if not self.states.source_finished:
                        return ReadAction()
                    return WriteAction(f"{len(self.states.source)} heard", finished=True)
            """
        )
    )
    with _server(*SPEECH) as address:
        argv = ["run", "--agent", str(agent)]
        served = _ran(capsys, *argv, "--port", str(address.port), "--scores")
    here = _ran(capsys, *argv, *SPEECH)
    assert served["DAL"] == pytest.approx(here["DAL"])


def test_several_threads_give_the_same(
    whole: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        _ran(capsys, "run", *WAIT_2, *TEXT, "--num-threads", "4", "--output", str(tmp_path / "o"))
        == whole[0]
    )
    _same_files(tmp_path / "o", whole[1])


def test_several_processes_give_the_same(
    whole: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        _ran(capsys, "run", *WAIT_2, *TEXT, "--jobs", "2", "--output", str(tmp_path / "o"))
        == whole[0]
    )
    _same_files(tmp_path / "o", whole[1])


def test_shards_that_are_merged_give_the_same(
    whole: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = [str(tmp_path / f"part{i}") for i in (1, 2, 3)]
    for i, part in enumerate(parts, 1):
        assert run(["simul", "run", *WAIT_2, *TEXT, "--shard", f"{i}/3", "--output", part]) == 0
    capsys.readouterr()
    assert _ran(capsys, "merge", *parts, "--output", str(tmp_path / "o")) == whole[0]
    _same_files(tmp_path / "o", whole[1])
    found = _ran(capsys, "score", str(tmp_path / "o"), "-m", "LAAL", "--json")["scores"]
    assert found == _ran(capsys, "score", str(whole[1]), "-m", "LAAL", "--json")["scores"]
    named = ["--latency-metrics", "LAAL", "DAL", "--quality-metrics", "chrF"]
    found = _ran(capsys, "merge", *parts, *named, "--output", str(tmp_path / "n"))
    assert list(found) == ["chrF", "LAAL", "DAL"]
    assert found == _ran(capsys, "run", *WAIT_2, *TEXT, *named, "--output", str(tmp_path / "m"))
    assert run(["simul", "merge", *parts[:2], "--output", str(tmp_path / "p")]) == 0
    assert "are in none of the logs (2, 5): is a shard missing?" in capsys.readouterr().err


def test_shards_of_different_runs_are_not_merged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for k in "12":
        argv = ["--agent-type", "waitk_text", "--waitk", k, *TEXT, "--output", str(tmp_path / k)]
        assert run(["simul", "run", *argv]) == 0
    message = _failed(
        capsys, "merge", str(tmp_path / "1"), str(tmp_path / "2"), "--output", str(tmp_path / "o")
    )
    assert "sentence 0 is in" in message
    assert not (tmp_path / "o").exists()


def test_parts_by_number_and_going_on(
    whole: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = ["--output", str(tmp_path / "o")]
    assert run(["simul", "run", *WAIT_2, *TEXT, *out, "--start-idx", "2", "--end-idx", "2"]) == 0
    assert len((tmp_path / "o" / "text").read_text().splitlines()) == 1  # one sentence is one
    capsys.readouterr()
    assert run(["simul", "run", *WAIT_2, *TEXT, *out, "--resume"]) == 0
    out_text, err = capsys.readouterr()
    assert "1 of 8 sentences are finished already" in err
    assert json.loads(out_text) == whole[0]
    _same_files(tmp_path / "o", whole[1])


def test_a_broken_last_line_of_the_log_is_no_obstacle(
    whole: tuple[dict[str, Any], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    scores, folder = whole
    log = folder / "events.jsonl"
    log.write_bytes(log.read_bytes()[:-400])
    assert _ran(capsys, "run", *WAIT_2, *TEXT, "--output", str(folder), "--resume") == scores


def test_the_log_of_another_corpus_is_refused(
    whole: tuple[dict[str, Any], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("x\n" * 8)
    message = _failed(
        capsys,
        "run",
        *WAIT_2,
        TEXT[0],
        TEXT[1],
        "--tgt-file",
        str(other),
        "--output",
        str(whole[1]),
        "--resume",
    )
    assert "sentence 0 of this log is not that of the corpus" in message


def test_options_after_the_marker_belong_to_the_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = _ran(capsys, "run", "--agent-type", "waitk_text", *TEXT, "--waitk", "5")
    marked = _ran(
        capsys, "run", "--agent-type", "waitk_text", *TEXT, "--model-args", "--waitk", "5"
    )
    assert plain == marked
    agent = tmp_path / "mine.py"
    agent.write_text(
        textwrap.dedent(
            """
            from assay.tasks.simul.live.agents import TranslationAgent
            class Mine(TranslationAgent):
                @staticmethod
                def add_args(parser):
                    parser.add_argument("--output")
                def __init__(self, args):
                    super().__init__(args)
                    assert args.output == "its own", args.output
            """
        )
    )
    _ran(capsys, "run", "--agent", str(agent), *TEXT, "--model-args", "--output", "its own")


WRONG = [
    (["run", *TEXT], "which agent?"),
    (["run", "--agent-type", "nobody", *TEXT], "unknown agent 'nobody'"),
    (["run", *WAIT_2], "what is to be translated?"),
    (["run", *WAIT_2, *TEXT, "--ouput", "x"], "--ouput; did you mean --output? (agent Waitk"),
    (["run", *WAIT_2, *TEXT, "--waitkk", "3"], "--waitkk; did you mean --waitk?"),
    (["run", "--agnt-type", "waitk_text", *TEXT], "--agnt-type; did you mean --agent-type?"),
    (["run", *WAIT_2, *TEXT, "--score-only"], "--score-only is not an option of a run"),
    (["run", *WAIT_2, *TEXT, "--slurm", "--slurm-time", "2:00"], "one command per part"),
    (["run", *WAIT_2, *TEXT, "--dataloader", "speech_to_text"], "the agent reads text"),
    (["run", *WAIT_2, *TEXT, "--step-seconds", "nan"], "--step-seconds must be seconds"),
    (["run", *WAIT_2, *TEXT, "--retry-seconds", "-1"], "--retry-seconds must be seconds"),
    (
        ["run", *WAIT_2, *TEXT, "--start-idx", "99"],
        "there is no sentence from 99 on; they are 0 to 7",
    ),
    (["run", *WAIT_2, *TEXT, "--start-idx", "3", "--end-idx", "2"], "--start-idx and --end-idx"),
    (["run", *WAIT_2, *TEXT, "--shard", "0/3"], "write 1/4 for the first of four"),
    (["run", *WAIT_2, *TEXT, "--num-threads", "0"], "--num-threads must be 1 or more"),
    (["run", *WAIT_2, *TEXT, "--local", "--port", "1"], "--local runs in process"),
    (["run", *WAIT_2, *TEXT, "--port", "1"], "the server has the sentences; leave out --src-file"),
    (["run", "--remote-eval", *TEXT, "--jobs", "2"], "a service is one agent"),
    (["run", *WAIT_2, "--output", "x", "--port", "1"], "to its own --output"),
    (["run", *WAIT_2, *TEXT, "--tokenizer", "14a"], "unknown tokeni"),
    (
        ["run", *WAIT_2, "--port", "1", "--retry-seconds", "0"],
        "no server answers at 127.0.0.1 port 1",
    ),
    (["run", *WAIT_2, *TEXT, "--phrase-table", "none"], "none: cannot be read"),
    (["run", "--port", "1", "--scores", "--waitk", "3"], "unknown option --waitk"),
    (["merge", "--output", "x"], "what is to be merged?"),
    (["merge", str(LIVE), "--output", "x"], "has no event log"),
    (["serve", *TEXT, "--port", "99999"], "is not a port"),
    (["serve", *TEXT, "--resume"], "nothing to resume without --output"),
    (["serve", "--tgt-file", TEXT[3]], "no source; name a file"),
    (["serve", *TEXT, "--hostname", "no.such.host.invalid"], "is not an address of this machine"),
    (["serve", *TEXT, "--unknown"], "No such option"),
]


@pytest.mark.parametrize(("argv", "message"), WRONG, ids=[m[:30] for _, m in WRONG])
def test_wrong_usage_is_one_line(
    argv: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert message in _failed(capsys, *argv)


def test_the_list_of_agents_shows_their_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simul", "agents"]) == 0
    out = capsys.readouterr().out
    assert "waitk_speech" in out
    assert "--phrase-table" in out


def test_sentences_as_simuleval_counts_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _ran(
        capsys,
        "run",
        *WAIT_2,
        *TEXT,
        "--start-index",
        "1",
        "--end-index",
        "3",
        "--output",
        str(tmp_path),
    )
    assert len((tmp_path / "text").read_text().splitlines()) == 2


def test_a_system_folder_of_simuleval(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "my_system.py").write_text(
        textwrap.dedent(
            """
            from simuleval.agents import TextToTextAgent
            from simuleval.agents.actions import ReadAction, WriteAction

            class Says(TextToTextAgent):
                def __init__(self, args):
                    super().__init__(args)
                    self.text = args.prefix * args.times + (".." if args.loud else "")

                @staticmethod
                def add_args(parser):
                    parser.add_argument("--prefix", required=True)
                    parser.add_argument("--times", type=int, default=1)
                    parser.add_argument("--loud", action="store_true")

                def policy(self):
                    return WriteAction(self.text, finished=True)
            """
        )
    )
    (tmp_path / "main.yaml").write_text(
        "agent_class: my_system.Says\nprefix: a\ntimes: 2\nloud: true\ndevice: cpu\n"
    )
    _ran(
        capsys,
        "run",
        "--system-dir",
        str(tmp_path),
        *TEXT,
        "--output",
        str(tmp_path / "o"),
        "--times",
        "3",
    )
    assert (tmp_path / "o" / "text").read_text() == "aaa..\n" * 8
    (tmp_path / "main.yaml").write_text("prefix: a\n")
    assert "has no agent_class" in _failed(capsys, "run", "--system-dir", str(tmp_path), *TEXT)


class _WithoutSteps:
    """A server that does not number steps, as those of others do not."""

    def __init__(self, app: Any) -> None:
        self.app, self.requests = app, 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        self.requests += 1

        async def plain(message: Any) -> None:
            if "headers" in message:
                message["headers"] = [h for h in message["headers"] if h[0] != b"x-assay-steps"]
            await send(message)

        assert b"step=" not in scope["query_string"]
        await self.app(scope, receive, plain)


def test_a_server_of_others(
    whole: tuple[dict[str, Any], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = load_corpus(TEXT[1], TEXT[3])
    app = evaluation_app(Sessions(corpus, old=True), access=Access.for_host("127.0.0.1"))
    with serving(_WithoutSteps(app)) as address:
        found = _ran(
            capsys, "run", *WAIT_2, "--port", str(address.port), "--reset-server", "--scores"
        )
    assert {k: v for k, v in found.items() if k != "TER"} == {
        k: v for k, v in whole[0].items() if k != "TER"
    }


@pytest.mark.parametrize(
    "answer", ["[1]", "abc", '{"num_sentences": "x"}', '{"num_sentences": -1}']
)
def test_something_else_that_speaks_http(answer: str, capsys: pytest.CaptureFixture[str]) -> None:
    async def about(request: Request) -> Response:
        return Response(answer)

    with serving(application([Route("/", about)])) as address:
        said = _failed(capsys, "run", *WAIT_2, "--port", str(address.port))
    assert (
        said
        == f"assay: what answers at {address.host} port {address.port} is not an evaluation server"
    )


# --- agents that misbehave -----------------------------------------------------------------------

HANGS = """
import threading
from assay.tasks.simul.live.agents import TranslationAgent
class Hangs(TranslationAgent):
    def predict_from_states(self, states):
        if states["segments"]["src"][0] == "Am":
            threading.Event().wait()
        return super().predict_from_states(states)
"""

BREAKS = """
from assay.tasks.simul.live.agents import TranslationAgent
class Breaks(TranslationAgent):
    def predict_from_states(self, states):
        if states["segments"]["src"][0] == "Am":
            raise KeyError("wort")
        return super().predict_from_states(states)
"""


@pytest.mark.parametrize(
    ("source", "more", "message"),
    [
        (HANGS, ["--step-seconds", "0.3"], "at one step of sentence 2 for more than 0.3 s"),
        (BREAKS, [], "the agent broke off in sentence 2: KeyError: 'wort' (agent.py, line 6)"),
    ],
)
def test_an_agent_that_fails_leaves_what_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], source: str, more: list[str], message: str
) -> None:
    agent, out = tmp_path / "agent.py", str(tmp_path / "o")
    agent.write_text(source)
    assert message in _failed(capsys, "run", "--agent", str(agent), *TEXT, "--output", out, *more)
    _, streams = read_events(tmp_path / "o" / "events.jsonl")
    assert [s.id for s in streams if s.finished] == ["0", "1"]


def test_an_agent_that_takes_its_process_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(BREAKS.replace('raise KeyError("wort")', "__import__('os')._exit(9)"))
    message = _failed(
        capsys, "run", "--agent", str(agent), *TEXT, "--jobs", "2", "--output", str(tmp_path / "o")
    )
    assert "a process of the run died" in message


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_interrupting_keeps_what_is_done(tmp_path: Path, jobs: str) -> None:
    agent = tmp_path / "agent.py"
    agent.write_text(
        HANGS.replace(
            "threading.Event().wait()", "print('here', flush=True); threading.Event().wait()"
        )
    )
    argv = [
        "simul",
        "run",
        "--agent",
        str(agent),
        *TEXT,
        "--output",
        str(tmp_path / "o"),
        "--jobs",
        jobs,
    ]
    with subprocess.Popen(
        [sys.executable, "-m", "assay", *argv],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "here\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    assert process.returncode == 130
    (line,) = err.splitlines()
    said = re.search("interrupted after ([0-9]) of 8 sentences; go on with --resume", line)
    assert said is not None, line
    _, streams = read_events(tmp_path / "o" / "events.jsonl")
    # Which ones were done depends on the process that was quicker; one must be, to get to the third.
    assert int(said[1]) == sum(s.finished for s in streams) >= 1


# --- an agent service of SimulEval ---------------------------------------------------------------

CASE = Path(__file__).parents[2] / "shared" / "oracles" / "simul" / "simuleval-remote-text"


class _CopyService:
    """A wait-2 agent that copies, as a service; keeps the requests it gets."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, str, Any, Any]] = []
        self.reset()

    def reset(self) -> None:
        self.source: list[str] = []
        self.over = False
        self.done = 0

    def output(self) -> dict[str, Any]:
        reading = len(self.source) - self.done < 2 and not self.over
        answer: dict[str, Any] = {
            "index": 0,
            "content": [],
            "finished": False,
            "is_empty": True,
            "data_type": None,
            "tgt_lang": None,
            "config": {},
        }
        if not reading and self.done < len(self.source):
            self.done += 1
            answer |= {
                "content": self.source[self.done - 1],
                "is_empty": False,
                "data_type": "text",
            }
            answer["finished"] = self.over and self.done == len(self.source)
        return answer

    async def handle(self, request: Request) -> Response:
        body = await request.body()
        path, answer = request.url.path, None
        if path == "/reset":
            self.reset()
        elif path == "/input":
            segment = segment_from_json_string(body.decode())
            self.over = segment.finished
            if not segment.is_empty:
                self.source.append(segment.content)
        elif path == "/output":
            answer = self.output()
        else:
            return Response('{"info": "CopyWaitk[text -> text]"}')
        self.seen.append((request.method, path, json.loads(body) if body else None, answer))
        return Response(json.dumps(answer) if answer else "")

    def app(self) -> Any:
        paths = ("/", "/reset", "/input", "/output")
        return application([Route(p, self.handle, methods=["GET", "POST", "PUT"]) for p in paths])


@pytest.mark.skipif(not CASE.exists(), reason="no recorded exchange")
def test_a_remote_agent_gets_the_requests_that_simuleval_makes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    service = _CopyService()
    with serving(service.app()) as address:
        remote = [
            "--remote-eval",
            "--remote-address",
            address.host,
            "--remote-port",
            str(address.port),
        ]
        data = ["--source", str(CASE / "source.txt"), "--target", str(CASE / "target.txt")]
        scores = _ran(capsys, "run", *remote, *data, "--output", str(tmp_path))
    recorded = [json.loads(line) for line in (CASE / "transcript.jsonl").read_text().splitlines()]
    assert service.seen == [(r["method"], r["path"], r["body"], r["response"]) for r in recorded]
    assert scores["BLEU"] == pytest.approx(100)
    log = [json.loads(line) for line in (CASE / "instances.log").read_text().splitlines()]
    _, streams = read_events(tmp_path / "events.jsonl")
    assert [s.delays for s in streams] == [each["delays"] for each in log]
    assert [s.text() for s in streams] == [each["prediction"] for each in log]


def test_a_remote_agent_that_is_not_there(capsys: pytest.CaptureFixture[str]) -> None:
    message = _failed(capsys, "run", "--remote-eval", "--remote-port", "1", *TEXT)
    assert "no agent answers at localhost port 1" in message


def test_what_is_no_agent_service(capsys: pytest.CaptureFixture[str]) -> None:
    with _server(*TEXT) as address:
        remote = [
            "--remote-eval",
            "--remote-address",
            "127.0.0.1",
            "--remote-port",
            str(address.port),
        ]
        assert "is not an agent service" in _failed(capsys, "run", *remote, *TEXT)

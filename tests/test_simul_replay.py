# SPDX-License-Identifier: Apache-2.0
"""Recorded exchanges with fairseq's server, replayed against ours over HTTP."""

from __future__ import annotations

import hashlib
import http.client
import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from assay.cli import run
from assay.tasks.simul.events import read_events
from assay.tasks.simul.live.corpus import load_corpus
from assay.tasks.simul.live.server import evaluation_app
from assay.tasks.simul.live.sessions import Sessions
from assay.web import Access, serving

ORACLES = Path(__file__).parents[2] / "shared" / "oracles" / "simul"
CASES = sorted(
    path.parent.name
    for kind in ("text-*", "speech-*")
    for path in ORACLES.glob(f"{kind}/transcript.jsonl")
)

pytestmark = pytest.mark.skipif(
    not CASES, reason="the recorded exchanges are third-party data and not in the repository"
)

# What ours does otherwise without --compat fairseq: the old server took words for sentences that
# do not exist, counted ids from the end, never closed a sentence, and did not look at audio.
FIXED = {
    "text-errors",
    "text-no-eos-sent",
    "text-resend-after-eos",
    "text-unknown-id-put",
    "speech-edge",
}


def _expected(case: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((ORACLES / case / "expected.json").read_text("utf-8"))
    return found


@contextmanager
def _served(case: str, output: Path, *, old: bool) -> Iterator[int]:
    """A server in this process, with the flags of the case."""
    given = _expected(case)["args"]
    files = [
        str(ORACLES / case / given[f]) if f in given else None for f in ("--src-file", "--tgt-file")
    ]
    corpus = load_corpus(
        *files,
        kind=given["--scorer-type"],
        tgt_file_type=given.get("--tgt-file-type", "json"),
        old=old,
    )
    sessions = Sessions(corpus, output, old=old)
    access = Access.for_host("127.0.0.1")
    app = evaluation_app(sessions, tokenizer=given["--tokenizer"], access=access)
    with serving(app) as address:
        yield address.port
    sessions.close()


@contextmanager
def _commanded(case: str, output: Path) -> Iterator[int]:
    """The real command, in the folder of the case, with the flags of the case."""
    given = {**_expected(case)["args"], "--output": str(output), "--port": "0"}
    argv = [sys.executable, "-m", "assay", "simul", "serve", "--compat", "fairseq"]
    with subprocess.Popen(
        [*argv, *(word for pair in given.items() for word in pair)],
        cwd=ORACLES / case,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    ) as process:
        assert process.stderr is not None
        try:
            line = next(line for line in process.stderr if "http://" in line)
            yield int(line.split("http://127.0.0.1:")[1].split(",")[0])
        finally:
            process.terminate()


def _same(expected: Any, found: Any, path: str, skip: frozenset[str]) -> None:
    if isinstance(expected, dict) and "segment_sha256" in expected:
        samples = json.dumps(found["segment"]).encode()
        assert hashlib.sha256(samples).hexdigest() == expected["segment_sha256"]
        dropped = {"segment_sha256", "segment_len", "segment_head", "segment_tail"}
        expected = {k: v for k, v in expected.items() if k not in dropped}
    if isinstance(expected, dict):
        for key, value in expected.items():
            if key in skip or (key == "METEOR" and found[key] is None):  # WordNet is not here
                continue
            _same(value, found[key], f"{path}/{key}", skip)
    elif isinstance(expected, float):
        tolerance = 6e-4 if path in ("/BLEU", "/TER", "/METEOR") else 2e-6 * max(1, abs(expected))
        assert math.isclose(expected, found, rel_tol=0, abs_tol=tolerance), path
    elif expected == "NaN":
        assert found is None or isinstance(found, float), path
    else:
        assert expected == found, path


def _replay(case: str, port: int, skip: frozenset[str] = frozenset()) -> dict[str, Any] | None:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    last = None
    with (ORACLES / case / "transcript.jsonl").open(encoding="utf-8") as file:
        for number, each in enumerate(map(json.loads, file), 1):
            query = f"?{urlencode(each['params'])}" if each["params"] else ""
            body = None if each["body"] is None else each["body"].encode()
            connection.request(each["method"], each["path"] + query, body)
            answer = connection.getresponse()
            text = answer.read().decode()
            where = f"request {number}: {each['method']} {each['path']}{query}"
            if each["status"] == 500:
                assert 400 <= answer.status < 500, where
            else:
                assert answer.status == each["status"], where
            if each["status"] == 200 and each["response"] is not None:
                last = json.loads(text)
                _same(each["response"], last, "", skip)
            if each["status"] == 200 and each.get("response_text") == "":
                assert text == "", where
    connection.close()
    return last


def _check_files(case: str, output: Path) -> None:
    expected = ORACLES / case / "expected_output"
    if expected.exists():
        for name in ("text", "delay"):
            assert (output / name).read_bytes() == (expected / name).read_bytes()


@pytest.mark.parametrize("case", CASES)
def test_the_old_rules_give_the_old_answers(case: str, tmp_path: Path) -> None:
    with _served(case, tmp_path, old=True) as port:
        last = _replay(case, port)
    _check_files(case, tmp_path)
    for name, value in _expected(case)["expected"].get("latency_float64", {}).items():
        assert last is not None
        assert last[name] == pytest.approx(value, abs=1e-9)


@pytest.mark.parametrize("case", [case for case in CASES if case not in FIXED])
def test_so_do_ours_where_nothing_was_mended(case: str, tmp_path: Path) -> None:
    with _served(case, tmp_path, old=False) as port:
        _replay(case, port, skip=frozenset({"TER"}))  # ours is sacrebleu's
    _check_files(case, tmp_path)


@pytest.mark.parametrize("case", ["text-resend-after-eos", "speech-edge"])
def test_the_command_does_the_same(case: str, tmp_path: Path) -> None:
    with _commanded(case, tmp_path) as port:
        _replay(case, port)
    _check_files(case, tmp_path)


TED = ORACLES / "text-ted500-wait3"
COPY = ORACLES / "simuleval-t2t-waitk"

WAIT_3 = """
from assay.tasks.simul.live.agents import END, TranslationAgent, GET, SEND

class Told(TranslationAgent):
    '''Sends translations that are known beforehand, three words behind the source.'''

    @staticmethod
    def add_args(parser):
        TranslationAgent.add_args(parser)
        parser.add_argument("--told")

    def load_model(self, args):
        with open(args.told, encoding="utf-8") as file:
            self.left = [line.split() for line in file]

    def reset(self):
        self.words = self.left.pop(0)

    def decision_from_states(self, states):
        behind = len(states["segments"]["src"]) - len(states["segments"]["tgt"])
        return GET if behind < 3 and not states["finish_read"] else SEND

    def predict_from_states(self, states):
        done = len(states["segments"]["tgt"])
        return self.words[done] if done < len(self.words) else END
"""

COPY_4 = """
from simuleval.agents import TextToTextAgent
from simuleval.agents.actions import ReadAction, WriteAction

class Copy(TextToTextAgent):
    def policy(self):
        states = self.states
        if len(states.source) - len(states.target) < 4 and not states.source_finished:
            return ReadAction()
        place = len(states.target)
        last = states.source_finished and place + 1 >= len(states.source)
        return WriteAction(states.source[place], finished=last)
"""


def _run(tmp_path: Path, source: str, case: Path, *more: str) -> None:
    (tmp_path / "agent.py").write_text(source, encoding="utf-8")
    data = ["--src-file", str(case / "source.txt"), "--tgt-file", str(case / "target.txt")]
    agent = ["--agent", str(tmp_path / "agent.py"), *more]
    assert run(["simul", "run", *data, *agent, "--output", str(tmp_path / "out")]) == 0


@pytest.mark.skipif(not TED.exists(), reason="no recorded case")
def test_five_hundred_sentences_by_an_agent(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _run(tmp_path, WAIT_3, TED, "--told", str(TED / "hypothesis.txt"))
    found = json.loads(capsys.readouterr().out)
    _check_files("text-ted500-wait3", tmp_path / "out")
    expected = _expected("text-ted500-wait3")["expected"]
    for name, value in expected["latency_float64"].items():
        assert found[name] == pytest.approx(value, abs=1e-9)
    assert found["BLEU"] == expected["result"]["BLEU"]


@pytest.mark.skipif(not COPY.exists(), reason="no recorded case")
def test_an_agent_of_simuleval_writes_when_simuleval_says_it_does(tmp_path: Path) -> None:
    _run(tmp_path, COPY_4, COPY)
    _, streams = read_events(tmp_path / "out" / "events.jsonl")
    log = [json.loads(line) for line in (COPY / "instances.log").read_text("utf-8").splitlines()]
    assert [s.delays for s in streams] == [each["delays"] for each in log]
    assert [s.text() for s in streams] == [each["prediction"] for each in log]
    assert [s.source_length for s in streams] == [each["source_length"] for each in log]

# SPDX-License-Identifier: Apache-2.0
"""Against the tools that simultaneous translation was scored with, where they are installed.

They are no dependencies, not even of development: they want many packages, and are only run. Each
has an environment of its own, named by a variable; where that is not set, nothing is measured.

- `ASSAY_SIMULEVAL=/there/bin/simuleval`: SimulEval 1.1.4, after a torch without CUDA;
- `ASSAY_OMNISTEVAL=/there/bin/omnisteval`: OmniSTEval 0.1.10;
- `ASSAY_FAIRSEQ=/there/fairseq`: of a wheel of fairseq 0.10, the one folder
  `fairseq/examples/simultaneous_translation/utils`, run by SimulEval's Python for its torch.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.harness import DATA, Case, Work, command
from benchmarks.simul import METRICS, log_of, ours, recording
from benchmarks.simul_live import SENTENCES

SIMULEVAL = os.environ.get("ASSAY_SIMULEVAL")
OMNISTEVAL = os.environ.get("ASSAY_OMNISTEVAL")
FAIRSEQ = os.environ.get("ASSAY_FAIRSEQ")
ASSAY = [sys.executable, "-m", "assay", "simul"]


# -- SimulEval ----------------------------------------------------------------------------------


def simuleval_scorers(n: int) -> Work:
    """Its own instances, made from the lines of a log, and its own scorers."""
    from simuleval.evaluator.instance import LogInstance
    from simuleval.evaluator.scorers import latency_scorer

    path = log_of(n)
    names = [f"{name.partition('@')[0]}Scorer" for name in METRICS]
    scorers = [getattr(latency_scorer, name)() for name in names]

    def work() -> list[float]:
        with path.open(encoding="utf-8") as file:
            held = {number: LogInstance(line) for number, line in enumerate(file)}
        return [float(scorer(held)) for scorer in scorers]

    return work


def scoring_commands(program: str) -> Case:
    """A log from the command line, quality too."""
    folder = log_of(100_000).parent
    copied = DATA / "simul-peer"  # it writes into the folder
    copied.mkdir(exist_ok=True)
    for file in folder.iterdir():
        shutil.copy(file, copied)
    names = ["--latency-metrics", "LAAL", "AL", "AP", "DAL", "--quality-metrics", "BLEU"]
    return Case(
        "command: BLEU and 4 latency metrics of 100,000 streams",
        "simuleval --score-only",
        ours=command([*ASSAY, "score", str(folder), *names, "--ci", "0"], 1),
        peer=command([program, "--score-only", "--output", str(copied), *names], 1),
        must=9,
        tolerance=None,
        peer_rounds=1,
    )


# -- a loop around an agent ---------------------------------------------------------------------

AGENT = """
from simuleval.utils import entrypoint
from simuleval.agents import TextToTextAgent
from simuleval.agents.actions import ReadAction, WriteAction

@entrypoint
class Copy(TextToTextAgent):
    def policy(self):
        states = self.states
        if len(states.source) - len(states.target) < 3 and not states.source_finished:
            return ReadAction()
        place = len(states.target)
        last = states.source_finished and place + 1 >= len(states.source)
        return WriteAction(states.source[place], finished=last)
"""


def _agent() -> list[str]:
    source, agent = DATA / "simul-long.txt", Path(tempfile.mkdtemp()) / "agent.py"
    lines = [" ".join(words) + "\n" for words in SENTENCES * 40]
    source.parent.mkdir(exist_ok=True)
    source.write_text("".join(lines), encoding="utf-8")
    agent.write_text(AGENT, encoding="utf-8")
    return ["--source", str(source), "--target", str(source), "--agent", str(agent), "--no-scoring"]


def _ran(argv: list[str], log: str, line: bytes) -> Work:
    """Run it; the answer is how many sentences the log has, by a word that each has once."""
    given = _agent()

    def work() -> int:
        folder = Path(tempfile.mkdtemp())
        subprocess.run([*argv, *given, "--output", str(folder)], check=True, capture_output=True)
        return (folder / log).read_bytes().count(line)

    return work


def ours_loop() -> Work:
    """`assay simul run` with an agent of SimulEval 1.1; each step is in the log before the next."""
    return _ran([*ASSAY, "run"], "events.jsonl", b'"close"')


def simuleval_loop(program: str) -> Work:
    """SimulEval itself, with the same agent; its log is written sentence by sentence."""
    return _ran([program, "--no-progress-bar"], "instances.log", b'"delays"')


def simuleval_cases(program: str) -> list[Case]:
    """What SimulEval can be held against."""
    return [
        Case(
            "latency of a log, 100,000 streams, 4 metrics ",
            "SimulEval's scorers",
            ours=partial(ours, 100_000),
            peer=partial(simuleval_scorers, 100_000),
            must=9,
            memory=90,
            peer_python=_python_of(program),
        ),
        scoring_commands(program),
        Case(
            "simul: 240,000 words through an agent of SimulEval",
            "SimulEval 1.1.4",
            ours_loop,
            partial(simuleval_loop, program),
            must=1.0,
        ),
    ]


def _python_of(program: str) -> str:
    """The interpreter of the environment that a command is in."""
    return str(Path(program).parent / "python")


# -- fairseq ------------------------------------------------------------------------------------


def delays_of(n: int) -> tuple[list[list[int]], list[int]]:
    """Made-up delays of text, end marks included, and lengths of sources."""
    rng = random.Random(3)
    lengths = [rng.randint(5, 35) for _ in range(n)]
    delays = [
        [*sorted(rng.randint(1, length) for _ in range(rng.randint(4, 34))), length]
        for length in lengths
    ]
    return delays, lengths


def our_delays(n: int) -> Work:
    """All sentences at once, in double precision."""
    from assay.tasks.simul.fairseq import latency_scores

    given = delays_of(n)

    def work() -> list[float]:
        found = latency_scores(*given)
        return [found[name] for name in ("AL", "AP", "DAL")]

    return work


def fairseq_delays(n: int) -> Work:
    """A sentence at a time through its torch classes, which have 32 bits."""
    sys.path.insert(0, FAIRSEQ or "")
    import torch
    from examples.simultaneous_translation.utils.latency import LatencyInference

    torch.set_num_threads(1)
    delays, lengths = delays_of(n)
    measure = LatencyInference(start_from_zero=False)
    names = ("average_lagging", "average_proportion", "differentiable_average_lagging")

    def work() -> list[float]:
        totals = [0.0, 0.0, 0.0]
        for times, length in zip(delays, lengths, strict=True):
            found = measure(torch.LongTensor([times]), torch.LongTensor([[length]]))
            totals = [total + found[name].item() for total, name in zip(totals, names, strict=True)]
        return [total / n for total in totals]

    return work


def fairseq_cases(program: str) -> list[Case]:
    """Latency as the evaluation server computed it."""
    return [
        Case(
            "AL, AP and DAL of 3,000 lists of delays",
            "fairseq, torch",
            ours=partial(our_delays, 3_000),
            peer=partial(fairseq_delays, 3_000),
            must=300,
            tolerance=1e-6,
            rounds=20,
            peer_rounds=2,
            peer_python=_python_of(program),
        )
    ]


# -- OmniSTEval ---------------------------------------------------------------------------------


def talk(n: int) -> list[str]:
    """The files of a long recording with its output, and the options that name them."""
    output, segments = recording(n)
    folder = DATA / f"simul-talk-{n}"
    folder.mkdir(parents=True, exist_ok=True)
    seconds = [{"wav": "talk.wav", "offset": 8 * i, "duration": 8} for i in range(len(segments))]
    delays = [8_000 * len(segments) * (i + 1) / len(output) for i in range(len(output))]
    line = {"source": "talk.wav", "prediction": " ".join(output), "delays": delays}
    (folder / "segments.json").write_text(json.dumps(seconds))
    (folder / "references.txt").write_text("".join(" ".join(s) + "\n" for s in segments))
    (folder / "output.jsonl").write_text(json.dumps({**line, "elapsed": delays}) + "\n")
    return [str(folder / name) for name in ("segments.json", "references.txt", "output.jsonl")]


def our_talk(n: int) -> Work:
    """`assay simul score` on an undivided recording."""
    segments, references, output = talk(n)
    argv = [*ASSAY, "score", output, "--segments", segments, "--gold", references]
    argv += ["--compat", "omnisteval", "--ci", "0", "--json"]

    def work() -> list[float]:
        done = subprocess.run(argv, check=True, stdout=subprocess.PIPE)
        scores = json.loads(done.stdout)["scores"]
        return [round(scores[name], 4) for name in ("BLEU", "chrF", "LongYAAL", "LongLAAL")]

    return work


def omnisteval_talk(n: int, program: str) -> Work:
    """OmniSTEval's command on the same files; its table has four decimals."""
    segments, references, output = talk(n)
    argv = [program, "longform", "--speech_segmentation", segments, "--word_level"]
    argv += ["--ref_sentences_file", references, "--hypothesis_file", output, "--output_folder"]

    def work() -> list[float]:
        folder = Path(tempfile.mkdtemp())
        subprocess.run([*argv, str(folder)], check=True, capture_output=True)
        lines = (folder / "scores.tsv").read_text().splitlines()
        scores: dict[str, Any] = dict(line.split("\t")[:2] for line in lines)
        names = ("BLEU", "chrF", "LongYAAL (CU)", "LongLAAL (CU)")
        return [float(scores[name]) for name in names]

    return work


def omnisteval_cases(program: str) -> list[Case]:
    """A recording from output to scores, start included."""
    return [
        Case(
            f"a recording of {n:,} words divided and scored, start included",
            "omnisteval longform",
            ours=partial(our_talk, n),
            peer=partial(omnisteval_talk, n, program),
            must=must,
            peer_rounds=1,
        )
        for n, must in ((2_000, 5), (4_000, 10))
    ]


CASES: list[Case] = []
if SIMULEVAL:
    CASES += simuleval_cases(SIMULEVAL)
if SIMULEVAL and FAIRSEQ:
    CASES += fairseq_cases(SIMULEVAL)
if OMNISTEVAL:
    CASES += omnisteval_cases(OMNISTEVAL)

# SPDX-License-Identifier: Apache-2.0
"""`assay simul serve`, `run`, `merge` and `agents`: their options, and what they do."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from assay.core.errors import UsageError
from assay.core.options import Option, Verb
from assay.tasks.simul.options import MEASURES

DATA = (
    Option(
        "src_file",
        ("--src-file", "--source"),
        "Source: one sentence per line; for speech a list of WAV files.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "tgt_file",
        ("--tgt-file", "--target"),
        "References, one per line; for speech also a JSON manifest that names the audio.",
        kind="path",
        metavar="FILE",
    ),
    Option(
        "tgt_file_type",
        ("--tgt-file-type",),
        "What --tgt-file is where the source is speech; default: as it looks.",
        kind="choice",
        choices=("text", "json"),
    ),
    Option(
        "scorer_type",
        ("--scorer-type", "--source-type"),
        "What the source is.",
        kind="choice",
        choices=("text", "speech"),
        default="text",
    ),
    Option(
        "tokenizer",
        ("--tokenizer", "--sacrebleu-tokenizer"),
        "Tokenizer of BLEU: 13a, none, or another of sacrebleu's.",
        default="13a",
    ),
    Option(
        "sample_rate",
        ("--sample-rate",),
        "Samples per second of the audio.",
        kind="integer",
        default=16_000,
    ),
    Option(
        "segment_size",
        ("--segment-size",),
        "Milliseconds of the smallest slice of audio.",
        kind="integer",
        default=10,
    ),
    Option(
        "wav_data_type",
        ("--wav-data-type",),
        "Samples are served as whole numbers of 16 bits.",
        kind="choice",
        choices=("int16",),
        default="int16",
        hidden=True,
    ),
)

SERVE = (
    *DATA,
    Option("output", ("--output",), "Write log, text, delay and scores here.", metavar="DIR"),
    Option("port", ("--port",), "Port; 0 for any free one.", kind="integer", default=12321),
    Option(
        "hostname",
        ("--hostname",),
        "Address to listen on; others than this machine need a token.",
        default="localhost",
    ),
    Option("token", ("--token",), "What clients must show; made up where one is needed."),
    Option("resume", ("--resume",), "Take up what the log in --output holds.", kind="flag"),
    Option(
        "compat",
        ("--compat",),
        "The rules of the old server: no end mark closes a sentence, audio is not looked at.",
        kind="choice",
        choices=("fairseq",),
    ),
    Option(
        "ready_file",
        ("--ready-file",),
        "Write the address to this file once requests are answered.",
        kind="path",
        metavar="FILE",
    ),
    Option("debug", ("--debug",), "Accepted for old command lines.", kind="flag", hidden=True),
)

RUN = (
    Option("agent_type", ("--agent-type",), "An agent by name; see 'assay simul agents'."),
    Option("agent", ("--agent",), "A Python file with an agent.", kind="path", metavar="FILE"),
    Option("agent_class", ("--agent-class",), "Which class of the file, or a.b.Class."),
    Option(
        "system_dir",
        ("--system-dir",),
        "A folder of SimulEval with an agent and its options.",
        kind="path",
        metavar="DIR",
    ),
    Option(
        "system_config",
        ("--system-config",),
        "The file in it that names the agent's class and the options.",
        default="main.yaml",
    ),
    *DATA,
    Option("output", ("--output",), "Write log, text, delay and scores here.", metavar="DIR"),
    Option("local", ("--local",), "Run in process; the default without --port.", kind="flag"),
    Option("port", ("--port",), "Port of a server.", kind="integer"),
    Option("hostname", ("--hostname",), "Address of the server."),
    Option("token", ("--token",), "Token of the server."),
    Option("session", ("--session",), "A state of one's own on the server."),
    Option("reset_server", ("--reset-server",), "Have the server forget first.", kind="flag"),
    Option("scores", ("--scores",), "Ask the server for the scores at the end.", kind="flag"),
    Option(
        "no_scoring",
        ("--no-scoring",),
        "Write the log only; score it later with 'assay simul score'.",
        kind="flag",
    ),
    *MEASURES,
    Option("start_idx", ("--start-idx",), "First sentence.", kind="integer", default=0),
    Option("end_idx", ("--end-idx",), "Last sentence; it counts.", kind="integer"),
    Option(
        "start_index",
        ("--start-index",),
        "First sentence, as SimulEval counts.",
        kind="integer",
        hidden=True,
    ),
    Option(
        "end_index",
        ("--end-index",),
        "The sentence after the last, as SimulEval counts; -1 for all.",
        kind="integer",
        hidden=True,
    ),
    Option(
        "num_threads",
        ("--num-threads",),
        "Threads, each with an agent of its own.",
        kind="integer",
        default=1,
    ),
    Option("jobs", ("--jobs", "-j"), "Processes.", kind="integer", default=1),
    Option("shard", ("--shard",), "This part only: 1/4 is the first of four.", metavar="I/N"),
    Option(
        "resume",
        ("--resume", "--continue-unfinished"),
        "Leave out sentences that are finished.",
        kind="flag",
    ),
    Option(
        "step_seconds",
        ("--step-seconds",),
        "Seconds an agent may take for one step; 0 for any.",
        kind="number",
        default=300.0,
    ),
    Option(
        "max_steps",
        ("--max-steps",),
        "Steps an agent may make in one sentence.",
        kind="integer",
        default=100_000,
    ),
    Option(
        "retry_seconds",
        ("--retry-seconds",),
        "How long to wait for a server that is away.",
        kind="number",
        default=30.0,
    ),
    Option(
        "source_segment_size",
        ("--source-segment-size",),
        "Milliseconds per segment for SimulEval's agents.",
        kind="integer",
        default=1,
    ),
    Option(
        "remote_eval",
        ("--remote-eval",),
        "Drive an agent that runs as a service of SimulEval.",
        kind="flag",
    ),
    Option("remote_address", ("--remote-address",), "Where it is.", default="localhost"),
    Option("remote_port", ("--remote-port",), "Its port.", kind="integer", default=12321),
)

MERGE = (
    Option("output", ("--output",), "Folder of the whole.", required=True, metavar="DIR"),
    Option("tokenizer", ("--tokenizer",), "Tokenizer of BLEU.", default="13a"),
)


def _serve(*, say: Callable[[str], None], **given: Any) -> str:
    from pathlib import Path

    from assay.tasks.simul.live.server import evaluation_app
    from assay.tasks.simul.live.sessions import Sessions
    from assay.web import Access, Address, serve

    old = given["compat"] == "fairseq"
    corpus = _data(given, old=old).load()
    for note in corpus.notes:
        say(note)
    output = None if given["output"] is None else Path(given["output"])
    _check_tokenizer(given["tokenizer"])
    sessions = Sessions(corpus, output, old=old)
    if given["resume"]:
        begun = sessions.resume()
        say(f"{begun:,} sentences taken up from {output}")
    else:
        first = sessions.get()
        if first is not None and first.log is not None:
            first.log.begin()  # an output folder that cannot be written is found now
    access = Access.for_host(given["hostname"], given["token"])
    app = evaluation_app(sessions, tokenizer=given["tokenizer"], access=access)

    def ready(address: Address) -> None:
        say(f"{len(corpus):,} sentences of {corpus.kind} at {address.url}, routes at /docs")
        if access.token is not None and given["token"] is None:
            say(f"clients need the token {access.token}")
        if given["ready_file"] is not None:
            _announce(Path(given["ready_file"]), address.url)

    try:
        serve(app, host=given["hostname"], port=given["port"], ready=ready)
    finally:
        sessions.close()
    return ""


def _announce(path: Any, url: str) -> None:
    from assay.core.files import atomic_file

    with atomic_file(path) as aside:
        aside.write_text(f"{url}\n", encoding="utf-8")


def _run(
    *,
    say: Callable[[str], None],
    progress: Callable[[int, int], None],
    agent_words: tuple[str, ...],
    **given: Any,
) -> str:
    from assay.tasks.simul.live.running import run
    from assay.tasks.simul.live.settings import Choice, Plan, Server, parse_shard, split_words

    server = None
    if given["port"] is not None or given["hostname"] is not None:
        if given["local"]:
            raise UsageError("--local runs in process; leave out --port and --hostname")
        port = 12321 if given["port"] is None else given["port"]
        host = given["hostname"] or "127.0.0.1"
        access = (given["token"], given["session"], given["retry_seconds"])
        server = Server(host, port, *access, given["scorer_type"], given["sample_rate"])
    for name in ("num_threads", "jobs", "max_steps", "source_segment_size"):
        if given[name] < 1:
            raise UsageError(f"--{name.replace('_', '-')} must be 1 or more")
    _check_tokenizer(given["tokenizer"])
    remote = (given["remote_address"], given["remote_port"]) if given["remote_eval"] else None
    choice = Choice(
        given["agent_type"],
        given["agent"],
        given["agent_class"],
        remote,
        split_words(agent_words),
        dict(given),
    )
    if given["system_dir"] is not None:
        choice = choice.of_system(given["system_dir"], given["system_config"])
    if choice.name or choice.file or choice.class_name:
        choice.arguments(choice.load())  # a wrong option is found now, not after a reset
    elif remote is None and server is None:
        raise UsageError("which agent? name one with --agent-type, or a file with --agent")
    elif choice.words:
        raise UsageError(f"unknown option {choice.words[0]}; see 'assay simul run --help'")
    plan = Plan(
        choice,
        None if server is not None else _data(given),
        server,
        given["output"],
        *_range(given),
        parse_shard(given["shard"]),
        given["num_threads"],
        given["jobs"],
        given["step_seconds"],
        given["max_steps"],
        given["source_segment_size"],
        given["tokenizer"],
        given["resume"],
        given["reset_server"],
        not given["no_scoring"],
        _measures(given),
    )
    found = run(plan, scores=given["scores"], say=say, progress=progress)
    return "" if found is None else json.dumps(found, indent=2)


def _measures(given: dict[str, Any]) -> dict[str, Any] | None:
    """What is to be scored, where that was asked for; a file of an agent may bring metrics."""
    names = [option.name for option in MEASURES]
    if not given["latency_metrics"] and not given["quality_metrics"]:
        return None
    if given["port"] is not None or given["hostname"] is not None:
        raise UsageError(
            "the server has scores of its own; leave out --latency-metrics and --quality-metrics, "
            "and score its log with 'assay simul score'"
        )
    measures = {name: given[name] for name in (*names, "tokenizer", "agent")}
    from assay.tasks.simul.measured import check_measures

    check_measures(measures)
    return measures


def _range(given: dict[str, Any]) -> tuple[int, int | None]:
    """The first and the last sentence. SimulEval's options name the one after the last."""
    start = given["start_idx"] if given["start_index"] is None else given["start_index"]
    end = given["end_idx"]
    if given["end_index"] is not None:
        end = None if given["end_index"] < 0 else given["end_index"] - 1
    return start, end


def _merge(*, say: Callable[[str], None], folders: tuple[str, ...], **given: Any) -> str:
    from assay.tasks.simul.live.merging import merge

    _check_tokenizer(given["tokenizer"])
    result, notes = merge(folders, given["output"], given["tokenizer"])
    for note in notes:
        say(note)
    return json.dumps(result, indent=2)


def _agents() -> str:
    from assay.tasks.simul.live.agents.registry import agent_names
    from assay.tasks.simul.live.settings import options_of

    lines = []
    for name, found in sorted(agent_names().items()):
        lines.append(f"{name:<20}{(found.__doc__ or '').strip().partition(chr(10))[0]}")
        lines += [f"    {flag:<16}{about}" for flag, about in options_of(found)]
    return "\n".join(lines)


def _data(given: dict[str, Any], *, old: bool = False) -> Any:
    from assay.tasks.simul.live.settings import Data

    return Data(
        given["src_file"],
        given["tgt_file"],
        given["scorer_type"],
        given["tgt_file_type"],
        given["sample_rate"],
        given["segment_size"],
        old,
    )


def _check_tokenizer(name: str) -> None:
    """Know a wrong name before the run, not after it."""
    from assay.tasks.simul.quality import QualityBleu

    _ = QualityBleu(tokenize=name).inner


LIVE_VERBS = (
    Verb(
        "serve",
        "Serve a source piece by piece and score what clients send.",
        _serve,
        SERVE,
        talks=True,
    ),
    Verb(
        "run",
        "Run an agent, in process or against a server.",
        _run,
        RUN,
        talks=True,
        progresses=True,
        rest="agent_words",
        rest_marker="--model-args",
    ),
    Verb(
        "merge",
        "Join the logs of shards and score the whole.",
        _merge,
        MERGE,
        ("folders",),
        talks=True,
    ),
    Verb("agents", "List the agents with their options.", _agents),
)

# SPDX-License-Identifier: Apache-2.0
"""`assay simul serve`, `run`, `merge` and `agents`: what they do."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from assay.core.errors import UsageError
from assay.core.options import Option, Verb
from assay.tasks.simul.live.options import FLAGS, MERGE, NAMED, RUN, SERVE

if TYPE_CHECKING:
    from assay.tasks.simul.live.corpus import Kind
    from assay.tasks.simul.live.settings import Choice, Data, Server, Types
    from assay.tasks.simul.settings import Settings


def _serve(*, say: Callable[[str], None], **given: Any) -> str:
    from pathlib import Path

    from assay.tasks.simul.live.server import evaluation_app
    from assay.tasks.simul.live.sessions import Sessions
    from assay.web import Access, Address, serve

    old = given["compat"] == "fairseq"
    corpus = _data(given, given["scorer_type"], old=old).load()
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
    from assay.tasks.simul.live.corpus import BLOCK_MS
    from assay.tasks.simul.live.running import run
    from assay.tasks.simul.live.settings import Choice, Plan, parse_shard, split_words
    from assay.tasks.simul.live.words import unknown_word

    is_served = given["port"] is not None or given["hostname"] is not None
    if given["source_segment_size"] is None:  # the protocol of servers has blocks of 10 ms
        given["source_segment_size"] = BLOCK_MS if is_served else 1
    for name in ("num_threads", "jobs", "max_steps", "source_segment_size"):
        if given[name] < 1:
            raise UsageError(f"--{name.replace('_', '-')} must be 1 or more")
    for name in ("step_seconds", "retry_seconds"):
        if not 0 <= given[name] < float("inf"):
            raise UsageError(f"--{name.replace('_', '-')} must be seconds, 0 or more")
    _check_tokenizer(given["tokenizer"])
    _look_in(given["user_dir"])
    remote = (given["remote_address"], given["remote_port"]) if given["remote_eval"] else None
    if remote is not None and (given["num_threads"] > 1 or given["jobs"] > 1):
        raise UsageError(
            "a service is one agent, which has one sentence at a time; leave out --num-threads and "
            "--jobs, or start several services and give each a --shard"
        )
    choice = Choice(
        given["agent_type"],
        given["agent"],
        given["agent_class"],
        remote,
        split_words(agent_words),
        {**given, "source": given["src_file"], "target": given["tgt_file"]},
    )
    if given["system_dir"] is not None:
        choice = choice.of_system(given["system_dir"], given["system_config"])
    if choice.is_made:
        choice.arguments(choice.load())  # a wrong option is found now, not after a reset
    elif remote is None and not is_served and not choice.words:
        raise UsageError("which agent? name one with --agent-type, or a file with --agent")
    elif choice.words:
        raise unknown_word(choice.words[0], FLAGS)
    source, target = _types(given, choice)
    measures = _measures(given, choice, source, target, is_served=is_served)
    if is_served and (target == "speech" or measures is not None):
        raise UsageError(
            "an agent that speaks runs in process; leave out --port and --hostname"
            if target == "speech"
            else "metrics are named where a run is in process; with a server give its log to "
            "'assay simul score'"
        )
    plan = Plan(
        replace(choice, common={**choice.common, "source_type": source, "target_type": target}),
        None if is_served else _data(given, source, exact=choice.is_of_simuleval),
        _server(given, source) if is_served else None,
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
        target,
        given["tgt_lang"],
        measures,
    )
    found = run(plan, scores=given["scores"], say=say, progress=progress)
    return "" if found is None else json.dumps(found, indent=2)


def _check_served(given: dict[str, Any]) -> None:
    """Refuse what a run against a server cannot heed."""
    if given["local"]:
        raise UsageError("--local runs in process; leave out --port and --hostname")
    if given["output"] is not None:
        raise UsageError(
            "the server writes log and files, to its own --output; leave out --output here"
        )
    for name in ("src_file", "tgt_file"):
        if given[name] is not None:
            raise UsageError(
                f"the server has the sentences; leave out --{name.replace('_', '-')}, or --port "
                "and --hostname"
            )


def _server(given: dict[str, Any], source: Kind) -> Server:
    from assay.tasks.simul.live.settings import Server

    _check_served(given)
    port = 12321 if given["port"] is None else given["port"]
    host = given["hostname"] or "127.0.0.1"
    access = (given["token"], given["session"], given["retry_seconds"])
    return Server(host, port, *access, source, given["sample_rate"])


def _look_in(folder: str | None) -> None:
    """Let agents import what lies in a folder."""
    from pathlib import Path

    from assay.tasks.simul.live.agents.importable import make_importable

    if folder is None:
        return
    if not Path(folder).is_dir():
        raise UsageError(f"there is no folder {folder}; check --user-dir")
    make_importable(folder)


def _types(given: dict[str, Any], choice: Choice) -> tuple[Kind, Kind]:
    """What is read and written: as was said, or as the agent says, or text."""
    known = choice.types()
    loader = _types_of_loader(given["dataloader"])
    asked = {
        "source": given["scorer_type"] or loader.source,
        "target": given["target_type"] or loader.target,
    }
    own = {"source": known.source, "target": known.target}
    for side, kind in asked.items():
        if kind is not None and own[side] not in (None, kind):
            verb = "reads" if side == "source" else "writes"
            raise UsageError(f"the agent {verb} {own[side]}, not {kind}; check --{side}-type")
    return (
        asked["source"] or own["source"] or "text",
        asked["target"] or own["target"] or "text",
    )


def _types_of_loader(name: str | None) -> Types:
    """What SimulEval's `--dataloader speech_to_text` says."""
    from assay.tasks.simul.live.settings import Types

    return Types() if name is None else Types.named(*name.split("_to_"))


def _measures(
    given: dict[str, Any], choice: Choice, source: Kind, target: Kind, *, is_served: bool
) -> Settings | None:
    """How to measure, where metrics are named or what fairseq's server gives would not fit.

    It does not fit speech, nor an agent of SimulEval, whose users know another AL.
    """
    from pathlib import Path

    from assay.tasks.simul.live.outputs import check_names
    from assay.tasks.simul.settings import Settings

    if target == "text" and _is_unnamed(given) and (is_served or not choice.is_of_simuleval):
        return None
    brings = given["user_dir"] is not None and (Path(given["user_dir"]) / "__init__.py").is_file()
    folder = given["user_dir"] if brings else None
    settings = Settings.of({**given, "source_type": source, "user_dir": folder})
    check_names(settings, source, target)
    return settings


def _is_unnamed(given: dict[str, Any]) -> bool:
    """Whether nothing is said of how to measure."""
    usual = {"eval_latency_unit": "word"}
    return all(given[n] in (None, False, (), usual.get(n)) for n in NAMED)


def _range(given: dict[str, Any]) -> tuple[int, int | None]:
    """The first and the last sentence. SimulEval's options name the one after the last."""
    start = given["start_idx"] if given["start_index"] is None else given["start_index"]
    end = given["end_idx"]
    if given["end_index"] is not None:
        end = None if given["end_index"] < 0 else given["end_index"] - 1
    return start, end


def _merge(*, say: Callable[[str], None], folders: tuple[str, ...], **given: Any) -> str:
    from assay.tasks.simul.live.merging import merge
    from assay.tasks.simul.settings import Settings

    _check_tokenizer(given["tokenizer"])
    measures = None if _is_unnamed(given) else Settings.of(given)
    result, notes = merge(folders, given["output"], given["tokenizer"], measures)
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


def _data(given: dict[str, Any], kind: Kind, *, old: bool = False, exact: bool = False) -> Data:
    from assay.tasks.simul.live.settings import Data

    return Data(
        given["src_file"],
        given["tgt_file"],
        kind,
        given["tgt_file_type"],
        given["sample_rate"],
        given["segment_size"],
        old,
        exact,
    )


def _check_tokenizer(name: str) -> None:
    """Know a wrong name before the run, not after it."""
    from assay.tasks.simul.quality import QualityBleu

    _ = QualityBleu(tokenize=name).inner


def live_verbs(measures: Sequence[Option]) -> tuple[Verb, ...]:
    """The verbs; `measures` are the options of scoring."""
    named = tuple(option for option in measures if option.name in NAMED)
    return (
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
            (*RUN, *named),
            talks=True,
            progresses=True,
            rest="agent_words",
            rest_marker="--model-args",
        ),
        Verb(
            "merge",
            "Join the logs of shards and score the whole.",
            _merge,
            (*MERGE, *named),
            ("folders",),
            talks=True,
        ),
        Verb("agents", "List the agents with their options.", _agents),
    )
